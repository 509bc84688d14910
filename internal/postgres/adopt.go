package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// ClaimBot assigns the database to the bot with the given id, unless the database already belongs
// to a bot. It returns the owner of the database. If several bots claim a database at the same
// time, one of them becomes its owner.
func ClaimBot(ctx context.Context, pool *pgxpool.Pool, bot ladder.UserID) (owner ladder.UserID, err error) {
	const claim = `INSERT INTO bot (telegram_user_id) VALUES ($1) ON CONFLICT (only_one) DO NOTHING`
	// The bot must be able to start while the database accepts no writes, so only the very
	// first start writes.
	for range 2 {
		if owner, err = BotOwner(ctx, pool); err != nil || owner != 0 {
			break
		}
		if _, err := pool.Exec(ctx, claim, bot); err != nil {
			return 0, fmt.Errorf("claim the database: %w", err)
		}
	}
	return owner, err
}

// BotOwner returns the id of the bot that owns the database, or 0 if no bot owns it yet.
func BotOwner(ctx context.Context, pool *pgxpool.Pool) (owner ladder.UserID, err error) {
	err = pool.QueryRow(ctx, `SELECT telegram_user_id FROM bot`).Scan(&owner)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("read the owner of the database: %w", err)
	}
	return owner, nil
}

// ErrInstanceRuns means that a database cannot be adopted because an instance holds the leader's
// lease.
var ErrInstanceRuns = errors.New("an instance is running")

// DeadLetterID identifies a dead letter. Package pgintake stores dead letters.
type DeadLetterID int64

// DeadUpdatesError means that a database cannot be adopted because it has dead letters of updates.
// The message ids in them may refer to other messages for the new bot.
type DeadUpdatesError struct{ IDs []DeadLetterID }

// Error implements error.
func (e *DeadUpdatesError) Error() string {
	return fmt.Sprintf("there are dead letters of updates: %d", e.IDs)
}

// AdoptBot assigns the database to the bot with the given id. It returns the previous owner, 0 for
// none. If the previous owner was another bot, AdoptBot also removes, expires or marks data with
// ids that mean something else to the new bot. Before that, it fails with ErrInstanceRuns if an
// instance holds the leader's lease, or with a *DeadUpdatesError if there are dead letters of
// updates. After an error, nothing has changed, unless the answer to the commit was lost.
func AdoptBot(ctx context.Context, pool *pgxpool.Pool, bot ladder.UserID) (before ladder.UserID, err error) {
	err = Transact(ctx, pool, nil, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT telegram_user_id FROM bot FOR UPDATE`).Scan(&before)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if before != 0 && before != bot {
			if err := handOver(ctx, tx, before, bot); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO bot (telegram_user_id) VALUES ($1)
			ON CONFLICT (only_one) DO UPDATE SET telegram_user_id = excluded.telegram_user_id`, bot)
		return err
	})
	if err != nil {
		return before, fmt.Errorf("adopt the database: %w", err)
	}
	return before, nil
}

// supergroups selects Telegram's ids of the chats in which a message has the same id for every bot.
// In all other chats each bot has its own message ids.
const supergroups = `(SELECT telegram_chat_id FROM chats WHERE kind = 'supergroup')`

// handOver passes the database from one bot to another: it removes, expires or marks data with ids
// that would mean something else to the new bot. If checkHandOver fails, handOver returns its error
// and changes nothing.
func handOver(ctx context.Context, tx pgx.Tx, from, to ladder.UserID) error {
	if err := checkHandOver(ctx, tx); err != nil {
		return err
	}
	var batch pgx.Batch
	for _, keys := range []struct{ table, column string }{
		{"handled_commands", "key"}, {"matches", "idempotency_key"}, {"outbox", "key"},
	} {
		queueKeysOfBots(&batch, keys.table, keys.column, from, to)
	}
	// With the new epoch, work that began under the old lease can no longer be written.
	batch.Queue(`UPDATE leases SET epoch = epoch + 1, holder = '', expires_at = clock_timestamp()`)
	batch.Queue(`DELETE FROM match_messages WHERE telegram_chat_id NOT IN ` + supergroups)
	batch.Queue(`DELETE FROM ensured_messages`) // the new bot cannot edit messages of the old one
	batch.Queue(`UPDATE prompts SET telegram_message_id = NULL WHERE telegram_message_id IS NOT NULL`)
	batch.Queue(`DELETE FROM update_attempts`)
	// The outcome of a command must not be lost: the page that would have shown it becomes a new
	// message.
	batch.Queue(`
		UPDATE outbox SET action = 'send', edited_message_id = NULL, supersede_key = NULL
		WHERE finished_at IS NULL AND action = 'page' AND purpose = $1`, notice.Outcome)
	// Only the bot that sent a message can edit it, and only the bot that received a button
	// press can answer it.
	batch.Queue(`
		UPDATE outbox
		SET state = 'expired', finished_at = now(), last_error = 'another bot has taken over',
		    supersede_key = NULL, batch = NULL
		WHERE finished_at IS NULL AND action IN ('edit', 'callback_answer', 'page')`)
	// Dead notices are included, because an operator may send them again.
	batch.Queue(`
		UPDATE outbox SET reply_to = NULL
		WHERE (finished_at IS NULL OR state = 'dead') AND reply_to IS NOT NULL
		  AND chat_id IN (SELECT id FROM chats WHERE kind <> 'supergroup')`)
	return tx.SendBatch(ctx, &batch).Close()
}

func checkHandOver(ctx context.Context, tx pgx.Tx) error {
	var running bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM leases WHERE name = $1 AND holder <> '' AND expires_at > clock_timestamp())`,
		LeaderLease).Scan(&running)
	if err != nil {
		return err
	}
	if running {
		return ErrInstanceRuns
	}
	ids, err := Collect(ctx, tx, "look for dead letters", pgx.RowTo[DeadLetterID],
		`SELECT id FROM dead_letters WHERE kind = 'update' ORDER BY id`)
	if err == nil && len(ids) > 0 {
		err = &DeadUpdatesError{ids}
	}
	return err
}

// queueKeysOfBots adds a prefix to the keys that the bot "from" has derived from ids that mean
// something else to other bots. It removes the prefix from such keys of the bot "to". So neither
// bot finds such keys of the other.
func queueKeysOfBots(batch *pgx.Batch, table, column string, from, to ladder.UserID) {
	const mark = `
		UPDATE %[1]s SET %[2]s = $1::text || %[2]s
		WHERE (%[2]s LIKE 'm:%%' OR %[2]s LIKE 'e:%%')
		  AND split_part(%[2]s, ':', 2) NOT IN (SELECT telegram_chat_id::text FROM ` + supergroups + ` AS s)
		   OR %[2]s LIKE 'u:%%'`
	// A key keeps its prefix if the same key exists without it, because most keys must be unique.
	const unmark = `
		UPDATE %[1]s SET %[2]s = substr(%[2]s, length($1::text) + 1)
		WHERE starts_with(%[2]s, $1)
		  AND NOT EXISTS (SELECT FROM %[1]s AS other WHERE other.%[2]s = substr(%[1]s.%[2]s, length($1) + 1))`
	batch.Queue(fmt.Sprintf(mark, table, column), keyMark(from))
	batch.Queue(fmt.Sprintf(unmark, table, column), keyMark(to))
}

// keyMark is the prefix that queueKeysOfBots adds to the keys of a bot.
func keyMark(bot ladder.UserID) string { return fmt.Sprintf("bot%d:", bot) }
