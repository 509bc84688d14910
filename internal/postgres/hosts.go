package postgres

import (
	"context"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// onlyHostTimeout limits each attempt to begin a session if there is a single host, and
	// eachHostTimeout if there are several. The URL can override both with connect_timeout.
	onlyHostTimeout = 5 * time.Second
	eachHostTimeout = 2 * time.Second
	// drainTimeout limits how long pgx, after giving up a session, waits for the rest of the
	// server's output. Until then, the session occupies a place in its pool. Without this limit,
	// pgx waits for 15 s.
	drainTimeout = time.Second
)

// hosts makes new sessions find a working host of DATABASE_URL quickly. A silent host, for example
// one that is switched off or frozen, delays a new session only briefly. Once a session has begun
// on another host, the silent host no longer delays new sessions at all.
type hosts struct {
	mu        sync.Mutex
	addresses map[string][]string // resolved IP addresses, by host
	last      string              // remote address of the newest session
}

// limit makes connections with this configuration wait only a limited time for a silent host. If a
// host name has several addresses, the connections try the newest session's address first. If there
// are several hosts, and target_session_attrs is unset or "any", the connections skip hosts that
// accept no writes.
func (h *hosts) limit(config *pgconn.Config) {
	several := slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		// The same host may be listed twice, with and without TLS.
		return f.Host != config.Host || f.Port != config.Port
	})
	if several && config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	switch {
	case config.ConnectTimeout > 0:
	case several:
		config.ConnectTimeout = eachHostTimeout
	default:
		config.ConnectTimeout = onlyHostTimeout
	}
	timeout := config.ConnectTimeout
	lookup, dial := config.LookupFunc, config.DialFunc
	config.LookupFunc = func(ctx context.Context, host string) ([]string, error) {
		addresses, err := lookup(ctx, host)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.addresses[host] = addresses
		last, _, _ := net.SplitHostPort(h.last) // empty before the first session
		if i := slices.Index(addresses, last); i > 0 {
			addresses[0], addresses[i] = addresses[i], addresses[0]
		}
		return addresses, err
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		// The method began removes this deadline. A connection that only cancels a statement keeps
		// it.
		return drained{conn}, conn.SetDeadline(time.Now().Add(timeout))
	}
}

// began records the remote address of a new session, and removes the deadline by which the session
// had to begin.
func (h *hosts) began(conn *pgconn.PgConn) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = conn.Conn().RemoteAddr().String()
	return conn.Conn().SetDeadline(time.Time{})
}

// lastFirst changes the configuration so that the host of the newest session is tried first.
func (h *hosts) lastFirst(config *pgx.ConnConfig) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := append([]*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}},
		config.Fallbacks...)
	rank := func(f *pgconn.FallbackConfig) int {
		isLast := func(ip string) bool { return net.JoinHostPort(ip, strconv.Itoa(int(f.Port))) == h.last }
		_, address := pgconn.NetworkAddress(f.Host, f.Port) // for a socket, which is not resolved
		if address == h.last || slices.ContainsFunc(h.addresses[f.Host], isLast) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b *pgconn.FallbackConfig) int { return rank(a) - rank(b) })
	config.Host, config.Port, config.TLSConfig, config.Fallbacks = all[0].Host, all[0].Port, all[0].TLSConfig, all[1:]
}

// drained is a connection that limits each deadline to at most drainTimeout from now. pgx sets a
// later deadline only when it gives up a session and waits for the rest of the server's output.
type drained struct{ net.Conn }

// SetDeadline implements net.Conn.
func (d drained) SetDeadline(at time.Time) error {
	if latest := time.Now().Add(drainTimeout); at.After(latest) {
		at = latest
	}
	return d.Conn.SetDeadline(at)
}
