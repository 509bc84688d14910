package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// define creates a function, and triggers that call it, for the duration of the test.
func define(t *testing.T, pool *pgxpool.Pool, function, sql string) {
	t.Helper()
	exec(t, pool, sql)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), maxWait)
		defer cancel()
		if _, err := pool.Exec(ctx, "DROP FUNCTION "+function+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
}

// refuse makes every change of that kind fail for the duration of the test.
func refuse(t *testing.T, pool *pgxpool.Pool, table, event string) {
	t.Helper()
	define(t, pool, "refuse", `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING CONSTRAINT = ''refused''; END';
		CREATE TRIGGER refuse BEFORE `+event+` ON `+table+` FOR EACH ROW EXECUTE FUNCTION refuse()`)
}

// forget makes all connections of the pool forget their prepared statements.
func forget(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for _, conn := range pool.AcquireAllIdle(t.Context()) {
		if err := conn.Conn().DeallocateAll(t.Context()); err != nil {
			t.Error(err)
		}
		conn.Release()
	}
}
