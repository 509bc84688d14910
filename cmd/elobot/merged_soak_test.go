//go:build soak

package main_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// TestKilledWhileTellingTogether: the bot is killed at random moments while results come in faster
// than Telegram's limits allow for single messages. All results are delivered, merged, in order and
// within the limits, and every duplicate was counted as possible.
func TestKilledWhileTellingTogether(t *testing.T) {
	t.Parallel()
	const groups, results = 5, 8 // results per kill
	random := seeded(t)
	kills := max(1, *crashKills/4)
	sim := startTelegram(t, botsim.WithLimits(botsim.TelegramLimits()))
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	chats := make([]*botsim.Chat, groups)
	posted := make([]int, groups)
	for i := range chats {
		chats[i] = sim.Group(fmt.Sprintf("Group %d", i+1), alice, bob)
	}
	env := crashEnvironment(plainEnvironment(sim, url))
	unmarked := 0
	for kill := range kills {
		if kill > 0 && kill%killsInARow == 0 {
			sendAll(t, sim, pool, env)
		}
		for range results {
			i := random.IntN(groups)
			chats[i].Say(alice, fmt.Sprintf("/match @bob %d:%d", random.IntN(10), random.IntN(10)))
			posted[i]++
		}
		if runUntilSent(t, sim, env, random) && sentUnmarked(t, pool, chats) {
			unmarked++
		}
	}
	launch(t, env, "run")
	awaitAllSent(t, sim, pool)
	twice := 0
	for i, chat := range chats {
		twice += checkDeliveredInOrder(t, chat, posted[i])
	}
	duplicates := count(t, pool, `SELECT sum(possible_duplicates) FROM outbox`)
	t.Logf("%d kills during %d results: %d between send and mark; %d results were delivered twice, %d counted as possible duplicates; refused: %d",
		kills, kills*results, unmarked, twice, duplicates, refused(sim))
	if twice > duplicates {
		t.Errorf("%d results were delivered twice, but only %d counted as possible duplicates", twice, duplicates)
	}
	if n := refused(sim); n > 0 {
		t.Errorf("Telegram has refused %d requests", n)
	}
	verifyClean(t, url)
}

// runUntilSent starts the bot and kills it after one of its messages arrived, or after 3 s. It
// reports whether any message arrived.
func runUntilSent(t *testing.T, sim *botsim.Server, env []string, random *rand.Rand) bool {
	t.Helper()
	var sent atomic.Int64
	wanted := int64(1 + random.IntN(3))
	arrived := make(chan struct{})
	remove := sim.AfterEffect(func(call botsim.Call) {
		if call.Method == "sendMessage" && call.Delivered && sent.Add(1) == wanted {
			close(arrived)
		}
	})
	defer remove()
	bot := launch(t, env, "run")
	last := time.NewTimer(3 * time.Second)
	defer last.Stop()
	select {
	case <-arrived:
		if random.IntN(2) == 0 { // kill it a little later
			pause := time.NewTimer(time.Duration(random.IntN(20)) * time.Millisecond)
			defer pause.Stop()
			<-pause.C
		}
	case <-last.C:
	}
	bot.kill()
	return sent.Load() > 0
}

// sentUnmarked reports whether a delivered notice is still marked as sending.
func sentUnmarked(t *testing.T, pool *pgxpool.Pool, chats []*botsim.Chat) bool {
	t.Helper()
	type sending struct {
		Chat   int64
		Number int
	}
	rows := collect(t, pool, pgx.RowToStructByPos[sending], `
		SELECT c.telegram_chat_id, (o.payload ->> 'number')::integer FROM outbox o JOIN chats c ON c.id = o.chat_id
		WHERE o.state = 'sending'`)
	for _, chat := range chats {
		delivered := deliveredNumbers(t, chat)
		if slices.ContainsFunc(rows, func(r sending) bool { return r.Chat == chat.ID() && slices.Contains(delivered, r.Number) }) {
			return true
		}
	}
	return false
}
