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
	// contenders is how many people play in the one group: every result concerns half of them.
	contenders = 4
	// deliveredAtOnce is how many results are on their way at the same time, however many instances share them.
	deliveredAtOnce = 12
	// saidOfConflict is how the bot's log begins to tell of a conflict.
	saidOfConflict = `msg="conflict with another transaction"`
)

// contention measures what instances cost each other that record results of the same few people at the same time. With
// Telegram that is rare, because it delivers what is said in a group one after another. So the results are delivered
// from here, to all instances in turn.
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

// measureContention measures from the first delivery to so many instances until the last one is answered, which is when
// all results are recorded. It counts the conflicts, and the results that were given up because of them: after every
// other conflict the bot has tried again.
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
	crowd, n := newCrowd(sim, sizes{groups: 1, people: contenders}), env.sizes.contended
	introductions := crowd.introduce()
	for i := range n {
		crowd.say(i)
	}
	updates, err := takeUpdates(ctx, sim)
	if err != nil {
		return nil, err
	}
	if len(updates) != introductions+n {
		return nil, fmt.Errorf("%d results make %d updates", introductions+n, len(updates))
	}

	messages, leave := sim.Subscribe()
	defer leave()
	fleet, err := env.launchFleet(ctx, sim, db.url, instances)
	if err != nil {
		return nil, err
	}
	env.progress.say("%d results, %d at the same time; instances: %d", n, deliveredAtOnce, instances)
	took, err := fleet.deliver(ctx, updates[:introductions], updates[introductions:])
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
	if instances > 1 { // one has nobody to be in conflict with
		figures = append(figures,
			figure{Name: name + ".conflicts", Value: float64(fleet.conflicts()), Unit: "conflicts", Better: lower},
			figure{Name: name + ".giveups", Value: float64(givenUp), Unit: "results", Better: lower})
	}
	return figures, nil
}

// checkContended makes sure that each of n results is recorded, or given up and said to be, and waits until all that
// are recorded have been told. It returns how many are given up.
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
		return 0, fmt.Errorf("count what is recorded: %w", err)
	case recorded+givenUp != n:
		return 0, fmt.Errorf("of %d results %d are recorded and %d given up", n, recorded, givenUp)
	}
	_, err = newTally().wait(ctx, messages, recorded, env.progress)
	return givenUp, err
}

// takeUpdates takes all updates that wait, each as Telegram writes it, so that nobody else gets them.
func takeUpdates(ctx context.Context, sim *botsim.Server) ([]json.RawMessage, error) {
	var all []json.RawMessage
	for offset := int64(0); ; {
		answer, err := askForUpdates(ctx, sim, offset)
		if err != nil {
			return nil, fmt.Errorf("take updates: %w", err)
		}
		if len(answer) == 0 {
			return all, nil
		}
		all = append(all, answer...)
		var last struct {
			ID int64 `json:"update_id"`
		}
		if err := json.Unmarshal(answer[len(answer)-1], &last); err != nil {
			return nil, fmt.Errorf("take updates: %w", err)
		}
		offset = last.ID + 1
	}
}

// askForUpdates asks for updates once, which confirms those before the offset.
func askForUpdates(ctx context.Context, sim *botsim.Server, offset int64) ([]json.RawMessage, error) {
	address := fmt.Sprintf("%s/bot%s/getUpdates?offset=%d", sim.URL(), sim.Token(), offset)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // what has been read is read
	var answer struct {
		OK          bool              `json:"ok"`
		Description string            `json:"description"`
		Result      []json.RawMessage `json:"result"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if !answer.OK {
		return nil, errors.New(answer.Description)
	}
	return answer.Result, nil
}

// fleet is instances of the bot that share a database, and a webhook of which each serves a part.
type fleet struct {
	bots   []*process
	doors  []string // where what each of them is to get is delivered
	client *http.Client
}

func (e *environment) launchFleet(
	ctx context.Context, sim *botsim.Server, databaseURL string, instances int,
) (*fleet, error) {
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = deliveredAtOnce
	f := &fleet{client: &http.Client{Transport: pool, Timeout: time.Minute}} // as long as Telegram waits
	public := ""
	for range instances {
		bot, door, err := e.launchBehindDoor(ctx, sim, databaseURL, public)
		if err != nil {
			return nil, errors.Join(err, f.kill())
		}
		f.bots, f.doors = append(f.bots, bot), append(f.doors, door)
		public = f.doors[0]
	}
	return f, nil
}

// deliver delivers some updates one after another, so that everybody and everything is known, and then measures how
// long the others take that come at the same time.
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
	begun := time.Now()
	deliveries, delivering := errgroup.WithContext(ctx)
	deliveries.SetLimit(deliveredAtOnce)
	for i, u := range updates {
		deliveries.Go(func() error { return f.post(delivering, i, u) })
	}
	if err := deliveries.Wait(); err != nil {
		return 0, errors.Join(err, context.Cause(ctx))
	}
	return time.Since(begun), nil
}

// post delivers an update to the instance whose turn it is, and returns an error unless it takes it.
func (f *fleet) post(ctx context.Context, turn int, update json.RawMessage) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.doors[turn%len(f.doors)], bytes.NewReader(update))
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
		return fmt.Errorf("deliver: the bot answers %s", resp.Status)
	}
	return nil
}

// conflicts returns how many conflicts the instances tell of in their logs.
func (f *fleet) conflicts() (n int) {
	for _, bot := range f.bots {
		n += strings.Count(bot.output.String(), saidOfConflict)
	}
	return n
}

// stop has all instances end in peace, one after another.
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
