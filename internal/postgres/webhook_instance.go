package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// suspectFor is for how long after an instance has vanished the others handle updates with care. Telegram repeats a
// failed delivery after a minute at the latest.
const suspectFor = "2 minutes"

// WebhookInstance is an instance that receives updates by webhook, as the others see it.
type WebhookInstance struct {
	pool   *pgxpool.Pool
	name   string
	length time.Duration
}

// NewWebhookInstance returns an instance that counts as vanished if it is not renewed for length. Its name must be
// unique forever.
func NewWebhookInstance(pool *pgxpool.Pool, name string, length time.Duration) *WebhookInstance {
	return &WebhookInstance{pool: pool, name: name, length: length}
}

// Others says how the other instances are.
type Others int

const (
	// OthersAlive means that all others are alive or have stopped.
	OthersAlive Others = iota
	// OthersUnknown means that another one, which is older, has not renewed since this one started: it may have vanished.
	OthersUnknown
	// OthersVanished means that another one has vanished recently: Telegram will redeliver its updates, and one of them
	// may have killed it.
	OthersVanished
)

// Renew announces that the instance is alive, and returns how the others are.
func (w *WebhookInstance) Renew(ctx context.Context) (others Others, err error) {
	var batch pgx.Batch
	batch.Queue(`
		INSERT INTO webhook_instances (name, expires_at) VALUES ($1, clock_timestamp() + $2::interval)
		ON CONFLICT ON CONSTRAINT webhook_instances_pkey DO UPDATE
		SET started_at = least(webhook_instances.started_at, clock_timestamp()), renewed_at = clock_timestamp(),
		    expires_at = excluded.expires_at`, w.name, w.length)
	// a renewal in the future was written before the clock was set back
	batch.Queue(`
		DELETE FROM webhook_instances WHERE name IN (
		    SELECT name FROM webhook_instances
		    WHERE expires_at < clock_timestamp() - interval '` + suspectFor + `' OR renewed_at > clock_timestamp()
		    FOR UPDATE SKIP LOCKED)`)
	batch.Queue(`
		SELECT coalesce(max(CASE WHEN other.expires_at <= clock_timestamp() THEN $2::integer
		                         WHEN other.renewed_at <= me.started_at THEN $3 END), $4)
		FROM webhook_instances me JOIN webhook_instances other ON other.name <> me.name
		WHERE me.name = $1`,
		w.name, OthersVanished, OthersUnknown, OthersAlive).QueryRow(func(row pgx.Row) error { return row.Scan(&others) })
	if err := w.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return OthersUnknown, fmt.Errorf("renew instance %s: %w", w.name, err)
	}
	return others, nil
}

// Leave announces that the instance has stopped, so that it does not count as vanished.
func (w *WebhookInstance) Leave(ctx context.Context) error {
	if _, err := w.pool.Exec(ctx, `DELETE FROM webhook_instances WHERE name = $1`, w.name); err != nil {
		return fmt.Errorf("leave as instance %s: %w", w.name, err)
	}
	return nil
}
