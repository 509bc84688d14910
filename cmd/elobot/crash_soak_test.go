//go:build soak

package main_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

var (
	crashSeed    = flag.Uint64("crash.seed", 0, "repeats a crash test with the seed that it printed")
	crashKills   = flag.Int("crash.kills", 25, "how often a crash test kills the bot")
	crashMatches = flag.Int("crash.matches", 1500, "how many results are reported in all, in a hundred groups")
)

const crashGroups = 100

// crash is the fixture of a bot that is killed again and again.
type crash struct {
	t          *testing.T
	random     *rand.Rand
	sim        *botsim.Server
	url        string
	pool       *pgxpool.Pool
	groups     []*botsim.Chat
	truths     []*oracle
	cards      [][]string // expected cards by group
	messageIDs [][]int    // ids of the answered messages by group
	keys       []string   // of all commands, in update order
	people     []botsim.User

	posted atomic.Int64 // all updates
	shown  atomic.Int64 // updates that are confirmed or were delivered to the running bot

	// The state after the last kill, to tell what has changed since.
	handled map[string]bool
	arrived map[int64]int // copies that arrived, by notice

	lives int
	// Kills per window.
	beforeCommit, beforeAcknowledgment, beforeMark int
}

// TestKilledAgainAndAgain: the bot is killed at random moments while results come in. Every result
// is recorded once and answered in order, and every further copy of an answer was counted as a
// possible duplicate.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	c := startCrash(t, crashGroups)
	for kill := range *crashKills {
		c.runAndKill(func() {
			for c.played() < *crashMatches*(kill+1) / *crashKills {
				c.report()
			}
		})
	}
	c.checkAll()
	verifyClean(t, c.url)
	c.logWindows("%d kills during %d matches", *crashKills, *crashMatches)
}

// logWindows logs how many kills hit each window.
func (c *crash) logWindows(format string, args ...any) {
	c.t.Helper()
	c.t.Logf(format+`:
	%5d before a commit
	%5d between commit and acknowledgment
	%5d between request and mark`, append(args, c.beforeCommit, c.beforeAcknowledgment, c.beforeMark)...)
}

// seeded returns a source of randomness, and logs how to repeat the test with it.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *crashSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d: repeat with -crash.seed=%d", seed, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// startCrash prepares the fixture with the given number of groups, whose members have all joined.
func startCrash(t *testing.T, groups int) *crash {
	t.Helper()
	c := &crash{t: t, random: seeded(t), sim: startTelegram(t), arrived: make(map[int64]int)}
	c.url, c.pool = database(t)
	for _, name := range []string{"alice", "bob", "carol", "dave"} {
		c.people = append(c.people, c.sim.User(name))
	}
	for i := range groups {
		c.groups = append(c.groups, c.sim.Group(fmt.Sprintf("Group %d", i+1), c.people...))
		c.truths = append(c.truths, newOracle())
	}
	c.cards, c.messageIDs = make([][]string, groups), make([][]int, groups)
	c.sim.AfterEffect(c.watchPoll)
	c.joinAll()
	return c
}

// watchPoll counts the delivered updates: a poll returns the first 100 unconfirmed ones.
func (c *crash) watchPoll(call botsim.Call) {
	if call.Method != "getUpdates" || !call.Delivered {
		return
	}
	posted, pending := c.posted.Load(), int64(c.sim.Pending())
	c.shown.Store(max(c.shown.Load(), posted-pending+min(pending, 100)))
}

// joinAll makes everyone join every group, so that no card mentions new players.
func (c *crash) joinAll() {
	bot := launch(c.t, crashEnvironment(environment(c.sim, c.url)), "run")
	for i, group := range c.groups {
		for _, p := range c.people {
			// Spread over time, because of the limit on questions per minute.
			at := time.Now().Add(-time.Duration(i) * time.Minute / 10)
			c.post(key(group.Post(botsim.Post{From: p, Text: "/join", Date: at})))
			c.cards[i], c.messageIDs[i] = append(c.cards[i], ""), append(c.messageIDs[i], 0)
		}
		awaitAnswers(c.t, group, len(c.people))
	}
	bot.kill()
	c.awaitSilence()
	// The oracle does not know celebrations.
	if _, err := c.pool.Exec(testContext(c.t), `UPDATE chats SET celebrations = false`); err != nil {
		c.t.Fatal(err)
	}
	c.handled = handledKeys(c.t, c.pool)
}

// killsInARow is the number of kills before the outbox is emptied once. After more kills, a notice
// could have so many possible duplicates that the bot would give up on it.
const killsInARow = 4

// sendAll runs a bot until everything is sent, and kills it.
func sendAll(t *testing.T, sim *botsim.Server, pool *pgxpool.Pool, env []string) {
	t.Helper()
	bot := launch(t, env, "run")
	awaitAllSent(t, sim, pool)
	bot.kill()
}

// runAndKill starts the bot, calls command, and kills the bot at a random moment after that.
func (c *crash) runAndKill(command func()) {
	if c.lives > 0 && c.lives%killsInARow == 0 {
		sendAll(c.t, c.sim, c.pool, crashEnvironment(environment(c.sim, c.url)))
		c.awaitSilence()
		c.handled = handledKeys(c.t, c.pool)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	var bot atomic.Pointer[process]
	dead := make(chan struct{})
	kill := func() {
		if p := bot.Load(); p != nil && ctx.Err() == nil {
			cancel()
			p.kill()
			close(dead)
		}
	}
	c.shown.Store(0)
	defer c.aim(kill)()
	p := launch(c.t, crashEnvironment(environment(c.sim, c.url)), "run")
	polls := c.sim.CallCount("getUpdates")
	polling := make(chan struct{})
	remove := c.sim.OnCall(func(call botsim.Call) {
		if call.Method == "getUpdates" && bot.CompareAndSwap(nil, p) {
			close(polling)
		}
	})
	defer remove()
	select {
	case <-polling:
	case <-ctx.Done():
		c.t.Fatalf("the bot does not poll; there were %d polls before", polls)
	}
	command()
	// Kill the bot anyway if the moment does not come.
	last := time.AfterFunc(3*time.Second, kill)
	defer last.Stop()
	<-dead
	c.classify()
}

// aim arranges a kill at one of four kinds of moments, which take turns. The returned function
// cancels it.
func (c *crash) aim(kill func()) (remove func()) {
	c.lives++
	switch after := c.random.IntN(8); c.lives % 4 {
	case 0: // any time
		timer := time.AfterFunc(time.Duration(c.random.IntN(250))*time.Millisecond, kill)
		return func() { timer.Stop() }
	case 1: // a request has taken effect, but the response has not arrived
		var sent atomic.Int64
		methods := []string{"sendMessage", "editMessageText", "answerCallbackQuery"}
		return c.sim.AfterEffect(func(call botsim.Call) {
			if slices.Contains(methods, call.Method) && sent.Add(1) == int64(after+1) {
				kill()
			}
		})
	case 2: // all delivered updates were handled, and the bot is about to confirm them
		var polls atomic.Int64
		return c.sim.OnCall(func(call botsim.Call) {
			if call.Method == "getUpdates" && call.Params["offset"] != "" && polls.Add(1) == int64(1+after%2) {
				c.sim.Fault(botsim.Fault{Kind: botsim.CutBefore, Times: 1, Match: func(c botsim.Call) bool { return c.ID == call.ID }})
				kill()
			}
		})
	default: // updates were just delivered
		var polls atomic.Int64
		return c.sim.AfterEffect(func(call botsim.Call) {
			if call.Method == "getUpdates" && c.sim.Pending() > 0 && polls.Add(1) == 1 {
				time.AfterFunc(time.Duration(after)*time.Millisecond, kill)
			}
		})
	}
}

// report reports a random result in a random group.
func (c *crash) report() {
	i := c.random.IntN(crashGroups)
	order := c.random.Perm(len(c.people))
	a, b := c.people[order[0]], c.people[order[1]]
	scoreA, scoreB := c.random.IntN(12), c.random.IntN(12)
	m := c.groups[i].Say(a, fmt.Sprintf("/match %s %d:%d", mention(b), scoreA, scoreB))
	c.post(key(m))
	c.messageIDs[i] = append(c.messageIDs[i], m.ID)
	c.cards[i] = append(c.cards[i], c.truths[i].play(a.FirstName, b.FirstName, scoreA, scoreB, a.FirstName))
}

// post records the key of a command.
func (c *crash) post(key string) {
	c.keys = append(c.keys, key)
	c.posted.Add(1)
}

func (c *crash) played() int {
	n := 0
	for _, truth := range c.truths {
		n += truth.matches()
	}
	return n
}

// awaitSilence waits until all transactions and requests of a killed bot have ended.
func (c *crash) awaitSilence() {
	eventually(c.t, "the killed bot has left the database", func() bool {
		return count(c.t, c.pool, `
			SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'elobot' AND pid <> pg_backend_pid()`) == 0
	})
	eventually(c.t, "the killed bot's requests have ended", func() bool {
		return !slices.ContainsFunc(c.sim.Calls(), func(call botsim.Call) bool { return !call.Done })
	})
}

// classify counts the windows that the last kill hit. It considers only what has changed since the
// previous kill.
func (c *crash) classify() {
	c.awaitSilence()
	confirmed, shown := len(c.keys)-c.sim.Pending(), int(c.shown.Load())
	handled := handledKeys(c.t, c.pool)
	if slices.ContainsFunc(c.keys[:shown], func(key string) bool { return !handled[key] }) {
		c.beforeCommit++
	}
	if slices.ContainsFunc(c.keys[confirmed:], func(key string) bool { return handled[key] && !c.handled[key] }) {
		c.beforeAcknowledgment++
	}
	c.handled = handled
	if c.unmarked() {
		c.beforeMark++
	}
}

// unmarked reports whether, since the last call, a message has arrived whose notice is still marked
// as sending.
func (c *crash) unmarked() bool {
	type sending struct {
		ID, Chat int64
		ReplyTo  int
	}
	found := false
	for _, row := range collect(c.t, c.pool, pgx.RowToStructByPos[sending], `
		SELECT o.id, c.telegram_chat_id, o.reply_to FROM outbox o JOIN chats c ON c.id = o.chat_id
		WHERE o.state = 'sending' AND o.reply_to IS NOT NULL`) {
		copies := 0
		for _, m := range c.sim.Chat(row.Chat).BotMessages() {
			if m.ReplyTo == row.ReplyTo {
				copies++
			}
		}
		found = found || copies > c.arrived[row.ID]
		c.arrived[row.ID] = copies
	}
	return found
}

// checkAll starts the bot and checks everything.
func (c *crash) checkAll() {
	launch(c.t, crashEnvironment(environment(c.sim, c.url)), "run")
	c.check()
}

// check waits until everything is sent, and checks matches, answers and ratings.
func (c *crash) check() {
	awaitAllSent(c.t, c.sim, c.pool)
	if n := count(c.t, c.pool, `SELECT count(*) FROM matches`); n != *crashMatches {
		c.t.Errorf("%d matches were recorded, want %d", n, *crashMatches)
	}
	if n := count(c.t, c.pool, `SELECT count(*) FROM dead_letters`); n != 0 {
		c.t.Errorf("there are %d dead letters", n)
	}
	copies := 0
	for i, group := range c.groups {
		copies += c.checkGroup(i, group)
	}
	duplicates := count(c.t, c.pool, `SELECT sum(possible_duplicates) FROM outbox`)
	c.t.Logf("%d answers came twice, %d were counted as possible duplicates", copies, duplicates)
	if copies > duplicates {
		c.t.Errorf("%d answers came twice, but only %d were counted as possible duplicates", copies, duplicates)
	}
}

// checkGroup compares the first copies of the cards with the expected ones, and returns the number
// of further copies.
func (c *crash) checkGroup(i int, group *botsim.Chat) (copies int) {
	next := len(c.people) // after the answers to /join
	seen := make(map[int]bool)
	for _, m := range group.BotMessages() {
		if strings.Contains(m.Text, "welcome") || strings.Contains(m.Text, "already in") {
			continue
		}
		if seen[m.ReplyTo] {
			copies++
			continue
		}
		seen[m.ReplyTo] = true
		if next == len(c.cards[i]) {
			c.t.Fatalf("group %d has one card too many:\n%s", i+1, visible(m))
		}
		if m.ReplyTo != c.messageIDs[i][next] || visible(m) != c.cards[i][next] {
			c.t.Fatalf("group %d, card %d answers message %d:\n%s\nwant %d:\n%s",
				i+1, next, m.ReplyTo, visible(m), c.messageIDs[i][next], c.cards[i][next])
		}
		next++
	}
	if next != len(c.cards[i]) {
		c.t.Errorf("group %d has %d cards, want %d", i+1, next, len(c.cards[i]))
	}
	for name, p := range c.truths[i].Standings {
		stored := count(c.t, c.pool, `
			SELECT s.elo FROM group_players s
			JOIN ladders l ON l.season_id = s.season_id JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id
			WHERE c.telegram_chat_id = $1 AND s.name = $2`, group.ID(), name)
		if stored != p.Elo {
			c.t.Errorf("group %d: %s has %d, want %d", i+1, name, stored, p.Elo)
		}
	}
	return copies
}

// crashEnvironment adds a short lease to env, so that a bot takes over soon after another one was
// killed.
func crashEnvironment(env []string) []string {
	return append(env, "LEASE_DURATION=500ms", "LEASE_RENEWAL=150ms")
}
