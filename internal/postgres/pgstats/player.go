package pgstats

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// thisOne is the player with the id $2, or whom that one turned out to be: the id may be that of an old button.
const thisOne = `coalesce((SELECT merged_into FROM players WHERE id = $2), $2::bigint)`

// Player implements stats.Store.
func (s *Store) Player(
	ctx context.Context, chat ranking.ExternalChatID, player ranking.PlayerID, since time.Time,
) (h stats.PlayerHistory, err error) {
	var batch pgx.Batch
	queuePlayer(&batch, chat, player, since, &h)
	queueCounted(&batch, &h.Matches, ofPlayer, chat, player)
	if err := s.send(ctx, &batch); err != nil {
		return stats.PlayerHistory{}, err
	}
	return h, nil
}

// queuePlayer reads a standing and its place. Without a standing, nothing is set.
func queuePlayer(batch *pgx.Batch, chat ranking.ExternalChatID, player ranking.PlayerID, since time.Time, h *stats.PlayerHistory) {
	const sql = `
		SELECT s.player_id, s.elo, s.start_elo, s.best_elo, s.won, s.drawn, s.lost, s.streak, s.left_at IS NOT NULL,
		       coalesce(s.last_played_at <= $3, false), NOT l.draws_allowed, coalesce(places.better + 1, 0), coalesce(places.all, 0)
		FROM ladders l
		CROSS JOIN LATERAL (SELECT * FROM group_players WHERE ladder_id = l.id AND player_id = ` + thisOne + ` LIMIT 1) AS s
		LEFT JOIN LATERAL (
		    SELECT count(*) AS all, count(*) FILTER (WHERE o.elo > s.elo) AS better, bool_or(o.id = s.id) AS shows
		    FROM group_players o WHERE o.ladder_id = l.id AND ` + hasPlace + `
		) AS places ON places.shows
		WHERE l.id = ` + postgres.ThisLadder
	n := &h.Standing
	batch.Queue(sql, chat, player, since).Query(func(rows pgx.Rows) error {
		for rows.Next() { // at most once
			if err := rows.Scan(&n.Name.Player, &n.Elo, &h.StartElo, &n.Best, &n.Won, &n.Drawn, &n.Lost, &n.Streak, &n.Left,
				&n.Inactive, &n.NoDraws, &n.Position, &n.Total); err != nil {
				return fmt.Errorf("scan the standing of a player: %w", err)
			}
		}
		return rows.Err()
	})
}

func names(players []ranking.PlayerID) []ranking.Name {
	all := make([]ranking.Name, len(players))
	for i, p := range players {
		all[i].Player = p
	}
	return all
}
