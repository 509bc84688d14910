package queuemodel_test

import (
	"time"

	"elobot/internal/outbox/queuemodel"
)

var (
	chat            = queuemodel.Lane{Chat: 1}
	callbackAnswers = queuemodel.Lane{Chat: 1, Kind: queuemodel.CallbackAnswers}
	pages           = queuemodel.Lane{Chat: 1, Kind: queuemodel.Pages}
)

// queue is a model with a clock. Its methods notify the model of what a queue does.
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

func (q *queue) advance(d time.Duration) { q.now = q.now.Add(d) }

// put adds messages to the chat.
func (q *queue) put(ids ...int64) {
	for _, id := range ids {
		q.Put(queuemodel.Item{ID: id, Lane: chat})
	}
}

// press adds pages of one message of the chat.
func (q *queue) press(ids ...int64) {
	for _, id := range ids {
		q.Put(queuemodel.Item{ID: id, Lane: pages, Object: "message", Harmless: true})
	}
}

// begin takes messages of the chat and starts a request for them.
func (q *queue) begin(ids ...int64) *queuemodel.Request {
	q.Took(1, chat, ids, false)
	return q.Begins(1, chat, ids, false)
}

// answer lets a request reach the messenger and end with an answer.
func (q *queue) answer(r *queuemodel.Request, a queuemodel.Answer) {
	q.Reaches(r, a == queuemodel.Delivered)
	q.Ends(r, a, 0)
}

// send sends messages of the chat successfully.
func (q *queue) send(ids ...int64) {
	q.answer(q.begin(ids...), queuemodel.Delivered)
	q.persist(queuemodel.Sent, ids...)
}

func (q *queue) persist(state queuemodel.State, ids ...int64) {
	for _, id := range ids {
		q.Wrote(id, state)
	}
}

// fail makes a request for item 1 that gets the answer, persists the state, and lets a minute pass.
func (q *queue) fail(a queuemodel.Answer, state queuemodel.State) {
	q.answer(q.begin(1), a)
	q.persist(state, 1)
	q.advance(time.Minute)
}

// ambiguous makes the given number of consecutive requests for item 1, at most five. The outcome of
// each is unknown.
func (q *queue) ambiguous(times int) {
	for n, pause := range []time.Duration{
		0, 700 * time.Millisecond, 7 * time.Second, 70 * time.Second, 11 * time.Minute,
	}[:times] {
		q.advance(pause)
		q.Took(1, chat, []int64{1}, n > 0)
		q.answer(q.Begins(1, chat, []int64{1}, false), queuemodel.Ambiguous)
		q.persist(queuemodel.Sending, 1)
	}
}
