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
	// two results, and the answer to somebody's question
	merged = "#13 · Alice (+16 → 1516) beat Bob (−16 → 1484), 3:0\n" +
		"Bob: #14 · Carol (+16 → 1516) beat Bob (−16 → 1484), 3:1\n\nUndo a match: /undo 14"
	summary = "#15 · Alice (+16 → 1516) beat Bob (−16 → 1484), 3:0\n" +
		"…and 245 more. All results count, including those not listed here: /ranking shows where everyone stands.\n\nUndo a match: /undo 15"
	refused = "You sent more than 60 results in a minute, so this was not recorded:\n– Alice – @bob 3:1\n…and 70 more\n"
)

func botSays(chat int64, text string) botsim.Message {
	return botsim.Message{ChatID: chat, From: botsim.User{ID: 7, IsBot: true}, Text: text}
}

func TestTally(t *testing.T) {
	t.Parallel()
	edited := botSays(-1, summary)
	edited.Edits = 1
	for name, tc := range map[string]struct {
		messages []botsim.Message
		want     int
	}{
		"a card":                {[]botsim.Message{botSays(-1, card)}, 1},
		"several in a message":  {[]botsim.Message{botSays(-1, merged)}, 2},
		"more than named":       {[]botsim.Message{botSays(-1, summary)}, 246},
		"twice":                 {[]botsim.Message{botSays(-1, card), botSays(-1, card)}, 1},
		"in two chats":          {[]botsim.Message{botSays(-1, card), botSays(-2, card)}, 2},
		"edited":                {[]botsim.Message{botSays(-1, summary), edited}, 246},
		"not recorded":          {[]botsim.Message{botSays(-1, refused)}, 0},
		"said by somebody else": {[]botsim.Message{{ChatID: -1, From: botsim.User{ID: 8}, Text: card}}, 0},
		"all":                   {[]botsim.Message{botSays(-1, card), botSays(-1, merged), botSays(-1, summary)}, 249},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tally := newTally()
			for _, m := range tc.messages {
				tally.add(m)
			}
			if got := tally.told(); got != tc.want {
				t.Errorf("%d are told, want %d", got, tc.want)
			}
		})
	}
}

// TestTallyWaits: the moment is that of the message that tells the last result, and progress is told meanwhile.
func TestTallyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		messages := make(chan botsim.Message)
		go func() {
			for i, text := range []string{card, merged} {
				<-time.After(silence - time.Second)
				m := botSays(-1, text)
				m.Date = time.Unix(int64(i), 0)
				messages <- m
			}
		}()
		var said bytes.Buffer
		told, err := newTally().wait(t.Context(), messages, 3, newProgress(&said))
		if err != nil || !told.Equal(time.Unix(1, 0)) {
			t.Errorf("all is told at %v, %v", told, err)
		}
		if !strings.Contains(said.String(), "1 of 3 results are told\n") {
			t.Errorf("it says:\n%s", said.String())
		}
	})
}

func TestTallyDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := newTally().wait(t.Context(), make(chan botsim.Message), 1, newProgress(new(bytes.Buffer)))
		if err == nil || time.Since(begun) != silence {
			t.Errorf("after %v silence ends with %v", time.Since(begun), err)
		}
		why := errors.New("the bot has ended")
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if _, err = newTally().wait(ended, nil, 1, newProgress(new(bytes.Buffer))); !errors.Is(err, why) {
			t.Errorf("the end of the bot ends it with %v", err)
		}
		closed := make(chan botsim.Message)
		close(closed)
		if _, err = newTally().wait(t.Context(), closed, 1, newProgress(new(bytes.Buffer))); !errors.Is(err, botsim.ErrClosed) {
			t.Errorf("the end of the simulator ends it with %v", err)
		}
	})
}
