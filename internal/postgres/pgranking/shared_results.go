package pgranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/crashpoint"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Results in different groups change different rows if all players have standings, so such results
// can share statements and a transaction. That pays off when many results wait, such as after an
// outage: setting up the statements and committing cost the server more than a result does. A
// result that is written alone takes 1.6 times as much processor time as one that is written with
// others (medians of elobench's throughput).

const (
	// resultSlots is how many transactions may write results at once before other results have to
	// wait. Waiting results are written together as soon as a slot is free. Two slots keep the
	// server busy while one of the transactions commits.
	resultSlots = 2
	// slotTimeout is how long a transaction may hold its slot. A transaction that takes longer is
	// probably waiting for its group's lock, and must not keep results of other groups from being
	// written.
	slotTimeout = 100 * time.Millisecond
	// maxTogether is the maximum number of results that one transaction writes.
	maxTogether = 32
	// sharedTimeout limits how long a transaction of several results may take.
	sharedTimeout = 2 * time.Second
)

// shortLockTimeout limits each wait of a transaction for a lock to 100 ms, because all its results
// wait meanwhile.
const shortLockTimeout = `SELECT set_config('lock_timeout', '100ms', true)`

// errAlone tells a waiting caller to write its result itself, in a slot that the caller then holds.
// If writeResults returns it, each of the results must be written alone.
var errAlone = errors.New("not written together with others")

type resultStore interface {
	write(context.Context, ranking.Changes) error
	// writeResults writes results of different groups in one transaction. It fails with errAlone if
	// each of them must be written alone.
	writeResults([]*waitingResult) error
}

// resultWriter writes results of players who have standings. Results that have to wait for a slot
// are written together if possible.
type resultWriter struct {
	mu      sync.Mutex
	slots   int              // slots taken
	waiting []*waitingResult // results that wait for a slot
}

type waitingResult struct {
	changes ranking.Changes
	match   *ranking.NewMatch
	alone   bool       // must be written alone, because writing it with others has failed
	done    chan error // receives the outcome, or errAlone
}

// sharedResult returns the match of a command that may be written together with others: a message
// with one result of people who already have standings, and with no other effect. It returns nil
// for any other command.
func sharedResult(c ranking.Changes) *ranking.NewMatch {
	matches := newMatches(c)
	if len(matches) != 1 || matches[0].Key != c.Key || c.Closes != nil || c.Notice != nil || matches[0].Inserted != nil ||
		c.Presence != ranking.ChatSeen || c.Seen.Chat != nil || len(c.Seen.People) > 0 || len(c.Corrected) > 0 {
		return nil
	}
	if slices.ContainsFunc(matches[0].Players, func(p ladder.MatchPlayer) bool { return p.Before.ID == 0 }) ||
		c.Ladder != nil && len(returning(matches).Players) > 0 {
		return nil
	}
	return matches[0]
}

// write writes a result as soon as it has a slot. If the result has to wait, it may be written
// together with others. If ctx ends while the result still waits, the result is not written.
func (w *resultWriter) write(ctx context.Context, s resultStore, c ranking.Changes, m *ranking.NewMatch) error {
	r := w.join(c, m)
	crashpoint.At(crashpoint.Batching)
	if r != nil {
		var err error
		select {
		case err = <-r.done:
		case <-ctx.Done():
			if w.leave(r) {
				return Translate(ctx.Err())
			}
			// The result has been given a slot, or is being written with others. Writing it with
			// others takes at most sharedTimeout, and then the result waits for a slot again if it
			// must be written alone.
			err = <-r.done
		}
		if !errors.Is(err, errAlone) {
			return err
		}
	}
	defer w.holdSlot(s)()
	return s.write(ctx, c)
}

// join takes a slot for a result. If none is free, it queues the result and returns it.
func (w *resultWriter) join(c ranking.Changes, m *ranking.NewMatch) *waitingResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slots < resultSlots {
		w.slots++
		return nil
	}
	r := &waitingResult{changes: c, match: m, done: make(chan error, 1)}
	w.waiting = append(w.waiting, r)
	return r
}

// leave removes a result from the queue, and reports whether the result was still there.
func (w *resultWriter) leave(r *waitingResult) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.Index(w.waiting, r)
	if at < 0 {
		return false
	}
	w.waiting = slices.Delete(w.waiting, at, at+1)
	return true
}

// holdSlot releases the caller's slot when end is called, or after slotTimeout if that is earlier.
func (w *resultWriter) holdSlot(s resultStore) (end func()) {
	next := sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.slots--
		w.fill(s)
	})
	timer := time.AfterFunc(slotTimeout, next)
	return func() {
		timer.Stop()
		next()
	}
}

// fill gives free slots to the results that have waited longest. The caller holds w.mu.
func (w *resultWriter) fill(s resultStore) {
	for w.slots < resultSlots {
		switch next := w.take(); len(next) {
		case 0:
			return
		case 1:
			next[0].done <- errAlone
		default:
			go w.writeTogether(s, next)
		}
		w.slots++
	}
}

// take removes and returns the results that have waited longest and may be written together: at
// most maxTogether, and at most one per group. A result that must be written alone is returned
// alone.
func (w *resultWriter) take() []*waitingResult {
	var together, later []*waitingResult
	groups := make(map[ranking.GroupID]bool)
	for _, r := range w.waiting {
		if len(together) < maxTogether && !groups[r.match.Group] && (len(together) == 0 || !r.alone && !together[0].alone) {
			groups[r.match.Group] = true
			together = append(together, r)
		} else {
			later = append(later, r)
		}
	}
	w.waiting = later
	return together
}

// writeTogether writes several results, and passes the outcome to their callers. If they must be
// written alone, each waits for a slot again.
func (w *resultWriter) writeTogether(s resultStore, together []*waitingResult) {
	defer w.holdSlot(s)()
	err := s.writeResults(together)
	if errors.Is(err, errAlone) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, r := range together {
			r.alone = true
		}
		w.waiting = append(together, w.waiting...)
		w.fill(s) // another slot may have become free while nothing waited
		return
	}
	for _, r := range together {
		r.done <- err
	}
}

// writeResults implements resultStore. A failure becomes errAlone unless the database is
// unavailable, because a single result or a locked group may have caused it. A panic becomes
// errAlone too: the result that caused it panics again in the goroutine of its caller, when it is
// written alone.
func (s *Store) writeResults(results []*waitingResult) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), sharedTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil && !postgres.Unavailable(err) {
			s.Log.WarnContext(ctx, "failed to write results together, writing each by itself",
				"results", len(results), "error", err)
			err = errAlone
		}
	}()
	var groups []ranking.GroupID
	var keys []handledKey
	var standings []ladder.Standing
	var matches []newMatch
	var chats []ranking.ChatID
	var ladders []ladder.ID // of groups with several ladders
	for _, r := range results {
		groups = append(groups, r.match.Group)
		keys = append(keys, keysOf(r.changes)...)
		standings = append(standings, lastStandings(ranking.NewMatches{r.match})...)
		matches = append(matches, newMatch{r.match, &r.changes})
		chats = append(chats, r.changes.Chat)
		if r.changes.Ladder != nil {
			ladders = append(ladders, r.match.Ladder)
		}
	}
	var batch pgx.Batch
	batch.Queue(shortLockTimeout)
	s.lease.Require(&batch)
	// NOWAIT keeps results from waiting for the group of another result.
	batch.Queue(`SELECT FROM groups WHERE id = ANY ($1) FOR NO KEY UPDATE NOWAIT`, groups)
	queueNumbers(&batch, groups)
	queueNotArchived(&batch, ladders)
	queueKeys(&batch, keys)
	queueChangedStandings(&batch, standings)
	queueMatches(&batch, s.Now(), matches)
	queueSeen(&batch, chats)
	crashpoint.At(crashpoint.Applying)
	sent := s.db.SendBatch(ctx, &batch)
	crashpoint.At(crashpoint.ApplyingTogether)
	if err := sent.Close(); err != nil {
		return fmt.Errorf("apply: %w", Translate(err))
	}
	crashpoint.At(crashpoint.Applied)
	for _, r := range results {
		s.wake(r.changes.Chat, outbox.Messages)
		s.showOnWeb(r.changes)
	}
	return nil
}
