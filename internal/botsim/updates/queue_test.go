package updates_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"elobot/internal/botsim/updates"
)

var start = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// queue returns a queue with the updates 11, 12, … 10+n.
func queue(n int64) *updates.Queue {
	q := updates.NewQueue()
	for q.Next = 11; q.Next <= 10+n; q.Next++ {
		add(q, q.Next, start)
	}
	return q
}

func add(q *updates.Queue, id int64, at time.Time) *updates.Update {
	u := &updates.Update{ID: id, At: at, Raw: strconv.AppendInt(nil, id, 10)}
	q.Add(u)
	return u
}

func waits(t *testing.T, what string, q *updates.Queue, want ...int64) {
	t.Helper()
	var got []int64
	for _, u := range q.Waiting() {
		got = append(got, u.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v wait, want %v", what, got, want)
	}
}

func TestConfirmBelow(t *testing.T) {
	t.Parallel()
	for offset, want := range map[int64][]int64{
		0: {11, 12, 13}, 11: {11, 12, 13}, 12: {12, 13}, 14: nil,
		24: nil, 25: {11, 12, 13}, // too far ahead
		-1: {13}, -2: {12, 13}, -14: {11, 12, 13}, -99: {11, 12, 13},
	} {
		q := queue(3)
		if n := q.ConfirmBelow(offset); n != 3-len(want) {
			t.Errorf("offset %d confirms %d", offset, n)
		}
		waits(t, "offset "+strconv.FormatInt(offset, 10), q, want...)
	}
}

func TestConfirmOne(t *testing.T) {
	t.Parallel()
	q := queue(3)
	second := q.Waiting()[1]
	if !q.ConfirmOne(second) || !second.Gone() || q.ConfirmOne(second) {
		t.Error("an update was not confirmed once")
	}
	late := add(q, 12, start)
	waits(t, "added again", q, 11, 12, 13)
	if !q.ConfirmOne(q.Waiting()[0]) || late.Gone() {
		t.Error("the wrong update was confirmed")
	}
	waits(t, "after the first", q, 12, 13)
}

func TestLongPoll(t *testing.T) {
	t.Parallel()
	q := queue(0)
	first := q.Wait()
	reason := errors.New("another one")
	q.Terminate(reason)
	<-first.Conflict
	second := q.Wait()
	q.Leave(first) // is no longer the waiting one
	add(q, 11, start)
	<-second.Wake
	third := q.Wait()
	q.Leave(third)
	q.Terminate(reason)
	select {
	case <-third.Conflict:
		t.Error("a poll that left was terminated")
	default:
	}
	if !errors.Is(first.Reason, reason) || second.Reason != nil {
		t.Errorf("reasons = %v, %v", first.Reason, second.Reason)
	}
}

func TestLanes(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]updates.Lane{
		`{"message":{"chat":{"id":-5},"from":{"id":7}}}`:                       updates.LaneOfChat(-5),
		`{"update_id":1,"callback_query":{"from":{"id":7},"chat_instance":1}}`: updates.LaneOfPresses(7),
	} {
		if got := updates.LaneOfRaw(1, []byte(raw)); got != want || got.Chat() != want.Chat() {
			t.Errorf("%s: %v, want %v", raw, got, want)
		}
	}
	for _, raw := range []string{`{"message":`, `{"poll":{}}`, "7"} {
		if one, two := updates.LaneOfRaw(1, []byte(raw)), updates.LaneOfRaw(2, []byte(raw)); one == two || one.Chat() != 0 {
			t.Errorf("%s: %v and %v", raw, one, two)
		}
	}
}
