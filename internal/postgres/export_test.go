package postgres

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Internals for tests.
var (
	MigrateAfter     = migrateAfter
	LanePayload      = lanePayload
	ReadLane         = readLane
	NextNotification = next
	StaysInside      = staysInside
)

// OpenPoolsBy is like OpenPools, but makes connections with dial.
func OpenPoolsBy(
	ctx context.Context, url string, dial pgconn.DialFunc, timeout time.Duration, log *slog.Logger,
) (Pools, error) {
	o, err := newOpener(url, log)
	if err != nil {
		return Pools{}, err
	}
	o.config.ConnConfig.DialFunc = dial
	return o.openPools(ctx, timeout, log)
}

// LookUp returns the given addresses of a host in the order in which a new session tries them. last
// is the address of the newest session.
func LookUp(addresses []string, last string) ([]string, error) {
	h := hosts{addresses: make(map[string][]string), last: last}
	config := pgconn.Config{LookupFunc: func(context.Context, string) ([]string, error) { return addresses, nil }}
	h.limit(&config)
	return config.LookupFunc(context.Background(), "db")
}

// SetIdleTimeout sets how long a transaction under the lease may be idle.
func (l *Lease) SetIdleTimeout(timeout time.Duration) { l.idleTimeout = timeout }
