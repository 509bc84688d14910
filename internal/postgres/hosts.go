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
	// onlyHostTimeout limits how long the only host may take to begin a session, and
	// eachHostTimeout how long each of several hosts may take. The URL can override both with
	// connect_timeout.
	onlyHostTimeout = 5 * time.Second
	eachHostTimeout = 2 * time.Second
	// drainTimeout limits how long an abandoned session waits for the rest of the server's output.
	// Until then it occupies a place in its pool, and pgx itself would wait for 15 s.
	drainTimeout = time.Second
)

// hosts are the hosts of DATABASE_URL. Any of them may be silent: switched off, cut off or frozen.
// A silent host must cost a new session little time, and the next session none.
type hosts struct {
	mu        sync.Mutex
	addresses map[string][]string // by host: its resolved IP addresses
	last      string              // where the newest session began
}

// limit bounds how long connections with this configuration wait for a silent host. If there are
// several hosts, connections accept only a host that accepts writes, unless the URL sets
// target_session_attrs.
func (h *hosts) limit(config *pgconn.Config) {
	several := slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		// the same host is listed with and without TLS
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
		last, _, _ := net.SplitHostPort(h.last) // has no port before the first session
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
		// began removes this deadline. A request to cancel a statement is a connection
		// too, and keeps it.
		return drained{conn}, conn.SetDeadline(time.Now().Add(timeout))
	}
}

// began records where a session has begun, and removes the deadline for its beginning.
func (h *hosts) began(conn *pgconn.PgConn) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = conn.Conn().RemoteAddr().String()
	return conn.Conn().SetDeadline(time.Time{})
}

// lastFirst moves the host of the newest session to the front.
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

// drained is a connection whose deadline is at most drainTimeout away. pgx sets a later one only
// when it abandons a session and waits for the rest of the server's output.
type drained struct{ net.Conn }

// SetDeadline implements net.Conn.
func (d drained) SetDeadline(at time.Time) error {
	if latest := time.Now().Add(drainTimeout); at.After(latest) {
		at = latest
	}
	return d.Conn.SetDeadline(at)
}
