//go:build soak && unix

package soaktest

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"elobot/cmd/elobot/soaktest/judge"
	"elobot/internal/botsim"
)

var (
	duration = flag.Duration("soak.duration", 20*time.Minute, "how long faults strike")
	seed     = flag.Uint64("soak.seed", 0, "repeats a campaign with the seed that it printed")
)

const (
	// drainLimit is how long the bot may need to finish everything after the last fault.
	drainLimit = 3 * time.Minute
	// groupPause is the average wait per answer under a group's limit. It counts for each waiting
	// answer, because all of them may be in one group.
	groupPause = 3 * time.Second
	// stopLimit is how long a clean stop may take on a busy machine.
	stopLimit = 12 * time.Second
	// shownViolations limits the printed violations of each rule.
	shownViolations = 10
)

// campaign is a bot, its environment, and everything done to them.
type campaign struct {
	t        *testing.T
	folder   string // log folder, kept after a failure
	begun    time.Time
	sim      *botsim.Server
	database *database
	bot      *bot
	people   *people
	traffic  *traffic

	calm bool // the current fault is the only one, and the bot had recovered from earlier ones

	mu           sync.Mutex
	faultsSoFar  []judge.Fault
	failedStarts []judge.FailedStart
	cleanStops   []judge.Span
	violations   []string // found during the campaign
}

// TestHostileCampaign: results are reported in thirty chats while everything around the bot fails
// at random. Every result is recorded once or refused, in order, with the right ratings, and
// answered twice only if that was counted as possible.
func TestHostileCampaign(t *testing.T) {
	t.Parallel()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d: repeat with -soak.seed=%d", *seed, *seed)
	c := prepare(t)
	c.people.joinAll()
	c.database.setTriggers(t)

	c.begun = time.Now()
	ctx, end := context.WithTimeout(t.Context(), *duration)
	defer end()
	var work sync.WaitGroup
	work.Go(func() { c.people.report(ctx) })
	work.Go(func() { c.showProgress(ctx) })
	c.strike(ctx)
	end()
	work.Wait()
	t.Logf("%s the faults are over", c.elapsed())
	c.awaitSilence()
	c.bot.finish()
	c.conclude()
}

// prepare starts the bot and everything that it needs.
func prepare(t *testing.T) *campaign {
	t.Helper()
	folder, err := os.MkdirTemp("", "elobot-soak-") //nolint:usetesting // kept after a failure
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the logs are in %s", folder)
		} else if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	c := &campaign{t: t, folder: folder, begun: time.Now()}
	binary := filepath.Join(folder, "elobot")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "-buildvcs=false", "elobot/cmd/elobot")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the bot: %v\n%s", err, out)
	}
	c.sim = botsim.Start(t, botsim.WithLimits(botsim.TelegramLimits()), botsim.WithWebhookDelays(func(attempt int) time.Duration {
		return min(time.Duration(attempt-1)*2*time.Second, 8*time.Second)
	}))
	c.traffic = watchTraffic(c.sim)
	c.database = startDatabase(t)
	c.people = newPeople(c, rand.New(rand.NewPCG(*seed, 1)))
	c.bot = newBot(c, binary, rand.New(rand.NewPCG(*seed, 2)))
	c.bot.begin()
	return c
}

func (c *campaign) elapsed() string { return fmt.Sprintf("%7.1f s", time.Since(c.begun).Seconds()) }

// violated records a violation of a guarantee.
func (c *campaign) violated(format string, args ...any) {
	c.t.Helper()
	text := fmt.Sprintf(format, args...)
	c.t.Logf("%s BROKEN: %s", c.elapsed(), text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.violations = append(c.violations, text)
}

// showProgress logs the progress every half minute.
func (c *campaign) showProgress(ctx context.Context) {
	tick := time.NewTicker(30 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		c.mu.Lock()
		struck := len(c.faultsSoFar)
		c.mu.Unlock()
		recorded, dead := c.database.counts(ctx)
		c.t.Logf("%s PROGRESS: %d commands, %s matches recorded, %d messages of the bot, %d faults, %d lives, %s dead letters",
			c.elapsed(), c.people.count(), recorded, c.traffic.messages.Load(), struck, c.bot.lives.Load(), dead)
	}
}

// awaitSilence waits until every update is confirmed and every answer sent. The deadline is
// extended by delays that the bot itself has scheduled, and by the time needed for sending after
// them.
func (c *campaign) awaitSilence() {
	c.t.Helper()
	deadline := time.Now().Add(drainLimit)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		left, until, err := c.database.unsent(c.t.Context())
		pending := c.sim.Pending()
		if err == nil && pending == 0 && left == 0 {
			c.t.Logf("%s everything is handled and sent", c.elapsed())
			return
		}
		if later := until.Add(time.Minute + time.Duration(left)*groupPause); left > 0 && later.After(deadline) {
			c.t.Logf("%s the bot has scheduled an answer for %s", c.elapsed(), until.Format(time.TimeOnly))
			deadline = later
		}
		select {
		case <-tick.C:
		case <-c.t.Context().Done():
			return
		}
		if time.Now().After(deadline) {
			c.violated("%d updates are not confirmed and %d answers not sent long after the last fault: %s, %v",
				pending, left, c.database.describeUnsent(c.t.Context()), err)
			return
		}
	}
}
