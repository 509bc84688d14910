package queuemodel_test

import (
	"strings"
	"testing"
	"time"

	"elobot/internal/outbox/queuemodel"
)

// TestBadQueues checks that, for each queue that breaks a rule, the verdict names the violation.
func TestBadQueues(t *testing.T) {
	t.Parallel()
	const sending, waits, sent = queuemodel.Sending, queuemodel.Waits, queuemodel.Sent
	cases := map[string]struct {
		play func(q *queue)
		want string
	}{
		"loses an item": {func(q *queue) { q.put(1) }, "item 1 is lost"},
		"persists as sent what did not arrive": {func(q *queue) {
			q.put(1)
			q.Ends(q.begin(1), queuemodel.Delivered, 0)
			q.persist(sent, 1)
		}, "item 1 becomes sent"},
		"forgets an unknown outcome": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Ambiguous, waits)
		}, "item 1 becomes waits"},
		"sends twice": {func(q *queue) {
			q.put(1)
			r := q.begin(1)
			q.Reaches(r, true)
			q.Reaches(r, true)
			q.Ends(r, queuemodel.Delivered, 0)
			q.persist(sent, 1)
		}, "item 1 arrived 2 times, with 0 possible duplicates"},
		"sends a sent item again": {func(q *queue) {
			q.put(1)
			q.send(1)
			q.begin(1)
		}, "item 1 of {1 0} taken in {1 0}, it is sent"},
		"sends what it has given up": {func(q *queue) {
			q.put(1)
			q.Took(1, chat, []int64{1}, false)
			q.persist(queuemodel.Dead, 1)
			q.Begins(1, chat, []int64{1}, false)
		}, "item 1 is sent although it is dead"},
		"revives a sent item": {func(q *queue) {
			q.put(1)
			q.send(1)
			q.persist(waits, 1)
		}, "item 1 changes from final state sent to waits"},
		"counts a possible duplicate after a clear answer": {func(q *queue) {
			q.put(1)
			q.answer(q.begin(1), queuemodel.Delivered)
			q.Took(1, chat, []int64{1}, true)
		}, `[1] counts as a possible duplicate, but the answer was ""`},
		"counts a possible duplicate without a request": {func(q *queue) {
			q.put(1)
			q.Took(1, chat, []int64{1}, false)
			q.Took(1, chat, []int64{1}, true)
		}, "there was no request"},
		"forgets a possible duplicate": {func(q *queue) {
			q.put(1)
			q.Ends(q.begin(1), queuemodel.Ambiguous, 0)
			q.persist(sending, 1)
			q.advance(time.Second)
			q.Took(1, chat, []int64{1}, false)
		}, "item 1 taken, repeated: false"},
		"covers fewer items the second time": {func(q *queue) {
			q.put(1, 2)
			q.begin(1, 2)
			q.Leads(2)
			q.Took(2, chat, []int64{1, 2}, true)
			q.Begins(2, chat, []int64{1}, false)
		}, "covers [1], but its possible duplicate covered [1 2]"},
		"skips an item": {func(q *queue) {
			q.put(1, 2)
			q.send(2)
		}, "item 2 is sent before its turn"},
		"delivers out of order": {func(q *queue) {
			q.put(1, 2)
			r := q.begin(1)
			q.Reaches(q.begin(2), true)
			q.Reaches(r, true)
		}, "item 1 arrived after item 2"},
		"delivers too early": {func(q *queue) {
			q.put(1, 2)
			q.Reaches(q.begin(2), true)
		}, "item 2 arrived before item 1"},
		"takes items during a request": {func(q *queue) {
			q.put(1, 2)
			q.begin(1)
			q.Took(1, chat, []int64{2}, false)
		}, "[2] taken while a request for [1] is in flight"},
		"two requests for one take": {func(q *queue) {
			q.put(1)
			q.answer(q.begin(1), queuemodel.Unreachable)
			q.Begins(1, chat, []int64{1}, false)
		}, "two requests for items that were taken once"},
		"two requests in a chat at a time": {func(q *queue) {
			q.put(1, 2)
			q.begin(1)
			q.Begins(1, chat, []int64{1}, false)
		}, "while one for [1] is in flight"},
		"too many requests at a time": {func(q *queue) {
			for id := range int64(3) {
				lane := queuemodel.Lane{Chat: id}
				q.Put(queuemodel.Item{ID: id, Lane: lane})
				q.Took(1, lane, []int64{id}, false)
				q.Begins(1, lane, []int64{id}, false)
			}
		}, "3 requests are in flight"},
		"too fast in a chat": {func(q *queue) {
			q.put(1, 2, 3)
			q.send(1)
			q.advance(999 * time.Millisecond)
			q.send(2)
			q.send(3)
		}, "3 requests to the chat in 1s"},
		"too fast in total": {func(q *queue) {
			for id := range int64(4) {
				lane := queuemodel.Lane{Chat: id}
				q.Put(queuemodel.Item{ID: id, Lane: lane})
				q.Took(1, lane, []int64{id}, false)
				q.answer(q.Begins(1, lane, []int64{id}, false), queuemodel.Delivered)
			}
		}, "4 requests to all chats in 1s"},
		"ignores a rate limit": {func(q *queue) {
			q.put(1)
			q.Ends(q.begin(1), queuemodel.RateLimited, time.Hour)
			q.persist(waits, 1)
			q.advance(time.Hour - 1)
			q.Leads(2)
			q.Took(2, chat, []int64{1}, false)
			q.Begins(2, chat, []int64{1}, false)
		}, "1ns too early in a frozen chat"},
		"retries too early": {func(q *queue) {
			q.put(1)
			q.Ends(q.begin(1), queuemodel.Unreachable, 0)
			q.persist(waits, 1)
			q.begin(1)
		}, "350ms too early"},
		"is idle": {func(q *queue) {
			q.put(1)
			q.advance(time.Hour)
			q.send(1)
		}, "starts 1h0m0s after it could have"},
		"exceeds the timeout": {func(q *queue) {
			q.put(1)
			r := q.begin(1)
			q.advance(6 * time.Second)
			q.Cut(r)
		}, "is canceled after 6s"},
		"makes a sixth possible duplicate": {func(q *queue) {
			q.put(1)
			q.ambiguous(5)
			q.Took(1, chat, []int64{1}, true)
			q.Begins(1, chat, []int64{1}, false)
		}, "item 1 is sent despite 5 possible duplicates"},
		"gives up after four possible duplicates": {func(q *queue) {
			q.put(1)
			q.ambiguous(4)
			q.Took(1, chat, []int64{1}, true)
			q.persist(queuemodel.Uncertain, 1)
		}, "item 1 is given up after 4 possible duplicates"},
		"gives up after the first failure": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Failed, queuemodel.Dead)
		}, "item 1 becomes dead"},
		"does not give up a failing item": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Failed, waits)
			q.fail(queuemodel.Failed, waits)
		}, "item 1 becomes waits"},
		"expires early": {func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: callbackAnswers, Deadline: q.now.Add(time.Second)})
			q.persist(queuemodel.Expired, 1)
		}, "item 1 becomes expired"},
		"summarizes what is being sent": {func(q *queue) {
			q.put(1, 2)
			q.begin(1, 2)
			q.Summarizes(1, []int64{2})
		}, "item 2 is summarized, but it may have arrived"},
		"summarizes in the place of a later one": {func(q *queue) {
			q.put(1, 2)
			q.Summarizes(2, []int64{1})
		}, "which comes after others"},
		"lets a summary expire": {func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Deadline: q.now.Add(time.Second)})
			q.put(2)
			q.Summarizes(1, []int64{2})
			q.advance(time.Minute)
			q.persist(queuemodel.Expired, 1)
		}, "item 1 becomes expired"},
		"writes to a parked chat": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Forbidden, waits)
			q.Parked(1, q.now.Add(time.Second))
			q.begin(1)
		}, "goes to a parked chat"},
		"tries a parked chat twice": {func(q *queue) {
			q.put(1)
			q.press(2)
			q.fail(queuemodel.Forbidden, waits)
			q.Parked(1, q.now)
			q.Took(1, chat, []int64{1}, false)
			q.advance(time.Second)
			q.Took(1, pages, []int64{2}, false)
		}, "that another one tries"},
		"request outlives the lease": {func(q *queue) {
			q.put(1)
			r := q.begin(1)
			q.Leads(2)
			q.Reaches(r, true)
		}, "arrives while another instance leads"},
		"starts a request after the takeover": {func(q *queue) {
			q.put(1)
			q.Took(1, chat, []int64{1}, false)
			q.Leads(2)
			q.Took(2, chat, []int64{1}, true)
			q.Begins(1, chat, []int64{1}, false)
		}, "covers [1], which was not taken"},
		"replaces what is being sent": {func(q *queue) {
			q.put(1)
			q.begin(1)
			q.Replaced(1, "newer", time.Time{})
		}, "item 1 is replaced, but it was taken"},
		"updates a board before other items": {func(q *queue) {
			boards := queuemodel.Lane{Chat: 1, Kind: queuemodel.Boards}
			q.put(1)
			q.Put(queuemodel.Item{ID: 2, Lane: boards})
			q.advance(time.Hour)
			q.Took(1, boards, []int64{2}, false)
		}, "taken although item 1 waits"},
		"sends an outdated page": {func(q *queue) {
			q.press(1, 2)
			q.Took(1, pages, []int64{1}, false)
		}, "item 1 taken although a newer page"},
		"drops the newest page": {func(q *queue) {
			q.press(1, 2)
			q.persist(queuemodel.Expired, 2)
		}, "item 2 becomes expired"},
		"leaves outdated content": {func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Object: "board", Says: "a"})
			q.Put(queuemodel.Item{ID: 2, Lane: chat, Object: "board", Says: "b"})
			q.send(1)
			q.Took(1, chat, []int64{2}, false)
			q.persist(sent, 2)
		}, "item 2 becomes sent"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueue()
			c.play(q)
			if err := q.Verdict(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the verdict is %v, want %q", err, c.want)
			}
		})
	}
}
