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
		return decideAndApply(ctx, s.store, o, c, snap, nil)
	}
	refusal, err := s.check(ctx, o, c, snap)
	if err != nil {
		return err
	}
	_, asks := c.operation.(question)
	locked := !asks && (attempt > 1 || c.locks || c.needed > 0 && s.contended.happenedWithin(o.Chat.ID, time.Now(), contentionMemory))
	if refusal != nil {
		c.needed, c.operation = 0, answer{notice: refusal}
	}
	// The upserts must come first if the group is locked, because redecide reads again; for a retried command, because the
	// store counts its namesakes by stored names only; and for a question, which reads what they change.
	snap, upserts, err := s.storePeople(ctx, o, c, snap, !locked && !o.Retried && !asks)
	switch {
	case err != nil:
		return err
	case locked && refusal == nil:
		return s.store.WithGroupLock(ctx, o.Chat.ID, func(ctx context.Context, store Store) error {
			return s.redecide(ctx, store, o, c, snap)
		})
	default:
		return decideAndApply(ctx, s.store, o, c, snap, upserts)
	}
}

// look reads what the command concerns. It merges players who turn out to be the same person, and stores usernames that have
// a new owner; neither is an effect of the command.
func (s *Service) look(ctx context.Context, o Origin, c command) (Snapshot, error) {
	q := c.query(o)
	q.People = slices.Concat(c.people, c.shown)
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
		if snap, err = s.identify(ctx, o.Chat, q, snap); err != nil {
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
// If deferUpserts is set and the new snapshot can be predicted, it returns the upserts instead, to be applied with the
// command: that saves a transaction and a read.
func (s *Service) storePeople(ctx context.Context, o Origin, c command, snap Snapshot, deferUpserts bool) (
	Snapshot, []PlayerChange, error,
) {
	chat := o.Chat
	if o.Retried && snap.ChatID != 0 {
		chat = snap.Chat
	}
	q := c.query(o)
	upserts := playerUpserts(snap, q, c.needed, o.Retried)
	if snap.ChatID != 0 && snap.Chat.equalExceptLanguage(chat) {
		if len(upserts) == 0 {
			return snap, nil, nil
		}
		if predicted, ok := predictSnapshot(snap, upserts); ok && deferUpserts {
			return predicted, upserts, nil
		}
	}
	if err := s.store.UpsertChatAndPlayers(ctx, chat, upserts); err != nil {
		return snap, nil, err
	}
	snap, err := s.store.Read(ctx, q)
	if err != nil {
		return snap, nil, err
	}
	if err := c.read(ctx, s.store, snap); err != nil { // nothing may be older than the standings in the snapshot
		return snap, nil, err
	}
	return snap, nil, c.requireKnown(snap)
}

// identify makes sure that the usernames of a query refer to their current owners. It merges unclaimed players into
// claimed ones and stores changed usernames, and reads the query again after either.
func (s *Service) identify(ctx context.Context, chat Chat, q Query, snap Snapshot) (Snapshot, error) {
	if duplicates := findDuplicates(snap); len(duplicates) > 0 {
		for _, m := range duplicates {
			err := s.merge(ctx, m.from, m.into)
			if errors.Is(err, ErrInconsistent) { // one broken ladder must not lock the person out of the others
				s.log.ErrorContext(ctx, "failed to merge two players, run `elobot verify` for details", "error", err)
			} else if err != nil {
				return snap, err
			}
		}
		var err error
		if snap, err = s.store.Read(ctx, q); err != nil {
			return snap, err
		}
	}
	if !namesFormerUsername(snap, q.People) {
		return snap, nil
	}
	var updates []PlayerChange
	for i, p := range q.People {
		if p.ID != 0 {
			updates = append(updates, profileUpdates(p, snap.People[i], false)...)
		}
	}
	if err := s.store.UpsertChatAndPlayers(ctx, chat, updates); err != nil {
		return snap, err
	}
	return s.store.Read(ctx, q)
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
	return decideAndApply(ctx, store, o, c, snap, nil)
}

// decideAndApply decides on the changes and has the store apply them, together with the upserts.
func decideAndApply(ctx context.Context, store Store, o Origin, c command, snap Snapshot, upserts []PlayerChange) error {
	changes, err := c.decide(ctx, snap)
	if err != nil {
		return err
	}
	changes.People = upserts
	changes.Key, changes.Chat, changes.RateEntry = o.Key, snap.ChatID, c.rateEntry(o, changes.Notice)
	switch {
	case !o.Retried:
		changes.SentAt = o.SentAt
	case changes.Presence == ChatSeen: // a retried command may be old
		changes.Presence = NoChange
	}
	if snap.Chat.ID == o.Chat.ID { // otherwise the chat has a new id, and its message ids have started over
		changes.ReplyTo, changes.Thread = o.ReplyTo, o.Thread
	}
	if o.Sender != nil {
		changes.Addressee = o.Sender.Name
	}
	if o.Button != "" {
		changes.Button, changes.CallbackAnswer = o.Button, changes.Notice
		changes.Keyless = isTooManyPresses(changes.Notice) // so that rate-limited presses store no keys
		if changes.Effect == nil {                         // nothing has changed, so the chat need not be notified
			changes.Notice = nil
		}
	}
	*c.outcome = outcomeOf(o, changes)
	return store.Apply(ctx, changes)
}

// playerUpserts returns the changes needed to store what the command shows about its people. A retried command may
// show an outdated state, so it only adds missing players.
func playerUpserts(snap Snapshot, q Query, needed int, retried bool) []PlayerChange {
	changesFor := profileUpdates
	if retried {
		changesFor = missingPlayers
	}
	var changes []PlayerChange
	for i, p := range q.People {
		changes = append(changes, changesFor(p, snap.People[i], i < needed)...)
	}
	return changes
}

// duplicatePlayers are an unclaimed player and a claimed one who turned out to be the same person.
type duplicatePlayers struct{ from, into Player }

// findDuplicates returns the players among the people of a command who are the same person.
func findDuplicates(snap Snapshot) []duplicatePlayers {
	var all []duplicatePlayers
	for _, k := range snap.People {
		if k.ByID != nil && k.ByUsername != nil && k.ByID.ID != k.ByUsername.ID && k.ByUsername.UserID == 0 {
			all = append(all, duplicatePlayers{from: *k.ByUsername, into: *k.ByID})
		}
	}
	return all
}
