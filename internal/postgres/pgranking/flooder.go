package pgranking

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// AddedInADay implements ranking.Store.
func (s *Store) AddedInADay(
	ctx context.Context, group ranking.GroupID, by ladder.PlayerID,
) (added int, err error) {
	const sql = `
		SELECT count(*) FROM players
		WHERE added_by = $1 AND created_at > now() - interval '1 day' AND coalesce(group_id, $2) = $2`
	if err := s.db.QueryRow(ctx, sql, by, group).Scan(&added); err != nil {
		return 0, fmt.Errorf("count the people whom somebody has added: %w", Translate(err))
	}
	return added, nil
}

// ReportedSince implements ranking.Store.
func (s *Store) ReportedSince(
	ctx context.Context, chat ranking.ExternalChatID, player ladder.PlayerID, at time.Time,
) (found []ranking.StoredMatch, err error) {
	sql := matchColumns + `m.ladder_id = ANY (ARRAY(SELECT id FROM ladders WHERE group_id = ` + postgres.ThisGroup + `))
		  AND m.season_id = ANY (ARRAY(SELECT season_id FROM ladders WHERE group_id = ` + postgres.ThisGroup + `))
		  AND m.played_at >= $3::timestamptz - $4 * interval '1 day' AND ` + postgres.ReportedAt + ` >= $3
		  AND m.undone_at IS NULL AND m.reported_by = ANY (ARRAY(
		      SELECT $2::bigint UNION ALL
		      SELECT player_id FROM sightings WHERE group_id = ` + postgres.ThisGroup + ` AND counts_as = $2))
		ORDER BY m.ladder_id, ` + postgres.Position
	return postgres.Collect(ctx, s.db, "read what a player has reported", postgres.RowTo(storedMatch.match), sql,
		chat, player, at, ranking.AdminDays+1)
}

func queueUndoneDay(batch *pgx.Batch, u *ranking.UndoneDay) {
	ids, changes := make([]ladder.MatchID, len(u.Matches)), make([]int, len(u.Matches))
	for i, m := range u.Matches {
		ids[i], changes[i] = m.ID, m.Changes
	}
	batch.Queue(`
		WITH undone AS (
		    UPDATE matches m SET changes = m.changes + 1, undone_at = $3, undone_by = nullif($4::bigint, 0)
		    FROM unnest($1::bigint[], $2::integer[]) AS was (id, changes)
		    WHERE m.id = was.id AND m.changes = was.changes
		    RETURNING 1)
		SELECT (count(*) = cardinality($1))::unchanged FROM undone`, ids, changes, u.At, u.By)
	for _, w := range u.Rewrites {
		queueRewrite(batch, w)
	}
}

func queueIgnored(batch *pgx.Batch, i *ranking.Ignored) {
	batch.Queue(`
		INSERT INTO sightings (group_id, player_id, ignored_at, came)
		VALUES ($1, $2, CASE WHEN NOT $4 THEN $3::timestamptz END, false)
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET ignored_at = excluded.ignored_at`,
		i.Group, i.Player, i.At, i.Off)
}
