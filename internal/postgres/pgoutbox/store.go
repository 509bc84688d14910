package pgoutbox

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
)

// Store stores the notices to be sent. It implements outbox.Store.
type Store struct {
	pool      *pgxpool.Pool
	abandoned postgres.Abandoned
}

var _ outbox.Store = (*Store)(nil)

// NewStore returns the store in the pool's database.
func NewStore(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

var (
	// answersLane is the kind of the lanes with callback answers, which are sent even if the chat
	// is frozen or parked.
	answersLane = strconv.Itoa(int(outbox.CallbackAnswers))
	// setAsideLane is the kind of the lanes with rows that are set aside, which are not sent.
	setAsideLane = strconv.Itoa(int(outbox.SetAside))
)

// Fragments of queries for lanes. All except unfinished are written so that the planner uses
// outbox_waiting_idx. If the planner could order the rows by id alone, it would do so whenever it
// assumes that most rows wait, and would then read all finished rows too.
const (
	// rowLane is the lane of an outbox row o.
	rowLane = `(o.chat_id, o.lane)`
	// rowPosition is the position of an outbox row o among the rows of all lanes.
	rowPosition = `(o.chat_id, o.lane, o.id)`
	// waits is the condition that an outbox row o is unfinished and in the lane l.
	waits = `o.finished_at IS NULL AND ` + rowLane + ` >= (l.chat_id, l.lane)
		        AND ` + rowLane + ` <= (l.chat_id, l.lane)`
	// unfinished means the same as finished_at IS NULL. It is for rows that are found by their ids:
	// in this form, the planner cannot use the index of waiting rows, which it would prefer in a
	// new database.
	unfinished = `o.state IN ('planned', 'sending')`
	// inOrder orders waiting rows by lane, and within a lane by age.
	inOrder = `o.chat_id, o.lane, o.id`
)

// over is the condition that a row o must not be sent: it is past its deadline, or it is a page and
// a newer page of its message waits.
const over = `(coalesce(o.expires_at <= now(), false) OR o.action = 'page' AND EXISTS (
	        SELECT FROM outbox n WHERE n.chat_id = o.chat_id AND n.edited_message_id = o.edited_message_id
	          AND n.id > o.id AND n.finished_at IS NULL))`

// pausesValid is the condition that the pauses of a row o, and of its chat, are valid. If the last
// take of the row, or else its creation, is in the future, the clock was set back, and the pauses
// are ignored.
const pausesValid = `(coalesce(o.tried_at, o.created_at) <= clock_timestamp())`

// withoutSync lets a transaction commit without waiting until it is on disk, or on a standby. It
// applies to this transaction only, because the pool's sessions also serve the lease.
const withoutSync = `SELECT set_config('synchronous_commit', 'off', true)`

// Advance implements outbox.Store. It sends one pipelined batch, which the server runs as one
// transaction; each statement sees the effects of the previous statements. A server crash may undo
// the most recent transactions, and then their messages may be sent again. The crash never undoes a
// transaction without all later ones, so commands and the lease never depend on lost work. The
// batch begins with the check of the lease, so that a new leader waits for the end of the batch.
func (s *Store) Advance(ctx context.Context, epoch int64, results []outbox.Result, lanes []outbox.Lane,
	bounds outbox.Bounds,
) ([]outbox.Turn, error) {
	var turns []outbox.Turn
	err := s.write(ctx, epoch, "advance the outbox", func(batch *pgx.Batch) {
		batch.Queue(withoutSync)
		queueResults(batch, results)
		turns = queueTurns(batch, lanes, bounds)
		queueChats(batch, results)
	})
	if err != nil {
		return nil, err
	}
	return turns, nil
}

// write sends the statements that queue adds as one batch, which fails if the lease is not held
// under the epoch. Its errors begin with what. It first terminates the server processes of batches
// that were abandoned without an answer, because those batches could take the same rows.
func (s *Store) write(ctx context.Context, epoch int64, what string, queue func(*pgx.Batch)) error {
	var batch pgx.Batch
	postgres.QueueEpoch(&batch, postgres.LeaderLease, epoch)
	queue(&batch)
	err := s.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		if err := s.abandoned.End(ctx, conn); err != nil {
			return err
		}
		defer s.abandoned.Note(conn)
		return conn.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, postgres.Translate(err))
	}
	return nil
}
