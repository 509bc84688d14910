package main

import (
	"context"
	"fmt"
	"time"
)

// measureLatency measures how long a player waits for the answer to a result, at a steady rate of
// results. First it measures the bot's start, from the launch of the program to its first request
// for updates on a migrated database, and its memory when idle.
func measureLatency(ctx context.Context, b *bench) error {
	return b.onStage(ctx, 2*b.sizes.groups, b.sizes.people, func(w *workload, db database) error {
		if err := b.migrate(ctx, w, db); err != nil {
			return err
		}
		// Every member plays first, so that the bot knows them all and its connections are open.
		known := len(w.groups) * b.sizes.people
		n := b.sizes.rate * b.sizes.seconds
		var metrics []metric
		startedAt := time.Now()
		err := b.withBot(ctx, b.launchPolling, w, db.url, func(ctx context.Context, bot *process) (err error) {
			start := time.Since(startedAt)
			if metrics, err = memoryOf(bot); err != nil {
				return err
			}
			metrics = append(metrics, metric{milliseconds(start), "start-ms"})
			w.play(known)
			if _, err = w.awaitAnswers(ctx, b, known); err != nil {
				return err
			}
			return w.playAtRate(ctx, b, b.sizes.rate, n)
		})
		if err != nil {
			return err
		}
		var waits []time.Duration
		for ref, sentAt := range w.sentAt {
			if ref.number > known/len(w.groups) {
				waits = append(waits, w.coverage[ref].Sub(sentAt))
			}
		}
		for _, p := range []float64{50, 95, 99} {
			metrics = append(metrics, metric{milliseconds(percentile(waits, p)), fmt.Sprintf("p%g-ms", p)})
		}
		return b.report("Latency", n, metrics...)
	})
}

// playAtRate reports n results, rate of them per second however long the answers take, and returns
// once all are answered.
func (w *workload) playAtRate(ctx context.Context, b *bench, rate, n int) error {
	all := len(w.coverage) + w.unnamed + n
	ctx, stop := context.WithCancel(ctx)
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for range n {
			select {
			case <-tick.C:
				w.play(1)
			case <-ctx.Done():
				return
			}
		}
	}()
	_, err := w.awaitAnswers(ctx, b, all)
	stop()
	<-reported
	return err
}
