package ranking

import (
	"context"
	"errors"
	"slices"
	"time"
)

// attempt runs the command once: it looks, checks, stores the people, and then decides and applies. It locks the group for
// the decision from the second attempt on, so that conflicts cannot repeat forever. Amendments lock it at once, and so do
// commands that need players, in a chat in which another instance was faster recently. A question never locks it.
func (s *Service) attempt(ctx context.Context, o Origin, c command, attempt int) error {
	snap, err := s.look(ctx, o, c)
	if err != nil {
		return err
	}
	if c.isUnconcerned(snap) {
		return decideAndApply(ctx, s.store, o, c, snap)
	}
	refusal, err := s.check(ctx, o, c, snap)
	if err != nil {
		return err
	}
	_, asks := c.operation.(question)
	locked := !asks && (attempt > 1 || c.locks || c.needed > 0 && s.contended.happenedWithin(o.Chat.ID, time.Now(), contentionMemory))
	if refusal != nil {
		c.needed, c.operation = 0, answer{notice: refusal}
	} else if d, ok := c.operation.(doubtful); ok && d.asksFirst(snap) {
		c.needed = 0
	}
	snap, err = s.storePeople(ctx, o, c, snap)
	switch {
	case err != nil:
		return err
	case locked && refusal == nil:
		return s.store.WithGroupLock(ctx, o.Chat.ID, func(ctx context.Context, store Store) error {
			return s.redecide(ctx, store, o, c, snap)
		})
	default:
		return decideAndApply(ctx, s.store, o, c, snap)
	}
}

// look reads what the command concerns. It merges players who turn out to be the same person, and stores usernames that have
// a new owner; neither is an effect of the command.
func (s *Service) look(ctx context.Context, o Origin, c command) (Snapshot, error) {
	q := c.query(o)
	q.People = slices.Concat(c.people, o.Shown)
	q.RateEntry = c.rateEntry(o, nil)
	snap, err := s.store.Read(ctx, q)
	switch {
	case err != nil:
		return snap, err
	case snap.Handled:
		return snap, ErrHandled
	case c.isUnconcerned(snap):
		return snap, nil
	}
	if !o.Retried {
		if snap, err = s.identify(ctx, o, q, snap); err != nil {
			return snap, err
		}
	}
	snap.People = snap.People[:len(c.people)]
	return snap, c.read(ctx, s.store, snap)
}

// check returns a refusal if the sender is over a limit, the operation refuses, or the sender lacks permission. It
// returns errUnanswered if the command gets no answer at all.
func (s *Service) check(ctx context.Context, o Origin, c command, snap Snapshot) (Notice, error) {
	switch refusal, over := s.overLimit(o, c, snap); {
	case refusal != nil:
		return refusal, nil
	case over:
		return nil, errUnanswered
	}
	if refusal := c.refuse(snap); refusal != nil {
		return refusal, nil
	}
	return c.permit(ctx, snap), nil
}

// storePeople stores what the command shows about the chat and its people, adds the players that it needs, and reads again.
func (s *Service) storePeople(ctx context.Context, o Origin, c command, snap Snapshot) (Snapshot, error) {
	chat, changes := chatChange(o, snap), c.playerChanges(o, snap)
	if chat == nil && len(changes) == 0 {
		return snap, nil
	}
	snap, err := s.store.UpsertChatAndPlayers(ctx, c.query(o), chat, changes)
	if err != nil {
		return snap, err
	}
	if err := c.read(ctx, s.store, snap); err != nil { // nothing may be older than the standings in the snapshot
		return snap, err
	}
	return snap, c.requireKnown(snap)
}

// chatChange returns the chat if it must be stored: it is unknown, or the command shows it in another state. A retried
// command may show an outdated state.
func chatChange(o Origin, snap Snapshot) *Chat {
	hasGroup := snap.Ladder.ID != 0 || !o.Chat.IsGroup()
	if snap.ChatID != 0 && hasGroup && (o.Retried || snap.Chat.equalExceptLanguage(o.Chat)) {
		return nil
	}
	return &o.Chat
}

// playerChanges returns what must be stored about the people of the command. A retried command may show an outdated
// state, so it only adds missing players.
func (c command) playerChanges(o Origin, snap Snapshot) (changes []PlayerChange) {
	for i, p := range c.people {
		k, needed := snap.People[i], i < c.needed
		if o.Retried && k.Player != nil {
			continue
		}
		if change, ok := k.profileChange(o, p, needed); ok {
			changes = append(changes, change)
		}
	}
	return changes
}

// identify makes sure that everybody has one player, and that a mention refers to the person who has the username now. It
// merges unclaimed players into accounts, stores claims and what the command shows about other people, and then reads the
// query again.
func (s *Service) identify(ctx context.Context, o Origin, q Query, snap Snapshot) (Snapshot, error) {
	merged := false
	for _, k := range snap.People {
		account := k.claimant()
		if account == nil {
			continue
		}
		merged = true
		err := s.merge(ctx, *k.Unclaimed, *account)
		if errors.Is(err, ErrInconsistent) { // one broken ladder must not lock the person out of the others
			s.log.ErrorContext(ctx, "failed to merge two players, run `elobot verify` for details", "error", err)
		} else if err != nil {
			return snap, err
		}
	}
	var err error
	if merged {
		if snap, err = s.store.Read(ctx, q); err != nil {
			return snap, err
		}
	}
	shown := q.People[len(q.People)-len(o.Shown):]
	if claimsPlayer(snap, q.People) || namesFormerUsername(snap, q.People) {
		shown = q.People
	}
	var changes []PlayerChange
	for i := len(q.People) - len(shown); i < len(q.People); i++ {
		if change, ok := snap.People[i].profileChange(o, q.People[i], false); ok {
			changes = append(changes, change)
		}
	}
	if len(changes) == 0 {
		return snap, nil
	}
	return s.store.UpsertChatAndPlayers(ctx, q, chatChange(o, snap), changes)
}

// redecide reads and decides again with the group locked. before is what was read without the lock.
func (s *Service) redecide(ctx context.Context, store Store, o Origin, c command, before Snapshot) error {
	snap, err := store.Read(ctx, c.query(o))
	switch {
	case err != nil:
		return err
	case snap.Handled:
		return ErrHandled
	}
	if snap.standingsDiffer(before) {
		s.contended.record(o.Chat.ID, time.Now())
	}
	if err := c.readLocked(ctx, store, snap); err != nil {
		return err
	}
	if err := c.requireKnown(snap); err != nil {
		return err
	}
	if n := c.refuse(snap); n != nil {
		c.operation = answer{notice: n}
	}
	return decideAndApply(ctx, store, o, c, snap)
}

// decideAndApply decides on the changes and has the store apply them.
func decideAndApply(ctx context.Context, store Store, o Origin, c command, snap Snapshot) error {
	changes, err := c.decide(ctx, snap)
	if err != nil {
		return err
	}
	changes.Key, changes.Chat, changes.RateEntry = o.Key, snap.ChatID, c.rateEntry(o, changes.Notice)
	changes.Further = c.further
	switch {
	case !o.Retried:
		changes.SentAt = o.SentAt
	case changes.Presence == ChatSeen: // a retried command may be old
		changes.Presence = NoChange
	}
	moved := snap.Chat.ID != o.Chat.ID // the chat has a new id, and its message ids have started over
	if !moved {
		changes.ReplyTo, changes.Thread = o.ReplyTo, o.Thread
	}
	changes.Addressee, changes.Language, changes.Private = c.sender(o, snap), o.Chat.Language, !o.Chat.IsGroup()
	if o.Button != "" {
		changes.Button = o.Button
		changes.Keyless = isTooManyPresses(changes.Notice) // so that rate-limited presses store no keys
		switch {
		case changes.CallbackAnswer != nil:
		case changes.Page != nil, changes.Notice == nil:
			changes.CallbackAnswer = Acknowledged{}
		default:
			changes.CallbackAnswer = changes.Notice
			if changes.Effect == nil { // nothing has changed, so the chat need not be notified
				changes.Notice = nil
			}
		}
	}
	if changes.Page != nil && moved {
		if changes.Notice == nil && changes.Page.Purpose() != Answer {
			changes.Notice = changes.Page
		}
		changes.Page, changes.Edits = nil, 0
	}
	*c.outcome = outcomeOf(o, changes)
	changes.Trigger, changes.Outcome = o.trigger(), *c.outcome
	if changes.Outcome != OutcomeRefused { // after a refusal, the next edit is handled too
		changes.Message = o.Message
	}
	return store.Apply(ctx, changes)
}

// sender returns the name of the command's sender, zero for an anonymous admin.
func (c command) sender(o Origin, snap Snapshot) Name {
	if o.Sender == nil {
		return Name{}
	}
	for i, k := range snap.People {
		if c.people[i].ID == o.Sender.ID && k.Player != nil {
			return k.Player.name()
		}
	}
	return Name{Name: o.Sender.Name}
}
