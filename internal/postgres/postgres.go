// Package postgres connects the bot to PostgreSQL and holds what its stores share: pools, sessions,
// migrations, leases, notifications, transactions, errors, and the parts of queries that several
// stores need. Each store has a folder here and implements the interfaces of another package:
//
//   - pgranking: ranking.Store and ranking.AuditStore
//   - pgstats: stats.Store
//   - pgoutbox: outbox.Store
//   - pgintake: intake.DeadLetters and intake.Attempts
//
// Apart from the migrations and the demo, the stores and this package hold every SQL statement of
// the bot, each next to the method that runs it. The stores make no decisions: they only read and
// write. A function queueX or QueueX that takes a batch adds statements to it; its comment
// describes what they do when the batch runs.
//
// What must hold, whatever fails:
//
//   - A transaction under a lease first takes an advisory lock and checks the epoch. The next
//     holder of the lease waits for that lock. So no write of an old epoch commits after a
//     takeover.
//   - In a session of a pool, a statement waits at most 1.5 s for each lock. Then it fails with
//     ranking.ErrLocked, and the caller may try again.
//   - Sessions run at READ COMMITTED. A connection keeps its server session: behind a pooler in
//     transaction mode the bot does not start.
//   - After an error that shows that the server is shutting down or read-only, or that statements
//     reach another session, no session that began before is used again.
package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// rollbackTimeout limits a rollback. It is short, because a server that does not answer rolls back
// when the connection closes.
const rollbackTimeout = time.Second

// Rollback rolls back a transaction, even if ctx has ended. If that fails, the pool closes the
// connection and the server rolls back anyway, so there is no error to return.
func Rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	_ = tx.Rollback(ctx)
}

// Storable replaces NUL bytes and invalid UTF-8 with U+FFFD, because PostgreSQL does not accept
// them in text. The answer of a broken server, for example, may contain them.
func Storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

// Collect runs a query and reads each row with read. The text of its errors begins with what.
func Collect[T any](
	ctx context.Context, db Querier, what string, read pgx.RowToFunc[T], sql string, args ...any,
) ([]T, error) {
	rows, _ := db.Query(ctx, sql, args...) // CollectRows returns its error
	all, err := pgx.CollectRows(rows, read)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, Translate(err))
	}
	return all, nil
}

// Querier is a pool, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// RowTo returns a function that reads a row into an R by its column names, and converts the R to a
// T with value.
func RowTo[R, T any](value func(R) T) pgx.RowToFunc[T] {
	return func(row pgx.CollectableRow) (T, error) {
		r, err := pgx.RowToStructByName[R](row)
		return value(r), err
	}
}

// Column returns the value of each element, in the order of the elements. Such slices can be
// arguments of unnest.
func Column[E, T any](elements []E, value func(E) T) []T {
	values := make([]T, len(elements))
	for i, e := range elements {
		values[i] = value(e)
	}
	return values
}
