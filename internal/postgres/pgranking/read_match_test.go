package pgranking_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// matches returns the matches that ref refers to in a command from sender in chat.
func (w *world) matches(
	t *testing.T, chat ranking.Chat, ref ranking.MatchRef, sender *command.Person,
) []ranking.StoredMatch {
	t.Helper()
	snap, err := w.Store.Read(t.Context(), ranking.Query{
		Chat: chat, KnownChat: true, Sender: sender, Needs: ranking.Needs{Match: &ref},
	})
	dbtest.Must(t, err)
	return snap.Matches
}

// TestReadMatch checks that every kind of reference finds its matches. The club has three matches,
// the last of which is undone, and the annex has two. Carol has reported the club's first and third
// match. The club's third match is older than the annex's second one.
func TestReadMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob, carol)
	w.recordIn(t, club, "m:-100:1", alice, bob, 3, 1)
	w.recordIn(t, club, "m:-100:2", carol, alice, 2, 2)
	w.recordIn(t, annex, "m:-200:1", carol, bob, 0, 1)
	report := dbtest.Singles(alice, bob, ladder.Score{A: 11, B: 7}, ladder.Score{A: 7, B: 11}, ladder.Score{A: 8, B: 11})
	dbtest.Must(t, dbtest.Service(w.Store).Do(t.Context(), dbtest.By("m:-100:3", carol), dbtest.Reported(report)))
	w.Undo(t, "u", bob, 3)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO match_messages SELECT -100, 71, id FROM matches WHERE idempotency_key = 'm:-100:1'`)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO match_messages SELECT -200, 72, id FROM matches WHERE idempotency_key = 'm:-200:1'`)
	w.recordIn(t, annex, "m:-200:2", zoe, bob, 3, 1)
	dbtest.Exec(t, w.Pool, `UPDATE matches SET reported_by = $1 WHERE idempotency_key = 'm:-100:1'`, w.ID(t, "Carol"))
	nobody := &command.Person{ID: 99, Name: "Nobody"}
	for name, tc := range map[string]struct {
		chat   ranking.Chat
		sender *command.Person
		ref    ranking.MatchRef
		keys   string // of the matches to be found
	}{
		"number":                      {club, nil, ranking.MatchRef{Number: 2}, "m:-100:2"},
		"number, in the other group":  {annex, nil, ranking.MatchRef{Number: 2}, "m:-200:2"},
		"number, only in the other":   {annex, nil, ranking.MatchRef{Number: 3}, ""},
		"number before the rest":      {club, &bob, ranking.MatchRef{Number: 2, Message: 71, Key: "m:-100:3"}, "m:-100:2"},
		"message":                     {club, nil, ranking.MatchRef{Message: 71, Key: "m:-100:71"}, "m:-100:1"},
		"message, of another group":   {club, nil, ranking.MatchRef{Message: 72, Key: "m:-100:72"}, ""},
		"message, of the other group": {annex, nil, ranking.MatchRef{Message: 72, Key: "m:-200:72"}, "m:-200:1"},
		"command":                     {club, nil, ranking.MatchRef{Message: 3, Key: "m:-100:3"}, "m:-100:3"},
		"command, of the other group": {club, nil, ranking.MatchRef{Message: 1, Key: "m:-200:1"}, ""},
		"message and its command":     {club, nil, ranking.MatchRef{Message: 71, Key: "m:-100:2"}, "m:-100:1 m:-100:2"},
		"id":                          {club, &bob, ranking.MatchRef{ID: 2, Number: 1}, "m:-100:2"},
		"id, of the other group":      {annex, nil, ranking.MatchRef{ID: 2}, ""},
		"last undone":                 {club, &bob, ranking.MatchRef{LastUndone: true}, "m:-100:3"},
		"last undone by nobody":       {club, &carol, ranking.MatchRef{LastUndone: true}, ""},
		"last, a later one elsewhere": {club, &bob, ranking.MatchRef{}, "m:-100:3"},
		"last of a reporter":          {club, &carol, ranking.MatchRef{}, "m:-100:3"},
		"last in the other group":     {annex, &carol, ranking.MatchRef{}, "m:-200:1"},
		"last of an absent player":    {annex, &alice, ranking.MatchRef{}, ""},
		"last of a player elsewhere":  {club, &zoe, ranking.MatchRef{}, ""},
		"last of an unknown person":   {club, nobody, ranking.MatchRef{}, ""},
		"last of an anonymous admin":  {club, nil, ranking.MatchRef{}, ""},
		"message in an unknown chat":  {attic, nil, ranking.MatchRef{Message: 71, Key: "k"}, ""},
		"last in a known chat":        {club, &alice, ranking.MatchRef{}, "m:-100:3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var keys []string
			for _, m := range w.matches(t, tc.chat, tc.ref, tc.sender) {
				keys = append(keys, m.Key)
			}
			if got := strings.Join(keys, " "); got != tc.keys {
				t.Errorf("found %q, want %q", got, tc.keys)
			}
		})
	}
}

func TestReadMatchDetails(t *testing.T) {
	t.Parallel()
	w := newAmendable(t)
	w.Fix(t, "f", alice, 2, ladder.Score{A: 11, B: 7}, ladder.Score{A: 7, B: 11}, ladder.Score{A: 8, B: 11})
	w.Undo(t, "u", alice, 2)
	// Bob has another name in the group.
	dbtest.Exec(t, w.Pool, `UPDATE group_players SET name = 'Bobby' WHERE name = 'Bob'`)
	dbtest.Exec(t, w.Pool, `UPDATE matches
		SET k_factor = 24, provisional_k_factor = 48, provisional_matches = 2, margin_of_victory = true WHERE number = 4`)
	dbtest.Exec(t, w.Pool, `UPDATE elo_history SET k_factor = 48 FROM matches m WHERE m.id = match_id AND number = 4`)
	found := w.matches(t, club, ranking.MatchRef{Number: 2}, nil)
	history, err := w.Store.MatchHistory(t.Context(), 1, ladder.PositionOf(2))
	dbtest.Must(t, err)
	a, b, c := w.ID(t, "Alice"), w.ID(t, "Bob"), w.ID(t, "Carol")
	result := ladder.Result{
		Score: ladder.Score{A: 1, B: 2}, Sets: []ladder.Score{{A: 11, B: 7}, {A: 7, B: 11}, {A: 8, B: 11}},
	}
	want := []ranking.StoredMatch{{
		RecentMatch: ranking.RecentMatch{
			Number: 2, Key: "m2", Changes: 2, Result: result,
			PlayedAt: dbtest.SentAt, ReportedAt: dbtest.SentAt, ReportedBy: b, Players: [2][]ladder.PlayerID{{a}, {b}},
		},
		Ladder: 1, Season: 1, Position: ladder.PositionOf(2),
		Undone: true, UndoneAt: dbtest.SentAt, UndoneBy: a, Later: 2, SidesSwapped: true,
	}}
	dbtest.Equal(t, "match", want, found,
		cmpopts.EquateEmpty(), cmpopts.IgnoreFields(ranking.StoredMatch{}, "ID"))
	entry := func(before, after, best, streak int) *ladder.Entry {
		return &ladder.Entry{
			Before: before, After: after, K: 32, BestBefore: best, StreakBefore: streak, LongestBefore: max(0, streak),
		}
	}
	part := func(p ladder.PlayerID, side int, e *ladder.Entry) ladder.Part {
		return ladder.Part{Player: p, Side: side, Entry: e}
	}
	draw, win := ladder.Result{Score: ladder.Score{A: 2, B: 2}}, ladder.Result{Score: ladder.Score{A: 3, B: 1}}
	usual := ladder.RatingRules{K: 32}
	special := ladder.RatingRules{K: 24, Provisional: ladder.Provisional{K: 48, Matches: 2}, Margin: true}
	provisional := func(e *ladder.Entry) *ladder.Entry {
		e.K = 48
		return e
	}
	matches := []ladder.Match{
		{Number: 2, Position: ladder.PositionOf(2), RatingRules: usual, Result: result, PlayedAt: dbtest.SentAt, Undone: true,
			Parts: []ladder.Part{part(a, 1, nil), part(b, 2, nil)}},
		{Number: 3, Position: ladder.PositionOf(3), RatingRules: usual, Result: draw, PlayedAt: dbtest.SentAt, Parts: []ladder.Part{
			part(b, 1, entry(1500, 1501, 1500, 0)), part(a, 2, entry(1516, 1515, 1516, 1)),
		}},
		{Number: 4, Position: ladder.PositionOf(4), RatingRules: special, Result: win, PlayedAt: dbtest.SentAt, Parts: []ladder.Part{
			part(b, 1, provisional(entry(1501, 1516, 1501, 0))), part(c, 2, provisional(entry(1484, 1469, 1500, -1))),
		}},
	}
	ids := cmp.Options{cmpopts.IgnoreFields(ladder.Match{}, "ID"), cmpopts.IgnoreFields(ladder.Entry{}, "ID")}
	dbtest.Equal(t, "history", matches, history.Matches, ids)
	var names []string
	for _, s := range history.Standings {
		names = append(names, s.Name)
	}
	dbtest.Equal(t, "standings", []string{"Alice", "Carol", "Bobby"}, names)
}

// TestReadLastCounted checks that a read with Needs.LastCounted returns the sender's last match
// that counts, in addition to the match to which the command refers.
func TestReadLastCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob, carol)
	w.Record(t, "m1", alice, bob, 3, 1)
	w.Record(t, "m2", alice, bob, 3, 1)
	w.Undo(t, "u", bob, 2)
	w.recordIn(t, annex, "m3", zoe, bob, 3, 1)
	for _, tc := range []struct {
		chat   ranking.Chat
		sender *command.Person
		want   string
	}{
		{club, &alice, "m2 m1"}, {club, &bob, "m2 m1"}, {annex, &zoe, "m3 m3"}, {club, &carol, " "}, {club, nil, " "},
	} {
		snap, err := w.Store.Read(t.Context(), ranking.Query{
			Chat: tc.chat, Sender: tc.sender, Needs: ranking.Needs{Match: &ranking.MatchRef{}, LastCounted: true},
		})
		dbtest.Must(t, err)
		var last, counted string
		for _, m := range snap.Matches {
			last = m.Key
		}
		if snap.Counted != nil {
			counted = snap.Counted.Key
		}
		if got := last + " " + counted; got != tc.want {
			t.Errorf("the last match and the last that counts are %q, want %q", got, tc.want)
		}
	}
}

// TestReadAsked checks that a prompt does not count as open if it is closed or has waited too long
// for its delivery.
func TestReadAsked(t *testing.T) {
	t.Parallel()
	w := newAmendable(t)
	a, b, c := w.ID(t, "Alice"), w.ID(t, "Bob"), w.ID(t, "Carol")
	for i, answerer := range []ladder.PlayerID{a, b, c, 0, c} {
		old := ranking.PromptWindow.Seconds() + 1
		if i == 1 || i == 3 {
			old -= 60
		}
		_, err := w.Pool.Exec(t.Context(), `
			INSERT INTO prompts
			    (id, chat_id, kind, match_id, answerer_id, asked_at, delivered_at, telegram_message_id, closed_at, closed_as)
			VALUES ($1::bigint, 1, 'undo', 2, nullif($2::bigint, 0), now() - $3 * interval '1 s',
			        CASE WHEN $1 IN (0, 2) THEN now() END, CASE WHEN $1 IN (0, 2) THEN 7 END,
			        CASE WHEN $1 = 2 THEN now() END, CASE WHEN $1 = 2 THEN 'answered' END)`, i, answerer, old)
		dbtest.Must(t, err)
	}
	// 0 stands for the admins.
	for number, want := range map[int][]ladder.PlayerID{1: {}, 2: {0, a, b}} {
		got := slices.Sorted(maps.Keys(w.matches(t, club, ranking.MatchRef{Number: number}, nil)[0].Asked))
		dbtest.Equal(t, fmt.Sprintf("match %d", number), want, got, cmpopts.EquateEmpty())
	}
}
