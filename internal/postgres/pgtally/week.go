package pgtally

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// placesOf is how many days ago the places are from.
const placesOf = 7

// queuePlacesDue has the places of ladders calculated at once: of those where a month is to be counted again, and those that have
// a first match after a quiet week.
func queuePlacesDue(batch *pgx.Batch, marks []mark) {
	again := make(map[ranking.LadderID]bool)
	for _, m := range marks {
		again[m.ladder] = again[m.ladder] || m.match == 0
	}
	ladders := make([]ranking.LadderID, 0, len(again))
	for l := range again {
		ladders = append(ladders, l)
	}
	slices.Sort(ladders)
	batch.Queue(`
		INSERT INTO ladder_tallies (ladder_id, week_due_at)
		SELECT k.ladder_id, '-infinity' FROM unnest($1::bigint[], $2::boolean[]) AS k (ladder_id, again)
		WHERE k.again OR (SELECT week_due_at FROM ladder_tallies t WHERE t.ladder_id = k.ladder_id) IS NULL
		ON CONFLICT (ladder_id) DO UPDATE SET week_due_at = '-infinity'`,
		ladders, postgres.Column(ladders, func(l ranking.LadderID) bool { return again[l] }))
}

// Place implements stats.TallyStore.
func (s *Store) Place(ctx context.Context, now time.Time, except ...ranking.LadderID) (step stats.PlaceStep, err error) {
	const due = `
		SELECT ladder_id, coalesce((SELECT g.chat_id FROM ladders l JOIN groups g ON g.id = l.group_id WHERE l.id = t.ladder_id), 0)
		FROM ladder_tallies t WHERE week_due_at <= $1 AND (ladder_id = ANY ($2)) IS NOT TRUE ORDER BY week_due_at LIMIT 1`
	err = s.transact(ctx, func(tx pgx.Tx) error {
		step = stats.PlaceStep{}
		switch err := tx.QueryRow(ctx, due, now, except).Scan(&step.Ladder, &step.Chat); {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return fmt.Errorf("find a ladder: %w", err)
		}
		var batch pgx.Batch
		queuePlaces(&batch, step.Ladder, now)
		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return step, fmt.Errorf("calculate the places of a week ago: %w", err)
	}
	return step, nil
}

// laterMatches are what players of the ladder $1 have played since the places: how often, and their ratings before that.
const laterMatches = `
		    SELECT h.player_id, count(*) AS played, (array_agg(h.elo_before ORDER BY m.number))[1] AS elo
		    FROM ladder_tallies t
		    CROSS JOIN LATERAL (SELECT * FROM matches WHERE ladder_id = t.ladder_id AND number > t.week_number OFFSET 0) AS m
		    CROSS JOIN LATERAL (SELECT * FROM elo_history WHERE match_id = m.id AND superseded_at IS NULL OFFSET 0) AS h
		    WHERE t.ladder_id = $1 GROUP BY h.player_id`

// queuePlaces calculates the places of a ladder at the beginning of the day some days ago: after the last match before, by its
// number. The rating of a player then is that before the first later match.
func queuePlaces(batch *pgx.Batch, ladder ranking.LadderID, now time.Time) {
	today := now.UTC().Truncate(24 * time.Hour)
	day := today.AddDate(0, 0, -placesOf)
	// the last match by its time, and of those at the same time by its number; numbers count the matches of a group
	batch.Queue(`
		WITH ladder AS MATERIALIZED (
		    SELECT id, group_id FROM ladders WHERE id = $1
		), at AS MATERIALIZED (
		    SELECT m.played_at FROM matches m WHERE m.group_id = (SELECT group_id FROM ladder) AND m.played_at < $3::timestamptz
		    ORDER BY m.played_at DESC LIMIT 1
		), last AS MATERIALIZED (
		    SELECT coalesce(max(m.number), 0) AS number FROM (
		        SELECT number FROM matches
		        WHERE group_id = (SELECT group_id FROM ladder) AND played_at = (SELECT played_at FROM at) OFFSET 0) AS m
		), later AS MATERIALIZED (
		    SELECT EXISTS (
		        SELECT FROM matches m
		        WHERE m.ladder_id = $1 AND m.number > (SELECT number FROM last) AND m.undone_at IS NULL) AS any
		)
		UPDATE ladder_tallies t
		SET week_since = CASE WHEN later.any THEN $2::date END, week_number = CASE WHEN later.any THEN last.number END,
		    week_due_at = CASE WHEN later.any THEN $4::timestamptz END
		FROM last, later WHERE t.ladder_id = $1`, ladder, day, day, today.AddDate(0, 0, 1))
	batch.Queue(`DELETE FROM week_places WHERE ladder_id = $1`, ladder)
	batch.Queue(`
		INSERT INTO week_places (ladder_id, player_id, place)
		SELECT s.ladder_id, s.player_id, rank() OVER (ORDER BY coalesce(later.elo, s.elo) DESC)
		FROM ladder_tallies t
		JOIN group_players s ON s.ladder_id = t.ladder_id
		LEFT JOIN (`+laterMatches+`) AS later ON later.player_id = s.player_id
		WHERE t.ladder_id = $1 AND t.week_number IS NOT NULL AND s.played > 0 AND s.left_at IS NULL
		  AND s.played >= $2 AND s.played - coalesce(later.played, 0) >= $2 AND s.last_played_at > $3`,
		ladder, stats.MinMatches, now.Add(-stats.ActiveFor))
}
