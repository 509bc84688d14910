package queuemodel_test

import (
	"strings"
	"testing"
	"time"

	"elobot/internal/outbox/queuemodel"
)

func TestGoodQueues(t *testing.T) {
	t.Parallel()
	cases := map[string]func(q *queue){
		"in order": func(q *queue) {
			q.put(1, 2, 3)
			q.send(1)
			q.send(2, 3)
		},
		"as fast as allowed": func(q *queue) {
			q.put(1, 2, 3)
			q.send(1)
			q.send(2)
			q.advance(time.Second)
			q.send(3)
		},
		"expired": func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Deadline: q.now.Add(time.Second)})
			q.advance(time.Second)
			q.persist(queuemodel.Expired, 1)
		},
		"summarized": func(q *queue) {
			q.put(1)
			q.Put(queuemodel.Item{ID: 2, Lane: chat, Deadline: q.now.Add(time.Second)})
			q.put(3, 4)
			q.answer(q.begin(1), queuemodel.Unreachable)
			q.Summarizes(2, []int64{3})
			q.put(5)
			q.Summarizes(2, []int64{4, 5})
			q.persist(queuemodel.Waits, 1)
			q.advance(time.Minute)
			q.send(1)
			q.advance(time.Minute)
			q.send(2)
		},
		"rejected": func(q *queue) {
			q.put(1, 2)
			q.answer(q.begin(1, 2), queuemodel.Rejected)
			q.persist(queuemodel.Dead, 1)
			q.persist(queuemodel.Waits, 2)
			q.send(2)
		},
		"failed too often": func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Failed, queuemodel.Waits)
			q.fail(queuemodel.Failed, queuemodel.Dead)
		},
		"possible duplicate": func(q *queue) {
			q.put(1, 2)
			r := q.begin(1, 2)
			q.Reaches(r, true)
			q.Ends(r, queuemodel.Ambiguous, 0)
			q.persist(queuemodel.Sending, 1, 2)
			q.advance(time.Minute)
			q.repeat(1, 1, 2)
		},
		"five possible duplicates": func(q *queue) {
			q.put(1)
			q.ambiguous(5)
			q.Took(1, chat, []int64{1}, true)
			q.persist(queuemodel.Uncertain, 1)
		},
		"sixth request for an edit": func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Harmless: true})
			q.ambiguous(5)
			q.advance(11 * time.Minute)
			q.repeat(1, 1)
		},
		"long request after an unknown outcome": func(q *queue) {
			r := q.longRequest(1)
			q.advance(10 * time.Second)
			q.answer(r, queuemodel.Delivered)
			q.persist(queuemodel.Sent, 1)
		},
		"taken over by the next leader": func(q *queue) {
			q.put(1)
			q.Reaches(q.begin(1), true)
			q.Leads(2)
			q.repeat(2, 1)
		},
		"sender that does not return": func(q *queue) {
			q.put(1)
			r := q.begin(1)
			q.advance(5 * time.Second)
			q.Cut(r)
			q.advance(time.Second)
			q.persist(queuemodel.Sending, 1)
			q.repeat(1, 1)
			q.advance(time.Minute)
			q.Ends(r, queuemodel.Delivered, 0)
		},
		"content already shown": func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Object: "board", Says: "a"})
			q.Put(queuemodel.Item{ID: 2, Lane: chat, Object: "board", Says: "a"})
			q.send(1)
			q.Took(1, chat, []int64{2}, false)
			q.persist(queuemodel.Sent, 2)
		},
		"newer pages": func(q *queue) {
			q.press("a", 1)
			q.Took(1, pages, []int64{1}, false)
			r := q.Begins(1, pages, []int64{1}, false)
			q.press("a", 2)
			q.answer(r, queuemodel.RateLimited)
			q.persist(queuemodel.Waits, 1)
			q.press("a", 3)
			q.advance(time.Minute)
			q.persist(queuemodel.Expired, 1, 2)
			q.Took(1, pages, []int64{3}, false)
			q.answer(q.Begins(1, pages, []int64{3}, false), queuemodel.Delivered)
			q.persist(queuemodel.Sent, 3)
		},
		"request of a frozen process": func(q *queue) {
			q.put(1)
			r := q.begin(1)
			q.Excuse(r)
			q.Leads(2)
			q.repeat(2, 1)
			q.Reaches(r, true)
		},
	}
	for name, play := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQueue()
			play(q)
			if err := q.Verdict(); err != nil {
				t.Errorf("%v\nafter:\n%s", err, strings.Join(q.History(), "\n"))
			}
		})
	}
}

// Each of these violates one rule.
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
		"persists as sent without a request": {func(q *queue) {
			q.put(1)
			q.Took(1, chat, []int64{1}, false)
			q.persist(sent, 1)
		}, "item 1 becomes sent"},
		"persists as sent before the answer": {func(q *queue) {
			q.put(1)
			q.Reaches(q.begin(1), true)
			q.persist(sent, 1)
		}, "item 1 becomes sent"},
		"forgets an unknown outcome": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Ambiguous, waits)
		}, "item 1 becomes waits"},
		"treats a known outcome as unknown": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Unreachable, sending)
		}, "item 1 becomes sending"},
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
		"counts a possible duplicate after a clear answer": {func(q *queue) {
			q.put(1)
			q.answer(q.begin(1), queuemodel.Delivered)
			q.repeat(1, 1)
		}, `[1] counts as a possible duplicate, but the answer was ""`},
		"counts a possible duplicate without a request": {func(q *queue) {
			q.put(1)
			q.Took(1, chat, []int64{1}, false)
			q.repeat(1, 1)
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
		}, "1ns too early"},
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
		}, "is cancelled after 6s"},
		"repeats an unknown outcome too early": {func(q *queue) {
			q.put(1)
			q.ambiguous(2)
			q.advance(7*time.Second - 1)
			q.Took(1, chat, []int64{1}, true)
			q.Begins(1, chat, []int64{1}, false)
		}, "1ns too early"},
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
		}, "item 1 becomes uncertain"},
		"gives up an edit": {func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Harmless: true})
			q.ambiguous(5)
			q.advance(11 * time.Minute)
			q.Took(1, chat, []int64{1}, true)
			q.persist(queuemodel.Uncertain, 1)
		}, "item 1 becomes uncertain"},
		"gives up a newer item": {func(q *queue) {
			q.put(1)
			q.ambiguous(4)
			q.advance(11 * time.Minute)
			q.Took(1, chat, []int64{1}, true)
			q.Ends(q.Begins(1, chat, []int64{1}, false), queuemodel.Unreachable, 0)
			q.persist(waits, 1)
			q.advance(time.Minute)
			q.put(2)
			q.Ends(q.begin(1, 2), queuemodel.Ambiguous, 0)
			q.persist(sending, 1, 2)
			q.advance(time.Minute)
			q.Took(1, chat, []int64{1, 2}, true)
			q.persist(queuemodel.Uncertain, 1, 2)
		}, "item 2 is given up after 1 possible duplicates"},
		"exceeds the longer timeout": {func(q *queue) {
			r := q.longRequest(1)
			q.advance(8*time.Second + 1)
			q.Cut(r)
		}, "is cancelled after 8.000000001s"},
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
		"summarizes another lane": {func(q *queue) {
			q.put(1)
			q.press("a", 2)
			q.Summarizes(1, []int64{2})
		}, "summarizes item 2 of"},
		"sends what is summarized": {func(q *queue) {
			q.put(1, 2)
			q.Summarizes(1, []int64{2})
			q.send(1, 2)
		}, "item 2 of"},
		"loses a summary": {func(q *queue) {
			q.put(1)
			q.Put(queuemodel.Item{ID: 2, Lane: chat, Deadline: q.now})
			q.Summarizes(1, []int64{2})
		}, "item 1 is lost"},
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
			q.press("a", 2)
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
		"sends an outdated page": {func(q *queue) {
			q.press("a", 1, 2)
			q.Took(1, pages, []int64{1}, false)
		}, "item 1 taken although a newer page"},
		"drops a page for one of another message": {func(q *queue) {
			q.press("a", 1)
			q.press("b", 2)
			q.persist(queuemodel.Expired, 1)
		}, "item 1 becomes expired"},
		"drops the newest page": {func(q *queue) {
			q.press("a", 1, 2)
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
