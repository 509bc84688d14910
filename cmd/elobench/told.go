package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"elobot/internal/botsim"
)

// silence is how long nothing may come before it is clear that nothing will.
const silence = time.Minute

var (
	// matchNumber finds the number of a match, in a message of its own and in a line of one that tells several.
	matchNumber = regexp.MustCompile(`#(\d+)`)
	// notNamed finds how many results a message tells without naming them.
	notNamed = regexp.MustCompile(`(?m)^…and (\d+) more\. All results count`)
)

// numbersIn returns the numbers of the matches that a message of the bot tells of.
func numbersIn(text string) []int {
	var numbers []int
	for _, found := range matchNumber.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(found[1]); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// unnamedIn returns how many recorded results a message of the bot counts without naming them.
func unnamedIn(text string) int {
	if found := notNamed.FindStringSubmatch(text); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			return n
		}
	}
	return 0
}

// tally counts the results that have been told, each once, however many a message tells.
type tally struct {
	named   map[toldMatch]bool
	unnamed int
}

// toldMatch is a match by the Telegram id of its chat and its number there.
type toldMatch struct {
	chat   int64
	number int
}

func newTally() *tally { return &tally{named: make(map[toldMatch]bool)} }

// add counts what a message of the bot tells.
func (t *tally) add(m botsim.Message) {
	if !m.From.IsBot || m.Edits > 0 {
		return
	}
	for _, n := range numbersIn(m.Text) {
		t.named[toldMatch{m.ChatID, n}] = true
	}
	t.unnamed += unnamedIn(m.Text)
}

func (t *tally) told() int { return len(t.named) + t.unnamed }

// wait takes messages until so many results are told, and returns when that was.
func (t *tally) wait(ctx context.Context, messages <-chan botsim.Message, n int, progress *progress) (time.Time, error) {
	return waitMessages(ctx, messages, func(m botsim.Message) bool {
		t.add(m)
		return t.told() >= n
	}, func() { progress.say("%d of %d results are told", t.told(), n) })
}

// waitMessages takes messages until one is the last, and returns when that came. While it waits, it has told how far it is.
func waitMessages(
	ctx context.Context, messages <-chan botsim.Message, last func(botsim.Message) bool, tell func(),
) (time.Time, error) {
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case m, ok := <-messages:
			switch {
			case !ok:
				return time.Time{}, botsim.ErrClosed
			case last(m):
				return m.Date, nil
			}
			quiet.Reset(silence)
		case <-tick.C:
			tell()
		case <-quiet.C:
			tell()
			return time.Time{}, errors.New("the bot has fallen silent")
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("wait for the bot: %w", context.Cause(ctx))
		}
	}
}
