package ranking_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
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
	dbtest.Main(m)
}

// game is a service with its own database. Most tests play in the group club.
type game struct {
	*ranking.Service
	pool  *pgxpool.Pool
	store *pgranking.Store
	url   string
	keys  int

	corrupted bool // the stored data need not equal its replay
}

// newGame returns a game. If the test passes, the stored data must equal its replay at the end,
// unless the game is marked as corrupted.
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

// verifyClean checks that the stored data of all groups equals its replay.
func (g *game) verifyClean(tb testing.TB) {
	tb.Helper()
	if found := verify(tb, g.store); len(found) > 0 {
		tb.Errorf("stored data differs from its replay: %+v", found)
	}
}

func newGameOn(d *pgtest.Database) *game {
	g := &game{url: d.URL, pool: d.Pool, store: newStore(d.Pool)}
	g.Service = g.newService(g.store)
	return g
}

func newStore(pool *pgxpool.Pool) *pgranking.Store {
	return pgranking.NewStore(pool, func(outbox.Lane) {})
}

// newService returns a service without limits on results and button presses.
func (g *game) newService(store ranking.Store) *ranking.Service {
	return g.newServiceOn(store, ranking.Settings{ResultsPerMinute: -1})
}

// newServiceOn returns a service on the store. The service answers questions from the game's
// database.
func (g *game) newServiceOn(store ranking.Store, settings ranking.Settings) *ranking.Service {
	return ranking.NewService(store, g.questions(), dbtest.Admins{}, slog.New(slog.DiscardHandler), settings)
}

// newQuietService returns a service that has the default settings and answers no questions.
func newQuietService(store ranking.Store, log slog.Handler) *ranking.Service {
	return ranking.NewService(store, nil, dbtest.Admins{}, slog.New(log), ranking.Settings{})
}

// newInstance returns a service on the same database with a store of its own.
func (g *game) newInstance() *ranking.Service { return g.newService(newStore(g.pool)) }

// questions returns the stats service on the game's database.
func (g *game) questions() *stats.Service { return stats.NewService(pgstats.NewStore(g.pool, g.pool)) }

func (g *game) question(t *testing.T, o ranking.Origin, q ranking.Question) {
	t.Helper()
	must(t, g.Do(t.Context(), o, ranking.Ask{Question: q}))
}

func (g *game) ShowRanking(ctx context.Context, o ranking.Origin) error {
	return g.Do(ctx, o, ranking.Ask{Question: stats.RankingQuestion{Page: 1}})
}

func (g *game) ShowMe(ctx context.Context, o ranking.Origin) error {
	var q ranking.Question = stats.StandingsQuestion{}
	if o.Chat.IsGroup() {
		q = stats.PersonQuestion{Who: senders(o)}
	}
	return g.Do(ctx, o, ranking.Ask{Question: q})
}

// senders returns the sender of a command as a list, which is empty if the command has no Sender.
func senders(o ranking.Origin) []command.Person {
	if o.Sender == nil {
		return nil
	}
	return []command.Person{*o.Sender}
}

// saying returns the origin of a command with the given name and arguments. Each "@" in args
// mentions the next person.
func saying(o ranking.Origin, name, args string, mentions ...command.Person) ranking.Origin {
	o.Said = command.Command{Name: name, Written: name, Args: strings.ReplaceAll(args, "@", "\uFFFC"), Mentions: mentions}
	for _, p := range senders(o) {
		o.Said.Sender = p
	}
	return o
}

// about returns the origin of a command that mentions people.
func about(o ranking.Origin, people ...command.Person) ranking.Origin {
	return saying(o, "about", strings.Repeat("@ ", len(people)), people...)
}

// spy is a question that is its own Answerer and records what it is asked.
type spy struct{ asked ranking.Asked }

func (*spy) IsAbout(command.Command) bool { return true }

func (s *spy) Answer(_ context.Context, _ ranking.Question, a ranking.Asked) (ranking.Notice, error) {
	s.asked = a
	return ranking.Refusal{Code: "nothing"}, nil
}

// asked returns what the service passes to an Answerer for the command o.
func (g *game) asked(t *testing.T, o ranking.Origin) ranking.Asked {
	t.Helper()
	var s spy
	service := ranking.NewService(g.store, &s, dbtest.Admins{}, slog.New(slog.DiscardHandler), ranking.Settings{})
	must(t, service.Do(t.Context(), o, ranking.Ask{Question: &s}))
	return s.asked
}

// everybody returns the people whom a message in the group can mean by plain names.
func (g *game) everybody(t *testing.T) []command.Person {
	t.Helper()
	return g.asked(t, saying(g.origin(&alice), "stats", "somebody")).EverybodyThere()
}
