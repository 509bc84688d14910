package pgtest

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Pooled creates a database as New does, but makes it look as if it were behind a pooler. Such a
// pooler gives each transaction the server session that has been idle the longest, so
// pg_backend_pid() returns the process ids of the given number of sessions in turn.
func Pooled(tb testing.TB, sessions int) string {
	tb.Helper()
	database := New(tb)
	var pids []string
	var last *pgx.Conn
	for range sessions {
		conn, err := pgx.Connect(tb.Context(), database)
		if err != nil {
			tb.Fatalf("simulate a pooler: %v", err)
		}
		cleanupWith(tb, func() error { return conn.Close(context.Background()) })
		pids, last = append(pids, strconv.Itoa(int(conn.PgConn().PID()))), conn
	}
	_, err := last.Exec(tb.Context(), `
		CREATE SEQUENCE turns;
		CREATE FUNCTION public.pg_backend_pid() RETURNS int LANGUAGE sql AS $$
			WITH pooled AS (SELECT ARRAY[`+strings.Join(pids, ", ")+`] AS pids)
			SELECT pids[1 + nextval('turns') % cardinality(pids)] FROM pooled
		$$`)
	if err != nil {
		tb.Fatalf("simulate a pooler: %v", err)
	}
	return WithParameter(database, "search_path", "public,pg_catalog")
}
