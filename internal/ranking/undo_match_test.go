package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

func nobodyIsAdmin(context.Context) (bool, error) { return false, nil }

func matchNumber(n int) ranking.Amendment {
	return ranking.Amendment{Match: ranking.MatchRef{Number: n}}
}

// asAdmin returns a context in which the sender of a command is an admin.
func asAdmin(tb testing.TB) context.Context { return dbtest.AsAdmin(tb.Context()) }

// asAdmin has a person send the command op as an admin, and returns the answer.
func (g *game) asAdmin(t *testing.T, sender *command.Person, op ranking.Operation) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	must(t, g.Do(asAdmin(t), o, op))
	return g.notice(t, o.Key)
}

// undo has a person undo a match and returns the last answer. If the bot asks first, the person
// confirms. Zoe confirms for an anonymous admin.
func (g *game) undo(t *testing.T, sender *command.Person, b ranking.Amendment) ranking.Notice {
	t.Helper()
	return g.undoAs(t.Context(), t, sender, b)
}

// undoAs is like undo. ctx determines whether the sender is an admin.
func (g *game) undoAs(ctx context.Context, t *testing.T, sender *command.Person, b ranking.Amendment) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	must(t, g.Do(ctx, o, ranking.UndoMatch{Amendment: b}))
	n := g.notice(t, o.Key)
	if _, asked := n.(ranking.UndoPrompt); asked {
		if sender == nil {
			sender = &zoe
		}
		press := g.press(sender)
		press.SentAt = o.SentAt
		return g.respond(t, press, g.newestPrompt(t), ranking.Choice(0))
	}
	return n
}

func (g *game) fix(t *testing.T, sender *command.Person, b ranking.Amendment, scores ...ladder.Score) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	must(t, g.Do(t.Context(), o, ranking.FixMatch{Amendment: b, Scores: scores}))
	return g.notice(t, o.Key)
}

// cards returns all cards of a match, oldest first.
func (g *game) cards(t *testing.T, number int) []ranking.MatchRecorded {
	t.Helper()
	return notices[ranking.MatchRecorded](t, g, `
		kind = 'match_recorded' AND match_id IN (SELECT id FROM matches WHERE number = $1)`, number)
}

func change(name string, before, after int) ranking.RatingChange {
	return ranking.RatingChange{Name: ranking.Name{Name: name}, Before: before, After: after}
}

func TestUndoMatch(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 1, 3)   // Bob 1516, Alice 1484
	g.record(t, &carol, carol, bob, 3, 0)   // Carol 1517, Bob 1499
	g.record(t, &zoe, zoe, carol, 0, 0)     // Zoe and Carol draw: 1500, 1517 → 1501, 1516
	g.record(t, &alice, alice, carol, 3, 2) // Alice 1501, Carol 1499
	byAlice := ranking.Reporter{Name: &ranking.Name{Name: "Alice"}}
	sides := [2]ranking.Side{side(3, "Bob", 1500, 1516), side(1, "Alice", 1500, 1484)}
	checkNotice(t, g.undo(t, &alice, matchNumber(1)), ranking.MatchUndone{
		Number: 1, Sides: sides, By: byAlice,
		// Carol now beats Bob as an equal, for 16 instead of 17. Then she still loses 1 to Zoe and
		// 17 to Alice.
		Moved: ranking.Moved{Ratings: []ranking.RatingChange{
			change("Alice", 1501, 1517), change("Bob", 1499, 1484), change("Carol", 1499, 1498),
		}},
	})
	equal(t, "the card", []ranking.MatchRecorded{{Number: 1, Sides: sides, Undone: true, UndoneBy: &byAlice, Changes: 1}},
		g.cards(t, 1), cmpopts.EquateEmpty(), untagged)
	g.has(t, 1, "matches WHERE undone_by = (SELECT id FROM players WHERE username = 'alice')")
	checkNotice(t, g.undo(t, &bob, matchNumber(1)), ranking.Refusal{Code: ranking.UndoneAlready, Number: 1, Minutes: 1440})
	checkNotice(t, g.fix(t, &bob, matchNumber(1), ladder.Score{A: 3}),
		ranking.Refusal{Code: ranking.UndoneAlready, Number: 1, Minutes: 1440})
}

// TestCardsKeepOrderOfNames checks that within a team, a card keeps the order of names from the
// report, even after a fix or an undo.
func TestCardsKeepOrderOfNames(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	o := g.origin(&alice)
	report := command.Match{
		A: []command.Person{zoe, bob}, B: []command.Person{carol, alice}, Scores: []ladder.Score{{A: 1, B: 3}},
	}
	must(t, g.RecordMatch(t.Context(), o, report))
	want := [2][]string{{"Carol", "Alice"}, {"Zoe", "Bob"}}
	named := func(sides [2]ranking.Side) (all [2][]string) {
		for i, s := range sides {
			for _, p := range s.Players {
				all[i] = append(all[i], p.Name.Name)
			}
		}
		return all
	}
	mustName := func(when string) {
		t.Helper()
		cards := g.cards(t, 2)
		if got := named(cards[len(cards)-1].Sides); !cmp.Equal(got, want) {
			t.Errorf("%s the card names %v, want %v", when, got, want)
		}
	}
	mustName("at first")
	g.fix(t, &alice, matchNumber(2), ladder.Score{A: 3, B: 2})
	mustName("fixed,")
	g.undo(t, &alice, matchNumber(2))
	mustName("undone,")
}

// TestUndoRewritesOnlyDifferences checks that an undo changes only standings that differ. If the
// players have not played since, the undo supersedes only the history entries of the match itself.
func TestUndoRewritesOnlyDifferences(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &carol, carol, zoe, 3, 1)
	g.record(t, &carol, carol, zoe, 3, 1)
	versions := func() []int64 {
		return rows1[int64](t, g, `SELECT s.version FROM group_players s ORDER BY s.name`)
	}
	before := versions()
	g.undo(t, &alice, matchNumber(1))
	want := []int64{before[0] + 1, before[1] + 1, before[2], before[3]}
	if got := versions(); !cmp.Equal(got, want) {
		t.Errorf("versions of Alice, Bob, Carol and Zoe are %v, want %v", got, want)
	}
	if all, superseded := g.count(t, "elo_history"),
		g.count(t, "elo_history WHERE superseded_at < 'infinity'"); all != 6 || superseded != 2 {
		t.Errorf("%d history entries, %d superseded", all, superseded)
	}
}

func rows1[T any](t *testing.T, g *game, sql string, args ...any) []T {
	t.Helper()
	return dbtest.Values[T](t, g.pool, sql, args...)
}

// TestWhoMayAmend checks that the players and the reporter of a match may fix and undo it for a
// day, and admins at any time. The bot asks before an undo that only an admin may make. In this
// test, Alice and Bob have played the match, and Carol has reported it.
func TestWhoMayAmend(t *testing.T) {
	t.Parallel()
	isAdmin, unknown := admin, func(context.Context) (bool, error) { return false, errors.New("nobody answers") }
	stranger := command.Person{ID: 99, Name: "Stranger"}
	const day = 24 * time.Hour
	for name, tc := range map[string]struct {
		sender *command.Person
		after  time.Duration
		admin  dbtest.IsAdmin
		want   ranking.RefusalCode // empty if allowed
		asked  bool                // the bot asks before the undo
	}{
		"a player":                    {&alice, day, nobodyIsAdmin, "", false},
		"the other player":            {&bob, 0, nobodyIsAdmin, "", false},
		"the reporter":                {&carol, day, nobodyIsAdmin, "", false},
		"a player, too late":          {&alice, day + time.Second, nobodyIsAdmin, ranking.TooLate, false},
		"the reporter, too late":      {&carol, 2 * day, nobodyIsAdmin, ranking.TooLate, false},
		"a player and admin, later":   {&bob, 1000 * day, isAdmin, "", true},
		"a member":                    {&zoe, 0, nobodyIsAdmin, ranking.NotYours, false},
		"a member who was never here": {&stranger, 0, nobodyIsAdmin, ranking.NotYours, false},
		"an admin":                    {&zoe, 1000 * day, isAdmin, "", true},
		"an admin who was never here": {&stranger, 0, isAdmin, "", true},
		"an anonymous admin":          {nil, 1000 * day, isAdmin, "", true},
		"admins unknown":              {&zoe, 0, unknown, ranking.AdminsUnknown, false},
		// A message may be dated before the match.
		"a player before the match":    {&alice, -time.Hour, nobodyIsAdmin, "", false},
		"admins unknown, but a player": {&alice, 0, unknown, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &zoe, zoe, carol, 3, 1)
			g.record(t, &carol, alice, bob, 3, 1)
			for _, kind := range []string{"fix", "undo"} {
				o := g.origin(tc.sender)
				o.SentAt = o.SentAt.Add(tc.after)
				var amend ranking.Operation = ranking.UndoMatch{Amendment: matchNumber(2)}
				if kind == "fix" {
					amend = ranking.FixMatch{Amendment: matchNumber(2), Scores: []ladder.Score{{A: 3, B: 2}}}
				}
				run := func() error { return g.Do(dbtest.WithAdmin(t.Context(), tc.admin), o, amend) }
				must(t, run())
				_, asked := g.notice(t, o.Key).(ranking.UndoPrompt)
				if want := kind == "undo" && tc.asked; asked != want {
					t.Errorf("%s: asked first: %v, want %v", kind, asked, want)
				}
				refusal, refused := g.notice(t, o.Key).(ranking.Refusal)
				if refusal.Code != tc.want || refused != (tc.want != "") || refused && refusal.Number != 2 {
					t.Errorf("%s: notice is %+v, want %q", kind, g.notice(t, o.Key), tc.want)
				}
				if refusal.Code == ranking.TooLate && refusal.Minutes != 24*60 {
					t.Errorf("%s: too late after %d minutes", kind, refusal.Minutes)
				}
				notices := g.count(t, "outbox")
				if err := run(); err != nil { // a redelivery
					t.Fatal(err)
				}
				if n := g.count(t, "outbox"); n != notices {
					t.Errorf("%s: %d more notices after a redelivery", kind, n-notices)
				}
			}
			if undone := g.count(t, "matches WHERE undone_at IS NOT NULL") == 1; undone != (tc.want == "" && !tc.asked) {
				t.Errorf("undone: %v", undone)
			}
			if fixes := g.count(t, "match_fixes"); fixes == 1 != (tc.want == "") {
				t.Errorf("%d fixes", fixes)
			}
			if n := g.count(t, "players WHERE telegram_user_id = 99"); n == 1 && tc.want != "" {
				t.Error("a refused stranger was stored")
			}
		})
	}
}

// TestWhichMatch checks that an undo finds its match by number, by card and by report, or takes the
// sender's last match of the last day. An undo that refers to no match of the group is refused.
func TestWhichMatch(t *testing.T) {
	t.Parallel()
	dave := command.Person{ID: 4, Username: "dave", Name: "Dave"}
	erin := command.Person{ID: 5, Username: "erin", Name: "Erin"}
	for name, tc := range map[string]struct {
		sender *command.Person
		ref    ranking.MatchRef
		after  time.Duration
		want   int // number of the undone match, 0 if refused
		refuse ranking.Refusal
	}{
		"by number":                 {&alice, ranking.MatchRef{Number: 1}, 0, 1, ranking.Refusal{}},
		"by an unknown number":      {&alice, ranking.MatchRef{Number: 5}, 0, 0, ranking.Refusal{Code: ranking.NoSuchMatch, Number: 5}},
		"by its card":               {&alice, ranking.MatchRef{Message: 501, Key: "m:-100:501"}, 0, 1, ranking.Refusal{}},
		"by its command":            {&alice, ranking.MatchRef{Message: 77, Key: "m:2"}, 0, 2, ranking.Refusal{}},
		"by some other message":     {&alice, ranking.MatchRef{Message: 78, Key: "m:78"}, 0, 0, ranking.Refusal{Code: ranking.NotAboutAMatch}},
		"by a card elsewhere":       {&alice, ranking.MatchRef{Message: 900, Key: "m:-100:900"}, 0, 0, ranking.Refusal{Code: ranking.NotAboutAMatch}},
		"the last one played":       {&alice, ranking.MatchRef{}, 24 * time.Hour, 2, ranking.Refusal{}},
		"the last one reported":     {&carol, ranking.MatchRef{}, 0, 3, ranking.Refusal{}},
		"the last one, long ago":    {&alice, ranking.MatchRef{}, 25 * time.Hour, 0, ranking.Refusal{Code: ranking.NothingOfYours, Minutes: 1440}},
		"of somebody who has none":  {&dave, ranking.MatchRef{}, 0, 0, ranking.Refusal{Code: ranking.NothingOfYours, Minutes: 1440}},
		"of an unclaimed player":    {&erin, ranking.MatchRef{}, 0, 3, ranking.Refusal{}},
		"of an anonymous admin":     {nil, ranking.MatchRef{}, 0, 0, ranking.Refusal{Code: ranking.WhichMatch}},
		"anonymous, but by number":  {nil, ranking.MatchRef{Number: 3}, 0, 3, ranking.Refusal{}},
		"of another group's number": {&alice, ranking.MatchRef{Number: 4}, 0, 0, ranking.Refusal{Code: ranking.NoSuchMatch, Number: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &alice, alice, bob, 3, 1)
			g.record(t, &bob, alice, bob, 3, 2)
			g.record(t, &carol, command.Person{Username: "Erin"}, bob, 3, 2)
			elsewhere := g.origin(&alice)
			elsewhere.Chat.ID = -200
			for range 4 {
				elsewhere.Key += "'"
				must(t, g.RecordMatch(t.Context(), elsewhere, singles(alice, carol, 1, 0)))
			}
			g.exec(t, `INSERT INTO match_messages SELECT -100, 500 + number, id FROM matches WHERE group_id = 1`)
			g.exec(t, `INSERT INTO match_messages SELECT -200, 900, id FROM matches WHERE group_id = 2 AND number = 1`)
			o := g.origin(tc.sender)
			o.SentAt = o.SentAt.Add(tc.after)
			must(t, g.Do(asAdmin(t), o, ranking.UndoMatch{Amendment: ranking.Amendment{Match: tc.ref}}))
			if tc.want == 0 {
				checkNotice(t, g.notice(t, o.Key), tc.refuse)
			} else if n, ok := g.notice(t, o.Key).(ranking.UndoPrompt); tc.sender == nil && ok && n.Number == tc.want {
				return // the bot asks an anonymous admin first
			} else if n, ok := g.notice(t, o.Key).(ranking.MatchUndone); !ok || n.Number != tc.want {
				t.Errorf("notice is %+v, want match %d", g.notice(t, o.Key), tc.want)
			}
			g.has(t, 0, fmt.Sprintf("matches WHERE undone_at IS NOT NULL AND (group_id, number) <> (1, %d)", tc.want))
		})
	}
}

// TestBareUndoTwice checks that a second /undo without arguments does not undo another match at
// once. The bot asks about the last match that counts.
func TestBareUndoTwice(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, bob, 3, 1)
	last := ranking.Amendment{}
	undo := func() ranking.Notice {
		t.Helper()
		o := g.origin(&alice)
		o.SentAt = o.SentAt.Add(time.Hour)
		must(t, g.Do(t.Context(), o, ranking.UndoMatch{Amendment: last}))
		return g.notice(t, o.Key)
	}
	if n, ok := undo().(ranking.MatchUndone); !ok || n.Number != 2 {
		t.Errorf("notice is %+v", n)
	}
	aliceBeatBob := [2]ranking.Side{side(3, "Alice", 0, 0), side(1, "Bob", 0, 0)}
	question := ranking.UndoPrompt{
		Number: 1, Sides: aliceBeatBob, Asked: ranking.Reporter{Name: &ranking.Name{Name: "Alice"}}, Undone: 2,
	}
	checkNotice(t, undo(), question)
	id := g.newestPrompt(t)
	question.Prompt = id.ID
	checkNotice(t, undo(), question) // when /undo is typed again, the bot repeats the question
	checkNotice(t, undo(), question)
	answer := answerBy(id, ranking.Choice(0))
	pressed := func(who *command.Person) ranking.Origin {
		o := g.press(who)
		o.SentAt = g.origin(who).SentAt.Add(time.Hour)
		must(t, g.Do(t.Context(), o, answer))
		return o
	}
	checkNotice(t, g.callbackAnswer(t, pressed(&bob)), ranking.Refusal{Code: ranking.NotYourPrompt})
	g.mustEnd(t, "before the answer,", false, "open")
	pressed(&alice)
	g.mustEnd(t, "after the answer,", true, "answered")
	checkNotice(t, undo(), ranking.Refusal{Code: ranking.UndoneAlready, Number: 2, Minutes: 1440})
}

// TestBareUndoOfAnOldMatch checks that after an undo, a second /undo without arguments is refused
// if the sender's last match that counts is more than a day old.
func TestBareUndoOfAnOldMatch(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, bob, 3, 1)
	g.exec(t, `UPDATE matches SET played_at = played_at - interval '25 hours' WHERE number = 1`)
	last := ranking.Amendment{}
	g.undo(t, &alice, last)
	checkNotice(t, g.undo(t, &alice, last), ranking.Refusal{Code: ranking.UndoneAlready, Number: 2, Minutes: 1440})
}

// TestUndoByButton checks that each press gets an answer. The group gets a message only if the
// press changes something.
func TestUndoByButton(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.exec(t, `UPDATE outbox SET state = 'sent', finished_at = now()`)
	type row struct {
		Action, Kind string
		Button       string
		ReplyTo      int64
	}
	press := func(sender command.Person, key string) []row {
		o := from(&sender, key)
		o.Button = "query " + key
		must(t, g.Do(t.Context(), o, ranking.UndoMatch{Amendment: matchNumber(1)}))
		return rows[row](t, g, `
			SELECT action, kind, coalesce(callback_query_id, ''), coalesce(reply_to, 0) FROM outbox
			WHERE key = $1 ORDER BY id`, key)
	}
	for _, step := range []struct {
		sender command.Person
		key    string
		want   []row
	}{
		{carol, "c:1", []row{{"callback_answer", "refusal", "query c:1", 0}}},
		{bob, "c:2", []row{{"callback_answer", "match_undone", "query c:2", 0}, {"send", "match_undone", "", 7}, {"edit", "match_recorded", "", 0}}},
		{alice, "c:3", []row{{"callback_answer", "refusal", "query c:3", 0}}},
	} {
		equal(t, step.sender.Name+" presses", step.want, press(step.sender, step.key))
	}
}

// TestInconsistentHistory checks that if a history entry is missing, amendments that would replay
// it are refused, and players are not merged. Other commands still work.
func TestInconsistentHistory(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	named := command.Person{Username: "zoe"}
	g.record(t, &alice, alice, named, 3, 1)
	g.record(t, &zoe, zoe, bob, 3, 1)
	g.exec(t, `UPDATE elo_history SET superseded_at = now() WHERE id = 1`)
	checkNotice(t, g.undo(t, &alice, matchNumber(1)), ranking.Refusal{Code: ranking.Inconsistent})
	checkNotice(t, g.fix(t, &alice, matchNumber(1), ladder.Score{A: 3, B: 2}), ranking.Refusal{Code: ranking.Inconsistent})
	g.has(t, 0, "matches WHERE undone_at IS NOT NULL OR score_b <> 1")
	if _, ok := g.undo(t, &zoe, matchNumber(2)).(ranking.MatchUndone); !ok {
		t.Error("a match after the inconsistency cannot be undone")
	}

	// Zoe's account turns out to be the unclaimed player, in a ladder that cannot be replayed.
	withName := zoe
	withName.Username = "zoe"
	if page := g.page(t, &withName); len(page.Rows) != 2 {
		t.Errorf("the ranking has %d rows", len(page.Rows))
	}
	if n := len(g.merged(t, club.ID)); n != 0 {
		t.Error("they were merged")
	}
	if _, err := ranking.Repair(t.Context(), g.store, club.ID, 1); err != nil {
		t.Fatal(err)
	}
	g.page(t, &withName)
	if n := len(g.merged(t, club.ID)); n != 1 {
		t.Errorf("%d merges after the repair, want 1", n)
	}
}

// TestUndoOneOfSeveral checks that the bot asks which match is meant if an undo replies to a
// message with several matches that count.
func TestUndoOneOfSeveral(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	reply := ranking.MatchRef{Message: 7, Key: "m:-100:7"}
	must(t, g.RecordMatch(t.Context(), from(&alice, reply.Key),
		singles(alice, bob, 3, 1), singles(carol, alice, 3, 2), singles(bob, carol, 0, 3)))
	undo := func(sender *command.Person) ranking.Notice {
		o := g.origin(sender)
		must(t, g.Do(t.Context(), o, ranking.UndoMatch{Amendment: ranking.Amendment{Match: reply}}))
		return g.notice(t, o.Key)
	}
	press := func(sender *command.Person, option ranking.PromptOption) (key string) {
		o := g.origin(sender)
		o.Button = o.Key
		must(t, g.Do(t.Context(), below(77, o), answerBy(g.newestPrompt(t), option)))
		return o.Key
	}
	item := func(number int, r ranking.NamedResult) ranking.WhichItem {
		return ranking.WhichItem{Number: number, NamedResult: r}
	}
	first, second, third := item(1, result([2]int{3, 1}, "Alice", "Bob")),
		item(2, result([2]int{3, 2}, "Carol", "Alice")), item(3, result([2]int{3, 0}, "Carol", "Bob"))
	checkNotice(t, undo(&alice), ranking.WhichPrompt{Matches: []ranking.WhichItem{first, second, third}})
	checkNotice(t, g.answer(t, press(&bob, ranking.Choice(0)), toast), ranking.Refusal{Code: ranking.NotYourPrompt})
	checkNotice(t, g.answer(t, press(&alice, ranking.Choice(3)), toast), ranking.Refusal{Code: ranking.UnknownButton})
	if n, ok := g.answer(t, press(&alice, ranking.Choice(1)), page).(ranking.MatchUndone); !ok || n.Number != 2 {
		t.Errorf("the answer is %+v", n)
	}
	checkNotice(t, undo(&bob), ranking.WhichPrompt{Matches: []ranking.WhichItem{first, third}})
	checkNotice(t, g.answer(t, press(&bob, ranking.Cancel{}), page), ranking.UndoDropped{By: new(by("Bob"))})
	checkNotice(t, undo(&zoe), ranking.WhichPrompt{Matches: []ranking.WhichItem{first, third}})
	checkNotice(t, g.answer(t, press(&zoe, ranking.Choice(0)), toast), ranking.Refusal{Code: ranking.NotYours, Number: 1})
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(1)}))
	if n, ok := undo(&bob).(ranking.MatchUndone); !ok || n.Number != 3 {
		t.Errorf("the only one that counts is not undone at once: %+v", n)
	}
	checkNotice(t, undo(&alice), ranking.Refusal{Code: ranking.UndoneAlready, Number: 3})
	o := g.origin(&alice)
	must(t, g.Do(t.Context(), o, ranking.FixMatch{
		Amendment: ranking.Amendment{Match: reply}, Scores: []ladder.Score{{A: 1, B: 0}},
	}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.NotAboutAMatch})
}
