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
	purgeInterval = time.Hour
	// purgeBatch limits the rows that one transaction removes.
	purgeBatch = 10_000
)

// EditLifetime is how long after the last change of a card its message is still edited. The rows of
// sent notices are kept for the same time.
const EditLifetime = 7 * 24 * time.Hour

// commandLifetime is how long a handled update is remembered: for longer than Telegram redelivers
// it, which is a day.
const commandLifetime = 72 * time.Hour

var matchKind = notice.KindOf(ranking.MatchRecorded{}).Name

// purges are the statements that remove old data, at most $1 rows each. Their ages are literals, so
// that the planner can tell how few rows are that old.
var purges = []string{
	// a match keeps its own key for good
	deleteFrom("handled_commands", "key", `handled_at < now() - `+Interval(commandLifetime)),
	deleteFrom("dead_letters", "id", `last_seen_at < now() - interval '30 days'`),
	deleteFrom("update_attempts", "update_id", `last_begun_at < now() - `+Interval(commandLifetime)),
	// a dead notice is kept as long as its letter
	deleteFrom("outbox", "id", `finished_at < now() - `+Interval(EditLifetime)+`
	     AND (state <> 'dead' OR (SELECT d.id FROM dead_letters d WHERE d.outbox_id = outbox.id) IS NULL)`),
	deleteFrom("prompts", "id", `closed_at < now() - `+Interval(EditLifetime)),
	// Callback answers are shown only for a moment. However many there are, few are kept.
	deleteFrom("outbox", "id", `action = 'callback_answer' AND state <> 'dead'
	     AND finished_at < now() - interval '1 hour'`),
	// Notices that are set aside for a newer release are in no lane, so expire them here.
	expire(`outbox o WHERE o.deferred_at <= 'infinity'`),
	// The lanes of a parked chat may advance only once a day, or never again, so expire its notices
	// here too.
	expire(`chats c JOIN outbox o ON o.chat_id = c.id WHERE c.parked_at IS NOT NULL AND o.state = 'planned'`),
}

func deleteFrom(table, key, condition string) string {
	return fmt.Sprintf(`DELETE FROM %[1]s WHERE %[2]s IN (SELECT %[2]s FROM %[1]s WHERE %[3]s LIMIT $1)`, table, key, condition)
}

// expire returns the statement that expires rows o of the outbox at their deadline, and after
// EditLifetime at the latest. It ignores the deadline of results, because the chat is to be
// notified of how many were too late.
func expire(rows string) string {
	return `
		UPDATE outbox
		SET state = 'expired', finished_at = now(), last_error = coalesce(last_error, 'too late'), supersede_key = NULL
		WHERE id IN (
		    SELECT o.id FROM ` + rows + ` AND o.finished_at IS NULL
		      AND (o.expires_at <= now() AND o.kind <> '` + matchKind + `'
		           OR o.created_at < now() - ` + Interval(EditLifetime) + `)
		    LIMIT $1)`
}

// KeepPurging purges at once and then every hour until the context ends or the lease is lost.
// It returns nil.
func KeepPurging(ctx context.Context, pool *pgxpool.Pool, lease *Lease, log *slog.Logger) error {
	tick := time.Tick(purgeInterval)
	for {
		n, err := Purge(ctx, pool, lease)
		if ctx.Err() != nil || errors.Is(err, outbox.ErrLeaseLost) {
			return nil //nolint:nilerr // both are its end
		}
		switch {
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

// Purge removes old rows, and expires notices that are set aside or wait in parked chats. It
// returns the number of rows that it removed or expired. Without the lease it fails with
// outbox.ErrLeaseLost. A nil lease means that none is needed.
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
