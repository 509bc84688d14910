package ranking_test

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// played is a match as it lies in the database.
type played struct {
	Number         int
	A, B           string
	ScoreA, ScoreB int
}

// replay reckons all ratings anew, by an Elo of its own.
func replay(matches []played) map[string]int {
	ratings := make(map[string]int)
	rating := func(name string) int {
		if r, there := ratings[name]; there {
			return r
		}
		return 1500
	}
	for _, m := range matches {
		winner, loser, score := m.A, m.B, 1.0
		switch {
		case m.ScoreB > m.ScoreA:
			winner, loser = m.B, m.A
		case m.ScoreA == m.ScoreB:
			score = 0.5
		}
		w, l := rating(winner), rating(loser)
		expected := 1 / (1 + math.Exp(math.Ln10*float64(l-w)/400))
		gain := int(math.Round(32 * (score - expected)))
		ratings[winner], ratings[loser] = w+gain, l-gain
	}
	return ratings
}

func TestReplayItself(t *testing.T) {
	t.Parallel()
	got := replay([]played{{1, "a", "b", 3, 0}, {2, "b", "a", 3, 0}, {3, "a", "b", 1, 1}, {4, "c", "a", 0, 2}})
	// 1516:1484, then 17 back, then a draw of two as good as equal, then 16 from an equal one
	if want := map[string]int{"a": 1515, "b": 1501, "c": 1484}; !cmp.Equal(got, want) {
		t.Errorf("ratings are %v, want %v", got, want)
	}
}

// TestAtOnce has two instances record what eight people report of four players at the same time.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	const reporters, each = 8, 50
	g := newGame(t)
	other := postgres.NewStore(connect(t, g.url), func(outbox.Lane) {})
	services := []*ranking.Service{g.Service, ranking.NewService(other, slog.New(slog.DiscardHandler), ranking.Settings{ResultsPerMinute: -1})}
	players := []ranking.Person{alice, bob, carol, zoe}
	var work errgroup.Group
	for r := range reporters {
		work.Go(func() error {
			random := rand.New(rand.NewPCG(uint64(r), 1))
			for i := range each {
				pair := random.Perm(len(players))
				report := singles(players[pair[0]], players[pair[1]], random.IntN(4), random.IntN(4))
				o := from(&players[r%len(players)], fmt.Sprintf("m:%d:%d", r, i))
				if err := services[r%2].RecordMatch(t.Context(), o, report); err != nil {
					return fmt.Errorf("match %s: %w", o.Key, err)
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}

	matches := rows[played](t, g, `
		SELECT m.number, a.display_name, b.display_name, m.score_a, m.score_b FROM matches m
		JOIN match_players ma ON ma.match_id = m.id AND ma.side = 1 JOIN players a ON a.id = ma.player_id
		JOIN match_players mb ON mb.match_id = m.id AND mb.side = 2 JOIN players b ON b.id = mb.player_id
		ORDER BY m.number`)
	for i, m := range matches {
		if m.Number != i+1 {
			t.Fatalf("the match after %d has the number %d", i, m.Number)
		}
	}
	accepted := g.count(t, "outbox WHERE kind = 'match_recorded'")
	refused := g.count(t, `outbox WHERE payload->>'code' = 'too_many_at_once'`)
	if len(matches) != accepted || accepted+refused != reporters*each || g.count(t, "handled_commands") != reporters*each {
		t.Errorf("%d matches, %d accepted, %d refused, of %d", len(matches), accepted, refused, reporters*each)
	}
	if accepted < reporters*each*9/10 {
		t.Errorf("only %d of %d were accepted", accepted, reporters*each)
	}
	got, sum := make(map[string]int), 0
	for _, s := range rows[struct {
		Name string
		Elo  int
	}](t, g, `SELECT name, elo FROM group_players`) {
		got[s.Name] = s.Elo
		sum += s.Elo
	}
	if want := 1500 * len(players); sum != want {
		t.Errorf("the sum of the ratings is %d, want %d", sum, want)
	}
	if diff := cmp.Diff(replay(matches), got); diff != "" {
		t.Errorf("the replay differs (-replay +standings):\n%s", diff)
	}
	if n := g.count(t, "elo_history"); n != 2*len(matches) {
		t.Errorf("%d rows of history for %d matches", n, len(matches))
	}
}
