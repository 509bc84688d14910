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
	// pairPercent is the probability, in percent, that a fault strikes together with a fault of
	// another part. A fault that must be alone never does.
	pairPercent = 30
	// recoveryPercent is the probability, in percent, that the next fault waits until the bot has
	// recovered. The next fault always waits after a read-only phase, and before and after a fault
	// that must be alone.
	recoveryPercent = 60
	// recoveryLimit is how long it may take after a fault until the bot handles a new command and
	// sends a message.
	recoveryLimit = time.Minute
	// About once every calmEvery, no fault strikes for calmFor. This pause exceeds the time for
	// which the judge excuses refusals after a fault, so the bot must not refuse any command late
	// in the pause.
	calmEvery, calmFor = 5 * time.Minute, 45 * time.Second
)

type fault struct {
	name string
	of   judge.Part
	// alone means that no other fault may strike at the same time, and that the bot must have
	// recovered from all earlier ones.
	alone bool
	crash bool // PostgreSQL may forget what it committed just before
	// strike causes the fault and returns when it is over, or an error if it could not be caused.
	strike func(ctx context.Context, random *rand.Rand) error
}

// strike causes faults until the context ends, as long as the deck has any.
func (c *campaign) strike(ctx context.Context) {
	random := rand.New(rand.NewPCG(c.seed, 3))
	var cards []fault
	draw := func(fits func(fault) bool) (drawn fault, found bool) {
		if !slices.ContainsFunc(cards, fits) {
			all := c.faults(c)
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			cards = append(cards, all...)
		}
		i := slices.IndexFunc(cards, fits)
		if i < 0 {
			return fault{}, false
		}
		drawn = cards[i]
		cards = slices.Delete(cards, i, i+1)
		return drawn, true
	}
	recovered, calmed := true, time.Now()
	polling := time.Duration(c.polling * float64(c.duration))
	for ctx.Err() == nil {
		if !c.bots.webhook.Load() && time.Since(c.begun) > polling {
			c.say("from here on by webhook")
			c.strikeRound(ctx, random, fault{name: "change to the webhook", of: judge.Bot, strike: c.useWebhook})
			recovered = false
		}
		first, found := draw(func(fault) bool { return true })
		if !found {
			wait(ctx, c.duration)
			break
		}
		if first.alone && !recovered && !c.recover(ctx, "the faults before "+first.name) {
			continue
		}
		round := []fault{first}
		if !first.alone && random.IntN(100) < pairPercent {
			if second, found := draw(func(f fault) bool { return !f.alone && f.of != first.of }); found {
				round = append(round, second)
			}
		}
		c.calm = recovered && len(round) == 1
		names := c.strikeRound(ctx, random, round...)
		recovered = first.alone || random.IntN(100) < recoveryPercent || strings.Contains(names, "read-only")
		pause := between(random, 100*time.Millisecond, 10*c.pace)
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
func (c *campaign) strikeRound(ctx context.Context, random *rand.Rand, round ...fault) string {
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
				c.say("failed to cause %s: %v", f.name, err)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.faultsSoFar = append(c.faultsSoFar, judge.Fault{
				Kind: f.name, Of: f.of, Span: judge.Span{From: from, To: time.Now()}, Missed: missed, Crash: f.crash,
			})
		})
	}
	striking.Wait()
	return strings.Join(names, " with ")
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

// recover waits until the bot handles a command sent from now on and then sends a message, and
// reports whether that happened. After recoveryLimit, it records a violation, which names the
// faults in after, and kills the bots, so that the campaign continues.
func (c *campaign) recover(ctx context.Context, after string) bool {
	begun, from := time.Now(), c.people.count()
	handled, sent := false, int64(0)
	for ; ctx.Err() == nil; wait(ctx, 200*time.Millisecond) {
		if !handled {
			handled, sent = c.database.handledAny(ctx, c.people.keysSince(from)), c.traffic.messages.Load()
		} else if c.traffic.messages.Load() > sent {
			c.noteRecovery()
			c.say("recovered in %.1f s", time.Since(begun).Seconds())
			return true
		}
		if time.Since(begun) > recoveryLimit {
			c.violated("no message was sent %v after %s (anything handled: %t)", recoveryLimit, after, handled)
			kill := fault{name: "kill of bots that do not recover", of: judge.Bot, strike: c.killAll}
			c.strikeRound(ctx, rand.New(rand.NewPCG(c.seed, 4)), kill)
			return false
		}
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
