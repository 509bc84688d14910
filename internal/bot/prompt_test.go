package bot

import (
	"fmt"
	"testing"

	"elobot/internal/botsim"
)

// TestPressPrompt checks that the data of a press identifies the prompt, so the press works below
// any copy of the prompt's message.
func TestPressPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		options := map[string]string{
			"0": "ranking.Choice 0", "12": "ranking.Choice 12", "p2": "ranking.OpponentPage 2", "s3-11:9": "ranking.ScoreAgainst {3 11:9 [0 0 0]}", "s3--1:1": "ranking.ScoreAgainst {3 -1:1 [0 0 0]}",
			"s0-11:9.3.12.1": "ranking.ScoreAgainst {0 11:9 [3 12 1]}", "d3.12.0p2": "ranking.Doubles {[3 12 0] 2}",
			"cancel": "ranking.Cancel {}",
		}
		var all []string
		for option := range options {
			all = append(all, "1q:7:Aa0_-zZ9:"+option)
		}
		asks := w.below(w.group, all...)
		for option, want := range options {
			data := "1q:7:Aa0_-zZ9:" + option
			w.sim.Press(w.bob, asks, data)
			w.expect(data, fmt.Sprintf("prompt 7 Aa0_-zZ9 %s in %d", want, asks.ID))
		}
	}
}

// TestForgedPrompts checks that data that the bot does not produce is rejected. Valid data is
// rejected unless the message still exists, is in a group, and has a button with the data.
func TestForgedPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, data := range []string{
		"1q", "1q:", "1q::T:0", "1q:0:T:0", "1q:-1:T:0", "1q:+7:T:0", "1q:07:T:0", "1q: 7:T:0", "1q:x:T:0", "1q:7.0:T:0",
		"1q:9223372036854775808:T:0", "2q:7:T:0", "q:7:T:0", "1q:7:0", "1q:7::0",
		"1q:7:T:", "1q:7:T:undo", "1q:7:T:00", "1q:7:T:+1", "1q:7:T:1 ", "1q:7:T:p", "1q:7:T:p02", "1q:7:T:p2x", "1q:7:T:s0", "1q:7:T:s0-3",
		"1q:7:T:s0-03:1", "1q:7:T:s0-3:1:0", "1q:7:T:s 0-3:1", "1q:7:T:cancel:0", "1q:7:T:Cancel",
		"1q:7:T:s0-3:1.2", "1q:7:T:s0-3:1.0.0.0", "1q:7:T:s0-3:1.2.3.4.5", "1q:7:T:d1.2.3", "1q:7:T:d1.2p1", "1q:7:T:d01.2.3p1",
	} {
		w.sim.Press(w.alice, w.below(w.group, data), data)
		w.expect(fmt.Sprintf("%q", data), unknownButton)
	}
	private := w.below(w.sim.Private(w.alice), "1q:7:T:0")
	gone := w.below(w.group, "1q:7:T:0")
	w.group.Delete(gone)
	for what, m := range map[string]botsim.Message{
		"below a card": w.below(w.group, "1u:42"), "below another prompt": w.below(w.group, "1q:8:T:0"), "in a private chat": private,
		"below what is gone": gone,
	} {
		w.sim.Press(w.alice, m, "1q:7:T:0")
		w.expect(what, unknownButton)
	}
}
