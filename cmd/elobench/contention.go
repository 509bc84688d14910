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
	"elobot/internal/ranking"
)

const (
	// groupSize is the number of players in the group. Every result affects half of them.
	groupSize = 4
	// concurrentDeliveries is the number of results in delivery at the same time, for all instances together.
	concurrentDeliveries = 12
	// conflictLogLine is the part of the bot's log line by which a conflict is recognised.
	conflictLogLine = `msg="conflict with another transaction"`
)

// contention measures how much instances slow each other down when they record results of the same few players at the same
// time. With Telegram this is rare, because Telegram delivers the messages of a group one at a time. So the benchmark
// itself delivers the results, to all instances in turn.
func contention() scenario {
	return scenario{
		name:        "contention",
		description: "results of one group of four, delivered to one, two and three instances at the same time",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			var figures []figure
			for i, name := range []string{"one", "two", "three"} {
				found, err := measureContention(ctx, env, "contention."+name, i+1)
				if err != nil {
					return figures, fmt.Errorf("with %s: %w", name, err)
				}
				figures = append(figures, found...)
			}
			return figures, nil
		},
	}
}

// measureContention measures the time from the first delivery until the last one is answered. By then all results are
// recorded. It also counts the conflicts, and the results that the bot gave up after too many conflicts.
func measureContention(ctx context.Context, env *environment, name string, instances int) ([]figure, error) {
	sim, err := botsim.New(botsim.WithRecordLimit(1000))
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	db, drop, err := env.database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	load, n := newWorkload(sim, sizes{groups: 1, people: groupSize}), env.sizes.contended
	warmUp := load.playRound()
	for i := range n {
		load.reportMatch(i)
	}
	updates, err := takeUpdates(ctx, sim)
	if err != nil {
		return nil, err
	}
	if len(updates) != warmUp+n {
		return nil, fmt.Errorf("%d results led to %d updates", warmUp+n, len(updates))
	}

	messages, unsubscribe := sim.Subscribe()
	defer unsubscribe()
	fleet, err := env.launchFleet(ctx, sim, db.url, instances)
	if err != nil {
		return nil, err
	}
	env.progress.log("%d results, %d at the same time; instances: %d", n, concurrentDeliveries, instances)
	took, err := fleet.deliver(ctx, updates[:warmUp], updates[warmUp:])
	givenUp := 0
	if err == nil {
		givenUp, err = checkContended(ctx, env, db, messages, len(updates))
	}
	err = errors.Join(err, fleet.stop())
	if err == nil {
		err = errors.Join(env.verify(ctx, db.url), complaintsOf(sim))
	}
	if err != nil {
		return nil, err
	}
	figures := []figure{{Name: name, Value: perSecond(n-givenUp, took), Unit: "results/s", Better: higher}}
	if instances > 1 { // a single instance has no conflicts
		figures = append(figures,
			figure{Name: name + ".conflicts", Value: float64(fleet.conflicts()), Unit: "conflicts", Better: lower},
			figure{Name: name + ".giveups", Value: float64(givenUp), Unit: "results", Better: lower})
	}
	return figures, nil
}

// checkContended checks that each of n results is recorded or was given up with a refusal, and waits until the bot has
// answered all recorded results. It returns the number of results that were given up.
func checkContended(
	ctx context.Context, env *environment, db database, messages <-chan botsim.Message, n int,
) (givenUp int, err error) {
	var recorded int
	err = db.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM matches),
		       (SELECT count(*) FROM outbox WHERE kind = $1 AND payload->>'code' = $2)`,
		ranking.KindRefusal, string(ranking.TooManyAtOnce)).Scan(&recorded, &givenUp)
	switch {
	case err != nil:
		return 0, fmt.Errorf("count recorded results: %w", err)
	case recorded+givenUp != n:
		return 0, fmt.Errorf("of %d results, %d are recorded and %d given up", n, recorded, givenUp)
	}
	_, err = newResultCounter().wait(ctx, messages, recorded, env.progress)
	return givenUp, err
}

// takeUpdates fetches and confirms all waiting updates, so that the bot does not get them by polling.
func takeUpdates(ctx context.Context, sim *botsim.Server) ([]json.RawMessage, error) {
	var all []json.RawMessage
	for offset := int64(0); ; {
		answer, err := fetchUpdates(ctx, sim, offset)
		if err != nil {
			return nil, fmt.Errorf("fetch updates: %w", err)
		}
		if len(answer) == 0 {
			return all, nil
		}
		all = append(all, answer...)
		var last struct {
			ID int64 `json:"update_id"`
		}
		if err := json.Unmarshal(answer[len(answer)-1], &last); err != nil {
			return nil, fmt.Errorf("fetch updates: %w", err)
		}
		offset = last.ID + 1
	}
}

// fetchUpdates calls getUpdates once. This confirms the updates below offset.
func fetchUpdates(ctx context.Context, sim *botsim.Server, offset int64) ([]json.RawMessage, error) {
	address := fmt.Sprintf("%s/bot%s/getUpdates?offset=%d", sim.URL(), sim.Token(), offset)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // only read
	var answer struct {
		OK          bool              `json:"ok"`
		Description string            `json:"description"`
		Result      []json.RawMessage `json:"result"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("decode the response: %w", err)
	}
	if !answer.OK {
		return nil, errors.New(answer.Description)
	}
	return answer.Result, nil
}

// fleet is a set of bot instances that share a database and a webhook.
type fleet struct {
	bots      []*process
	endpoints []string // the webhook endpoint of each instance
	client    *http.Client
}

func (e *environment) launchFleet(
	ctx context.Context, sim *botsim.Server, databaseURL string, instances int,
) (*fleet, error) {
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = concurrentDeliveries
	f := &fleet{client: &http.Client{Transport: pool, Timeout: time.Minute}} // Telegram's timeout
	public := ""
	for range instances {
		bot, endpoint, err := e.launchWithWebhook(ctx, sim, databaseURL, public)
		if err != nil {
			return nil, errors.Join(err, f.kill())
		}
		f.bots, f.endpoints = append(f.bots, bot), append(f.endpoints, endpoint)
		public = f.endpoints[0]
	}
	return f, nil
}

// deliver first delivers the updates of before one at a time, so that the bot knows all players. Then it delivers updates
// concurrently and returns how long that took.
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

// post delivers an update to the instance whose turn it is. It returns an error unless the response is 200.
func (f *fleet) post(ctx context.Context, turn int, update json.RawMessage) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.endpoints[turn%len(f.endpoints)], bytes.NewReader(update))
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

// conflicts returns the number of conflicts in the logs of all instances.
func (f *fleet) conflicts() (n int) {
	for _, bot := range f.bots {
		n += strings.Count(bot.output.String(), conflictLogLine)
	}
	return n
}

// stop stops all instances gracefully, one after the other.
func (f *fleet) stop() error {
	f.client.CloseIdleConnections()
	var failures []error
	for _, bot := range f.bots {
		failures = append(failures, bot.stop())
	}
	return errors.Join(failures...)
}

func (f *fleet) kill() error {
	var failures []error
	for _, bot := range f.bots {
		failures = append(failures, bot.kill())
	}
	return errors.Join(failures...)
}
