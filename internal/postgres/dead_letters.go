package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/intake"
	"elobot/internal/outbox"
)

// DeadLetters keeps what could not be handled: updates on their way in, as intake.DeadLetters, and notices on their way
// out, which the Outbox puts there.
type DeadLetters struct {
	pool  *pgxpool.Pool
	lease *Lease // what keeping depends on; nil: on none
	// committed, if set, is told which lanes have something new to be sent. It must not block.
	committed func(outbox.Lane)
	now       func() time.Time // by the clock that messages are dated by
}

var _ intake.DeadLetters = (*DeadLetters)(nil)

// NewDeadLetters returns the dead letters in the database of the pool.
func NewDeadLetters(pool *pgxpool.Pool) *DeadLetters { return &DeadLetters{pool: pool, now: time.Now} }

// WithClock returns the same dead letters, of updates that are dated by this clock and not by that of the machine.
func (d *DeadLetters) WithClock(now func() time.Time) *DeadLetters {
	dated := *d
	dated.now = now
	return &dated
}

// DeadLetterID is the number of a dead letter.
type DeadLetterID int64

// DeadLetter is what could not be handled, as whoever operates the bot sees it.
type DeadLetter struct {
	ID        DeadLetterID
	Update    int64       // the id of the update, 0 for a notice
	Notice    *DeadNotice // nil for an update
	LastError string
	Attempts  int
	FirstSeen time.Time
	LastSeen  time.Time
	Payload   []byte // only of a letter that was opened
}

// DeadNotice is the notice of a dead letter.
type DeadNotice struct {
	ID    int64  // of its row in the outbox
	State string // of that row, empty if it is gone, and so is all that follows
	Kind  string
	Chat  int64 // Telegram's id
	Title string
}

// Why something cannot be done with a dead letter.
var (
	ErrNoDeadLetter = errors.New("there is no such dead letter")
	ErrNotDead      = errors.New("the notice is not dead any more")
)

// keepUpdate keeps the update of a dead letter, of which keeping are the arguments.
const keepUpdate = `
		INSERT INTO dead_letters AS kept (kind, update_id, payload, last_error, attempts, first_seen_at)
		VALUES ('update', $1, $2, $3, $4, $5)
		ON CONFLICT ON CONSTRAINT dead_letters_update_id_key DO UPDATE
		SET payload = excluded.payload, last_error = excluded.last_error, attempts = kept.attempts + excluded.attempts,
		    last_seen_at = now()`

func keeping(l intake.DeadLetter) []any {
	return []any{l.Update.ID, []byte(l.Update.Raw), storable(l.LastError), l.Attempts, l.FirstSeen}
}

// Keep implements intake.DeadLetters. Of an update that dies again, one row is kept, with the newest reason.
func (d *DeadLetters) Keep(ctx context.Context, letter intake.DeadLetter) error {
	var batch pgx.Batch
	d.lease.require(&batch)
	batch.Queue(keepUpdate, keeping(letter)...)
	if err := d.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("keep dead letter: %w", translate(err))
	}
	return nil
}

const (
	selectDeadLetters = `
		SELECT d.id, d.update_id, d.outbox_id, coalesce(o.state, ''), coalesce(o.kind, ''),
		       coalesce(c.telegram_chat_id, 0), coalesce(c.title, ''),
		       d.last_error, d.attempts, d.first_seen_at, d.last_seen_at`
	fromDeadLetters = `
		FROM dead_letters d LEFT JOIN outbox o ON o.id = d.outbox_id LEFT JOIN chats c ON c.id = o.chat_id`
)

// scanDeadLetter reads the columns of selectDeadLetters and those that come after them.
func scanDeadLetter(row pgx.CollectableRow, more ...any) (DeadLetter, error) {
	var l DeadLetter
	var n DeadNotice
	var update, notice *int64
	err := row.Scan(append([]any{&l.ID, &update, &notice, &n.State, &n.Kind, &n.Chat, &n.Title,
		&l.LastError, &l.Attempts, &l.FirstSeen, &l.LastSeen}, more...)...)
	if update != nil {
		l.Update = *update
	}
	if notice != nil {
		n.ID = *notice
		l.Notice = &n
	}
	return l, err
}

// List returns the newest dead letters, at most so many, and how many there are in all.
func (d *DeadLetters) List(ctx context.Context, limit int) (letters []DeadLetter, total int, err error) {
	const sql = selectDeadLetters + `, count(*) OVER ()` + fromDeadLetters + `
		ORDER BY d.last_seen_at DESC, d.id DESC LIMIT $1`
	letters, err = d.collect(ctx, func(row pgx.CollectableRow) (DeadLetter, error) { return scanDeadLetter(row, &total) }, sql, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("list dead letters: %w", err)
	}
	return letters, total, nil
}

// Find returns those dead letters of the ids that there are, oldest first; without ids, all.
func (d *DeadLetters) Find(ctx context.Context, ids []DeadLetterID) ([]DeadLetter, error) {
	const sql = selectDeadLetters + fromDeadLetters + `
		WHERE coalesce(cardinality($1::bigint[]), 0) = 0 OR d.id = ANY ($1) ORDER BY d.id`
	letters, err := d.collect(ctx, func(row pgx.CollectableRow) (DeadLetter, error) { return scanDeadLetter(row) }, sql, ids)
	if err != nil {
		return nil, fmt.Errorf("find dead letters: %w", err)
	}
	return letters, nil
}

// Open returns a dead letter with its payload.
func (d *DeadLetters) Open(ctx context.Context, id DeadLetterID) (DeadLetter, error) {
	const sql = selectDeadLetters + `, d.payload` + fromDeadLetters + ` WHERE d.id = $1`
	var payload []byte
	letters, err := d.collect(ctx, func(row pgx.CollectableRow) (DeadLetter, error) { return scanDeadLetter(row, &payload) }, sql, id)
	switch {
	case err != nil:
		return DeadLetter{}, fmt.Errorf("open dead letter %d: %w", id, err)
	case len(letters) == 0:
		return DeadLetter{}, ErrNoDeadLetter
	}
	letters[0].Payload = payload
	return letters[0], nil
}

func (d *DeadLetters) collect(ctx context.Context, row pgx.RowToFunc[DeadLetter], sql string, args ...any) ([]DeadLetter, error) {
	rows, err := d.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, row)
}

// Drop deletes the dead letters with these ids, and returns which it has found. The rows of notices stay dead.
func (d *DeadLetters) Drop(ctx context.Context, ids []DeadLetterID) ([]DeadLetterID, error) {
	rows, err := d.pool.Query(ctx, `DELETE FROM dead_letters WHERE id = ANY ($1) RETURNING id`, ids)
	if err != nil {
		return nil, fmt.Errorf("drop dead letters: %w", err)
	}
	dropped, err := pgx.CollectRows(rows, pgx.RowTo[DeadLetterID])
	if err != nil {
		return nil, fmt.Errorf("drop dead letters: %w", err)
	}
	return dropped, nil
}

// SendAgain has the notice of a dead letter wait to be sent once more, at its old place in its chat and for as long as
// it takes, and deletes the letter. The requests made for it so far go on being counted. If the notice is not dead, both
// stay as they are.
func (d *DeadLetters) SendAgain(ctx context.Context, id DeadLetterID) error {
	err := transact(ctx, d.pool, func(tx pgx.Tx) error {
		var notice int64
		err := tx.QueryRow(ctx, `DELETE FROM dead_letters WHERE id = $1 AND kind = 'notice' RETURNING outbox_id`, id).Scan(&notice)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoDeadLetter
		}
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			UPDATE outbox SET state = 'planned', failures = 0, tried_at = NULL, not_before = NULL, batch = NULL,
			    finished_at = NULL, expires_at = CASE WHEN action = 'edit' THEN now() + $2::interval END
			WHERE id = $1 AND state = 'dead'`, notice, editLifetime)
		if err == nil && tag.RowsAffected() == 0 {
			return ErrNotDead
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("send dead letter %d again: %w", id, err)
	}
	return nil
}

// FailedAgain notes that the update of a dead letter was tried once more, in vain.
func (d *DeadLetters) FailedAgain(ctx context.Context, id DeadLetterID, reason error) error {
	const sql = `
		UPDATE dead_letters SET last_error = $2, attempts = attempts + 1, last_seen_at = now()
		WHERE id = $1 AND kind = 'update'`
	if _, err := d.pool.Exec(ctx, sql, id, storable(reason.Error())); err != nil {
		return fmt.Errorf("note what dead letter %d failed of: %w", id, err)
	}
	return nil
}
