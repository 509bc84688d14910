package app

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/intake"
	"elobot/internal/pgtemp/pgtest"
)

// TestRenewalOutlivesTheStop: a renewal that is under way when the instance stops is not cancelled, since the database might
// carry it out after the instance has left. If a renewal failed, the log says that the instance may still be registered.
func TestRenewalOutlivesTheStop(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	times := leaseTimes{duration: time.Minute, renewal: time.Minute}
	w := newCrashWatch(pool, intake.NewWorker(nil, nil, nil, log), times, log)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := w.renew(stopped); err != nil {
		t.Errorf("a renewal under way: %v", err)
	}
	for _, failing := range []bool{false, true} {
		logged.Reset()
		w.failing = failing
		w.end(stopped)
		if got := strings.Contains(logged.String(), "but its last renewal failed"); got != failing {
			t.Errorf("after a renewal that failed (%t) the log says %q", failing, &logged)
		}
	}
	var registered int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM webhook_instances`).Scan(&registered); err != nil || registered != 0 {
		t.Errorf("%d instances are registered, %v", registered, err)
	}
}
