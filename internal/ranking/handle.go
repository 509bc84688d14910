package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/sethvargo/go-retry"

	"elobot/internal/notice"
)

// handle is the way of every command: it reads what the command needs to know, decides, and writes. It starts over after a conflict or a
// lock timeout. If it returns ErrConflict, ErrLocked or ErrTimeout, the command itself is not at fault.
func (s *Service) handle(ctx context.Context, o Origin, j job) error {
	started := time.Now()
	o.Command = cmp.Or(o.Command, j.name)
	j.outcome, j.admin = cmp.Or(j.outcome, new(CommandOutcome)), s.adminStatus(ctx, o, j)
	err := s.retryOnConflict(ctx, o.Chat.ID, func(ctx context.Context, attempt int) error { return s.attempt(ctx, o, j, attempt) },
		"update_id", o.Update, "command", o.Command, "key", o.Key, "chat_id", o.Chat.ID)
	if !j.silent && s.shouldAskToRetry(ctx, o, err) {
		// Giving up is an outcome too: it writes the key, so that a redelivery cannot record a match that the user has reported again by
		// then.
		err = s.attempt(ctx, o, j.answerOnly(Refusal{Code: TooManyAtOnce}), 1)
	}
	if errors.Is(err, ErrInconsistent) {
		s.log.ErrorContext(ctx, "stored ratings are inconsistent, run `elobot verify` for details", "command", o.Command,
			"key", o.Key, "chat_id", o.Chat.ID, "error", err)
		err = s.attempt(ctx, o, j.answerOnly(Refusal{Code: Inconsistent}), 1)
	}
	return s.finish(ctx, o, j, err, started)
}

// finish logs the outcome of a command, and returns its error unless the command is done. A command that was handled before is done once
// that is durable: the attempt that handled it may not know its outcome.
func (s *Service) finish(ctx context.Context, o Origin, j job, err error, started time.Time) error {
	if errors.Is(err, ErrHandled) {
		if failure := s.store.EnsureDurable(ctx); failure != nil {
			err = failure
		}
	}
	s.logOutcome(ctx, o, j, err, started)
	if err != nil && !errors.Is(err, ErrHandled) && !errors.Is(err, errUnanswered) {
		return fmt.Errorf("%s: %w", j.name, err)
	}
	return nil
}

// attempt runs a command once: it reads what the command needs to know, decides, and writes. It locks the group for that from the second
// attempt on, so that conflicts cannot repeat forever. Amendments, changes of settings, answers to prompts and timers lock it at once. So
// do commands that may add players, in a chat in which another instance was faster recently. A question never locks it.
func (s *Service) attempt(ctx context.Context, o Origin, j job, attempt int) error {
	*j.outcome = "" // of the attempt before
	j.identified = o.Retried
	for { // each round settles something for the next ones, or ends a season
		if again, err := s.readDecideWrite(ctx, &o, &j, attempt); !again || err != nil {
			return err
		}
	}
}

// seasonOver means that the season of a ladder must end before the command takes effect, which is about a later time: it reports a match,
// changes when seasons end, ends one by hand, or moves a match there that was reported later.
type seasonOver struct {
	ladder Ladder
	at     time.Time
}

// Error implements error.
func (o seasonOver) Error() string {
	return fmt.Sprintf("season %d ends before %s", o.ladder.Season.ID, o.at)
}

// upsetOf means that the operation needs the LargestUpset of this month, which few results do: only upsets may be larger.
type upsetOf time.Time

// Error implements error.
func (m upsetOf) Error() string {
	return "the largest upset is needed of the month that began at " + time.Time(m).String()
}

// readDecideWrite does what attempt says. If what it reads says more about the command, or something has to be stored before, it notes or
// does that instead, and the command has to be read again.
func (s *Service) readDecideWrite(ctx context.Context, o *Origin, j *job, attempt int) (again bool, err error) {
	store, snap, release, err := s.read(ctx, *o, *j, attempt)
	defer release()
	switch {
	case err != nil:
		return false, err
	case snap.Handled:
		return false, ErrHandled
	case o.Words != "" || len(o.LaterWords) > 0:
		named, refusal := snap.named(o.Words, o.LaterWords, j.isReport())
		if named != nil {
			return false, named
		}
		o.Words, o.LaterWords = "", nil
		if refusal != nil {
			*j = j.answerOnly(refusal)
			return true, nil
		}
	}
	complete := *j
	if op, ok := j.operation.(resolving); ok {
		complete.operation, snap = op.in(snap)
	}
	if complete.lacksLadder(*o, snap) {
		*j, o.Ladder = j.answerOnly(Refusal{Code: UnknownButton}), 0
		return true, nil
	}
	switch ladder, season, err := about(ctx, store, *o, complete, snap); {
	case err != nil:
		return false, err
	case ladder != o.Ladder || season != o.Season:
		o.Ladder, o.Season = ladder, season
		return true, nil
	case j.mayMeanOthers(snap):
		j.everybody = true
		return true, nil
	case !j.identified && isUnidentified(snap):
		release()
		j.identified = true
		return true, s.identify(ctx, *o, complete, snap)
	}
	snap.Admin = j.admin
	d, err := s.decide(ctx, store, *o, complete, snap)
	if over := (seasonOver{}); errors.As(err, &over) {
		release()
		return true, s.endSeason(ctx, *o, over.ladder, over.at)
	}
	if err != nil {
		return false, err
	}
	return false, store.Apply(ctx, complete.changes(*o, snap, d))
}

// read reads what a command needs to know, and locks the group before if this attempt does. release ends the lock.
func (s *Service) read(ctx context.Context, o Origin, j job, attempt int) (store writer, snap Snapshot, release func(), err error) {
	q, release := j.query(o), func() {}
	_, asks := j.operation.(question)
	if _, ok := j.operation.(named); ok {
		asks = !j.isReport()
	}
	contended := q.New > 0 && s.contended.Has(o.Chat.ID)
	if asks || !j.locks && attempt == 1 && !contended {
		snap, err = s.store.Read(ctx, q)
		return s.store, snap, release, err
	}
	if contended { // as long as commands follow each other, none of them need fail to find out that it is still so
		s.contended.Add(o.Chat.ID, contentionMemory)
	}
	locked, snap, err := s.store.Lock(ctx, q)
	if err == nil {
		release = func() { locked.Release(ctx) }
	}
	return locked, snap, release, err
}

// decide returns what the command does: nothing but a refusal if the sender is over a limit, if nobody can do it, or if the sender has no
// permission.
func (s *Service) decide(ctx context.Context, store writer, o Origin, j job, snap Snapshot) (Decision, error) {
	if j.ignoresChat(snap) {
		return j.operation.decide(snap)
	}
	if at := j.reportedAt(snap); o.Season == 0 && snap.Ladder.Season.endsBefore(at) {
		return Decision{}, seasonOver{snap.Ladder, at}
	}
	switch refusal, over := s.overLimit(o, j, snap); {
	case over && (refusal == nil || j.silent):
		return Decision{}, errUnanswered
	case over:
		return Decision{Notice: refusal}, nil
	}
	if refusal := j.refuse(snap); refusal != nil {
		return Decision{Notice: refusal}, nil
	}
	if refusal := j.permission(snap).refusal(o, snap); refusal != nil {
		return Decision{Notice: refusal}, nil
	}
	var err error
	switch op := j.operation.(type) {
	case replaying:
		if m := op.replays(snap); m != nil {
			if op, ok := j.operation.(moving); ok && op.into().Season.endsBefore(m.PlayedAt) {
				return Decision{}, seasonOver{*op.into(), m.PlayedAt}
			}
			snap.History, err = store.MatchHistory(ctx, m.Season, m.Number)
			snap.History.Over = snap.Over
			if op, ok := j.operation.(moving); ok && err == nil {
				if snap.IntoSeason, err = seasonAt(ctx, store, *op.into(), m.PlayedAt); err == nil {
					snap.Into, err = store.MatchHistory(ctx, snap.IntoSeason, m.Number, m.players()...)
				}
			}
		}
	case question:
		snap.Answer, err = op.ask(ctx, snap)
	}
	if err != nil {
		return Decision{}, err
	}
	d, err := j.operation.decide(snap)
	if month := (upsetOf{}); errors.As(err, &month) {
		snap.UpsetMonth = time.Time(month)
		if snap.LargestUpset, err = store.LargestUpset(ctx, snap.Ladder.ID, snap.UpsetMonth); err != nil {
			return Decision{}, err
		}
		return j.operation.decide(snap)
	}
	return d, err
}

// ignoresChat is true if the command changes nothing because the chat is unknown. Then only its key is stored.
func (j job) ignoresChat(snap Snapshot) bool { return j.knownChatOnly && snap.ChatID == 0 }

// changes returns what to write: the decision of a command, and what every command has.
func (j job) changes(o Origin, snap Snapshot, d Decision) Changes {
	adds := !d.Unadded && !isRefusal(d.said())
	d.PageMessageID = cmp.Or(d.PageMessageID, o.Pressed)
	changes := Changes{
		Decision: d, Seen: j.seen(o, snap, adds), Key: o.Key, Trigger: o.trigger(), Chat: snap.ChatID, RateEntry: j.rateEntry(o, d.Notice),
		Extra: j.extra, ConsumesTimer: o.Trigger == ByTimer, Keyless: j.keyless,
		Addressee: j.sender(o, snap, adds), Language: o.Chat.Language, Private: !o.Chat.IsGroup(),
	}
	changes.Seen.People = slices.DeleteFunc(changes.Seen.People, func(p PlayerChange) bool { return p.New && !d.adds(p.Player.ID) })
	if _, records := d.Effect.(NewMatches); records && changes.RateEntry.Bucket == RateQuestion { // an edit that reports more than before
		changes.RateEntry.Bucket = RateResult
	}
	switch {
	case !o.Retried:
		changes.SentAt = o.SentAt
	case d.Presence == ChatSeen: // a retried command may be old
		changes.Presence = NoChange
	}
	if snap.isOver(snap.Season) && d.Effect != nil {
		changes.Corrected = append(changes.Corrected, snap.Season)
	}
	if m, ok := d.Effect.(*MovedMatch); ok && snap.isOver(m.To) {
		changes.Corrected = append(changes.Corrected, m.To)
	}
	isShown := d.Effect != nil || d.Presence == BotInactive || changes.Seen.Chat != nil || len(changes.Seen.People) > 0
	if snap.Web && isShown {
		changes.ShownOnWeb = snap.Group
	}
	if len(snap.Ladders) > 1 {
		changes.Ladder = cmp.Or(d.Ladder, snap.Ladder.label())
	}
	moved := snap.Chat.ID != o.Chat.ID // the chat has a new id, and its message ids have started over
	if !moved {
		changes.ReplyTo, changes.Thread = o.ReplyTo, o.Thread
	}
	if o.Button != "" {
		changes.Button = o.Button
		changes.Keyless = isTooManyPresses(d.Notice) // so that rate-limited presses store no keys
		switch {
		case d.CallbackAnswer != nil:
		case d.Page != nil, d.Notice == nil:
			changes.CallbackAnswer = Acknowledged{}
		default:
			changes.CallbackAnswer = d.Notice
			if d.Effect == nil { // nothing has changed, so the chat need not be notified
				changes.Notice = nil
			}
		}
	}
	if d.Page != nil && moved {
		if d.Notice == nil && notice.KindOf(d.Page).Purpose != notice.Answer {
			changes.Notice = d.Page
		}
		changes.Page = nil
	}
	changes.Outcome = j.outcomeOf(changes)
	if changes.Outcome != OutcomeRefused { // after a refusal, the next edit is handled too
		changes.Message = o.Message
	}
	*j.outcome = changes.Outcome
	return changes
}

// seen returns what the command shows about its chat and its people that is not stored yet. A retried command may show an outdated state,
// so it only adds who or what is missing. Only if adds is true, new people become players.
func (j job) seen(o Origin, snap Snapshot, adds bool) Seen {
	if o.Trigger == ByTimer || j.ignoresChat(snap) {
		return Seen{}
	}
	seen := Seen{Group: snap.Group, Ladder: snap.Ladder, NewChat: snap.NewChat, NewGroup: snap.NewGroup}
	if seen.NewChat || seen.NewGroup || !o.Retried && !snap.Chat.equalExceptLanguage(o.Chat) {
		seen.Chat = &o.Chat
	}
	people := slices.Concat(j.needs().People, o.VisibleUsers)
	for i, k := range slices.Concat(snap.People, snap.Shown) {
		change, ok := k.profileChange(o, people[i])
		isSame := func(other PlayerChange) bool { return other.Player.ID == change.Player.ID }
		if ok && (adds || !change.New) && !slices.ContainsFunc(seen.People, isSame) { // somebody may be shown twice
			seen.People = append(seen.People, change)
		}
	}
	return seen
}

// said returns the notice that says most about a decision, nil if it says nothing.
func (d Decision) said() Notice {
	for _, n := range []Notice{d.Notice, d.Page, d.CallbackAnswer} {
		if n != nil {
			return n
		}
	}
	return nil
}

// sender returns the name of the command's sender, zero for an anonymous admin.
func (j job) sender(o Origin, snap Snapshot, adds bool) Name {
	if o.Sender == nil {
		return Name{}
	}
	for i, p := range j.needs().People {
		if k := snap.People[i]; p.ID == o.Sender.ID && k.Player != nil && (adds || !k.New) {
			return k.Player.name()
		}
	}
	return Name{Name: o.Sender.Name}
}

// isUnidentified is true if somebody turns out to be an unclaimed player.
func isUnidentified(snap Snapshot) bool {
	return slices.ContainsFunc(slices.Concat(snap.People, snap.Shown), func(k Known) bool { return k.claimant() != nil || k.Claimed })
}

// identify makes sure that everybody has one player. It merges unclaimed players into the accounts of the same people, and stores who
// claims one. Neither is an effect of the command. One broken ladder must not lock anybody out of the others.
func (s *Service) identify(ctx context.Context, o Origin, j job, snap Snapshot) error {
	claims := false
	for _, k := range slices.Concat(snap.People, snap.Shown) {
		claims = claims || k.Claimed
		account := k.claimant()
		if account == nil {
			continue
		}
		err := s.merge(ctx, *k.Unclaimed, *account)
		if errors.Is(err, ErrInconsistent) {
			s.log.ErrorContext(ctx, "failed to merge two players, run `elobot verify` for details", "error", err)
		} else if err != nil {
			return err
		}
	}
	if !claims {
		return nil
	}
	return s.store.Apply(ctx, Changes{Decision: Decision{Presence: NoChange}, Seen: j.seen(o, snap, false), Keyless: true, Chat: snap.ChatID})
}

// job is a command or an event, with the way in which the service handles it.
type job struct {
	operation
	name string
	// bucket is how the command counts, empty if no person sent it.
	bucket RateBucket
	// extra says how each match after the first one counts, and extraResults how many there are, if the command answers a question about
	// several: the question counts as one result of whoever reported them, and the press as a press.
	extra        RateEntry
	extraResults int
	// isAdmin is true if the sender is an admin, nil if the operation need not know. It is called once, before the first read, even if the
	// answer turns out not to matter; admin is the answer.
	isAdmin func(context.Context) (bool, error)
	admin   AdminStatus
	// everybody is true if the operation needs Everybody after all.
	everybody bool
	// identified is true if the people of the command are not to be merged or claimed any more.
	identified bool
	// ofGroup is true if the operation is about the group, whatever ladder applies.
	ofGroup bool
	// locks is true if the operation decides with the group locked from the first attempt on.
	locks bool
	// knownChatOnly is true if the command does nothing in an unknown chat and does not create the chat.
	knownChatOnly bool
	// keyless is true if the key is not stored: what the command finds says whether there is anything to do.
	keyless bool
	// silent is true if nobody waits for the outcome. A failure is then not answered, nor is a command over a limit; the caller retries.
	silent bool
	// unlogged is true for events, whose outcomes are not logged.
	unlogged bool
	// outcome is set once the changes are decided. It is a pointer because jobs are passed by value.
	outcome *CommandOutcome
}

// isReport reports whether the operation may record what a message reports.
func (j job) isReport() bool {
	n, ok := j.operation.(named)
	return ok && n.mayNeed.Result != nil
}

// answerOnly returns a job of the same bucket that changes nothing and is answered with the notice.
func (j job) answerOnly(n Notice) job {
	return job{bucket: j.bucket, outcome: j.outcome, identified: j.identified, operation: answer{notice: n}}
}

// query returns what to read for the command.
func (j job) query(o Origin) Query {
	q := Query{
		Needs: j.needs(), Key: o.Key, Message: o.Message, Chat: o.Chat, Sender: o.Sender, Shown: o.VisibleUsers, KnownChat: j.knownChatOnly,
		Ladder: o.Ladder, Season: o.Season, Thread: o.Thread, Replied: o.Replied, RateEntry: j.rateEntry(o, nil), Extra: j.extra,
	}
	q.Everybody = q.Everybody || j.everybody
	if !o.Retried {
		q.SentAt = o.SentAt
	}
	return q
}

// mayMeanOthers reports whether somebody whom the command names is unknown, and it was read without
// those who may be meant.
func (j job) mayMeanOthers(snap Snapshot) bool {
	n := j.needs()
	if j.everybody || n.Everybody || !n.Near {
		return false
	}
	for i, k := range snap.People {
		if n.People[i].ID == 0 && !k.isPlayer() {
			return true
		}
	}
	return false
}

const (
	// A conflicting command is retried up to maxRetries times, after 100, 200 and 400 ms.
	maxRetries   = 3
	firstBackoff = 100 * time.Millisecond
	// lockRetryDelay is the wait before a command retries after ErrLocked.
	lockRetryDelay = 100 * time.Millisecond
	// defaultTimeout bounds a command whose context has no deadline.
	defaultTimeout = 10 * time.Second
	// defaultReplay is how many later matches an amendment may replay. On two cores that others use too, a replay of so many that rewrites
	// half of them takes less than a quarter of the time of an attempt, so it fits on a machine that is several times slower.
	defaultReplay = 10_000
	// contentionMemory is how long it is remembered that another instance was faster in a chat.
	contentionMemory = time.Second
	// timeoutMemory is how long the timeout of a command is remembered.
	timeoutMemory = 10 * time.Minute
	// maxRemembered is how many chats and commands are remembered so.
	maxRemembered = 1000
)

// retryOnConflict calls try until it does not conflict with another transaction, up to maxRetries+1 times. It retries ErrLocked for as long
// as there is time. It leaves a quarter of the context's time for a refusal if all attempts fail. logAttrs are added to its log messages.
func (s *Service) retryOnConflict(ctx context.Context, chat ExternalChatID, try func(ctx context.Context, attempt int) error,
	logAttrs ...any,
) error {
	left := defaultTimeout
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	ctx, cancel := context.WithTimeout(ctx, left*3/4)
	defer cancel()
	attempt := 0
	var conflict error // the error of the last attempt, if it was a conflict
	backoff := retry.WithMaxRetries(maxRetries, retry.NewExponential(firstBackoff))
	err := retry.Do(ctx, backoff, func(ctx context.Context) error {
		attempt++
		conflict = nil
		err := s.retryWhileLocked(ctx, func() error { return try(ctx, attempt) }, logAttrs...)
		if !errors.Is(err, ErrConflict) {
			return err
		}
		s.contended.Add(chat, contentionMemory)
		s.log.WarnContext(ctx, "conflict with another transaction",
			slices.Concat(logAttrs, []any{"attempt", attempt, "error", err})...)
		conflict = err
		return retry.RetryableError(err)
	})
	if conflict != nil { // not the deadline, which may have passed during the backoff
		return conflict
	}
	return err
}

// retryWhileLocked retries while try fails with ErrLocked, as long as there is time for another attempt like the last.
func (s *Service) retryWhileLocked(ctx context.Context, try func() error, logAttrs ...any) error {
	deadline, _ := ctx.Deadline()
	for attempt := 1; ; attempt++ {
		started := time.Now()
		err := try()
		if !errors.Is(err, ErrLocked) {
			return err
		}
		s.log.WarnContext(ctx, "lock held by another session",
			slices.Concat(logAttrs, []any{"attempt", attempt, "error", err})...)
		if time.Until(deadline) < lockRetryDelay+time.Since(started) {
			return err
		}
		select {
		case <-time.After(lockRetryDelay):
		case <-ctx.Done():
			return err
		}
	}
}

// shouldAskToRetry is true if to answer a failed command by asking its sender to try again. After ErrTimeout it does so only if the command
// timed out before and the store responds. The first timeout may only mean that the database stalled, and each command gets one full
// attempt against a working database.
func (s *Service) shouldAskToRetry(ctx context.Context, o Origin, err error) bool {
	switch {
	case ctx.Err() != nil:
		return false
	case errors.Is(err, ErrConflict), errors.Is(err, ErrLocked):
		return true
	case !errors.Is(err, ErrTimeout):
		return false
	}
	if _, err := s.store.Read(ctx, Query{Key: o.Key, Chat: o.Chat, KnownChat: true}); err != nil {
		return false
	}
	timedOutBefore := s.timedOut.Has(o.Key)
	s.timedOut.Add(o.Key, timeoutMemory)
	return timedOutBefore
}

// CommandOutcome is the outcome of a command. It is logged, and stored with the command's key, except for those that store no key.
type CommandOutcome string

// The outcomes. A failed command has none, because it is retried.
const (
	OutcomeRecorded       CommandOutcome = "recorded"
	OutcomeUndone         CommandOutcome = "undone"
	OutcomeRestored       CommandOutcome = "restored"
	OutcomeFixed          CommandOutcome = "fixed"
	OutcomeJoined         CommandOutcome = "joined"
	OutcomeSettingChanged CommandOutcome = "setting_changed"
	OutcomeAsked          CommandOutcome = "asked" // a prompt asks for a part of a result, or whether to record it
	OutcomeAnswered       CommandOutcome = "answered"
	OutcomeRefused        CommandOutcome = "refused"
	OutcomeUnanswered     CommandOutcome = "unanswered"  // over the rate limit, or no answer was needed
	OutcomeDuplicate      CommandOutcome = "duplicate"   // already handled
	OutcomeDeadLetter     CommandOutcome = "dead_letter" // failed for good
)

// LogOutcome logs the end of a command.
func (o Origin) LogOutcome(ctx context.Context, log *slog.Logger, outcome CommandOutcome, took time.Duration) {
	log.LogAttrs(ctx, slog.LevelInfo, "command handled", slog.Int64("update_id", o.Update), slog.String("key", o.Key),
		slog.Int64("chat_id", int64(o.Chat.ID)), slog.String("command", o.Command), slog.String("outcome", string(outcome)),
		slog.Int64("duration_ms", took.Milliseconds()))
}

// logOutcome logs the outcome of a command. It logs nothing for silent and failed commands, nor for retried ones: the operator who retries
// it sees the outcome.
func (s *Service) logOutcome(ctx context.Context, o Origin, j job, err error, started time.Time) {
	outcome := *j.outcome
	switch {
	case j.unlogged, o.Retried:
		return
	case (o.Trigger == ByEdit || o.Trigger == ByTimer) && (errors.Is(err, ErrHandled) || errors.Is(err, errUnanswered)): // most edits change nothing
		return
	case errors.Is(err, ErrHandled):
		outcome = OutcomeDuplicate
	case errors.Is(err, errUnanswered):
		outcome = OutcomeUnanswered
	case err != nil, outcome == "":
		return
	}
	o.LogOutcome(ctx, s.log, outcome, time.Since(started))
}

// outcomeOf returns the outcome of the command if it makes the changes.
func (j job) outcomeOf(changes Changes) CommandOutcome {
	notice := changes.said()
	_, malformed := j.operation.(malformedResult)
	switch {
	case isRefusal(notice), malformed:
		return OutcomeRefused
	case changes.Effect != nil && changes.Effect.outcome() != "":
		return changes.Effect.outcome()
	case changes.Asks != nil && (changes.Asks.Report != nil || changes.Asks.Wizard != nil):
		return OutcomeAsked
	case notice == nil:
		return OutcomeUnanswered
	default:
		return OutcomeAnswered
	}
}

// isRefusal is true if a notice says why a command did nothing.
func isRefusal(n Notice) bool { return n != nil && notice.KindOf(n).Refuses }
