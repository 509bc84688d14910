package main

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// TestWrongArguments checks that unknown, missing and invalid arguments are errors. If the text of
// such an error repeats a secret, secretLike matches the secret.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"", "walk", "run --fast", "run 123456:hush_HUSH-hush", "123456:hush", "run bot123456:hush", "run --once=123456:hush",
		"run TELEGRAM_BOT_TOKEN=123456:hush", "dead", "dead show", "dead show x", "dead show 1 2", "dead retry", "dead retry x",
		"dead drop", "dead drop 1 all", "dead drop all 1", "dead list --limit=0", "dead list 1",
		"dead drop 1 --since=14:00", "dead retry 1 --error=hush", "dead retry all --since=25:00", "dead retry all --since=", "dead retry --error=x",
	} {
		parser, err := kong.New(&commands{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(strings.Fields(args))
		if err == nil {
			t.Errorf("elobot %s is accepted", args)
		} else if text := secretLike.ReplaceAllString(err.Error(), "***"); strings.Contains(strings.ToLower(text), "hush") {
			t.Errorf("elobot %s: %s", args, text)
		}
	}
}

// TestMoments checks that a time of day means its most recent occurrence. Dates and times without a
// zone are in the zone of the current time. Other forms are errors.
func TestMoments(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60)
	now := time.Date(2026, 3, 1, 14, 30, 15, 0, zone)
	for text, want := range map[string]string{
		"14:00":                "2026-03-01T14:00:00+02:00",
		"14:30":                "2026-03-01T14:30:00+02:00",
		"14:31":                "2026-02-28T14:31:00+02:00",
		"9:05":                 "2026-03-01T09:05:00+02:00",
		"23:59":                "2026-02-28T23:59:00+02:00",
		"00:00":                "2026-03-01T00:00:00+02:00",
		"2026-02-27T08:15":     "2026-02-27T08:15:00+02:00",
		"2026-02-27 08:15":     "2026-02-27T08:15:00+02:00",
		"2026-02-27T08:15:09Z": "2026-02-27T08:15:09Z",
		// A full date is taken literally, even in the future.
		"2026-03-02T08:15": "2026-03-02T08:15:00+02:00",
	} {
		if got, err := momentOf(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s is %v, error %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "14", "25:00", "14:00 today", "2026-02-30T08:15", "2 hours ago", "14:00Z"} {
		_, err := momentOf(text, now)
		if err == nil || !strings.HasSuffix(err.Error(), " is no time: use a time of day such as 14:00, "+
			"or a date and time such as 2026-03-01T14:30") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
