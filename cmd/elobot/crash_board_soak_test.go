//go:build soak && unix

package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
)

// TestBoardKilledUnderPressure checks that, in the end, one board is pinned and shows the ranking,
// although the board is deleted six times, and the bot is killed each time while it makes the next
// board. Meanwhile, 60 results come in, under limits with shorter periods than Telegram's, and the
// bot never exceeds them. Only a kill between sending and pinning leaves a copy of the board.
func TestBoardKilledUnderPressure(t *testing.T) {
	t.Parallel()
	const results, kills = 10, 6 // results for each kill
	limits := botsim.Limits{Chat: botsim.Window{N: 5, Per: 500 * time.Millisecond},
		Group: botsim.Window{N: 20, Per: 6 * time.Second}}
	c := newCrashes(t, botsim.WithLimits(limits))
	alice, olga := c.sim.User("alice"), c.sim.User("olga")
	group := c.sim.Group("Chess", olga, alice, c.sim.User("bob"))
	group.Promote(c.sim.Bot())
	env := []string{"BOARD_INTERVAL=1s", "SEND_LIMIT_GROUP=20/6s,5/500ms", "SEND_LIMIT_TOTAL=off"}
	bot := c.start(env...)
	group.Say(olga, "/board on")
	points := []crashpoint.Point{crashpoint.Making, crashpoint.Pinning, crashpoint.Pinned}
	for i := range kills {
		c.await("a board is pinned", func() bool { return len(group.AllPinned()) == 1 })
		for n := range results {
			group.Say(alice, fmt.Sprintf("/match @bob %d:%d", 3*(n%2), 1+i%2))
			if n == results/2 {
				group.Delete(group.AllPinned()[0])
				c.at(points[i%len(points)], 1, crashpoint.End)
			}
		}
		c.awaitCrash(bot)
		expireLease(t, c.pool, bot)
		bot = c.start(env...)
	}
	c.settle()
	equal(t, count(t, c.pool, `SELECT count(*) FROM matches`), results*kills, "matches")
	group.Say(olga, "/ranking")
	c.settle()
	ranking := group.BotMessages()[len(group.BotMessages())-1]
	lines := strings.Split(visible(ranking), "\n")
	c.await("the board shows the ranking", func() bool {
		all := group.AllPinned()
		return len(all) == 1 && strings.Contains(visible(all[0]), lines[1]) && strings.Contains(visible(all[0]), lines[2])
	})
	copies := -1 // without the board itself
	for _, m := range group.BotMessages() {
		if !m.Deleted && strings.Contains(m.HTML, "object=board") {
			copies++
		}
	}
	refused := 0
	for _, call := range c.sim.Calls() {
		if call.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if copies != kills/len(points) || refused > 0 {
		t.Errorf("%d copies are left, %d requests were refused", copies, refused)
	}
	t.Logf("%d results, %d kills, %d copies left, %d messages", results*kills, kills, copies, len(group.BotMessages()))
	checkNoDeadLetters(t, c.pool)
	verifyClean(t, c.url)
}
