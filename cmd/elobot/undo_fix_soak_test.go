//go:build soak && unix

package main_test

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"elobot/internal/botsim"
)

var soakSeed = flag.Uint64("soak.seed", 0, "repeats a soak test with the seed that it printed")

// seeded returns a source of randomness, and logs how to repeat the test with it.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := cmp.Or(*soakSeed, rand.Uint64())
	t.Logf("seed %d: repeat with -soak.seed=%d", seed, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// TestKilledWhileAmending checks that every command takes effect once, in order, and is answered,
// although the bot is killed at random moments while results are undone and corrected by commands
// and buttons. The ratings follow from the matches that count.
func TestKilledWhileAmending(t *testing.T) {
	t.Parallel()
	const kills, commands = 15, 10 // commands per kill
	random := seeded(t)
	k := &killed{crashes: newCrashes(t)}
	k.alice, k.bob, k.carol = k.sim.User("alice"), k.sim.User("bob"), k.sim.User("carol")
	k.begin()
	for kill := range kills {
		bot := k.bot
		var requests atomic.Int64
		last := 1 + random.Int64N(8)
		remove := k.sim.AfterEffect(func(call botsim.Call) {
			if call.ChatID != 0 && requests.Add(1) == last { // before its response arrives
				bot.kill()
			}
		})
		for range commands {
			k.command(random, k.tables[random.IntN(len(k.tables))])
		}
		timer := time.NewTimer(time.Duration(random.IntN(500)) * time.Millisecond)
		select {
		case <-bot.ended:
		case <-timer.C:
			bot.kill()
		}
		remove()
		expireLease(t, k.pool, bot)
		k.bot = k.start()
		// Wait now and then: after too many kills in a row, a bot gives up on notices that may have
		// arrived too often.
		if kill%4 == 3 {
			k.settle()
		}
	}
	k.settle()
	var matches, undone, fixed, presses int
	for _, b := range k.tables {
		b.check()
		matches, undone, fixed, presses = matches+len(b.matches), undone+b.undone,
			fixed+b.fixed, presses+len(b.callbackAnswers)
	}
	t.Logf("%d kills during %d commands, of %d matches %d undone, %d corrections, %d presses, %d possible duplicates",
		kills, kills*commands, matches, undone, fixed, presses,
		count(t, k.pool, `SELECT sum(possible_duplicates) FROM outbox`))
	checkNoDeadLetters(t, k.pool)
	verifyClean(t, k.url)
}

// command makes a random person send a random command or press a button.
func (k *killed) command(random *rand.Rand, b *table) {
	people := []botsim.User{k.alice, k.bob, k.carol}
	order := random.Perm(len(people))
	sender, opponent := people[order[0]], people[order[1]]
	number := 1 + random.IntN(len(b.matches)+1) // sometimes beyond the last match
	score := [2]int{random.IntN(4), random.IntN(4)}
	switch kind := random.IntN(20); {
	case kind < 8:
		b.match(sender, opponent, score[0], score[1])
	case kind < 10:
		b.undo(b.unasked(sender, number), number)
	case kind < 17:
		b.fix(sender, number, score)
	default: // the button of any card
		for _, i := range random.Perm(len(b.matches)) {
			if b.press(b.unasked(sender, i+1), i+1) {
				break
			}
		}
	}
}

// unasked returns a person whom the bot does not ask to confirm an undo of the match: the sender
// or, if the sender is an admin who did not play the match, one of its players.
func (b *table) unasked(sender botsim.User, number int) botsim.User {
	if number > len(b.matches) {
		return sender
	}
	if m := b.matches[number-1]; sender.Username == "alice" && sender.ID != m.a.ID && sender.ID != m.b.ID {
		return m.a
	}
	return sender
}
