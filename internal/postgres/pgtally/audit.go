package pgtally

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

var _ stats.TallyAuditStore = (*Store)(nil)

// AuditTallies implements stats.TallyAuditStore. fn sees one snapshot of the database, however long it runs. Its error is returned.
func (s *Store) AuditTallies(ctx context.Context, fn func(context.Context, stats.TallyAuditReader) error) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer postgres.Rollback(ctx, tx)
	return fn(ctx, auditReader{tx, s.parts})
}

// auditReader reads the database in one transaction.
type auditReader struct {
	tx    pgx.Tx
	parts int // about how many matches of players are read at once
}

// Ladders implements stats.TallyAuditReader.
func (a auditReader) Ladders(ctx context.Context, chat ranking.ExternalChatID) ([]stats.AuditedLadder, error) {
	const sql = `
		SELECT c.telegram_chat_id, c.title, l.id, coalesce(t.recounting, false)
		FROM groups g JOIN chats c ON c.id = g.chat_id JOIN ladders l ON l.group_id = g.id LEFT JOIN ladder_tallies t ON t.ladder_id = l.id
		WHERE $1::bigint = 0 OR c.id = ` + postgres.ThisChat + `
		ORDER BY l.id`
	rows, err := a.tx.Query(ctx, sql, chat)
	if err != nil {
		return nil, fmt.Errorf("read ladders: %w", err)
	}
	ladders, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stats.AuditedLadder])
	if err != nil {
		return nil, fmt.Errorf("read ladders: %w", err)
	}
	return ladders, nil
}

// Players implements stats.TallyAuditReader. It returns as many as played about the number of matches that are read at once.
func (a auditReader) Players(ctx context.Context, ladder ranking.LadderID, after ranking.PlayerID) (
	names map[ranking.PlayerID]string, last ranking.PlayerID, err error,
) {
	players, last, err := nextPlayers(ctx, a.tx, ladder, after, a.parts)
	if err != nil {
		return nil, 0, err
	}
	names = make(map[ranking.PlayerID]string)
	for i, p := range players {
		if i > 0 && p.Player > last { // the first one is read, however much it has played
			break
		}
		names[p.Player], last = p.Name, max(last, p.Player)
	}
	return names, last, nil
}

// Matches implements stats.TallyAuditReader.
func (a auditReader) Matches(ctx context.Context, ladder ranking.LadderID, players []ranking.PlayerID) ([]stats.CountedMatch, error) {
	months := make([]playerMonths, len(players))
	for i, p := range players {
		months[i] = playerMonths{ladder, p, noMonth, afterMonth}
	}
	matches, err := readMatches(ctx, a.tx, months)
	return postgres.Column(matches, func(m ladderMatch) stats.CountedMatch { return m.CountedMatch }), err
}

// Stored implements stats.TallyAuditReader.
func (a auditReader) Stored(ctx context.Context, ladder ranking.LadderID, after, last ranking.PlayerID) (stats.StoredTallies, error) {
	const these = ` WHERE ladder_id = $1 AND player_id > $2 AND player_id <= $3`
	all := stats.StoredTallies{Tallies: stats.NewTallies(), Totals: make(map[stats.PairKey]*stats.Pair), Marked: make(map[stats.MonthKey]bool)}
	var batch pgx.Batch
	batch.Queue(`SELECT DISTINCT player_id, month FROM tally_marks`+these, ladder, after, last).Query(func(rows pgx.Rows) error {
		var k stats.MonthKey
		_, err := pgx.ForEachRow(rows, []any{&k.Player, &k.Month}, func() error {
			all.Marked[k] = true
			return nil
		})
		return err
	})
	batch.Queue(`
		SELECT player_id, month, played, won, drawn, lost, best_elo, best_match, streak, streak_match, upset, upset_match
		FROM player_months`+these, ladder, after, last).Query(func(rows pgx.Rows) error {
		var k stats.MonthKey
		var m stats.PlayerMonth
		record := func(r *stats.Peak) []any { return []any{(*zeronullInt)(&r.Value), (*zeronull.Int8)(&r.Match)} }
		fields := []any{&k.Player, &k.Month, &m.Played, &m.Won, &m.Drawn, &m.Lost}
		for _, r := range []*stats.Peak{&m.Best, &m.Streak, &m.Upset} {
			fields = append(fields, record(r)...)
		}
		_, err := pgx.ForEachRow(rows, fields, func() error {
			one := m
			all.Months[k] = &one
			return nil
		})
		return err
	})
	queueStoredPairs(&batch, `month, `, `pair_months`+these, []any{ladder, after, last}, all.Pairs)
	queueStoredPairs(&batch, ``, `pair_totals`+these, []any{ladder, after, last}, all.Totals)
	if err := a.tx.SendBatch(ctx, &batch).Close(); err != nil {
		return all, fmt.Errorf("read tallies: %w", err)
	}
	return all, nil
}

// WrongPlaces implements stats.TallyAuditReader. It compares the order of the places with that of the ratings, because players may have
// left or come back since the places were calculated.
func (a auditReader) WrongPlaces(ctx context.Context, ladder ranking.LadderID) ([]stats.WrongPlace, error) {
	const sql = `
		SELECT name, place, expected FROM (
		    SELECT s.name, w.place, rank() OVER (ORDER BY w.place) AS stored, rank() OVER (ORDER BY coalesce(later.elo, s.elo) DESC) AS expected
		    FROM ladder_tallies t
		    CROSS JOIN LATERAL (SELECT * FROM week_places WHERE ladder_id = t.ladder_id OFFSET 0) AS w
		    CROSS JOIN LATERAL (SELECT * FROM group_players WHERE ladder_id = w.ladder_id AND player_id = w.player_id LIMIT 1) AS s
		    LEFT JOIN (` + laterMatches + `) AS later ON later.player_id = w.player_id
		    WHERE t.ladder_id = $1 AND t.week_due_at > '-infinity'
		      AND NOT EXISTS (SELECT FROM tally_marks WHERE ladder_id = $1 AND match_id IS NULL)) AS places
		WHERE stored <> expected ORDER BY expected, name`
	rows, err := a.tx.Query(ctx, sql, ladder)
	if err != nil {
		return nil, fmt.Errorf("read places: %w", err)
	}
	wrong, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stats.WrongPlace])
	if err != nil {
		return nil, fmt.Errorf("read places: %w", err)
	}
	return wrong, nil
}

// queueStoredPairs reads rows of pair_months or pair_totals.
func queueStoredPairs(batch *pgx.Batch, month, from string, args []any, all map[stats.PairKey]*stats.Pair) {
	batch.Queue(`
		SELECT `+month+`player_id, other_id, together, played, won, drawn, lost, points_for, points_against, gained, surplus FROM `+from, args...).
		Query(func(rows pgx.Rows) error {
			var k stats.PairKey
			var p stats.Pair
			fields := []any{&k.Player, &k.Other, &k.Together, &p.Played, &p.Won, &p.Drawn, &p.Lost, &p.PointsFor, &p.PointsAgainst, &p.Gained, &p.Surplus}
			if month != "" {
				fields = append([]any{&k.Month}, fields...)
			}
			_, err := pgx.ForEachRow(rows, fields, func() error {
				one := p
				all[k] = &one
				return nil
			})
			return err
		})
}

// zeronullInt is an int that is 0 for null.
type zeronullInt int

// ScanInt64 implements pgtype.Int64Scanner.
func (z *zeronullInt) ScanInt64(n pgtype.Int8) error {
	*z = zeronullInt(n.Int64)
	return nil
}
