package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// handle runs one command: it reads what the command needs to know, decides, and writes. It starts
// over after a conflict or a lock timeout. If it returns ErrConflict, ErrLocked or ErrTimeout, the
// command itself is not at fault.
func (s *Service) handle(ctx context.Context, o Origin, j job) error {
	_, err := s.run(ctx, o, j)
	return err
}

// run does what handle does, and returns the outcome.
func (s *Service) run(ctx context.Context, o Origin, j job) (outcome CommandOutcome, err error) {
	started := time.Now()
	o.Command = cmp.Or(o.Command, j.name)
	j.admin = s.adminStatus(ctx, o, j)
	err = s.retryOnConflict(ctx, o.Chat.ID, func(ctx context.Context, attempt int) (err error) {
		outcome, err = s.attempt(ctx, o, j, attempt)
		return err
	}, "update_id", o.Update, "command", o.Command, "key", o.Key, "chat_id", o.Chat.ID)
	if !j.silent && s.shouldAskToRetry(ctx, o, err) {
		// Giving up is an outcome too: it writes the key, so that a redelivery cannot record a
		// match that the user has reported again by then.
		outcome, err = s.attempt(ctx, o, j.answerOnly(Refusal{Code: TooManyAtOnce}), 1)
	}
	if errors.Is(err, ladder.ErrInconsistent) {
		s.log.ErrorContext(ctx, "stored ratings are inconsistent, run `elobot verify` for details", "command", o.Command,
			"key", o.Key, "chat_id", o.Chat.ID, "error", err)
		outcome, err = s.attempt(ctx, o, j.answerOnly(Refusal{Code: Inconsistent}), 1)
	}
	return s.finish(ctx, o, j, outcome, err, started)
}

// finish logs the outcome of a command, and returns its error unless the command is done. A command
// that was handled before is done once that is durable: the attempt that handled it may not know
// its outcome.
func (s *Service) finish(
	ctx context.Context, o Origin, j job, outcome CommandOutcome, err error, started time.Time,
) (CommandOutcome, error) {
	if errors.Is(err, ErrHandled) {
		outcome, err = OutcomeDuplicate, s.store.EnsureDurable(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", j.name, err)
	}
	s.logOutcome(ctx, o, j, outcome, started)
	return outcome, nil
}

// call is a command with what the rounds of an attempt have settled so far.
type call struct {
	Origin
	job
	named      bool            // whether the command names a ladder is known
	ladder     ladder.ID       // to read, 0 for the default one
	season     ladder.SeasonID // of that ladder to read, 0 for the current one
	everybody  bool            // the operation needs Everybody after all
	identified bool            // the people of the command are not to be merged or claimed any more
}

// attempt runs a command once. Each round reads, decides and writes, or settles something for the
// next one. An attempt locks the group for that from the second one on, so that conflicts cannot
// repeat forever. Amendments, changes of settings, answers to prompts and timers lock it at once.
// So do commands that may add players, in a chat in which another instance was faster recently. A
// question never locks it.
func (s *Service) attempt(ctx context.Context, o Origin, j job, attempt int) (CommandOutcome, error) {
	c := call{Origin: o, job: j, ladder: o.Ladder, identified: o.Retried}
	var met metNeeds
	for {
		outcome, lacks, err := s.round(ctx, c, attempt)
		if err == nil && lacks != nil {
			err = met.add(lacks)
		}
		if err != nil || lacks == nil {
			return outcome, err
		}
		c.named = true // or it is not
		if c, err = s.meet(ctx, c, lacks); err != nil {
			return "", err
		}
	}
}

// round reads what a command needs to know, decides, and writes. If the decision lacks something
// that cannot be read beside, round returns that instead.
func (s *Service) round(ctx context.Context, c call, attempt int) (CommandOutcome, need, error) {
	store, snap, release, err := s.read(ctx, c, attempt)
	defer release()
	switch {
	case err != nil:
		return "", nil, err
	case snap.Handled:
		return "", nil, ErrHandled
	}
	if !c.named && (c.Words != "" || len(c.LaterWords) > 0) {
		isRead := c.reports && c.read != nil // a report without plain names is not asked about a ladder
		named, refusal := snap.named(c.Words, c.LaterWords, isRead)
		if named != nil {
			return "", nil, named
		}
		if refusal != nil {
			return "", onlyAnswer{refusal}, nil
		}
	}
	c.job, snap = c.complete(snap)
	d, lacks, err := s.decide(ctx, store, c, snap)
	if err != nil || lacks != nil {
		return "", lacks, err
	}
	if d.dropped {
		return outcomeDropped, nil, nil
	}
	changes := c.changes(c.Origin, snap, d)
	return changes.Outcome, nil, store.Apply(ctx, changes)
}

// read reads what a command needs to know, and locks the group before if this attempt does. release
// ends the lock.
func (s *Service) read(
	ctx context.Context, c call, attempt int,
) (store writer, snap Snapshot, release func(), err error) {
	q, release := c.query(), func() {}
	contended := q.New > 0 && s.contended.Has(c.Chat.ID)
	if c.asks || !c.locks && attempt == 1 && !contended {
		snap, err = s.store.Read(ctx, q)
		return s.store, snap, release, err
	}
	if contended { // as long as commands follow each other, none of them need fail to find out
		s.contended.Add(c.Chat.ID, contentionMemory)
	}
	locked, snap, err := s.store.Lock(ctx, q)
	if err == nil {
		release = func() { locked.Release(ctx) }
	}
	return locked, snap, release, err
}

// decide returns what the command does: nothing but a refusal if the sender is over a limit, if
// nobody can do it, or if the sender has no permission.
func (s *Service) decide(ctx context.Context, store writer, c call, snap Snapshot) (Decision, need, error) {
	of := c.operation.about(snap)
	switch lacks, err := c.where(ctx, store, snap, of); {
	case err != nil || lacks != nil:
		return Decision{}, lacks, err
	case c.mayMeanOthers(snap):
		return Decision{}, wholeGroup{}, nil
	case !c.identified && isUnidentified(snap):
		return Decision{}, identities{c.job, snap}, nil
	}
	snap.Admin = c.admin
	if c.ignoresChat(snap) {
		return c.operation.decide(snap)
	}
	if c.season == 0 && snap.Ladder.Season.endsBefore(of.reportedAt) {
		return Decision{}, seasonEnd{snap.Ladder, of.reportedAt}, nil
	}
	switch refusal, over := s.overLimit(c.Origin, c.job, snap); {
	case over && (refusal == nil || c.silent):
		return Decision{dropped: true}, nil, nil
	case over:
		return Decision{Notice: refusal}, nil, nil
	}
	if refusal := c.operation.refuse(snap); refusal != nil {
		return Decision{Notice: refusal}, nil, nil
	}
	if refusal := c.operation.permission(snap).refusal(c.Origin, snap); refusal != nil {
		return Decision{Notice: refusal}, nil, nil
	}
	var met metNeeds
	for {
		d, lacks, err := c.operation.decide(snap)
		if err != nil || lacks == nil || !isBeside(lacks) {
			return d, lacks, err
		}
		if err := met.add(lacks); err != nil {
			return d, nil, err
		}
		if snap, err = s.beside(ctx, store, snap, lacks); err != nil {
			return d, nil, err
		}
	}
}

// ignoresChat reports whether the command changes nothing because the chat is unknown. Then only
// its key is stored.
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
	return changes
}

// seen returns what the command shows about its chat and its people that is not stored yet. A
// retried command may show an outdated state, so it only adds who or what is missing. Only if adds
// is true, new people become players.
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

// isUnidentified reports whether somebody turns out to be an unclaimed player.
func isUnidentified(snap Snapshot) bool {
	return slices.ContainsFunc(slices.Concat(snap.People, snap.Shown), func(k Known) bool { return k.claimant() != nil || k.Claimed })
}

// identify makes sure that everybody has one player. It merges unclaimed players into the accounts
// of the same people, and stores who claims one. Neither is an effect of the command. One broken
// ladder must not lock anybody out of the others.
func (s *Service) identify(ctx context.Context, o Origin, j job, snap Snapshot) error {
	claims := false
	for _, k := range slices.Concat(snap.People, snap.Shown) {
		claims = claims || k.Claimed
		account := k.claimant()
		if account == nil {
			continue
		}
		err := s.merge(ctx, *k.Unclaimed, *account)
		if errors.Is(err, ladder.ErrInconsistent) {
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
	// read finds the operation in a message that may mean people by plain names, once it is known
	// who is in the group; nil for all other commands. mayNeed is what the operation may need then.
	read    func(everybody []command.Person) operation
	mayNeed Needs

	name string
	// bucket is how the command counts, empty if no person sent it.
	bucket RateBucket
	// extra says how each match after the first one counts, and extraResults how many there are, if
	// the command answers a question about several: the question counts as one result of whoever
	// reported them, and the press as a press.
	extra        RateEntry
	extraResults int
	// isAdmin asks whether the sender is an admin, nil if the operation need not know. It is called
	// once, before the first read, even if the answer turns out not to matter; admin is the answer.
	isAdmin func(context.Context) (bool, error)
	admin   AdminStatus

	reports       bool // the operation may record what a message reports
	asks          bool // the operation only reads: the group is never locked for it
	ofGroup       bool // the operation is about the group, whatever ladder applies
	locks         bool // the operation decides with the group locked from the first attempt on
	knownChatOnly bool // the command does nothing in an unknown chat and does not create the chat
	keyless       bool // the key is not stored: what the command finds says whether there is anything to do
	// silent says that nobody waits for the outcome. A failure is then not answered, nor is a
	// command over a limit; the caller retries.
	silent   bool
	unlogged bool // it is an event, whose outcome is not logged
}

// answerOnly returns a job of the same bucket that changes nothing and is answered with the notice.
func (j job) answerOnly(n Notice) job { return job{bucket: j.bucket, operation: answer{notice: n}} }

// complete returns the job with its operation, and the snapshot with the people of that.
func (j job) complete(snap Snapshot) (job, Snapshot) {
	if j.read == nil {
		return j, snap
	}
	j.operation = j.read(snap.everybody())
	needs := j.operation.needs()
	known := make([]Known, len(needs.People))
	for i, p := range needs.People {
		known[i] = j.known(snap, p)
		if known[i].New && i >= needs.New {
			known[i].Player, known[i].New = nil, false
		}
	}
	j.read, snap.People = nil, known
	return j, snap
}

// known returns what is known of a person. The operation may be about the sender, those that the
// message mentions or shows, and those who are in the group.
func (j job) known(snap Snapshot, p command.Person) Known {
	if p.Player != 0 {
		return snap.Everybody[slices.IndexFunc(snap.Everybody, func(k Known) bool { return k.Player.ID == p.Player })]
	}
	return snap.People[slices.IndexFunc(j.mayNeed.People, p.IsSame)]
}

// needs returns what the operation looks at, or may look at.
func (j job) needs() Needs {
	if j.read != nil {
		return j.mayNeed
	}
	return j.operation.needs()
}

// query returns what to read for the command.
func (c call) query() Query {
	q := Query{
		Needs: c.needs(), Key: c.Key, Message: c.Message, Chat: c.Chat, Sender: c.Sender, Shown: c.VisibleUsers,
		KnownChat: c.knownChatOnly, Ladder: c.ladder, Season: c.season, Thread: c.Thread, Replied: c.Replied,
		RateEntry: c.rateEntry(c.Origin, nil), Extra: c.extra,
	}
	q.Everybody = q.Everybody || c.everybody
	if !c.Retried {
		q.SentAt = c.SentAt
	}
	return q
}

// mayMeanOthers reports whether somebody whom the command names is unknown, and it was read without
// those who may be meant.
func (c call) mayMeanOthers(snap Snapshot) bool {
	n := c.needs()
	if c.everybody || n.Everybody || !n.Near || c.mayNeed.Everybody {
		return false
	}
	for i, k := range snap.People {
		if n.People[i].ID == 0 && !k.isPlayer() {
			return true
		}
	}
	return false
}
