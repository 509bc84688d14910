package ranking_test

import (
	"fmt"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// longLadder creates a ladder of 20 players with n+1 matches, and calculates its ratings.
func longLadder(tb testing.TB, g *game, n int) {
	tb.Helper()
	for _, sql := range []string{
		`INSERT INTO chats (telegram_chat_id, kind, title) VALUES (-100, 'group', 'Club')`,
		`INSERT INTO groups (chat_id) SELECT id FROM chats`,
		dbtest.DefaultLadders,
		`INSERT INTO players (telegram_user_id, username, display_name) SELECT i, 'user_' || i, 'User ' || i FROM generate_series(1, 20) i`,
		`INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo)
		 SELECT l.id, p.id, p.display_name, 1500, 1500, 1500 FROM ladders l, players p`,
	} {
		if _, err := g.pool.Exec(tb.Context(), sql); err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
	}
	_, err := g.pool.Exec(tb.Context(), `
		WITH played AS (
		    INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b,
		        k_factor, reported_by, played_at, idempotency_key)
		    SELECT l.group_id, l.id, l.id, i, i % 4, 1 + i % 3, 32, 1 + i % 20, now(), 'm:-100:' || i
		    FROM ladders l, generate_series(1, $1) i
		    RETURNING id, number, idempotency_key
		), keys AS (
		    INSERT INTO handled_commands (key, outcome) SELECT idempotency_key, 'recorded' FROM played
		), numbers AS (
		    UPDATE groups SET last_match_number = $1
		)
		INSERT INTO match_players (match_id, player_id, side)
		SELECT id, 1 + number % 20, 1 FROM played
		UNION ALL SELECT id, 1 + (number + 1 + number % 19) % 20, 2 FROM played`, n+1)
	must(tb, err)
	if _, err := g.pool.Exec(tb.Context(), `ANALYZE`); err != nil {
		tb.Fatal(err)
	}
	if _, err := ranking.Repair(tb.Context(), g.store, -100, 1); err != nil {
		tb.Fatal(err)
	}
}

// TestAmendFirstOfMany checks that the first match of a long ladder can be fixed and undone while
// another instance records a match.
func TestAmendFirstOfMany(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	longLadder(t, g, laterMatches)
	g.verifyClean(t)
	one := command.Person{ID: 1, Username: "user_1", Name: "User 1"}
	two := command.Person{ID: 2, Username: "user_2", Name: "User 2"}
	first := matchNumber(1)

	recorded := make(chan error, 1)
	other, o := g.newInstance(), g.origin(&two)
	go func() { recorded <- other.RecordMatch(t.Context(), o, singles(one, two, 3, 1)) }()
	if n, ok := g.asAdmin(t, &one,
		ranking.FixMatch{Amendment: first, Scores: []ladder.Score{{A: 0, B: 5}}}).(ranking.MatchFixed); !ok {
		t.Fatalf("notice is %+v", n)
	}
	if n, ok := g.undoAs(asAdmin(t), t, &one, first).(ranking.MatchUndone); !ok {
		t.Fatalf("notice is %+v", n)
	}
	must(t, <-recorded)
	if _, ok := g.notice(t, o.Key).(ranking.MatchRecorded); !ok {
		t.Errorf("the concurrently recorded match is answered with %+v", g.notice(t, o.Key))
	}
	// A replay rewrites only the history entries that change, so their number shows how much the
	// replay had to do.
	if n := g.count(t, "elo_history WHERE superseded_at < 'infinity'"); n < laterMatches/10 {
		t.Errorf("only %d history entries were rewritten, too few to prove anything", n)
	}
}

func BenchmarkUndo(b *testing.B) {
	for _, later := range []int{10, 100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("later=%d", later), func(b *testing.B) {
			g := newGame(b)
			longLadder(b, g, later)
			scores := [][]ladder.Score{{{A: 0, B: 5}}, {{A: 5, B: 0}}}
			for i := 0; b.Loop(); i++ { // alternating fixes cost about as much as an undo
				o := g.origin(&command.Person{ID: 1, Username: "user_1", Name: "User 1"})
				if err := g.Do(asAdmin(b), o, ranking.FixMatch{Amendment: matchNumber(1), Scores: scores[i%2]}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
