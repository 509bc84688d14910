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
	"elobot/internal/postgres"
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

// TestReasonToBeCareful: a second instance beside a healthy one waits for its sign of life, and says so. That an update may have
// crashed an instance is said only if one has vanished.
func TestReasonToBeCareful(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	var logged bytes.Buffer
	silent, log := slog.New(slog.DiscardHandler), slog.New(slog.NewTextHandler(&logged, nil))
	times := leaseTimes{duration: time.Minute, renewal: time.Minute}
	instance := func(name string, pool *pgxpool.Pool, log *slog.Logger) *crashWatch {
		return &crashWatch{instance: postgres.NewWebhookInstance(pool, name, times.duration), worker: intake.NewWorker(nil, nil, nil, log), log: silent}
	}
	renew := func(w *crashWatch) {
		t.Helper()
		if err := w.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	says := func(when, want string) {
		t.Helper()
		if got := logged.String(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s, the log says %q, want %q", when, got, want)
		}
		logged.Reset()
	}
	healthy := instance("healthy", pool, silent)
	healthy.begin(t.Context())
	second := instance("second", pool, log)
	second.begin(t.Context())
	says("beside an instance that has not renewed yet", `msg="handling updates one at a time" reason="it is not known yet whether an instance that started earlier is alive"`)
	renew(healthy)
	renew(second)
	says("beside a healthy instance", `msg="handling updates in parallel again"`)
	renew(second)
	says("after another renewal", "")
	if _, err := pool.Exec(t.Context(), `UPDATE webhook_instances SET expires_at = now() WHERE name = 'healthy'`); err != nil {
		t.Fatal(err)
	}
	renew(second)
	says("after the other one has vanished", `msg="handling updates one at a time" reason="another instance has vanished, so one of its updates may have crashed it"`)

	pool.Close()
	cutOff := instance("cut off", pool, log)
	cutOff.begin(t.Context())
	says("without a database", `reason="the database did not answer whether another instance has vanished"`)
}
