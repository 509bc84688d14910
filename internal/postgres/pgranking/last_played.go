package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// queueLastPlayed corrects when the players of matches that no longer count last played. A replay cannot: it does not go back
// to their matches before.
func queueLastPlayed(batch *pgx.Batch, undone ...ranking.MatchID) {
	if len(undone) == 0 {
		return
	}
	batch.Queue(`
		UPDATE group_players s SET last_played_at = (
		    SELECT max(m.played_at) FROM match_players mp
		    CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id AND undone_at IS NULL LIMIT 1) AS m
		    WHERE mp.player_id = s.player_id AND m.ladder_id = s.ladder_id)
		FROM matches undone JOIN match_players mp ON mp.match_id = undone.id
		WHERE undone.id = ANY ($1) AND s.ladder_id = undone.ladder_id AND s.player_id = mp.player_id`, undone)
}
