package pgranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/crashpoint"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Apply implements ranking.Store. It sends one pipelined batch, which the server runs as one transaction, always in
// the same order: lease, group, key, standings by id. A statement that does not find what was read must raise
// an error in the server, because the rest of the batch would be committed otherwise. Results that arrive while
// others are being written are written together.
func (s *Store) Apply(ctx context.Context, c ranking.Changes) error {
	return s.batchWriter.write(ctx, s, c)
}

// writeAll is Apply for several commands: all of them take effect, or none. Only results are written together with
// others.
func (s *Store) writeAll(ctx context.Context, all []ranking.Changes) error {
	var batch pgx.Batch
	now := s.now()
	if len(all) > 1 {
		batch.Queue(shortLockTimeout)
	}
	s.lease.Require(&batch)
	rounds := newMatches(all)
	for i := range min(1, len(rounds)) {
		queueNumbers(&batch, rounds[i])
	}
	queueKeys(&batch, all)
	queueStandings(&batch, all)
	for i, matches := range rounds {
		if i > 0 {
			queueNumbers(&batch, matches)
		}
		if err := queueMatches(&batch, now, matches); err != nil {
			return err
		}
	}
	for _, c := range all {
		queueAmendment(&batch, c.Effect)
		queueRules(&batch, c.Effect)
		queueDisplay(&batch, c.Effect)
		queueWizard(&batch, c.Effect)
		if err := queueNotices(&batch, now, c); err != nil {
			return err
		}
		queueBoard(&batch, c)
		queueClosedPrompt(&batch, c)
		queueFired(&batch, c)
	}
	queuePresence(&batch, all)
	crashpoint.At(crashpoint.Applying)
	results := s.db.SendBatch(ctx, &batch)
	if len(all) > 1 {
		crashpoint.At(crashpoint.ApplyingTogether)
	}
	if err := postgres.Translate(results.Close()); err != nil {
		if errors.Is(err, ranking.ErrHandled) && len(all) == 1 { // each of several is tried again by itself
			s.wakeHandled(all[0].Chat)
		}
		return fmt.Errorf("apply: %w", err)
	}
	crashpoint.At(crashpoint.Applied)
	for _, c := range all {
		if notifies(c) || amendedBy(c.Effect) != nil || c.Presence == ranking.BotActive {
			s.wake(c.Chat)
		}
		if b, ok := c.Effect.(*ranking.ChangedBoard); ok {
			s.committed(outbox.Lane{Chat: outbox.ChatID(b.Chat), Kind: outbox.Boards})
		}
		if c.Chat != 0 && c.Notice == nil && c.Page == nil && c.Button == "" && !notifies(c) { // a change of names, titles or members
			s.changed(c.Chat)
		}
		if c.Page != nil {
			s.committed(outbox.Lane{Chat: outbox.ChatID(c.Chat), Kind: outbox.Pages})
		}
		if c.Button != "" {
			s.committed(outbox.Lane{Chat: outbox.ChatID(c.Chat), Kind: outbox.CallbackAnswers})
		}
	}
	return nil
}

// notifies reports whether changes send a message to the chat.
func notifies(c ranking.Changes) bool {
	_, recorded := c.Effect.(ranking.NewMatches)
	return c.Notice != nil || recorded
}

func queueStandings(batch *pgx.Batch, all []ranking.Changes) {
	var known []ranking.Standing
	for _, c := range all {
		switch e := c.Effect.(type) {
		case ranking.NewMatches:
			for _, s := range lastStandings(e) {
				if s.ID == 0 {
					queueNewStanding(batch, e[0].Ladder, s)
				} else {
					known = append(known, s)
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

// lastStandings returns the standing of each player after the last of the player's matches.
func lastStandings(matches ranking.NewMatches) []ranking.Standing {
	var last []ranking.Standing
	for i, m := range matches {
		for _, p := range m.Players {
			at := -1
			if i > 0 {
				at = slices.IndexFunc(last, func(s ranking.Standing) bool { return s.Player == p.After.Player })
			}
			if at < 0 {
				last = append(last, p.After)
			} else {
				last[at] = p.After
			}
		}
	}
	return last
}

func queueNewStanding(batch *pgx.Batch, ladder ranking.LadderID, s ranking.Standing) {
	// a player who has been merged into another one in the meantime must not join a ladder again
	batch.Queue(`
		WITH player AS (
		    SELECT id FROM players WHERE id = $2 AND merged_into IS NULL FOR KEY SHARE
		), added AS (
		    INSERT INTO group_players
		        (ladder_id, player_id, name, elo, start_elo, best_elo, played, won, drawn, lost, streak, last_played_at)
		    SELECT $1, id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM player
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM added)::unchanged`,
		ladder, s.Player, s.Name, s.Elo, s.StartElo, s.BestElo, s.Played, s.Won, s.Drawn, s.Lost, s.Streak, zeronull.Timestamptz(s.LastPlayed))
}

// queueKeys inserts the keys of commands, with the rate classes of the commands. Each further match of a message has a key too,
// so that it counts like a message of its own.
func queueKeys(batch *pgx.Batch, all []ranking.Changes) {
	if all[0].Keyless { // it comes alone: only results are written together
		return
	}
	commands := slices.Clone(all)
	for _, c := range all {
		if matches, ok := c.Effect.(ranking.NewMatches); ok {
			for _, m := range matches[1:] {
				further := c
				further.Key = m.Key
				if c.Further != (ranking.RateEntry{}) {
					further.RateEntry = c.Further
				}
				commands = append(commands, further)
			}
		}
	}
	batch.Queue(`
		INSERT INTO handled_commands (key, sender, sent_at, rate_class, trigger, outcome)
		SELECT key, nullif(sender, 0), sent_at, nullif(rate_class, ''), trigger, outcome
		FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[])
		    AS c (key, sender, sent_at, rate_class, trigger, outcome)`,
		postgres.Column(commands, func(c ranking.Changes) string { return c.Key }),
		postgres.Column(commands, func(c ranking.Changes) ranking.SenderID { return c.RateEntry.Sender }),
		postgres.Column(commands, func(c ranking.Changes) *time.Time {
			if c.RateEntry == (ranking.RateEntry{}) {
				return nil
			}
			return &c.RateEntry.At
		}),
		postgres.Column(commands, func(c ranking.Changes) string { return string(c.RateEntry.RateClass) }),
		postgres.Column(commands, func(c ranking.Changes) ranking.Trigger { return cmp.Or(c.Trigger, ranking.ByMessage) }),
		postgres.Column(commands, func(c ranking.Changes) ranking.CommandOutcome { return cmp.Or(c.Outcome, ranking.OutcomeUnanswered) }))
	queueMessages(batch, all)
}

// queueMessages stores what became of the messages whose command something else has triggered: an edit, or the press of a button.
// Of a message and its edits, only one takes effect. A press has proved its right by closing a prompt.
func queueMessages(batch *pgx.Batch, all []ranking.Changes) {
	for _, c := range all {
		message := c.Message
		if matches, ok := c.Effect.(ranking.NewMatches); ok {
			message, _, _ = strings.Cut(matches[0].Key, "#")
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
