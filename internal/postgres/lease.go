package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/crashpoint"
	"elobot/internal/outbox"
)

// LeaderLease is the name of the lease whose holder is the leader.
const LeaderLease = "leader"

// Lease is an exclusive right for a limited time. The database's clock decides whether it has
// expired. The holder measures the lease's duration with its own clock, starting before it sends
// the request, so the lease ends for the holder no later than it ends for the database. Lease
// implements outbox.Lease and is safe for concurrent use. Set the exported fields before the first
// use.
type Lease struct {
	Log *slog.Logger
	// TimedOut is called when Acquire or Renew gets no answer before the deadline of its context.
	TimedOut func()

	pool         *pgxpool.Pool
	name, holder string
	length       time.Duration
	idleTimeout  time.Duration // how long a transaction under the lease may be idle

	mu      sync.Mutex
	epoch   int64
	until   time.Time // zero: not held
	crashed bool      // see PredecessorCrashed
}

var _ outbox.Lease = (*Lease)(nil)

// NewLease returns the lease with the given name, for the given holder. Each holder needs a unique
// name. An acquired or renewed lease lasts for the given length. NewLease does not acquire the
// lease.
func NewLease(pool *pgxpool.Pool, name, holder string, length time.Duration) *Lease {
	return &Lease{
		Log: slog.New(slog.DiscardHandler), TimedOut: func() {},
		pool: pool, name: name, holder: holder, length: length, idleTimeout: maxIdle,
	}
}

// Acquire takes the lease if it is free or has expired, and reports whether it did. Each
// acquisition has a greater epoch than all earlier ones. Before it takes the lease, Acquire waits
// for running transactions under the lease; if that takes longer than the lock timeout, it returns
// false. If this holder already has the lease, because the answer to an earlier call was lost,
// Acquire succeeds again. If another holder has the lease, Acquire returns false. If the expiry is
// further ahead than the lease's duration, Acquire only corrects the expiry and returns false, no
// matter which instance holds the lease.
func (l *Lease) Acquire(ctx context.Context) (bool, error) {
	start := time.Now()
	isHeld, last, err := l.isHeld(ctx)
	if err != nil || isHeld {
		return false, err
	}
	epoch, crashed, err := l.take(ctx, last)
	switch {
	case errors.Is(err, pgx.ErrNoRows), codeOf(err) == pgerrcode.LockNotAvailable:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("acquire lease %s: %w", l.name, l.noteTimeout(err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch, l.until, l.crashed = epoch, start.Add(l.length), crashed
	return true, nil
}

// isHeld reports whether another holder has the lease, and returns the lease's last epoch. If the
// expiry is further ahead than the lease's duration, the database's clock was set back. All
// instances would then wait too long, so isHeld moves the expiry to one duration from now and
// returns true.
func (l *Lease) isHeld(ctx context.Context) (isHeld bool, epoch int64, err error) {
	const read = `
		SELECT coalesce(l.expires_at > clock_timestamp() AND l.holder <> $3, false), coalesce(l.epoch, 0),
		       coalesce(l.expires_at - clock_timestamp() - coalesce(l.duration, $2::interval), '0')
		FROM (SELECT) AS it LEFT JOIN leases l ON l.name = $1`
	const cut = `
		UPDATE leases SET expires_at = clock_timestamp() + coalesce(duration, $2::interval)
		WHERE name = $1 AND expires_at > clock_timestamp() + coalesce(duration, $2::interval)`
	var excess time.Duration
	if err := l.pool.QueryRow(ctx, read, l.name, l.length, l.holder).Scan(&isHeld, &epoch, &excess); err != nil {
		return false, 0, fmt.Errorf("read lease %s: %w", l.name, l.noteTimeout(err))
	}
	if excess <= 0 {
		return isHeld, epoch, nil
	}
	if _, err := l.pool.Exec(ctx, cut, l.name, l.length); err != nil {
		return false, 0, fmt.Errorf("cut lease %s: %w", l.name, l.noteTimeout(err))
	}
	l.Log.WarnContext(ctx, "lease expired too far ahead, cut it: was the database's clock set back?",
		"excess_ms", excess.Milliseconds())
	return true, epoch, nil
}

// take takes the lease. last is the epoch that isHeld has returned. take returns the new epoch, and
// whether the previous holder crashed, which means that it did not release the lease. take fails
// with pgx.ErrNoRows if another holder was faster, or if an earlier attempt of this holder has
// succeeded in the meantime.
func (l *Lease) take(ctx context.Context, last int64) (epoch int64, crashed bool, err error) {
	const sql = `
		WITH before AS (SELECT holder FROM leases WHERE name = $1)
		INSERT INTO leases AS l (name, holder, epoch, expires_at, duration)
		VALUES ($1, $2, 1, clock_timestamp() + $3::interval, $3::interval)
		ON CONFLICT ON CONSTRAINT leases_pkey DO UPDATE
		SET holder = excluded.holder, epoch = l.epoch + 1, expires_at = excluded.expires_at,
		    duration = excluded.duration
		WHERE l.expires_at <= clock_timestamp() OR l.holder = $2 AND l.epoch = $4
		RETURNING epoch, EXISTS (SELECT FROM before WHERE holder <> '')`
	var batch pgx.Batch
	batch.Queue(`SELECT pg_advisory_xact_lock(`+leaseLock+`)`, l.name)
	batch.Queue(sql, l.name, l.holder, l.length, last).QueryRow(func(row pgx.Row) error {
		return row.Scan(&epoch, &crashed)
	})
	return epoch, crashed, l.pool.SendBatch(ctx, &batch).Close()
}

// Renew makes the lease last for its full duration from now, even if it has expired. It fails with
// outbox.ErrLeaseLost if another holder has taken the lease, or if this holder has released or
// never acquired it.
func (l *Lease) Renew(ctx context.Context) error {
	const sql = `
		UPDATE leases SET expires_at = clock_timestamp() + $3::interval
		WHERE name = $1 AND epoch = $2 AND holder <> ''`
	start, epoch := time.Now(), l.Epoch()
	crashpoint.At(crashpoint.Renewing)
	renewed, err := l.pool.Exec(ctx, sql, l.name, epoch, l.length)
	crashpoint.At(crashpoint.Renewed)
	if err != nil {
		return fmt.Errorf("renew lease %s: %w", l.name, l.noteTimeout(err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch until := start.Add(l.length); {
	case renewed.RowsAffected() == 0:
		if l.epoch == epoch {
			l.until = time.Time{}
		}
		return fmt.Errorf("renew lease %s: %w", l.name, outbox.ErrLeaseLost)
	case l.epoch == epoch && !l.until.IsZero() && until.After(l.until):
		l.until = until
	}
	return nil
}

// noteTimeout calls TimedOut if the error is a timeout, and returns the error unchanged.
func (l *Lease) noteTimeout(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		l.TimedOut()
	}
	return err
}

// Release gives up the lease, so that other instances need not wait for it to expire. It also
// removes the holder's name, so that the next holder does not consider this one crashed. Release
// fails with outbox.ErrLeaseLost if another holder has taken the lease, or if this holder has never
// acquired it.
func (l *Lease) Release(ctx context.Context) error {
	l.mu.Lock()
	epoch := l.epoch
	l.until = time.Time{}
	l.mu.Unlock()
	const sql = `UPDATE leases SET expires_at = clock_timestamp(), holder = '' WHERE name = $1 AND epoch = $2`
	released, err := l.pool.Exec(ctx, sql, l.name, epoch)
	if err == nil && released.RowsAffected() == 0 {
		err = outbox.ErrLeaseLost
	}
	if err != nil {
		return fmt.Errorf("release lease %s: %w", l.name, err)
	}
	return nil
}

// PredecessorCrashed reports whether, at the last successful Acquire, the previous holder had not
// released the lease. The cause may be an update that the previous holder was handling.
// PredecessorCrashed also returns true if the answer to an earlier Acquire was lost, because
// nothing is known about the previous holder then.
func (l *Lease) PredecessorCrashed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.crashed
}

// Epoch implements outbox.Lease. It is 0 before the lease is first acquired.
func (l *Lease) Epoch() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch
}

// Remaining implements outbox.Lease.
func (l *Lease) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until.IsZero() {
		return 0
	}
	return time.Until(l.until)
}

// leaseLock is the key of the advisory lock for the lease $1. Transactions that write under the
// lease share the lock until they end. A new holder takes it exclusively, and so waits for all
// transactions that have passed the check. A shared lock on the lease's row would work too, but the
// server would have to write each holder of that lock to disk.
const leaseLock = `hashtextextended('elobot lease ' || $1, 0)`

// maxIdle is how long a transaction under a lease may be idle. A healthy process is idle for at
// most one or two seconds.
const maxIdle = 5 * time.Second

// QueueEpoch adds the check with which a batch under a lease must begin. If the lease has another
// epoch, the batch fails with an error that Translate turns into outbox.ErrLeaseLost. Lock and
// check are separate statements, so that the check starts after the lock was granted and sees what
// the previous holder of the lock has committed.
func QueueEpoch(batch *pgx.Batch, name string, epoch int64) {
	batch.Queue(`SELECT pg_advisory_xact_lock_shared(`+leaseLock+`)`, name)
	batch.Queue(`SELECT EXISTS (SELECT FROM leases WHERE name = $1 AND epoch = $2)::lease_held`, name, epoch)
}

// Require adds the check with which a batch under the lease must begin; see QueueEpoch. A nil lease
// adds nothing.
func (l *Lease) Require(batch *pgx.Batch) {
	if l != nil {
		QueueEpoch(batch, l.name, l.Epoch())
	}
}

// RequireWhileOpen is like Require, for a transaction that stays open after the batch. It makes the
// server end the session if the transaction is idle for too long: a stalled process must not keep
// other instances from taking over.
func (l *Lease) RequireWhileOpen(batch *pgx.Batch) {
	if l == nil {
		return
	}
	batch.Queue(`SELECT set_config('idle_in_transaction_session_timeout', $1, true)`,
		strconv.FormatInt(l.idleTimeout.Milliseconds(), 10))
	l.Require(batch)
}

// Begin begins a transaction under the lease. With a nil lease, it begins a plain transaction.
func (l *Lease) Begin(ctx context.Context, pool *pgxpool.Pool) (pgx.Tx, error) {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	var batch pgx.Batch
	l.RequireWhileOpen(&batch)
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		Rollback(ctx, tx)
		return nil, err
	}
	return tx, nil
}

// Transact runs fn in a transaction, which it commits if fn returns nil and otherwise rolls back.
// The transaction runs under the lease, unless lease is nil. Because the caller may retry, fn
// should affect nothing but the database.
func Transact(ctx context.Context, pool *pgxpool.Pool, lease *Lease, fn func(pgx.Tx) error) error {
	tx, err := lease.Begin(ctx, pool)
	if err != nil {
		return err
	}
	defer Rollback(ctx, tx) // even if fn panics; no effect after the commit
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
