package ranking_test

import (
	"errors"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

func side(score int, name string, before, after int) ranking.Side {
	return ranking.Side{Score: score, Players: []ranking.RatingChange{
		{Name: ranking.Name{Name: name}, Before: before, After: after},
	}}
}

func TestRecordMatch(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	checkNotice(t, g.record(t, &alice, alice, bob, 1, 3), ranking.MatchRecorded{
		Number: 1, Sides: [2]ranking.Side{side(3, "Bob", 1500, 1516), side(1, "Alice", 1500, 1484)},
		NewPlayers: []ranking.Name{{Name: "Alice"}, {Name: "Bob"}},
	})
	// A third person reports a match and does not enter the ladder.
	checkNotice(t, g.record(t, &carol, alice, bob, 3, 2), ranking.MatchRecorded{
		Number: 2, Sides: [2]ranking.Side{side(3, "Alice", 1484, 1501), side(2, "Bob", 1516, 1499)},
		ReportedBy: &ranking.Reporter{Name: &ranking.Name{Name: "Carol"}},
	})
	// An anonymous admin reports a match. The mentioned player is new.
	checkNotice(t, g.record(t, nil, bob, command.Person{Username: "Dave"}, 2, 2), ranking.MatchRecorded{
		Number: 3, Sides: [2]ranking.Side{side(2, "Bob", 1499, 1499), side(2, "Dave", 1500, 1500)},
		NewPlayers: []ranking.Name{{Name: "Dave"}}, ReportedBy: &ranking.Reporter{},
	})
	// The mentioned person sends a report. The person's account claims the player, who gets the
	// account's name.
	dave := command.Person{ID: 4, Username: "dave", Name: "David"}
	checkNotice(t, g.record(t, &dave, dave, command.Person{Username: "BOB"}, 5, 0), ranking.MatchRecorded{
		Number: 4, Sides: [2]ranking.Side{side(5, "David", 1500, 1516), side(0, "Bob", 1499, 1483)},
	})
	type standing struct {
		Name                                        string
		Elo, Best, Played, Won, Drawn, Lost, Streak int
	}
	got := rows[standing](t, g, `SELECT name, elo, best_elo, played, won, drawn, lost, streak
		FROM group_players ORDER BY name`)
	want := []standing{
		{"Alice", 1501, 1501, 2, 1, 0, 1, 1}, {"Bob", 1483, 1516, 4, 1, 1, 2, -1}, {"David", 1516, 1516, 2, 1, 1, 0, 1},
	}
	equal(t, "standings", want, got)
}

// TestPast checks that the card of a match that was played on an earlier day says so. Other cards
// of the same message do not.
func TestPast(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	yesterday := singles(alice, bob, 3, 1)
	yesterday.Past = true
	must(t, g.RecordMatch(t.Context(), g.origin(&alice), yesterday, singles(alice, carol, 3, 1)))
	equal(t, "cards with the remark", []string{"true", "false"},
		texts(t, g, `SELECT (payload ? 'past')::text FROM outbox ORDER BY id`))
}

func TestRedelivery(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for name, run := range map[string]func(o ranking.Origin) error{
		"match": func(o ranking.Origin) error {
			return g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1))
		},
		"refusal": func(o ranking.Origin) error {
			return g.RecordMatch(t.Context(), o, singles(alice, alice, 3, 1))
		},
		"join":    func(o ranking.Origin) error { return g.Do(t.Context(), o, ranking.Join{}) },
		"ranking": func(o ranking.Origin) error { return g.ShowRanking(t.Context(), o) },
		"answer": func(o ranking.Origin) error {
			return g.Do(t.Context(), o, ranking.Say{Notice: ranking.Refusal{Code: "own"}})
		},
	} {
		o := from(&zoe, name)
		if err := run(o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		first := g.notice(t, name)
		notices, matches := g.count(t, "outbox"), g.count(t, "matches")
		// The redelivery shows new names but is the same command.
		renamed := zoe
		renamed.Name = "Zoë"
		o.Sender, o.Chat.Title = &renamed, "Renamed"
		if err := run(o); err != nil {
			t.Fatalf("%s again: %v", name, err)
		}
		checkNotice(t, g.notice(t, name), first)
		if n, m := g.count(t, "outbox"), g.count(t, "matches"); n != notices || m != matches {
			t.Errorf("%s again: %d new notices, %d new matches", name, n-notices, m-matches)
		}
	}
}

// TestKeysOfMatches checks that the matches that an edit or a button records after a refusal are
// stored under keys of the refused message.
func TestKeysOfMatches(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	refused := from(&alice, "m:-100:7")
	must(t, g.RecordMatch(t.Context(), refused, singles(alice, alice, 3, 1)))
	if got := texts(t, g, `SELECT concat_ws(' ', trigger, outcome) FROM handled_commands`); got[0] != "message refused" {
		t.Errorf("the message is stored as %s", got)
	}
	edit, press := from(&alice, "e:-100:7:1"), from(&alice, "c:9")
	edit.Trigger, press.Button = ranking.ByEdit, "9"
	first, second := singles(alice, bob, 3, 1), singles(alice, bob, 3, 1)
	first.Key, second.Key = "m:-100:7", "m:-100:7#2"
	for range 2 { // the second is a redelivery
		must(t, errors.Join(g.RecordMatch(t.Context(), edit, first), g.RecordMatch(t.Context(), press, second)))
	}
	got := texts(t, g, `
		SELECT concat_ws(' ', key, trigger, outcome) FROM handled_commands
		UNION ALL SELECT 'match ' || idempotency_key FROM matches ORDER BY 1`)
	want := []string{
		"c:9 press recorded", "e:-100:7:1 edit recorded", "m:-100:7 press recorded", "match m:-100:7", "match m:-100:7#2",
	}
	equal(t, "keys", want, got)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	named := func(username string) command.Person { return command.Person{Username: username} }
	for name, tc := range map[string]struct {
		sender  *command.Person
		a, b    command.Person
		score   [2]int
		prepare string
		want    ranking.Notice // nil if the match counts
	}{
		"same id":         {&carol, alice, command.Person{ID: 1, Name: "Al"}, [2]int{3, 1}, "", ranking.Refusal{Code: ranking.SamePlayer}},
		"same username":   {&carol, named("eve"), named("EVE"), [2]int{3, 1}, "", ranking.Refusal{Code: ranking.SamePlayer}},
		"against oneself": {&alice, alice, named("Alice"), [2]int{3, 1}, "", ranking.Refusal{Code: ranking.SamePlayer}},
		"draw":            {&alice, alice, bob, [2]int{2, 2}, "", nil},
		"no draws": {
			&alice, alice, bob, [2]int{2, 2}, `UPDATE ladders SET draws_allowed = false`, ranking.Refusal{Code: ranking.NoDraws},
		},
		"no draws, but a win": {&alice, alice, bob, [2]int{3, 2}, `UPDATE ladders SET draws_allowed = false`, nil},
		"maybe a bot": {
			&alice, alice, command.Person{Username: "chess_bot"}, [2]int{3, 1}, "",
			ranking.Refusal{Code: ranking.NotAPerson, Name: "chess_bot"},
		},
		"maybe a bot first": {
			&alice, command.Person{Username: "chess_bot"}, alice, [2]int{3, 1}, "",
			ranking.Refusal{Code: ranking.NotAPerson, Name: "chess_bot"},
		},
		"maybe a bot, and only mentioned before": {
			&alice, alice, command.Person{Username: "robot"}, [2]int{3, 1},
			`INSERT INTO players (group_id, username, display_name) SELECT id, 'robot', 'robot' FROM groups`,
			ranking.Refusal{Code: ranking.NotAPerson, Name: "robot"},
		},
		"maybe a bot, and seen before": {
			&alice, alice, command.Person{Username: "robbot"}, [2]int{3, 1},
			`UPDATE sightings SET username = 'robbot' WHERE username = 'bob'`, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &alice, alice, bob, 1, 1)
			if tc.prepare != "" {
				g.exec(t, tc.prepare)
			}
			players := g.count(t, "players WHERE telegram_user_id IS NULL")
			got := g.record(t, tc.sender, tc.a, tc.b, tc.score[0], tc.score[1])
			matches := 1
			if tc.want == nil {
				if _, ok := got.(ranking.MatchRecorded); !ok {
					t.Errorf("refused with %+v", got)
				}
				matches = 2
			} else {
				checkNotice(t, got, tc.want)
			}
			g.has(t, matches, "matches")
			g.has(t, players, "players WHERE telegram_user_id IS NULL")
			g.has(t, 2, "group_players")
		})
	}
}

// TestSeveralInOneMessage checks that the matches of a message count in order, as if reported one
// by one. If one of them is refused, none is recorded.
func TestSeveralInOneMessage(t *testing.T) {
	t.Parallel()
	g, oneByOne := newGame(t), newGame(t)
	reports := []command.Match{singles(alice, bob, 3, 1), singles(carol, alice, 3, 2), singles(alice, bob, 2, 2)}
	must(t, g.RecordMatch(t.Context(), from(&alice, "m:-100:7"), reports...))
	for i, r := range reports {
		must(t, oneByOne.RecordMatch(t.Context(), from(&alice, []string{"m:-100:7", "m:-100:8", "m:-100:9"}[i]), r))
	}
	const standings = `SELECT concat_ws(' ', name, elo, best_elo, played, won, drawn, lost, streak)
		FROM group_players ORDER BY name`
	equal(t, "standings, as if reported one by one", texts(t, oneByOne, standings), texts(t, g, standings))
	const cards = `SELECT (payload - 'tag')::text FROM outbox ORDER BY id`
	equal(t, "cards, as if reported one by one", texts(t, oneByOne, cards), texts(t, g, cards))
	keys := texts(t, g, `SELECT idempotency_key FROM matches ORDER BY number`)
	equal(t, "keys", []string{"m:-100:7", "m:-100:7#2", "m:-100:7#3"}, keys)
	g.checkBuckets(t, "each match counts", "result=3")
	must(t, g.RecordMatch(t.Context(), from(&alice, "m:-100:7"), reports...))
	must(t, g.RecordMatch(t.Context(), from(&alice, "m:-100:10"), singles(alice, zoe, 3, 1), singles(alice, alice, 3, 1)))
	g.has(t, 3, "matches")
}

// TestSeveralOverTheLimit checks that a message that would exceed the limit records none of its
// matches.
func TestSeveralOverTheLimit(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: 2})
	o := g.origin(&alice)
	must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1), singles(alice, bob, 3, 2), singles(alice, bob, 3, 0)))
	refused := texts(t, g, `SELECT concat_ws(' ', kind, payload -> 'limit', payload #> '{items,2,score}') FROM outbox`)
	equal(t, "the answer", []string{"not_recorded 2 [3, 0]"}, refused)
	must(t, g.RecordMatch(t.Context(), g.origin(&alice), singles(alice, bob, 3, 1), singles(alice, bob, 3, 2)))
	g.has(t, 2, "matches")
}
