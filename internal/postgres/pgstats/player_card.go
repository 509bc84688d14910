package pgstats

import (
	"context"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// thisGroup is the group of thisLadder.
const thisGroup = `(SELECT group_id FROM ladders WHERE id = $1)`

// PlayerCard implements stats.Store.
func (s *Store) PlayerCard(ctx context.Context, in ladder.ID, player ladder.PlayerID) (stats.PlayerCard, error) {
	const sql = `
		SELECT p.id, CASE WHEN s.nick IS NULL THEN '' ELSE p.display_name END,
		       coalesce(CASE WHEN p.telegram_user_id IS NULL THEN p.username ELSE s.username END, ''),
		       p.telegram_user_id IS NOT NULL, s.out_at IS NOT NULL, s.ignored_at IS NOT NULL, (
		           SELECT json_agg(json_build_object('name', json_build_object('player', named.id),
		                  'matches', coalesce(played.matches, 0)) ORDER BY named.id <> p.id, named.id)
		           FROM (SELECT p.id UNION ALL
		                 SELECT player_id FROM sightings WHERE group_id = g.id AND counts_as = p.id) AS named
		           LEFT JOIN (
		               SELECT coalesce(mp.named_id, mp.player_id) AS id, count(*) AS matches
		               FROM (SELECT * FROM match_players WHERE player_id = p.id OFFSET 0) AS mp
		               CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id LIMIT 1) AS m
		               WHERE m.group_id = g.id AND m.undone_at IS NULL
		               GROUP BY 1) AS played ON played.id = named.id),
		       ARRAY(SELECT display_name FROM players WHERE merged_into = p.id ORDER BY id)
		FROM (SELECT ` + thisGroup + ` AS id OFFSET 0) AS g
		CROSS JOIN (SELECT ` + thisOne + ` AS id OFFSET 0) AS one
		CROSS JOIN LATERAL (
		    SELECT * FROM players WHERE id = coalesce(
		        (SELECT counts_as FROM sightings WHERE group_id = g.id AND player_id = one.id), one.id) LIMIT 1) AS p
		LEFT JOIN LATERAL (SELECT * FROM sightings WHERE group_id = g.id AND player_id = p.id LIMIT 1) AS s ON true
		WHERE (p.telegram_user_id IS NOT NULL OR p.display_name <> '` + ranking.Nameless + `') -- not deleted
		  AND (p.group_id = g.id OR s.player_id IS NOT NULL OR EXISTS (
		    SELECT FROM (SELECT season_id FROM group_players WHERE player_id = p.id OFFSET 0) AS stands
		    WHERE (SELECT group_id FROM seasons WHERE id = stands.season_id) = g.id))`
	var card *stats.PlayerCard
	var batch pgx.Batch
	queueOne(&batch, &card, func(row pgx.CollectableRow) (c stats.PlayerCard, err error) {
		err = row.Scan(&c.Name.Player, &c.Own, &c.Username, &c.Account, &c.Out, &c.Ignored, &c.Names, &c.Merged)
		return c, err
	}, sql, in, player)
	if err := s.send(ctx, &batch); err != nil || card == nil {
		return stats.PlayerCard{}, err
	}
	return *card, nil
}
