package pgtally

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// mark says what the tallies of a ladder lack.
type mark struct {
	id     int64
	ladder ranking.LadderID
	stats.MonthKey
	match ranking.MatchID // 0: the whole month is to be counted again
}

// ladderMonth is a month of a player in a ladder.
type ladderMonth struct {
	ladder ranking.LadderID
	stats.MonthKey
}

// part is a player's part in a new match.
type part struct {
	player ranking.PlayerID
	match  ranking.MatchID
}

// Count implements stats.TallyStore.
func (s *Store) Count(ctx context.Context, except ...ranking.LadderID) (more bool, err error) {
	const oldest = `
		SELECT id, ladder_id, player_id, month, match_id FROM tally_marks
		WHERE (ladder_id = ANY ($2)) IS NOT TRUE ORDER BY id LIMIT $1`
	err = s.transact(ctx, func(tx pgx.Tx) error {
		marks, err := readMarks(ctx, tx, oldest, s.marks, except)
		if more = len(marks) == s.marks; err != nil || len(marks) == 0 {
			return err
		}
		return count(ctx, tx, marks)
	})
	if err != nil {
		return false, fmt.Errorf("count matches: %w", err)
	}
	return more, nil
}

// CountNext implements stats.TallyStore.
func (s *Store) CountNext(ctx context.Context, after ranking.LadderID, except ...ranking.LadderID) (ladder ranking.LadderID, err error) {
	const next = `
		SELECT ladder_id FROM tally_marks WHERE ladder_id > $1 AND (ladder_id = ANY ($2)) IS NOT TRUE ORDER BY ladder_id LIMIT 1`
	const oldest = `
		SELECT id, ladder_id, player_id, month, match_id FROM tally_marks WHERE ladder_id = $2 ORDER BY ladder_id, player_id, month LIMIT $1`
	err = s.transact(ctx, func(tx pgx.Tx) error {
		ladder = 0
		switch err := tx.QueryRow(ctx, next, after, except).Scan(&ladder); {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return fmt.Errorf("find a ladder: %w", err)
		}
		marks, err := readMarks(ctx, tx, oldest, min(s.marks, marksApart), ladder)
		if err != nil {
			return err
		}
		return count(ctx, tx, marks)
	})
	if err != nil {
		return ladder, fmt.Errorf("count matches of a ladder: %w", err)
	}
	return ladder, nil
}

func readMarks(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]mark, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read marks: %w", err)
	}
	marks, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m mark, err error) {
		err = row.Scan(&m.id, &m.ladder, &m.Player, &m.Month, (*zeronull.Int8)(&m.match))
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read marks: %w", err)
	}
	return marks, nil
}

// count counts what marks ask for. If a month is to be counted again, that covers all marks of the month.
func count(ctx context.Context, tx pgx.Tx, marks []mark) error {
	again, added, ids := make(map[ladderMonth]bool), make(map[part]bool), []ranking.MatchID(nil)
	for _, m := range marks {
		if m.match == 0 {
			again[ladderMonth{m.ladder, m.MonthKey}] = true
		}
	}
	for _, m := range marks {
		if !again[ladderMonth{m.ladder, m.MonthKey}] {
			added[part{m.Player, m.match}] = true
			ids = append(ids, m.match)
		}
	}
	slices.Sort(ids)
	months := make([]playerMonths, 0, len(again))
	for m := range again {
		months = append(months, playerMonths{m.ladder, m.Player, m.Month, m.Month.AddDate(0, 1, 0)})
	}

	var matches []ladderMatch
	var gone []ladderPair
	var batch pgx.Batch
	batch.Queue(`DELETE FROM tally_marks WHERE id = ANY ($1)`, postgres.Column(marks, func(m mark) int64 { return m.id }))
	queueClearMonths(&batch, months, &gone)
	queueMatches(&batch, slices.Compact(ids), months, &matches)
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("take marks: %w", err)
	}

	recounted, grown := make(ladderTallies), make(ladderTallies)
	for i := range matches {
		m := &matches[i]
		recounted.of(m.ladder).Add(&m.CountedMatch, func(k stats.MonthKey) bool { return again[ladderMonth{m.ladder, k}] })
		grown.of(m.ladder).Add(&m.CountedMatch, func(k stats.MonthKey) bool { return added[part{k.Player, m.ID}] })
	}
	batch = pgx.Batch{}
	changed := append(gone, recounted.pairs()...)
	queueInsert(&batch, recounted)
	queueAdd(&batch, grown, changed)
	queueSum(&batch, changed)
	queuePlacesDue(&batch, marks)
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("write tallies: %w", err)
	}
	return nil
}

// queueClearMonths removes the rows and marks of months that are to be counted again. gone gets the pairs that were removed.
func queueClearMonths(batch *pgx.Batch, months []playerMonths, gone *[]ladderPair) {
	if len(months) == 0 {
		return
	}
	args := []any{
		postgres.Column(months, func(m playerMonths) ranking.LadderID { return m.ladder }),
		postgres.Column(months, func(m playerMonths) ranking.PlayerID { return m.player }),
		postgres.Column(months, func(m playerMonths) time.Time { return m.from }),
	}
	const these = ` t USING unnest($1::bigint[], $2::bigint[], $3::date[]) AS k (ladder_id, player_id, month)
		WHERE t.ladder_id = k.ladder_id AND t.player_id = k.player_id AND t.month = k.month`
	batch.Queue(`DELETE FROM tally_marks`+these, args...)
	batch.Queue(`DELETE FROM player_months`+these, args...)
	batch.Queue(`DELETE FROM pair_months`+these+` RETURNING t.ladder_id, t.player_id, t.other_id, t.together`, args...).
		Query(func(rows pgx.Rows) (err error) {
			*gone, err = pgx.CollectRows(rows, pgx.RowToStructByPos[ladderPair])
			return err
		})
}
