package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/crashpoint"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// Apply implements ranking.Store. It sends one pipelined batch, which the server runs as one transaction, always in
// the same order: lease, group, key, people, standings by id. A statement that does not find what was read must raise
// an error in the server, because the rest of the batch would be committed otherwise. Results that arrive while
// others are being written are written together.
func (s *Store) Apply(ctx context.Context, c ranking.Changes) error {
	slot := s.reserveSlot(ctx, c)
	if slot == nil {
		return s.batchWriter.apply(ctx, s, c)
	}
	defer slot.Release()
	err := s.apply(ctx, []ranking.Changes{c}, slot)
	if s.lease == nil && errors.Is(err, outbox.ErrLeaseLost) { // only the direct send depends on the lease
		s.log.WarnContext(ctx, "failed to apply with a direct send, queueing the notice instead", "key", c.Key, "error", err)
		return s.batchWriter.apply(ctx, s, c)
	}
	return err
}

// apply is Apply for several commands: all of them take effect, or none. Only results are written together with
// others. slot is where the notice of a single command is sent directly; nil for none.
func (s *Store) apply(ctx context.Context, all []ranking.Changes, slot *outbox.SendSlot) error {
	var batch pgx.Batch
	now := s.now()
	if len(all) > 1 {
		batch.Queue(shortLockTimeout)
	}
	s.lease.require(&batch)
	if slot != nil && s.lease == nil {
		queueEpoch(&batch, LeaderLease, slot.Epoch())
	}
	queueNumbers(&batch, all)
	queueKeys(&batch, all)
	queuePlayers(&batch, all)
	queueStandings(&batch, all)
	if err := queueMatches(&batch, now, all); err != nil {
		return err
	}
	for _, c := range all {
		queueAmendment(&batch, c.Effect)
		if err := queueNotices(&batch, now, c); err != nil {
			return err
		}
	}
	queuePresence(&batch, all)
	var direct *outbox.Message
	if slot != nil {
		direct = queueDirectSend(&batch, all[0])
	}
	crashpoint.At(crashpoint.Applying)
	results := s.db.SendBatch(ctx, &batch)
	if len(all) > 1 {
		crashpoint.At(crashpoint.ApplyingTogether)
	}
	if err := results.Close(); err != nil {
		return fmt.Errorf("apply: %w", translate(err))
	}
	crashpoint.At(crashpoint.Applied)
	sent := direct != nil && direct.Count > 0 && slot.Send(*direct)
	for _, c := range all {
		if c.Notice != nil && !sent || amendedBy(c.Effect) != nil || c.Presence == ranking.BotActive {
			s.wake(c.Chat)
		}
		if c.Button != "" {
			s.committed(outbox.Lane{Chat: outbox.ChatID(c.Chat), CallbackAnswers: true})
		}
	}
	return nil
}

func queueStandings(batch *pgx.Batch, all []ranking.Changes) {
	var known []ranking.Standing
	for _, c := range all {
		switch e := c.Effect.(type) {
		case *ranking.NewMatch:
			for _, p := range e.Players {
				if p.Before.ID == 0 {
					queueNewStanding(batch, e.Ladder, p.After)
				} else {
					known = append(known, p.After)
				}
			}
		case *ranking.NewStanding:
			queueNewStanding(batch, e.Ladder, e.Standing)
		case *ranking.ChangedStanding:
			known = append(known, ranking.Standing(*e))
		}
	}
	queueChangedStandings(batch, known)
}

func queueNewStanding(batch *pgx.Batch, ladder ranking.LadderID, s ranking.Standing) {
	// a player who has been merged into another one in the meantime must not join a ladder again
	batch.Queue(`
		WITH player AS (
		    SELECT id FROM players WHERE id = $2 AND merged_into IS NULL FOR KEY SHARE
		), added AS (
		    INSERT INTO group_players
		        (ladder_id, player_id, name, elo, start_elo, best_elo, played, won, drawn, lost, streak)
		    SELECT $1, id, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM player
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM added)::unchanged`,
		ladder, s.Player, s.Name, s.Elo, s.StartElo, s.BestElo, s.Played, s.Won, s.Drawn, s.Lost, s.Streak)
}

// timeLeft returns how much is left of a lifetime that began at sentAt, or nil for an unlimited one. Both times are
// by the clock that dates messages. The caller adds the rest to the database's clock, which may show another time.
func timeLeft(sentAt, now time.Time, lifetime time.Duration) *time.Duration {
	if sentAt.IsZero() {
		return nil
	}
	left := lifetime - max(0, now.Sub(sentAt))
	return &left
}

// setPoints returns the points of sets in their stored form: nil, or an array of pairs.
func setPoints(sets []ranking.Score) [][]int16 {
	var points [][]int16
	for _, s := range sets {
		points = append(points, []int16{int16(s.A), int16(s.B)})
	}
	return points
}

// queueNotices inserts the notices of a command, except for the card of a new match, which queueMatches inserts. The
// lifetime of a notice begins when its command was sent; now must be by the same clock.
func queueNotices(batch *pgx.Batch, now time.Time, c ranking.Changes) error {
	if c.Button != "" {
		payload, err := encode(c.CallbackAnswer)
		if err != nil {
			return err
		}
		batch.Queue(`
			INSERT INTO outbox (chat_id, key, kind, purpose, payload, addressee, action, callback_query_id, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, 'toast', $7, clock_timestamp() + $8::interval)`,
			c.Chat, c.Key, c.CallbackAnswer.Kind(), c.CallbackAnswer.Purpose(), payload, c.Addressee, c.Button,
			timeLeft(c.SentAt, now, ranking.CallbackLifetime))
	}
	if n, ok := c.Notice.(ranking.NotRecorded); ok {
		return queueNotRecorded(batch, now, c, n)
	}
	if _, isMatch := c.Effect.(*ranking.NewMatch); c.Notice != nil && !isMatch {
		payload, err := encode(c.Notice)
		if err != nil {
			return err
		}
		batch.Queue(`
			INSERT INTO outbox (chat_id, key, kind, purpose, payload, addressee, reply_to, thread_id, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, nullif($7::bigint, 0), nullif($8::bigint, 0), clock_timestamp() + $9::interval)`,
			c.Chat, c.Key, c.Notice.Kind(), c.Notice.Purpose(), payload, c.Addressee, c.ReplyTo, c.Thread,
			timeLeft(c.SentAt, now, c.Notice.Purpose().Lifetime()))
	}
	if a := amendedBy(c.Effect); a != nil {
		return queueCard(batch, c.Chat, c.Key, ranking.Card{Match: a.Match, Notice: a.Card})
	}
	return nil
}

// editLifetime is how long after the last change of a card it is worth editing its message. The rows of sent notices
// are kept for as long.
const editLifetime = 7 * 24 * time.Hour

// queueCard changes the card of a match. If the card has not been sent yet, it is sent with the new content. If it
// has been sent, or may have been, its message is edited. When the match is rendered again together with others, the
// current content comes from the row of the card.
func queueCard(batch *pgx.Batch, chat ranking.ChatID, key string, card ranking.Card) error {
	payload, err := encode(card.Notice)
	if err != nil {
		return err
	}
	batch.Queue(`
		WITH card AS (
		    UPDATE outbox SET payload = $5
		    WHERE match_id = $2 AND chat_id = $1 AND kind = $3 AND action = 'send'
		    RETURNING state)
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, match_id, supersede_key, expires_at)
		SELECT $1, $6, $3, $4, $5, 'edit', $2, 'card:' || $2::bigint, now() + $7::interval
		WHERE NOT EXISTS (SELECT FROM card WHERE state = 'planned')
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO UPDATE
		SET kind = excluded.kind, payload = excluded.payload, key = excluded.key, expires_at = excluded.expires_at`,
		chat, card.Match, card.Notice.Kind(), card.Notice.Purpose(), payload, key, editLifetime)
	return nil
}

func encode(n ranking.Notice) ([]byte, error) {
	payload, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("encode notice: %w", err)
	}
	return payload, nil
}
