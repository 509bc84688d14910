package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// Apply implements ranking.Store. It is one pipelined batch, which the server takes as one transaction, always in the
// same order: group, key, standings by id. Whatever does not find what was read raises an error in the server, because
// the rest of a batch would be committed otherwise.
func (s *Store) Apply(ctx context.Context, c ranking.Changes) error {
	payload, err := json.Marshal(c.Notice)
	if err != nil {
		return fmt.Errorf("encode notice: %w", err)
	}
	var batch pgx.Batch
	if c.Match != nil {
		batch.Queue(`
			WITH drawn AS (
			    UPDATE groups SET last_match_number = last_match_number + 1 WHERE id = $1 RETURNING 1)
			SELECT require_rows(count(*), 1) FROM drawn`, c.Match.Group)
	}
	batch.Queue(`INSERT INTO handled_commands (key) VALUES ($1)`, c.Key)
	switch {
	case c.Match != nil:
		queueStandings(&batch, c.Match)
		queueMatch(&batch, c, payload)
	case c.Join != nil:
		queueNewStanding(&batch, c.Join.Ladder, c.Join.Standing)
		queueNotice(&batch, c, payload)
	default:
		queueNotice(&batch, c, payload)
	}
	batch.Queue(`UPDATE chats SET parked_at = NULL WHERE id = $1 AND parked_at IS NOT NULL`, c.Chat)
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("apply: %w", translate(err))
	}
	s.committed(c.Chat)
	return nil
}

func queueStandings(batch *pgx.Batch, m *ranking.NewMatch) {
	players := slices.SortedFunc(slices.Values(m.Players), func(a, b ranking.MatchPlayer) int {
		return cmp.Compare(a.Before.ID, b.Before.ID)
	})
	for _, p := range players {
		if p.Before.ID == 0 {
			queueNewStanding(batch, m.Ladder, p.After)
			continue
		}
		batch.Queue(`
			WITH changed AS (
			    UPDATE group_players
			    SET elo = $3, best_elo = $4, played = $5, won = $6, drawn = $7, lost = $8, streak = $9,
			        version = version + 1
			    WHERE id = $1 AND version = $2
			    RETURNING 1)
			SELECT require_rows(count(*), 1) FROM changed`,
			p.Before.ID, p.Before.Version, p.After.Elo, p.After.BestElo,
			p.After.Played, p.After.Won, p.After.Drawn, p.After.Lost, p.After.Streak)
	}
}

func queueNewStanding(batch *pgx.Batch, ladder ranking.LadderID, s ranking.Standing) {
	batch.Queue(`
		INSERT INTO group_players
		    (ladder_id, player_id, name, elo, start_elo, best_elo, played, won, drawn, lost, streak)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		ladder, s.Player, s.Name, s.Elo, s.StartElo, s.BestElo, s.Played, s.Won, s.Drawn, s.Lost, s.Streak)
}

// queueMatch inserts the match under the number that was drawn, who played in it, the history and the notice.
func queueMatch(batch *pgx.Batch, c ranking.Changes, payload []byte) {
	const sql = `
		WITH match AS (
		    INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, k_factor, reported_by, played_at,
		                         idempotency_key)
		    SELECT g.id, $2, g.last_match_number, $3, $4, $5, nullif($6::bigint, 0), $7, $8
		    FROM groups g WHERE g.id = $1
		    RETURNING id, number
		), sides AS (
		    INSERT INTO match_players (match_id, player_id, side)
		    SELECT match.id, played.player_id, played.side
		    FROM match, unnest($9::bigint[], $10::smallint[]) AS played (player_id, side)
		), history AS (
		    INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, reason)
		    SELECT match.id, moved.player_id, moved.elo_before, moved.elo_after, 'match'
		    FROM match, unnest($9::bigint[], $11::integer[], $12::integer[]) AS moved (player_id, elo_before, elo_after)
		)
		INSERT INTO outbox (chat_id, kind, payload, reply_to, thread_id)
		SELECT $13, $14, $15::jsonb || jsonb_build_object('number', match.number),
		       nullif($16::bigint, 0), nullif($17::bigint, 0)
		FROM match`
	m := c.Match
	n := len(m.Players)
	players, sides := make([]int64, n), make([]int16, n)
	before, after := make([]int32, n), make([]int32, n)
	for i, p := range m.Players {
		players[i], sides[i] = int64(p.Before.Player), int16(p.Side)
		before[i], after[i] = int32(p.Before.Elo), int32(p.After.Elo)
	}
	batch.Queue(sql, m.Group, m.Ladder, m.ScoreA, m.ScoreB, m.K, m.ReportedBy, m.PlayedAt, c.Key,
		players, sides, before, after, c.Chat, c.Notice.Kind(), payload, c.ReplyTo, c.Thread)
}

func queueNotice(batch *pgx.Batch, c ranking.Changes, payload []byte) {
	batch.Queue(`
		INSERT INTO outbox (chat_id, kind, payload, reply_to, thread_id)
		VALUES ($1, $2, $3, nullif($4::bigint, 0), nullif($5::bigint, 0))`,
		c.Chat, c.Notice.Kind(), payload, c.ReplyTo, c.Thread)
}
