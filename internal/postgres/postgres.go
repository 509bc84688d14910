// Package postgres keeps everything in PostgreSQL: it holds every SQL statement of the bot, each beside the method that
// runs it. It implements the stores that other packages ask for (ranking.Store, ranking.Ledger, outbox.Store,
// intake's dead letters) and decides nothing: it reads, and it applies.
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

// rowLockTimeout is how long a statement waits for a lock, in PostgreSQL's words. It ends with ranking.ErrLocked, and whoever
// has more time asks again: so nobody keeps a connection from others for long that wait for one.
const rowLockTimeout = "'1500ms'"

// planning has every statement be planned once for a connection, for whatever arguments: most of them take a tenth of a
// millisecond, and planning them anew each time takes ten times as long. All of them go by indexes, which the planner would
// not choose in a table that is small, as all are at first; compiling such a plan is never worth it.
const planning = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off"

const (
	connectTimeout = 5 * time.Second        // for one attempt to connect at the start
	closeTimeout   = 500 * time.Millisecond // for Close
	// rollbackTimeout is short: a server that does not answer rolls back when the connection closes.
	rollbackTimeout = time.Second
)

// Open returns a pool of connections to the database of the URL, once the database answers. It keeps trying for the
// given time, so that bot and database may be started together. It fails with ErrTransactionPooling behind a pooler that
// elobot cannot work with.
func Open(ctx context.Context, url string, patience time.Duration, log *slog.Logger) (*pgxpool.Pool, error) {
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
	if err := awaitDatabase(ctx, pool, patience, log); err != nil {
		Close(pool)
		return nil, err
	}
	return pool, nil
}

// besideConns is how many connections are kept free of commands: for the lease, the dispatcher's next step, its looks at
// the queue, and what is said to other instances.
const auxiliaryConns = 4

// readConns bounds the pool of questions.
const readConns = 4

// Beside returns a small pool for the same database. Commands may wait for locks on all connections of their pool; what
// has to go on meanwhile, such as renewing the lease, uses this one.
func AuxiliaryPool(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Pool, error) {
	config := pool.Config()
	config.MaxConns, config.MinConns, config.MinIdleConns = auxiliaryConns, 0, 0
	return newPool(ctx, config)
}

// ReadPool returns a small pool for questions to the same database. Its sessions only read, and plan each statement for its
// arguments: unlike what commands do, a question may be about much or little.
func ReadPool(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Pool, error) {
	config := pool.Config()
	config.MaxConns, config.MinConns, config.MinIdleConns = readConns, 0, 0
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET default_transaction_read_only = on; SET jit = off; SET lock_timeout = "+rowLockTimeout)
		return err
	}
	return newPool(ctx, config)
}

// newPool returns a pool that uses no session any more after an error of endsSession.
func newPool(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, error) {
	config.PingTimeout = pingTimeout // a session that has died silently must not take up all the time of a command
	var all sessions
	all.watch(&config.ConnConfig.Config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	all.pool.Store(pool)
	return pool, nil
}

// Close closes pools, but waits no longer for them than closeTimeout: pgx takes its time with connections on which a
// statement was cut off, and the process is about to end anyway.
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

func awaitDatabase(ctx context.Context, pool *pgxpool.Pool, patience time.Duration, log *slog.Logger) error {
	told := false
	backoff := retry.WithMaxDuration(patience, retry.NewConstant(500*time.Millisecond))
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
		if !told {
			log.WarnContext(ctx, "the database does not answer yet, trying again", "patience", patience.String(), "error", err)
			told = true
		}
		return retry.RetryableError(err)
	})
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	return nil
}

// querier is what a pool, a connection and a transaction have in common.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Store is everything that is kept, as its users see it.
type Store struct {
	pool *pgxpool.Pool
	// beside is where the store finds out whether the database answers, while all connections of the pool may be in use.
	auxiliary *pgxpool.Pool
	// db is the pool, or the transaction that Exclusively has opened.
	db querier
	// gathering is where results wait to be written together; nil: none does.
	batchWriter *batchWriter
	// lease is what every transaction that writes depends on; nil: on none.
	lease *Lease
	// committed is told which lanes have something new to be sent. It must not block.
	committed func(outbox.Lane)
	// reserve, if set, holds the place of a lane in which something is to be sent at once.
	reserve func(context.Context, outbox.Lane) *outbox.SendSlot
	now     func() time.Time // by the clock that messages are dated by
	log     *slog.Logger
}

var _ ranking.Store = (*Store)(nil)

// NewStore returns a store in the database of the pool. Whenever something to be sent has been committed, it calls
// committed with its lane; that function must not block.
func NewStore(pool *pgxpool.Pool, committed func(outbox.Lane)) *Store {
	return &Store{
		pool: pool, auxiliary: pool, db: pool, batchWriter: new(batchWriter), committed: committed, now: time.Now, log: slog.New(slog.DiscardHandler),
	}
}

// WithClock returns a store of commands that are dated by this clock and not by that of the machine.
func (s *Store) WithClock(now func() time.Time) *Store {
	dated := *s
	dated.batchWriter, dated.now = new(batchWriter), now
	return &dated
}

// Asking returns a store that asks whether the database answers by the connections of another pool.
func (s *Store) WithAuxiliary(auxiliary *pgxpool.Pool) *Store {
	asking := *s
	asking.batchWriter, asking.auxiliary = new(batchWriter), auxiliary
	return &asking
}

// Logging returns a store that logs when it tries something once more.
func (s *Store) WithLog(log *slog.Logger) *Store {
	logging := *s
	logging.batchWriter, logging.log = new(batchWriter), log
	return &logging
}

// told says that a chat has something new to be sent.
func (s *Store) told(chat ranking.ChatID) { s.committed(outbox.Lane{Chat: outbox.ChatID(chat)}) }

// transact runs fn in a transaction, which commits when fn returns nil. The function may be run again by whoever
// calls, and talks to nothing but the database.
func transact(ctx context.Context, pool *pgxpool.Pool, fn func(pgx.Tx) error) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer rollback(ctx, tx) // also when fn panics; after the commit it does nothing
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// rollback ends a transaction even when the context that it ran under is over. If that fails too, the pool closes the
// connection and the server rolls back by itself, so there is nothing to report.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	_ = tx.Rollback(ctx)
}

// storable makes a text that may contain anything, as the answer of a broken server does, one that PostgreSQL takes.
func storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}
