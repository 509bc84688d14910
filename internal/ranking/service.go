package ranking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Service handles the commands of all groups. Each of its methods ends with the command's effect, its key and its
// answer committed together, or with an error and nothing changed; called again with the same key it changes nothing
// and succeeds.
type Service struct {
	store    Store
	log      *slog.Logger
	settings Settings
	// rivals are the chats in which somebody else, who is another instance, was faster lately. Whoever expects to lose there
	// does better to wait for the group than to find out at the end.
	recentConflicts recently[ExternalChatID]
	// slow are the keys of commands that were not done in time.
	slow recently[string]
}

// Settings of a Service. The zero value of a field stands for its default.
type Settings struct {
	// UndoWindow is how long those who played or reported a match may undo or correct it, default 24 h.
	UndoWindow time.Duration
	// ResultsPerMinute is how many results of one sender count in a minute, default 60; negative for any number, and of
	// presses too.
	ResultsPerMinute int
}

// NewService returns a service that keeps everything in the store.
func NewService(store Store, log *slog.Logger, settings Settings) *Service {
	if settings.UndoWindow == 0 {
		settings.UndoWindow = 24 * time.Hour
	}
	if settings.ResultsPerMinute == 0 {
		settings.ResultsPerMinute = defaultResults
	}
	return &Service{
		store: store, log: log, settings: settings,
		recentConflicts: newRecently[ExternalChatID](), slow: newRecently[string](),
	}
}

// Answer answers a command that changes nothing else: a question, or what would have changed something if it could have
// been read.
func (s *Service) Answer(ctx context.Context, o Origin, n Notice) error {
	var people participants
	if o.Sender != nil {
		people.add(*o.Sender) // any command claims the player that was only named so far
	}
	c := command{name: "answer", people: people, class: RateQuestion, decide: answer(n)}
	if o.Button != "" {
		c.class = RatePress // whoever presses waits for a word, and sees it for a moment only
	}
	if o.Malformed != "" {
		c.class, c.item = RateResult, malformed(o.Malformed)
	}
	return s.handle(ctx, o, c)
}

// Ask answers a question with what read returns.
func (s *Service) Ask(ctx context.Context, o Origin, read func(context.Context) (Notice, error)) error {
	var people participants
	if o.Sender != nil {
		people.add(*o.Sender)
	}
	return s.handle(ctx, o, command{name: "answer", people: people, class: RateQuestion, read: read})
}

// answer decides that nothing changes, and that this is told.
func answer(n Notice) func(Snapshot) (Changes, error) {
	return func(Snapshot) (Changes, error) { return Changes{Notice: n}, nil }
}

// command is the part of a command's handling that differs from kind to kind.
type command struct {
	name   string
	people participants
	needed int // the first so many people are added when they are not known
	// shown are others whom the message shows with their ids. They have no part in the command, but a username that one of
	// them has given up means somebody else.
	shown []Person
	// lastPlayed asks when the first of the people has played last.
	lastPlayed bool
	// read, if set, reads the answer to a question, once everybody goes by the name that they have now.
	read func(context.Context) (Notice, error)
	// known says that it means nothing in a chat that is not known; that is not made known then.
	known bool
	// silent says that nobody waits for what comes of it: when it cannot be done, nobody is told, and it is tried again.
	silent bool
	// sort is what it counts as, empty for what no person has sent, and item tells it if it is a result too many.
	class RateClass
	// acts, if set, says whether a question would change something, so that it must not go unanswered.
	acts func(Snapshot) bool
	item func(Snapshot) RejectedResult
	// match, if set, is a match that the command takes back. It is decided on with the group held, and with the course
	// of the ladder from that match on.
	match *MatchRef
	// outcome is set to what came of the command, unless it changed nothing.
	outcome *CommandOutcome
	// decide turns what there is into what shall change. It may run several times.
	decide func(Snapshot) (Changes, error)
	// refuse, if set, is asked before anybody is added.
	refuse func(Snapshot) Notice
	// permit, if set, refuses whoever may not, once nothing else is in the way. It may ask the messenger, so it is
	// called outside any transaction.
	permit func(context.Context, Snapshot) Notice
}

func (c command) query(o Origin) Query {
	return Query{
		Key: o.Key, Chat: o.Chat, People: c.people, Needed: c.needed, Named: !o.Redelivered, LastPlayed: c.lastPlayed, Match: c.match,
	}
}

// handle takes a command through reading, deciding and applying, and again from the start when it conflicts with
// another transaction, or somebody else holds what it needs. An error that is left says nothing against the command if it
// is ErrConflict, ErrLocked or ErrTimeout.
func (s *Service) handle(ctx context.Context, o Origin, c command) error {
	begun, log := time.Now(), c.logOf(ctx)
	c.outcome = new(CommandOutcome)
	err := s.retryOnConflict(ctx, o.Chat.ID, func(ctx context.Context, attempt int) error { return s.attempt(ctx, o, c, attempt) },
		"update_id", log.Update, "command", log.Command, "key", o.Key, "chat_id", o.Chat.ID)
	if !c.silent && s.asksToRetry(ctx, o, err) {
		// Giving up is an outcome like any other: with the key written, a redelivery cannot record what the user has
		// sent once more in the meantime.
		err = s.attempt(ctx, o, c.instead(Refusal{Code: TooManyAtOnce}), 1)
	}
	if errors.Is(err, ErrInconsistent) {
		s.log.ErrorContext(ctx, "what is stored contradicts itself: `elobot verify` says where", "command", log.Command,
			"key", o.Key, "chat_id", o.Chat.ID, "error", err)
		err = s.attempt(ctx, o, c.instead(Refusal{Code: Inconsistent}), 1)
	}
	s.logDone(ctx, o, c, err, begun)
	if err != nil && !errors.Is(err, ErrHandled) && !errors.Is(err, errUnanswered) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// instead returns a command that counts the same, does nothing and is answered with this.
func (c command) instead(n Notice) command {
	return command{class: c.class, outcome: c.outcome, decide: answer(n)}
}

// attempt runs the command once. From the second time on it holds the group, so that it cannot lose again and again;
// what takes a match back holds it from the beginning, and so does who plays where others were faster lately.
func (s *Service) attempt(ctx context.Context, o Origin, c command, attempt int) error {
	alone := attempt > 1 || c.match != nil || c.needed > 0 && s.recentConflicts.has(o.Chat.ID, time.Now(), conflictMemory)
	// of a command of long ago the store counts namesakes only by the names that it has already
	snap, upserts, refusal, err := s.ensureEntities(ctx, o, c, !alone && !o.Redelivered && c.read == nil)
	switch {
	case err != nil:
		return err
	case refusal != nil:
		c.decide = answer(refusal)
	case c.read != nil:
		n, err := c.read(ctx)
		if err != nil {
			return err
		}
		c.decide = answer(n)
	case alone:
		return s.store.WithGroupLock(ctx, o.Chat.ID, func(ctx context.Context, store Store) error {
			return redecide(ctx, store, o, c, snap)
		})
	}
	return apply(ctx, s.store, o, c, snap, upserts)
}

// again reads and decides anew, now that the group is held and nothing can change any more.
func redecide(ctx context.Context, store Store, o Origin, c command, known Snapshot) error {
	q := c.query(o)
	m := known.Match
	if m != nil { // that one and no other, also if the sender's last match is another one by now
		q.Match = &MatchRef{Number: m.Number}
		q.MatchHistory = &HistoryFrom{Ladder: m.Ladder, Number: m.Number}
	}
	snap, err := store.Read(ctx, q)
	if m != nil && snap.Match != nil {
		snap.Match.ByCommand = m.ByCommand
	}
	switch {
	case err != nil:
		return err
	case snap.Handled:
		return ErrHandled
	}
	if m != nil && (snap.Match == nil || snap.Match.ID != m.ID) {
		return fmt.Errorf("%w: match %d has another number now", ErrConflict, m.Number)
	}
	if err := c.requireKnown(snap); err != nil {
		return err
	}
	if c.refuse != nil {
		if n := c.refuse(snap); n != nil {
			c.decide = answer(n)
		}
	}
	return apply(ctx, store, o, c, snap, nil)
}

// apply decides, and has the store apply it, and keep the news as well.
func apply(ctx context.Context, store Store, o Origin, c command, snap Snapshot, upserts []PlayerChange) error {
	changes, err := c.decide(snap)
	if err != nil {
		return err
	}
	changes.People = upserts
	changes.Key, changes.Chat, changes.RateEntry = o.Key, snap.ChatID, c.rateEntry(o, changes.Notice)
	switch {
	case !o.Redelivered:
		changes.SentAt = o.SentAt
	case changes.Presence == ChatSeen: // it was, long ago perhaps
		changes.Presence = NoChange
	}
	if snap.Chat.ID == o.Chat.ID { // else there are other messages by now with the ids of those that it came with
		changes.ReplyTo, changes.Thread = o.ReplyTo, o.Thread
	}
	if o.Sender != nil {
		changes.Addressee = o.Sender.Name
	}
	if o.Button != "" {
		changes.Button, changes.CallbackAnswer = o.Button, changes.Notice
		changes.Keyless = isRateLimited(changes.Notice) // so that a flood of presses leaves nothing but its answers
		if changes.Card == nil {                        // nothing has changed that others have to know
			changes.Notice = nil
		}
	}
	*c.outcome = outcomeOf(o, changes)
	return store.Apply(ctx, changes)
}

// acquaint reads what the command concerns, after it has made known what is new in it: players who have turned out to be
// the same person, the chat, and people. None of that is an effect of the command. It returns the refusal if the command
// is refused; then nobody is added. If the news may come later, and it is clear what they will come to, they are not made
// known but returned, for whoever applies the command, which spares a transaction and a look at what it has come to.
func (s *Service) ensureEntities(ctx context.Context, o Origin, c command, later bool) (
	snap Snapshot, upserts []PlayerChange, refusal Notice, err error,
) {
	q := c.query(o)
	q.People = slices.Concat(c.people, c.shown)
	q.RateEntry = c.rateEntry(o, nil)
	if snap, err = s.store.Read(ctx, q); err != nil {
		return snap, nil, nil, err
	}
	if snap.Handled {
		return snap, nil, nil, ErrHandled
	}
	if c.known && snap.ChatID == 0 {
		return snap, nil, nil, nil
	}
	if !o.Redelivered {
		if snap, err = s.identify(ctx, o.Chat, q, snap); err != nil {
			return snap, nil, nil, err
		}
	}
	q.People, snap.People = c.people, snap.People[:len(c.people)]
	refusal, over := s.overLimit(o, c, snap)
	if over && refusal == nil {
		return snap, nil, nil, errUnanswered
	}
	q.RateEntry = RateEntry{} // it is known now
	if refusal == nil {
		refusal = c.refused(ctx, snap)
	}
	if refusal != nil {
		c.needed = 0
	}
	seen := o.Chat
	upserts = playerUpserts(snap, q, c.needed, o.Redelivered)
	if o.Redelivered && snap.ChatID != 0 {
		seen = snap.Chat
	}
	if snap.ChatID != 0 && snap.Chat.looksLike(seen) {
		if len(upserts) == 0 {
			return snap, nil, refusal, nil
		}
		if predicted, ok := predictSnapshot(snap, upserts); ok && later {
			return predicted, upserts, refusal, nil
		}
	}
	if err := s.store.UpsertChatAndPlayers(ctx, seen, upserts); err != nil {
		return snap, nil, nil, err
	}
	if snap, err = s.store.Read(ctx, q); err != nil {
		return snap, nil, nil, err
	}
	return snap, nil, refusal, c.requireKnown(snap)
}

// identify makes sure that the people of a query are whom their names mean by now, and reads it again if they were not:
// an unclaimed player may be somebody who is known, and a username may have passed from somebody who was seen to others.
func (s *Service) identify(ctx context.Context, chat Chat, q Query, snap Snapshot) (Snapshot, error) {
	if same := merges(snap); len(same) > 0 {
		for _, m := range same {
			err := s.merge(ctx, m.from, m.into)
			if errors.Is(err, ErrInconsistent) { // in some ladder, which must not lock the person out of all others
				s.log.ErrorContext(ctx, "two players stay apart: `elobot verify` says what is wrong", "error", err)
			} else if err != nil {
				return snap, err
			}
		}
		var err error
		if snap, err = s.store.Read(ctx, q); err != nil {
			return snap, err
		}
	}
	if !outdated(snap, q.People) {
		return snap, nil
	}
	var seen []PlayerChange
	for i, p := range q.People {
		if p.ID != 0 {
			seen = append(seen, profileUpdates(p, snap.People[i], false)...)
		}
	}
	if err := s.store.UpsertChatAndPlayers(ctx, chat, seen); err != nil {
		return snap, err
	}
	return s.store.Read(ctx, q)
}

// met returns an error unless everybody is known whom the command needs.
func (c command) requireKnown(snap Snapshot) error {
	for i, k := range snap.People[:c.needed] {
		if k.Player == nil {
			return fmt.Errorf("%w: person %d is gone again", ErrConflict, i+1)
		}
	}
	return nil
}

// refused returns why the command is refused, or nil.
func (c command) refused(ctx context.Context, snap Snapshot) Notice {
	if c.refuse != nil {
		if n := c.refuse(snap); n != nil {
			return n
		}
	}
	if c.permit != nil {
		return c.permit(ctx, snap)
	}
	return nil
}

// novelties returns what the command has shown of its people that is not known yet. A command that is handled again shows
// how things were when it was sent.
func playerUpserts(snap Snapshot, q Query, needed int, redecide bool) []PlayerChange {
	look := profileUpdates
	if redecide {
		look = missingPlayers
	}
	var changes []PlayerChange
	for i, p := range q.People {
		changes = append(changes, look(p, snap.People[i], i < needed)...)
	}
	return changes
}

// samePerson is an unclaimed player and the known one who turned out to be the same person.
type samePerson struct{ from, into Player }

// merges returns the players among the people of a command who are the same person.
func merges(snap Snapshot) []samePerson {
	var all []samePerson
	for _, k := range snap.People {
		if k.ByID != nil && k.ByUsername != nil && k.ByID.ID != k.ByUsername.ID && k.ByUsername.UserID == 0 {
			all = append(all, samePerson{from: *k.ByUsername, into: *k.ByID})
		}
	}
	return all
}
