package botsim_test

import (
	"testing"
	"time"

	"elobot/internal/botsim"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, bot, group, alice := scene(t, botsim.WithClock(c.Now), botsim.WithLimits(botsim.Limits{
		Chat:    botsim.Window{N: 2, Per: time.Second},
		Group:   botsim.Window{N: 3, Per: time.Minute},
		Overall: botsim.Window{N: 4, Per: time.Second},
	}))
	private := s.Private(alice)
	send := func(chat *botsim.Chat, want int, retryAfter any) {
		t.Helper()
		r := bot.must(t, "sendMessage", fields{"chat_id": chat.ID(), "text": "x"})
		if r.Status != want || r.Parameters["retry_after"] != retryAfter {
			t.Errorf("response = %+v; want %d, retry_after %v", r, want, retryAfter)
		}
	}
	send(group, 200, nil)
	c.advance(400 * time.Millisecond)
	send(group, 200, nil)
	send(group, 429, 1.0) // the group has had two sends in this second
	send(private, 200, nil)
	send(private, 200, nil)
	send(private, 429, 1.0) // the bot has made four sends, two of them in this chat
	c.advance(600 * time.Millisecond)
	send(group, 200, nil) // the first send is outside the window
	c.advance(2 * time.Second)
	send(group, 429, 57.0) // the group has had three sends in this minute
	send(private, 200, nil)
	c.advance(57 * time.Second)
	send(group, 200, nil)
}
