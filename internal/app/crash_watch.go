package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/intake"
	"elobot/internal/postgres"
)

// crashWatch makes a webhook instance careful after another instance has vanished: Telegram redelivers the updates that one
// was handling, and the one that crashed it may arrive here.
type crashWatch struct {
	instance *postgres.WebhookInstance
	worker   *intake.Worker
	renewal  time.Duration
	log      *slog.Logger
}

func newCrashWatch(pool *pgxpool.Pool, worker *intake.Worker, times leaseTimes, log *slog.Logger) *crashWatch {
	return &crashWatch{postgres.NewWebhookInstance(pool, instanceName(), times.duration), worker, times.renewal, log}
}

// begin registers the instance, before anything is delivered to it.
func (w *crashWatch) begin(ctx context.Context) {
	if err := w.renew(ctx); err != nil {
		w.worker.SetCareful(true) // until the database answers
		w.warn(ctx, err)
	}
}

// run watches for crashes until the context ends, when nothing more is delivered. It returns nil.
func (w *crashWatch) run(ctx context.Context) error {
	tick := time.NewTicker(w.renewal)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.end(ctx)
			return nil
		}
		err := w.renew(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			w.warn(ctx, err)
		}
		failing = err != nil
	}
}

func (w *crashWatch) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	vanished, err := w.instance.Renew(ctx)
	if err == nil {
		w.worker.SetCareful(vanished)
	}
	return err
}

func (w *crashWatch) warn(ctx context.Context, err error) {
	w.log.WarnContext(ctx, "failed to look for vanished instances, retrying", "error", err)
}

func (w *crashWatch) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout/2)
	defer cancel()
	if err := w.instance.Leave(ctx); err != nil {
		w.log.WarnContext(ctx, "failed to deregister this instance, the others will handle updates one at a time for some minutes", "error", err)
	}
}
