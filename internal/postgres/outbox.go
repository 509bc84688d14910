package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
)

// Outbox is the store of the notices on their way. It implements outbox.Store.
type Outbox struct {
	pool      *pgxpool.Pool
	abandoned abandoned
}

var _ outbox.Store = (*Outbox)(nil)

// NewOutbox returns the outbox in the database of the pool.
func NewOutbox(pool *pgxpool.Pool) *Outbox { return &Outbox{pool: pool} }

// Lanes in queries: rowLane and rowPlace are where a row o of the outbox stands, waits is the condition that it waits
// in the lane l, and inOrder is the order of such rows, fromTheEnd the opposite. Together they leave the planner no way
// but outbox_waiting_idx. If it could find the rows by their ids, it would do so whenever it believes that most rows
// wait, and go through all those that do not any more.
const (
	rowLane  = `(o.chat_id, (o.action = 'toast'))`
	rowPlace = `(o.chat_id, (o.action = 'toast'), o.id)`
	waits    = `o.finished_at IS NULL AND ` + rowLane + ` >= (l.chat_id, l.toasts)
		        AND ` + rowLane + ` <= (l.chat_id, l.toasts)`
	inOrder    = `o.chat_id, (o.action = 'toast'), o.id`
	fromTheEnd = `o.chat_id DESC, (o.action = 'toast') DESC, o.id DESC`
)

// pausesCount says that the pauses of a row o at the head of its lane, and of its chat, may be meant. They begin with a
// request, or with the row. Ignore pauses that seem to start in the future: the clock was set back.
const pausesCount = `(coalesce(o.tried_at, o.created_at) <= clock_timestamp())`

// Advance implements outbox.Store. It is one pipelined batch, which the server takes as one transaction. Each statement
// sees what those before it have done. It begins with the lease: whoever wants to take it over waits for the end. What
// was given up before it was answered comes to its end first: it must not take what this takes.
func (o *Outbox) Advance(ctx context.Context, epoch int64, results []outbox.Result, lanes []outbox.Lane,
	bounds outbox.Bounds,
) ([]outbox.Turn, error) {
	var batch pgx.Batch
	queueEpoch(&batch, LeaderLease, epoch)
	queueResults(&batch, results)
	turns := queueTurns(&batch, lanes, bounds)
	queueChats(&batch, results)
	conn, err := o.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("advance the outbox: %w", translate(err))
	}
	defer conn.Release()
	if err := o.abandoned.end(ctx, conn); err != nil {
		return nil, fmt.Errorf("advance the outbox: %w", translate(err))
	}
	if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
		o.abandoned.note(conn)
		return nil, fmt.Errorf("advance the outbox: %w", translate(err))
	}
	return turns, nil
}
