package pgstats

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// WebGroup implements stats.Store.
func (s *Store) WebGroup(ctx context.Context, group ranking.GroupID) (*stats.WebGroup, error) {
	const sql = `
		SELECT g.id AS "group", g.web_salt::text AS salt, c.title, c.language, c.time_zone, ARRAY(
		    SELECT json_build_object('id', l.id, 'name', l.name)
		    FROM ladders l WHERE l.group_id = g.id ORDER BY NOT l.is_default, l.id) AS ladders, (
		    WITH unnamed AS (
		        SELECT coalesce(s.counts_as, p.id) AS id, row_number() OVER (ORDER BY min(p.id)) AS number
		        FROM (SELECT player_id FROM sightings WHERE group_id = g.id
		              UNION SELECT player_id FROM group_players
		              WHERE season_id = ANY (ARRAY(SELECT id FROM seasons WHERE group_id = g.id))) AS here
		        CROSS JOIN LATERAL (SELECT id FROM players WHERE id = here.player_id AND off_web_at IS NOT NULL LIMIT 1) AS p
		        LEFT JOIN sightings s ON s.group_id = g.id AND s.player_id = p.id
		        GROUP BY 1)
		    SELECT jsonb_object_agg(alias.id, u.number) FROM unnamed u CROSS JOIN LATERAL (
		        SELECT u.id
		        UNION SELECT player_id FROM sightings WHERE group_id = g.id AND counts_as = u.id
		        UNION SELECT id FROM players WHERE merged_into = u.id) AS alias) AS unnamed
		FROM groups g JOIN chats c ON c.id = g.chat_id WHERE g.id = $1 AND g.web_on AND c.is_active`
	var found *stats.WebGroup
	var batch pgx.Batch
	queueOne(&batch, &found, pgx.RowToStructByName[stats.WebGroup], sql, group)
	return found, s.send(ctx, &batch)
}

// LatestMatches implements stats.Store.
func (s *Store) LatestMatches(ctx context.Context, in ladder.ID, most int) (matches []ladder.Match, err error) {
	var batch pgx.Batch
	queueCounted(&batch, &matches, latest, `m.season_id = `+thisSeason, in, most)
	return matches, s.send(ctx, &batch)
}

// Names implements stats.Store.
func (s *Store) Names(
	ctx context.Context, in ladder.ID, answer any,
) (names map[ladder.PlayerID]ranking.Name, err error) {
	payload, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	var batch pgx.Batch
	queueNames(&batch, in, payload, &names)
	return names, s.send(ctx, &batch)
}

// queueNames reads the names of the players whose ids a payload contains, as they are used in the
// group of a ladder.
func queueNames(batch *pgx.Batch, in ladder.ID, payload []byte, names *map[ladder.PlayerID]ranking.Name) {
	batch.Queue(`
		SELECT `+postgres.NamesOfPlayers+`
		FROM (SELECT `+thisChat+` AS chat_id, $2::jsonb AS payload, NULL::bigint AS addressee_id) AS i`, in, payload).
		QueryRow(func(row pgx.Row) error { return row.Scan(names) })
}
