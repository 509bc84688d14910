package pgoutbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
)

// heads begins a query with a CTE that contains the first unfinished row of each lane. The CTE
// skips from lane to lane in the index, so its cost depends on the number of lanes, not on the
// number of rows.
const heads = `
	WITH RECURSIVE head AS (
	    (SELECT ` + headColumns + ` FROM outbox o WHERE o.finished_at IS NULL ORDER BY ` + inOrder + ` LIMIT 1)
	    UNION ALL
	    SELECT next.* FROM head CROSS JOIN LATERAL (
	        SELECT ` + headColumns + ` FROM outbox o
	        WHERE o.finished_at IS NULL AND ` + rowLane + ` > (head.chat_id, head.lane)
	        ORDER BY ` + inOrder + ` LIMIT 1) AS next
	)`

const headColumns = `o.chat_id, o.lane, o.state, o.purpose, o.created_at, o.tried_at, o.not_before,
	            o.possible_duplicates, ` + pausesValid + ` AS pauses_valid`

// chatOfHead selects the chat of a row h. LIMIT makes the planner look up each chat by its id,
// however many rows it expects.
const chatOfHead = `(SELECT * FROM chats WHERE id = h.chat_id LIMIT 1)`

// Waiting implements outbox.Store.
func (s *Store) Waiting(ctx context.Context, bounds outbox.Bounds) ([]outbox.Backlog, error) {
	sql := heads + `
		SELECT h.chat_id AS chat, h.lane AS kind, c.telegram_chat_id AS "to", c.kind = 'private' AS private, h.purpose,
		       greatest('0', now() - h.created_at) AS age,
		       greatest('0', CASE WHEN h.pauses_valid
		           THEN greatest(h.not_before,
		               CASE WHEN h.lane <> ` + answersLane + ` THEN c.frozen_until END) - now() END) AS wait,
		       EXISTS (SELECT FROM (SELECT h.chat_id, h.lane) AS l CROSS JOIN outbox o
		           WHERE ` + waits + ` ORDER BY ` + inOrder + ` OFFSET $1) AS overfull
		FROM head h CROSS JOIN LATERAL ` + chatOfHead + ` AS c
		WHERE h.lane <> ` + setAsideLane + ` AND (h.lane = ` + answersLane + ` OR NOT ` + postgres.Parked + `)`
	return postgres.Collect(ctx, s.pool, "find waiting lanes", pgx.RowToStructByName[outbox.Backlog], sql,
		bounds.MaxWaiting)
}

// Recent implements outbox.Store. Rows that were sent together count as one request, and each
// possible duplicate counts as one more request. Of the waiting rows in a lane, only the first and
// those sent together with it can have been tried. Their request ended at most twice
// outbox.LongestRequest after they were taken: once for the preparation, and once for the request.
func (s *Store) Recent(ctx context.Context, within time.Duration) ([]outbox.Request, error) {
	sql := heads + `, request AS (
		    SELECT chat_id, greatest('0', now() - max(finished_at)) AS age, max(possible_duplicates) AS duplicates
		    FROM outbox
		    WHERE finished_at > now() - $1::interval AND tried_at IS NOT NULL AND action <> 'callback_answer'
		    GROUP BY chat_id, coalesce(batch, id)
		    UNION ALL
		    SELECT chat_id, CASE state WHEN 'planned' THEN greatest('0', now() - tried_at - $2::interval) ELSE '0' END,
		           possible_duplicates
		    FROM head WHERE tried_at IS NOT NULL AND lane <> ` + answersLane + `
		)
		SELECT h.chat_id, c.kind = 'private', h.age
		FROM request h CROSS JOIN LATERAL ` + chatOfHead + ` AS c CROSS JOIN generate_series(0, least(h.duplicates, $3))
		WHERE h.age < $1`
	return postgres.Collect(ctx, s.pool, "find recent requests", pgx.RowToStructByPos[outbox.Request], sql,
		within, 2*outbox.LongestRequest, outbox.MaxPossibleDuplicates)
}

// Survey implements outbox.Store.
func (s *Store) Survey(ctx context.Context, largest int) (outbox.Survey, error) {
	sql := `
		WITH backlog AS MATERIALIZED (
		    SELECT chat_id, count(*) AS waiting FROM outbox
		    WHERE finished_at IS NULL AND lane <> ` + setAsideLane + ` GROUP BY chat_id
		), largest AS (
		    SELECT chat_id AS chat, waiting FROM backlog ORDER BY waiting DESC, chat_id LIMIT $1
		)
		SELECT (SELECT coalesce(sum(waiting), 0)::bigint FROM backlog),
		       (SELECT jsonb_agg(l ORDER BY l.waiting DESC, l.chat) FROM largest l),
		       (SELECT count(*) FROM dead_letters WHERE outbox_id IS NOT NULL),
		       (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM outbox_id_seq)`
	var survey outbox.Survey
	err := s.pool.QueryRow(ctx, sql, largest).Scan(&survey.Waiting, &survey.Largest, &survey.Dead, &survey.LastID)
	if err != nil {
		return outbox.Survey{}, fmt.Errorf("survey the outbox: %w", err)
	}
	return survey, nil
}
