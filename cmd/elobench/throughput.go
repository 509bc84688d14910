package main

import (
	"context"
	"fmt"
	"time"
)

// measureThroughput measures how fast the bot records and delivers results that arrive all at once,
// without rate limits: results that wait for the polling bot when it starts, and results that
// arrive by webhook after pauseWhileCareful. At first the bot knows no player.
func measureThroughput(ctx context.Context, b *bench) error {
	for name, launch := range map[string]launcher{
		"Throughput/polling": b.launchPolling, "Throughput/webhook": b.launchWebhook,
	} {
		err := b.onStage(ctx, 2*b.sizes.groups, 2*b.sizes.people, func(w *workload, db database) error {
			return b.measureWaiting(ctx, name, launch, w, db)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// measureWaiting measures the time until all results are recorded, and until the bot has answered
// them. With polling, the time starts when the bot first asks for updates. With a webhook, it
// starts when the first result is reported.
func (b *bench) measureWaiting(ctx context.Context, name string, launch launcher, w *workload, db database) error {
	n, polls := b.sizes.waiting, name == "Throughput/polling"
	if polls {
		w.play(n)
	} else {
		// withBot waits for a delivery, so deliver an update that the bot ignores.
		w.sim.Update([]byte(`{"poll":{"id":"1"}}`))
	}
	var startedAt, answeredAt, recordedAt time.Time
	var used, memory []metric
	err := b.withBot(ctx, launch, w, db.url, func(ctx context.Context, bot *process) (err error) {
		startedAt = time.Now()
		if !polls {
			if err := b.pauseWhileCareful(ctx); err != nil {
				return err
			}
			startedAt = time.Now()
			w.play(n)
		}
		if used, err = b.processorsOf(bot, n, func() (err error) {
			answeredAt, err = w.awaitAnswers(ctx, b, n)
			return err
		}); err == nil {
			memory, err = memoryOf(bot)
		}
		return err
	})
	if err != nil {
		return err
	}
	// created_at is when a match's transaction began, which is milliseconds before its commit.
	if err := db.QueryRow(ctx, `SELECT max(created_at) FROM matches`).Scan(&recordedAt); err != nil {
		return fmt.Errorf("read when the last result was recorded: %w", err)
	}
	metrics := []metric{
		{float64(n) / recordedAt.Sub(startedAt).Seconds(), "results/s"},
		{float64(n) / answeredAt.Sub(startedAt).Seconds(), "delivered/s"},
		{float64(w.sim.CallCount("sendMessage")) / float64(n), "messages/result"},
	}
	return b.report(name, n, append(append(metrics, used...), memory...)...)
}
