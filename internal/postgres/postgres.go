// Package postgres stores everything in PostgreSQL. It holds every SQL statement of the bot, each next to the method
// that runs it. It implements the stores that other packages define (ranking.Store, ranking.AuditStore, outbox.Store,
// intake.DeadLetters and more) and makes no decisions: it reads and writes.
package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// rollbackTimeout is short: a server that does not answer rolls back when the connection closes.
const rollbackTimeout = time.Second

// querier is the common part of a pool, a connection and a transaction.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Store implements ranking.Store and ranking.AuditStore.
type Store struct {
	pool *pgxpool.Pool
	// auxiliary is for checking whether the database answers while all connections of pool may be in use.
	auxiliary *pgxpool.Pool
	// db is the pool, or an open transaction, such as that of WithGroupLock.
	db querier
	// batchWriter collects results that are to be written together; nil: each is written by itself.
	batchWriter *batchWriter
	// lease is required by every transaction that writes; nil: no lease is needed.
	lease *Lease
	// committed is called with each lane that has something new to send. It must not block.
	committed func(outbox.Lane)
	// reserve, if set, holds a slot for sending to a lane directly.
	reserve func(context.Context, outbox.Lane) *outbox.SendSlot
	now     func() time.Time // the messenger's clock
	log     *slog.Logger
}

var _ ranking.Store = (*Store)(nil)

// NewStore returns a store in the pool's database. When something to be sent is committed, the store calls committed
// with its lane; committed must not block.
func NewStore(pool *pgxpool.Pool, committed func(outbox.Lane)) *Store {
	return &Store{
		pool: pool, auxiliary: pool, db: pool, batchWriter: new(batchWriter), committed: committed,
		now: time.Now, log: slog.New(slog.DiscardHandler),
	}
}

// WithClock returns the same store with another clock: the messenger's.
func (s *Store) WithClock(now func() time.Time) *Store {
	clone := *s
	clone.batchWriter, clone.now = new(batchWriter), now
	return &clone
}

// WithAuxiliary returns the same store with another pool for checking whether the database answers.
func (s *Store) WithAuxiliary(auxiliary *pgxpool.Pool) *Store {
	clone := *s
	clone.batchWriter, clone.auxiliary = new(batchWriter), auxiliary
	return &clone
}

// WithLog returns the same store with a log for its warnings.
func (s *Store) WithLog(log *slog.Logger) *Store {
	clone := *s
	clone.batchWriter, clone.log = new(batchWriter), log
	return &clone
}

// A function named queueX adds statements to a batch. Its comment says what they do when the batch runs.

// wake reports that the lane of a chat has something new to send.
func (s *Store) wake(chat ranking.ChatID) { s.committed(outbox.Lane{Chat: outbox.ChatID(chat)}) }

// transact runs fn in a transaction, which commits when fn returns nil. The caller may run fn again, so fn must talk
// to nothing but the database.
func transact(ctx context.Context, pool *pgxpool.Pool, fn func(pgx.Tx) error) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer rollback(ctx, tx) // also if fn panics; it has no effect after the commit
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// rollback ends a transaction even if its context has ended. If that fails too, the pool closes the connection and
// the server rolls back by itself, so there is nothing to report.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	_ = tx.Rollback(ctx)
}

// storable converts arbitrary text, such as the answer of a broken server, to text that PostgreSQL accepts.
func storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

// column returns one value of each element, for unnest.
func column[E, T any](elements []E, value func(E) T) []T {
	values := make([]T, len(elements))
	for i, e := range elements {
		values[i] = value(e)
	}
	return values
}
