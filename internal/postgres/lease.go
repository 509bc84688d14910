package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/clock"
	"elobot/internal/crashpoint"
	"elobot/internal/outbox"
)

// LeaderLease is the name of the lease that the outbox is dispatched under.
const LeaderLease = "leader"

// Lease is an exclusive right for a time. The database's clock says whether it has run out; its holder counts by its
// own clock, from before the database was asked, and so never believes to have it for longer than the database does.
// It implements outbox.Lease, and may be used by several goroutines.
type Lease struct {
	pool         *pgxpool.Pool
	name, holder string
	length       time.Duration
	log          *slog.Logger
	clock        clock.Remote  // the database's
	commands     *pgxpool.Pool // nil: no other pool
	standstill   time.Duration // how long a transaction under the lease may do nothing

	mu      sync.Mutex
	epoch   int64
	until   time.Time // zero: not held
	crashed bool      // the holder before did not release it
}

var _ outbox.Lease = (*Lease)(nil)

// NewLease returns the lease of the name, as a holder sees it who does not have it yet. No two holders have the same name.
func NewLease(pool *pgxpool.Pool, name, holder string, length time.Duration) *Lease {
	return &Lease{
		pool: pool, name: name, holder: holder, length: length, log: slog.New(slog.DiscardHandler), standstill: maxStandstill,
	}
}

// WithLog has the lease tell what is wrong with it, and returns it.
func (l *Lease) WithLog(log *slog.Logger) *Lease {
	l.log = log
	return l
}

// WithCommands names the pool of those who work under the lease, and returns the lease. That pool drops its idle sessions
// when the lease gets no answer in time: they may have died just as silently, and finding that out one after the other
// would take too long.
func (l *Lease) WithCommands(pool *pgxpool.Pool) *Lease {
	l.commands = pool
	return l
}

// Acquire takes the lease if it is free or has run out, and says whether it did. Each time it is taken it has a greater
// epoch than ever before. While somebody else has it, asking for it disturbs nobody. What its last holder is still writing
// under it comes first: if that takes longer than statements wait for locks, the lease is not to be had yet. A holder that
// asks has lost the answer that it has it, and takes it again.
func (l *Lease) Acquire(ctx context.Context) (bool, error) {
	begun := time.Now()
	isHeld, last, err := l.isHeld(ctx)
	if err != nil || isHeld {
		return false, err
	}
	epoch, crashed, err := l.take(ctx, last)
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows), errors.As(err, &pg) && pg.Code == pgerrcode.LockNotAvailable:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("acquire lease %s: %w", l.name, l.unheard(err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch, l.until, l.crashed = epoch, begun.Add(l.length), crashed
	return true, nil
}

// isHeld tells whether somebody else has the lease, and its epoch. An end that is further ahead than the lease lasts was
// written before the clock was set back, and would keep everybody waiting: it is cut to what it can be at most.
func (l *Lease) isHeld(ctx context.Context) (isHeld bool, epoch int64, err error) {
	const look = `
		SELECT clock_timestamp(), coalesce(l.expires_at > clock_timestamp() AND l.holder <> $3, false), coalesce(l.epoch, 0),
		       coalesce(l.expires_at - clock_timestamp() - coalesce(l.duration, $2::interval), '0')
		FROM (SELECT) AS it LEFT JOIN leases l ON l.name = $1`
	const cut = `
		UPDATE leases SET expires_at = clock_timestamp() + coalesce(duration, $2::interval)
		WHERE name = $1 AND expires_at > clock_timestamp() + coalesce(duration, $2::interval)`
	begun := time.Now()
	var now time.Time
	var excess time.Duration
	if err := l.pool.QueryRow(ctx, look, l.name, l.length, l.holder).Scan(&now, &isHeld, &epoch, &excess); err != nil {
		return false, 0, fmt.Errorf("look at lease %s: %w", l.name, l.unheard(err))
	}
	l.clock.Dated(now, begun, 0)
	if excess <= 0 {
		return isHeld, epoch, nil
	}
	if _, err := l.pool.Exec(ctx, cut, l.name, l.length); err != nil {
		return false, 0, fmt.Errorf("cut lease %s: %w", l.name, l.unheard(err))
	}
	l.log.WarnContext(ctx, "lease ended too far ahead, cut it: was the database's clock set back?", "excess_ms", excess.Milliseconds())
	return true, epoch, nil
}

// take makes the lease this holder's, whose last epoch is given, and returns the new one, and whether the holder before did
// not release it. It fails with pgx.ErrNoRows if somebody else was faster, or an earlier try of this holder's that went on
// after nobody waited for it.
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
	batch.Queue(sql, l.name, l.holder, l.length, last).QueryRow(func(row pgx.Row) error { return row.Scan(&epoch, &crashed) })
	return epoch, crashed, l.pool.SendBatch(ctx, &batch).Close()
}

// Renew makes the lease last its full length again, also when it has run out and nobody else has taken it. It fails with
// outbox.ErrLeaseLost when somebody else has it by now, or when it was released.
func (l *Lease) Renew(ctx context.Context) error {
	const sql = `
		UPDATE leases SET expires_at = clock_timestamp() + $3::interval
		WHERE name = $1 AND epoch = $2 AND holder <> ''
		RETURNING clock_timestamp()`
	begun, epoch := time.Now(), l.Epoch()
	var now time.Time
	crashpoint.At(crashpoint.Renewing)
	err := l.pool.QueryRow(ctx, sql, l.name, epoch, l.length).Scan(&now)
	crashpoint.At(crashpoint.Renewed)
	lost := errors.Is(err, pgx.ErrNoRows)
	if err != nil && !lost {
		return fmt.Errorf("renew lease %s: %w", l.name, l.unheard(err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch until := begun.Add(l.length); {
	case lost:
		if l.epoch == epoch {
			l.until = time.Time{}
		}
		return fmt.Errorf("renew lease %s: %w", l.name, outbox.ErrLeaseLost)
	case l.epoch == epoch && !l.until.IsZero() && until.After(l.until):
		l.until = until
	}
	l.clock.Dated(now, begun, 0)
	return nil
}

// DatabaseNow returns what the database's clock shows. ok is false as long as it was not asked.
func (l *Lease) DatabaseNow() (now time.Time, ok bool) { return l.clock.Now() }

// unheard returns an error as it is. When there was no answer in time, the other connections that are not in use may have
// died without a word as well, and finding that out of one after the other would take too long.
func (l *Lease) unheard(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		l.pool.Reset()
		if l.commands != nil {
			l.commands.Reset()
		}
	}
	return err
}

// Release gives the lease up and says so, that others need not wait until it has run out. Only a clean release takes the
// holder's name off the lease; without it, the next holder takes this one for crashed. Release fails with
// outbox.ErrLeaseLost when somebody else has the lease by now.
func (l *Lease) Release(ctx context.Context, clean bool) error {
	l.mu.Lock()
	epoch := l.epoch
	l.until = time.Time{}
	l.mu.Unlock()
	// An epoch more keeps a renewal that is still on its way from bringing a lease back that keeps its holder.
	const sql = `
		WITH released AS (
		    UPDATE leases SET expires_at = clock_timestamp(), holder = CASE WHEN $3 THEN '' ELSE holder END,
		        epoch = epoch + CASE WHEN $3 THEN 0 ELSE 1 END
		    WHERE name = $1 AND epoch = $2 RETURNING name)
		SELECT pg_notify('` + leaseChannel + `', name) FROM released`
	released, err := l.pool.Exec(ctx, sql, l.name, epoch, clean)
	if err == nil && released.RowsAffected() == 0 {
		err = outbox.ErrLeaseLost
	}
	if err != nil {
		return fmt.Errorf("release lease %s: %w", l.name, err)
	}
	return nil
}

// PredecessorCrashed tells whether the holder before this one has ended without releasing the lease, so that what it had in
// hand may be to blame.
func (l *Lease) PredecessorCrashed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.crashed
}

// Epoch implements outbox.Lease. It is 0 before the lease was held.
func (l *Lease) Epoch() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch
}

// Left implements outbox.Lease.
func (l *Lease) Left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until.IsZero() {
		return 0
	}
	return time.Until(l.until)
}
