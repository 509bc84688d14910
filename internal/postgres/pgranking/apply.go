package pgranking

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/crashpoint"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// Apply implements ranking.Store.
func (s *Store) Apply(ctx context.Context, c ranking.Changes) error {
	if m := sharedResult(c); m != nil && s.results != nil {
		return s.results.write(ctx, s, c, m)
	}
	return s.write(ctx, c)
}

// write sends the changes of one command as one pipelined batch, which the server runs as one
// transaction.
func (s *Store) write(ctx context.Context, c ranking.Changes) error {
	var batch pgx.Batch
	s.lease.Require(&batch)
	s.queueChanges(&batch, c)
	return s.sendChanges(ctx, &batch, c)
}

// queueChanges queues the writes of a command in the lock order given in the package comment.
func (s *Store) queueChanges(batch *pgx.Batch, c ranking.Changes) {
	queueNewChat(batch, c.Seen, c.Chat)
	effect := s.effect(c)
	switch matches := newMatches(c); {
	case len(matches) > 0:
		queueNumbers(batch, []ranking.GroupID{matches[0].Group})
		if c.Ladder != nil {
			queueNotArchived(batch, []ladder.ID{matches[0].Ladder})
		}
	case len(c.Seen.People) > 0, effect.locksGroup: // keep other commands from adding people or recording results
		batch.Queue(`SELECT FROM groups WHERE id = $1 FOR NO KEY UPDATE`, c.Seen.Group)
	}
	queueKeys(batch, keysOf(c))
	queueMessage(batch, c)
	if len(c.Seen.People) > 0 {
		queueSeenPeople(batch, c.Seen)
	}
	if effect.write != nil {
		effect.write(batch)
	}
	queueNotices(batch, s.Now(), c)
	if a := effect.amended; a != nil {
		queueCard(batch, c.Chat, c.Key, ranking.Card{Match: a.Match, Notice: a.Card}, c.Ladder)
	}
	if r, ok := c.Effect.(*ranking.Remapping); ok {
		s.queueRemappingNotices(batch, c, r)
	}
	if c.Trigger == ranking.ByEdit && c.Effect != nil {
		queueOvertakenPrompts(batch, c)
	}
	if c.Asks != nil && c.Asks.ID != 0 {
		queueChangedPrompt(batch, *c.Asks)
	}
	if c.Closes != nil {
		queueClosedPrompt(batch, c)
	}
	if c.Fires != "" {
		queueFires(batch, c)
	}
	if c.ConsumesTimer {
		queueFired(batch, c.Key)
	}
	if c.Seen.Chat != nil && !c.Seen.NewChat {
		queueChangedChat(batch, *c.Seen.Chat, c.Chat)
	}
	queuePresence(batch, c)
	if effect.writeChat != nil {
		effect.writeChat(batch)
	}
	for _, season := range c.Corrected {
		queueCorrected(batch, c.Chat, c.Key, season)
	}
}

// sendChanges sends a batch that writes and commits c, and then wakes the lanes that c concerns. If
// the command was already handled, it wakes all lanes of the chat.
func (s *Store) sendChanges(ctx context.Context, batch *pgx.Batch, c ranking.Changes) error {
	crashpoint.At(crashpoint.Applying)
	if err := s.db.SendBatch(ctx, batch).Close(); err != nil {
		if err = Translate(err); errors.Is(err, ranking.ErrHandled) {
			s.wakeHandled(c.Chat)
		}
		return fmt.Errorf("apply: %w", err)
	}
	crashpoint.At(crashpoint.Applied)
	s.wakeLanes(c)
	return nil
}

// wakeLanes wakes the lanes that may have something to send after a command. It also calls
// WebChanged if the command may have changed a web board.
func (s *Store) wakeLanes(c ranking.Changes) {
	s.showOnWeb(c)
	effect := s.effect(c)
	sends := effect.sends || c.Notice != nil || len(c.Corrected) > 0
	if sends || effect.amended != nil || c.Presence == ranking.BotActive {
		s.wake(c.Chat, outbox.Messages)
	}
	if effect.changesBoard {
		s.wake(c.Chat, outbox.Boards)
	}
	// A command that sends nothing may still have changed names, a title or members that the chat's
	// boards show. A wake of any lane but Boards makes the leader update the boards. The lane of
	// pages is woken for this purpose, because its wake delays no other lane.
	if c.Page != nil || c.Chat != 0 && c.Button == "" && !sends {
		s.wake(c.Chat, outbox.Pages)
	}
	if c.Button != "" {
		s.wake(c.Chat, outbox.CallbackAnswers)
	}
	if c.ToSender != nil {
		s.wake(c.ToSender.Chat, outbox.Messages)
	}
}

func (s *Store) showOnWeb(c ranking.Changes) {
	if c.ShownOnWeb != 0 {
		s.WebChanged(c.ShownOnWeb)
	}
}
