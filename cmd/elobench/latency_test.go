package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
)

func at(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }

// sent returns a player's message in chat -1 at a time in milliseconds.
func sent(id, ms int) botsim.Message {
	return botsim.Message{ID: id, ChatID: -1, From: botsim.User{ID: 8}, Date: at(ms)}
}

func answer(ms, replyTo int, text string) botsim.Message {
	m := botSays(-1, text)
	m.Date, m.ReplyTo = at(ms), replyTo
	return m
}

func TestWaits(t *testing.T) {
	t.Parallel()
	a := newAnswers()
	for _, m := range []botsim.Message{
		sent(10, 0), sent(11, 5), answer(13, 10, "Match #1"), answer(14, 10, "Match #1, a copy"),
		sent(20, 20), sent(21, 21), sent(22, 30),
		answer(45, 0, "#3 · one\n#4 · another"), answer(50, 11, "an echo"), answer(51, 22, "last"),
	} {
		a.add(m)
	}
	got, err := a.waits([]time.Time{at(1), at(10), at(21), at(40)})
	if err != nil {
		t.Fatal(err)
	}
	ms := func(delivered, sent int) wait {
		return wait{time.Duration(delivered) * time.Millisecond, time.Duration(sent) * time.Millisecond}
	}
	want := []wait{ms(12, 13), ms(40, 45), ms(24, 25), ms(24, 24), ms(11, 21)}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(wait{})); diff != "" {
		t.Error(diff)
	}
}

func TestWaitsErrors(t *testing.T) {
	t.Parallel()
	for want, tc := range map[string]struct {
		messages  []botsim.Message
		delivered []time.Time
	}{
		"was not delivered": {[]botsim.Message{sent(10, 5), answer(6, 10, "")}, []time.Time{at(4)}},
		"was not answered":  {[]botsim.Message{sent(10, 5), answer(9, 11, "")}, []time.Time{at(6)}},
		"before it was":     {[]botsim.Message{sent(10, 5), answer(6, 10, "")}, []time.Time{at(8)}},
	} {
		a := newAnswers()
		for _, m := range tc.messages {
			a.add(m)
		}
		if _, err := a.waits(tc.delivered); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want one with %q", err, want)
		}
	}
}

func TestDeliveryTimes(t *testing.T) {
	t.Parallel()
	call := func(startedAt, took int, limit, body string) botsim.Call {
		return botsim.Call{
			At: at(startedAt), Duration: time.Duration(took) * time.Millisecond, Done: true, Status: 200,
			Params: map[string]string{"limit": limit}, Body: `{"ok":true,"result":` + body,
		}
	}
	waiting := call(90, 0, "100", `[{"update_id":5`)
	waiting.Done = false
	refused := call(95, 1, "100", `[{"update_id":5`)
	refused.Status = 409
	got := deliveryTimes([]botsim.Call{
		call(20, 1, "100", `[{"update_id":3,"message":{}}]}`),
		call(0, 10, "", `[{"update_id":1,"message":{}}]}`), // the echo bot sets no limit
		call(12, 5, "100", `[]}`),
		call(30, 1, "1", `[{"update_id":3,"message":{}}]}`),
		waiting, refused,
	})
	if want := []time.Time{at(10), at(21)}; !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("updates were delivered at %v, want %v", got, want)
	}
}
