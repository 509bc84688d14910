package command_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/rapidtest"
)

func TestMain(m *testing.M) {
	rapidtest.Same(100)
	m.Run()
}

// TestParseMatchProperty checks that a random match written as a command parses to the same match.
// How and where people are mentioned makes no difference, nor do entities of other kinds.
func TestParseMatchProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		replied := command.Person{ID: 11, Username: "rita", Name: "Rita"}
		from := sender()
		want := command.Match{Scores: drawScores(t)}
		sizeA, sizeB := rapid.IntRange(0, 10).Draw(t, "side a"), rapid.IntRange(0, 10).Draw(t, "side b")
		if sizeA == 0 || sizeB == 0 {
			sizeA, sizeB = 0, min(1, sizeB)
			want.A, want.Self = []command.Person{from}, true
		} else if rapid.Bool().Draw(t, "anonymous") {
			from = command.Person{}
		}
		if sizeB == 0 {
			want.B = []command.Person{replied}
		}
		versus := sizeB > 0 && (sizeA+sizeB > 2 || rapid.Bool().Draw(t, "versus"))

		var m message
		m.mark(command.KindBotCommand, rapid.SampledFrom([]string{
			"/match", "/Match", "/MATCH@elobot", "/match@EloBot",
		}).Draw(t, "command"), nil)
		texts := drawScoreTexts(t, want.Scores)
		writeScores := func(all bool) {
			if !all && !rapid.Bool().Draw(t, "scores here") {
				return
			}
			for _, text := range texts {
				m.plain(drawSpace(t) + text)
			}
			texts = nil
		}
		// "@a and @b 3:1" may also mean that the sender has played both, so the report may be in
		// doubt.
		mayBeEach := false
		for i := range sizeA + sizeB {
			writeScores(false)
			if versus && i == sizeA {
				word := rapid.SampledFrom([]string{"vs", "VS.", "v", "V.", "Versus", "vs,"}).Draw(t, "versus word")
				m.plain(drawSpace(t) + word)
				writeScores(false)
			}
			m.plain(drawSpace(t))
			and := rapid.SampledFrom([]string{"", "", "& ", "+\n", "and ", "And, "}).Draw(t, "and")
			m.plain(and)
			mayBeEach = and != "" && i == 1 && sizeA == 1 && !versus
			p := drawMention(t, &m, i)
			if i < sizeA {
				want.A = append(want.A, p)
			} else {
				want.B = append(want.B, p)
			}
		}
		writeScores(true)
		m.plain(rapid.SampledFrom([]string{"", " ", "\n", " \u200f"}).Draw(t, "end"))
		addNoise(t, &m)
		m.entities = rapid.Permutation(m.entities).Draw(t, "entities")

		c, ok := command.Parse(m.text, m.entities, botUsername)
		if !ok {
			t.Fatalf("%q: no command", m.text)
		}
		report, err := command.ParseMatch(by(c, from, &replied), nil)
		if err != nil {
			t.Fatalf("%q: %v, %+v", m.text, err, err)
		}
		if mayBeEach && report.Doubt == command.DoubtResults && len(report.Readings) == 2 {
			report = command.Report{Readings: report.Readings[:1]}
		}
		got, err := command.Certain(report)
		if err != nil {
			t.Fatalf("%q: %v, %+v", m.text, err, report)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: -want +got:\n%s", m.text, diff)
		}
		checkCanonical(t, got)
	})
}

// TestParseFixProperty checks that a random correction written as /fix parses to the same
// correction, and that its match number written as /undo parses to the same number.
func TestParseFixProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := command.Fix{Number: rapid.IntRange(0, 999_999_999).Draw(t, "number"), Scores: drawScores(t)}
		number := ""
		if want.Number > 0 {
			number = drawSpace(t) + rapid.SampledFrom([]string{"", "#"}).Draw(t, "#") + strconv.Itoa(want.Number)
		}
		texts := drawScoreTexts(t, want.Scores)
		if want.Number == 0 && len(want.Scores) == 1 {
			texts[0] = drawSet(t, want.Scores[0])
		}
		for i := range texts {
			if want.Number == 0 {
				texts[i] = strings.NewReplacer(" :", ":", " -", "-", " –", "–", " ：", "：").Replace(texts[i])
			}
		}
		scores := ""
		for _, text := range texts {
			scores += drawSpace(t) + text
		}
		read := func(head, args string) command.Command {
			var m message
			m.mark(command.KindBotCommand, head, nil)
			m.plain(args)
			c, ok := command.Parse(m.text, m.entities, botUsername)
			if !ok {
				t.Fatalf("%q: no command", m.text)
			}
			return c
		}
		got, err := command.ParseFix(read("/fix", number+scores))
		if err != nil {
			t.Fatalf("%q: %v, %+v", number+scores, err, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: -want +got:\n%s", number+scores, diff)
		}
		undone, err := command.ParseNumber(read("/undo", number))
		if undone != want.Number || err != nil {
			t.Fatalf("%q: got %d, %v, want %d", number, undone, err, want.Number)
		}
	})
}

func drawSpace(t *rapid.T) string {
	return rapid.SampledFrom([]string{" ", "  ", "\t ", "\u00a0", " \u200e", " \u2067"}).Draw(t, "space")
}

// drawScores draws a single score about as often as several scores. None of several scores can be
// the total of the others.
func drawScores(t *rapid.T) []ladder.Score {
	count := max(1, rapid.IntRange(2-command.MaxSets, command.MaxSets).Draw(t, "sets"))
	scores := make([]ladder.Score, count)
	for i := range scores {
		scores[i].A = rapid.IntRange(min(count-1, 1)*(command.MaxSets+1), 999).Draw(t, "score of a")
		scores[i].B = rapid.IntRange(0, 999).Draw(t, "score of b")
	}
	return scores
}

// drawScoreTexts formats scores as pieces of text that white space may separate.
func drawScoreTexts(t *rapid.T, scores []ladder.Score) []string {
	if len(scores) == 1 {
		separator := rapid.SampledFrom([]string{":", " ", "\n"}).Draw(t, "separator of one score")
		if separator != ":" {
			return []string{strconv.Itoa(scores[0].A) + separator + strconv.Itoa(scores[0].B)}
		}
	}
	var texts []string
	for i, s := range scores {
		set := drawSet(t, s)
		if i > 0 && rapid.Bool().Draw(t, "in one word") && isTight(set) && isTight(texts[len(texts)-1]) {
			texts[len(texts)-1] += rapid.SampledFrom([]string{",", ";"}).Draw(t, "comma") + set
			continue
		}
		texts = append(texts, set)
	}
	for i := range texts {
		texts[i] += rapid.SampledFrom([]string{"", ",", ";", "."}).Draw(t, "punctuation")
	}
	return texts
}

// isTight reports whether a score is a single word. A comma may join such a score to another.
func isTight(score string) bool { return !strings.Contains(score, " ") }

func drawSet(t *rapid.T, score ladder.Score) string {
	separator := rapid.SampledFrom([]string{
		":", "-", "–", "：", " : ", " - ", " – ", " ： ", ": ", "- ", " :",
	}).Draw(t, "separator")
	return strconv.Itoa(score.A) + separator + strconv.Itoa(score.B)
}

// drawMention adds a mention of person i to the message and returns the person.
func drawMention(t *rapid.T, m *message, i int) command.Person {
	// Each username begins with a different letter, so it differs from all others, including those
	// of the sender, the author of the replied-to message and the bots.
	username := string("abdfhijklmnopqtuvwxyz"[i]) + rapid.StringMatching(`[A-Za-z0-9_]{3,31}`).Draw(t, "username")
	if rapid.Bool().Draw(t, "by username") {
		m.mark(command.KindMention, "@"+username, nil)
		return command.Person{Username: username}
	}
	p := command.Person{ID: ladder.UserID(100 + i), Name: drawName(t)}
	if rapid.Bool().Draw(t, "user has a username") {
		p.Username = username
	}
	user := p
	m.mark(command.KindTextMention, p.Name, &user)
	return p
}

func drawName(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{
			"Bob 2", "3:1", "-5", "@zoe", "🏓", "👨‍👩‍👧", "🇩🇪", "❤️", "𝔅𝔬𝔟", "أحمد", "דוד", "\u202eabc", "ü", " ", "\n",
		}),
		rapid.StringN(1, 5, -1),
	), 1, 4).Draw(t, "name")
	return strings.Join(parts, "")
}

// addNoise adds entities that Parse must ignore: they are of other kinds, do not fit the text, lack
// a user or a username, or overlap the command or an earlier mention.
func addNoise(t *rapid.T, m *message) {
	user := &command.Person{ID: 777, Name: "Nobody"}
	end := units(m.text)
	noise := []command.Entity{
		{Kind: "bold", Offset: 0, Length: end},
		{Kind: "hashtag", Offset: end / 2, Length: 1},
		{Kind: command.KindTextMention, Offset: -1, Length: 5, User: user},
		{Kind: command.KindTextMention, Offset: 1, Length: end - 1, User: user},
		{Kind: command.KindTextMention, Offset: end - 1, Length: 2, User: user},
		{Kind: command.KindTextMention, Offset: end, Length: 1, User: user},
		{Kind: command.KindTextMention, Offset: end - 1, Length: math.MaxInt, User: user},
		{Kind: command.KindTextMention, Offset: end - 1, Length: -1, User: user},
		{Kind: command.KindTextMention, Offset: 7, Length: end - 7},
		{Kind: command.KindMention, Offset: 7, Length: end - 7},
		{Kind: command.KindBotCommand, Offset: 0, Length: 2},
	}
	for _, e := range m.entities[1:] {
		if e.Length > 1 {
			inside := command.Entity{Kind: command.KindTextMention, Offset: e.Offset + 1, Length: e.Length, User: user}
			noise = append(noise, inside)
		}
	}
	m.entities = append(m.entities, rapid.SliceOfN(rapid.SampledFrom(noise), 0, 5).Draw(t, "noise")...)
}
