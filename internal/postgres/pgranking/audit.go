package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

var _ ranking.AuditStore = (*Store)(nil)

// Audit implements ranking.AuditStore. fn sees one snapshot of the database, however long it runs.
// If fn fails, Audit returns its error.
func (s *Store) Audit(ctx context.Context, fn func(context.Context, ranking.AuditReader) error) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer postgres.Rollback(ctx, tx)
	return fn(ctx, s.inside(tx))
}

// Groups implements ranking.AuditReader.
func (s *Store) Groups(ctx context.Context, chat ranking.ExternalChatID) ([]ranking.AuditedGroup, error) {
	const sql = `
		SELECT c.telegram_chat_id, c.title, g.id, g.chat_id IS NULL,
		       ARRAY(SELECT id FROM seasons WHERE group_id = g.id ORDER BY ladder_id, number),
		       ARRAY(SELECT CASE count(*) OVER () WHEN 1 THEN '' ELSE concat_ws(', ', l.name, 'season ' || s.number) END
		             FROM seasons s JOIN ladders l ON l.id = s.ladder_id
		             WHERE s.group_id = g.id ORDER BY s.ladder_id, s.number)
		FROM groups g JOIN chats c ON c.id = coalesce(g.chat_id, g.former_chat_id)
		WHERE $1::bigint = 0 OR c.id = ` + postgres.ThisChat + `
		ORDER BY g.id`
	groups, err := postgres.Collect(ctx, s.db, "read groups", pgx.RowToStructByPos[ranking.AuditedGroup], sql, chat)
	if err == nil && chat != 0 && len(groups) == 0 {
		err = fmt.Errorf("%w: %d", ranking.ErrNoSuchGroup, chat)
	}
	return groups, err
}

// DetachedGroups returns the detached groups whose former chat is the given one, or all detached
// groups if chat is 0.
func (s *Store) DetachedGroups(ctx context.Context, chat ranking.ExternalChatID) ([]ranking.DetachedGroup, error) {
	const sql = `
		SELECT g.id, g.last_match_number, c.telegram_chat_id, c.title FROM groups g JOIN chats c ON c.id = g.former_chat_id
		WHERE g.former_chat_id IS NOT NULL AND ($1::bigint = 0 OR c.id = ` + postgres.ThisChat + `) ORDER BY g.id`
	return postgres.Collect(ctx, s.db, "read groups without a chat",
		pgx.RowToStructByPos[ranking.DetachedGroup], sql, chat)
}

// IntegrityIssues implements ranking.AuditReader. It returns at most a hundred issues of each kind.
func (s *Store) IntegrityIssues(ctx context.Context, group ranking.GroupID) (ranking.IntegrityIssues, error) {
	const missing = `
		SELECT n FROM groups g, generate_series(1, g.last_match_number) n
		WHERE g.id = $1 AND NOT EXISTS (SELECT FROM matches m WHERE m.group_id = $1 AND m.number = n)
		  AND NOT EXISTS (
		      SELECT FROM imports i WHERE i.group_id = $1 AND i.undone_at IS NOT NULL
		        AND n BETWEEN i.first_match AND i.first_match + i.matches - 1)
		ORDER BY n LIMIT 100`
	const notAssigned = `
		SELECT m.number FROM matches m JOIN groups g ON g.id = m.group_id
		WHERE g.id = $1 AND m.number > g.last_match_number ORDER BY m.number LIMIT 100`
	// Only the last day is checked, because keys are deleted after three days. The first match of a
	// message has the message's key; the others have that key with #2, #3 and so on appended.
	// Imported matches come from no message.
	const withoutKey = `
		SELECT m.number FROM matches m
		WHERE m.group_id = $1 AND m.created_at > now() - interval '1 day'
		  AND NOT starts_with(m.idempotency_key, '` + ranking.ImportKey + `')
		  AND NOT EXISTS (
		      SELECT FROM handled_commands h
		      WHERE h.key = split_part(m.idempotency_key, '` + ranking.ExtraMatch + `', 1) AND h.outcome = 'recorded')
		ORDER BY m.number LIMIT 100`
	const duplicateKey = `
		SELECT m.number FROM matches m
		WHERE m.group_id = $1
		  AND EXISTS (SELECT FROM matches o WHERE o.idempotency_key = m.idempotency_key AND o.id <> m.id)
		ORDER BY m.number LIMIT 100`
	// MatchHistory joins matches with their players, so it would omit a match without players.
	const empty = `
		SELECT m.number FROM matches m
		WHERE m.group_id = $1 AND m.undone_at IS NULL
		  AND NOT EXISTS (SELECT FROM match_players mp WHERE mp.match_id = m.id)
		ORDER BY m.number LIMIT 100`
	// If two parts of a match count for one player, the match must be undone, and its parts must
	// have the players who were named. Otherwise the match must not be undone as doubled, and its
	// parts must have the players for whom the named ones count. Detached groups are not checked,
	// because their mapping is gone.
	const wrongParts = `
		SELECT number FROM (
		    SELECT m.number, m.undone_at, mp.player_id AS player, coalesce(mp.named_id, mp.player_id) AS named,
		           coalesce(s.counts_as, mp.named_id, mp.player_id) AS counts
		    FROM matches m JOIN match_players mp ON mp.match_id = m.id
		    LEFT JOIN sightings s ON s.group_id = $1 AND s.player_id = coalesce(mp.named_id, mp.player_id)
		    WHERE m.group_id = $1 AND (SELECT chat_id FROM groups WHERE id = $1) IS NOT NULL) AS part
		GROUP BY number, undone_at
		HAVING CASE WHEN count(DISTINCT counts) < count(*) THEN undone_at IS NULL OR bool_or(player <> named)
		       ELSE undone_at IS NOT DISTINCT FROM ` + doubled + ` OR bool_or(player <> counts) END
		ORDER BY number LIMIT 100`
	var issues ranking.IntegrityIssues
	var batch pgx.Batch
	for _, q := range []struct {
		sql string
		to  *[]int
	}{
		{missing, &issues.Missing}, {notAssigned, &issues.NotAssigned}, {withoutKey, &issues.WithoutKey},
		{duplicateKey, &issues.DuplicateKey}, {empty, &issues.Empty}, {wrongParts, &issues.WrongParts},
	} {
		batch.Queue(q.sql, group).Query(func(rows pgx.Rows) error {
			var err error
			*q.to, err = pgx.CollectRows(rows, pgx.RowTo[int])
			return err
		})
	}
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return issues, fmt.Errorf("read numbers and keys: %w", err)
	}
	return issues, nil
}
