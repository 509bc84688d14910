package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// define makes a function, and triggers that call it, for as long as the test lasts.
func define(t *testing.T, pool *pgxpool.Pool, function, sql string) {
	t.Helper()
	exec(t, pool, sql)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := pool.Exec(ctx, "DROP FUNCTION "+function+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
}

// refuse has every change of that kind fail for as long as the test lasts.
func refuse(t *testing.T, pool *pgxpool.Pool, table, event string) {
	t.Helper()
	define(t, pool, "refuse", `
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING CONSTRAINT = ''refused''; END';
		CREATE TRIGGER refuse BEFORE `+event+` ON `+table+` FOR EACH ROW EXECUTE FUNCTION refuse()`)
}

// forget has all connections of the pool be as if they had never seen a statement.
func forget(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for _, conn := range pool.AcquireAllIdle(t.Context()) {
		if err := conn.Conn().DeallocateAll(t.Context()); err != nil {
			t.Error(err)
		}
		conn.Release()
	}
}
