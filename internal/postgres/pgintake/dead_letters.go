package pgintake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
)

// DeadLetters stores the dead letters of updates and notices that failed for good. It implements
// intake.DeadLetters for updates; pgoutbox adds the dead letters of notices. Set the exported
// fields before the first use.
type DeadLetters struct {
	// Lease must be held when a letter is saved. Otherwise saving fails with outbox.ErrLeaseLost.
	// If Lease is nil, no lease is needed.
	Lease *postgres.Lease
	// Committed is called with the lane of each notice that SaveAndNotify has queued. It must not
	// block. It may be nil.
	Committed func(outbox.Lane)
	Now       func() time.Time // the messenger's clock

	pool *pgxpool.Pool
}

var _ intake.DeadLetters = (*DeadLetters)(nil)

// NewDeadLetters returns the dead letters in the pool's database.
func NewDeadLetters(pool *pgxpool.Pool) *DeadLetters { return &DeadLetters{Now: time.Now, pool: pool} }

// DeadLetter is an update or a notice that failed for good, as the operator sees it.
type DeadLetter struct {
	ID     postgres.DeadLetterID
	Update int64 // id of the update, 0 for a notice
	Notice int64 // id of the notice, 0 for an update
	// State, Kind, Chat and Title describe the notice. They are zero for an update, or if the
	// notice no longer exists. Chat is Telegram's id.
	State, Kind         string
	Chat                int64
	Title               string
	LastError           string
	Attempts            int
	FirstSeen, LastSeen time.Time
	Payload             []byte // empty in lists
}

// Errors of operations on a dead letter.
var (
	ErrNoDeadLetter = errors.New("no such dead letter")
	ErrNotDead      = errors.New("notice is not dead any more")
)

// upsertUpdateLetter stores an update's dead letter. Its arguments come from updateLetterArgs.
const upsertUpdateLetter = `
		INSERT INTO dead_letters AS kept (kind, update_id, payload, last_error, attempts, first_seen_at)
		VALUES ('update', $1, $2, $3, $4, $5)
		ON CONFLICT ON CONSTRAINT dead_letters_update_id_key DO UPDATE
		SET payload = excluded.payload, last_error = excluded.last_error, attempts = kept.attempts + excluded.attempts,
		    last_seen_at = now()`

func updateLetterArgs(l intake.DeadLetter) []any {
	return []any{l.Update.ID, []byte(l.Update.Raw), postgres.Storable(l.LastError), l.Attempts, l.FirstSeen}
}

// Save implements intake.DeadLetters. An update has at most one letter: if it fails for good again,
// Save adds up the attempts and replaces the payload and the error.
func (d *DeadLetters) Save(ctx context.Context, letter intake.DeadLetter) error {
	var batch pgx.Batch
	d.Lease.Require(&batch)
	batch.Queue(upsertUpdateLetter, updateLetterArgs(letter)...)
	if err := d.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("save dead letter: %w", postgres.Translate(err))
	}
	return nil
}

const (
	selectDeadLetters = `
		SELECT d.id, coalesce(d.update_id, 0) AS update, coalesce(d.outbox_id, 0) AS notice, coalesce(o.state, '') AS state,
		       coalesce(o.kind, '') AS kind, coalesce(c.telegram_chat_id, 0) AS chat, coalesce(c.title, '') AS title,
		       d.last_error, d.attempts, d.first_seen_at AS first_seen, d.last_seen_at AS last_seen`
	fromDeadLetters = `
		FROM dead_letters d LEFT JOIN outbox o ON o.id = d.outbox_id LEFT JOIN chats c ON c.id = o.chat_id`
)

// List returns up to limit dead letters without their payloads, the most recently seen ones first,
// and how many dead letters there are in total.
func (d *DeadLetters) List(ctx context.Context, limit int) (letters []DeadLetter, total int, err error) {
	const sql = selectDeadLetters + `, count(*) OVER () AS total` + fromDeadLetters + `
		ORDER BY d.last_seen_at DESC, d.id DESC LIMIT $1`
	type listed struct {
		DeadLetter
		Total int
	}
	rows, err := postgres.Collect(ctx, d.pool, "list dead letters", pgx.RowToStructByNameLax[listed], sql, limit)
	if err != nil {
		return nil, 0, err
	}
	for _, r := range rows {
		total = r.Total
	}
	return postgres.Column(rows, func(r listed) DeadLetter { return r.DeadLetter }), total, nil
}

// Find returns the dead letters with these ids, ordered by id. It ignores ids without a letter.
func (d *DeadLetters) Find(ctx context.Context, ids []postgres.DeadLetterID) ([]DeadLetter, error) {
	const sql = selectDeadLetters + `, d.payload` + fromDeadLetters + ` WHERE d.id = ANY ($1) ORDER BY d.id`
	return postgres.Collect(ctx, d.pool, "find dead letters", pgx.RowToStructByName[DeadLetter], sql, ids)
}

// Since returns the dead letters that were last seen at the given time or later, and whose last
// error contains the text, ignoring case. The letters are ordered by id.
func (d *DeadLetters) Since(ctx context.Context, at time.Time, text string) ([]DeadLetter, error) {
	const sql = selectDeadLetters + `, d.payload` + fromDeadLetters + `
		WHERE d.last_seen_at >= $1 AND strpos(lower(d.last_error), lower($2)) > 0 ORDER BY d.id`
	return postgres.Collect(ctx, d.pool, "find dead letters", pgx.RowToStructByName[DeadLetter],
		sql, at, postgres.Storable(text))
}

// Open returns the dead letter with this id. It fails with ErrNoDeadLetter if there is none.
func (d *DeadLetters) Open(ctx context.Context, id postgres.DeadLetterID) (DeadLetter, error) {
	letters, err := d.Find(ctx, []postgres.DeadLetterID{id})
	if err == nil && len(letters) == 0 {
		err = ErrNoDeadLetter
	}
	if err != nil {
		return DeadLetter{}, err
	}
	return letters[0], nil
}

// Drop deletes the dead letters with these ids. It returns the ids of the letters that existed, in
// any order. The notices themselves stay dead.
func (d *DeadLetters) Drop(ctx context.Context, ids []postgres.DeadLetterID) ([]postgres.DeadLetterID, error) {
	return postgres.Collect(ctx, d.pool, "drop dead letters", pgx.RowTo[postgres.DeadLetterID],
		`DELETE FROM dead_letters WHERE id = ANY ($1) RETURNING id`, ids)
}

// SendAgain queues the notice of a dead letter once more, at its old position in its lane, and
// deletes the letter. An edit gets a fresh deadline; any other notice gets none. The notice keeps
// its count of attempts, but its count of failures starts again. SendAgain fails with
// ErrNoDeadLetter if there is no such letter of a notice, or with ErrNotDead if the notice is not
// dead or no longer exists. In both cases it changes nothing.
func (d *DeadLetters) SendAgain(ctx context.Context, id postgres.DeadLetterID) error {
	err := postgres.Transact(ctx, d.pool, nil, func(tx pgx.Tx) error {
		var notice int64
		err := tx.QueryRow(ctx, `DELETE FROM dead_letters WHERE id = $1 AND kind = 'notice' RETURNING outbox_id`,
			id).Scan(&notice)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoDeadLetter
		}
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			UPDATE outbox SET state = 'planned', failures = 0, tried_at = NULL, not_before = NULL, batch = NULL,
			    finished_at = NULL, expires_at = CASE WHEN action = 'edit' THEN now() + $2::interval END
			WHERE id = $1 AND state = 'dead'`, notice, postgres.EditLifetime)
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

// FailedAgain records that another attempt at a dead letter's update has failed. It ignores ids
// that belong to no letter of an update.
func (d *DeadLetters) FailedAgain(ctx context.Context, id postgres.DeadLetterID, reason error) error {
	const sql = `
		UPDATE dead_letters SET last_error = $2, attempts = attempts + 1, last_seen_at = now()
		WHERE id = $1 AND kind = 'update'`
	if _, err := d.pool.Exec(ctx, sql, id, postgres.Storable(reason.Error())); err != nil {
		return fmt.Errorf("record the failure of dead letter %d: %w", id, err)
	}
	return nil
}
