package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// goingOn follows "season_id =" and matches the current seasons of the group $1.
const goingOn = `ANY (ARRAY(SELECT season_id FROM ladders WHERE group_id = $1))`

// queueJoined writes a player's new standing, and makes the player a member of the group's other
// ladders again.
func queueJoined(batch *pgx.Batch, c ranking.Changes, n *ranking.NewStanding) {
	queueGoesOn(batch, n.Season)
	queueNewStanding(batch, n.Season, n.Standing)
	if c.Ladder != nil {
		queueCameBack(batch, n.CameBack)
	}
}

func queueLeft(batch *pgx.Batch, l *ranking.Left) {
	batch.Queue(`
		UPDATE group_players s SET left_at = $3, version = version + 1
		WHERE season_id = `+goingOn+` AND player_id = $2 AND left_at IS NULL AND NOT EXISTS (
		    SELECT FROM group_players WHERE season_id = `+goingOn+` AND player_id = $2 AND last_played_at > $3)`,
		l.Group, l.Player, l.At)
}

func queueCameBack(batch *pgx.Batch, b ranking.CameBack) {
	if len(b.Players) == 0 {
		return
	}
	batch.Queue(`
		UPDATE group_players SET left_at = NULL, version = version + 1
		WHERE season_id = `+goingOn+` AND player_id = ANY ($2) AND left_at <= $3`, b.Group, b.Players, b.At)
}

// returning returns the players of the matches who may have left the other ladders of the group:
// those who are new to this ladder or return to it.
func returning(matches ranking.NewMatches) ranking.CameBack {
	back := ranking.CameBack{Group: matches[0].Group, At: matches[0].PlayedAt}
	for _, m := range matches {
		for _, p := range m.Players {
			if p.Before.ID == 0 || !p.Before.LeftAt.Equal(p.After.LeftAt) {
				back.Players = append(back.Players, p.Before.Player)
			}
		}
	}
	return back
}
