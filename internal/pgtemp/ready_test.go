package pgtemp

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestPatience checks that waitFor waits any amount of time for a server that is recovering its
// data, but gives up on a server that no longer answers.
func TestPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const recovery, end = startTimeout / 2, 3 * startTimeout
		begun := time.Now()
		err := waitFor(t.Context(), func() error { return nil }, func(time.Duration) error {
			if since := time.Since(begun); recovery < since && since < end {
				return &pgconn.PgError{Code: pgerrcode.CannotConnectNow}
			}
			return errors.New("connection refused")
		})
		if took := time.Since(begun); took < end+startTimeout || took > end+startTimeout+time.Second {
			t.Errorf("it waits for %v", took)
		}
		if err == nil || !strings.Contains(err.Error(), "not ready in time (connection refused)") {
			t.Errorf("it ends with %v", err)
		}
	})
}

// TestNoPatience checks that waitFor gives up at once if the server runs without its database.
func TestNoPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dropped, begun := &pgconn.PgError{Code: pgerrcode.InvalidCatalogName}, time.Now()
		err := waitFor(t.Context(), func() error { return nil }, func(time.Duration) error { return dropped })
		if took := time.Since(begun); took > 0 || !errors.Is(err, dropped) {
			t.Errorf("it waits for %v, and ends with %v", took, err)
		}
	})
}
