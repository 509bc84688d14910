package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"elobot/internal/botsim"
)

// latency measures how long a player waits for the answer to a result, at a steady rate of results.
func latency() scenario {
	return scenario{
		name:        "latency",
		description: "from the delivery of an update to the answer, for elobot and two echo bots",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			var figures []figure
			for _, bot := range []struct {
				name    string
				measure func(context.Context, *environment) ([]wait, error)
			}{{"latency", elobotLatency}, {"latency.echo", echoLatency}, {"latency.durable_echo", durableEchoLatency}} {
				waits, err := bot.measure(ctx, env)
				if err != nil {
					return figures, fmt.Errorf("measure %s: %w", bot.name, err)
				}
				figures = append(figures, latencyFigures(bot.name, waits)...)
			}
			return figures, nil
		},
	}
}

// wait is the time that an answer took.
type wait struct {
	delivered time.Duration // since the update was delivered to the bot
	sent      time.Duration // since the player sent the message
}

func latencyFigures(name string, waits []wait) []figure {
	delivered, sent := make([]time.Duration, len(waits)), make([]time.Duration, len(waits))
	for i, w := range waits {
		delivered[i], sent[i] = w.delivered, w.sent
	}
	return append(percentiles(name, delivered), percentiles(name+".sent", sent)...)
}

func percentiles(name string, times []time.Duration) []figure {
	var figures []figure
	for _, p := range []float64{50, 95, 99} {
		figures = append(figures, figure{
			Name: fmt.Sprintf("%s.p%g", name, p), Value: milliseconds(percentile(times, p)), Unit: "ms", Better: lower,
		})
	}
	return figures
}

func elobotLatency(ctx context.Context, env *environment) ([]wait, error) {
	db, drop, err := env.database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	waits, err := measureLatency(ctx, env, func(sim *botsim.Server) (*process, error) {
		return env.launchBot(ctx, sim, db.url, noLimits...)
	})
	if err == nil {
		err = env.verify(ctx, db.url)
	}
	return waits, err
}

func echoLatency(ctx context.Context, env *environment) ([]wait, error) {
	return measureLatency(ctx, env, func(sim *botsim.Server) (*process, error) { return env.launchEcho(ctx, sim, "") })
}

// durableEchoLatency measures the echo bot that makes a lookup and commits one row before it answers. It shows the cost of
// the two round trips to the database.
func durableEchoLatency(ctx context.Context, env *environment) ([]wait, error) {
	db, drop, err := env.database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	return measureLatency(ctx, env, func(sim *botsim.Server) (*process, error) { return env.launchEcho(ctx, sim, db.url) })
}

// measureLatency reports results at the configured rate and returns the wait for each answer. Before that every player
// plays once, so that the players are known and the connections open.
func measureLatency(ctx context.Context, env *environment, launch func(*botsim.Server) (*process, error)) ([]wait, error) {
	sim, err := botsim.New()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	load := newWorkload(sim, env.sizes)
	messages, unsubscribe := sim.Subscribe()
	defer unsubscribe()
	bot, err := launch(sim)
	if err != nil {
		return nil, err
	}
	ctx, cancel := bot.during(ctx)
	defer cancel()
	answers := newAnswers()
	n := load.playRound()
	_, err = waitMessages(ctx, messages, func(m botsim.Message) bool {
		answers.add(m)
		return len(answers.answeredAt) >= n
	}, func() { env.progress.log("warm-up: %d of %d results answered", len(answers.answeredAt), n) })
	var waits []wait
	if err == nil {
		waits, err = measureAnswers(ctx, env, sim, load, messages, answers)
	}
	return waits, errors.Join(err, bot.stop())
}

// measureAnswers reports results at the configured rate, waits until all are answered, and returns the waits.
func measureAnswers(ctx context.Context, env *environment, sim *botsim.Server, load *workload, messages <-chan botsim.Message,
	answers *answers) ([]wait, error) {
	n := env.sizes.rate * int(env.sizes.latency)
	env.progress.log("%d results, %d per second", n, env.sizes.rate)
	total := len(answers.answeredAt) + n
	answers.sent = answers.sent[:0]
	reporting, stop := context.WithCancel(ctx)
	defer stop()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		reportAtRate(reporting, load, n, time.Second/time.Duration(env.sizes.rate))
	}()
	_, err := waitMessages(ctx, messages, func(m botsim.Message) bool {
		answers.add(m)
		return len(answers.answeredAt) >= total
	}, func() { env.progress.log("%d of %d answered", len(answers.answeredAt)+n-total, n) })
	stop()
	<-sent
	if err != nil {
		return nil, err
	}
	return answers.waits(deliveryTimes(sim.CallsOf("getUpdates")))
}

// reportAtRate reports n results at fixed intervals, regardless of how long the answers take.
func reportAtRate(ctx context.Context, load *workload, n int, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := range n {
		select {
		case <-tick.C:
			load.reportMatch(i)
		case <-ctx.Done():
			return
		}
	}
}

// answers matches the bot's messages to the players' messages. An answer either replies to one message, or covers several
// matches and names their numbers. The results of a group are numbered in the order in which they were sent.
type answers struct {
	sent       []botsim.Message
	byID       map[chatRef]int       // match number by chat and message id
	number     map[int64]int         // last match number by chat
	answeredAt map[chatRef]time.Time // by chat and match number
}

func newAnswers() *answers {
	return &answers{byID: make(map[chatRef]int), number: make(map[int64]int), answeredAt: make(map[chatRef]time.Time)}
}

// add records a player's message or an answer of the bot.
func (a *answers) add(m botsim.Message) {
	if !m.From.IsBot {
		a.sent = append(a.sent, m)
		a.number[m.ChatID]++
		a.byID[chatRef{m.ChatID, m.ID}] = a.number[m.ChatID]
		return
	}
	numbers := numbersIn(m.Text)
	if n, ok := a.byID[chatRef{m.ChatID, m.ReplyTo}]; ok {
		numbers = append(numbers, n)
	}
	for _, n := range numbers {
		match := chatRef{m.ChatID, n}
		if _, again := a.answeredAt[match]; !again {
			a.answeredAt[match] = m.Date
		}
	}
}

// waits returns the wait for the answer to each message. delivered are the times of deliveries in ascending order.
func (a *answers) waits(delivered []time.Time) ([]wait, error) {
	all := make([]wait, 0, len(a.sent))
	for _, m := range a.sent {
		i, _ := slices.BinarySearchFunc(delivered, m.Date, time.Time.Compare)
		answeredAt, answered := a.answeredAt[chatRef{m.ChatID, a.byID[chatRef{m.ChatID, m.ID}]}]
		switch {
		case i == len(delivered):
			return nil, fmt.Errorf("message %d of chat %d was not delivered", m.ID, m.ChatID)
		case !answered:
			return nil, fmt.Errorf("message %d of chat %d was not answered", m.ID, m.ChatID)
		case answeredAt.Before(delivered[i]):
			return nil, fmt.Errorf("message %d of chat %d was answered before it was delivered", m.ID, m.ChatID)
		}
		all = append(all, wait{delivered: answeredAt.Sub(delivered[i]), sent: answeredAt.Sub(m.Date)})
	}
	return all, nil
}

// deliveryTimes returns the times at which getUpdates delivered updates, in ascending order. A message is part of the first
// delivery after it was sent, because all waiting updates fit into one delivery.
func deliveryTimes(calls []botsim.Call) []time.Time {
	var ends []time.Time
	for _, c := range calls {
		empty := strings.HasSuffix(c.Body, `"result":[]}`)
		if c.Done && c.Status == 200 && !empty && c.Params["limit"] != "1" { // the last call, with limit 1, only confirms
			ends = append(ends, c.At.Add(c.Duration))
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	return ends
}
