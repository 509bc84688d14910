package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"elobot/internal/botsim"
)

// draining measures how long the bot takes, with default settings, to send many answers to many groups while the simulator
// enforces Telegram's limits. The bot should take hardly longer than the minimum, and get no 429.
//
// The minimum is the time from the first message to the last that Telegram's own limits impose on any sender. If N
// messages are allowed in a window, N can go at once, and N more after each window. By default the bot's SEND_LIMIT_
// settings allow as much as Telegram does, so that they lead to the same minimum. If they were lower, this figure would
// show the cost.
func draining() scenario {
	return scenario{
		name:        "draining",
		description: "answers to many groups, within the limits that Telegram enforces",
		run:         measureDraining,
	}
}

// measureDraining measures the time from the bot's first request for updates until every question is answered. Each
// answer is a message of its own, because the bot never merges ranking pages. Each player asks only once, because the
// number of questions per player is limited.
func measureDraining(ctx context.Context, env *environment) ([]figure, error) {
	limits := botsim.TelegramLimits()
	sim, err := botsim.New(botsim.WithLimits(limits))
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	db, drop, err := env.database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	groups, each := env.sizes.drained, env.sizes.answers
	load, n := newWorkload(sim, sizes{groups: groups, people: each}), groups*each
	load.ask()
	minimum := minimumTime(limits, groups, each)
	env.progress.log("%d questions of %d groups are waiting; the answers take at least %v", n, groups, minimum)

	var startedAt time.Time
	var once sync.Once
	polling.onDelivery(sim, func() { once.Do(func() { startedAt = time.Now() }) })
	messages, unsubscribe := sim.Subscribe()
	defer unsubscribe()
	bot, err := env.launchBot(ctx, sim, db.url)
	if err != nil {
		return nil, err
	}
	running, cancel := bot.during(ctx)
	defer cancel()
	answered := make(map[chatRef]bool) // by chat and id of the question
	last, err := waitMessages(running, messages, func(m botsim.Message) bool {
		if m.From.IsBot && m.ReplyTo != 0 {
			answered[chatRef{m.ChatID, m.ReplyTo}] = true
		}
		return len(answered) >= n
	}, func() { env.progress.log("%d of %d questions answered", len(answered), n) })
	if err = errors.Join(err, bot.stop(), complaintsOf(sim)); err != nil {
		return nil, err
	}
	return []figure{
		{Name: "draining.time", Value: last.Sub(startedAt).Seconds(), Unit: "s", Better: lower},
		{Name: "draining.least", Value: minimum.Seconds(), Unit: "s", Better: lower},
		{Name: "draining.429", Value: float64(countRejected(sim)), Unit: "requests", Better: lower},
	}, nil
}

// minimumTime returns the minimum time from the first message to the last, for the given number of messages to each group.
func minimumTime(limits botsim.Limits, groups, each int) time.Duration {
	minimum := func(n int, w botsim.Window) time.Duration {
		if w.N == 0 {
			return 0
		}
		return time.Duration((n-1)/w.N) * w.Per
	}
	return max(minimum(groups*each, limits.Overall), minimum(each, limits.Group), minimum(each, limits.Chat))
}

// countRejected returns the number of requests that got a 429.
func countRejected(sim *botsim.Server) (n int) {
	for _, c := range sim.Calls() {
		if c.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}
