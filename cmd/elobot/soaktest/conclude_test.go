//go:build soak && unix

package soaktest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"elobot/cmd/elobot/soaktest/judge"
	"elobot/internal/botsim"
)

// traffic counts requests and messages at Telegram.
type traffic struct {
	messages atomic.Int64 // the bot's messages in all chats
	open     atomic.Int64 // send requests that may still take effect
}

func watchTraffic(sim *botsim.Server) *traffic {
	t := new(traffic)
	sim.OnCall(func(call botsim.Call) {
		if call.Method == "sendMessage" {
			t.open.Add(1)
		}
	})
	sim.AfterEffect(func(call botsim.Call) {
		if call.Method != "sendMessage" {
			return
		}
		t.open.Add(-1)
		if call.Delivered {
			t.messages.Add(1)
		}
	})
	return t
}

// settle waits until no send request is open.
func (t *traffic) settle(ctx context.Context) {
	for t.open.Load() > 0 && ctx.Err() == nil {
		wait(ctx, time.Millisecond)
	}
}

// conclude judges the whole campaign and prints the verdict.
func (c *campaign) conclude() {
	c.t.Helper()
	h, err := c.database.history(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	h.Commands, h.CleanStops, h.Kills = c.people.commands, c.cleanStops, c.killed
	h.Lasting, h.Full, h.Kinds = c.duration, c.full, c.kinds
	h.Faults, h.FailedStarts = c.faultsSoFar, c.failedStarts
	for _, g := range c.people.groups {
		for _, m := range g.BotMessages()[g.skip:] {
			h.Messages = append(h.Messages, judge.Message{Chat: g.ID(), ID: m.ID, ReplyTo: m.ReplyTo, Text: m.Text, At: m.Date})
		}
	}
	c.bots.verify()
	// After a crash, PostgreSQL may have forgotten what the bot sent last, so the bot may have sent
	// too much.
	crashed := slices.ContainsFunc(c.faultsSoFar, func(f judge.Fault) bool { return f.Crash })
	if n := c.beyondLimits(); n > 0 && !crashed {
		c.violated("%d messages were sent beyond Telegram's limits", n)
	}
	if n := len(c.sim.CallsOf("setWebhook")); c.polling == 0 && n != 1 {
		c.violated("the bots have set the webhook %d times", n)
	}
	verdict := judge.Judge(h)
	c.t.Logf("\n%s", c.table(verdict, len(h.DeadLetters)))
	for _, text := range slices.Concat(c.violations, c.sim.Complaints()) {
		c.t.Errorf("broken: %s", text)
	}
	c.showViolations(verdict.Violations)
}

// showViolations prints the first violations of each rule, and how many there are.
func (c *campaign) showViolations(all []judge.Violation) {
	c.t.Helper()
	counted := map[judge.Rule]int{}
	for _, v := range all {
		counted[v.Rule]++
		if counted[v.Rule] <= shownViolations {
			c.t.Errorf("broken: %s", v)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(counted)) {
		c.t.Errorf("broken %d times: %s", counted[rule], rule)
	}
}

// table formats the figures of the campaign as a table.
func (c *campaign) table(v judge.Verdict, deadLetters int) string {
	var b strings.Builder
	row := func(name string, value any) { fmt.Fprintf(&b, "  %-45s %8v\n", name, value) }
	took := time.Since(c.begun).Round(time.Second)
	fmt.Fprintf(&b, "deck %s, seed %d, faults for %v, all in %v\n", c.name, c.seed, c.duration, took)
	struck := map[string]int{}
	for _, f := range c.faultsSoFar {
		if !f.Missed {
			struck[f.Kind]++
		}
	}
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(struck)) {
		row(kind, struck[kind])
		total += struck[kind]
	}
	row("faults in all", total)
	row("clean stops judged for copies", len(c.cleanStops))
	row("kills before a commit", v.BeforeCommit)
	row("kills between commit and confirmation", v.BeforeConfirmation)
	row("kills between request and mark", v.BeforeMark)
	b.WriteString("\n")
	row("results reported", v.Results)
	row("  recorded", v.Recorded)
	row("  refused", v.Refused)
	row("undos requested", v.Undos)
	row("  done", v.Undone)
	row("  refused", v.UndosRefused)
	row("commands answered", v.Answers)
	row("copies of answers", v.Copies)
	row("possible copies, as counted by the bot", v.Possible)
	row("how often the most frequent answer came", v.MostOfOne)
	row("refusals that came after later answers", v.LateRefusals)
	row("commands far from faults of bot and database", v.FarFromFaults)
	row("dead letters", deadLetters)
	row("lives of the bots", c.bots.lives.Load())
	row("starts that failed", len(c.failedStarts))
	row("messages sent beyond Telegram's limits", c.beyondLimits())
	row("promises broken", len(c.violations)+len(v.Violations))
	return b.String()
}

// beyondLimits returns how many requests to send a message hit the limits of the simulated Telegram
// since the campaign began.
func (c *campaign) beyondLimits() int {
	n := 0
	for _, call := range c.sim.CallsOf("sendMessage") {
		if call.Status == 429 && call.Fault == "" && call.At.After(c.begun) {
			n++
		}
	}
	return n
}
