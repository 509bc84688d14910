package pgranking

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/notice"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// boardLifetime is how long an update of a board's message may wait to be sent. If the update
// expires, the next update makes up for it.
const boardLifetime = 24 * time.Hour

// queueFoundBoard reads the board of the query's ladder. It leaves found unchanged if the ladder
// has no board.
func queueFoundBoard(batch *pgx.Batch, q ranking.Query, found **ranking.Board) {
	sql := `SELECT ladder_id, thread_id FROM boards WHERE ladder_id = ` + postgres.LadderOf("id", postgres.ThisGroup, "$2")
	batch.Queue(sql, q.Chat.ID, q.Ladder).QueryRow(func(row pgx.Row) error {
		var b ranking.Board
		err := row.Scan(&b.Ladder, (*zeronull.Int8)(&b.Thread))
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		*found = &b
		return err
	})
}

// queueBoard turns a ladder's board on or off, or moves it to another topic. The batch fails if the
// board is not as it was read. The messages are queued first, because a move of the chat locks the
// chat's notices before its boards.
func queueBoard(batch *pgx.Batch, c ranking.Changes, b *ranking.ChangedBoard) {
	if b.Before != nil && (b.After == nil || *b.Before != *b.After) {
		queueBoardMessage(batch, c, *b.Before)
	}
	if b.After == nil {
		batch.Queue(`
			WITH changed AS (
			    DELETE FROM boards WHERE ladder_id = $1 AND thread_id IS NOT DISTINCT FROM nullif($2::bigint, 0) RETURNING 1)
			SELECT EXISTS (SELECT FROM changed)::unchanged`, b.Before.Ladder, b.Before.Thread)
		return
	}
	queueBoardMessage(batch, c, *b.After)
	before := b.Before
	if before == nil {
		before = &ranking.Board{Thread: -1} // no board has this thread
	}
	batch.Queue(`
		WITH changed AS (
		    INSERT INTO boards AS b (chat_id, thread_id, ladder_id) VALUES ($1, nullif($2::bigint, 0), $4)
		    ON CONFLICT ON CONSTRAINT boards_pkey DO UPDATE
		    SET thread_id = excluded.thread_id, turned_on_at = now(), pin = 'wanted'
		    WHERE b.thread_id IS NOT DISTINCT FROM nullif($3::bigint, 0)
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM changed)::unchanged`, b.Chat, b.After.Thread, before.Thread, b.After.Ladder)
}

// queueBoardMessage queues an update of a board's message, also for a board that is being turned
// off.
func queueBoardMessage(batch *pgx.Batch, c ranking.Changes, b ranking.Board) {
	batch.Queue(`
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, object, thread_id, supersede_key, alone, expires_at)
		VALUES ($1, $2, $3, $4, '{}', 'ensure', $5, nullif($6::bigint, 0), $5, true, now() + $7::interval)
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE
		SET key = excluded.key, expires_at = excluded.expires_at`,
		c.Chat, c.Key, ranking.KindBoard, notice.Notification, b.Object(), b.Thread, boardLifetime)
}
