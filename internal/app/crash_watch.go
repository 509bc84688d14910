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
	failing  bool // the last renewal failed
}

func newCrashWatch(pool *pgxpool.Pool, worker *intake.Worker, times leaseTimes, log *slog.Logger) *crashWatch {
	return &crashWatch{
		instance: postgres.NewWebhookInstance(pool, instanceName(), times.duration), worker: worker, renewal: times.renewal, log: log,
	}
}

// begin registers the instance, before anything is delivered to it.
func (w *crashWatch) begin(ctx context.Context) {
	err := w.renew(ctx)
	if w.failing = err != nil; w.failing {
		w.worker.SetCareful("the database did not answer whether another instance has vanished")
		w.warn(ctx, err)
	}
}

// run watches for crashes until the context ends, when nothing more is delivered. It returns nil.
func (w *crashWatch) run(ctx context.Context) error {
	tick := time.NewTicker(w.renewal)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.end(ctx)
			return nil
		}
		err := w.renew(ctx)
		if err != nil && !w.failing && ctx.Err() == nil {
			w.warn(ctx, err)
		}
		w.failing = err != nil
	}
}

// renew does not end with the context: the database might carry out a cancelled renewal after the instance has left.
func (w *crashWatch) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
	defer cancel()
	others, err := w.instance.Renew(ctx)
	if err != nil {
		return err
	}
	switch others {
	case postgres.OthersAlive:
		w.worker.SetCareful("")
	case postgres.OthersUnknown:
		w.worker.SetCareful("it is not known yet whether an instance that started earlier is alive")
	case postgres.OthersVanished:
		w.worker.SetCareful("another instance has vanished, so one of its updates may have crashed it")
	}
	return nil
}

func (w *crashWatch) warn(ctx context.Context, err error) {
	w.log.WarnContext(ctx, "failed to look for vanished instances, retrying", "error", err)
}

// end deregisters the instance. If the last renewal failed, the database may still carry it out afterwards.
func (w *crashWatch) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout/2)
	defer cancel()
	switch err := w.instance.Leave(ctx); {
	case err != nil:
		w.log.WarnContext(ctx, "failed to deregister this instance, the others will handle updates one at a time for some minutes", "error", err)
	case w.failing:
		w.log.WarnContext(ctx, "deregistered this instance, but its last renewal failed: the others may handle updates one at a time for some minutes")
	}
}
