package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
)

const (
	// standbyInterval is the longest pause between attempts to acquire the lease, and between
	// attempts to renew it while renewals fail.
	standbyInterval = 500 * time.Millisecond
	// leaseTimeout limits a renewal, so that a hanging connection does not make the leader lose the
	// lease. It also limits claiming the database and checking its schema. Half of it limits
	// releasing the lease.
	leaseTimeout = 2 * time.Second
	// acquireWarning is the shortest time between two log lines about failures to ask for the
	// lease. A lease that another instance holds is not a failure.
	acquireWarning = time.Minute
	// acquireTimeout limits an attempt to acquire the lease. It exceeds the database's own timeout
	// for waiting on the last leader's writes, so the database gives up first: otherwise it might
	// grant a lease after the client has stopped waiting.
	acquireTimeout = 3 * time.Second
)

// leadership runs the work that only one instance at a time may do.
type leadership struct {
	lease   *postgres.Lease
	renewal time.Duration
	log     *slog.Logger
}

// lead runs work whenever this instance has the lease, until the context ends, or work returns for
// any reason other than a lost lease. Losing the lease cancels work's context. Once work has
// returned, lead releases the lease. It returns the error of work, or nil if the context ends while
// it waits for the lease.
func (l leadership) lead(ctx context.Context, work func(context.Context) error) error {
	for l.acquire(ctx) {
		err := l.hold(ctx, work)
		l.release(ctx)
		if !errors.Is(err, outbox.ErrLeaseLost) {
			return err
		}
		l.log.WarnContext(ctx, "lost the lease, standing by", "error", err)
	}
	return nil
}

// acquire waits for the lease and reports whether it has acquired the lease. It gives up when the
// context ends.
func (l leadership) acquire(ctx context.Context) bool {
	standingBy, warnedAt := false, time.Time{}
	tick := time.NewTicker(min(standbyInterval, l.renewal))
	defer tick.Stop()
	for ctx.Err() == nil {
		// The attempt is not canceled with ctx, because the database might still grant the lease,
		// which would then stay taken until it expires.
		attempt, cancel := context.WithTimeout(context.WithoutCancel(ctx), acquireTimeout)
		acquired, err := l.lease.Acquire(attempt)
		cancel()
		switch {
		case err != nil && time.Since(warnedAt) >= acquireWarning:
			warnedAt = time.Now()
			l.log.ErrorContext(ctx, "failed to ask for the lease, retrying", "error", err)
		case acquired:
			l.log.InfoContext(ctx, "leading", "epoch", l.lease.Epoch())
			return true
		case err == nil && !standingBy:
			l.log.InfoContext(ctx, "another instance leads, standing by")
			standingBy = true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return false
}

// hold runs work and keeps renewing the lease until work returns. It returns the error of work. If
// that is nil and the context has not ended, it returns ErrLeaseLost if the lease was lost.
func (l leadership) hold(ctx context.Context, work func(context.Context) error) error {
	working, lose := context.WithCancelCause(ctx)
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var renewal sync.WaitGroup
	var lost error
	renewal.Go(func() {
		lost = l.renew(renewing)
		lose(lost)
	})
	err := work(working)
	stop()
	renewal.Wait()
	if err == nil && ctx.Err() == nil {
		return lost
	}
	return err
}

// renew renews the lease until the context ends. It returns ErrLeaseLost if another instance has
// taken the lease. It keeps trying while the database does not answer, even after the lease has
// expired: sending and polling pause then, but only this instance knows the results of its last
// requests, and it can still persist them if a renewal succeeds.
func (l leadership) renew(ctx context.Context) error {
	timer := time.NewTimer(l.renewal)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		timeout := leaseTimeout
		// Near the end of the lease, the attempt gets only the time left, or the renewal interval
		// if that is longer.
		if left := l.lease.Remaining(); left > 0 {
			timeout = min(timeout, max(left, l.renewal))
		}
		attempt, cancel := context.WithTimeout(ctx, timeout)
		err := l.lease.Renew(attempt)
		cancel()
		next := l.renewal
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, outbox.ErrLeaseLost):
			return err
		case err != nil:
			if !failing {
				l.log.WarnContext(ctx, "failed to renew the lease, sending and polling pause when it expires",
					"left_ms", l.lease.Remaining().Milliseconds(), "error", err)
			}
			next = min(next, standbyInterval)
		case failing:
			l.log.InfoContext(ctx, "renewed the lease again")
		}
		failing = err != nil
		timer.Reset(next)
	}
}

// release releases the lease, so that the next leader does not have to wait until it expires.
func (l leadership) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout/2)
	defer cancel()
	if err := l.lease.Release(ctx); err != nil && !errors.Is(err, outbox.ErrLeaseLost) {
		l.log.WarnContext(ctx, "failed to release the lease, the next leader has to wait until it expires", "error", err)
	}
}

// instanceName names an instance in the table of leases. Containers often have the same process id,
// and sometimes the same host name; the random part makes the name unique.
func instanceName() string {
	host, _ := os.Hostname() // empty on an error
	return fmt.Sprintf("%s/%d/%s", cmp.Or(host, "unknown"), os.Getpid(), rand.Text())
}
