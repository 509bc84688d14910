package postgres

import (
	"time"
)

// Internals for tests.
var (
	LaneLists        = laneLists
	TablesOf         = tablesOf
	ReadLanes        = readLanes
	NextNotification = next
)

// SetIdleTimeout sets how long a transaction under the lease may be idle.
func (l *Lease) SetIdleTimeout(timeout time.Duration) { l.idleTimeout = timeout }
