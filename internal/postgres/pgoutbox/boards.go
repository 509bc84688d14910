package pgoutbox

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// boardDeadline is how long a board update queued by QueueBoards or QueueAllBoards may wait. The
// leader queues updates of all boards at about the same interval.
const boardDeadline = time.Hour

// insertBoards and ofActiveChats begin and end the statements that queue updates of boards, except
// in chats that the bot has left. If an update of a board is already waiting, only its deadline
// changes.
const (
	insertBoards = `
		INSERT INTO outbox (chat_id, kind, purpose, payload, action, object, thread_id, supersede_key, alone, expires_at)
		SELECT b.chat_id, $1, $2, '{}', 'ensure', b.object, b.thread_id, b.object, true, now() + $3::interval
		FROM (`
	ofActiveChats = `) AS b CROSS JOIN LATERAL (SELECT * FROM chats WHERE id = b.chat_id LIMIT 1) AS c
		WHERE c.is_active
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE SET expires_at = excluded.expires_at
		RETURNING chat_id`
)

// QueueBoards queues an update of each board in these chats, except in chats that the bot has left.
// It returns the chats with queued updates, in ascending order.
func (s *Store) QueueBoards(ctx context.Context, chats []outbox.ChatID) ([]outbox.ChatID, error) {
	const sql = insertBoards + `SELECT b.chat_id, ` + postgres.BoardObject + ` AS object, b.thread_id
		    FROM unnest($4::bigint[]) AS wanted (id)
		    CROSS JOIN LATERAL (SELECT * FROM boards WHERE chat_id = wanted.id OFFSET 0) AS b` + ofActiveChats
	return s.queueBoards(ctx, sql, chats)
}

// QueueAllBoards is like QueueBoards, for all chats. It also queues updates for messages of boards
// that were turned off or moved.
func (s *Store) QueueAllBoards(ctx context.Context) ([]outbox.ChatID, error) {
	const sql = insertBoards + `
		    SELECT b.chat_id, ` + postgres.BoardObject + ` AS object, b.thread_id FROM boards b
		    UNION ALL
		    SELECT e.chat_id, e.object, NULL FROM ensured_messages e WHERE starts_with(e.object, 'board:') AND NOT EXISTS (
		        SELECT FROM boards b WHERE b.chat_id = e.chat_id AND ` + postgres.BoardObject + ` = e.object)` + ofActiveChats
	return s.queueBoards(ctx, sql)
}

func (s *Store) queueBoards(ctx context.Context, sql string, args ...any) ([]outbox.ChatID, error) {
	chats, err := postgres.Collect(ctx, s.pool, "queue updates of boards", pgx.RowTo[outbox.ChatID], sql,
		append([]any{ranking.KindBoard, notice.Notification, boardDeadline}, args...)...)
	slices.Sort(chats)
	return slices.Compact(chats), err
}

// queuePins records the outcomes of attempts to pin boards. PinWanted does not replace PinRefused.
// queuePins skips a chat whose id has changed since the attempt. If the bot may not pin a board,
// queuePins also queues a notice for the chat, unless that outcome is already recorded. queuePins
// must come after the other statements of queueChats, because a move of a chat locks the chat
// before its board.
func queuePins(batch *pgx.Batch, results []outbox.Result) {
	queueFor(batch, results, func(r outbox.Result) bool { return r.Failure == nil && r.Pin != "" }, `
		WITH tried AS (
		    SELECT b.ladder_id, r.pin
		    FROM `+theResults+`
		    CROSS JOIN LATERAL (SELECT * FROM boards WHERE chat_id = r.chat_id OFFSET 0) AS b
		    CROSS JOIN LATERAL (SELECT * FROM chats WHERE id = r.chat_id LIMIT 1) AS c
		    WHERE c.telegram_chat_id = r.sent_to AND `+postgres.BoardObject+` = r.object AND b.pin <> r.pin
		      AND (r.pin <> 'wanted' OR b.pin = 'pinned')
		), changed AS (
		    UPDATE boards b SET pin = r.pin FROM tried r
		    WHERE b.ladder_id = r.ladder_id AND b.ladder_id = ANY (ARRAY(SELECT ladder_id FROM tried))
		    RETURNING b.chat_id, b.thread_id, b.pin)
		INSERT INTO outbox (chat_id, kind, purpose, payload, thread_id, expires_at)
		SELECT chat_id, $2, $3, '{}', thread_id, now() + $4::interval FROM changed WHERE pin = 'refused'`,
		notice.KindOf(ranking.BoardNotPinned{}).Name, notice.Notification, notice.Notification.Lifetime())
}

// queueEndedObjects deletes the rows of ensured_messages for messages that are no longer needed,
// unless another message has taken their place.
func queueEndedObjects(batch *pgx.Batch, results []outbox.Result) {
	queueFor(batch, results, func(r outbox.Result) bool { return r.Failure == nil && r.Ended }, `
		DELETE FROM ensured_messages m USING `+theResults+`
		WHERE m.chat_id = r.chat_id AND m.object = r.object AND m.telegram_message_id = r.target`)
}
