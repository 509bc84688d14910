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
		"in turn": func(q *queue) {
			q.put(1, 2, 3)
			q.send(1)
			q.send(2, 3)
		},
		"as fast as it may": func(q *queue) {
			q.put(1, 2, 3)
			q.send(1)
			q.send(2)
			q.pass(time.Second)
			q.send(3)
		},
		"too late": func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Deadline: q.now.Add(time.Second)})
			q.pass(time.Second)
			q.write(queuemodel.Expired, 1)
		},
		"refused": func(q *queue) {
			q.put(1, 2)
			q.answer(q.begin(1, 2), queuemodel.Rejected)
			q.write(queuemodel.Dead, 1)
			q.write(queuemodel.Waits, 2)
			q.send(2)
		},
		"failed too often": func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Failed, queuemodel.Waits)
			q.fail(queuemodel.Failed, queuemodel.Dead)
		},
		"twice, perhaps": func(q *queue) {
			q.put(1, 2)
			r := q.begin(1, 2)
			q.Reaches(r, true)
			q.Ends(r, queuemodel.Ambiguous, 0)
			q.write(queuemodel.Perhaps, 1, 2)
			q.pass(time.Minute)
			q.again(1, 1, 2)
		},
		"five times, perhaps": func(q *queue) {
			q.put(1)
			q.unknown(5)
			q.Took(1, chat, []int64{1}, true)
			q.write(queuemodel.Uncertain, 1)
		},
		"an edit for the sixth time": func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Harmless: true})
			q.unknown(5)
			q.pass(11 * time.Minute)
			q.again(1, 1)
		},
		"answered late": func(q *queue) {
			r := q.late(1)
			q.pass(10 * time.Second)
			q.answer(r, queuemodel.Told)
			q.write(queuemodel.Sent, 1)
		},
		"by the next one": func(q *queue) {
			q.put(1)
			q.Reaches(q.begin(1), true)
			q.Leads(2)
			q.again(2, 1)
		},
		"given up": func(q *queue) {
			q.put(1)
			r := q.begin(1)
			q.pass(5 * time.Second)
			q.Cut(r)
			q.pass(time.Second)
			q.write(queuemodel.Perhaps, 1)
			q.again(1, 1)
			q.pass(time.Minute)
			q.Ends(r, queuemodel.Told, 0)
		},
		"nothing to be sent": func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Object: "board", Says: "a"})
			q.Put(queuemodel.Item{ID: 2, Lane: chat, Object: "board", Says: "a"})
			q.send(1)
			q.Took(1, chat, []int64{2}, false)
			q.write(queuemodel.Sent, 2)
		},
		"frozen and late": func(q *queue) {
			q.put(1)
			r := q.begin(1)
			q.Excuse(r)
			q.Leads(2)
			q.again(2, 1)
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

// Each of these does one thing wrong.
func TestBadQueues(t *testing.T) {
	t.Parallel()
	const perhaps, waits, sent = queuemodel.Perhaps, queuemodel.Waits, queuemodel.Sent
	cases := map[string]struct {
		play func(q *queue)
		want string
	}{
		"loses": {func(q *queue) { q.put(1) }, "item 1 is lost"},
		"says that it has sent": {func(q *queue) {
			q.put(1)
			q.Ends(q.begin(1), queuemodel.Told, 0)
			q.write(sent, 1)
		}, "item 1 becomes sent"},
		"does not ask": {func(q *queue) {
			q.put(1)
			q.Took(1, chat, []int64{1}, false)
			q.write(sent, 1)
		}, "item 1 becomes sent"},
		"writes before the answer": {func(q *queue) {
			q.put(1)
			q.Reaches(q.begin(1), true)
			q.write(sent, 1)
		}, "item 1 becomes sent"},
		"forgets that it is not known": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Ambiguous, waits)
		}, "item 1 becomes waits"},
		"leaves open what is known": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Unreachable, perhaps)
		}, "item 1 becomes perhaps"},
		"sends twice": {func(q *queue) {
			q.put(1)
			r := q.begin(1)
			q.Reaches(r, true)
			q.Reaches(r, true)
			q.Ends(r, queuemodel.Told, 0)
			q.write(sent, 1)
		}, "item 1 arrives 2 times, perhaps sent 0 times"},
		"sends what is sent": {func(q *queue) {
			q.put(1)
			q.send(1)
			q.begin(1)
		}, "item 1 of {1 false} is taken in {1 false}, it is sent"},
		"counts without a reason": {func(q *queue) {
			q.put(1)
			q.answer(q.begin(1), queuemodel.Told)
			q.again(1, 1)
		}, `[1] counts as perhaps sent, but the answer was ""`},
		"counts without a request": {func(q *queue) {
			q.put(1)
			q.Took(1, chat, []int64{1}, false)
			q.again(1, 1)
		}, "there was no request"},
		"forgets that it has perhaps sent": {func(q *queue) {
			q.put(1)
			q.Ends(q.begin(1), queuemodel.Ambiguous, 0)
			q.write(perhaps, 1)
			q.pass(time.Second)
			q.Took(1, chat, []int64{1}, false)
		}, "item 1 is taken, again: false"},
		"tells less the second time": {func(q *queue) {
			q.put(1, 2)
			q.begin(1, 2)
			q.Leads(2)
			q.Took(2, chat, []int64{1, 2}, true)
			q.Begins(2, chat, []int64{1}, false)
		}, "tells [1], but perhaps [1 2] was sent"},
		"passes another one": {func(q *queue) {
			q.put(1, 2)
			q.send(2)
		}, "item 2 is sent before its turn"},
		"arrives before another one": {func(q *queue) {
			q.put(1, 2)
			r := q.begin(1)
			q.Reaches(q.begin(2), true)
			q.Reaches(r, true)
		}, "item 1 arrives after item 2"},
		"two at a time": {func(q *queue) {
			q.put(1, 2)
			q.begin(1)
			q.Begins(1, chat, []int64{1}, false)
		}, "while one for [1] is under way"},
		"too much at a time": {func(q *queue) {
			for id := range int64(3) {
				lane := queuemodel.Lane{Chat: id}
				q.Put(queuemodel.Item{ID: id, Lane: lane})
				q.Took(1, lane, []int64{id}, false)
				q.Begins(1, lane, []int64{id}, false)
			}
		}, "3 requests are under way"},
		"too fast in a chat": {func(q *queue) {
			q.put(1, 2, 3)
			q.send(1)
			q.pass(999 * time.Millisecond)
			q.send(2)
			q.send(3)
		}, "3 requests to the chat in 1s"},
		"too fast in all": {func(q *queue) {
			for id := range int64(4) {
				lane := queuemodel.Lane{Chat: id}
				q.Put(queuemodel.Item{ID: id, Lane: lane})
				q.Took(1, lane, []int64{id}, false)
				q.answer(q.Begins(1, lane, []int64{id}, false), queuemodel.Told)
			}
		}, "4 requests to all chats in 1s"},
		"does not wait": {func(q *queue) {
			q.put(1)
			q.Ends(q.begin(1), queuemodel.RateLimited, time.Hour)
			q.write(waits, 1)
			q.pass(time.Hour - 1)
			q.Leads(2)
			q.Took(2, chat, []int64{1}, false)
			q.Begins(2, chat, []int64{1}, false)
		}, "1ns too early"},
		"hurries": {func(q *queue) {
			q.put(1)
			q.Ends(q.begin(1), queuemodel.Unreachable, 0)
			q.write(waits, 1)
			q.begin(1)
		}, "350ms too early"},
		"is idle": {func(q *queue) {
			q.put(1)
			q.pass(time.Hour)
			q.send(1)
		}, "begins 1h0m0s after it could have"},
		"does not give up": {func(q *queue) {
			q.put(1)
			r := q.begin(1)
			q.pass(6 * time.Second)
			q.Cut(r)
		}, "is cut off after 6s"},
		"hurries with copies": {func(q *queue) {
			q.put(1)
			q.unknown(2)
			q.pass(7*time.Second - 1)
			q.Took(1, chat, []int64{1}, true)
			q.Begins(1, chat, []int64{1}, false)
		}, "1ns too early"},
		"makes a sixth copy": {func(q *queue) {
			q.put(1)
			q.unknown(5)
			q.Took(1, chat, []int64{1}, true)
			q.Begins(1, chat, []int64{1}, false)
		}, "item 1 is sent, of which there are perhaps 5 copies"},
		"makes too few copies": {func(q *queue) {
			q.put(1)
			q.unknown(4)
			q.Took(1, chat, []int64{1}, true)
			q.write(queuemodel.Uncertain, 1)
		}, "item 1 becomes uncertain"},
		"gives an edit up": {func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Harmless: true})
			q.unknown(5)
			q.pass(11 * time.Minute)
			q.Took(1, chat, []int64{1}, true)
			q.write(queuemodel.Uncertain, 1)
		}, "item 1 becomes uncertain"},
		"gives a newcomer up": {func(q *queue) {
			q.put(1)
			q.unknown(4)
			q.pass(11 * time.Minute)
			q.Took(1, chat, []int64{1}, true)
			q.Ends(q.Begins(1, chat, []int64{1}, false), queuemodel.Unreachable, 0)
			q.write(waits, 1)
			q.pass(time.Minute)
			q.put(2)
			q.Ends(q.begin(1, 2), queuemodel.Ambiguous, 0)
			q.write(perhaps, 1, 2)
			q.pass(time.Minute)
			q.Took(1, chat, []int64{1, 2}, true)
			q.write(queuemodel.Uncertain, 1, 2)
		}, "item 2 is given up, of which there are perhaps 1 copies"},
		"takes too long": {func(q *queue) {
			r := q.late(1)
			q.pass(10*time.Second + 1)
			q.Cut(r)
		}, "is cut off after 10.000000001s"},
		"two that take long": {func(q *queue) {
			r := q.late(1)
			q.pass(9 * time.Second)
			other := q.late(2)
			q.pass(9 * time.Second)
			q.answer(other, queuemodel.Told)
			q.Reaches(r, true)
			q.Ends(r, queuemodel.Told, 0)
		}, "take longer at the same time"},
		"gives up at once": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Failed, queuemodel.Dead)
		}, "item 1 becomes dead"},
		"does not give an item up": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Failed, waits)
			q.fail(queuemodel.Failed, waits)
		}, "item 1 becomes waits"},
		"expires early": {func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: toasts, Deadline: q.now.Add(time.Second)})
			q.write(queuemodel.Expired, 1)
		}, "item 1 becomes expired"},
		"writes to whom it may not": {func(q *queue) {
			q.put(1)
			q.fail(queuemodel.Gone, waits)
			q.Parked(1)
			q.begin(1)
		}, "goes to a chat that cannot be written to"},
		"does not notice that it is over": {func(q *queue) {
			q.put(1)
			r := q.begin(1)
			q.Leads(2)
			q.Reaches(r, true)
		}, "arrives when another instance leads"},
		"goes on when it is over": {func(q *queue) {
			q.put(1)
			q.Took(1, chat, []int64{1}, false)
			q.Leads(2)
			q.Took(2, chat, []int64{1}, true)
			q.Begins(1, chat, []int64{1}, false)
		}, "tells [1], which was not taken"},
		"shows what is old": {func(q *queue) {
			q.Put(queuemodel.Item{ID: 1, Lane: chat, Object: "board", Says: "a"})
			q.Put(queuemodel.Item{ID: 2, Lane: chat, Object: "board", Says: "b"})
			q.send(1)
			q.Took(1, chat, []int64{2}, false)
			q.write(sent, 2)
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
