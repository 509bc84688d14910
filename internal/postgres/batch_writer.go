package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"elobot/internal/crashpoint"
	"elobot/internal/ranking"
)

const (
	// maxWriting is how many transactions there may be for another one to begin at once. Results that come while there are as
	// many wait until one of them ends, and are written together then.
	maxWriting = 4
	// writesFor is how long a transaction counts as one of these. One that takes longer waits for its group, which must not
	// keep results of other groups from being written.
	writesFor = 100 * time.Millisecond
	// maxTogether bounds how many results are written in one transaction.
	maxTogether = 32
	// writeTimeout bounds such a transaction. That of several waits for no group, and for nothing else for long; if only one
	// has gathered, it waits for its group as by itself.
	writeTimeout = 2 * time.Second
)

// hasty has a transaction not wait for locks as long as it would. What waits for it are all that are written together.
const shortLockTimeout = `SELECT set_config('lock_timeout', '100ms', true)`

// gathering is where results wait that are to be written together. What the server needs to set up a statement, and for a
// commit, is more than what a result takes in them, so that several together take much less than one after the other. None
// depends on another one: when they cannot be written together, each is written by itself.
type batchWriter struct {
	mu      sync.Mutex
	writing int
	waiting []*waiting
}

// waiting is a result that waits to be written.
type waiting struct {
	ctx     context.Context //nolint:containedctx // of whoever waits
	changes ranking.Changes
	done    chan error // gets what came of it, or errAlone
}

// errAlone says that a result is to be written by itself.
var errAlone = errors.New("not written together with others")

// apply is Apply of the store, in which a result may be written together with others.
func (g *batchWriter) apply(ctx context.Context, s *Store, c ranking.Changes) error {
	alone := []ranking.Changes{c}
	if g == nil || c.Match == nil {
		return s.apply(ctx, alone, nil)
	}
	w := g.join(ctx, c)
	crashpoint.At(crashpoint.Gathering)
	if w == nil {
		defer g.counts(s)()
		return s.apply(ctx, alone, nil)
	}
	var err error
	select {
	case err = <-w.done:
	case <-ctx.Done():
		if g.leave(w) {
			return translate(ctx.Err())
		}
		err = <-w.done // soon, because nothing is written for somebody who has given up
	}
	if errors.Is(err, errAlone) {
		return s.apply(ctx, alone, nil)
	}
	return err
}

// join has a result wait, or returns nil if it is to be written at once, which counts.
func (g *batchWriter) join(ctx context.Context, c ranking.Changes) *waiting {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writing < maxWriting {
		g.writing++
		return nil
	}
	w := &waiting{ctx, c, make(chan error, 1)}
	g.waiting = append(g.waiting, w)
	return w
}

// leave has a result not wait any more. It returns false if that is being written already.
func (g *batchWriter) leave(w *waiting) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.waiting, w)
	if at < 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, at, at+1)
	return true
}

// counts has a transaction be one of those that are being written until it ends, which the returned function says, but no
// longer than writesFor.
func (g *batchWriter) counts(s *Store) (end func()) {
	next := sync.OnceFunc(func() { g.next(s) })
	timer := time.AfterFunc(writesFor, next)
	return func() {
		timer.Stop()
		next()
	}
}

// next ends the writing of something, and begins that of what has gathered.
func (g *batchWriter) next(s *Store) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if together := g.take(); len(together) > 0 {
		go g.write(s, together)
	} else {
		g.writing--
	}
}

// take returns those who have waited the longest, one of each group.
func (g *batchWriter) take() []*waiting {
	var together, later []*waiting
	groups := make(map[ranking.GroupID]bool)
	for _, w := range g.waiting {
		if group := w.changes.Match.Group; len(together) < maxTogether && !groups[group] {
			groups[group] = true
			together = append(together, w)
		} else {
			later = append(later, w)
		}
	}
	g.waiting = later
	return together
}

// write writes what has gathered, and says what came of it.
func (g *batchWriter) write(s *Store, together []*waiting) {
	defer g.counts(s)()
	err := s.applyTogether(together)
	for _, w := range together {
		w.done <- err
	}
}

// applyTogether writes results in one transaction. It fails with errAlone where that says nothing of each of them: one may
// be to blame, or somebody else who has the group of one, or nobody waits for one any more. One that panics does so again
// by itself, where it is known whose it is.
func (s *Store) applyTogether(together []*waiting) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	all := make([]ranking.Changes, len(together))
	for i, w := range together {
		all[i] = w.changes
		defer context.AfterFunc(w.ctx, cancel)()
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panicked: %v", p)
		}
		if err != nil && !Unavailable(err) {
			s.log.WarnContext(ctx, "failed to write results together, writing each by itself", "results", len(together), "error", err)
			err = errAlone
		}
	}()
	return s.apply(ctx, all, nil)
}
