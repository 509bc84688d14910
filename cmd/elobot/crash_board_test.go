//go:build unix

package main_test

import (
	"fmt"
	"strings"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
)

// TestBoardKilledWhileMade checks that, if the bot is killed before or after it sends or pins a
// board, exactly one board is pinned in the end, and the database refers to that board.
func TestBoardKilledWhileMade(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	alice, olga := c.sim.User("alice"), c.sim.User("olga")
	group := c.sim.Group("Chess", olga, alice, c.sim.User("bob"))
	group.Promote(c.sim.Bot())
	env := "BOARD_INTERVAL=100ms"
	bot := c.start(env)
	group.Say(olga, "/board on")
	pinned := func(want string) (board botsim.Message) {
		t.Helper()
		c.await("one board is pinned and says "+want, func() bool {
			all := group.AllPinned()
			if len(all) != 1 || c.sim.Pending() > 0 {
				return false
			}
			board = all[0]
			return strings.Contains(visible(board), want)
		})
		return board
	}
	board := pinned("")
	points := []crashpoint.Point{crashpoint.Making, crashpoint.Pinning, crashpoint.Pinned, crashpoint.Requested}
	for i, point := range points {
		c.settle()
		group.Delete(board)
		nth := 1
		if point == crashpoint.Requested {
			nth = 2 // the first request sends the card
		}
		c.at(point, nth, crashpoint.End)
		group.Say(alice, "/match @bob 3:1")
		c.awaitCrash(bot)
		group.Say(alice, "/match @bob 1:3") // while no bot runs
		expireLease(t, c.pool, bot)
		bot = c.start(env)
		c.settle()
		board = pinned("bob")
		equal(t, count(t, c.pool, `SELECT count(*) FROM matches`), 2*(i+1), "matches after the kill at %q", point)
		if n := count(t, c.pool,
			`SELECT count(*) FROM ensured_messages WHERE telegram_message_id = `+fmt.Sprint(board.ID)); n != 1 {
			t.Errorf("the pinned board %d is not the one that is known after the kill at %q", board.ID, point)
		}
	}
	checkNoDeadLetters(t, c.pool)
	verifyClean(t, c.url)
}
