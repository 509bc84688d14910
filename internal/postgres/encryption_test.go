package postgres_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

// TestStaysInside checks that staysInside returns true for a connection to this machine, or to a
// container with a private address. A private address without the name of a container is not
// enough.
func TestStaysInside(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		hosts  string
		remote string
		want   bool
	}{
		{"localhost", "127.0.0.1", true}, {"db.example.org", "127.0.0.2", true}, {"::1", "::1", true},
		{"db.example.org", "10.0.0.5", true}, // this machine's own address
		{"postgres", "172.18.0.2", true}, {"postgres", "fd00::2", true}, {"db1,db2", "172.18.0.2", true},
		{"db.prod.svc", "10.96.0.7", true}, {"db.prod.svc.cluster.local", "100.64.3.4", true}, {"host.docker.internal", "192.168.65.254", true},

		{"db.example.org", "203.0.113.7", false}, {"db.example.org", "10.0.0.6", false}, {"10.0.0.6", "10.0.0.6", false},
		{"192.168.1.5", "192.168.1.5", false}, {"fd00::2", "fd00::2", false}, {"postgres", "203.0.113.7", false}, {"postgres", "2001:db8::7", false},
		{"db1,db.example.org", "10.0.0.6", false}, {"svc.example.org", "10.0.0.6", false},
	} {
		got := postgres.StaysInside(strings.Split(tc.hosts, ","),
			netip.MustParseAddr("10.0.0.5"), netip.MustParseAddr(tc.remote))
		if got != tc.want {
			t.Errorf("%s at %s: %v", tc.hosts, tc.remote, got)
		}
	}
}

// TestAsksTwice checks that AsksTwice returns true for several hosts, unless all hosts are sockets,
// or sslmode rules out connections with or without TLS.
func TestAsksTwice(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"postgres://u@one,two/d":                                   true,
		"postgres://u@one,one:5433/d":                              true,
		"postgres://u@one,two,three/d?target_session_attrs=any":    true,
		"host=one,two user=u":                                      true,
		"postgres://u@one,two/d?sslmode=require":                   false,
		"postgres://u@one,two/d?sslmode=disable":                   false,
		"postgres://u@one/d":                                       false,
		"postgres://u@/d?host=/var/run/postgresql":                 false,
		"postgres://u@/d?host=/var/run/postgresql,/run/postgresql": false,
	} {
		config, err := postgres.ParseURL(address)
		dbtest.Must(t, err)
		if got := postgres.AsksTwice(config.ConnConfig); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// far is a connection that reports the given remote address instead of its own.
type far struct {
	net.Conn
	remote net.Addr
}

func (f far) RemoteAddr() net.Addr { return f.remote }

// TestUnencryptedConnection checks that OpenPools warns once if a connection leaves this machine
// without TLS. It examines the actual connection, because with sslmode=prefer the server decides
// whether to use TLS.
func TestUnencryptedConnection(t *testing.T) {
	t.Parallel()
	plain := pgtest.New(t)
	encrypted := withTLS(t, plain)
	for _, tc := range []struct {
		name, url, remote string
		exposed           bool
	}{
		{"far away without TLS", pgtest.WithParameter(plain, "sslmode", "prefer"), "203.0.113.7", true},
		{"far away with TLS", pgtest.WithParameter(encrypted, "sslmode", "prefer"), "203.0.113.7", false},
		{"TLS not wanted", pgtest.WithParameter(plain, "sslmode", "disable"), "203.0.113.7", true},
		{"this machine", pgtest.WithParameter(plain, "sslmode", "disable"), "127.0.0.1", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				return far{conn, &net.TCPAddr{IP: net.ParseIP(tc.remote), Port: 5432}}, err
			}
			var log bytes.Buffer
			pools, err := postgres.OpenPoolsBy(t.Context(), tc.url, dial, dbtest.MaxWait,
				slog.New(slog.NewTextHandler(&log, nil)))
			dbtest.Must(t, err)
			defer pools.Close()
			f, err := postgres.ExamineServer(t.Context(), pools.Questions)
			dbtest.Must(t, err)
			withTLS := strings.Contains(tc.name, "with TLS")
			if f.Exposed != tc.exposed || strings.HasPrefix(f.TLS, "TLS 1.") != withTLS {
				t.Errorf("the encryption is %+v", f.Encryption)
			}
			if n := strings.Count(log.String(),
				"the connection to the database is not encrypted"); n != map[bool]int{true: 1}[tc.exposed] {
				t.Errorf("%d warnings:\n%s", n, log.String())
			}
		})
	}
}

// withTLS starts a TLS proxy in front of the server of a database. It returns the database's URL
// through the proxy.
func withTLS(t *testing.T, databaseURL string) string {
	t.Helper()
	u, err := url.Parse(pgtest.ByTCP(t, databaseURL))
	dbtest.Must(t, err)
	certified := httptest.NewTLSServer(nil)
	certified.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	dbtest.Must(t, err)
	target := u.Host
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				if err := serveTLS(client, target, certified.TLS); err != nil {
					t.Errorf("serve TLS: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	u.Host = listener.Addr().String()
	return u.String()
}

// serveTLS accepts a client's request for TLS. It then forwards data between the client and target,
// until either of them closes its connection.
func serveTLS(client net.Conn, target string, config *tls.Config) error {
	defer func() { _ = client.Close() }()
	request := make([]byte, 8)
	_, err := io.ReadFull(client, request)
	if err != nil {
		return err
	}
	if _, err := client.Write([]byte("S")); err != nil {
		return err
	}
	server, err := net.Dial("tcp", target)
	if err != nil {
		return err
	}
	encrypted := tls.Server(client, config)
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(encrypted, server)
		_ = encrypted.Close()
	})
	_, _ = io.Copy(server, encrypted) // until one side closes its connection
	err = server.Close()
	back.Wait()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}
