package bot

import (
	"fmt"
	"math"
	"testing"

	"elobot/internal/command"
	"elobot/internal/stats"
)

func TestHistoryCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rankings.people = []command.Person{{ID: 1003, Username: "carol", Name: "Carol", Player: 3},
		{Username: "eve", Name: "Eve", Player: 4}}
	for text, want := range map[string]string{
		"/games":            "matches",
		"/results@elo_bot":  "matches",
		"/matches carol":    "history of Carol@carol#1003",
		"/history":          "history of Alice@alice#1001",
		"/history @bob":     "history of @bob",
		"/history me":       "history of Alice@alice#1001",
		"/history eve":      "history of Eve@eve",
		"/history help":     `answer help {"topic":"history"}`,
		"/matches help":     `answer help {"topic":"matches"}`,
		"/history zed":      `answer unclear_people {"reason":"unknown_name","command":"history","word":"zed"}`,
		"/history @bob eve": `answer unclear_people {"reason":"too_many","command":"history"}`,
	} {
		w.group.Say(w.alice, text)
		w.expect(text, want)
	}
	w.group.SayAnonymously("/history")
	w.expect("of an anonymous admin", "matches")
	w.sim.Private(w.alice).Say(w.alice, "/matches")
	w.expect("in a private chat", `answer group_only {"command":"matches"}`)
}

func TestHistoryTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tc := range []struct{ below, data, want string }{
		{"1m:o48", "1m:o38", "matches after 38"},
		{"1m:o48", "1m:n57", "matches before 57"},
		{"1m:o48", "1m:0", "matches"},
		{"1h:7", "1h:7", "history of player 7"}, // in another view
		{"1h:7:o123", "1h:8:n9", "history of player 8 before 9"},
	} {
		page := w.below(w.group, tc.below)
		w.sim.Press(w.bob, page, tc.data)
		w.expect(tc.data, fmt.Sprintf("%s in %d", tc.want, page.ID))
	}
	both := w.below(w.group, "1m:o48", "1h:7")
	for _, data := range []string{
		"1m", "1m:", "1m:00", "1m:o", "1m:o0", "1m:o-1", "1m:o+1", "1m:o01", "1m:x5", "1m:5", "1m:o2147483648", "1m:o5:", "1m:n5 ", "1m:٢",
		"1h:", "1h:0", "1h:-1", "1h:07", "1h:7:", "1h:7:o", "1h:7:o0", "1h:7:5", "1h:7:o5:", "1h::o5", "1h:x", "1h:7:o9223372036854775808",
		"1h:9223372036854775808",
	} {
		w.sim.Press(w.alice, both, data)
		w.expect(fmt.Sprintf("%q", data), unknownButton)
	}
	for _, data := range []string{"1m:o5", "1h:7"} {
		w.sim.Press(w.alice, w.below(w.group, "1u:42:0"), data)
		w.expect(data+" below a card", unknownButton)
	}
}

// TestHistoryData checks that the data of a button for a page of matches fits, and reads back
// unchanged.
func TestHistoryData(t *testing.T) {
	t.Parallel()
	for _, key := range []int64{0, 1, math.MaxInt32, math.MaxInt64} {
		for _, newer := range []bool{false, key > 0} {
			want := stats.MatchesQuestion{Player: math.MaxInt64, At: stats.Paging{Key: key, Newer: newer}}
			args, _ := argsOf(historyCode, matchesData(historyCode, want))
			if got, ok := parseMatches(historyCode)(args); !ok || got != want {
				t.Errorf("%q says %+v, %t", matchesData(historyCode, want), got, ok)
			}
			if key > math.MaxInt32 {
				continue
			}
			want.Player = 0
			args, _ = argsOf(matchesCode, matchesData(matchesCode, want))
			if got, ok := parseMatches(matchesCode)(args); !ok || got != want {
				t.Errorf("%q says %+v, %t", matchesData(matchesCode, want), got, ok)
			}
		}
	}
}

// FuzzHistoryTurn checks that the parsers accept only data that the bot writes.
func FuzzHistoryTurn(f *testing.F) {
	for _, args := range []string{"", "7", "7:o5", "7:n5", "o5", "n5", "07"} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, args string) {
		if turn, ok := parseMatches(historyCode)(args); ok && len(args) < maxData/2 &&
			matchesData(historyCode, turn) != callbackData(historyCode, args) {
			t.Errorf("%q is read as %+v", args, turn)
		}
		if q, ok := parseMatches(matchesCode)(args); ok && matchesData(matchesCode, q) != callbackData(matchesCode, args) {
			t.Errorf("%q is read as %+v", args, q)
		}
		if teams, ok := parseTeams(args); ok &&
			teamsData(teamsCode, teams.number, teams.picked) != callbackData(teamsCode, args) {
			t.Errorf("%q is read as %+v", args, teams)
		}
	})
}
