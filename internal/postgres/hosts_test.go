package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

// fakeHost starts a host that runs serve for each connection, and closes all connections when the
// test ends. The returned asked counts the connections.
func fakeHost(t *testing.T, serve func(net.Conn)) (address string, asked *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	dbtest.Must(t, err)
	asked = new(atomic.Int64)
	over := make(chan struct{})
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			asked.Add(1)
			go func() {
				<-over
				client.Close() //nolint:errcheck // the client sees the end of the connection
			}()
			serving.Go(func() { serve(client) })
		}
	})
	t.Cleanup(func() {
		close(over)
		listener.Close() //nolint:errcheck // unused from here on
		serving.Wait()
	})
	return listener.Addr().String(), asked
}

func silentHost(net.Conn) {}

// forwarding returns a function that serves a connection by forwarding everything to the server of
// a database.
func forwarding(t *testing.T, databaseURL string) func(net.Conn) {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	dbtest.Must(t, err)
	return func(client net.Conn) {
		network, address := pgconn.NetworkAddress(config.Host, config.Port)
		server, err := net.Dial(network, address)
		if err != nil {
			return // the client gets no answer
		}
		defer server.Close() //nolint:errcheck // nothing depends on it
		go func() {
			_, _ = io.Copy(server, client) // ends when either connection does
			server.Close()                 //nolint:errcheck // ends the other direction
		}()
		_, _ = io.Copy(client, server) // as above
		client.Close()                 //nolint:errcheck // as above
	}
}

// through returns the database's URL with the given hosts, each with its port.
func through(t *testing.T, databaseURL string, hosts ...string) string {
	t.Helper()
	u, err := url.Parse(pgtest.ByTCP(t, databaseURL))
	dbtest.Must(t, err)
	u.Host = strings.Join(hosts, ",")
	return u.String()
}

func hostOf(t *testing.T, databaseURL string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	dbtest.Must(t, err)
	return u.Host
}

// TestSilentHosts checks that, if only one of several hosts answers, the bot starts with that host,
// whatever the host's position in the URL.
func TestSilentHosts(t *testing.T) {
	t.Parallel()
	for position := range 3 {
		t.Run(fmt.Sprint(position), func(t *testing.T) {
			t.Parallel()
			database := pgtest.Borrow(t).URL
			good, _ := fakeHost(t, forwarding(t, database))
			dark, _ := fakeHost(t, silentHost)
			frozen, _ := fakeHost(t, silentHost)
			hosts := slices.Insert([]string{dark, frozen}, position, good)
			// With optional TLS, pgx tries each host twice, so a silent host delays a session
			// twice.
			address := pgtest.WithParameter(through(t, database, hosts...), "sslmode", "prefer")
			pools, err := postgres.OpenPools(t.Context(), address, dbtest.MaxWait, slog.New(slog.DiscardHandler))
			dbtest.Must(t, err)
			t.Cleanup(pools.Close)
			release(acquireSessions(t, pools.Questions, 3)...)
		})
	}
}

// TestLastHostFirst checks that new sessions of a pool and of migrations try the host of the newest
// session first.
func TestLastHostFirst(t *testing.T) {
	t.Parallel()
	database := pgtest.Empty(t)
	good, _ := fakeHost(t, forwarding(t, database))
	full, asked := fakeHost(t, refusing("53300"))
	address := pgtest.WithParameter(through(t, database, full, good), "connect_timeout", "60")
	pools := dbtest.OpenPools(t, address)
	before := asked.Load()
	release(acquireSessions(t, pools.Commands, 3)...)
	dbtest.Migrate(t, pools.Commands, fstest.MapFS{"000001_one.up.sql": {Data: []byte("CREATE TABLE one ()")}})
	if n := asked.Load(); n != before {
		t.Errorf("the host before it is asked %d more times", n-before)
	}
}

// TestLastAddressFirst checks that, if a host has several addresses, the address of the newest
// session is tried first.
func TestLastAddressFirst(t *testing.T) {
	t.Parallel()
	for last, want := range map[string]string{
		"": "::1 10.0.0.1", "10.0.0.1:5432": "10.0.0.1 ::1", "[::1]:5432": "::1 10.0.0.1",
	} {
		got, err := postgres.LookUp([]string{"::1", "10.0.0.1"}, last)
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("after a session at %q: %v, %v", last, got, err)
		}
	}
}

// TestConnectTimeouts checks that a single host has five seconds to answer, and that each of
// several hosts has two seconds. The URL can override both.
func TestConnectTimeouts(t *testing.T) {
	t.Parallel()
	database := pgtest.Borrow(t).URL
	good, _ := fakeHost(t, forwarding(t, database))
	database = through(t, database, good)
	several := through(t, database, good, "127.0.0.1:1")
	for address, want := range map[string]time.Duration{
		database: 5 * time.Second, several: 2 * time.Second,
		pgtest.WithParameter(database, "sslmode", "prefer"):          5 * time.Second,
		pgtest.WithParameter(several, "connect_timeout", "9"):        9 * time.Second,
		pgtest.WithParameter(database, "connect_timeout", "9"):       9 * time.Second,
		pgtest.WithParameter(several, "target_session_attrs", "any"): 2 * time.Second,
	} {
		if got := openAsBot(t, address).Config().ConnConfig.ConnectTimeout; got != want {
			t.Errorf("%s: each host has %v, want %v", address, got, want)
		}
	}
}

// TestNewSessionsAreTrusted checks that Distrust does not affect a session that is still being
// opened, even if a silent host delays it.
func TestNewSessionsAreTrusted(t *testing.T) {
	t.Parallel()
	d := pgtest.Borrow(t)
	one, other := dbtest.NewProxy(t, d.URL), dbtest.NewProxy(t, d.URL)
	reached, over := make(chan struct{}, 100), make(chan struct{})
	dark, _ := fakeHost(t, func(client net.Conn) {
		message, err := pgproto3.NewBackend(client, client).ReceiveStartupMessage()
		// A cancel request begins no session, so it does not count.
		if _, begins := message.(*pgproto3.StartupMessage); err == nil && begins {
			reached <- struct{}{}
			<-over
		}
		client.Close() //nolint:errcheck // the client turns to the next host
	})
	pools := dbtest.OpenPools(t, pgtest.WithParameter(
		through(t, one.URL, hostOf(t, one.URL), dark, hostOf(t, other.URL)), "connect_timeout", "60"))
	one.Away.Store(true)
	pools.Distrust()
	began := dbtest.Start(func() error {
		conn, err := pools.Commands.Acquire(t.Context())
		if err == nil {
			conn.Release()
		}
		return err
	})
	dbtest.Receive(t, reached)
	pools.Distrust()
	close(over)
	dbtest.Must(t, dbtest.Receive(t, began))
	if n := len(reached); n != 0 {
		t.Errorf("the silent host was asked %d more times", n)
	}
}

// TestGivenUpSessionFreesItsPlace checks that, if a frozen host answers neither a statement nor the
// request to cancel it, the session's place in the pool is free again sooner than pgx alone would
// free it.
func TestGivenUpSessionFreesItsPlace(t *testing.T) {
	t.Parallel()
	p := dbtest.NewProxy(t, pgtest.Borrow(t).URL)
	other := dbtest.NewProxy(t, pgtest.Borrow(t).URL)
	address := pgtest.WithParameter(through(t, p.URL, hostOf(t, p.URL), hostOf(t, other.URL)), "pool_max_conns", "1")
	pool := openAsBot(t, address)
	over := make(chan struct{})
	defer close(over)
	p.OnMessage(func(byte, []byte) bool {
		<-over
		return true
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := pool.Exec(ctx, `SELECT 1`); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the statement ends with %v", err)
	}
	begun := time.Now()
	release(acquireSessions(t, pool, 1)...)
	if took := time.Since(begun); took > 14*time.Second { // pgx alone takes 15 s
		t.Errorf("the next session began after %v", took)
	}
}

// refusing returns a function that serves a connection by refusing the session with an error code.
func refusing(code string) func(net.Conn) {
	return func(client net.Conn) {
		server := pgproto3.NewBackend(client, client)
		if _, err := server.ReceiveStartupMessage(); err == nil {
			server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: "no"})
			server.Flush() //nolint:errcheck // the client sees the end of the connection
		}
		client.Close() //nolint:errcheck // as above
	}
}

// failing returns a function that serves a connection by accepting the session. Queries that
// contain text then fail with the code; all others succeed.
func failing(code, text string) func(net.Conn) {
	return func(client net.Conn) {
		server := pgproto3.NewBackend(client, client)
		if _, err := server.ReceiveStartupMessage(); err != nil {
			return
		}
		server.Send(&pgproto3.AuthenticationOk{})
		server.Send(&pgproto3.BackendKeyData{SecretKey: []byte{1, 2, 3, 4}})
		server.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		for server.Flush() == nil {
			message, err := server.Receive()
			query, ok := message.(*pgproto3.Query)
			switch {
			case err != nil:
				return
			case ok && strings.Contains(query.String, text):
				server.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: code, Message: "no"})
			default:
				server.Send(&pgproto3.CommandComplete{CommandTag: []byte("SET")})
			}
			server.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		}
	}
}

// TestRefusedSessions checks that any error while a session is being opened means that the database
// is unavailable. Open retries after such an error, unless an operator must change DATABASE_URL.
func TestRefusedSessions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		host func(net.Conn)
		ends bool // Open fails without a retry
	}{
		"password":       {refusing("28P01"), true},
		"authorization":  {refusing("28000"), true},
		"no database":    {refusing("3D000"), true},
		"pooler is full": {refusing("XX000"), false},
		"server is full": {refusing("53300"), false},
		"conflict":       {refusing("40001"), false},
		"first setting":  {failing("57014", "default_transaction_isolation"), false},
		"later setting":  {failing("57014", "lock_timeout"), false},
		"conflict later": {failing("40001", "lock_timeout"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, asked := fakeHost(t, tc.host)
			address = "postgres://elobot:x@" + address + "/elobot?sslmode=disable"
			pool, err := postgres.Open(t.Context(), address, 700*time.Millisecond, slog.New(slog.DiscardHandler))
			if err == nil {
				pool.Close()
				t.Fatal("the pool is open")
			}
			if !postgres.Unavailable(err) || postgres.Translate(err) != err { //nolint:errorlint // it must be the same
				t.Errorf("it is taken for the fault of a statement: %v", postgres.Translate(err))
			}
			if ended := asked.Load() == 1; ended != tc.ends {
				t.Errorf("the start ends at once: %t, want %t", ended, tc.ends)
			}
		})
	}
}
