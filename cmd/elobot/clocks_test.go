package main_test

import (
	"testing"
)

// TestClocksDiffer checks that questions and presses are answered even if Telegram's clock, which
// dates messages, is behind or ahead of the clocks of the database and the bot.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	b := newBotFixture(t)
	b.later.Store(-11 * 60)
	b.bot = launch(t, environment(b.sim, b.url), "run")
	b.joinAll()
	for _, ahead := range []int64{-11 * 60, 11 * 60} {
		b.later.Store(ahead)
		group := b.group("Chess")
		recorded := b.ask(group, b.alice, "/match @bob 3:1")
		b.ask(group, b.alice, "/ranking")
		b.press(b.alice, recorded, undoButton(t, recorded))
		// Each notice must expire after its creation, but not much later than intended.
		for _, row := range []struct {
			what, where string
			seconds     int
		}{
			{"the answer to a question", `kind = 'ranking_page'`, 600},
			{"the answer to a press", `action = 'callback_answer'`, 15},
			{"a result", `kind = 'match_recorded' AND action = 'send'`, 24 * 3600},
		} {
			lived := count(t, b.pool,
				`SELECT max(extract(epoch FROM expires_at - created_at))::integer FROM outbox WHERE `+row.where)
			if lived <= 0 || lived > row.seconds+60 {
				t.Errorf("%s lives for %d s, want at most %d", row.what, lived, row.seconds)
			}
		}
	}
	b.finish()
}
