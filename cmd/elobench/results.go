package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"elobot/internal/botsim"
)

// silenceTimeout limits the time between two messages of the bot.
const silenceTimeout = time.Minute

var (
	// matchNumber finds the numbers of matches, in the card of one match and in a message that covers several.
	matchNumber = regexp.MustCompile(`#(\d+)`)
	// unnamedResults finds the number of results that a message covers without naming them.
	unnamedResults = regexp.MustCompile(`(?m)^…and ([\d,]+) more\. All results count`)
)

// numbersIn returns the numbers of the matches that a message of the bot names.
func numbersIn(text string) []int {
	var numbers []int
	for _, found := range matchNumber.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(found[1]); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// unnamedIn returns the number of recorded results that a message of the bot covers without naming them.
func unnamedIn(text string) int {
	if found := unnamedResults.FindStringSubmatch(text); found != nil {
		if n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", "")); err == nil {
			return n
		}
	}
	return 0
}

// resultCounter counts the results that the bot's messages cover, each result once.
type resultCounter struct {
	named   map[chatRef]bool
	unnamed int
}

// chatRef identifies a match or a message by the Telegram id of its chat and its number there.
type chatRef struct {
	chat   int64
	number int
}

func newResultCounter() *resultCounter { return &resultCounter{named: make(map[chatRef]bool)} }

// add counts the results that a message of the bot covers.
func (c *resultCounter) add(m botsim.Message) {
	if !m.From.IsBot || m.Edits > 0 {
		return
	}
	for _, n := range numbersIn(m.Text) {
		c.named[chatRef{m.ChatID, n}] = true
	}
	c.unnamed += unnamedIn(m.Text)
}

func (c *resultCounter) covered() int { return len(c.named) + c.unnamed }

// wait receives messages until n results are covered, and returns the time of the last message.
func (c *resultCounter) wait(
	ctx context.Context, messages <-chan botsim.Message, n int, progress *progress,
) (time.Time, error) {
	return waitMessages(ctx, messages, func(m botsim.Message) bool {
		c.add(m)
		return c.covered() >= n
	}, func() { progress.log("%d of %d results answered", c.covered(), n) })
}

// waitMessages receives messages until last returns true, and returns the time of that message. While it waits, it calls
// reportProgress regularly.
func waitMessages(
	ctx context.Context, messages <-chan botsim.Message, last func(botsim.Message) bool, reportProgress func(),
) (time.Time, error) {
	quiet := time.NewTimer(silenceTimeout)
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
			quiet.Reset(silenceTimeout)
		case <-tick.C:
			reportProgress()
		case <-quiet.C:
			reportProgress()
			return time.Time{}, errors.New("the bot has stopped sending messages")
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("wait for the bot: %w", context.Cause(ctx))
		}
	}
}
