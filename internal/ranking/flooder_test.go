package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// refusalOf returns the code of a refusal, or an empty string for any other notice.
func refusalOf(n ranking.Notice) ranking.RefusalCode {
	refusal, _ := n.(ranking.Refusal)
	return refusal.Code
}

// TestWhoReports checks who may report a match of Alice and Bob under each rule, typed and with a
// wizard, and that the messenger is asked about the sender only if it matters.
func TestWhoReports(t *testing.T) {
	t.Parallel()
	const players, admins = ranking.OnlyPlayersReport, ranking.OnlyAdminsReport
	for _, tc := range []struct {
		who    ranking.Who
		sender *command.Person
		admin  string // yes, no, unknown, or empty if nobody may ask
		want   ranking.RefusalCode
	}{
		{ranking.Anybody, &zoe, "", ""},
		{ranking.Anybody, nil, "", ""},
		{ranking.Involved, &alice, "", ""},
		{ranking.Involved, &bob, "", ""},
		{ranking.Involved, &zoe, "no", players},
		{ranking.Involved, &zoe, "yes", ""},
		{ranking.Involved, &zoe, "unknown", ranking.AdminsUnknown},
		{ranking.Involved, nil, "", ""},
		{ranking.OnlyAdmins, &alice, "no", admins},
		{ranking.OnlyAdmins, &alice, "yes", ""},
		{ranking.OnlyAdmins, nil, "", ""},
	} {
		name := "an anonymous admin"
		if tc.sender != nil {
			name = tc.sender.Name
		}
		t.Run(fmt.Sprint(tc.who, " ", name, " ", tc.admin), func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &alice, alice, bob, 3, 1)
			g.exec(t, `UPDATE ladders SET reporters = $1`, tc.who)
			asked := 0
			ctx := dbtest.WithAdmin(t.Context(), func(context.Context) (bool, error) {
				if asked++; tc.admin == "unknown" {
					return false, errors.New("nobody answers")
				}
				return tc.admin == "yes", nil
			})
			o := g.origin(tc.sender)
			must(t, g.RecordMatch(ctx, o, dbtest.Singles(alice, bob, ladder.Score{A: 3, B: 2})))
			if got := refusalOf(g.notice(t, o.Key)); got != tc.want {
				t.Errorf("the report is refused as %q, want %q", got, tc.want)
			}
			if (asked > 0) != (tc.admin != "") || asked > 1 {
				t.Errorf("the messenger was asked %d times", asked)
			}
			if tc.sender == nil {
				return
			}
			o = g.origin(tc.sender)
			o.Said = command.Command{Name: command.NameMatch, Sender: *tc.sender}
			must(t, g.Do(ctx, o, ranking.ReadReport{Parsed: &ranking.Parsed{
				Malformed: ranking.Refusal{Code: "no_score"},
				Unscored:  &command.Match{A: []command.Person{alice}, B: []command.Person{bob}},
			}}))
			// Two people whom a third one names may have played together against that person.
			if want, got := tc.want, refusalOf(g.notice(t, o.Key)); got != want && (tc.who != ranking.Involved || got != "") {
				t.Errorf("the wizard is refused as %q, want %q", got, want)
			}
		})
	}
}

// TestWhoAnswersReports checks that the answer to a question about a report cannot record what the
// report could not.
func TestWhoAnswersReports(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.exec(t, `UPDATE ladders SET reporters = $1`, ranking.Involved)
	score := ladder.Score{A: 3, B: 2}
	ask := func(sender command.Person) ranking.Origin {
		o := g.origin(&sender)
		g.doubt(t, o, command.Report{Doubt: command.DoubtName, Word: "x", Readings: []command.Reading{
			{dbtest.Singles(zoe, bob, score)}, {dbtest.Singles(alice, bob, score)},
		}})
		return o
	}
	o := ask(carol)
	if got := refusalOf(g.notice(t, o.Key)); got != ranking.OnlyPlayersReport {
		t.Errorf("Carol plays in no reading, and gets the answer %q", got)
	}
	ask(zoe)
	prompt := g.newestPrompt(t)
	press := g.press(&zoe)
	must(t, g.Do(t.Context(), press, answerBy(prompt, ranking.Choice(1)))) // a match of others
	checkNotice(t, g.callbackAnswer(t, press), ranking.Refusal{Code: ranking.OnlyPlayersReport})
	must(t, g.Do(t.Context(), g.press(&zoe), answerBy(prompt, ranking.Choice(0))))
	g.has(t, 2, "matches")
}

// TestOnlyJoined checks who may be named if reports name only people who have joined: the sender,
// guests, players of the ladder, and people who have sent a command. Everybody else is asked to
// join.
func TestOnlyJoined(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	guest := g.addGuest(t, "Tom")
	g.exec(t, `UPDATE ladders SET only_joined = true`)
	notYet := func(name string) ranking.Refusal {
		return ranking.Refusal{Code: ranking.NotJoinedYet, Who: &ranking.Name{Name: name}}
	}
	mention := func(p command.Person) command.Person { return command.Person{Username: p.Username} }
	checkNotice(t, g.record(t, &alice, alice, mention(carol), 3, 1), notYet("@carol"))
	checkNotice(t, g.record(t, &alice, alice, carol, 3, 1), notYet("Carol"))
	checkNotice(t, g.record(t, &alice, alice, command.NewGuest("Eve"), 3, 1),
		ranking.Refusal{Code: ranking.GuestNotYet, Name: "Eve"})
	g.has(t, 1, "matches")
	g.join(t, carol)
	g.exec(t, `DELETE FROM group_players WHERE name = 'Carol'`) // she joined in another season
	for _, opponent := range []command.Person{mention(carol), carol, mention(bob), guest} {
		if n := g.record(t, &alice, alice, opponent, 3, 1); refusalOf(n) != "" {
			t.Errorf("%+v is refused: %+v", opponent, n)
		}
	}
	if n := g.record(t, &zoe, zoe, alice, 3, 1); refusalOf(n) != "" {
		t.Errorf("a new player cannot report: %+v", n)
	}
	g.has(t, 6, "matches")
}

// TestTooManyAdded checks that a member cannot name more than MaxAdded new people in a day, however
// they are named, and that admins can. Nobody is asked about the member before that.
func TestTooManyAdded(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	people := 0
	newcomer := func() command.Person {
		people++
		return command.Person{Username: fmt.Sprint("newcomer_", people)}
	}
	for range ranking.MaxAdded/2 - 1 { // and Bob
		g.record(t, &alice, newcomer(), newcomer(), 3, 1)
	}
	if n := g.guest(t, &alice, "Tom"); refusalOf(n) != "" {
		t.Fatalf("the guest is refused: %+v", n)
	}
	tooMany := ranking.Refusal{Code: ranking.TooManyAdded, Matches: ranking.MaxAdded}
	players := g.count(t, "players")
	checkNotice(t, g.record(t, &alice, alice, newcomer(), 3, 1), tooMany)
	checkNotice(t, g.guest(t, &alice, "Tim"), tooMany)
	g.has(t, players, "players")
	for what, report := range map[string]func() ranking.Notice{
		"known people":  func() ranking.Notice { return g.record(t, &alice, alice, bob, 3, 1) },
		"somebody else": func() ranking.Notice { return g.record(t, &bob, newcomer(), newcomer(), 3, 1) },
		"another group": func() ranking.Notice {
			o := g.origin(&alice)
			o.Chat = ranking.Chat{ID: -200, Kind: ranking.Group, Title: "Other"}
			must(t, g.RecordMatch(t.Context(), o, dbtest.Singles(newcomer(), newcomer(), ladder.Score{A: 3})))
			return g.notice(t, o.Key)
		},
		"oneself":            func() ranking.Notice { return g.record(t, &carol, carol, bob, 3, 1) },
		"an anonymous admin": func() ranking.Notice { return g.record(t, nil, newcomer(), newcomer(), 3, 1) },
		"an admin": func() ranking.Notice {
			o := g.origin(&alice)
			must(t, g.RecordMatch(asAdmin(t), o, dbtest.Singles(newcomer(), newcomer(), ladder.Score{A: 3})))
			return g.notice(t, o.Key)
		},
	} {
		if n := report(); refusalOf(n) != "" {
			t.Errorf("%s: refused: %+v", what, n)
		}
	}
	g.exec(t, `UPDATE players SET created_at = now() - interval '1 day 1 second'`)
	if n := g.record(t, &alice, alice, newcomer(), 3, 1); refusalOf(n) != "" {
		t.Errorf("a day later: refused: %+v", n)
	}
}

// TestIgnorePlayer checks what the bot refuses if it ignores Bob: reports, amendments, guests and
// presses. It still answers his questions, and lets him leave and join.
func TestIgnorePlayer(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	ignore := ranking.IgnorePlayer{Player: g.player(t, "Bob")}
	if got := refusalOf(g.asMember(t, &bob, ignore)); got != ranking.AdminsOnly {
		t.Errorf("Bob ignores himself: %q", got)
	}
	says := func(how ranking.HowOut) ranking.Notice {
		return ranking.LeftRanking{Name: ranking.Name{Name: "Bob"}, How: how}
	}
	for range 2 {
		checkNotice(t, g.asAdmin(t, &zoe, ignore), says(ranking.HowIgnored))
	}
	ignored := ranking.Refusal{Code: ranking.SenderIgnored}
	refused := func(want ranking.Notice) {
		t.Helper()
		checkNotice(t, g.record(t, &bob, bob, alice, 3, 1), want)
		checkNotice(t, g.undo(t, &bob, matchNumber(1)), want)
		checkNotice(t, g.fix(t, &bob, matchNumber(1), ladder.Score{A: 3}), want)
		checkNotice(t, g.guest(t, &bob, "Tom"), want)
		press := g.press(&bob)
		must(t, g.Do(t.Context(), press, ranking.Ask{Question: stats.RankingQuestion{Page: 1}}))
		checkNotice(t, g.callbackAnswer(t, press), want)
	}
	refused(ignored)
	g.has(t, 1, "matches WHERE undone_at IS NULL")
	g.leave(t, bob, ranking.HowLeft)
	g.join(t, bob)
	for _, n := range []ranking.Notice{
		g.asMember(t, &bob, ranking.Ask{Question: stats.RankingQuestion{Page: 1}}), g.record(t, &alice, alice, bob, 3, 1),
	} {
		if refusalOf(n) == ranking.SenderIgnored {
			t.Errorf("refused: %+v", n)
		}
	}
	if n := g.asAdmin(t, &bob, choice("k", "24")); refusalOf(n) != "" {
		t.Errorf("Bob, an admin, is refused: %+v", n)
	}
	ignore.Off = true
	checkNotice(t, g.asAdmin(t, &zoe, ignore), says(ranking.HowHeard))
	if n := g.record(t, &bob, bob, alice, 3, 1); refusalOf(n) != "" {
		t.Errorf("Bob is no longer ignored, but refused: %+v", n)
	}
}

// TestUndoDay checks that the bot names what a player has reported in 24 hours, undoes all of it at
// once in the current seasons of all ladders, and asks again if it is no longer the same.
func TestUndoDay(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	at := func(after time.Duration, sender, a, b command.Person) {
		t.Helper()
		o := g.origin(&sender)
		o.SentAt = o.SentAt.Add(after)
		must(t, g.RecordMatch(t.Context(), o, dbtest.Singles(a, b, ladder.Score{A: 3})))
	}
	at(-25*time.Hour, bob, bob, alice)
	at(-23*time.Hour, bob, alice, carol)
	at(-22*time.Hour, alice, bob, carol)
	at(-time.Hour, bob, carol, alice)
	g.undo(t, &bob, matchNumber(4))
	at(-time.Minute, bob, zoe, carol)
	undo := ranking.UndoDay{Player: g.player(t, "Bob")}
	if got := refusalOf(g.asMember(t, &alice, undo)); got != ranking.AdminsOnly {
		t.Errorf("Alice undoes a day: %q", got)
	}
	ask := func() ranking.UndoDayPrompt {
		t.Helper()
		prompt, ok := g.asAdmin(t, &zoe, undo).(ranking.UndoDayPrompt)
		if !ok {
			t.Fatal("the bot does not ask")
		}
		return prompt
	}
	name := func(s string) ranking.Name { return ranking.Name{Name: s} }
	undo.Shown = new(7) // of another prompt
	prompt := ask()
	checkNotice(t, prompt, ranking.UndoDayPrompt{Name: name("Bob"), Again: true, Count: 2, Last: []int{5, 2},
		Players: []ranking.Name{name("Alice"), name("Carol"), name("Zoe")}, Shown: prompt.Shown})
	undo.Shown = &prompt.Shown
	at(0, bob, bob, zoe)
	if prompt = ask(); !prompt.Again || !slices.Equal(prompt.Last, []int{6, 5, 2}) {
		t.Errorf("after another report, the bot asks %+v", prompt)
	}
	undo.Shown = &prompt.Shown
	cards := g.count(t, "outbox WHERE kind = 'match_recorded'")
	checkNotice(t, g.asAdmin(t, &zoe, undo), ranking.DayUndone{Name: name("Bob"), Count: 3, Last: []int{6, 5, 2}})
	g.has(t, cards, "outbox WHERE kind = 'match_recorded'")
	g.has(t, 2, "matches WHERE undone_at IS NULL")
	checkNotice(t, g.asAdmin(t, &zoe, undo), ranking.Refusal{Code: ranking.NothingReported, Who: new(name("Bob"))})
	g.verifyClean(t)
	if n := g.asAdmin(t, &zoe, ranking.RestoreMatch{Amendment: matchNumber(6)}); refusalOf(n) != "" {
		t.Errorf("a match of the day is not restored: %+v", n)
	}
	g.startSeason(t, 1, "")
	g.asAdmin(t, &zoe, ranking.UndoDay{Player: undo.Player})
	checkNotice(t, g.asAdmin(t, &zoe, undo), ranking.Refusal{Code: ranking.NothingReported, Who: new(name("Bob"))})
}

// asMember has a person send the command op, and returns the answer.
func (g *game) asMember(t *testing.T, sender *command.Person, op ranking.Operation) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	must(t, g.Do(t.Context(), o, op))
	return g.notice(t, o.Key)
}
