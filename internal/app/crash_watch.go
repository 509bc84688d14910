package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/intake"
	"elobot/internal/postgres"
)

// crashWatch makes a webhook instance careful when another instance vanishes: Telegram repeats what that one had in hand,
// and the update that ended it may come here.
type crashWatch struct {
	instance *postgres.WebhookInstance
	worker   *intake.Worker
	renewal  time.Duration
	log      *slog.Logger
}

func newCrashWatch(pool *pgxpool.Pool, worker *intake.Worker, times leaseTimes, log *slog.Logger) *crashWatch {
	return &crashWatch{postgres.NewWebhookInstance(pool, instanceName(), times.duration), worker, times.renewal, log}
}

// begin makes the instance known, before anything is delivered to it.
func (w *crashWatch) begin(ctx context.Context) {
	if err := w.renew(ctx); err != nil {
		w.worker.SetCareful(true) // as long as nobody knows
		w.complain(ctx, err)
	}
}

// run keeps watch until the context ends, when nothing is delivered any more. It returns nil.
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
			w.complain(ctx, err)
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

func (w *crashWatch) complain(ctx context.Context, err error) {
	w.log.WarnContext(ctx, "failed to look for instances that have vanished, trying again", "error", err)
}

func (w *crashWatch) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout/2)
	defer cancel()
	if err := w.instance.Leave(ctx); err != nil {
		w.log.WarnContext(ctx, "failed to take leave: the other instances will be careful for some minutes", "error", err)
	}
}
