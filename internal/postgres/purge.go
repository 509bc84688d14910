package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

const (
	// purgeInterval is the time between two purges.
	purgeInterval = time.Hour
	// purgeBatch is how many rows one transaction removes at most.
	purgeBatch = 10_000
)

// EditLifetime is how long after the last change of a card it is worth editing its message. The rows of sent notices are kept for as long.
const EditLifetime = 7 * 24 * time.Hour

// commandLifetime is how long it is remembered that an update was handled: for longer than Telegram redelivers it, which is a day.
const commandLifetime = 72 * time.Hour

var matchKind = notice.KindOf(ranking.MatchRecorded{}).Name

// purges are the statements that remove old data, at most $1 rows each. Their ages are literals, so that the planner can tell how few rows
// are that old.
var purges = []string{
	// a match keeps its own key forever
	`DELETE FROM handled_commands WHERE key IN (
	     SELECT key FROM handled_commands WHERE handled_at < now() - ` + Interval(commandLifetime) + ` LIMIT $1)`,
	`DELETE FROM dead_letters WHERE id IN (
	     SELECT id FROM dead_letters WHERE last_seen_at < now() - interval '30 days' LIMIT $1)`,
	`DELETE FROM update_attempts WHERE update_id IN (
	     SELECT update_id FROM update_attempts WHERE last_begun_at < now() - ` + Interval(commandLifetime) + ` LIMIT $1)`,
	// a dead notice is kept as long as its letter
	`DELETE FROM outbox WHERE id IN (
	     SELECT o.id FROM outbox o
	     WHERE o.finished_at < now() - ` + Interval(EditLifetime) + `
	       AND (o.state <> 'dead' OR (SELECT d.id FROM dead_letters d WHERE d.outbox_id = o.id) IS NULL)
	     LIMIT $1)`,
	`DELETE FROM prompts WHERE id IN (
	     SELECT id FROM prompts WHERE closed_at < now() - ` + Interval(EditLifetime) + ` LIMIT $1)`,
	// Callback answers are shown for a moment only. However many there are, few are kept.
	`DELETE FROM outbox WHERE id IN (
	     SELECT o.id FROM outbox o
	     WHERE o.action = 'callback_answer' AND o.finished_at < now() - interval '1 hour' AND o.state <> 'dead' LIMIT $1)`,
	// Notices that are set aside for a newer release are in no lane, so expire them here. A notice without a deadline expires after the
	// week for which sent rows are kept. So do results, because the chat is notified of how many have expired.
	`UPDATE outbox
	 SET state = 'expired', finished_at = now(), last_error = coalesce(last_error, 'too late'), supersede_key = NULL
	 WHERE id IN (
	     SELECT o.id FROM outbox o WHERE o.deferred_at <= 'infinity' AND o.finished_at IS NULL
	       AND (o.expires_at <= now() AND o.kind <> '` + matchKind + `'
	            OR o.created_at < now() - ` + Interval(EditLifetime) + `)
	     LIMIT $1)`,
	// The lane of a parked chat is advanced once a day or never again, so the same goes for its
	// notices.
	`UPDATE outbox
	 SET state = 'expired', finished_at = now(), last_error = coalesce(last_error, 'too late'), supersede_key = NULL
	 WHERE id IN (
	     SELECT o.id FROM chats c JOIN outbox o ON o.chat_id = c.id
	     WHERE c.parked_at IS NOT NULL AND o.finished_at IS NULL AND o.state = 'planned'
	       AND (o.expires_at <= now() AND o.kind <> '` + matchKind + `'
	            OR o.created_at < now() - ` + Interval(EditLifetime) + `)
	     LIMIT $1)`,
}

// KeepPurging purges at once and then every hour until the context ends or the lease is lost. It returns nil.
func KeepPurging(ctx context.Context, pool *pgxpool.Pool, lease *Lease, log *slog.Logger) error {
	tick := time.Tick(purgeInterval)
	for {
		switch n, err := Purge(ctx, pool, lease); {
		case ctx.Err() != nil, errors.Is(err, outbox.ErrLeaseLost):
			return nil
		case err != nil:
			log.WarnContext(ctx, "failed to purge old rows, retrying later", "error", err)
		case n > 0:
			log.InfoContext(ctx, "purged old rows", "rows", n)
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return nil
		}
	}
}

// Purge removes what is old enough, and expires notices of parked chats. It returns the number of these rows. Without the lease it fails with
// outbox.ErrLeaseLost; nil: no lease is needed.
func Purge(ctx context.Context, pool *pgxpool.Pool, lease *Lease) (removed int64, err error) {
	for _, sql := range purges {
		for n := int64(purgeBatch); n >= purgeBatch; removed += n {
			err := Transact(ctx, pool, lease, func(tx pgx.Tx) error {
				tag, err := tx.Exec(ctx, sql, purgeBatch)
				n = tag.RowsAffected()
				return err
			})
			if err != nil {
				return removed, fmt.Errorf("purge: %w", Translate(err))
			}
		}
	}
	return removed, nil
}
