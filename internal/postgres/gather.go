package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"elobot/internal/ranking"
)

const (
	// maxWriting is how many transactions of results there are at a time. Whatever comes while so many are being written
	// waits until one of them ends, and is written together then.
	maxWriting = 4
	// writesFor is how long a transaction counts as one of these. One that takes longer waits for its group, which must not
	// keep results of other groups from being written.
	writesFor = 100 * time.Millisecond
	// maxTogether bounds how many results are written in one transaction.
	maxTogether = 32
	// writeTimeout bounds such a transaction, which waits for no group.
	writeTimeout = 5 * time.Second
)

// gathering is where results wait that are to be written together. What the server needs to set up a statement, and for a
// commit, is more than what a result takes in them, so that several together take much less than one after the other. None
// depends on another one: those that cannot be written together are written each by itself.
type gathering struct {
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
func (g *gathering) apply(ctx context.Context, s *Store, c ranking.Changes) error {
	alone := []ranking.Changes{c}
	if g == nil || c.Match == nil {
		return s.apply(ctx, alone, nil)
	}
	w := g.join(ctx, c)
	if w == nil {
		defer g.counts(s)()
		return s.apply(ctx, alone, nil)
	}
	select {
	case err := <-w.done:
		if errors.Is(err, errAlone) {
			return s.apply(ctx, alone, nil)
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join has a result wait, or returns nil if it is to be written at once, which counts.
func (g *gathering) join(ctx context.Context, c ranking.Changes) *waiting {
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

// counts has a transaction be one of those that are being written until it ends, which the returned function says, but no
// longer than writesFor.
func (g *gathering) counts(s *Store) (end func()) {
	next := sync.OnceFunc(func() { g.next(s) })
	timer := time.AfterFunc(writesFor, next)
	return func() {
		timer.Stop()
		next()
	}
}

// next ends the writing of something, and begins that of what has gathered.
func (g *gathering) next(s *Store) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if together := g.take(); len(together) > 0 {
		go g.write(s, together)
	} else {
		g.writing--
	}
}

// take returns those who have waited the longest, one of each group.
func (g *gathering) take() []*waiting {
	var together, later []*waiting
	groups := make(map[ranking.GroupID]bool)
	for _, w := range g.waiting {
		switch group := w.changes.Match.Group; {
		case w.ctx.Err() != nil: // nobody waits any more
		case groups[group] || len(together) == maxTogether:
			later = append(later, w)
		default:
			groups[group] = true
			together = append(together, w)
		}
	}
	g.waiting = later
	return together
}

// write writes what has gathered.
func (g *gathering) write(s *Store, together []*waiting) {
	defer g.counts(s)()
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	err := s.apply(ctx, column(together, func(w *waiting) ranking.Changes { return w.changes }), nil)
	if err != nil && len(together) > 1 && !Unavailable(err) {
		err = errAlone // one of them is to blame, or somebody else who has the group of one
	}
	for _, w := range together {
		w.done <- err
	}
}
