//go:build soak && unix

package soaktest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"elobot/cmd/elobot/soaktest/judge"
)

const (
	// pairPercent is the percentage of faults that strike together with another one.
	pairPercent = 30
	// recoveryPercent is the percentage of faults after which the next one waits until the bot has
	// recovered.
	recoveryPercent = 60
	// recoveryLimit is the maximum wait for a command sent after a fault.
	recoveryLimit = time.Minute
	// Every calmEvery, there is no fault for calmFor. That is longer than the judge allows for the
	// aftermath of a fault, so no fault excuses failures of the commands at the end of it.
	calmEvery, calmFor = 5 * time.Minute, 45 * time.Second
)

// fault is a kind of fault.
type fault struct {
	name string
	of   judge.Part
	// alone means that no other fault may strike at the same time, and that the bot must have
	// recovered from all earlier ones.
	alone bool
	// strike causes the fault and returns when it is over, or an error if it could not be caused.
	strike func(ctx context.Context, random *rand.Rand) error
}

// strike causes faults until the context ends.
func (c *campaign) strike(ctx context.Context) {
	random := rand.New(rand.NewPCG(*seed, 3))
	var deck []fault
	draw := func(fits func(fault) bool) fault {
		if !slices.ContainsFunc(deck, fits) {
			all := c.faults()
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			deck = append(deck, all...)
		}
		i := slices.IndexFunc(deck, fits)
		drawn := deck[i]
		deck = slices.Delete(deck, i, i+1)
		return drawn
	}
	recovered, calmed := true, time.Now()
	for half := *duration / 2; ctx.Err() == nil; {
		if time.Since(c.begun) > half {
			c.t.Logf("%s from here on by webhook", c.elapsed())
			c.bot.useWebhook()
			from := time.Now()
			c.bot.stop()
			c.struck(judge.Fault{Kind: "change to the webhook", Of: judge.Bot, Span: judge.Span{From: from, To: time.Now()}})
			half, recovered = 2*(*duration), false
		}
		first := draw(func(fault) bool { return true })
		if first.alone && !recovered && !c.recover(ctx, "the faults before "+first.name) {
			continue
		}
		round := []fault{first}
		if !first.alone && random.IntN(100) < pairPercent {
			round = append(round, draw(func(f fault) bool { return !f.alone && f.of != first.of }))
		}
		c.calm = recovered && len(round) == 1
		names := c.strikeRound(ctx, round, random)
		recovered = random.IntN(100) < recoveryPercent || strings.Contains(names, "read-only")
		pause := between(random, 100*time.Millisecond, 4*time.Second)
		if recovered {
			recovered = c.recover(ctx, names)
		}
		if recovered && time.Since(calmed) > calmEvery {
			c.say("no faults for %v", calmFor)
			wait(ctx, calmFor)
			calmed = time.Now()
		}
		wait(ctx, pause)
	}
}

// strikeRound causes faults together, and returns their names.
func (c *campaign) strikeRound(ctx context.Context, round []fault, random *rand.Rand) string {
	var names []string
	var striking sync.WaitGroup
	for i, f := range round {
		names = append(names, f.name)
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		striking.Go(func() {
			if i > 0 {
				wait(ctx, between(own, 10*time.Millisecond, 3*time.Second))
			}
			if ctx.Err() != nil {
				return
			}
			from := time.Now()
			err := f.strike(ctx, own)
			missed := err != nil && ctx.Err() == nil
			if missed {
				c.t.Logf("%s failed to cause %s: %v", c.elapsed(), f.name, err)
			}
			c.struck(judge.Fault{Kind: f.name, Of: f.of, Span: judge.Span{From: from, To: time.Now()}, Missed: missed, Crash: f.name == databaseCrash})
		})
	}
	striking.Wait()
	return strings.Join(names, " with ")
}

// struck records a fault that is over.
func (c *campaign) struck(f judge.Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faultsSoFar = append(c.faultsSoFar, f)
}

// noteRecovery records that the bot has recovered from all faults so far.
func (c *campaign) noteRecovery() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.faultsSoFar {
		if c.faultsSoFar[i].Recovered.IsZero() {
			c.faultsSoFar[i].Recovered = time.Now()
		}
	}
}

// recover waits until a command sent from now on was handled and a message was sent after that. If
// that takes too long, it kills the bot, so that the campaign continues, and returns false.
func (c *campaign) recover(ctx context.Context, after string) bool {
	begun, from := time.Now(), c.people.count()
	sent := int64(-1)
	for ctx.Err() == nil {
		if sent < 0 {
			if handled, err := c.database.handledAny(ctx, c.people.keysSince(from)); err == nil && handled {
				sent = c.traffic.messages.Load()
			}
		} else if c.traffic.messages.Load() > sent {
			c.noteRecovery()
			c.t.Logf("%s recovered in %.1f s", c.elapsed(), time.Since(begun).Seconds())
			return true
		}
		if time.Since(begun) > recoveryLimit {
			what := "nothing is handled"
			if sent >= 0 {
				what = "nothing is sent"
			}
			c.violated("%s %v after %s (%s)", what, recoveryLimit, after, c.bot.current().log)
			from := time.Now()
			c.bot.kill()
			c.struck(judge.Fault{Kind: "kill of a bot that does not recover", Of: judge.Bot, Span: judge.Span{From: from, To: time.Now()}})
			return false
		}
		wait(ctx, 200*time.Millisecond)
	}
	return false
}

// between returns a random duration, uniform on a logarithmic scale.
func between(random *rand.Rand, shortest, longest time.Duration) time.Duration {
	return time.Duration(float64(shortest) * math.Exp(random.Float64()*math.Log(float64(longest)/float64(shortest))))
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
