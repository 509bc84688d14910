package postgres

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ranking"
)

// thisPlayer is the player that ranking.Person.Identify says the person with the user id $2 and the username $3 is; null
// for none.
const thisPlayer = `coalesce(
		        (SELECT p.id FROM players p WHERE p.telegram_user_id = $2),
		        (SELECT p.id FROM players p WHERE lower(p.username) = lower($3) AND p.telegram_user_id IS NULL))`

// queueLastPlayed reads when somebody has played last.
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

// queueGroups reads where somebody is ranked: in the groups that the bot is in, of which they are a member.
func queueGroups(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	const sql = `
		SELECT mine.title, 1 + others.better, 1 + others.all, mine.elo, mine.won, mine.drawn, mine.lost, mine.groups
		FROM (
		    SELECT s.id, s.ladder_id, c.title, s.elo, s.played, s.won, s.drawn, s.lost, count(*) OVER () AS groups
		    FROM group_players s
		    JOIN ladders l ON l.id = s.ladder_id AND l.is_default
		    JOIN groups g ON g.id = l.group_id
		    JOIN chats c ON c.id = g.chat_id AND c.is_active
		    WHERE s.player_id = ` + thisPlayer + ` AND s.played > 0 AND s.left_at IS NULL
		    ORDER BY s.played DESC, s.id LIMIT $1
		) AS mine
		CROSS JOIN LATERAL (
		    SELECT count(*) AS all, count(*) FILTER (WHERE o.elo > mine.elo) AS better FROM group_players o
		    WHERE o.ladder_id = mine.ladder_id AND o.played > 0 AND o.left_at IS NULL AND o.id <> mine.id
		) AS others
		ORDER BY mine.played DESC, mine.id`
	batch.Queue(sql, q.Groups, q.People[0].ID, q.People[0].Username).Query(func(rows pgx.Rows) error {
		var err error
		snap.Groups, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ranking.GroupStanding, error) {
			var g ranking.GroupStanding
			err := row.Scan(&g.Title, &g.Position, &g.Total, &g.Elo, &g.Won, &g.Drawn, &g.Lost, &snap.OfGroups)
			return g, err
		})
		return err
	})
}
