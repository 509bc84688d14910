package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// Apply implements ranking.Store. It is one pipelined batch, which the server takes as one transaction, always in the
// same order: lease, group, key, people, standings by id. Whatever does not find what was read raises an error in the
// server, because the rest of a batch would be committed otherwise.
func (s *Store) Apply(ctx context.Context, c ranking.Changes) error {
	place := s.place(ctx, c)
	if place == nil {
		return s.apply(ctx, c, nil)
	}
	defer place.GiveBack()
	err := s.apply(ctx, c, place)
	if s.lease == nil && errors.Is(err, outbox.ErrLeaseLost) { // which only what is sent at once depends on
		return s.apply(ctx, c, nil)
	}
	return err
}

// apply is Apply with the place at which the answer is sent, nil for none.
func (s *Store) apply(ctx context.Context, c ranking.Changes, place *outbox.Place) error {
	var batch pgx.Batch
	s.lease.require(&batch)
	if place != nil && s.lease == nil {
		queueEpoch(&batch, LeaderLease, place.Epoch())
	}
	if c.Match != nil {
		batch.Queue(`
			WITH drawn AS (
			    UPDATE groups SET last_match_number = last_match_number + 1 WHERE id = $1 RETURNING 1)
			SELECT EXISTS (SELECT FROM drawn)::as_read`, c.Match.Group)
	}
	queueKey(&batch, c)
	queuePlayers(&batch, c.People)
	switch {
	case c.Match != nil:
		queueStandings(&batch, c.Match)
		if err := queueMatch(&batch, c); err != nil {
			return err
		}
	case c.Join != nil:
		queueNewStanding(&batch, c.Join.Ladder, c.Join.Standing)
	case c.Standing != nil:
		queueChangedStandings(&batch, []ranking.Standing{*c.Standing})
	case c.Undo != nil:
		queueUndo(&batch, *c.Undo)
	case c.Fix != nil:
		queueFix(&batch, *c.Fix)
	}
	if c.Rewrite != nil {
		queueRewrite(&batch, *c.Rewrite)
	}
	if err := queueNotices(&batch, c); err != nil {
		return err
	}
	queuePresence(&batch, c)
	var now *outbox.Message
	if place != nil {
		now = queueTakeNow(&batch, c)
	}
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("apply: %w", translate(err))
	}
	sent := now != nil && now.Count > 0 && place.Send(*now)
	if c.Notice != nil && !sent || c.Card != nil || c.Presence == ranking.Present {
		s.told(c.Chat)
	}
	if c.Button != "" {
		s.committed(outbox.Lane{Chat: outbox.ChatID(c.Chat), Toasts: true})
	}
	return nil
}

func queueStandings(batch *pgx.Batch, m *ranking.NewMatch) {
	var known []ranking.Standing
	for _, p := range m.Players {
		if p.Before.ID == 0 {
			queueNewStanding(batch, m.Ladder, p.After)
		} else {
			known = append(known, p.After)
		}
	}
	queueChangedStandings(batch, known)
}

func queueNewStanding(batch *pgx.Batch, ladder ranking.LadderID, s ranking.Standing) {
	// a player who has been merged into another one meanwhile must not come into a ladder again
	batch.Queue(`
		WITH player AS (
		    SELECT id FROM players WHERE id = $2 AND merged_into IS NULL FOR KEY SHARE
		), added AS (
		    INSERT INTO group_players
		        (ladder_id, player_id, name, elo, start_elo, best_elo, played, won, drawn, lost, streak)
		    SELECT $1, id, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM player
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM added)::as_read`,
		ladder, s.Player, s.Name, s.Elo, s.StartElo, s.BestElo, s.Played, s.Won, s.Drawn, s.Lost, s.Streak)
}

// queueMatch inserts the match under the number that was drawn, who played in it, the history and its card.
func queueMatch(batch *pgx.Batch, c ranking.Changes) error {
	const sql = `
		WITH match AS (
		    INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, sets, k_factor, reported_by, played_at,
		                         idempotency_key)
		    SELECT g.id, $2, g.last_match_number, $3, $4, $5, $6, nullif($7::bigint, 0), $8, $9
		    FROM groups g WHERE g.id = $1
		    RETURNING id, number
		), sides AS (
		    INSERT INTO match_players (match_id, player_id, side, place)
		    SELECT match.id, played.player_id, played.side, played.place
		    FROM match, unnest($10::bigint[], $11::smallint[]) WITH ORDINALITY AS played (player_id, side, place)
		), history AS (
		    INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, best_before, streak_before, reason)
		    SELECT match.id, moved.player_id, moved.elo_before, moved.elo_after, moved.best_before, moved.streak_before,
		           'match'
		    FROM match, unnest($10::bigint[], $12::integer[], $13::integer[], $14::integer[], $15::integer[])
		         AS moved (player_id, elo_before, elo_after, best_before, streak_before)
		)
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, addressee, reply_to, thread_id, expires_at, match_id)
		SELECT $16, $9, $17, $18, $19::jsonb || jsonb_build_object('number', match.number), $20,
		       nullif($21::bigint, 0), nullif($22::bigint, 0), $23, match.id
		FROM match`
	payload, err := encode(c.Notice)
	if err != nil {
		return err
	}
	m := c.Match
	n := len(m.Players)
	players, sides := make([]int64, n), make([]int16, n)
	before, after, best, streak := make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
	for i, p := range m.Players {
		players[i], sides[i] = int64(p.Before.Player), int16(p.Side)
		before[i], after[i] = int32(p.Before.Elo), int32(p.After.Elo)
		best[i], streak[i] = int32(p.Before.BestElo), int32(p.Before.Streak)
	}
	batch.Queue(sql, m.Group, m.Ladder, m.A, m.B, setPoints(m.Sets), m.K, m.ReportedBy, m.PlayedAt, c.Key,
		players, sides, before, after, best, streak, c.Chat, c.Notice.Kind(), c.Notice.Purpose(), payload, c.Addressee,
		c.ReplyTo, c.Thread, expiry(c, c.Notice.Purpose().Lifetime()))
	return nil
}

// expiry returns when something ends that lives so long, nil for never.
func expiry(c ranking.Changes, lifetime time.Duration) *time.Time {
	if c.SentAt.IsZero() {
		return nil
	}
	at := c.SentAt.Add(lifetime)
	return &at
}

// setPoints returns the points of sets as they are stored: nil, or an array of pairs.
func setPoints(sets []ranking.Score) [][]int16 {
	var points [][]int16
	for _, s := range sets {
		points = append(points, []int16{int16(s.A), int16(s.B)})
	}
	return points
}

// queueNotices inserts what is told, but for the card of a new match, which comes with the match.
func queueNotices(batch *pgx.Batch, c ranking.Changes) error {
	if c.Button != "" {
		payload, err := encode(c.Toast)
		if err != nil {
			return err
		}
		batch.Queue(`
			INSERT INTO outbox (chat_id, key, kind, purpose, payload, addressee, action, callback_query_id, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, 'toast', $7, $8)`,
			c.Chat, c.Key, c.Toast.Kind(), c.Toast.Purpose(), payload, c.Addressee, c.Button, expiry(c, ranking.ToastLifetime))
	}
	if n, ok := c.Notice.(ranking.NotRecorded); ok {
		return queueNotRecorded(batch, c, n)
	}
	if c.Notice != nil && c.Match == nil {
		payload, err := encode(c.Notice)
		if err != nil {
			return err
		}
		batch.Queue(`
			INSERT INTO outbox (chat_id, key, kind, purpose, payload, addressee, reply_to, thread_id, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, nullif($7::bigint, 0), nullif($8::bigint, 0), $9)`,
			c.Chat, c.Key, c.Notice.Kind(), c.Notice.Purpose(), payload, c.Addressee, c.ReplyTo, c.Thread,
			expiry(c, c.Notice.Purpose().Lifetime()))
	}
	if c.Card != nil {
		return queueCard(batch, c, *c.Card)
	}
	return nil
}

// queueCard has the card of a match say something else. What has not been sent yet is sent as it is to be; a message
// that is there, or perhaps on its way, is edited, for as long as it takes. Whoever tells the match again, together
// with others, finds in the row of the card what the card says.
func queueCard(batch *pgx.Batch, c ranking.Changes, card ranking.Card) error {
	payload, err := encode(card.Notice)
	if err != nil {
		return err
	}
	batch.Queue(`
		WITH card AS (
		    UPDATE outbox SET payload = $5
		    WHERE match_id = $2 AND chat_id = $1 AND kind = $3 AND action = 'send'
		    RETURNING state)
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, match_id, supersede_key)
		SELECT $1, $6, $3, $4, $5, 'edit', $2, 'card:' || $2::bigint
		WHERE NOT EXISTS (SELECT FROM card WHERE state = 'planned')
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE
		SET kind = excluded.kind, payload = excluded.payload, key = excluded.key`,
		c.Chat, card.Match, card.Notice.Kind(), card.Notice.Purpose(), payload, c.Key)
	return nil
}

func encode(n ranking.Notice) ([]byte, error) {
	payload, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("encode notice: %w", err)
	}
	return payload, nil
}
