package queuemodel_test

import (
	"strings"
	"testing"
	"time"

	"elobot/internal/outbox/queuemodel"
)

var (
	chat   = queuemodel.Lane{Chat: 1}
	toasts = queuemodel.Lane{Chat: 1, Toasts: true}
)

// queue is a model with a clock, and what a queue does that does well.
type queue struct {
	*queuemodel.Model
	now time.Time
}

func newQueue() *queue {
	q := &queue{now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
	q.Model = queuemodel.New(queuemodel.Rules{
		Group: []queuemodel.Window{{N: 2, Per: time.Second}}, Total: []queuemodel.Window{{N: 3, Per: time.Second}},
		Parallel: 2, MaxFailures: 2, Timeout: 5 * time.Second, Grace: time.Second, Prompt: true,
	}, func() time.Time { return q.now })
	q.Leads(1)
	return q
}

func (q *queue) pass(d time.Duration) { q.now = q.now.Add(d) }

// put puts items into the queue of the chat.
func (q *queue) put(ids ...int64) {
	for _, id := range ids {
		q.Put(queuemodel.Item{ID: id, Lane: chat})
	}
}

// begin takes items of the chat and makes a request for them.
func (q *queue) begin(ids ...int64) *queuemodel.Request {
	q.Took(1, chat, ids, false)
	return q.Begins(1, chat, ids, false)
}

// answer lets a request arrive and be answered.
func (q *queue) answer(r *queuemodel.Request, a queuemodel.Answer) {
	q.Reaches(r, a == queuemodel.Told)
	q.Ends(r, a, 0)
}

// send sends items of the chat.
func (q *queue) send(ids ...int64) {
	q.answer(q.begin(ids...), queuemodel.Told)
	q.write(queuemodel.Sent, ids...)
}

func (q *queue) write(state queuemodel.State, ids ...int64) {
	for _, id := range ids {
		q.Wrote(id, state)
	}
}

// fail makes a request for the first item that is answered so, and has that written down.
func (q *queue) fail(a queuemodel.Answer, state queuemodel.State) {
	q.answer(q.begin(1), a)
	q.write(state, 1)
	q.pass(time.Minute)
}

// again makes another request for items that were perhaps sent.
func (q *queue) again(epoch int64, ids ...int64) {
	q.Took(epoch, chat, ids, true)
	r := q.Begins(epoch, chat, ids, false)
	q.answer(r, queuemodel.Told)
	q.write(queuemodel.Sent, ids...)
}

// unknown makes requests for the first item whose outcome is unknown, so many of them one after another.
func (q *queue) unknown(times int) {
	for n, pause := range []time.Duration{0, 700 * time.Millisecond, 7 * time.Second, 70 * time.Second, 11 * time.Minute}[:times] {
		q.pass(pause)
		q.Took(1, chat, []int64{1}, n > 0)
		q.answer(q.Begins(1, chat, []int64{1}, false), queuemodel.Ambiguous)
		q.write(queuemodel.Perhaps, 1)
	}
}

// late takes an item of a chat by itself that was perhaps sent once, and makes another request for it.
func (q *queue) late(id int64) *queuemodel.Request {
	lane := queuemodel.Lane{Chat: id}
	q.Put(queuemodel.Item{ID: id, Lane: lane})
	q.Took(1, lane, []int64{id}, false)
	q.Ends(q.Begins(1, lane, []int64{id}, false), queuemodel.Ambiguous, 0)
	q.write(queuemodel.Perhaps, id)
	q.pass(time.Minute)
	q.Took(1, lane, []int64{id}, true)
	return q.Begins(1, lane, []int64{id}, false)
}

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
