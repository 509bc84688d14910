package postgres

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ranking"
)

// thisPlayer is the player that ranking.Person.Identify chooses for the person with the user id $2 and the username
// $3; null if there is none.
const thisPlayer = `coalesce(
		        (SELECT p.id FROM players p WHERE p.telegram_user_id = $2),
		        (SELECT p.id FROM players p WHERE lower(p.username) = lower($3) AND p.telegram_user_id IS NULL))`

// queueLastPlayed reads when a person has last played.
func queueLastPlayed(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	const sql = `
		SELECT max(played_at) FROM (
		    SELECT m.played_at FROM match_players mp JOIN matches m ON m.id = mp.match_id
		    WHERE mp.player_id = ` + thisPlayer + ` AND m.ladder_id = ` + thisLadder + `
		    ORDER BY mp.match_id DESC LIMIT 1) AS last`
	batch.Queue(sql, q.Chat.ID, q.People[0].ID, q.People[0].Username).QueryRow(func(row pgx.Row) error {
		return row.Scan((*zeronull.Timestamptz)(&snap.LastPlayed))
	})
}
