package botsim_test

import (
	"slices"
	"testing"
	"time"

	"elobot/internal/botsim/webhook"
)

func TestRetryDelays(t *testing.T) {
	t.Parallel()
	var got []int
	for attempt := 1; attempt <= 9; attempt++ {
		got = append(got, int(webhook.RetryDelay(attempt)/time.Second))
	}
	if want := []int{0, 2, 4, 8, 16, 32, 60, 60, 60}; !slices.Equal(got, want) {
		t.Errorf("seconds = %v, want %v", got, want)
	}
	if d := webhook.RetryDelay(100_000); d != time.Minute {
		t.Errorf("delay after many attempts = %s", d)
	}
}
