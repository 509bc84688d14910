package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/botsim"
)

const (
	card = "Alice beat Bob 3:1\nAlice +16 → 1516\nBob −16 → 1484\nMatch #12 · new player: Bob"
	// two results, and the answer to a player's question
	merged = "#13 · Alice (+16 → 1516) beat Bob (−16 → 1484), 3:0\n" +
		"Bob: #14 · Carol (+16 → 1516) beat Bob (−16 → 1484), 3:1\n\nUndo a match: /undo 14"
	summary = "#15 · Alice (+16 → 1516) beat Bob (−16 → 1484), 3:0\n" +
		"…and 245 more. All results count, including those not listed here: /ranking shows where everyone stands.\n\nUndo a match: /undo 15"
	refused = "You sent more than 60 results in a minute, so this was not recorded:\n• Alice – @bob 3:1\n…and 70 more\n"
)

func botSays(chat int64, text string) botsim.Message {
	return botsim.Message{ChatID: chat, From: botsim.User{ID: 7, IsBot: true}, Text: text}
}

func TestResultCounter(t *testing.T) {
	t.Parallel()
	edited := botSays(-1, summary)
	edited.Edits = 1
	for name, tc := range map[string]struct {
		messages []botsim.Message
		want     int
	}{
		"a card":                 {[]botsim.Message{botSays(-1, card)}, 1},
		"several in one message": {[]botsim.Message{botSays(-1, merged)}, 2},
		"more than named":        {[]botsim.Message{botSays(-1, summary)}, 246},
		"thousands more":         {[]botsim.Message{botSays(-1, strings.Replace(summary, "245", "1,245", 1))}, 1246},
		"twice":                  {[]botsim.Message{botSays(-1, card), botSays(-1, card)}, 1},
		"in two chats":           {[]botsim.Message{botSays(-1, card), botSays(-2, card)}, 2},
		"edited":                 {[]botsim.Message{botSays(-1, summary), edited}, 246},
		"not recorded":           {[]botsim.Message{botSays(-1, refused)}, 0},
		"from another sender":    {[]botsim.Message{{ChatID: -1, From: botsim.User{ID: 8}, Text: card}}, 0},
		"all":                    {[]botsim.Message{botSays(-1, card), botSays(-1, merged), botSays(-1, summary)}, 249},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resultCounter := newResultCounter()
			for _, m := range tc.messages {
				resultCounter.add(m)
			}
			if got := resultCounter.covered(); got != tc.want {
				t.Errorf("covered = %d, want %d", got, tc.want)
			}
		})
	}
}

// TestResultCounterWaits: wait returns the time of the message with the last result, and prints progress.
func TestResultCounterWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		messages := make(chan botsim.Message)
		go func() {
			for i, text := range []string{card, merged} {
				<-time.After(silenceTimeout - time.Second)
				m := botSays(-1, text)
				m.Date = time.Unix(int64(i), 0)
				messages <- m
			}
		}()
		var progressOutput bytes.Buffer
		covered, err := newResultCounter().wait(t.Context(), messages, 3, newProgress(&progressOutput))
		if err != nil || !covered.Equal(time.Unix(1, 0)) {
			t.Errorf("wait = %v, %v", covered, err)
		}
		if !strings.Contains(progressOutput.String(), "1 of 3 results answered\n") {
			t.Errorf("progress:\n%s", progressOutput.String())
		}
	})
}

func TestResultCounterStopsWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		startedAt := time.Now()
		_, err := newResultCounter().wait(t.Context(), make(chan botsim.Message), 1, newProgress(new(bytes.Buffer)))
		if err == nil || time.Since(startedAt) != silenceTimeout {
			t.Errorf("wait after %v of silence: %v", time.Since(startedAt), err)
		}
		cause := errors.New("the bot has ended")
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if _, err = newResultCounter().wait(ended, nil, 1, newProgress(new(bytes.Buffer))); !errors.Is(err, cause) {
			t.Errorf("wait after the end of the bot: %v", err)
		}
		closed := make(chan botsim.Message)
		close(closed)
		if _, err = newResultCounter().wait(t.Context(), closed, 1, newProgress(new(bytes.Buffer))); !errors.Is(err, botsim.ErrClosed) {
			t.Errorf("wait after the end of the simulator: %v", err)
		}
	})
}
