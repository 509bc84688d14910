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
	// purgeBatch limits the rows that one transaction removes or expires.
	purgeBatch = 10_000
)

// EditLifetime is how long an edit of a card may wait. Finished notices and closed prompts are kept
// for the same time, with a few exceptions; see purges.
const EditLifetime = 7 * 24 * time.Hour

// commandLifetime is how long a handled update is remembered. It is longer than the day for which
// Telegram may deliver the update again.
const commandLifetime = 72 * time.Hour

var matchKind = notice.KindOf(ranking.MatchRecorded{}).Name

// purges holds the statements that remove or expire old rows, at most $1 rows each. Ages are
// literals in the statements, so that the planner can tell how few rows are that old.
var purges = []string{
	// The key of a match is also stored in the match, which is never purged.
	deleteFrom("handled_commands", "key", `handled_at < now() - `+Interval(commandLifetime)),
	deleteFrom("dead_letters", "id", `last_seen_at < now() - interval '30 days'`),
	deleteFrom("update_attempts", "update_id", `last_begun_at < now() - `+Interval(commandLifetime)),
	// A dead notice is kept at least as long as its dead letter.
	deleteFrom("outbox", "id", `finished_at < now() - `+Interval(EditLifetime)+`
	     AND (state <> 'dead' OR (SELECT d.id FROM dead_letters d WHERE d.outbox_id = outbox.id) IS NULL)`),
	deleteFrom("prompts", "id", `closed_at < now() - `+Interval(EditLifetime)),
	// There are many callback answers, and they are shown only for a moment, so keep them briefly.
	deleteFrom("outbox", "id", `action = 'callback_answer' AND state <> 'dead'
	     AND finished_at < now() - interval '1 hour'`),
	// Notices that are set aside for a newer release are in no lane, so expire them here.
	expire(`outbox o WHERE o.deferred_at <= 'infinity'`),
	// The lanes of a parked chat may never be taken again, so expire its notices here too.
	expire(`chats c JOIN outbox o ON o.chat_id = c.id WHERE c.parked_at IS NOT NULL AND o.state = 'planned'`),
}

func deleteFrom(table, key, condition string) string {
	return fmt.Sprintf(`DELETE FROM %[1]s WHERE %[2]s IN (SELECT %[2]s FROM %[1]s WHERE %[3]s LIMIT $1)`,
		table, key, condition)
}

// expire returns the statement that expires rows o of the outbox that are past their deadline or
// older than EditLifetime. The statement ignores the deadline of match results, because
// pgoutbox.Store.Summarize reports late results to the chat.
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

// KeepPurging purges at once and then every hour until the context ends or the lease is lost. It
// logs other failures, and always returns nil.
func KeepPurging(ctx context.Context, pool *pgxpool.Pool, lease *Lease, log *slog.Logger) error {
	tick := time.Tick(purgeInterval)
	for {
		n, err := Purge(ctx, pool, lease)
		if ctx.Err() != nil || errors.Is(err, outbox.ErrLeaseLost) {
			return nil //nolint:nilerr // in both cases, purging ends
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

// Purge removes old rows, and expires late notices that are set aside or wait in parked chats. It
// returns how many rows it removed or expired, even after an error. It fails with
// outbox.ErrLeaseLost if the lease is lost. A nil lease means that none is needed.
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
	err = Transact(ctx, pool, lease, func(tx pgx.Tx) error { return DeleteForgottenChats(ctx, tx) })
	if err != nil {
		return removed, fmt.Errorf("delete forgotten chats: %w", Translate(err))
	}
	return removed, nil
}

// DeleteForgottenChats deletes the private chats whose people were forgotten, once nothing waits to
// be sent there. It goes through all notices, but only if there are such chats.
func DeleteForgottenChats(ctx context.Context, tx pgx.Tx) error {
	gone, err := Collect(ctx, tx, "find forgotten chats", pgx.RowTo[int64], `
		SELECT id FROM chats c
		WHERE forgotten AND NOT EXISTS (SELECT FROM outbox WHERE chat_id = c.id AND finished_at IS NULL)`)
	if err != nil || len(gone) == 0 {
		return err
	}
	var batch pgx.Batch
	// The keys of the commands of a chat have its id, and ";" follows ":".
	batch.Queue(`
		DELETE FROM handled_commands USING chats c, unnest(ARRAY['m:', 'e:']) AS begin
		WHERE c.id = ANY ($1) AND key > begin || telegram_chat_id || ':' AND key < begin || telegram_chat_id || ';'`, gone)
	batch.Queue(`
		DELETE FROM dead_letters WHERE outbox_id IN (SELECT id FROM outbox WHERE chat_id = ANY ($1))`, gone)
	for _, table := range []string{"prompts", "timers", "ensured_messages", "outbox"} {
		batch.Queue(`DELETE FROM `+table+` WHERE chat_id = ANY ($1)`, gone)
	}
	batch.Queue(`DELETE FROM chats WHERE id = ANY ($1)`, gone)
	return tx.SendBatch(ctx, &batch).Close()
}
