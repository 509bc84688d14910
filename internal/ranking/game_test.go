package ranking_test

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/rapidtest"
	"elobot/internal/stats"
)

func TestMain(m *testing.M) {
	if os.Getenv(instanceVariable) != "" {
		os.Exit(instanceMain())
	}
	rapidtest.Same(8)
	goleak.VerifyTestMain(pgtest.Main{M: m})
}

// game is a service on a database of its own. Most tests play in the group club.
type game struct {
	*ranking.Service
	pool  *pgxpool.Pool
	store *pgranking.Store
	url   string
	keys  int

	corrupted bool // the test writes what no matches lead to
}

// newGame returns a game whose stored data must equal its replay when the test ends.
func newGame(tb testing.TB) *game {
	tb.Helper()
	g := newGameOn(pgtest.Borrow(tb))
	tb.Cleanup(func() {
		if !tb.Failed() && !g.corrupted {
			g.verifyClean(tb)
		}
	})
	return g
}

// verifyClean verifies all groups and expects no findings.
func (g *game) verifyClean(tb testing.TB) {
	tb.Helper()
	if found := verify(tb, g.store); len(found) > 0 {
		tb.Errorf("stored data differs from its replay: %+v", found)
	}
}

func newGameOn(d *pgtest.Database) *game {
	g := &game{url: d.URL, pool: d.Pool, store: newStore(d.Pool)}
	g.Service = newService(g.store)
	return g
}

func newStore(pool *pgxpool.Pool) *pgranking.Store {
	return pgranking.NewStore(pool, func(outbox.Lane) {})
}

// newService returns a service without a limit on results.
func newService(store ranking.Store) *ranking.Service {
	return ranking.NewService(store, slog.New(slog.DiscardHandler), ranking.Settings{ResultsPerMinute: -1})
}

// newInstance returns another instance of the service on the same database.
func (g *game) newInstance() *ranking.Service { return newService(newStore(g.pool)) }

// questions returns the stats service, which answers by s from the same database.
func (g *game) questions(s *ranking.Service) *stats.Service {
	return stats.NewService(pgstats.NewStore(g.pool, g.pool), s)
}

func (g *game) ShowRanking(ctx context.Context, o ranking.Origin) error {
	return g.questions(g.Service).Show(ctx, o, stats.RankingQuery{Page: 1})
}

func (g *game) ShowMe(ctx context.Context, o ranking.Origin) error {
	switch questions := g.questions(g.Service); {
	case !o.Chat.IsGroup():
		return questions.Show(ctx, o, stats.StandingsQuery{})
	case o.Sender == nil:
		return questions.Show(ctx, o, stats.PersonQuery{Who: ranking.Only()})
	default:
		return questions.Show(ctx, o, stats.PersonQuery{Who: ranking.Only(*o.Sender)})
	}
}
