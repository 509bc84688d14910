package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// FindMatch implements ranking.Store.
func (s *Store) FindMatch(ctx context.Context, chat ranking.ExternalChatID, ref ranking.MatchRef, sender *ranking.Person) (
	found *ranking.StoredMatch, err error,
) {
	sql, args := matchQuery(chat, ref, sender)
	if sql == "" {
		return found, nil
	}
	matches, err := s.findMatches(ctx, sql, args)
	if len(matches) > 0 {
		found = &matches[0]
	}
	return found, err
}

// MatchesOf implements ranking.Store.
func (s *Store) MatchesOf(ctx context.Context, chat ranking.ExternalChatID, message int64, key string) ([]ranking.StoredMatch, error) {
	const sql = matchColumns + `m.id = ANY (ARRAY(
		    SELECT mm.match_id FROM match_messages mm WHERE mm.telegram_chat_id = $1 AND mm.telegram_message_id = $2
		    UNION ALL
		    SELECT made.id FROM generate_series(1, $4::integer) AS n CROSS JOIN LATERAL (
		        SELECT * FROM matches WHERE idempotency_key = $3 || CASE WHEN n > 1 THEN '#' || n ELSE '' END LIMIT 1) AS made))
		ORDER BY m.number`
	return s.findMatches(ctx, sql, []any{chat, message, key, ranking.MaxReports})
}

func (s *Store) findMatches(ctx context.Context, sql string, args []any) ([]ranking.StoredMatch, error) {
	rows, err := s.db.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("find the match: %w", postgres.Translate(err))
	}
	matches, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m ranking.StoredMatch, err error) {
		var points [][]int16
		err = row.Scan(&m.ID, &m.Ladder, &m.Number, &m.Result.A, &m.Result.B, &points, &m.PlayedAt, &m.Undone,
			(*zeronull.Timestamptz)(&m.UndoneAt), &m.UndoneBy, &m.Changes, &m.Later,
			&m.ReportedBy, &m.Players[0], &m.Players[1], &m.SamePerson, &m.SidesSwapped, &m.Key)
		m.Result.Sets = setScores(points)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("find the match: %w", postgres.Translate(err))
	}
	return matches, nil
}

// matchColumns reads the matches of a chat that a condition selects.
const matchColumns = `
		SELECT m.id, m.ladder_id, m.number, m.score_a, m.score_b, m.sets, m.played_at, m.undone_at IS NOT NULL,
		       m.undone_at, coalesce(m.undone_by, 0), m.changes,
		       g.last_match_number - m.number,
		       coalesce(m.reported_by, 0),
		       ARRAY(SELECT mp.player_id FROM match_players mp WHERE mp.match_id = m.id AND mp.side = 1 ORDER BY mp.place),
		       ARRAY(SELECT mp.player_id FROM match_players mp WHERE mp.match_id = m.id AND mp.side = 2 ORDER BY mp.place),
		       EXISTS (SELECT FROM match_players mp WHERE mp.match_id = m.id
		               AND (SELECT p.merged_into FROM players p WHERE p.id = mp.player_id) IS NOT NULL),
		       ` + postgres.SidesSwapped + `, m.idempotency_key
		FROM groups g JOIN matches m ON m.group_id = g.id
		WHERE g.chat_id = ` + postgres.ThisChat + ` AND `

// matchQuery returns the query for the match that is meant. It is empty if the last match of nobody is meant.
func matchQuery(chat ranking.ExternalChatID, ref ranking.MatchRef, sender *ranking.Person) (sql string, args []any) {
	const match = matchColumns
	const byID = match + `m.id = $2`
	const byNumber = match + `m.number = $2`
	// Messages are found by the id that the chat had when they were sent. One that shows several matches does not tell which one is
	// meant.
	const byMessage = match + `m.id = coalesce((SELECT min(mm.match_id) FROM match_messages mm
		     WHERE mm.telegram_chat_id = $1 AND mm.telegram_message_id = $2 HAVING count(*) = 1),
		    (SELECT made.id FROM matches made WHERE made.idempotency_key = $3))`
	const last = match + `m.number = (
		    SELECT max(number) FROM players sender CROSS JOIN LATERAL (
		        (SELECT played.number FROM match_players mp
		         CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id LIMIT 1) AS played
		         WHERE mp.player_id = sender.id AND played.ladder_id = ` + postgres.ThisLadder + `
		           AND (NOT $3 OR played.undone_at IS NULL)
		         ORDER BY mp.match_id DESC LIMIT 1)
		        UNION ALL
		        (SELECT r.number FROM matches r
		         WHERE r.reported_by = sender.id AND r.group_id = ` + postgres.ThisGroup + ` AND (NOT $3 OR r.undone_at IS NULL)
		         ORDER BY r.number DESC LIMIT 1)
		    ) AS of_sender
		    WHERE sender.id = ` + postgres.ThisPlayer + `)`
	const lastUndone = match + `m.id = (
		    SELECT undone.id FROM matches undone
		    WHERE undone.undone_by = ` + postgres.ThisPlayer + ` AND undone.group_id = g.id
		    ORDER BY undone.undone_at DESC, undone.id DESC LIMIT 1)`
	switch {
	case ref.ID != 0:
		return byID, []any{chat, ref.ID}
	case ref.Number != 0:
		return byNumber, []any{chat, ref.Number}
	case ref.Message != 0:
		return byMessage, []any{chat, ref.Message, ref.Key}
	case sender != nil && ref.LastUndone:
		return lastUndone, []any{chat, sender.ID}
	case sender != nil:
		return last, []any{chat, sender.ID, ref.LastCounted}
	}
	return "", nil
}
