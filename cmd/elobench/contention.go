package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/botsim"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

const (
	// contenders is the number of players in the group. Every result affects half of them.
	contenders = 4
	// concurrentDeliveries is the maximum number of results being delivered at the same time,
	// across all instances.
	concurrentDeliveries = 12
	// conflictLogLine is a part of each log line about a conflict, and of no other line.
	conflictLogLine = `msg="conflict with another transaction"`
)

// measureContention measures how much instances slow each other down when they record results of
// the same few players at the same time. Telegram delivers the messages of a group one at a time,
// so the benchmark itself delivers them, to all instances in turn.
func measureContention(ctx context.Context, b *bench) error {
	for instances := 1; instances <= 3; instances++ {
		err := b.onStage(ctx, 1, contenders, func(w *workload, db database) error { return b.contend(ctx, instances, w, db) })
		if err != nil {
			return fmt.Errorf("%d instances: %w", instances, err)
		}
	}
	return nil
}

// contend measures the time from the first concurrent delivery until the last delivery is answered.
// By then, the bot has recorded every result or given up on it after too many conflicts.
func (b *bench) contend(ctx context.Context, instances int, w *workload, db database) error {
	n := b.sizes.contended
	w.play(contenders + n)
	updates, err := takeUpdates(ctx, w.sim)
	if err != nil {
		return err
	}
	f := fleet{client: &http.Client{Timeout: time.Minute,
		Transport: &http.Transport{MaxIdleConnsPerHost: concurrentDeliveries}}}
	for range instances {
		public := "" // Telegram would deliver to the first instance
		if len(f.endpoints) > 0 {
			public = f.endpoints[0]
		}
		bot, endpoint, err := b.launchServing(ctx, w.sim, db.url, public)
		if err != nil {
			return errors.Join(err, f.stop())
		}
		f.bots, f.endpoints = append(f.bots, bot), append(f.endpoints, endpoint)
	}
	if err := b.pauseWhileCareful(ctx); err != nil {
		return errors.Join(err, f.stop())
	}
	took, err := f.deliver(ctx, updates[:contenders], updates[contenders:])
	var recorded, givenUp int
	if err == nil {
		err = db.QueryRow(ctx, `
			SELECT (SELECT count(*) FROM matches), (SELECT count(*) FROM outbox WHERE kind = $1 AND payload->>'code' = $2)`,
			notice.KindOf(ranking.Refusal{}).Name, string(ranking.TooManyAtOnce)).Scan(&recorded, &givenUp)
	}
	if err == nil && recorded+givenUp != len(updates) {
		err = fmt.Errorf("of %d results, %d are recorded and %d given up", len(updates), recorded, givenUp)
	}
	if err == nil {
		_, err = w.awaitAnswers(ctx, b, recorded)
	}
	if err = errors.Join(err, f.stop()); err != nil {
		return err
	}
	conflicts := 0
	for _, bot := range f.bots {
		conflicts += strings.Count(bot.output.String(), conflictLogLine)
	}
	return b.report(fmt.Sprintf("Contention/instances=%d", instances), n,
		metric{float64(n-givenUp) / took.Seconds(), "results/s"}, metric{float64(conflicts), "conflicts"},
		metric{float64(givenUp), "given-up"})
}

// takeUpdates fetches and confirms all waiting updates, so that the bot does not get them.
func takeUpdates(ctx context.Context, sim *botsim.Server) (all []json.RawMessage, err error) {
	for offset := 0; ; {
		var answer struct {
			Result []json.RawMessage `json:"result"`
		}
		address := fmt.Sprintf("%s/bot%s/getUpdates?offset=%d", sim.URL(), sim.Token(), offset)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return nil, fmt.Errorf("fetch updates: %w", err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, fmt.Errorf("fetch updates: %w", err)
		}
		if err := errors.Join(json.NewDecoder(resp.Body).Decode(&answer), resp.Body.Close()); err != nil {
			return nil, fmt.Errorf("fetch updates: %w", err)
		}
		if len(answer.Result) == 0 {
			return all, nil
		}
		all = append(all, answer.Result...)
		var last struct {
			ID int `json:"update_id"`
		}
		if err := json.Unmarshal(all[len(all)-1], &last); err != nil {
			return nil, fmt.Errorf("fetch updates: %w", err)
		}
		offset = last.ID + 1
	}
}

// fleet is a set of instances that share a database and a webhook.
type fleet struct {
	bots      []*process
	endpoints []string // by instance
	client    *http.Client
}

// deliver delivers the updates of before one at a time, then the others concurrently, and returns
// how long the concurrent part took. The first updates make all players known to the bot. They also
// reach every instance, which ends its careful mode if the mode has lasted long enough.
func (f *fleet) deliver(ctx context.Context, before, updates []json.RawMessage) (time.Duration, error) {
	for _, bot := range f.bots {
		watched, cancel := bot.during(ctx)
		defer cancel()
		ctx = watched
	}
	for i, u := range before {
		if err := f.post(ctx, i, u); err != nil {
			return 0, err
		}
	}
	startedAt := time.Now()
	deliveries, delivering := errgroup.WithContext(ctx)
	deliveries.SetLimit(concurrentDeliveries)
	for i, u := range updates {
		deliveries.Go(func() error { return f.post(delivering, i, u) })
	}
	if err := deliveries.Wait(); err != nil {
		return 0, errors.Join(err, context.Cause(ctx))
	}
	return time.Since(startedAt), nil
}

// post delivers an update to the instance that turn selects. It returns an error unless the
// response is 200.
func (f *fleet) post(ctx context.Context, turn int, update json.RawMessage) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		f.endpoints[turn%len(f.endpoints)], bytes.NewReader(update))
	if err != nil {
		return fmt.Errorf("deliver: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Telegram-Bot-Api-Secret-Token", webhookSecret)
	resp, err := f.client.Do(req)
	if err != nil {
		return fmt.Errorf("deliver: %w", err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return fmt.Errorf("deliver: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("deliver: the bot responded %s", resp.Status)
	}
	return nil
}

// stop stops all instances gracefully, one after another.
func (f *fleet) stop() error {
	f.client.CloseIdleConnections()
	var failures []error
	for _, bot := range f.bots {
		failures = append(failures, bot.stop())
	}
	return errors.Join(failures...)
}
