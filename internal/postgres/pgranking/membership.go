package pgranking

import (
	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// goingOn follows "season_id =" and matches the current seasons of the group $1.
const goingOn = `ANY (ARRAY(SELECT season_id FROM ladders WHERE group_id = $1))`

// queueJoined writes a player's new standing, and makes the player a member of the group's other
// ladders again.
func queueJoined(batch *pgx.Batch, n *ranking.NewStanding) {
	queueGoesOn(batch, n.Season)
	queueNewStanding(batch, n.Season, n.Standing)
	queueCameBack(batch, n.CameBack)
}

// leave ends the membership of the player $2 in all ladders of the group $1 as of $3. Even if the
// player has left before, the versions of the standings change, so that a result whose command has
// read the old versions does not bring the player back.
const leave = `
		UPDATE group_players SET left_at = coalesce(left_at, $3), version = version + 1
		WHERE season_id = ` + goingOn + ` AND player_id = $2`

// stayOut ends the membership of players who were taken out of the rankings of the group $1, if the
// standing of a member has passed to them since. It sets left_at to ranking's keptSince, so that a
// split makes the owner of such a standing a member again.
const stayOut = `
		UPDATE group_players s SET left_at = 'epoch', version = s.version + 1 FROM sightings known
		WHERE s.season_id = ` + goingOn + ` AND s.left_at IS NULL
		  AND known.group_id = $1 AND known.player_id = s.player_id AND known.out_at IS NOT NULL`

func queueLeft(batch *pgx.Batch, l *ranking.Left) {
	batch.Queue(leave+` AND left_at IS NULL AND NOT EXISTS (
		    SELECT FROM group_players WHERE season_id = `+goingOn+` AND player_id = $2 AND last_played_at > $3)`,
		l.Group, l.Player, l.At)
}

func queueTakenOut(batch *pgx.Batch, o *ranking.TakenOut) {
	batch.Queue(`
		INSERT INTO sightings (group_id, player_id, out_at) VALUES ($1, $2, $3)
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET out_at = excluded.out_at`, o.Group, o.Player, o.At)
	batch.Queue(leave, o.Group, o.Player, o.At)
	batch.Queue(`
		DELETE FROM group_players
		WHERE player_id = $2 AND season_id = ANY (ARRAY(SELECT id FROM seasons WHERE group_id = $1))
		  AND NOT EXISTS (SELECT FROM sightings WHERE group_id = $1 AND counts_as = $2) AND NOT EXISTS (
		    SELECT FROM match_players mp JOIN matches m ON m.id = mp.match_id
		    WHERE mp.player_id = $2 AND m.group_id = $1)`, o.Group, o.Player)
}

// queueDeleted takes the names from a player who was taken out and is to be deleted, so that the
// player can no longer be found. The row stays, because to delete it, the server would have to
// search all matches for references.
func queueDeleted(batch *pgx.Batch, o *ranking.TakenOut) {
	batch.Queue(`
		WITH gone AS (
		    UPDATE players SET username = NULL, folded = NULL, display_name = $3
		    WHERE id = $2 AND group_id IS NOT NULL
		      AND NOT EXISTS (SELECT FROM match_players WHERE player_id = $2)
		      AND NOT EXISTS (
		        SELECT FROM sightings WHERE group_id = $1 AND counts_as IS NOT NULL AND $2 IN (player_id, counts_as))
		    RETURNING id)
		UPDATE sightings s SET nick = NULL FROM gone WHERE s.group_id = $1 AND s.player_id = gone.id`,
		o.Group, o.Player, ranking.Nameless)
}

func queueCameBack(batch *pgx.Batch, b ranking.CameBack) {
	if len(b.Players) == 0 {
		return
	}
	if b.Joined {
		batch.Queue(`UPDATE sightings SET out_at = NULL WHERE group_id = $1 AND player_id = ANY ($2) AND out_at <= $3`,
			b.Group, b.Players, b.At)
	}
	batch.Queue(`
		UPDATE group_players s SET left_at = NULL, version = version + 1
		WHERE season_id = `+goingOn+` AND player_id = ANY ($2) AND left_at <= $3 AND `+isIn, b.Group, b.Players, b.At)
}

// isIn holds for a standing s of the group $1 unless its player was taken out of the rankings.
const isIn = `NOT EXISTS (
		    SELECT FROM sightings WHERE group_id = $1 AND player_id = s.player_id AND out_at IS NOT NULL)`

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
