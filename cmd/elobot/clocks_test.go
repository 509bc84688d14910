package main_test

import (
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestClocksDiffer: Telegram's clock, which messages are dated by, shows another time than those of the database and of the
// bot. Questions and presses are answered all the same, and the log names the clocks and the difference.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ahead time.Duration // Telegram's clock
		warns []string
	}{
		"Telegram behind": {-11 * time.Minute, []string{"ahead=bot behind=telegram", "ahead=database behind=telegram"}},
		"Telegram ahead":  {11 * time.Minute, []string{"ahead=telegram behind=bot", "ahead=telegram behind=database"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := botsim.Start(t, botsim.WithClock(func() time.Time { return time.Now().Add(tc.ahead) }))
			url, pool := database(t)
			alice := sim.User("alice")
			group := sim.Group("Chess", alice, sim.User("bob"))
			bot := launch(t, environment(sim, url), "run")
			group.Say(alice, "/match @bob 3:1")
			group.Say(alice, "/ranking")
			recorded := awaitAnswers(t, group, 2)[0]
			if _, err := sim.WaitAnswer(testContext(t), sim.Press(alice, recorded, undoButton(t, recorded))); err != nil {
				t.Fatal(err)
			}
			// of what each is told some of its time is left, and not much more than that
			for _, row := range []struct {
				what, where string
				seconds     int
			}{
				{"the answer to a question", `kind = 'ranking_page'`, 600},
				{"the answer to a press", `action = 'toast'`, 15},
				{"a result", `kind = 'match_recorded' AND action = 'send'`, 24 * 3600},
			} {
				lived := count(t, pool, `SELECT extract(epoch FROM expires_at - created_at)::integer FROM outbox WHERE `+row.where)
				if lived <= 0 || lived > row.seconds+60 {
					t.Errorf("%s lives for %d s, want %d at the most", row.what, lived, row.seconds)
				}
			}
			for _, want := range tc.warns {
				bot.await(t, want)
			}
			if n := strings.Count(bot.output.String(), "clocks differ"); n != 2 {
				t.Errorf("it is said %d times", n)
			}
			checkNoComplaints(t, sim)
		})
	}
}
