package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
)

const (
	// standbyLook is how often an instance that stands by looks whether it may take over.
	standbyLook = 500 * time.Millisecond
	// leaseTimeout bounds each statement about the lease, so that a connection that hangs does not cost the lease.
	leaseTimeout = 2 * time.Second
	// tellEvery is how often the log says that nobody can be asked for the lease.
	tellEvery = time.Minute
	// acquireTimeout bounds asking for the lease. It is longer than the database lets that wait for what the last holder
	// is writing, so that it is the database that gives up: nobody would know of a lease taken a moment later.
	acquireTimeout = 3 * time.Second
)

// leadership is the right to do what exactly one instance must do.
type leadership struct {
	lease    *postgres.Lease
	renewal  time.Duration   // how often it is renewed
	released <-chan struct{} // somebody has given the lease up
	suspects func() bool     // what may have ended the process before this one is not done with
	log      *slog.Logger
}

// lead runs work whenever this instance has the lease, until the context ends or work fails. A work whose lease is lost
// has its context cancelled; at the end of the context the lease is released when work has returned.
func (l leadership) lead(ctx context.Context, work func(context.Context) error) error {
	for l.acquire(ctx) {
		err := l.hold(ctx, work)
		l.release(ctx)
		if !errors.Is(err, outbox.ErrLeaseLost) {
			return err
		}
		l.log.WarnContext(ctx, "the lease is lost, standing by", "error", err)
	}
	return nil
}

// acquire waits for the lease. It returns false when the context has ended.
func (l leadership) acquire(ctx context.Context) bool {
	standingBy, told := false, time.Time{}
	tick := time.NewTicker(min(standbyLook, l.renewal))
	defer tick.Stop()
	for ctx.Err() == nil {
		// even if the end comes meanwhile: a lease that nobody knows of would keep others waiting
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), acquireTimeout)
		mine, err := l.lease.Acquire(asking)
		cancel()
		switch {
		case err != nil && time.Since(told) >= tellEvery:
			told = time.Now()
			l.log.ErrorContext(ctx, "cannot ask for the lease, trying again", "error", err)
		case mine:
			l.log.InfoContext(ctx, "leading", "epoch", l.lease.Epoch())
			return true
		case err == nil && !standingBy:
			l.log.InfoContext(ctx, "another instance leads, standing by")
			standingBy = true
		}
		select {
		case <-tick.C:
		case <-l.released:
		case <-ctx.Done():
		}
	}
	return false
}

// hold runs work and renews the lease meanwhile.
func (l leadership) hold(ctx context.Context, work func(context.Context) error) error {
	working, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		if err := l.renew(renewing); err != nil {
			lose(err)
		}
	}()
	err := work(working)
	stop()
	<-renewed
	if cause := context.Cause(working); err == nil && ctx.Err() == nil && cause != nil {
		return cause
	}
	return err
}

// renew renews the lease until the context ends, and returns ErrLeaseLost when it is somebody else's. As long as nobody
// can be asked it goes on: nothing is sent and no updates are taken without a lease that lasts, but what has become of
// requests is known here alone.
func (l leadership) renew(ctx context.Context) error {
	timer := time.NewTimer(l.renewal)
	defer timer.Stop()
	failing, ranOut := false, false
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		patience := leaseTimeout
		if left := l.lease.Left(); left > 0 { // there may be time for another try before it runs out
			patience = min(patience, max(left, l.renewal))
		}
		asking, cancel := context.WithTimeout(ctx, patience)
		err := l.lease.Renew(asking)
		cancel()
		again := l.renewal
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, outbox.ErrLeaseLost):
			return err
		case err != nil:
			if !failing {
				l.log.WarnContext(ctx, "cannot renew the lease, trying again", "left_ms", l.lease.Left().Milliseconds(), "error", err)
			}
			again = min(again, standbyLook)
		case ranOut:
			l.log.InfoContext(ctx, "renewed the lease, going on")
		}
		failing = err != nil
		if isOver := l.lease.Left() <= 0; isOver != ranOut {
			ranOut = isOver
			if ranOut {
				l.log.WarnContext(ctx, "the lease has run out: sending and polling pause until it is renewed")
			}
		}
		timer.Reset(again)
	}
}

// source is where the leader polls. While it has no lease that lasts it asks for nothing, which would throw its successor
// out, and leaves it to that one to confirm what is done.
type source struct {
	intake.Source
	lease *postgres.Lease
}

// Updates implements intake.Source.
func (s source) Updates(ctx context.Context, offset int64, wait time.Duration) ([]intake.Update, error) {
	if err := s.awaitLease(ctx); err != nil {
		return nil, err
	}
	return s.Source.Updates(ctx, offset, wait)
}

// awaitLease waits until the lease lasts.
func (s source) awaitLease(ctx context.Context) error {
	const look = 100 * time.Millisecond
	if s.lease.Left() > 0 {
		return nil
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	for s.lease.Left() <= 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Confirm implements intake.Source.
func (s source) Confirm(ctx context.Context, offset int64) error {
	if s.lease.Left() <= 0 {
		return nil
	}
	return s.Source.Confirm(ctx, offset)
}

// release gives the lease up, so that the next one need not wait until it runs out.
func (l leadership) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout/2)
	defer cancel()
	if err := l.lease.Release(ctx, !l.suspects()); err != nil && !errors.Is(err, outbox.ErrLeaseLost) {
		l.log.WarnContext(ctx, "cannot release the lease: the next instance waits until it runs out", "error", err)
	}
}

// instanceName names this process, for whoever looks at the leases. The process ids of containers are all the same, and so
// may their hosts' names be: the last part makes it the only one.
var instanceName = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text())
})
