package pgstats

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/command"
	"elobot/internal/postgres"
	"elobot/internal/stats"
)

// Standings implements stats.Store. It covers the ladders of which the person is a member and in
// which the person has played in any season, except in chats that the bot has left. In a group
// where the person's account counts as another player, that player is the person. The condition
// played <> 0, instead of > 0, keeps the planner from scanning the index of the ranking in a new
// database.
func (s *Store) Standings(
	ctx context.Context, who command.Person, limit int, now time.Time,
) (stats.MyStandings, error) {
	sql := `
		SELECT mine.title || CASE WHEN (SELECT count(*) > 1 FROM ladders WHERE group_id = mine.group_id)
		           THEN ' · ' || mine.name ELSE '' END AS title,
		       coalesce(places.better + 1, 0) AS position, coalesce(places.all, 0) AS total,
		       mine.elo, mine.won, mine.drawn, mine.lost, NOT mine.draws_allowed AS no_draws, mine.place_matches,
		       coalesce(mine.last_played_at <= mine.active_since, false) AS inactive, mine.groups
		FROM (
		    SELECT s.id, s.season_id, c.title, l.name, l.group_id, s.elo, s.played, s.won, s.drawn, s.lost,
		           s.last_played_at, l.draws_allowed, l.place_matches,
		           ` + postgres.ActiveSince("$3", "l.hide_days") + ` AS active_since, count(*) OVER () AS groups
		    FROM (
		        SELECT ` + postgres.ThisPlayer + ` AS player_id, NULL AS group_id
		        UNION ALL SELECT counts_as, group_id FROM sightings
		        WHERE player_id = ` + postgres.ThisPlayer + ` AND (counts_as > 0) IS TRUE) AS me
		    JOIN group_players s USING (player_id)
		    JOIN ladders l ON l.season_id = s.season_id AND l.id = (SELECT ladder_id FROM seasons WHERE id = s.season_id)
		    JOIN groups g ON g.id = l.group_id AND g.id = coalesce(me.group_id, g.id)
		    JOIN chats c ON c.id = g.chat_id AND c.is_active
		    WHERE s.left_at IS NULL AND (s.played <> 0 OR EXISTS (
		        SELECT FROM seasons e, LATERAL (
		            SELECT FROM group_players WHERE season_id = e.id AND player_id = s.player_id AND played <> 0) AS earlier
		        WHERE e.ladder_id = l.id))
		    ORDER BY s.played DESC, s.id LIMIT $1
		) AS mine
		LEFT JOIN LATERAL (` + places("mine", "mine.place_matches", "mine.active_since") + `) AS places
		    ON places.shows AND places.all >= ` + minPlaces + `
		ORDER BY mine.played DESC, mine.id`
	var n stats.MyStandings
	var batch pgx.Batch
	type groupRow struct {
		stats.GroupStanding
		Groups int // the number of ladders, including those beyond the limit
	}
	batch.Queue(sql, limit, who.ID, now).Query(func(rows pgx.Rows) error {
		read, err := pgx.CollectRows(rows, pgx.RowToStructByName[groupRow])
		for _, g := range read {
			n.Groups, n.More = append(n.Groups, g.GroupStanding), max(0, g.Groups-limit)
		}
		return err
	})
	err := s.send(ctx, &batch)
	return n, err
}
