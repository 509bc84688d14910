package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"time"

	"elobot/internal/botsim"
)

// waitingRows inserts a chat for each Telegram id in $1, and $2 unsent notices for each chat.
//
//go:embed waiting.sql
var waitingRows string

// slowTelegram is the delay of each send in measureWaiting: long enough that the maximum number of sends is in progress,
// and short enough that none times out.
const slowTelegram = 2 * time.Second

// memory measures how much memory the bot uses, with a new process for each figure.
func memory() scenario {
	return scenario{
		name:        "memory",
		description: "the bot's memory when it has nothing to do, knows many chats, and has much to send",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			if _, _, err := resident(os.Getpid()); errors.Is(err, errors.ErrUnsupported) {
				env.progress.log("skipping memory: it can be measured only on Linux")
				return nil, nil
			}
			var all []figure
			for _, part := range []struct {
				name    string
				measure func(context.Context, *environment, string) ([]figure, error)
			}{{"memory.idle", measureIdle}, {"memory.chats", measureChats}, {"memory.waiting", measureWaiting}} {
				found, err := part.measure(ctx, env, part.name)
				if all = append(all, found...); err != nil {
					return all, fmt.Errorf("%s: %w", part.name, err)
				}
			}
			return all, nil
		},
	}
}

// measureIdle returns the memory of a bot that polls but has received no updates.
func measureIdle(ctx context.Context, env *environment, name string) ([]figure, error) {
	sim, err := botsim.New()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	db, drop, err := env.database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	polled, removeHook := firstCall(sim, "getUpdates")
	defer removeHook()
	bot, err := env.launchBot(ctx, sim, db.url)
	if err != nil {
		return nil, err
	}
	var figures []figure
	if _, err = bot.awaitCall(ctx, polled); err == nil {
		figures, err = env.sampleMemory(ctx, bot, name)
	}
	return figures, errors.Join(err, bot.stop())
}

// measureChats returns the memory of a bot that was recently active in many chats. Each chat has a result and an attempt at
// an admins-only command, so that the bot caches the admins. The limits per chat are on, because the bot remembers recent
// sends for them.
func measureChats(ctx context.Context, env *environment, name string) ([]figure, error) {
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
	load := newWorkload(sim, sizes{groups: env.sizes.chats, people: 3})
	for g := range load.groups {
		load.reportResult(g, 0, 1)
	}
	messages, unsubscribe := sim.Subscribe()
	defer unsubscribe()
	bot, err := env.launchBot(ctx, sim, db.url, "SEND_LIMIT_TOTAL=off", "RESULT_LIMIT=off")
	if err != nil {
		return nil, err
	}
	running, cancel := bot.during(ctx)
	defer cancel()
	var figures []figure
	_, err = newResultCounter().wait(running, messages, len(load.groups), env.progress)
	if err == nil {
		err = refuseEverywhere(running, env, load, messages)
	}
	if err == nil {
		figures, err = env.sampleMemory(ctx, bot, name)
	}
	if err = errors.Join(err, bot.stop()); err == nil {
		err = errors.Join(env.verify(ctx, db.url), complaintsOf(sim))
	}
	return figures, err
}

// refuseEverywhere makes a player in each group try to undo a match of others, and waits for the refusals.
func refuseEverywhere(ctx context.Context, env *environment, load *workload, messages <-chan botsim.Message) error {
	for g, group := range load.groups {
		group.Say(load.people[g][2], "/undo 1")
	}
	refused := 0
	_, err := waitMessages(ctx, messages, func(m botsim.Message) bool {
		if m.From.IsBot {
			refused++
		}
		return refused >= len(load.groups)
	}, func() { env.progress.log("%d of %d attempts refused", refused, len(load.groups)) })
	return err
}

// measureWaiting returns the memory of a bot that has many more notices to send than Telegram accepts, with default limits.
func measureWaiting(ctx context.Context, env *environment, name string) ([]figure, error) {
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
	all, err := addWaiting(ctx, env, sim, db)
	if err != nil {
		return nil, err
	}
	sim.Fault(botsim.Fault{Kind: botsim.Delay, Method: "sendMessage", Delay: slowTelegram})
	sent, removeHook := firstCall(sim, "sendMessage")
	defer removeHook()
	bot, err := env.launchBot(ctx, sim, db.url)
	if err != nil {
		return nil, err
	}
	var figures []figure
	if _, err = bot.awaitCall(ctx, sent); err == nil {
		figures, err = env.sampleMemory(ctx, bot, name)
	}
	var left int
	if err == nil {
		err = db.QueryRow(ctx, `SELECT count(*) FROM outbox WHERE finished_at IS NULL`).Scan(&left)
	}
	if err == nil && left < all/4*3 {
		err = fmt.Errorf("only %d of %d notices were waiting at the end", left, all)
	}
	return figures, errors.Join(err, bot.stop())
}

// addWaiting fills the outbox and returns the number of notices in it.
func addWaiting(ctx context.Context, env *environment, sim *botsim.Server, db database) (int, error) {
	ids := make([]int64, env.sizes.chats)
	for i, group := range newWorkload(sim, sizes{groups: len(ids), people: 2}).groups {
		ids[i] = group.ID()
	}
	added, err := db.Exec(ctx, waitingRows, ids, env.sizes.waiting/len(ids))
	if err == nil {
		_, err = db.Exec(ctx, "VACUUM ANALYZE")
	}
	if err != nil {
		return 0, fmt.Errorf("fill the outbox: %w", err)
	}
	env.progress.log("%d notices are waiting in %d chats", added.RowsAffected(), len(ids))
	return int(added.RowsAffected()), nil
}
