package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestWrongArguments: unknown arguments are refused, and errors do not print secrets pasted in the wrong place.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"", "walk", "run --fast", "run 123456:hush_HUSH-hush", "123456:hush", "run bot123456:hush", "run --once=123456:hush",
		"run TELEGRAM_BOT_TOKEN=123456:hush", "dead", "dead show", "dead show x", "dead show 1 2", "dead retry", "dead retry x",
		"dead drop", "dead drop 1 all", "dead drop all 1", "dead list --limit=0", "dead list 1",
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
