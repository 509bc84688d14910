//go:build soak

package main_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestManyCleanStops: if the bot is stopped repeatedly at random moments while it sends a backlog
// to 80 groups, and Telegram takes up to 4 s to answer, no message is sent twice.
func TestManyCleanStops(t *testing.T) {
	t.Parallel()
	for _, latency := range []time.Duration{200 * time.Millisecond, 2 * time.Second, 4 * time.Second} {
		t.Run(latency.String(), func(t *testing.T) {
			t.Parallel()
			stopRepeatedly(t, latency)
		})
	}
}

func stopRepeatedly(t *testing.T, latency time.Duration) {
	t.Helper()
	const groups, stops = 80, 20
	random := seeded(t)
	sim := startTelegram(t)
	url, pool := database(t)
	alice := sim.User("alice")
	chats := make([]*botsim.Chat, groups)
	ids := make([]int64, groups)
	for i := range chats {
		chats[i] = sim.Group(fmt.Sprintf("Group %d", i+1), alice)
		ids[i] = chats[i].ID()
	}
	stopCleanly(t, awaitReady(t, launch(t, environment(sim, url), "run"))) // creates the schema
	if _, err := pool.Exec(testContext(t), `
		INSERT INTO chats (telegram_chat_id, kind) SELECT id, 'group' FROM unnest($1::bigint[]) AS id`, ids); err != nil {
		t.Fatal(err)
	}
	healed := sim.Fault(botsim.Fault{Kind: botsim.SlowAnswer, Method: "sendMessage", Delay: latency})
	underWay, longest := 0, time.Duration(0)
	for i := range stops {
		if _, err := pool.Exec(testContext(t), `
			INSERT INTO outbox (chat_id, kind, payload)
			SELECT id, 'joined', jsonb_build_object('name', jsonb_build_object('name', 'Player ' || $1::integer), 'elo', 1500)
			FROM chats`, i); err != nil {
			t.Fatal(err)
		}
		var arrived atomic.Int64
		wanted := int64(1 + random.IntN(60))
		enough := make(chan struct{})
		remove := sim.AfterEffect(func(c botsim.Call) {
			if c.Method == "sendMessage" && arrived.Add(1) == wanted {
				close(enough)
			}
		})
		bot := launch(t, environment(sim, url), "run")
		<-enough
		begun := time.Now()
		stopCleanly(t, bot)
		longest = max(longest, time.Since(begun))
		remove()
		underWay += int(arrived.Load())
	}
	waiting := count(t, pool, `SELECT count(*) FROM outbox WHERE finished_at IS NULL`)
	healed()
	launch(t, environment(sim, url), "run")
	awaitAllSent(t, sim, pool)
	t.Logf("%d stops, the longest took %v, %d requests until then, %d notices left for the end; copies: %d, possible duplicates: %d",
		stops, longest.Round(time.Millisecond), underWay, waiting, copies(chats), count(t, pool, `SELECT sum(possible_duplicates) FROM outbox`))
	if n := copies(chats); n != 0 {
		t.Errorf("%d messages came twice", n)
	}
	if n := count(t, pool, `SELECT sum(possible_duplicates) FROM outbox`); n != 0 {
		t.Errorf("%d requests are counted as possible duplicates", n)
	}
}

// awaitReady waits until the bot leads.
func awaitReady(t *testing.T, bot *process) *process {
	t.Helper()
	bot.await(t, "leading")
	return bot
}

// copies returns how many of the bot's messages repeat the text of an earlier one in the same chat.
func copies(chats []*botsim.Chat) int {
	n := 0
	for _, chat := range chats {
		seen := make(map[string]bool)
		for _, m := range chat.BotMessages() {
			if seen[m.Text] {
				n++
			}
			seen[m.Text] = true
		}
	}
	return n
}
