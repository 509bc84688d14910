package main

import (
	"testing"
	"time"

	"elobot/internal/botsim"
)

func TestMinimumTime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limits       botsim.Limits
		groups, each int
		want         time.Duration
	}{
		"all at once":       {botsim.TelegramLimits(), 30, 1, 0},
		"one too many":      {botsim.TelegramLimits(), 31, 1, time.Second},
		"limited in total":  {botsim.TelegramLimits(), 200, 10, 66 * time.Second},
		"limited per group": {botsim.TelegramLimits(), 2, 41, 2 * time.Minute},
		"limited per chat":  {botsim.TelegramLimits(), 4, 6, 5 * time.Second},
		"no limits":         {botsim.Limits{}, 200, 10, 0},
	} {
		if got := minimumTime(tc.limits, tc.groups, tc.each); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
