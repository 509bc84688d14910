//go:build soak && unix

package soaktest

import (
	"cmp"
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
	duration = flag.Duration("soak.duration", 0, "how long faults strike, by default as long as the deck says")
	seed     = flag.Uint64("soak.seed", 0, "repeats a campaign with the seed that it printed")
)

const (
	// drainLimit is how long the bot may need to finish everything after the last fault, unless it
	// has scheduled an answer for later.
	drainLimit = 3 * time.Minute
	// groupPause is the average wait per answer under a group's limit. Every waiting answer extends
	// the deadline by this time, because all of them may be in one group.
	groupPause = 3 * time.Second
	// stopLimit is how long a clean stop may take on a busy machine.
	stopLimit = 12 * time.Second
	// shownViolations limits the printed violations of each rule.
	shownViolations = 10
)

// deck describes a campaign: its faults, its pace, and the bots and the database that the faults
// strike.
type deck struct {
	name     string
	faults   func(*campaign) []fault
	duration time.Duration
	pace     time.Duration // average pause between two commands
	bots     int
	polling  float64  // share of the time before the bots change to the webhook
	standby  bool     // the database has a synchronous standby
	settings []string // further settings of the bots
}

// TestCampaign checks that the bot keeps every guarantee that package judge lists while people in
// thirty chats report results, and undo some, and faults strike at random.
func TestCampaign(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "elobot")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "-buildvcs=false", "elobot/cmd/elobot")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the bot: %v\n%s", err, out)
	}
	const slow, fast = 350 * time.Millisecond, 100 * time.Millisecond
	// A bot takes over soon after a kill, so that the next kill finds a bot that sends.
	takeOver := []string{"LEASE_DURATION=2s", "LEASE_RENEWAL=500ms"}
	for _, d := range []deck{
		{"all", (*campaign).allFaults, 20 * time.Minute, slow, 1, 0.5, false, nil},
		{"kills", (*campaign).kills, 2 * time.Minute, fast, 1, 1, false, takeOver},
		{"fleet", (*campaign).kills, 2 * time.Minute, fast, 3, 0, false, takeOver},
		{"stops", (*campaign).slowStops, 2 * time.Minute, fast, 1, 1, false, nil},
		{"outages", (*campaign).outages, 2 * time.Minute, fast, 1, 0.5, false, nil},
		{"refusals", (*campaign).refusals, 2 * time.Minute, fast, 1, 0.5, false, nil},
		{"failover", (*campaign).crashedPrimary, time.Minute, fast, 1, 1, true, nil},
		{"frozen", (*campaign).frozenPrimary, time.Minute, fast, 1, 1, true, nil},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			prepare(t, d, binary).run()
		})
	}
}

// campaign holds the bots, their environment, and a record of everything done to them.
type campaign struct {
	deck
	t        *testing.T
	seed     uint64
	full     time.Duration // the duration of the deck
	folder   string        // log folder, kept after a failure
	begun    time.Time
	sim      *botsim.Server
	database *database
	bots     *bots
	people   *people
	traffic  *traffic

	calm bool // the current fault is the only one, and the bots had recovered from earlier ones

	mu           sync.Mutex
	faultsSoFar  []judge.Fault
	failedStarts []judge.FailedStart
	cleanStops   []judge.Span
	killed       []judge.Kill
	violations   []string // found during the campaign
	kinds        []string // names of the faults in the deck
}

// prepare starts the bots and everything that they need.
func prepare(t *testing.T, d deck, binary string) *campaign {
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
	c := &campaign{deck: d, t: t, folder: folder, begun: time.Now(), full: d.duration}
	c.seed, c.duration = cmp.Or(*seed, rand.Uint64()), cmp.Or(*duration, d.duration)
	t.Logf("seed %d: repeat with -soak.seed=%d", c.seed, c.seed)
	slower := func(attempt int) time.Duration { return min(time.Duration(attempt-1)*2*time.Second, 8*time.Second) }
	c.sim = botsim.Start(t, botsim.WithLimits(botsim.TelegramLimits()), botsim.WithWebhookDelays(slower))
	c.traffic = watchTraffic(c.sim)
	c.database = startDatabase(t, d.standby)
	c.people = newPeople(c)
	c.bots = startBots(c, binary)
	return c
}

// run lets faults strike while people report results, and judges the outcome.
func (c *campaign) run() {
	c.people.joinAll()
	c.database.setTriggers(c.t)
	for _, f := range c.faults(c) {
		c.kinds = append(c.kinds, f.name)
	}
	c.begun = time.Now()
	ctx, end := context.WithTimeout(c.t.Context(), c.duration)
	defer end()
	var work sync.WaitGroup
	work.Go(func() { c.people.report(ctx) })
	work.Go(func() { c.showProgress(ctx) })
	c.strike(ctx)
	end()
	work.Wait()
	c.say("the faults are over")
	c.awaitSilence()
	c.bots.finish()
	c.conclude()
}

func (c *campaign) say(format string, args ...any) {
	c.t.Helper()
	c.t.Logf("%7.1f s %s", time.Since(c.begun).Seconds(), fmt.Sprintf(format, args...))
}

func (c *campaign) violated(format string, args ...any) {
	c.t.Helper()
	text := fmt.Sprintf(format, args...)
	c.say("BROKEN: %s", text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.violations = append(c.violations, text)
}

// showProgress logs the progress every half minute.
func (c *campaign) showProgress(ctx context.Context) {
	for wait(ctx, 30*time.Second); ctx.Err() == nil; wait(ctx, 30*time.Second) {
		c.mu.Lock()
		struck := len(c.faultsSoFar)
		c.mu.Unlock()
		c.say("PROGRESS: %d commands, %d messages of the bots, %d faults, %d lives, stored: %s",
			c.people.count(), c.traffic.messages.Load(), struck, c.bots.lives.Load(), c.database.counts(ctx))
	}
}

// awaitSilence waits until every update is confirmed and every answer sent. If the bot has
// scheduled answers for later, the deadline moves to that time, plus the time needed for sending.
// Missing the deadline is a violation.
func (c *campaign) awaitSilence() {
	c.t.Helper()
	ctx := c.t.Context()
	for deadline := time.Now().Add(drainLimit); ctx.Err() == nil; wait(ctx, 500*time.Millisecond) {
		left, until, err := c.database.unsent(ctx)
		pending := c.sim.Pending()
		if err == nil && pending == 0 && left == 0 {
			c.say("everything is handled and sent")
			return
		}
		if later := until.Add(time.Minute + time.Duration(left)*groupPause); left > 0 && later.After(deadline) {
			c.say("a bot has scheduled an answer for %s", until.Format(time.TimeOnly))
			deadline = later
		}
		if time.Now().After(deadline) {
			c.violated("%d updates are not confirmed and %d answers not sent long after the last fault: %s, %v",
				pending, left, c.database.describeUnsent(ctx), err)
			return
		}
	}
}
