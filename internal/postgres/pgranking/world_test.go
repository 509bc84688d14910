package pgranking_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

var club, alice, bob, carol, zoe = dbtest.Club, dbtest.Alice, dbtest.Bob, dbtest.Carol, dbtest.Zoe

// world extends dbtest.World with what only these tests need.
type world struct{ *dbtest.World }

func newWorld(t *testing.T, people ...command.Person) *world {
	t.Helper()
	return &world{dbtest.NewWorld(t, people...)}
}

var aliceBeatsBob = command.Match{
	A: []command.Person{alice}, B: []command.Person{bob}, Scores: []ladder.Score{{A: 3, B: 1}},
}

// recorded returns the first new match of the changes.
func recorded(c *ranking.Changes) *ranking.NewMatch { return c.Effect.(ranking.NewMatches)[0] }

// refuse makes every statement of the kind event, such as INSERT, fail when it writes a row of a
// table.
func refuse(t *testing.T, pool *pgxpool.Pool, table, event string) {
	t.Helper()
	dbtest.Define(t, pool, "refuse", `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
		    AS 'BEGIN RAISE EXCEPTION USING CONSTRAINT = ''refused''; END';
		CREATE TRIGGER refuse BEFORE `+event+` ON `+table+` FOR EACH ROW EXECUTE FUNCTION refuse()`)
}
