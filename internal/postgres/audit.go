package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

var _ ranking.AuditStore = (*Store)(nil)

// Audit implements ranking.Ledger. What fn sees is one snapshot of the database, however long it takes.
func (s *Store) Audit(ctx context.Context, fn func(context.Context, ranking.AuditReader) error) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer rollback(ctx, tx)
	return fn(ctx, auditReader{tx})
}

// books are the database as one transaction sees it.
type auditReader struct{ tx pgx.Tx }

// Groups implements ranking.Books.
func (b auditReader) Groups(ctx context.Context, chat ranking.ExternalChatID) ([]ranking.Account, error) {
	const sql = `
		SELECT c.telegram_chat_id, c.title, g.id, ARRAY(SELECT l.id FROM ladders l WHERE l.group_id = g.id ORDER BY l.id)
		FROM groups g JOIN chats c ON c.id = g.chat_id
		WHERE $1::bigint = 0 OR c.id = ` + thisChat + `
		ORDER BY g.id`
	rows, err := b.tx.Query(ctx, sql, chat)
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	groups, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ranking.Account])
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	if chat != 0 && len(groups) == 0 {
		return nil, fmt.Errorf("%w: %d", ranking.ErrNoSuchGroup, chat)
	}
	return groups, nil
}

// Standings implements ranking.Books.
func (b auditReader) Standings(ctx context.Context, ladder ranking.LadderID) ([]ranking.RankedPlayer, error) {
	rows, err := b.tx.Query(ctx, everybody, ladder)
	if err != nil {
		return nil, fmt.Errorf("read standings: %w", err)
	}
	standings, err := pgx.CollectRows(rows, scanRankedPlayer)
	if err != nil {
		return nil, fmt.Errorf("read standings: %w", err)
	}
	return standings, nil
}

// Matches implements ranking.Books.
func (b auditReader) Matches(ctx context.Context, ladder ranking.LadderID, yield func(ranking.PlayedMatch) error) error {
	rows, err := b.tx.Query(ctx, playedMatches, ladder, 0)
	if err != nil {
		return fmt.Errorf("read matches: %w", err)
	}
	defer rows.Close()
	return eachMatch(rows, yield)
}

// Loose implements ranking.Books. Of each kind it names a hundred at most.
func (b auditReader) Loose(ctx context.Context, group ranking.GroupID) (ranking.IntegrityIssues, error) {
	const missing = `
		SELECT n FROM groups g, generate_series(1, g.last_match_number) n
		WHERE g.id = $1 AND NOT EXISTS (SELECT FROM matches m WHERE m.group_id = $1 AND m.number = n)
		ORDER BY n LIMIT 100`
	const neverDrawn = `
		SELECT m.number FROM matches m JOIN groups g ON g.id = m.group_id
		WHERE g.id = $1 AND m.number > g.last_match_number ORDER BY m.number LIMIT 100`
	// Keys are kept for longer than Telegram delivers anything again, which is a day.
	const withoutKey = `
		SELECT m.number FROM matches m
		WHERE m.group_id = $1 AND m.created_at > now() - interval '1 day'
		  AND NOT EXISTS (SELECT FROM handled_commands h WHERE h.key = m.idempotency_key)
		ORDER BY m.number LIMIT 100`
	const duplicateKey = `
		SELECT m.number FROM matches m
		WHERE m.group_id = $1
		  AND EXISTS (SELECT FROM matches o WHERE o.idempotency_key = m.idempotency_key AND o.id <> m.id)
		ORDER BY m.number LIMIT 100`
	// The course of a ladder is made of parts in matches, so one without any does not show there.
	const empty = `
		SELECT m.number FROM matches m
		WHERE m.group_id = $1 AND m.undone_at IS NULL
		  AND NOT EXISTS (SELECT FROM match_players mp WHERE mp.match_id = m.id)
		ORDER BY m.number LIMIT 100`
	var loose ranking.IntegrityIssues
	var batch pgx.Batch
	for _, q := range []struct {
		sql string
		to  *[]int
	}{
		{missing, &loose.Missing}, {neverDrawn, &loose.NeverDrawn}, {withoutKey, &loose.WithoutKey},
		{duplicateKey, &loose.DuplicateKey}, {empty, &loose.Empty},
	} {
		batch.Queue(q.sql, group).Query(func(rows pgx.Rows) error {
			var err error
			*q.to, err = pgx.CollectRows(rows, pgx.RowTo[int])
			return err
		})
	}
	if err := b.tx.SendBatch(ctx, &batch).Close(); err != nil {
		return loose, fmt.Errorf("read numbers and keys: %w", err)
	}
	return loose, nil
}
