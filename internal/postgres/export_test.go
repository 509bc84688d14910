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

// OpenPoolsBy is OpenPools with a way to dial.
func OpenPoolsBy(ctx context.Context, url string, dial pgconn.DialFunc, timeout time.Duration, log *slog.Logger) (Pools, error) {
	o, err := newOpener(url, log)
	if err != nil {
		return Pools{}, err
	}
	o.config.ConnConfig.DialFunc = dial
	return o.openPools(ctx, timeout, log)
}

// SetIdleTimeout sets how long a transaction under the lease may be idle.
func (l *Lease) SetIdleTimeout(timeout time.Duration) { l.idleTimeout = timeout }
