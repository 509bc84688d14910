package pgoutbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// maxWaitingResults bounds how many of the newest rows of a lane are read. If more rows wait, those before them are not counted.
const maxWaitingResults = 200

// WaitingResults implements outbox.Store. The age of a report is known from the deadline of its notice. Rows that are marked as
// sending may have been sent, so only planned ones count. The rows before a result need a message each if they must stand
// alone; of the others, at most merge share one.
func (o *Store) WaitingResults(ctx context.Context, chats []outbox.ChatID, merge int, within time.Duration) ([]outbox.WaitingResult, error) {
	const sql = `
		SELECT l.chat_id, c.telegram_chat_id, r.reply_to, greatest('0', now() - r.created_at), r.before
		FROM (SELECT chat_id, 0::smallint AS lane FROM unnest($1::bigint[]) AS chat_id) AS l
		CROSS JOIN LATERAL (SELECT * FROM chats WHERE id = l.chat_id LIMIT 1) AS c
		CROSS JOIN LATERAL (
		    SELECT newest.*, count(*) FILTER (WHERE single) OVER before + count(*) FILTER (WHERE NOT single) OVER before / $2::bigint AS before
		    FROM (
		        SELECT o.id, o.kind, o.action, o.state, o.reply_to, o.payload, o.created_at, o.expires_at,
		               o.alone OR o.action <> 'send' AS single
		        FROM outbox o WHERE ` + waits + ` ORDER BY ` + fromTheEnd + ` LIMIT $3) AS newest
		    WHERE state = 'planned'
		    WINDOW before AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS r
		WHERE r.kind = $4 AND r.action = 'send' AND r.reply_to IS NOT NULL AND r.payload ->> 'undone' IS NULL
		  AND coalesce(r.expires_at - $5::interval, r.created_at) > now() - $6::interval AND c.parked_at IS NULL
		ORDER BY r.id`
	rows, err := o.pool.Query(ctx, sql, chats, max(merge, 1), maxWaitingResults, ranking.KindMatchRecorded, ranking.Outcome.Lifetime(), within)
	if err != nil {
		return nil, fmt.Errorf("find waiting results: %w", err)
	}
	results, err := pgx.CollectRows(rows, pgx.RowToStructByPos[outbox.WaitingResult])
	if err != nil {
		return nil, fmt.Errorf("find waiting results: %w", err)
	}
	return results, nil
}
