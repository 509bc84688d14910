package pgoutbox

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Resume implements outbox.Store. An edit expires instead of going back to its lane if a newer edit
// of its match exists. So does a page if a newer page of its message exists.
func (s *Store) Resume(ctx context.Context, epoch int64) error {
	const sql = `
		WITH deferred AS MATERIALIZED (
		    SELECT r.id, CASE r.action
		        WHEN 'edit' THEN EXISTS (
		            SELECT FROM outbox n WHERE n.match_id = r.match_id AND n.action = 'edit' AND n.id > r.id)
		        WHEN 'page' THEN EXISTS (
		            SELECT FROM outbox n WHERE n.chat_id = r.chat_id
		                AND n.edited_message_id = r.edited_message_id AND n.id > r.id)
		        ELSE false END AS stale
		    FROM outbox r WHERE r.deferred_at <= 'infinity' AND r.finished_at IS NULL)
		UPDATE outbox o
		SET deferred_at = NULL, state = CASE WHEN d.stale THEN 'expired' ELSE 'planned' END,
		    finished_at = CASE WHEN d.stale THEN now() END,
		    last_error = CASE WHEN d.stale THEN 'a newer edit exists' ELSE o.last_error END
		FROM deferred d
		WHERE o.id = d.id AND o.id = ANY (ARRAY(SELECT id FROM deferred)) AND o.deferred_at IS NOT NULL AND ` + unfinished
	return s.write(ctx, epoch, "resume what was set aside", func(batch *pgx.Batch) { batch.Queue(sql) })
}
