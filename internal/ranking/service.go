package ranking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Service handles the commands of all groups. Each of its methods commits the command's effect, its key and its answer
// together, or returns an error. After an error, what the command showed about the chat and its people may be stored, and
// after ErrTimeout the effect may be committed too. Called again with the same key, a method changes nothing more and
// succeeds.
type Service struct {
	store    Store
	log      *slog.Logger
	settings Settings
	// recentConflicts are the chats with a recent conflict, usually with another instance. Locking the group at once is
	// cheaper there than failing at commit.
	recentConflicts recentEvents[ExternalChatID]
	// timedOut are the keys of commands that timed out.
	timedOut recentEvents[string]
}

// Settings are the settings of a Service. A zero field means its default.
type Settings struct {
	// UndoWindow is how long the players and the reporter of a match may amend it, default 24 hours.
	UndoWindow time.Duration
	// ResultsPerMinute limits the results of one sender, default 60. A negative value disables this limit and that on
	// button presses.
	ResultsPerMinute int
}

// NewService returns a service that uses the store.
func NewService(store Store, log *slog.Logger, settings Settings) *Service {
	if settings.UndoWindow == 0 {
		settings.UndoWindow = 24 * time.Hour
	}
	if settings.ResultsPerMinute == 0 {
		settings.ResultsPerMinute = defaultResults
	}
	return &Service{
		store: store, log: log, settings: settings,
		recentConflicts: newRecentEvents[ExternalChatID](), timedOut: newRecentEvents[string](),
	}
}

// Answer answers a question, or a command that could not be parsed. It changes nothing else.
func (s *Service) Answer(ctx context.Context, o Origin, n Notice) error {
	c := command{name: "answer", people: senderOf(o), class: RateQuestion, operation: answer{notice: n}}
	if o.Button != "" {
		c.class = RatePress // a press always gets an answer, up to a limit of its own
	}
	if o.Malformed != "" {
		c.class, c.operation = RateResult, malformedResult{answer{notice: n}, o.Malformed}
	}
	return s.handle(ctx, o, c)
}

// Ask answers a question with the notice that read returns. read may be called several times.
func (s *Service) Ask(ctx context.Context, o Origin, read func(context.Context) (Notice, error)) error {
	return s.handle(ctx, o, command{name: "answer", people: senderOf(o), class: RateQuestion, operation: question{ask: read}})
}

// command is a command or an event that the service handles.
type command struct {
	operation
	name   string
	people participants // who the operation is about; each command of a person claims their unclaimed player
	needed int          // how many of the people, from the first on, are added if unknown
	// shown are other people whom the message shows with their ids. They do not take part in the command, but a mention
	// of a username that one of them gave up must mean somebody else.
	shown []Person
	// class is the command's rate class, empty if no person sent the command.
	class RateClass
	// locks is true if the operation decides with the group locked from the first attempt on.
	locks bool
	// knownChatOnly is true if the command does nothing in an unknown chat and does not create the chat.
	knownChatOnly bool
	// silent is true if nobody waits for the outcome. A failure is then not answered; the caller retries.
	silent bool
	// outcome is set once the changes are decided.
	outcome *CommandOutcome
}

func (c command) query(o Origin) Query {
	return Query{Key: o.Key, Chat: o.Chat, People: c.people, ReserveFirst: c.needed, UseShownNames: !o.Retried}
}

// handle reads, decides and applies a command, and starts over after a conflict or a lock timeout. If it returns
// ErrConflict, ErrLocked or ErrTimeout, the command itself is not at fault.
func (s *Service) handle(ctx context.Context, o Origin, c command) error {
	started, log := time.Now(), c.commandLog(ctx)
	c.outcome = new(CommandOutcome)
	err := s.retryOnConflict(ctx, o.Chat.ID, func(ctx context.Context, attempt int) error { return s.attempt(ctx, o, c, attempt) },
		"update_id", log.Update, "command", log.Command, "key", o.Key, "chat_id", o.Chat.ID)
	if !c.silent && s.asksToRetry(ctx, o, err) {
		// Giving up is an outcome too: it writes the key, so that a redelivery cannot record a match that the user has
		// reported again by then.
		err = s.attempt(ctx, o, c.answerOnly(Refusal{Code: TooManyAtOnce}), 1)
	}
	if errors.Is(err, ErrInconsistent) {
		s.log.ErrorContext(ctx, "stored ratings are inconsistent, run `elobot verify` for details", "command", log.Command,
			"key", o.Key, "chat_id", o.Chat.ID, "error", err)
		err = s.attempt(ctx, o, c.answerOnly(Refusal{Code: Inconsistent}), 1)
	}
	s.logOutcome(ctx, o, c, err, started)
	if err != nil && !errors.Is(err, ErrHandled) && !errors.Is(err, errUnanswered) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// answerOnly returns a command with the same rate class that changes nothing and is answered with the notice.
func (c command) answerOnly(n Notice) command {
	return command{class: c.class, outcome: c.outcome, operation: answer{notice: n}}
}

// attempt runs the command once. It locks the group from the second attempt on, so that conflicts cannot repeat forever.
// Amendments lock it at once, and so do commands with players in a chat with a recent conflict.
func (s *Service) attempt(ctx context.Context, o Origin, c command, attempt int) error {
	_, asks := c.operation.(question)
	locked := !asks && (attempt > 1 || c.locks || c.needed > 0 && s.recentConflicts.happenedWithin(o.Chat.ID, time.Now(), conflictMemory))
	// For a retried command the store counts namesakes by stored names only, so the upserts must come first. A question
	// reads what the upserts change.
	snap, upserts, refusal, err := s.prepare(ctx, o, c, !locked && !o.Retried && !asks)
	switch {
	case err != nil:
		return err
	case refusal != nil:
		c.operation = answer{notice: refusal}
	case locked:
		return s.store.WithGroupLock(ctx, o.Chat.ID, func(ctx context.Context, store Store) error {
			return redecide(ctx, store, o, c)
		})
	}
	return decideAndApply(ctx, s.store, o, c, snap, upserts)
}

// redecide reads and decides again with the group locked.
func redecide(ctx context.Context, store Store, o Origin, c command) error {
	snap, err := store.Read(ctx, c.query(o))
	switch {
	case err != nil:
		return err
	case snap.Handled:
		return ErrHandled
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

// prepare reads what the command concerns, has it refused if necessary, stores what it shows (the chat, people, and players
// who turned out to be the same person), and reads again. None of that is an effect of the command. If the command is
// refused, prepare adds no players and returns the refusal. If deferUpserts is set and the resulting snapshot can be
// predicted, it returns the upserts, to be applied with the command. That saves a transaction and a read.
func (s *Service) prepare(ctx context.Context, o Origin, c command, deferUpserts bool) (
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
	if c.knownChatOnly && snap.ChatID == 0 {
		return snap, nil, nil, nil
	}
	if !o.Retried {
		if snap, err = s.identify(ctx, o.Chat, q, snap); err != nil {
			return snap, nil, nil, err
		}
	}
	q.People, snap.People = c.people, snap.People[:len(c.people)]
	if err := c.read(ctx, s.store, snap); err != nil {
		return snap, nil, nil, err
	}
	refusal, over := s.overLimit(o, c, snap)
	if over && refusal == nil {
		return snap, nil, nil, errUnanswered
	}
	q.RateEntry = RateEntry{} // the limit has been checked
	if refusal == nil {
		refusal = c.refuseOrForbid(ctx, snap)
	}
	if refusal != nil {
		c.needed = 0
	}
	chat := o.Chat
	upserts = playerUpserts(snap, q, c.needed, o.Retried)
	if o.Retried && snap.ChatID != 0 {
		chat = snap.Chat
	}
	if snap.ChatID != 0 && snap.Chat.equalExceptLanguage(chat) {
		if len(upserts) == 0 {
			return snap, nil, refusal, nil
		}
		if predicted, ok := predictSnapshot(snap, upserts); ok && deferUpserts {
			return predicted, upserts, refusal, nil
		}
	}
	if err := s.store.UpsertChatAndPlayers(ctx, chat, upserts); err != nil {
		return snap, nil, nil, err
	}
	if snap, err = s.store.Read(ctx, q); err != nil {
		return snap, nil, nil, err
	}
	if err := c.read(ctx, s.store, snap); err != nil { // nothing may be older than the standings in the snapshot
		return snap, nil, nil, err
	}
	return snap, nil, refusal, c.requireKnown(snap)
}

// identify makes sure that the usernames of a query refer to their current owners. It merges unclaimed players into known
// ones and stores changed usernames, and reads the query again after either.
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

// requireKnown returns ErrConflict unless all people that the command needs are known.
func (c command) requireKnown(snap Snapshot) error {
	for i, k := range snap.People[:c.needed] {
		if k.Player == nil {
			return fmt.Errorf("%w: person %d no longer exists", ErrConflict, i+1)
		}
	}
	return nil
}

// refuseOrForbid returns the refusal of the command, or nil.
func (c command) refuseOrForbid(ctx context.Context, snap Snapshot) Notice {
	if n := c.refuse(snap); n != nil {
		return n
	}
	return c.permit(ctx, snap)
}

// playerUpserts returns the changes needed to store what the command shows about its people. a retried command may
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

// duplicatePlayers are an unclaimed player and a known one who turned out to be the same person.
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
