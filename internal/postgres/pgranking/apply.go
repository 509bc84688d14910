package pgranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/crashpoint"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/postgres/pgoutbox"
	"elobot/internal/ranking"
)

// Apply implements ranking.Store. It sends one pipelined batch, which the server runs as one transaction, always in
// the same order: lease, group, key, standings by id. A statement that does not find what was read must raise
// an error in the server, because the rest of the batch would be committed otherwise. Results that arrive while
// others are being written are written together.
func (s *Store) Apply(ctx context.Context, c ranking.Changes) error {
	slot := s.reserveSlot(ctx, c)
	if slot == nil {
		return s.batchWriter.write(ctx, s, c)
	}
	defer slot.Release()
	err := s.writeAll(ctx, []ranking.Changes{c}, slot)
	if s.lease == nil && errors.Is(err, outbox.ErrLeaseLost) { // only the direct send depends on the lease
		s.log.WarnContext(ctx, "failed to apply with a direct send, queueing the notice instead", "key", c.Key, "error", err)
		return s.batchWriter.write(ctx, s, c)
	}
	return err
}

// writeAll is Apply for several commands: all of them take effect, or none. Only results are written together with
// others. slot is where the notice of a single command is sent directly; nil for none.
func (s *Store) writeAll(ctx context.Context, all []ranking.Changes, slot *outbox.SendSlot) error {
	var batch pgx.Batch
	now := s.now()
	if len(all) > 1 {
		batch.Queue(shortLockTimeout)
	}
	s.lease.Require(&batch)
	if slot != nil && s.lease == nil {
		postgres.QueueEpoch(&batch, postgres.LeaderLease, slot.Epoch())
	}
	queueNumbers(&batch, all)
	queueKeys(&batch, all)
	queueStandings(&batch, all)
	if err := queueMatches(&batch, now, all); err != nil {
		return err
	}
	for _, c := range all {
		queueAmendment(&batch, c.Effect)
		queueRules(&batch, c.Effect)
		queueDisplay(&batch, c.Effect)
		if err := queueNotices(&batch, now, c); err != nil {
			return err
		}
		queueClosedPrompt(&batch, c)
		queueFired(&batch, c)
	}
	queuePresence(&batch, all)
	var direct *outbox.Message
	if slot != nil {
		direct = pgoutbox.QueueDirectSend(&batch, outbox.ChatID(all[0].Chat), all[0].Key)
	}
	crashpoint.At(crashpoint.Applying)
	results := s.db.SendBatch(ctx, &batch)
	if len(all) > 1 {
		crashpoint.At(crashpoint.ApplyingTogether)
	}
	if err := results.Close(); err != nil {
		return fmt.Errorf("apply: %w", postgres.Translate(err))
	}
	crashpoint.At(crashpoint.Applied)
	sent := direct != nil && direct.Count > 0 && slot.Send(*direct)
	for _, c := range all {
		if c.Notice != nil && c.Edits == 0 && !sent || amendedBy(c.Effect) != nil || c.Presence == ranking.BotActive {
			s.wake(c.Chat)
		}
		if c.Edits != 0 {
			s.committed(outbox.Lane{Chat: outbox.ChatID(c.Chat), Kind: outbox.Pages})
		}
		if c.Button != "" {
			s.committed(outbox.Lane{Chat: outbox.ChatID(c.Chat), Kind: outbox.CallbackAnswers})
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

// queueKeys inserts the keys of commands, with the rate classes of the commands.
func queueKeys(batch *pgx.Batch, all []ranking.Changes) {
	if all[0].Keyless { // it comes alone: only results are written together
		return
	}
	batch.Queue(`
		INSERT INTO handled_commands (key, sender, sent_at, rate_class, trigger, outcome)
		SELECT key, nullif(sender, 0), sent_at, nullif(rate_class, ''), trigger, outcome
		FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[])
		    AS c (key, sender, sent_at, rate_class, trigger, outcome)`,
		postgres.Column(all, func(c ranking.Changes) string { return c.Key }),
		postgres.Column(all, func(c ranking.Changes) ranking.SenderID { return c.RateEntry.Sender }),
		postgres.Column(all, func(c ranking.Changes) *time.Time {
			if c.RateEntry == (ranking.RateEntry{}) {
				return nil
			}
			return &c.RateEntry.At
		}),
		postgres.Column(all, func(c ranking.Changes) string { return string(c.RateEntry.RateClass) }),
		postgres.Column(all, func(c ranking.Changes) ranking.Trigger { return cmp.Or(c.Trigger, ranking.ByMessage) }),
		postgres.Column(all, func(c ranking.Changes) ranking.CommandOutcome { return cmp.Or(c.Outcome, ranking.OutcomeUnanswered) }))
	queueMessages(batch, all)
}

// queueMessages stores what became of the messages whose command something else has triggered: an edit, or the press of a button.
// Of a message and its edits, only one takes effect. A press has proved its right by closing a prompt.
func queueMessages(batch *pgx.Batch, all []ranking.Changes) {
	for _, c := range all {
		message := c.Message
		if m, ok := c.Effect.(*ranking.NewMatch); ok {
			message, _, _ = strings.Cut(m.Key, "#")
		}
		if message == "" || message == c.Key {
			continue
		}
		batch.Queue(`
			WITH stored AS (
			    INSERT INTO handled_commands AS c (key, trigger, outcome) VALUES ($1, $2, $3)
			    ON CONFLICT ON CONSTRAINT handled_commands_pkey DO UPDATE SET trigger = excluded.trigger, outcome = excluded.outcome
			    WHERE c.outcome = 'refused' OR excluded.trigger <> 'edit'
			    RETURNING 1)
			SELECT EXISTS (SELECT FROM stored)::unchanged`,
			message, cmp.Or(c.Trigger, ranking.ByMessage), c.Outcome)
	}
}
