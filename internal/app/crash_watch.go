package app

import (
	"context"
	"errors"
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
			w.end(ctx, failing)
			return nil
		}
		err := w.renew(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			w.warn(ctx, err)
		}
		failing = err != nil
	}
}

// renew does not end with the context: the database might carry out a cancelled renewal after the instance has left.
func (w *crashWatch) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
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

// errRenewalUnanswered means that the database may still carry out a renewal, after the instance has left.
var errRenewalUnanswered = errors.New("the last renewal was not answered")

// end deregisters the instance. failing says that the last renewal failed.
func (w *crashWatch) end(ctx context.Context, failing bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout/2)
	defer cancel()
	err := w.instance.Leave(ctx)
	if err == nil && failing {
		err = errRenewalUnanswered
	}
	if err != nil {
		w.log.WarnContext(ctx, "failed to deregister this instance, the others will handle updates one at a time for some minutes", "error", err)
	}
}
