package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// Marks ask the leader to count again what players did in a month, see the table tally_marks. They are only added, so nobody waits
// for anybody else because of them.

// addMarks adds marks for months of players, given as rows of ladder, player and the time of a match.
const addMarks = `
		INSERT INTO tally_marks (ladder_id, player_id, month)
		SELECT DISTINCT played.ladder_id, played.player_id, date_trunc('month', played.played_at AT TIME ZONE 'UTC')::date FROM `

// queueMarks adds marks for all players of matches: those with the ids, and those of history entries.
func queueMarks(batch *pgx.Batch, matches []ranking.MatchID, entries []ranking.HistoryID) {
	if len(matches)+len(entries) == 0 {
		return
	}
	batch.Queue(addMarks+`(
		    SELECT unnest($1::bigint[]) AS match_id
		    UNION
		    SELECT h.match_id FROM unnest($2::bigint[]) AS e (id)
		    CROSS JOIN LATERAL (SELECT * FROM elo_history WHERE id = e.id LIMIT 1) AS h) AS changed
		CROSS JOIN LATERAL (SELECT * FROM match_players WHERE match_id = changed.match_id OFFSET 0) AS played`, matches, entries)
}

// queueMergeMarks adds marks for a player whose part in matches passes to another one, for that one, and for all who played in these
// matches. It must come before that happens.
func queueMergeMarks(batch *pgx.Batch, from, into ranking.PlayerID) {
	batch.Queue(addMarks+`
		    (SELECT * FROM match_players WHERE player_id = $1 OFFSET 0) AS of_from
		CROSS JOIN LATERAL (
		    SELECT ladder_id, player_id, played_at FROM match_players WHERE match_id = of_from.match_id
		    UNION ALL SELECT of_from.ladder_id, $2, of_from.played_at) AS played`, from, into)
}
