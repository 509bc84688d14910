package bot

import (
	"fmt"
	"testing"

	"elobot/internal/botsim"
)

// TestPressPrompt: the press names the prompt, so it may be below any copy of the message that asks.
func TestPressPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		asks := w.below(w.group, "1q:7:Aa0_-zZ9:undo", "1q:7:Aa0_-zZ9:cancel")
		for data, want := range map[string]string{"1q:7:Aa0_-zZ9:undo": "prompt 7 Aa0_-zZ9 undo", "1q:7:Aa0_-zZ9:cancel": "prompt 7 Aa0_-zZ9 cancel"} {
			id := w.sim.Press(w.bob, asks, data)
			o := w.expect(data, fmt.Sprintf("%s in %d", want, asks.ID))[0].origin
			if o.Key != "c:"+id || o.Button != id || o.Sender.ID != 1002 {
				t.Errorf("%s: origin %+v", data, o)
			}
		}
	}
}

// TestForgedPrompts: data that the bot does not produce is rejected, and so is all data below other messages.
func TestForgedPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, data := range []string{
		"1q", "1q:", "1q::T:undo", "1q:0:T:undo", "1q:-1:T:undo", "1q:+7:T:undo", "1q:07:T:undo", "1q: 7:T:undo", "1q:x:T:undo", "1q:7.0:T:undo",
		"1q:9223372036854775808:T:undo", "2q:7:T:undo", "q:7:T:undo", "1q:7:undo", "1q:7::undo",
	} {
		w.sim.Press(w.alice, w.below(w.group, data), data)
		w.expect(fmt.Sprintf("%q", data), unknownButton)
	}
	private := w.below(w.sim.Private(w.alice), "1q:7:T:undo")
	gone := w.below(w.group, "1q:7:T:undo")
	w.group.Delete(gone)
	for what, m := range map[string]botsim.Message{
		"below a card": w.below(w.group, "1u:42"), "below another prompt": w.below(w.group, "1q:8:T:undo"), "in a private chat": private,
		"below what is gone": gone,
	} {
		w.sim.Press(w.alice, m, "1q:7:T:undo")
		w.expect(what, unknownButton)
	}
}
