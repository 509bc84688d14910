package command_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"elobot/internal/command"
)

// TestReportsProperty checks that each match read from a report of random words, people and scores
// can also be read from its own canonical report.
func TestReportsProperty(t *testing.T) {
	t.Parallel()
	const pieces = `@alice @bob @carol @dave @sam bob Bob "big_bob" win me I vs - : , and & / beat won lost lost_to
		drew to for by 3:1 1:3 2:2
		11:7 9:11 3 1 3-1 (2:1 11:7 9:11 5:11) gg zorro hat 3x1 x . 🏆 = > @alice:3 bobb ½-½ 1/2`
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(strings.Fields(pieces)), 1, 10).Draw(t, "words")
		separator := rapid.SampledFrom([]string{" ", " ", " ", "\n"})
		text := rapid.SampledFrom([]string{"/match", "/won", "/lost", "/draw"}).Draw(t, "command")
		for _, word := range words {
			text += separator.Draw(t, "separator") + strings.ReplaceAll(word, "_", " ")
		}
		c, ok := parseHabit(text)
		if !ok {
			t.Fatalf("%q is no command", text)
		}
		checkReports(t, c, sender(), rapid.SampledFrom([]*command.Person{nil, {ID: 11, Username: "rita"}}).Draw(t, "reply"))
	})
}

// checkReports parses a command with and without the names of players, and checks that each match
// it gets can also be read from the match's canonical report. If the command has no plain names,
// both ways must give the same report.
func checkReports(t rapid.TB, c command.Command, from command.Person, reply *command.Person) {
	t.Helper()
	plain, plainErr := command.ParseMatch(by(c, from, reply), nil)
	checkReport(t, plain, plainErr)
	report, err := command.ParseMatch(by(c, from, reply),
		group("Bob/bob/Big Bob/Alice @alice/Me/Win/A/007/Bob 2/Jean-Luc"))
	checkReport(t, report, err)
	if !c.MayNamePlayers() && (!reflect.DeepEqual(plain, report) || fmt.Sprint(plainErr) != fmt.Sprint(err)) {
		t.Fatalf("%q names nobody, but reads as %+v, %v with names, else as %+v, %v", c.Args, report, err, plain, plainErr)
	}
}

func checkReport(t rapid.TB, r command.Report, err error) {
	t.Helper()
	if err != nil {
		checkFormError(t, err)
		if r.Readings != nil || r.Doubt != command.DoubtNone || r.Word != "" {
			t.Fatalf("%+v with error %v", r, err)
		}
		return
	}
	if len(r.Readings) == 0 || len(r.Readings) > command.MaxReadings ||
		len(r.Readings) > 1 && r.Doubt == command.DoubtNone {
		t.Fatalf("%+v", r)
	}
	for i, reading := range r.Readings {
		if len(reading) == 0 ||
			slices.ContainsFunc(r.Readings[:i], func(other command.Reading) bool { return reflect.DeepEqual(other, reading) }) {
			t.Fatalf("reading %d of %+v", i, r)
		}
		for _, m := range reading {
			// A mention cannot identify a new guest, who has neither an id nor a username.
			if !slices.ContainsFunc(slices.Concat(m.A, m.B), command.Person.IsNewGuest) {
				checkCanonical(t, m)
			}
		}
	}
}

// checkCanonical writes a match as its canonical report, and checks that one reading of the report
// is that match.
func checkCanonical(t rapid.TB, want command.Match) {
	t.Helper()
	m := canonical(want)
	c, ok := command.Parse(m.text, m.entities, "")
	if !ok {
		t.Fatalf("%q is no command", m.text)
	}
	report, err := command.ParseMatch(by(c, command.Person{}, nil), nil)
	if err != nil {
		t.Fatalf("%q: %v, %+v; it says %+v", m.text, err, err, want)
	}
	mayBeMatches := report.Doubt == command.DoubtResults && len(want.Scores) > 1 // "3:1 2:3"
	if report.Doubt != command.DoubtNone && report.Doubt != command.DoubtTotal && !mayBeMatches {
		t.Fatalf("%q: %+v", m.text, report)
	}
	IsSame := func(r command.Reading) bool {
		return len(r) == 1 && samePeople(r[0].A, want.A) && samePeople(r[0].B, want.B) &&
			slices.Equal(r[0].Scores, want.Scores)
	}
	if !slices.ContainsFunc(report.Readings, IsSame) {
		t.Fatalf("%q: %+v; it says %+v", m.text, report, want)
	}
}

// canonical returns the simplest report of a match, such as "/match @a 3:1 @b", "/match @a beat @b"
// or "/match @a @b vs @c @d 11:7 9:11".
func canonical(of command.Match) message {
	var m message
	m.mark(command.KindBotCommand, "/match", nil)
	side := func(people []command.Person) {
		for _, p := range people {
			m.plain(" ")
			if p.Username != "" {
				m.mark(command.KindMention, "@"+p.Username, nil)
			} else {
				user := p
				m.mark(command.KindTextMention, "name", &user)
			}
		}
	}
	var scores []string
	for _, s := range of.Scores {
		scores = append(scores, s.String())
	}
	between, behind := " "+strings.Join(scores, " "), ""
	switch score := of.Scores[0]; {
	case !score.HasPoints():
		between = map[string]string{"won": " beat", "lost": " lost to", "drew": " ="}[describeScore(score)]
	case len(of.A)+len(of.B) > 2:
		between, behind = " vs", between
	}
	side(of.A)
	m.plain(between)
	side(of.B)
	m.plain(behind)
	return m
}

func samePeople(a, b []command.Person) bool {
	return slices.EqualFunc(a, b, func(p, q command.Person) bool {
		if p.Username != "" || q.Username != "" {
			return strings.EqualFold(p.Username, q.Username)
		}
		return p.ID == q.ID
	})
}
