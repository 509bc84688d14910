package postgres_test

import (
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
)

// TestQuestionsWithoutConnection: where the server accepts no further connections, does not answer or has become a standby,
// questions use the connections for commands.
func TestQuestionsWithoutConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.play(t, "1", alice, bob)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := silent.Close(); err != nil {
			t.Error(err)
		}
	})
	standby := pgtest.New(t)
	exec(t, open(t, standby), `ALTER DATABASE `+pgx.Identifier{open(t, standby).Config().ConnConfig.Database}.Sanitize()+
		` SET default_transaction_read_only = on`)
	for name, questions := range map[string]*pgxpool.Pool{
		"refused": open(t, "postgres://elobot@127.0.0.1:1/elobot"),
		"silent":  open(t, "postgres://elobot@"+silent.Addr().String()+"/elobot"),
		"standby": openPools(t, standby).Questions,
	} {
		page, err := postgres.NewStats(questions, w.pool).Ranking(t.Context(), club.ID, nil, 20)
		if err != nil || len(page.Rows) != 2 {
			t.Errorf("%s: the ranking is %+v, %v", name, page, err)
		}
	}
}
