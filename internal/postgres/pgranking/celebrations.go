package pgranking

// leaders is the query for the players at the top of the ranking of the ladder here. $7 says since when they have played, and $8 how many
// there are at most.
const leaders = `
		SELECT id, elo FROM group_players
		WHERE ladder_id = (SELECT ladder_id FROM here) AND played >= 5 AND left_at IS NULL AND last_played_at > $7
		ORDER BY elo DESC, id LIMIT $8`

// largestUpset is the query for the largest upset in the ladder here that counts. The month begins at $9 and ends at $10.
// Without OFFSET, the planner may look for the month among the upsets of all time, the largest first.
const largestUpset = `
		SELECT coalesce(max(upset), 0) FROM (
		    SELECT upset FROM matches
		    WHERE ladder_id = (SELECT ladder_id FROM here) AND upset IS NOT NULL AND undone_at IS NULL AND played_at >= $9 AND played_at < $10
		    OFFSET 0) AS of_month`
