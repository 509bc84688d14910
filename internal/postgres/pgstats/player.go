package pgstats

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// thisOne is the id of the player $2, or of the player into whom $2 was merged: the id may come
// from an old button.
const thisOne = `coalesce((SELECT merged_into FROM players WHERE id = $2), $2::bigint)`

// Player implements stats.Store.
func (s *Store) Player(
	ctx context.Context, in ladder.ID, player ladder.PlayerID, now time.Time,
) (h stats.PlayerHistory, err error) {
	var batch pgx.Batch
	queuePlayer(&batch, in, player, now, &h)
	queueCounted(&batch, &h.Matches, ofPlayer, `m.season_id = `+thisSeason, in, player)
	return h, s.send(ctx, &batch)
}

// queuePlayer reads a player's standing and place. It leaves h unchanged if the player has no
// standing.
func queuePlayer(batch *pgx.Batch, in ladder.ID, player ladder.PlayerID, now time.Time, h *stats.PlayerHistory) {
	sql := `
		SELECT s.player_id, s.elo, s.start_elo, s.best_elo AS best, s.won, s.drawn, s.lost,
		       s.streak, s.left_at IS NOT NULL AS "left",
		       coalesce(s.last_played_at <= ` + activeSince + `, false) AS inactive, NOT l.draws_allowed AS no_draws,
		       l.place_matches, coalesce(places.better + 1, 0) AS position, coalesce(places.all, 0) AS total,
		       CASE WHEN n.number > 1 THEN json_build_object(
		           'number', n.number, 'name', n.name, 'since', n.starts_at, 'last', ever.last, 'best', ever.best,
		           'best_in', ever.best_in) END AS season
		FROM ladders l
		JOIN seasons n ON n.id = l.season_id
		CROSS JOIN LATERAL (
		    SELECT * FROM group_players WHERE season_id = l.season_id AND player_id = ` + thisOne + ` LIMIT 1) AS s
		LEFT JOIN LATERAL (` + places("s", "l.place_matches", activeSince) + `) AS places
		    ON places.shows AND places.all >= ` + minPlaces + `
		CROSS JOIN LATERAL (
		    SELECT max(e.number) AS last, max(played.best_elo) AS best,
		           (array_agg(e.number ORDER BY played.best_elo DESC, e.number))[1] AS best_in
		    FROM seasons e
		    CROSS JOIN LATERAL (
		        SELECT best_elo FROM group_players
		        WHERE season_id = e.id AND player_id = s.player_id AND played > 0 LIMIT 1) AS played
		    WHERE e.ladder_id = l.id
		) AS ever
		WHERE l.id = ` + thisLadder
	type standingRow struct {
		PlayerID ladder.PlayerID
		StartElo int
		stats.PlayerStanding
	}
	batch.Queue(sql, in, player, now).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[standingRow])
		if err != nil {
			return fmt.Errorf("read the standing of a player: %w", err)
		}
		for _, s := range found { // at most one
			h.Standing, h.StartElo = s.PlayerStanding, s.StartElo
			h.Standing.Name.Player = s.PlayerID
		}
		return nil
	})
}

func names(players []ladder.PlayerID) []ranking.Name {
	all := make([]ranking.Name, len(players))
	for i, p := range players {
		all[i].Player = p
	}
	return all
}
