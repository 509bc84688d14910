package main_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// pressure is a fleet of two bots that send two messages to a group and then none for an hour.
type pressure struct {
	t     *testing.T
	sim   *botsim.Server
	door  *balancer
	url   string
	pool  *pgxpool.Pool
	alice botsim.User
	bots  []*process
}

func newPressure(t *testing.T) *pressure {
	t.Helper()
	p := &pressure{t: t, door: newBalancer(t, 2)}
	p.sim = startTelegram(t, botsim.WithLimits(botsim.TelegramLimits()),
		botsim.WithWebhookDelays(func(int) time.Duration { return 100 * time.Millisecond }))
	p.alice = p.sim.User("alice")
	p.url, p.pool = database(t)
	return p
}

// start starts the bots. Deliveries go to them in turn, so that the leader records about half of the results.
func (p *pressure) start(groupLimit string) {
	p.t.Helper()
	p.bots = nil
	for i := range 2 {
		env := slices.Concat(plainEnvironment(p.sim, p.url), p.door.environment(), []string{"SEND_LIMIT_GROUP=" + groupLimit})
		p.bots = append(p.bots, launch(p.t, env, "run"))
		eventually(p.t, "the bot serves", func() bool { return p.door.find(i, p.bots[i]) })
		awaitWebhooks(p.t, p.sim, 1) // instances that start at the same time may each set it
	}
}

// stop stops the bots, and checks that the log of reactions alarms nobody, except about rate limits.
func (p *pressure) stop() {
	p.t.Helper()
	for _, bot := range p.bots {
		if code, _ := bot.stop(p.t); code != 0 {
			p.t.Errorf("the bot exits with %d", code)
		}
		for line := range strings.Lines(bot.output.String()) {
			if strings.Contains(line, "reaction") && !strings.Contains(line, "level=DEBUG") && !strings.Contains(line, "rate limited") {
				p.t.Error(line)
			}
		}
	}
}

// checkLimits checks that the bots have kept Telegram's limits, and that their requests were right.
func (p *pressure) checkLimits() {
	p.t.Helper()
	if n := refused(p.sim); n > 0 {
		p.t.Errorf("Telegram has rate-limited %d requests", n)
	}
}

func (p *pressure) report(group *botsim.Chat) botsim.Message {
	return group.Say(p.alice, "/match @bob 3:1")
}

// group returns a group in which the next message has to wait.
func (p *pressure) group(title string) *botsim.Chat {
	p.t.Helper()
	group := p.sim.Group(title, p.alice, p.sim.User("bob"))
	for sent := range 2 {
		m := p.report(group)
		awaitAnswers(p.t, group, sent+1)
		if n := len(p.reactions(group, m)); n > 0 {
			p.t.Errorf("%d reactions to a result with a card", n)
		}
	}
	return group
}

// reactions returns the requests for reactions to a message.
func (p *pressure) reactions(group *botsim.Chat, m botsim.Message) (calls []botsim.Call) {
	for _, c := range p.sim.CallsOf("setMessageReaction") {
		if c.ChatID == group.ID() && c.Params["message_id"] == strconv.Itoa(m.ID) {
			calls = append(calls, c)
		}
	}
	return calls
}

// awaitReaction waits for the reaction to a message, which must be the only one, and returns when it was requested.
func (p *pressure) awaitReaction(group *botsim.Chat, m botsim.Message) time.Time {
	p.t.Helper()
	if emoji, err := group.WaitReaction(testContext(p.t), m.ID); emoji != "👍" || err != nil {
		p.t.Fatalf("the reaction is %q: %v", emoji, err)
	}
	calls := slices.DeleteFunc(p.reactions(group, m), func(c botsim.Call) bool { return c.Fault != "" })
	if len(calls) != 1 {
		p.t.Fatalf("%d reactions to message %d", len(calls), m.ID)
	}
	return calls[0].At
}

// TestAcknowledgedUnderPressure: a recorded result whose card has to wait gets one 👍, whichever instance has recorded it. One that
// was refused gets none. Where Telegram refuses reactions, the bot tries once. A 429 pauses nothing but reactions.
func TestAcknowledgedUnderPressure(t *testing.T) {
	t.Parallel()
	p := newPressure(t)
	p.start("2/1h")
	chess := p.group("Chess")
	wrong := chess.Say(p.alice, "/match @alice 3:1")
	var waiting []botsim.Message
	for range 6 {
		waiting = append(waiting, p.report(chess))
	}
	for _, m := range waiting {
		p.awaitReaction(chess, m)
	}
	if n := len(p.reactions(chess, wrong)); n > 0 {
		t.Errorf("%d reactions to a command that was refused", n)
	}

	quiet := p.group("Without reactions")
	quiet.DisableReactions()
	tries := func() int {
		return len(slices.DeleteFunc(p.sim.CallsOf("setMessageReaction"), func(c botsim.Call) bool { return c.ChatID != quiet.ID() || !c.Done }))
	}
	for range 3 {
		p.report(quiet)
		eventually(t, "Telegram refuses a reaction", func() bool { return tries() > 0 })
		p.awaitReaction(chess, p.report(chess))
	}
	if n := tries(); n != 1 {
		t.Errorf("%d reactions were tried where they are disabled", n)
	}

	busy, other := p.group("Busy"), p.sim.Group("Other", p.alice, p.sim.User("bob"))
	p.sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "setMessageReaction", RetryAfter: 2, Times: 1})
	limited := p.report(busy)
	eventually(t, "a reaction is rate-limited", func() bool {
		return slices.ContainsFunc(p.bots, func(b *process) bool { return strings.Contains(b.output.String(), "reactions rate limited") })
	})
	began := p.reactions(busy, limited)[0].At
	p.report(other)
	for group, m := range map[*botsim.Chat]botsim.Message{busy: limited, chess: p.report(chess)} {
		if pause := p.awaitReaction(group, m).Sub(began); pause < 2*time.Second {
			t.Errorf("a reaction %v after the 429", pause)
		}
	}
	awaitAnswers(t, other, 1)
	p.checkLimits()
	p.stop()
	reactions := p.sim.CallCount("setMessageReaction")

	p.start("100/1s")
	for _, group := range []*botsim.Chat{chess, quiet, busy} {
		awaitSettled(t, p.sim, p.pool, group)
	}
	if n := p.sim.CallCount("setMessageReaction") - reactions; n > 0 {
		t.Errorf("%d reactions to results whose cards could be sent", n)
	}
	p.stop()
	p.checkLimits()
	verifyClean(t, p.url)
}
