// Package postgres stores everything in PostgreSQL. It holds every SQL statement of the bot, each next to the method
// that runs it. It implements the stores that other packages define (ranking.Store, ranking.AuditStore, outbox.Store,
// intake.DeadLetters and more) and makes no decisions: it reads and writes.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sethvargo/go-retry"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// defaultMaxConns bounds the pool unless the URL says otherwise with pool_max_conns.
const defaultMaxConns = 16

// rowLockTimeout is how long a statement waits for a lock, in PostgreSQL's syntax. After that it fails with
// ranking.ErrLocked, and a caller with more time tries again. So nobody who waits for a lock keeps a connection from
// others for long.
const rowLockTimeout = "'1500ms'"

// planning makes every connection plan each statement once, independently of its arguments. Most statements take a
// tenth of a millisecond, and planning them each time takes ten times as long. All of them must use indexes, which
// the planner would not choose for small tables, as all tables are at first. Compiling such plans never pays off.
const planning = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off"

const (
	connectTimeout = 5 * time.Second        // for one attempt to connect at the start
	closeTimeout   = 500 * time.Millisecond // for Close
	// rollbackTimeout is short: a server that does not answer rolls back when the connection closes.
	rollbackTimeout = time.Second
)

// Open returns a pool of connections to the database of the URL, once the database answers. It retries for the given
// time, so that bot and database can be started together. It fails with ErrTransactionPooling behind a pooler that
// elobot cannot work with.
func Open(ctx context.Context, url string, timeout time.Duration, log *slog.Logger) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read database URL: %w", err)
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = defaultMaxConns
	}
	if !strings.Contains(url, "pool_max_conn_lifetime") {
		config.MaxConnLifetime, config.MaxConnLifetimeJitter = minSessionLifetime, maxSessionLifetime-minSessionLifetime
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "elobot"
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "SET lock_timeout = "+rowLockTimeout+"; "+planning); err != nil {
			return err
		}
		return identify(ctx, conn)
	}
	pool, err := newPool(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := awaitDatabase(ctx, pool, timeout, log); err != nil {
		Close(pool)
		return nil, err
	}
	return pool, nil
}

// auxiliaryConns is the size of the auxiliary pool: for the lease, the dispatcher's next step, its queries of the
// queue, and notifications to other instances.
const auxiliaryConns = 4

// AuxiliaryPool returns a small pool for the same database. Commands may wait for locks on all connections of their
// own pool; what must go on in the meantime, such as renewing the lease, uses this one.
func AuxiliaryPool(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Pool, error) {
	config := pool.Config()
	config.MaxConns, config.MinConns, config.MinIdleConns = auxiliaryConns, 0, 0
	return newPool(ctx, config)
}

// newPool returns a pool that drops a session after an error for which endsSession is true.
func newPool(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, error) {
	config.PingTimeout = pingTimeout // a dead session must not use up all the time of a command
	var all sessions
	all.watch(&config.ConnConfig.Config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	all.pool.Store(pool)
	return pool, nil
}

// Close closes pools, but waits for closeTimeout at most: pgx takes long to close connections whose statement was
// canceled, and the process is about to end anyway.
func Close(pools ...*pgxpool.Pool) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		var all sync.WaitGroup
		for _, pool := range pools {
			all.Go(pool.Close)
		}
		all.Wait()
	}()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
	}
}

func awaitDatabase(ctx context.Context, pool *pgxpool.Pool, timeout time.Duration, log *slog.Logger) error {
	logged := false
	backoff := retry.WithMaxDuration(timeout, retry.NewConstant(500*time.Millisecond))
	err := retry.Do(ctx, backoff, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		err := pool.Ping(ctx)
		if err == nil {
			err = checkPooling(ctx, pool)
		}
		if !Unavailable(err) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if !logged {
			log.WarnContext(ctx, "the database does not answer yet, retrying", "timeout", timeout.String(), "error", err)
			logged = true
		}
		return retry.RetryableError(err)
	})
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	return nil
}

// querier is the common part of a pool, a connection and a transaction.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Store implements ranking.Store and ranking.AuditStore.
type Store struct {
	pool *pgxpool.Pool
	// auxiliary is for checking whether the database answers while all connections of pool may be in use.
	auxiliary *pgxpool.Pool
	// db is the pool, or an open transaction, such as that of WithGroupLock.
	db querier
	// batchWriter collects results that are to be written together; nil: each is written by itself.
	batchWriter *batchWriter
	// lease is required by every transaction that writes; nil: no lease is needed.
	lease *Lease
	// committed is called with each lane that has something new to send. It must not block.
	committed func(outbox.Lane)
	// reserve, if set, holds a slot for sending to a lane directly.
	reserve func(context.Context, outbox.Lane) *outbox.SendSlot
	now     func() time.Time // the clock that dates messages
	log     *slog.Logger
}

var _ ranking.Store = (*Store)(nil)

// NewStore returns a store in the pool's database. When something to be sent is committed, the store calls committed
// with its lane; committed must not block.
func NewStore(pool *pgxpool.Pool, committed func(outbox.Lane)) *Store {
	return &Store{
		pool: pool, auxiliary: pool, db: pool, batchWriter: new(batchWriter), committed: committed,
		now: time.Now, log: slog.New(slog.DiscardHandler),
	}
}

// WithClock returns the same store with another clock, the one that dates commands.
func (s *Store) WithClock(now func() time.Time) *Store {
	clone := *s
	clone.batchWriter, clone.now = new(batchWriter), now
	return &clone
}

// WithAuxiliary returns the same store with another pool for checking whether the database answers.
func (s *Store) WithAuxiliary(auxiliary *pgxpool.Pool) *Store {
	clone := *s
	clone.batchWriter, clone.auxiliary = new(batchWriter), auxiliary
	return &clone
}

// WithLog returns the same store with a log for its warnings.
func (s *Store) WithLog(log *slog.Logger) *Store {
	clone := *s
	clone.batchWriter, clone.log = new(batchWriter), log
	return &clone
}

// wake reports that the lane of a chat has something new to send.
func (s *Store) wake(chat ranking.ChatID) { s.committed(outbox.Lane{Chat: outbox.ChatID(chat)}) }

// transact runs fn in a transaction, which commits when fn returns nil. The caller may run fn again, so fn must talk
// to nothing but the database.
func transact(ctx context.Context, pool *pgxpool.Pool, fn func(pgx.Tx) error) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer rollback(ctx, tx) // also if fn panics; it has no effect after the commit
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// rollback ends a transaction even if its context has ended. If that fails too, the pool closes the connection and
// the server rolls back by itself, so there is nothing to report.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	_ = tx.Rollback(ctx)
}

// storable converts arbitrary text, such as the answer of a broken server, to text that PostgreSQL accepts.
func storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}
