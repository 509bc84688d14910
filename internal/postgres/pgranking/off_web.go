package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// queueOffWeb stores whether web boards leave out the name of a player. Once the batch has
// committed, the boards of all groups that may show the player are outdated.
func queueOffWeb(batch *pgx.Batch, o *ranking.OffWeb) {
	batch.Queue(`UPDATE players SET off_web_at = CASE WHEN $2 THEN coalesce(off_web_at, now()) END WHERE id = $1`,
		o.Player, o.Off)
	batch.Queue(`
		SELECT pg_notify($2, g.id::text) FROM groups g WHERE g.web_on AND g.id IN (
		    SELECT group_id FROM sightings WHERE player_id = $1
		    UNION SELECT n.group_id FROM group_players t JOIN seasons n ON n.id = t.season_id WHERE t.player_id = $1)`,
		o.Player, postgres.WebChannel)
}
