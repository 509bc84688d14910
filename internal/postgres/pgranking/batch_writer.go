package pgranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"elobot/internal/crashpoint"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

const (
	// maxConcurrentWrites is how many transactions run at once before further results have to wait. Those that wait
	// are written together as soon as one of the transactions ends. Two keep the server busy while one of them commits (on
	// two cores, which it shares with the bot). With more, each transaction writes fewer results.
	maxConcurrentWrites = 2
	// slotTimeout is how long a transaction counts towards maxConcurrentWrites. A longer one waits for its group, and
	// must not keep results of other groups from being written.
	slotTimeout = 100 * time.Millisecond
	// maxTogether is how many results one transaction writes at most.
	maxTogether = 32
	// writeTimeout bounds such a transaction. With several results it never waits long for a lock. With only one it
	// may wait for its group, as a single result does.
	writeTimeout = 2 * time.Second
)

// shortLockTimeout shortens a transaction's wait for locks, because all results that are written together wait for
// it.
const shortLockTimeout = `SELECT set_config('lock_timeout', '100ms', true)`

// batchWriter collects results that are to be written together. Setting up the statements and committing cost the
// server more than a single result does. When many results wait, each takes 1.3 to 1.6 times as much processor time without
// it (medians of elobench's throughput.processor, of small and large runs). The results are independent: if they cannot be
// written together, each is written alone.
type batchWriter struct {
	mu      sync.Mutex
	writing int
	waiting []*pendingResult
}

// pendingResult is a result that waits to be written.
type pendingResult struct {
	ctx     context.Context //nolint:containedctx // the waiting caller's
	group   ranking.GroupID
	changes ranking.Changes
	done    chan error // receives the outcome, or errAlone
}

// errAlone means that a result must be written by itself.
var errAlone = errors.New("not written together with others")

// write is Store.Apply, except that a result may be written together with others.
func (g *batchWriter) write(ctx context.Context, s *Store, c ranking.Changes) error {
	alone := []ranking.Changes{c}
	matches, _ := c.Effect.(ranking.NewMatches)
	if g == nil || len(matches) != 1 || c.Button != "" {
		return s.writeAll(ctx, alone)
	}
	w := g.join(ctx, matches[0].Group, c)
	crashpoint.At(crashpoint.Batching)
	if w == nil {
		defer g.holdSlot(s)()
		return s.writeAll(ctx, alone)
	}
	var err error
	select {
	case err = <-w.done:
	case <-ctx.Done():
		if g.leave(w) {
			return postgres.Translate(ctx.Err())
		}
		err = <-w.done // soon: applyTogether stops when a caller gives up
	}
	if errors.Is(err, errAlone) {
		return s.writeAll(ctx, alone)
	}
	return err
}

// join queues a result. It returns nil if the result may be written at once; it counts as being written then.
func (g *batchWriter) join(ctx context.Context, group ranking.GroupID, c ranking.Changes) *pendingResult {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writing < maxConcurrentWrites {
		g.writing++
		return nil
	}
	w := &pendingResult{ctx, group, c, make(chan error, 1)}
	g.waiting = append(g.waiting, w)
	return w
}

// leave removes a result from the queue. It returns false if the result is being written already.
func (g *batchWriter) leave(w *pendingResult) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.waiting, w)
	if at < 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, at, at+1)
	return true
}

// holdSlot lets a transaction count as running until the returned function is called, or for slotTimeout at most.
func (g *batchWriter) holdSlot(s *Store) (end func()) {
	next := sync.OnceFunc(func() { g.next(s) })
	timer := time.AfterFunc(slotTimeout, next)
	return func() {
		timer.Stop()
		next()
	}
}

// next frees the slot of a transaction, or passes it to the results that wait.
func (g *batchWriter) next(s *Store) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if together := g.take(); len(together) > 0 {
		go g.writeTogether(s, together)
	} else {
		g.writing--
	}
}

// take returns the results that have waited longest, at most one per group.
func (g *batchWriter) take() []*pendingResult {
	var together, later []*pendingResult
	groups := make(map[ranking.GroupID]bool)
	for _, w := range g.waiting {
		if len(together) < maxTogether && !groups[w.group] {
			groups[w.group] = true
			together = append(together, w)
		} else {
			later = append(later, w)
		}
	}
	g.waiting = later
	return together
}

// writeTogether writes the results and delivers the outcome to the callers.
func (g *batchWriter) writeTogether(s *Store, together []*pendingResult) {
	defer g.holdSlot(s)()
	err := s.applyTogether(together)
	for _, w := range together {
		w.done <- err
	}
}

// applyTogether writes results in one transaction. It fails with errAlone if the error need not apply to each of
// them: a single result may be the cause, or its group may be locked, or its caller may have given up. A result that
// panics panics again when it is written alone, in the goroutine of its caller.
func (s *Store) applyTogether(together []*pendingResult) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	all := make([]ranking.Changes, len(together))
	for i, w := range together {
		all[i] = w.changes
		defer context.AfterFunc(w.ctx, cancel)()
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil && !postgres.Unavailable(err) {
			s.log.WarnContext(ctx, "failed to write results together, writing each by itself", "results", len(together), "error", err)
			err = errAlone
		}
	}()
	return s.writeAll(ctx, all)
}
