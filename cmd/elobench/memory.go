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

// waitingRows makes a chat for each of Telegram's ids ($1), and so many notices for each ($2), which wait to be sent.
//
//go:embed waiting.sql
var waitingRows string

// slowTelegram is how long each request to send takes where much waits: so long that as many are under way as may be,
// and short enough for none to be given up.
const slowTelegram = 2 * time.Second

// memory measures how much memory the bot takes, each time a new one.
func memory() scenario {
	return scenario{
		name:        "memory",
		description: "the bot's memory when it has nothing to do, knows many chats, and has much to send",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			if _, _, err := resident(os.Getpid()); errors.Is(err, errors.ErrUnsupported) {
				env.progress.say("it is left out: it is measured on Linux alone")
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

// measureIdle returns the memory of a bot that polls, and whom nobody has told anything.
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
	polled, forget := firstCall(sim, "getUpdates")
	defer forget()
	bot, err := env.launchBot(ctx, sim, db.url)
	if err != nil {
		return nil, err
	}
	var figures []figure
	if _, err = bot.awaitCall(ctx, polled); err == nil {
		figures, err = env.footprint(ctx, bot, name)
	}
	return figures, errors.Join(err, bot.stop())
}

// measureChats returns the memory of a bot that has lately had to do with many chats. In each there was a result; and
// somebody has tried what only admins may, so that the bot knows who they are. The limits of a chat are on, because the
// bot remembers what it has sent for their sake.
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
	crowd := newCrowd(sim, sizes{groups: env.sizes.chats, people: 3})
	for g := range crowd.groups {
		crowd.report(g, 0, 1)
	}
	messages, leave := sim.Subscribe()
	defer leave()
	bot, err := env.launchBot(ctx, sim, db.url, "SEND_LIMIT_TOTAL=off", "RESULT_LIMIT=off")
	if err != nil {
		return nil, err
	}
	running, cancel := bot.during(ctx)
	defer cancel()
	var figures []figure
	_, err = newTally().wait(running, messages, len(crowd.groups), env.progress)
	if err == nil {
		err = refuseEverywhere(running, env, crowd, messages)
	}
	if err == nil {
		figures, err = env.footprint(ctx, bot, name)
	}
	if err = errors.Join(err, bot.stop()); err == nil {
		err = errors.Join(env.verify(ctx, db.url), complaintsOf(sim))
	}
	return figures, err
}

// refuseEverywhere has somebody in each group try to undo a match of others, and waits for the answers.
func refuseEverywhere(ctx context.Context, env *environment, crowd *crowd, messages <-chan botsim.Message) error {
	for g, group := range crowd.groups {
		group.Say(crowd.people[g][2], "/undo 1")
	}
	refused := 0
	_, err := waitMessages(ctx, messages, func(m botsim.Message) bool {
		if m.From.IsBot {
			refused++
		}
		return refused >= len(crowd.groups)
	}, func() { env.progress.say("%d of %d are refused", refused, len(crowd.groups)) })
	return err
}

// measureWaiting returns the memory of a bot that has much more to send than Telegram takes, all limits as they are.
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
	sent, forget := firstCall(sim, "sendMessage")
	defer forget()
	bot, err := env.launchBot(ctx, sim, db.url)
	if err != nil {
		return nil, err
	}
	var figures []figure
	if _, err = bot.awaitCall(ctx, sent); err == nil {
		figures, err = env.footprint(ctx, bot, name)
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

// addWaiting fills the outbox, and returns how many notices wait in it.
func addWaiting(ctx context.Context, env *environment, sim *botsim.Server, db database) (int, error) {
	ids := make([]int64, env.sizes.chats)
	for i, group := range newCrowd(sim, sizes{groups: len(ids), people: 2}).groups {
		ids[i] = group.ID()
	}
	added, err := db.Exec(ctx, waitingRows, ids, env.sizes.waiting/len(ids))
	if err == nil {
		_, err = db.Exec(ctx, "VACUUM ANALYZE")
	}
	if err != nil {
		return 0, fmt.Errorf("fill the outbox: %w", err)
	}
	env.progress.say("%d notices wait in %d chats", added.RowsAffected(), len(ids))
	return int(added.RowsAffected()), nil
}
