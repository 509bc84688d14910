package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

// mustHold checks the only lease in the database. want consists of its name, its holder, its epoch,
// and whether it has not expired.
func mustHold(t *testing.T, pool *pgxpool.Pool, want string) {
	t.Helper()
	got := dbtest.Value[string](t, pool, `
		SELECT name || ' ' || holder || ' ' || epoch || ' ' || (expires_at > now()) FROM leases`)
	if got != want {
		t.Errorf("the lease is %s, want %s", got, want)
	}
}

const (
	// sharesLease takes the leader's advisory lock as a transaction under the lease does.
	// takesLease takes that lock and raises the epoch, as a takeover does.
	sharesLease = `SELECT pg_advisory_xact_lock_shared(hashtextextended('elobot lease leader', 0))`
	takesLease  = `SELECT pg_advisory_xact_lock(hashtextextended('elobot lease leader', 0));
		UPDATE leases SET epoch = epoch + 1`
)

func TestLease(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	a := postgres.NewLease(pool, "leader", "a", time.Hour)
	b := postgres.NewLease(pool, "leader", "b", time.Hour)
	lost := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, outbox.ErrLeaseLost) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if a.Remaining() > 0 || a.Epoch() != 0 {
		t.Errorf("before it is held, %v are left of epoch %d", a.Remaining(), a.Epoch())
	}
	lost("renewed before it is held", a.Renew(t.Context()))
	lost("released before it is held", a.Release(t.Context()))

	dbtest.Acquire(t, a, true)
	mustHold(t, pool, "leader a 1 true")
	dbtest.Acquire(t, b, false)
	if a.Remaining() > time.Hour || a.Remaining() < time.Hour-dbtest.MaxWait || a.Epoch() != 1 || b.Remaining() > 0 {
		t.Errorf("%v are left of epoch %d, and %v for the other", a.Remaining(), a.Epoch(), b.Remaining())
	}

	dbtest.Exec(t, pool, dbtest.RunsOut)
	dbtest.Must(t, a.Renew(t.Context())) // nobody has taken it
	mustHold(t, pool, "leader a 1 true")
	dbtest.Exec(t, pool, dbtest.RunsOut)
	dbtest.Acquire(t, b, true)
	mustHold(t, pool, "leader b 2 true")
	lost("released by the one before", a.Release(t.Context()))
	lost("renewed by the one before", a.Renew(t.Context()))
	mustHold(t, pool, "leader b 2 true")
	if a.Remaining() > 0 || b.Remaining() <= 0 || b.Epoch() != 2 {
		t.Errorf("%v are left for the one before, and %v of epoch %d", a.Remaining(), b.Remaining(), b.Epoch())
	}

	dbtest.Exec(t, pool, `UPDATE leases SET expires_at = now() + interval '1 minute'`)
	if err := b.Renew(t.Context()); err != nil {
		t.Error(err)
	}
	if !dbtest.Value[bool](t, pool, `SELECT expires_at > now() + interval '59 minutes' FROM leases`) {
		t.Error("the lease was not renewed")
	}
	if err := b.Release(t.Context()); err != nil {
		t.Error(err)
	}
	mustHold(t, pool, "leader  2 false")
	if b.Remaining() > 0 || b.Epoch() != 2 {
		t.Errorf("after it was released, %v are left of epoch %d", b.Remaining(), b.Epoch())
	}
	lost("renewed after it was released", b.Renew(t.Context()))
	mustHold(t, pool, "leader  2 false")
	dbtest.Acquire(t, a, true)
	mustHold(t, pool, "leader a 3 true")

	dbtest.Acquire(t, postgres.NewLease(pool, "another", "c", time.Hour), true)
}

// TestLeaseReportsCrash checks that PredecessorCrashed tells the new holder whether the previous
// one released the lease.
func TestLeaseReportsCrash(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	a := postgres.NewLease(pool, "leader", "a", time.Hour)
	b := postgres.NewLease(pool, "leader", "b", time.Hour)
	crashed := func(l *postgres.Lease, want bool) {
		t.Helper()
		dbtest.Acquire(t, l, true)
		if got := l.PredecessorCrashed(); got != want {
			t.Errorf("the previous holder has crashed: %t, want %t", got, want)
		}
	}
	crashed(a, false)
	dbtest.Must(t, a.Release(t.Context()))
	crashed(b, false)
	dbtest.Exec(t, pool, dbtest.RunsOut)
	crashed(a, true)
	dbtest.Must(t, a.Release(t.Context()))
	crashed(a, false)
}

// TestLeaseTakenWithoutAnswer checks that, if the answer to Acquire was lost, the holder's next
// call gets the lease at once, under a new epoch. Other holders do not get it.
func TestLeaseTakenWithoutAnswer(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	dbtest.Acquire(t, postgres.NewLease(pool, "leader", "a", time.Hour), true) // the answer is lost
	dbtest.Acquire(t, postgres.NewLease(pool, "leader", "b", time.Hour), false)
	a := postgres.NewLease(pool, "leader", "a", time.Hour)
	dbtest.Acquire(t, a, true)
	mustHold(t, pool, "leader a 2 true")
	if err := a.Renew(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestLeaseExpiresTooFarAhead checks that, if the expiry is further ahead than the lease's
// duration, because the clock was set back, another holder's Acquire or a renewal corrects it.
// Acquire does not change a plausible expiry.
func TestLeaseExpiresTooFarAhead(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	const ahead = `UPDATE leases SET expires_at = clock_timestamp() + interval '2 hours'`
	a := postgres.NewLease(pool, "leader", "a", 300*time.Millisecond)
	b := postgres.NewLease(pool, "leader", "b", time.Hour)
	dbtest.Acquire(t, a, true)
	dbtest.Exec(t, pool, ahead)
	dbtest.Acquire(t, b, false)
	dbtest.Await(t, pool, `SELECT expires_at <= clock_timestamp() FROM leases`)
	if left := a.Remaining(); left > 0 { // the holder measures with its own clock
		t.Errorf("%v are left", left)
	}
	dbtest.Acquire(t, b, true)

	before := dbtest.Value[time.Time](t, pool, `SELECT expires_at FROM leases`)
	dbtest.Acquire(t, a, false)
	if after := dbtest.Value[time.Time](t, pool, `SELECT expires_at FROM leases`); !after.Equal(before) {
		t.Errorf("the lease expires at %v, and at %v after Acquire", before, after)
	}
	dbtest.Exec(t, pool, ahead)
	dbtest.Must(t, b.Renew(t.Context()))
	if dbtest.Value[bool](t, pool, `SELECT expires_at > clock_timestamp() + interval '1 hour' FROM leases`) {
		t.Error("after a renewal the lease expires too far ahead")
	}
}

// TestLeaseAtOnce checks that, if several instances request the lease at the same time, exactly one
// gets it, whether the lease is new or has expired.
func TestLeaseAtOnce(t *testing.T) {
	t.Parallel()
	onBothDefaults(t, func(t *testing.T, d *pgtest.Database) {
		pool := d.Pool
		for range 5 {
			leases := make([]*postgres.Lease, 8)
			got := make([]bool, len(leases))
			var holders errgroup.Group
			for i := range leases {
				leases[i] = postgres.NewLease(pool, "leader", fmt.Sprint(i), time.Hour)
				holders.Go(func() (err error) {
					got[i], err = leases[i].Acquire(t.Context())
					return err
				})
			}
			dbtest.Must(t, holders.Wait())
			n := 0
			for i := range leases {
				if got[i] {
					n++
				}
				if got[i] != (leases[i].Remaining() > 0) {
					t.Errorf("acquired: %t, and %v are left", got[i], leases[i].Remaining())
				}
			}
			if n != 1 {
				t.Errorf("%d hold the lease", n)
			}
			dbtest.Exec(t, pool, dbtest.RunsOut)
		}
		if epoch := dbtest.Value[int](t, pool, `SELECT epoch FROM leases`); epoch != 5 {
			t.Errorf("the epoch is %d", epoch)
		}
	})
}

// TestLeaseAndWriters checks that a transaction under the lease does not block the lease's renewal
// or release, or another holder's request while the lease is held. A takeover waits for the
// transaction.
func TestLeaseAndWriters(t *testing.T) {
	t.Parallel()
	onBothDefaults(t, func(t *testing.T, d *pgtest.Database) {
		pool := d.Pool
		a := postgres.NewLease(pool, "leader", "a", time.Hour)
		b := postgres.NewLease(pool, "leader", "b", time.Hour)
		dbtest.Acquire(t, a, true)
		marks := dbtest.Begin(t, pool)
		dbtest.Exec(t, marks, sharesLease)
		renewed := dbtest.Start(func() error { return a.Renew(t.Context()) })
		if err := dbtest.Receive(t, renewed); err != nil {
			t.Error(err)
		}
		dbtest.Acquire(t, b, false)
		released := dbtest.Start(func() error { return a.Release(t.Context()) })
		if err := dbtest.Receive(t, released); err != nil {
			t.Error(err)
		}
		taken := dbtest.Start(func() error {
			mine, err := b.Acquire(t.Context())
			if err == nil && !mine {
				err = errors.New("it was not to be had")
			}
			return err
		})
		dbtest.Await(t, pool, dbtest.Blocked)
		if b.Remaining() > 0 {
			t.Error("the lease was taken over during a write")
		}
		dbtest.Must(t, marks.Commit(t.Context()))
		if err := dbtest.Receive(t, taken); err != nil {
			t.Error(err)
		}
		mustHold(t, pool, "leader b 2 true")
	})
}

// TestLeaseStartsWithTheRequest checks that, for its holder, the lease's duration counts from the
// request, however long the database takes to answer.
func TestLeaseStartsWithTheRequest(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	a := postgres.NewLease(pool, "leader", "a", time.Hour)
	for _, ask := range []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := a.Acquire(ctx)
			return err
		},
		a.Renew,
	} {
		hold := dbtest.Begin(t, pool)
		dbtest.Exec(t, hold, `LOCK leases IN ACCESS EXCLUSIVE MODE`)
		asked := dbtest.Start(func() error { return ask(t.Context()) })
		dbtest.Await(t, pool, dbtest.Blocked)
		afterwards := time.Now()
		dbtest.Must(t, hold.Rollback(t.Context()))
		dbtest.Must(t, dbtest.Receive(t, asked))
		if until := time.Now().Add(a.Remaining()); !until.Before(afterwards.Add(time.Hour)) {
			t.Errorf("the lease lasts until %v, and was requested before %v", until, afterwards)
		}
	}
}
