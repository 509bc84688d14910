package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sethvargo/go-retry"
)

// defaultMaxConns limits the pool for commands, unless the URL sets pool_max_conns.
const defaultMaxConns = 16

// rowLockTimeout is how long a statement waits for a lock, in PostgreSQL's syntax. After that it
// fails with ranking.ErrLocked, and a caller with more time tries again. In between, other callers
// can use the connection.
const rowLockTimeout = "'1500ms'"

// Planning makes a session plan each statement once, independently of its arguments. It is for the
// sessions of commands and background work, and for tests of the stores. Most statements run in a
// tenth of a millisecond, and planning them each time would take ten times as long. All statements
// must use indexes, which the planner would not choose while the tables are small. JIT compilation
// never pays off for such short statements.
const Planning = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off"

// onlyReading is for sessions that answer questions. Such a session must never write: a write would
// fail like a write to a standby, and then no session that began earlier would be used again.
const onlyReading = "SET default_transaction_read_only = on; SET jit = off"

// PingTimeout limits a ping. A working database answers sooner.
const PingTimeout = time.Second

const (
	openTimeout  = 5 * time.Second        // limits one attempt to use the database at the start
	closeTimeout = 500 * time.Millisecond // limits closing pools, or a connection outside them
)

// Open returns a pool of connections to the database of the URL, once the database answers. It
// retries until the timeout, so that bot and database can be started together, but fails at once if
// the server refuses the user, the password or the database. Behind a pooler in transaction mode it
// fails with ErrTransactionPooling.
func Open(ctx context.Context, url string, timeout time.Duration, log *slog.Logger) (*pgxpool.Pool, error) {
	o, err := newOpener(url, log)
	if err != nil {
		return nil, err
	}
	pool, err := o.open(ctx, o.config.MaxConns, Planning)
	if err != nil {
		return nil, err
	}
	if err := awaitDatabase(ctx, pool, timeout, log); err != nil {
		Close(pool)
		return nil, err
	}
	return pool, nil
}

// Pools holds the connections of a running bot to its database. When a session of one pool shows
// that the server has changed, for example into a standby, no session that began before is used
// again in any of the pools.
type Pools struct {
	Commands *pgxpool.Pool
	// Auxiliary is for work that must continue while all connections of Commands wait for locks:
	// for example, the lease, the dispatcher's store, and notifications to other instances.
	Auxiliary *pgxpool.Pool
	// Questions is for reads of any kind and length. Its sessions cannot write, and they begin only
	// on a server that accepts writes. Unlike the sessions of the other pools, they may plan a
	// statement again for new arguments.
	Questions *pgxpool.Pool

	sessions *sessionWatch
}

// Distrust keeps all current sessions from being used again. Call it if their host may be silent:
// finding that out session by session would take too long.
func (p Pools) Distrust() { p.sessions.distrust() }

// The sizes of the other pools. The URL can set only the size of Commands.
const (
	auxiliaryConns = 4
	questionConns  = 4
)

// OpenPools is like Open, but opens all pools. It also logs a warning if others may be able to read
// the traffic of a connection.
func OpenPools(ctx context.Context, url string, timeout time.Duration, log *slog.Logger) (Pools, error) {
	o, err := newOpener(url, log)
	if err != nil {
		return Pools{}, err
	}
	return o.openPools(ctx, timeout, log)
}

func (o *opener) openPools(ctx context.Context, timeout time.Duration, log *slog.Logger) (p Pools, err error) {
	p.sessions = o.sessions
	o.warnExposed = sync.OnceFunc(func() {
		log.WarnContext(ctx, "the connection to the database is not encrypted, others can read and change what it carries: "+
			"add sslmode=verify-full to DATABASE_URL", "database", Address(o.config.ConnConfig))
	})
	if p.Commands, err = o.open(ctx, o.config.MaxConns, Planning); err != nil {
		return Pools{}, err
	}
	err = awaitDatabase(ctx, p.Commands, timeout, log)
	o.config.MinConns, o.config.MinIdleConns = 0, 0 // the URL's minimum is only for Commands
	if err == nil {
		p.Auxiliary, err = o.open(ctx, auxiliaryConns, Planning)
	}
	if err == nil {
		// A command that writes finds out that its server has become a standby. A session that only
		// reads would not find out, so it must not begin on a standby.
		o.config.ConnConfig.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
		p.Questions, err = o.open(ctx, questionConns, onlyReading)
	}
	if err != nil {
		p.Close()
		return Pools{}, err
	}
	return p, nil
}

// opener opens pools that share a sessionWatch.
type opener struct {
	config      *pgxpool.Config
	sessions    *sessionWatch
	warnExposed func()
}

func newOpener(url string, log *slog.Logger) (*opener, error) {
	config, err := ParseURL(url)
	if err != nil {
		return nil, err
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
	// Finding out that a session is dead must not use up all the time of a command.
	config.PingTimeout = PingTimeout
	config.ConnConfig.Tracer = &discreet{}
	o := &opener{config: config, sessions: &sessionWatch{log: log}, warnExposed: func() {}}
	o.sessions.watch(&config.ConnConfig.Config)
	return o, nil
}

// open returns a pool. Each of its sessions executes settings before it is used.
func (o *opener) open(ctx context.Context, maxConns int32, settings string) (*pgxpool.Pool, error) {
	config := o.config.Copy()
	config.MaxConns = maxConns
	config.BeforeConnect = func(_ context.Context, config *pgx.ConnConfig) error {
		o.sessions.hosts.lastFirst(config)
		return nil
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if encryptionOf(conn).Exposed {
			o.warnExposed()
		}
		// ConnectTimeout itself covers only the connection, not this function.
		ctx, cancel := context.WithTimeout(ctx, config.ConnConfig.ConnectTimeout)
		defer cancel()
		_, err := conn.Exec(ctx, "SET lock_timeout = "+rowLockTimeout+"; "+settings)
		if err == nil {
			err = identify(ctx, conn)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errNoSession, err)
		}
		return nil
	}
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool {
		return p.IdleDuration > time.Second && o.sessions.trusts(p.Conn)
	}
	config.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) { return o.sessions.trusts(conn), nil }
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return pool, nil
}

// connectConfig returns the configuration for a connection outside the pool, to the host that the
// pool would choose.
func connectConfig(ctx context.Context, pool *pgxpool.Pool) (*pgx.ConnConfig, error) {
	config := pool.Config()
	if config.BeforeConnect == nil {
		return config.ConnConfig, nil
	}
	return config.ConnConfig, config.BeforeConnect(ctx, config.ConnConfig)
}

func connect(ctx context.Context, pool *pgxpool.Pool) (*pgx.Conn, error) {
	config, err := connectConfig(ctx, pool)
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, config)
}

// Close closes all pools, and waits for at most closeTimeout.
func (p Pools) Close() {
	Close(slices.DeleteFunc([]*pgxpool.Pool{p.Commands, p.Auxiliary, p.Questions}, func(pool *pgxpool.Pool) bool {
		return pool == nil
	})...)
}

// Close closes pools, but waits for at most closeTimeout. pgx takes a long time to close
// connections whose statement was canceled, and the process is about to end anyway.
func Close(pools ...*pgxpool.Pool) {
	closing, closed := context.WithTimeout(context.Background(), closeTimeout)
	go func() {
		defer closed()
		var all sync.WaitGroup
		for _, pool := range pools {
			all.Go(pool.Close)
		}
		all.Wait()
	}()
	<-closing.Done()
}

func awaitDatabase(ctx context.Context, pool *pgxpool.Pool, timeout time.Duration, log *slog.Logger) error {
	logged := false
	backoff := retry.WithMaxDuration(timeout, retry.NewConstant(500*time.Millisecond))
	err := retry.Do(ctx, backoff, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, openTimeout)
		defer cancel()
		err := pool.Ping(ctx)
		if err == nil {
			err = checkPooling(ctx, pool)
		}
		if isWrongAddress(err) || !Unavailable(err) && !errors.Is(err, context.DeadlineExceeded) {
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
