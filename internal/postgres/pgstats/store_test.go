package pgstats_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/stats"
)

// TestQuestionsWithoutConnection checks that if no connection for questions can be opened, because
// the server refuses it, does not answer, or accepts no writes, questions use the connections for
// commands.
func TestQuestionsWithoutConnection(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t, dbtest.Alice, dbtest.Bob)
	w.Play(t, "1", dbtest.Alice, dbtest.Bob)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	dbtest.Must(t, err)
	t.Cleanup(func() {
		if err := silent.Close(); err != nil {
			t.Error(err)
		}
	})
	standby := pgtest.New(t)
	dbtest.Exec(t, dbtest.Open(t, standby), `ALTER DATABASE `+
		pgx.Identifier{dbtest.Open(t, standby).Config().ConnConfig.Database}.Sanitize()+
		` SET default_transaction_read_only = on`)
	for name, questions := range map[string]*pgxpool.Pool{
		"refused": dbtest.Open(t, "postgres://elobot@127.0.0.1:1/elobot"),
		"silent":  dbtest.Open(t, "postgres://elobot@"+silent.Addr().String()+"/elobot"),
		"standby": dbtest.OpenPools(t, standby).Questions,
	} {
		page, err := pgstats.NewStore(questions, w.Pool).Ranking(t.Context(),
			dbtest.Ladder(t, w.Pool, dbtest.Club.ID), nil, stats.RankingQuestion{Page: 20}, time.Time{})
		if err != nil || len(page.Rows) != 2 {
			t.Errorf("%s: the ranking is %+v, %v", name, page, err)
		}
	}
}

// TestBusyQuestions checks that while all connections for questions are in use, other questions
// wait, and take no connections for commands.
func TestBusyQuestions(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t, dbtest.Alice)
	questions := dbtest.Open(t, w.Pool.Config().ConnString(), func(c *pgxpool.Config) { c.MaxConns = 1 })
	store := pgstats.NewStore(questions, w.Pool)
	slow, err := questions.Acquire(t.Context())
	dbtest.Must(t, err)
	ladder := dbtest.Ladder(t, w.Pool, dbtest.Club.ID)
	before := w.Pool.Stat().AcquireCount()
	ctx, cancel := context.WithTimeout(t.Context(), 2*postgres.PingTimeout)
	defer cancel()
	if _, err := store.Records(ctx, ladder, time.Time{}); err == nil || w.Pool.Stat().AcquireCount() != before {
		t.Errorf("the question used %d connections of commands: %v", w.Pool.Stat().AcquireCount()-before, err)
	}
	slow.Release()
	if _, err := store.Records(t.Context(), ladder, time.Time{}); err != nil {
		t.Error(err)
	}
}
