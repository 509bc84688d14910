package outbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sethvargo/go-retry"
)

// A recorded result whose notice has to wait is acknowledged at once by a reaction to the message that reported it. A reaction
// is best effort, and setting it twice changes nothing, so it has no row in the store: the store only says which results wait.
// What a reaction must not do is delay a notice, so it never starts while a lane waits for its turn, and only while at least
// half of the total limit is free.
const (
	// reactAfter is how long the notice of a result has to wait to be worth a reaction.
	reactAfter = 3 * time.Second
	// reactWithin is how old the report of a result may be. It is longer than the pace of a chat delays a notice, or than another
	// instance takes to become the leader; a reaction to an older message helps nobody.
	reactWithin = 2 * time.Minute
	// lookEvery is the shortest time between two lookups of waiting results.
	lookEvery = 250 * time.Millisecond

	maxReacting      = 4           // reactions in flight at the same time
	maxReactions     = 64          // queued reactions; the results of the others are found again
	maxReactionPause = time.Minute // after a rate limit, which may concern only one chat
)

// WaitingResult is a recorded result whose notice waits to be sent.
type WaitingResult struct {
	Chat    ChatID
	To      int64         // the messenger's id of the chat
	Message int64         // the message that reported the result
	Age     time.Duration // since the result was recorded
	Before  int           // how many messages at least have to be sent before that of the notice
}

// reported identifies the message that reported a result.
type reported struct{ to, message int64 }

func (r WaitingResult) reported() reported { return reported{r.To, r.Message} }

// reactions is the lane of reactions, one for all chats.
type reactions struct {
	total []Window // half of the limits of all lanes together

	// waiting are the chats in which results may wait. Of a chat whose lane is not in memory, it is known until when it waits.
	waiting map[ChatID]time.Time
	looking bool
	lookAt  time.Time           // earliest time of the next lookup
	claimed map[ChatID]struct{} // chats that were given a send slot since the lookup began: what it finds may have been sent

	queue       []WaitingResult
	done        map[reported]time.Time // messages with a reaction, queued or set, and since when
	inFlight    int
	pausedUntil time.Time
	backoff     retry.Backoff // pause after the next failure; nil: no recent failure
	clearAt     time.Time     // when the reactions count against no limit any more
}

// lookup is the outcome of looking for waiting results in some chats.
type lookup struct {
	chats   map[ChatID]time.Time
	results []WaitingResult
	took    time.Duration
}

// reaction is the outcome of a request for a reaction.
type reaction struct {
	WaitingResult
	requests int // that were made
	err      error
}

// newReactions returns the lane of reactions. It has no map of waiting chats, so that it stays empty, if no reactions are wanted
// or a limit is for too long a time: the next leader does not know of the reactions, so the one that stops has to wait until
// they do not count any more.
func newReactions(s Settings) reactions {
	var r reactions
	for _, w := range s.Limits.Total {
		if w.Per > s.SendTimeout {
			return r
		}
		r.total = append(r.total, Window{w.N / 2, w.Per})
	}
	if s.React != nil {
		r.waiting, r.done = make(map[ChatID]time.Time), make(map[reported]time.Time)
	}
	return r
}

// noteDelay notes that results may wait in a chat, if what its lane sends next has to wait.
func (t *term) noteDelay(l *lane, now time.Time) {
	if t.reactions.waiting != nil && l.Kind == Messages && (l.state == paused || l.state == busy) &&
		l.dueAfter(0, now).Sub(now) > reactAfter {
		t.reactions.waiting[l.Chat] = time.Time{}
	}
}

// noteBacklog notes that results may wait in a polled chat. l is nil if its lane is not in memory.
func (t *term) noteBacklog(b Backlog, l *lane, now time.Time) {
	switch {
	case t.reactions.waiting == nil || b.Lane.Kind != Messages:
	case l == nil:
		t.reactions.waiting[b.Lane.Chat] = now.Add(b.Wait)
	case l.state == paused || l.state == busy:
		t.reactions.waiting[b.Lane.Chat] = time.Time{}
	}
}

// dueAfter returns when a lane of messages may make a request, after the given number of others. It is no later than that, and
// exact only up to reactAfter.
func (l *lane) dueAfter(requests int, now time.Time) time.Time {
	at := now
	if l.notBefore.After(at) {
		at = l.notBefore
	}
	p := pace{windows: l.chat.windows, ends: slices.Clone(l.chat.ends)}
	for range l.chat.inFlight {
		p.add(now)
	}
	at = p.next(at, 0)
	for range requests {
		if at.Sub(now) > reactAfter {
			break
		}
		p.add(at)
		at = p.next(at, 0)
	}
	return at
}

// react looks for waiting results and sets reactions, as far as that is possible now.
func (t *term) react(requestCtx, storeCtx context.Context, now time.Time) {
	r := &t.reactions
	if len(r.waiting)+len(r.queue) == 0 || t.reactionsAt(now).After(now) || !t.mayBegin() {
		return
	}
	if len(r.waiting) > 0 && !r.looking && !r.lookAt.After(now) {
		t.lookForResults(storeCtx, now)
	}
	for len(r.queue) > 0 && !t.reactionsAt(now).After(now) {
		next := r.queue[0]
		r.queue = r.queue[1:]
		r.inFlight++
		t.workers.Go(func() {
			made := requests{timeout: t.settings.SendTimeout}
			_, err := t.request(requestCtx, &made, func(ctx context.Context) (Receipt, error) {
				return Receipt{}, t.settings.React(ctx, next.To, next.Message, made.begin)
			})
			t.reacted <- reaction{next, made.count(), err}
		})
	}
}

// reactionsAt returns when the next reaction may start, apart from the lease. Something else happens before if that is in the
// far future.
func (t *term) reactionsAt(now time.Time) time.Time {
	r := &t.reactions
	if t.stopping || t.breaker.open || t.first() != nil || r.inFlight >= maxReacting {
		return now.Add(farFuture)
	}
	shared := pace{windows: r.total, ends: t.pace.ends}
	at := shared.next(now, t.requesting())
	if r.pausedUntil.After(at) {
		return r.pausedUntil
	}
	return at
}

// requesting returns how many requests that count against the total limit are in flight.
func (t *term) requesting() int { return t.sending + t.reactions.inFlight }

// nextReaction returns when to see again whether there is something to react to, in the far future if there is nothing.
func (t *term) nextReaction(now time.Time) time.Time {
	r := &t.reactions
	if t.stopping {
		return r.clearAt
	}
	if len(r.waiting)+len(r.queue) == 0 || len(r.queue) == 0 && r.looking {
		return now.Add(farFuture)
	}
	at := t.reactionsAt(now)
	if len(r.queue) == 0 && r.lookAt.After(at) {
		at = r.lookAt
	}
	if !at.After(now) { // the lease prevents it, or lanes are about to take what they send
		return now.Add(leasePoll)
	}
	return at
}

// lookForResults asks the store which results wait in the noted chats, or in some of them if they are many.
func (t *term) lookForResults(ctx context.Context, now time.Time) {
	r := &t.reactions
	for key, at := range r.done {
		if now.Sub(at) > reactWithin {
			delete(r.done, key)
		}
	}
	found := lookup{chats: make(map[ChatID]time.Time)}
	var chats []ChatID
	for chat, until := range r.waiting {
		if len(chats) == maxBatch {
			break
		}
		l := t.lanes[Lane{Chat: chat}]
		if l != nil && l.state == busy && !l.requesting {
			continue // what it sends is only known in a moment
		}
		delete(r.waiting, chat)
		if l == nil && until.After(now) || l != nil && (l.state == paused || l.state == busy) {
			chats = append(chats, chat)
			found.chats[chat] = until
		}
	}
	if len(chats) == 0 {
		return
	}
	r.looking, r.lookAt, r.claimed = true, now.Add(lookEvery), make(map[ChatID]struct{})
	t.workers.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		begun := time.Now()
		// A failure is not logged: the poll of the store fails as well, or finds the chats again.
		if results, err := t.store.WaitingResults(ctx, chats, t.settings.Bounds.Merge, reactWithin); err == nil {
			found.results, found.took = results, time.Since(begun)
		}
		t.found <- found
	})
}

// onFound queues reactions to the results that have to wait. A slow lookup delays the next one, to spare the database.
func (t *term) onFound(found lookup, now time.Time) {
	r := &t.reactions
	r.looking, r.lookAt = false, latest(r.lookAt, now.Add(10*found.took))
	for _, w := range found.results {
		due, l := found.chats[w.Chat], t.lanes[Lane{Chat: w.Chat}]
		if l != nil {
			due = l.dueAfter(w.Before, now)
		}
		_, claimed := r.claimed[w.Chat]
		_, done := r.done[w.reported()]
		if !claimed && !done && w.Age+due.Sub(now) > reactAfter && len(r.queue) < maxReactions {
			r.done[w.reported()] = now
			r.queue = append(r.queue, w)
		}
	}
	r.claimed = nil
}

// dropReactions drops the queued reactions in a chat that is about to send. If their results have to wait nevertheless, the
// next poll finds them.
func (t *term) dropReactions(chat ChatID) {
	r := &t.reactions
	if r.looking {
		r.claimed[chat] = struct{}{}
	}
	r.drop(func(w WaitingResult) bool { return w.Chat == chat })
}

func (r *reactions) drop(which func(WaitingResult) bool) {
	r.queue = slices.DeleteFunc(r.queue, func(w WaitingResult) bool {
		if !which(w) {
			return false
		}
		delete(r.done, w.reported())
		return true
	})
}

// onReacted processes the outcome of a reaction. A rate limit or a transient failure pauses the reactions and nothing else;
// results that still wait afterwards are found again.
func (t *term) onReacted(done reaction, now time.Time) {
	r := &t.reactions
	r.inFlight--
	var f *Failure
	if done.err != nil && !errors.As(done.err, &f) {
		f = &Failure{Class: Failed, Err: done.err}
	}
	log := t.log.With("chat_id", done.To, "message_id", done.Message)
	if done.requests > 0 {
		t.pace.add(now)
		for _, w := range r.total {
			r.clearAt = latest(r.clearAt, now.Add(w.Per))
		}
		t.stats.reacted(f)
	}
	switch {
	case f == nil:
		log.Debug("waiting result acknowledged")
	case f.Class == Rejected:
		log.Debug("reaction refused", "error", f.Err)
	case f.Class == RateLimited:
		log.Warn("reactions rate limited by the messenger", "retry_after_ms", f.RetryAfter.Milliseconds())
	default:
		log.Debug("failed to set a reaction", "result", f.Class, "error", f.Err)
	}
	if f == nil || f.Class == Rejected {
		r.backoff = nil
	} else {
		t.pauseReactions(done.WaitingResult, f, now)
	}
}

// pauseReactions pauses the reactions after a failure.
func (t *term) pauseReactions(failed WaitingResult, f *Failure, now time.Time) {
	r := &t.reactions
	pause := min(f.RetryAfter, maxReactionPause)
	if pause <= 0 {
		if r.backoff == nil {
			r.backoff = newBackoff()
		}
		pause, _ = r.backoff.Next() // never stops
	}
	r.pausedUntil = latest(r.pausedUntil, now.Add(pause))
	delete(r.done, failed.reported())
	r.drop(func(WaitingResult) bool { return true })
}

// latest returns the later of two moments.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
