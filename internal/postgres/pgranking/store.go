package pgranking

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Store implements ranking.Store and ranking.AuditStore. Set the exported fields before the first
// use.
type Store struct {
	// Auxiliary is the pool that Blame uses to ping the database. NewStore sets it to the store's
	// own pool, whose connections may all be in use.
	Auxiliary *pgxpool.Pool
	Now       func() time.Time // the messenger's clock
	Log       *slog.Logger
	// WebChanged is called with a group after a commit that may change what the group's web board
	// shows. It must not block.
	WebChanged func(ranking.GroupID)

	pool *pgxpool.Pool
	// db is the pool, or an open transaction.
	db      querier
	results *resultWriter // nil if each result is written alone
	// lease must be held by every transaction that writes. It is nil if no lease is needed.
	lease *postgres.Lease
	// committed is called with each lane that may have something new to send. It must not block.
	committed func(outbox.Lane)
}

var _ ranking.Store = (*Store)(nil)

// NewStore returns a store in the pool's database. The store calls committed with each lane that
// may have something new to send; committed must not block.
func NewStore(pool *pgxpool.Pool, committed func(outbox.Lane)) *Store {
	return &Store{
		Auxiliary: pool, Now: time.Now, Log: slog.New(slog.DiscardHandler), WebChanged: func(ranking.GroupID) {},
		pool: pool, db: pool, results: new(resultWriter), committed: committed,
	}
}

// WithLease returns a store whose writes fail with outbox.ErrLeaseLost once another instance has
// taken over the lease. So nothing that a stalled process has begun takes effect later.
func (s *Store) WithLease(l *postgres.Lease) *Store {
	clone := *s
	clone.lease, clone.results = l, new(resultWriter)
	return &clone
}

// inside returns a store whose statements run in an open transaction. If the transaction writes, it
// must have checked the lease.
func (s *Store) inside(tx querier) *Store {
	clone := *s
	clone.db, clone.lease, clone.results = tx, nil, nil
	return &clone
}

// wake reports that lanes of a chat may have something new to send.
func (s *Store) wake(chat ranking.ChatID, kinds ...outbox.LaneKind) {
	for _, kind := range kinds {
		s.committed(outbox.Lane{Chat: outbox.ChatID(chat), Kind: kind})
	}
}

// wakeHandled wakes all lanes of the chat of a command that has already been handled. The command's
// notices may still wait there, if the instance that handled it did not get the answer to the
// commit.
func (s *Store) wakeHandled(chat ranking.ChatID) {
	if chat != 0 { // an unknown chat has nothing to send
		s.wake(chat, outbox.Messages, outbox.CallbackAnswers, outbox.Pages, outbox.Boards)
	}
}

// EnsureDurable implements ranking.Store. With synchronous replication, a commit whose wait for the
// standby is canceled becomes visible although the standby may not have it. A later commit waits
// for the standby too, and the standby gets all commits in order. Only a transaction that writes
// waits, so this one writes a message into the write-ahead log, and nothing else. On a standby,
// pg_current_xact_id fails with the same error as a write.
func (s *Store) EnsureDurable(ctx context.Context) error {
	const sql = `SELECT pg_current_xact_id(), pg_logical_emit_message(true, 'elobot', '')`
	if _, err := s.db.Exec(ctx, sql); err != nil {
		return fmt.Errorf("ensure that commits are durable: %w", Translate(err))
	}
	return nil
}
