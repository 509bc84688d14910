package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"elobot/internal/botsim"
)

// draining measures how long the bot takes, with the settings that it has by default, to send many answers to many
// groups where Telegram's limits are enforced: hardly longer than the limits dictate, and without being refused.
//
// The least possible time is what Telegram's own limits leave to any sender, from its first message to its last: where
// N messages are allowed in a span of time, N go at once, and N more after each span. By default the bot's SEND_LIMIT_
// settings allow as much as Telegram does, so that the least possible time is the same by both. Were they lower, this
// would show what that costs.
func draining() scenario {
	return scenario{
		name:        "draining",
		description: "answers to many groups, with the limits that the bot keeps by default and Telegram enforces",
		run:         measureDraining,
	}
}

// measureDraining measures from the bot's first request for updates until every question has an answer of its own: a
// page of the ranking is told together with nothing else. Everybody asks once, because of one person only so many
// questions are answered.
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
	crowd, n := newCrowd(sim, sizes{groups: groups, people: each}), groups*each
	crowd.ask()
	least := leastTime(limits, groups, each)
	env.progress.say("%d questions of %d groups wait, whose answers take %v at the least", n, groups, least)

	var begun time.Time
	var once sync.Once
	polling.began(sim, func() { once.Do(func() { begun = time.Now() }) })
	messages, leave := sim.Subscribe()
	defer leave()
	bot, err := env.launchBot(ctx, sim, db.url)
	if err != nil {
		return nil, err
	}
	running, cancel := bot.during(ctx)
	defer cancel()
	answered := make(map[toldMatch]bool) // by the chat and the message that is answered
	last, err := waitMessages(running, messages, func(m botsim.Message) bool {
		if m.From.IsBot && m.ReplyTo != 0 {
			answered[toldMatch{m.ChatID, m.ReplyTo}] = true
		}
		return len(answered) >= n
	}, func() { env.progress.say("%d of %d questions are answered", len(answered), n) })
	if err = errors.Join(err, bot.stop(), complaintsOf(sim)); err != nil {
		return nil, err
	}
	return []figure{
		{Name: "draining.time", Value: last.Sub(begun).Seconds(), Unit: "s", Better: lower},
		{Name: "draining.least", Value: least.Seconds(), Unit: "s", Better: lower},
		{Name: "draining.429", Value: float64(turnedAway(sim)), Unit: "requests", Better: lower},
	}, nil
}

// leastTime returns how long at the least it takes from the first message to the last, of so many to each of the
// groups.
func leastTime(limits botsim.Limits, groups, each int) time.Duration {
	least := func(n int, w botsim.Window) time.Duration {
		if w.N == 0 {
			return 0
		}
		return time.Duration((n-1)/w.N) * w.Per
	}
	return max(least(groups*each, limits.Overall), least(each, limits.Group), least(each, limits.Chat))
}

// turnedAway returns how many requests Telegram has refused because there were too many.
func turnedAway(sim *botsim.Server) (n int) {
	for _, c := range sim.Calls() {
		if c.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}
