package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// everybody are those who are in a ladder, whose id must follow, with their names there. Whoever has just been merged into another player
// is that one.
const everybody = `
		FROM group_players s
		JOIN players p ON p.id = s.player_id
		JOIN players account ON account.id = coalesce(p.merged_into, p.id)
		WHERE s.ladder_id = `

// everybodyHere is the query for everybody in the ladder here, as a JSON array of ranking.Known.
const everybodyHere = `
		SELECT jsonb_agg(jsonb_build_object('Player', jsonb_build_object('ID', account.id, 'UserID', coalesce(account.telegram_user_id, 0),
		           'Username', coalesce(account.username, ''), 'Name', s.name)) ORDER BY s.player_id)` + everybody + `(SELECT ladder_id FROM here)`

// queueEverybody reads who is in the default ladder of a chat.
func queueEverybody(batch *pgx.Batch, q ranking.Query, all *[]ranking.Known) {
	const sql = `
		SELECT account.id, coalesce(account.telegram_user_id, 0), coalesce(account.username, ''), s.name,
		       s.id, s.player_id, s.name, s.elo, s.start_elo, s.best_elo, s.longest_streak, s.version,
		       s.played, s.won, s.drawn, s.lost, s.streak, s.left_at, s.last_played_at` + everybody + postgres.ThisLadder + ` ORDER BY s.id`
	batch.Queue(sql, q.Chat.ID).Query(func(rows pgx.Rows) (err error) {
		*all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ranking.Known, error) {
			var p ranking.Player
			var s ranking.Standing
			err := row.Scan(append([]any{&p.ID, &p.UserID, &p.Username, &p.Name}, postgres.StandingFields(&s)...)...)
			k := ranking.Known{Player: &p}
			if s.Player == p.ID {
				k.Standing = &s
			}
			return k, err
		})
		return err
	})
}

// queueLastMatches reads the last matches of the sender in the default ladder of a chat that count.
func queueLastMatches(batch *pgx.Batch, q ranking.Query, all *[]ranking.PlayedBefore) {
	const sql = `
		SELECT last.id, last.own, last.other, coalesce(p.telegram_user_id, 0), coalesce(p.username, ''), p.display_name, p.id
		FROM (
		    SELECT m.id, mp.side, CASE mp.side WHEN 1 THEN m.score_a ELSE m.score_b END AS own,
		           CASE mp.side WHEN 1 THEN m.score_b ELSE m.score_a END AS other
		    FROM match_players mp CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id LIMIT 1) AS m
		    WHERE mp.player_id = ` + postgres.ThisPlayer + ` AND m.ladder_id = ` + postgres.ThisLadder + ` AND m.undone_at IS NULL
		    ORDER BY mp.match_id DESC LIMIT $3) AS last
		CROSS JOIN LATERAL (SELECT * FROM match_players WHERE match_id = last.id AND side <> last.side ORDER BY place) AS against
		CROSS JOIN LATERAL (SELECT * FROM players WHERE id = against.player_id LIMIT 1) AS p
		ORDER BY last.id DESC, against.place`
	type opponent struct {
		match int64
		score ranking.Score
		ranking.Person
	}
	batch.Queue(sql, q.Chat.ID, q.Sender.ID, q.Played).Query(func(rows pgx.Rows) error {
		opponents, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o opponent, err error) {
			err = row.Scan(&o.match, &o.score.A, &o.score.B, &o.ID, &o.Username, &o.Name, &o.Player)
			return o, err
		})
		for i, o := range opponents {
			if i == 0 || o.match != opponents[i-1].match {
				*all = append(*all, ranking.PlayedBefore{Score: o.score})
			}
			last := &(*all)[len(*all)-1]
			last.Opponents = append(last.Opponents, o.Person)
		}
		return err
	})
}
