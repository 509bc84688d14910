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

// run runs one command: it reads what the command needs to know, decides, and writes. It starts
// over after a conflict or a lock timeout, within the limits of retryOnConflict. If it returns
// ErrConflict, ErrLocked or ErrTimeout, the command itself is not at fault.
func (s *Service) run(ctx context.Context, c *call) error {
	started := time.Now()
	c.Command = cmp.Or(c.Command, c.name)
	c.admin = s.adminStatus(ctx, c)
	planned, outcome := c, CommandOutcome("") // as of the last attempt
	err := s.retryOnConflict(ctx, c.Chat.ID, func(ctx context.Context, attempt int) (err error) {
		planned, outcome, err = s.attempt(ctx, c, attempt)
		c.admin = planned.admin
		return err
	}, "update_id", c.Update, "command", c.Command, "key", c.Key, "chat_id", c.Chat.ID)
	if !planned.silent && s.shouldAskToRetry(ctx, c.Origin, err) {
		// The refusal stores the key, so that a redelivery cannot record a match that the sender
		// has reported again in the meantime.
		_, outcome, err = s.attempt(ctx, planned.onlySaying(Refusal{Code: TooManyAtOnce}), 1)
	}
	if errors.Is(err, ladder.ErrInconsistent) {
		s.log.ErrorContext(ctx, "stored ratings are inconsistent, run `elobot verify` for details", "command", c.Command,
			"key", c.Key, "chat_id", c.Chat.ID, "error", err)
		_, outcome, err = s.attempt(ctx, planned.onlySaying(Refusal{Code: Inconsistent}), 1)
	}
	// The command, or the message that it edits, was handled before. The commit may have been
	// interrupted, so make sure that it is durable.
	if errors.Is(err, ErrHandled) {
		outcome, err = OutcomeDuplicate, s.store.EnsureDurable(ctx)
		if err == nil && c.edits {
			c.edit, c.Message = c.Message, ""
			return s.run(ctx, c.wants.plan(s, c))
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", planned.name, err)
	}
	s.logOutcome(ctx, c, outcome, started)
	return nil
}

// call is a command in progress: what the caller passed, the job to do, and what the rounds of an
// attempt have settled so far.
type call struct {
	Origin
	wants Operation // the operation passed to Do, nil for events and timers
	job
	admin AdminStatus

	isNamed    bool            // it is settled whether the command names a ladder
	missing    *MissingLadder  // the ladder that the command names but the group lacks, nil for none
	found      *foundPrompt    // the prompt that the command answers, nil until the prompt was looked for
	importing  importing       // what the rounds of an import have found out
	day        *OtherDay       // the day of the reported matches, nil until it is settled
	edit       string          // the key of the edited message, if that message was handled before
	ladder     ladder.ID       // the ladder to read, 0 for the default
	season     ladder.SeasonID // the season of that ladder to read, 0 for the current one
	wholeGroup bool            // the operation turned out to need Everybody
	identified bool            // merging and claiming players has been tried, or the command is retried
}

func (c *call) with(j job) *call {
	c.job = j
	return c
}

// attempt runs a command once, in rounds. If a round ends with a need, attempt meets the need and
// starts another round. It returns the call as last planned.
//
// A job with asks set never locks the group. All other jobs lock it from the second attempt on, so
// that conflicts cannot repeat forever. They lock it on the first attempt if locks is set, or if
// the command may add players and a command in the chat recently had a conflict.
func (s *Service) attempt(ctx context.Context, c *call, attempt int) (*call, CommandOutcome, error) {
	c = new(*c) // the next attempt starts from the same state
	c.ladder, c.identified = c.Ladder, c.Retried
	var met metNeeds
	for {
		outcome, lacks, err := s.round(ctx, *c, attempt)
		if err == nil && lacks != nil {
			err = met.add(lacks)
		}
		if err != nil || lacks == nil {
			return c, outcome, err
		}
		if err := s.meet(ctx, c, lacks); err != nil {
			return c, "", err
		}
	}
}

// round makes one pass: read, decide, write. If the decision needs another snapshot or another plan
// first, round returns that need and writes nothing.
func (s *Service) round(ctx context.Context, c call, attempt int) (CommandOutcome, need, error) {
	store, snap, release, err := s.read(ctx, &c, attempt)
	defer release()
	switch {
	case err != nil:
		return "", nil, err
	case snap.Handled:
		return "", nil, ErrHandled
	}
	if !c.isNamed {
		if lacks := c.namedLadder(snap); lacks != nil {
			return "", lacks, nil
		}
	}
	c.job.complete(snap)
	d, lacks, err := s.decide(ctx, store, &c, snap)
	if err != nil || lacks != nil {
		return "", lacks, err
	}
	switch {
	case d.ignored:
		return "", nil, nil
	case d.dropped:
		return outcomeDropped, nil, nil
	}
	changes := c.changes(snap, d)
	switch refusal, lacks, err := c.overAdded(ctx, store, snap, changes); {
	case err != nil || lacks != nil:
		return "", lacks, err
	case refusal != nil:
		changes = c.changes(snap, Decision{Notice: refusal})
	}
	if c.staged {
		return changes.Outcome, nil, s.applyStaged(ctx, store.(Locked), c.query(), snap, changes)
	}
	return changes.Outcome, nil, store.Apply(ctx, changes)
}

// read reads what a command needs to know. If the group must be locked, read locks it first, and
// release unlocks it. The changes must be written to store.
func (s *Service) read(
	ctx context.Context, c *call, attempt int,
) (store writer, snap *Snapshot, release func(), err error) {
	q := c.query()
	contended := q.New > 0 && s.contended.Has(c.Chat.ID)
	if c.asks || !c.locks && attempt == 1 && !contended {
		snap, err = s.store.Read(ctx, q)
		return s.store, snap, func() {}, err
	}
	// Renew the memory of the contention. If it expired in a busy chat, commands would not lock the
	// group on the first attempt until another of them has a conflict.
	if contended {
		s.contended.Add(c.Chat.ID, contentionMemory)
	}
	locked, snap, err := s.store.Lock(ctx, q)
	if err != nil {
		return nil, nil, func() {}, err
	}
	return locked, snap, func() { locked.Release(ctx) }, nil
}

// decide returns what the command changes. If the sender exceeds a limit or lacks permission, or if
// the operation refuses, the decision has only a refusal, or is dropped. If more must be known for
// a decision, decide returns the need for it instead.
func (s *Service) decide(ctx context.Context, store writer, c *call, snap *Snapshot) (Decision, need, error) {
	snap.Day = c.day
	of := c.about(snap)
	switch lacks, err := c.where(ctx, store, snap, of); {
	case err != nil || lacks != nil:
		return Decision{}, lacks, err
	case c.mayMeanOthers(snap):
		return Decision{}, wholeGroup{}, nil
	case !c.identified && isUnidentified(snap):
		return Decision{}, identities{c, snap}, nil
	}
	snap.Admin = c.admin
	if c.ignoresChat(snap) {
		return c.operation.decide(snap)
	}
	if c.season == 0 && snap.Ladder.Season.endsBefore(of.reportedAt) {
		return Decision{}, seasonEnd{snap.Ladder, of.reportedAt}, nil
	}
	switch refusal, over := s.overLimit(c, snap); {
	case over && (refusal == nil || c.silent):
		return Decision{dropped: true}, nil, nil
	case over:
		return Decision{Notice: refusal}, nil, nil
	}
	if refusal := c.refuse(snap); refusal != nil {
		return Decision{Notice: refusal}, nil, nil
	}
	permission := c.permission(snap)
	if permission.Who != OnlyAdmins && c.isIgnored(snap) {
		return Decision{Notice: Refusal{Code: SenderIgnored}, dropped: c.silent}, nil, nil
	}
	if refusal, lacks := c.permitted(permission, snap); refusal != nil || lacks != nil {
		return Decision{Notice: refusal}, lacks, nil
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
		if err := s.beside(ctx, store, snap, lacks); err != nil {
			return d, nil, err
		}
	}
}

// ignoresChat reports whether the job does nothing because the chat is not stored.
func (j *job) ignoresChat(snap *Snapshot) bool { return j.knownChatOnly && snap.ChatID == 0 }

// changes returns what to write: the decision, and what every command writes, such as its key and
// what it shows about people.
func (c *call) changes(snap *Snapshot, d Decision) Changes {
	adds := !d.Unadded && !isRefusal(d.said())
	if c.Trigger == ByTimer && c.Pressed != 0 && d.Notice != nil { // instead of Recalculating
		d.Page, d.Notice = d.Notice, nil
		if c.found != nil {
			d.Closes = &ClosedPrompt{ID: c.found.prompt.ID, As: PromptExpired}
		}
	}
	d.PageMessageID = cmp.Or(d.PageMessageID, c.Pressed)
	changes := Changes{
		Decision: d, Seen: c.seen(snap, adds), Key: c.Key, Trigger: c.trigger(),
		Chat: snap.ChatID, RateEntry: c.rateEntry(d.Notice),
		Extra: c.extra, ConsumesTimer: c.Trigger == ByTimer, Keyless: c.keyless,
		Addressee: c.sender(snap, adds), Language: c.Chat.Language, Private: !c.Chat.IsGroup(),
	}
	changes.Seen.People = slices.DeleteFunc(changes.Seen.People,
		func(p PlayerChange) bool { return p.New && !d.adds(p.Player.ID) })
	// An edit counts as a result if it records additional matches, and otherwise as a question.
	if _, records := d.Effect.(NewMatches); records && changes.RateEntry.Bucket == RateQuestion {
		changes.RateEntry.Bucket = RateResult
	}
	switch {
	case c.Trigger == ByTimer:
		changes.Presence = NoChange
	case !c.Retried:
		changes.SentAt = c.SentAt
	case d.Presence == ChatSeen: // a retried command may be old
		changes.Presence = NoChange
	}
	if i, ok := d.Effect.(interface{ Import() *ImportChanges }); ok {
		changes.Corrected = i.Import().Corrected
	}
	if _, ok := d.Effect.(*RestoredGroup); ok {
		changes.Seen.People = nil // the snapshot has people of the group before the restore
	}
	if n, ok := d.Effect.(*NewImport); ok { // its file shows nobody
		changes.Seen.People = slices.DeleteFunc(changes.Seen.People, func(p PlayerChange) bool { return p.New })
		changes.Seen.People = append(changes.Seen.People, n.People...)
		changes.Seen.Group, changes.Seen.Ladder = snap.Group, snap.Ladder
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
	moved := snap.Chat.ID != c.Chat.ID // the chat has a new id, so its old message ids are invalid
	if !moved {
		changes.ReplyTo, changes.Thread = c.ReplyTo, c.Thread
	}
	if c.Button != "" {
		changes.Button = c.Button
		// A press over the limit on presses stores no key, because handling it again does no harm.
		changes.Keyless = isTooManyPresses(d.Notice)
		switch {
		case d.CallbackAnswer != nil:
		case d.Page != nil, d.Notice == nil:
			changes.CallbackAnswer = Acknowledged{}
		default:
			changes.CallbackAnswer = d.Notice
			if d.Effect == nil { // the chat is not notified if nothing has changed
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
	changes.Outcome = c.outcomeOf(changes)
	if changes.Outcome != OutcomeRefused { // after a refusal, the next edit is handled too
		changes.Message = c.Message
	}
	return changes
}

// seen returns what the command newly shows about its chat and its people. A retried command may
// show an outdated state, so it only adds what is missing. New people become players only if adds
// is true.
func (c *call) seen(snap *Snapshot, adds bool) Seen {
	if c.Trigger == ByTimer || c.ignoresChat(snap) {
		return Seen{}
	}
	seen := Seen{Group: snap.Group, Ladder: snap.Ladder, NewChat: snap.NewChat, NewGroup: snap.NewGroup}
	if sender := c.senderIn(snap); sender.Player != nil {
		seen.AddedBy = sender.named().ID
	}
	if seen.NewChat || seen.NewGroup || !c.Retried && !snap.Chat.equalExceptLanguage(c.Chat) {
		seen.Chat = &c.Chat
	}
	people := slices.Concat(c.needs().People, c.VisibleUsers)
	for i, k := range slices.Concat(snap.People, snap.Shown) {
		change, ok := k.profileChange(c.Origin, people[i])
		isSame := func(other PlayerChange) bool { return other.Player.ID == change.Player.ID }
		// The message may show a person twice.
		if ok && (adds || !change.New) && !slices.ContainsFunc(seen.People, isSame) {
			seen.People = append(seen.People, change)
		}
	}
	return seen
}

// said returns the main notice of a decision, nil if it has none.
func (d Decision) said() Notice {
	for _, n := range []Notice{d.Notice, d.Page, d.CallbackAnswer} {
		if n != nil {
			return n
		}
	}
	return nil
}

// sender returns the name of the command's sender, zero if the command has no Sender. A new sender
// is named as a player only if adds is true.
func (c *call) sender(snap *Snapshot, adds bool) Name {
	if c.Sender == nil {
		return Name{}
	}
	if k := c.senderIn(snap); k.Player != nil && (adds || !k.New) {
		return k.Player.name()
	}
	return Name{Name: c.Sender.Name}
}

// isUnidentified reports whether one of the people turns out to be an unclaimed player of the
// group.
func isUnidentified(snap *Snapshot) bool {
	return slices.ContainsFunc(slices.Concat(snap.People, snap.Shown),
		func(k Known) bool { return k.claimant() != nil || k.Claimed })
}

// identify merges unclaimed players into the accounts of the same people, and stores new claims.
// Both are committed before the command, and stay even if it fails. If a merge fails with
// ErrInconsistent, identify only logs the error, so that an inconsistent ladder does not keep
// people from using the others.
func (s *Service) identify(ctx context.Context, c *call, snap *Snapshot) error {
	claims, people := false, slices.Concat(c.needs().People, c.VisibleUsers)
	for i, k := range slices.Concat(snap.People, snap.Shown) {
		claims = claims || k.Claimed
		if k.claimant() == nil && !k.countsAsGuest() {
			continue
		}
		err := s.merge(ctx, c.Chat, people[i])
		if errors.Is(err, ladder.ErrInconsistent) {
			s.log.ErrorContext(ctx, "failed to merge two players, run `elobot verify` for details", "error", err)
		} else if err != nil {
			return err
		}
	}
	if !claims {
		return nil
	}
	return s.store.Apply(ctx, Changes{
		Decision: Decision{Presence: NoChange}, Seen: c.seen(snap, false), Keyless: true, Chat: snap.ChatID,
	})
}

// job is the operation of a command or an event, and how the service handles it.
type job struct {
	operation
	// read is set if parsing is deferred because the message may use plain names. It returns the
	// operation once the group's members and ladders are known. mayNeed is what that operation may
	// need.
	read    func(*Snapshot) operation
	mayNeed Needs

	name string
	// bucket is the rate limit that the command counts against, empty for none.
	bucket RateBucket
	// extra and extraResults are set if the command chooses a reading with several matches.
	// extraResults is the number of matches after the first, and extra is how each of them counts
	// against a rate limit. The first match needs no entry, because the report itself has usually
	// counted as a result already.
	extra        RateEntry
	extraResults int

	ofAdmins      bool // the operation may need to know whether the sender is an admin
	reports       bool // the command is a report, or the edit of one
	edits         bool // if the edited message was handled before, the command runs again as its edit
	asks          bool // the operation has no Effect, so it never locks the group
	ofGroup       bool // the operation is about the group, not about the ladder that applies
	locks         bool // the operation locks the group from the first attempt on
	staged        bool // an import or its undo is staged, so that the lock is held only for a short time
	knownChatOnly bool // if the chat is not stored, the command does nothing and does not create it
	keyless       bool // the key is not stored, because the stored data shows whether anything is left to do
	// silent is set if the bot stays silent about exceeded limits and about failures other than
	// inconsistent ratings. After a failure, the caller retries.
	silent   bool
	finds    bool // the job only looks for the prompt to answer, and reads no people except perhaps Everybody
	unlogged bool // the job is an event, whose outcome is not logged
}

// onlySaying returns a call that only answers with the notice. That call counts against the same
// rate limit as c.
func (c *call) onlySaying(n Notice) *call {
	only := new(*c).with(job{bucket: c.bucket, operation: answer{notice: n}})
	only.isNamed = true // the answer does not depend on a ladder
	return only
}

// complete does the deferred parsing of a job, and then puts the people of the snapshot into the
// order of the operation's needs. It does nothing if the job is parsed already.
func (j *job) complete(snap *Snapshot) {
	if j.read == nil {
		return
	}
	j.operation = j.read(snap)
	needs := j.operation.needs()
	known := make([]Known, len(needs.People))
	for i, p := range needs.People {
		known[i] = j.known(snap, p)
		if known[i].New && i >= needs.New {
			known[i].Player, known[i].New = nil, false
		}
	}
	j.read, snap.People = nil, known
}

// noPlayer stands for the id of a new guest. No player has this id.
const noPlayer ladder.PlayerID = -1

// known returns the snapshot's entry for a person: the sender, a person that the message mentions
// or shows, or a member of the group. For a new guest, it makes an entry with the id noPlayer.
func (j *job) known(snap *Snapshot, p command.Person) Known {
	if p.IsNewGuest() {
		return Known{New: true, Player: &Player{ID: noPlayer, Name: p.Name}}
	}
	if p.Player != 0 {
		return snap.Everybody[slices.IndexFunc(snap.Everybody, func(k Known) bool { return k.named().ID == p.Player })]
	}
	return snap.People[slices.IndexFunc(j.mayNeed.People, p.IsSame)]
}

// needs returns what the operation needs, or may need if the command is not parsed yet.
func (j *job) needs() Needs {
	if j.read != nil {
		return j.mayNeed
	}
	return j.operation.needs()
}

func (c *call) query() Query {
	if c.finds {
		return Query{Needs: c.needs(), Key: c.Key, Chat: c.Chat, KnownChat: true}
	}
	q := Query{
		Needs: c.needs(), Key: c.Key, Message: c.Message, Chat: c.Chat, Sender: c.Sender, Shown: c.VisibleUsers,
		KnownChat: c.knownChatOnly, Ladder: c.ladder, Season: c.season, Thread: c.Thread, Replied: c.Replied,
		RateEntry: c.rateEntry(nil), Extra: c.extra,
	}
	q.Everybody = q.Everybody || c.wholeGroup
	if !c.Retried {
		q.SentAt = c.SentAt
	}
	if c.day != nil && !c.day.isZero() && !q.DuplicatesOf.IsZero() {
		q.DuplicatesOf, q.DuplicatesSince = c.day.last(), c.day.Starts
	}
	return q
}

// mayMeanOthers reports whether Everybody has yet to be read, because the command mentions an
// unknown person and the operation looks for members with similar names.
func (c *call) mayMeanOthers(snap *Snapshot) bool {
	n := c.needs()
	if c.wholeGroup || n.Everybody || !n.Near || c.mayNeed.Everybody {
		return false
	}
	for i, k := range snap.People {
		if n.People[i].ID == 0 && !k.IsPlayer() {
			return true
		}
	}
	return false
}
