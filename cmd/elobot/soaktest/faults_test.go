//go:build soak && unix

package soaktest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"elobot/cmd/elobot/soaktest/judge"
	"elobot/internal/botsim"
	"elobot/internal/postgres/dbtest"
)

// The shortest and longest durations of the faults.
const (
	shortestFreeze, longestFreeze = 100 * time.Millisecond, 30 * time.Second
	longestLock                   = 20 * time.Second
	longestReadOnly               = 15 * time.Second
	longestOutage                 = 10 * time.Second
	longestErrors                 = 2 * time.Second  // of statements that fail
	longestTrouble                = 15 * time.Second // of Telegram, or of refused sessions
	shortestDelay, longestDelay   = 200 * time.Millisecond, 8 * time.Second
)

// mostComplaints limits the warnings and errors in the log of a bot while the database is away.
const mostComplaints = 15

// tables returns tables that the bot writes to often.
func tables() []string {
	return []string{
		"chats", "groups", "players", "group_players", "matches", "match_players", "elo_history", "handled_commands", "outbox", "leases",
	}
}

// allFaults returns all kinds of faults that need no standby.
func (c *campaign) allFaults() []fault {
	all := slices.Concat(c.kills(), c.slowStops(), c.outages(), c.refusals(), c.faultsOfTelegram(), []fault{
		{name: "SIGTERM of the bot", of: judge.Bot, strike: c.stopBot},
		{name: "SIGSTOP of the bot", of: judge.Bot, strike: c.freezeBot},
		{name: "SIGSTOP of PostgreSQL", of: judge.Database, strike: c.freezeDatabase},
		{name: "read-only phase", of: judge.Database, strike: c.makeReadOnly},
		{name: "table lock", of: judge.Database, strike: c.lockTable},
		{name: "row locks", of: judge.Database, strike: c.lockRows},
	})
	for _, code := range []string{"40001", "40P01", "57014", "53200"} {
		all = append(all, fault{name: "statement errors " + code, of: judge.Database, strike: c.failStatements(code)})
	}
	return all
}

func (c *campaign) slowStops() []fault {
	return []fault{{name: "SIGTERM while Telegram is slow", of: judge.Bot, alone: true, strike: c.stopWhileSlow}}
}

func (c *campaign) outages() []fault {
	return []fault{{name: "crash of PostgreSQL", of: judge.Database, crash: true, strike: c.crashDatabase}}
}

// refusals returns faults in which Telegram refuses requests, or the database refuses sessions, for
// a while.
func (c *campaign) refusals() []fault {
	refused := func(name string, status int, description, method string) fault {
		strike := func(ctx context.Context, random *rand.Rand) error {
			lasting := between(random, 3*time.Second, longestTrouble)
			c.say("Telegram, %s: all calls of %s for %.1f s", name, orAll(method), lasting.Seconds())
			f := botsim.Fault{Kind: botsim.Reject, Status: status, Description: description, Method: method}
			defer c.sim.Fault(f)()
			wait(ctx, lasting)
			return nil
		}
		return fault{name: "Telegram: " + name, of: judge.Telegram, alone: true, strike: strike}
	}
	return []fault{
		{name: "refused sessions", of: judge.Database, alone: true, strike: c.refuseSessions},
		refused("unknown answer", http.StatusBadRequest, "Bad Request: something nobody knows in 12345", "sendMessage"),
		refused("logged out", http.StatusBadRequest, "Logged out", ""),
		refused("unauthorized", http.StatusUnauthorized, "Unauthorized", ""),
		refused("not found", http.StatusNotFound, "Not Found", ""),
	}
}

func (c *campaign) crashedPrimary() []fault {
	return c.failover("crash of the primary", func(ctx context.Context) error {
		return c.database.server.Pause(ctx, true)
	})
}

func (c *campaign) frozenPrimary() []fault {
	return c.failover("freeze of the primary", func(context.Context) error {
		resume, err := c.database.freeze()
		if err == nil {
			c.t.Cleanup(func() { dbtest.Must(c.t, resume()) }) // so that the server can be stopped
		}
		return err
	})
}

// failover returns a fault with the given name: it calls end, which crashes or freezes the primary,
// and then promotes the standby. If no standby is left, failover returns none.
func (c *campaign) failover(name string, end func(context.Context) error) []fault {
	if c.database.standby == nil {
		return nil
	}
	strike := func(ctx context.Context, random *rand.Rand) error {
		c.say("%s", name)
		over := context.WithoutCancel(ctx)
		if err := end(over); err != nil {
			return err
		}
		wait(ctx, between(random, shortestFreeze, longestOutage))
		c.say("the standby becomes the primary")
		return c.database.promote(over)
	}
	return []fault{{name: name, of: judge.Database, alone: true, crash: true, strike: strike}}
}

func (c *campaign) freezeBot(ctx context.Context, random *rand.Rand) error {
	lasting := between(random, shortestFreeze, longestFreeze)
	c.say("the bot is frozen for %.1f s", lasting.Seconds())
	resume := c.bots.any(random).freeze()
	defer resume()
	wait(ctx, lasting)
	return nil
}

// useWebhook stops all bots. The processes that replace them have a webhook.
func (c *campaign) useWebhook(context.Context, *rand.Rand) error {
	c.bots.webhook.Store(true)
	for _, i := range c.bots.all {
		i.now.Load().stop()
	}
	return nil
}

func (c *campaign) killAll(context.Context, *rand.Rand) error {
	for _, i := range c.bots.all {
		i.now.Load().kill()
	}
	return nil
}

func (c *campaign) stopBot(_ context.Context, random *rand.Rand) error {
	c.say("the bot was stopped cleanly within %.1f s", c.bots.any(random).stop().Seconds())
	return nil
}

// stopWhileSlow stops a bot while it answers results of all groups. Telegram is slow, but responds
// within the timeout of a clean stop.
func (c *campaign) stopWhileSlow(ctx context.Context, random *rand.Rand) error {
	delay := oneOf(random, 200*time.Millisecond, 2*time.Second, 4*time.Second)
	c.traffic.settle(ctx) // no request of an earlier fault remains
	from := time.Now()
	fast := c.sim.Fault(botsim.Fault{Kind: botsim.SlowAnswer, Method: "sendMessage", Delay: delay})
	defer fast()
	c.people.playEverywhere()
	wait(ctx, delay+between(random, 100*time.Millisecond, 2*time.Second))
	took := c.bots.any(random).stop()
	c.say("the bot was stopped cleanly within %.1f s, while answers took %v", took.Seconds(), delay)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleanStops = append(c.cleanStops, judge.Span{From: from, To: time.Now()})
	return nil
}

func (c *campaign) freezeDatabase(ctx context.Context, random *rand.Rand) error {
	lasting := between(random, shortestFreeze, longestFreeze)
	c.say("PostgreSQL is frozen for %.1f s", lasting.Seconds())
	resume, err := c.database.freeze()
	if err != nil {
		return err
	}
	wait(ctx, lasting)
	return resume()
}

// crashDatabase crashes PostgreSQL and starts it again. If the campaign is calm, it checks that
// meanwhile a bot logs few warnings and errors, and that deliveries fail only with 503. With a
// webhook, some deliveries must fail if PostgreSQL is away for more than a second.
func (c *campaign) crashDatabase(ctx context.Context, random *rand.Rand) error {
	away := between(random, shortestFreeze, longestOutage)
	c.say("PostgreSQL crashes, and is away for %.1f s", away.Seconds())
	over := context.WithoutCancel(ctx)
	bot, from := c.bots.any(random), time.Now()
	before := bot.complaints()
	err := c.database.server.Pause(over, true)
	wait(ctx, away)
	complaints := bot.complaints() - before
	err = errors.Join(err, c.database.server.Resume(over))
	if !c.calm {
		return err
	}
	if complaints > mostComplaints {
		c.violated("the bot has logged %d warnings and errors while the database was away for %v", complaints, away)
	}
	refused := 0
	for _, d := range c.sim.Deliveries() {
		switch {
		case d.At.Before(from) || !d.Done || d.Status == http.StatusOK:
		case d.Status == http.StatusServiceUnavailable:
			refused++
		default:
			c.violated("a delivery ended with %d %s while the database was away", d.Status, d.Err)
		}
	}
	if refused == 0 && away > time.Second && c.bots.webhook.Load() {
		c.violated("no delivery was refused while the database was away for %v", away)
	}
	c.say("there were %d warnings and errors, and %d deliveries were refused", complaints, refused)
	return err
}

func (c *campaign) makeReadOnly(ctx context.Context, random *rand.Rand) error {
	lasting := between(random, 2*time.Second, longestReadOnly)
	c.say("the database is read-only for %.1f s", lasting.Seconds())
	return c.database.alter(ctx, lasting,
		"DATABASE "+name+" SET default_transaction_read_only = on", "DATABASE "+name+" RESET default_transaction_read_only")
}

func (c *campaign) refuseSessions(ctx context.Context, random *rand.Rand) error {
	lasting := between(random, 3*time.Second, longestTrouble)
	c.say("the database refuses sessions for %.1f s", lasting.Seconds())
	return c.database.alter(ctx, lasting, "ROLE "+name+" NOLOGIN", "ROLE "+name+" LOGIN")
}

func (c *campaign) lockTable(ctx context.Context, random *rand.Rand) error {
	table := oneOf(random, tables()...)
	mode := oneOf(random, "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE")
	lasting := between(random, 500*time.Millisecond, longestLock)
	c.say("%s is locked in %s mode for %.1f s", table, mode, lasting.Seconds())
	return c.database.hold(ctx, lasting, "LOCK TABLE "+table+" IN "+mode+" MODE")
}

func (c *campaign) lockRows(ctx context.Context, random *rand.Rand) error {
	table := oneOf(random, "chats", "groups", "group_players", "players", "outbox", "leases")
	every := 1 + random.IntN(4) // lock every nth row, by id
	lasting := between(random, 500*time.Millisecond, longestLock)
	c.say("every row in %d of %s is locked for %.1f s", every, table, lasting.Seconds())
	condition := fmt.Sprintf("WHERE id %% %d = 0", every)
	if table == "leases" {
		condition = ""
	}
	return c.database.hold(ctx, lasting, "SELECT FROM "+table+" "+condition+" FOR UPDATE")
}

func (c *campaign) failStatements(code string) func(context.Context, *rand.Rand) error {
	return func(ctx context.Context, random *rand.Rand) error {
		relation, share := oneOf(random, "*", oneOf(random, tables()...)), oneOf(random, 0.5, 1)
		lasting := between(random, 100*time.Millisecond, longestErrors)
		c.say("statements that change %s fail with %s for %.1f s, %.0f %% of them",
			relation, code, lasting.Seconds(), share*100)
		if err := c.database.failStatements(ctx, relation, code, share, lasting); err != nil {
			return err
		}
		wait(ctx, lasting)
		return nil
	}
}

// faultsOfTelegram returns the faults of requests to Telegram.
func (c *campaign) faultsOfTelegram() []fault {
	trouble := func(name string, choose func(*rand.Rand) botsim.Fault) fault {
		strike := func(ctx context.Context, random *rand.Rand) error {
			f := choose(random)
			if random.IntN(2) == 0 {
				f.Method = "sendMessage"
			}
			share := oneOf(random, 0.3, 0.7, 1)
			lasting := between(random, time.Second, longestTrouble)
			f.Match = func(botsim.Call) bool { return random.Float64() < share }
			c.say("Telegram, %s: %.0f %% of the calls of %s for %.1f s (%v)",
				name, share*100, orAll(f.Method), lasting.Seconds(), f.Delay.Round(time.Millisecond))
			defer c.sim.Fault(f)()
			wait(ctx, lasting)
			return nil
		}
		return fault{name: "Telegram: " + name, of: judge.Telegram, strike: strike}
	}
	plain := func(f botsim.Fault) func(*rand.Rand) botsim.Fault {
		return func(*rand.Rand) botsim.Fault { return f }
	}
	slow := func(kind botsim.FaultKind) func(*rand.Rand) botsim.Fault {
		return func(random *rand.Rand) botsim.Fault {
			return botsim.Fault{Kind: kind, Delay: between(random, shortestDelay, longestDelay)}
		}
	}
	return []fault{
		trouble("slow answers", slow(botsim.SlowAnswer)),
		trouble("slow effects", slow(botsim.Delay)),
		trouble("cut before the effect", plain(botsim.Fault{Kind: botsim.CutBefore})),
		trouble("cut after the effect", plain(botsim.Fault{Kind: botsim.CutAfter})),
		trouble("429", func(random *rand.Rand) botsim.Fault {
			return botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 1 + random.IntN(8)}
		}),
		trouble("429 without retry_after", plain(botsim.Fault{
			Kind: botsim.Reject, Status: http.StatusTooManyRequests, Description: "Too Many Requests",
		})),
		trouble("502", plain(botsim.Fault{Kind: botsim.ServerError})),
		trouble("wrong JSON", func(random *rand.Rand) botsim.Fault {
			return botsim.Fault{Kind: botsim.WrongAnswer, Body: oneOf(random,
				"", "{}", "[]", "null", `{"ok":true,"result":`, `{"ok":true,"result":"nonsense"}`, `{"ok":"yes"}`, "<html>")}
		}),
	}
}

func orAll(method string) string {
	if method == "" {
		return "all methods"
	}
	return method
}

func oneOf[T any](random *rand.Rand, all ...T) T { return all[random.IntN(len(all))] }
