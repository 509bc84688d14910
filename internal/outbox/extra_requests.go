package outbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// requests counts and times the requests that a sender makes for one message. Each request has the
// full timeout, no matter how long the sender has prepared it or waited to begin it. All requests
// for a callback answer share one timeout.
type requests struct {
	term    *term
	lane    *lane
	message Message
	timeout time.Duration
	timer   *time.Timer // cancels the request in flight, and the work before it, after the timeout

	mu   sync.Mutex
	made int
}

// begin implements Begin.
func (r *requests) begin(ctx context.Context) error {
	err := context.Cause(ctx)
	switch {
	case err != nil:
	case r.count() == 0:
		err = r.awaitLease(ctx)
		r.timer.Reset(r.timeout)
	case r.lane.Kind != CallbackAnswers:
		r.timer.Stop()
		err = r.term.awaitExtra(ctx, r.lane, r.message)
		r.timer.Reset(r.timeout)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		err = context.Cause(ctx) // once term.request has given up, the count must not change
	}
	if err != nil {
		return &Failure{Kind: Unreachable, Err: err}
	}
	r.made++
	return nil
}

// awaitLease waits until the lease lasts long enough for the first request. It fails if the
// dispatcher stops or the context ends before that. The lease was long enough when send began, but
// the sender may have taken a long time to prepare the request.
func (r *requests) awaitLease(ctx context.Context) error {
	for {
		err := r.term.whyNot(r.timeout)
		if !errors.Is(err, errLeaseEnds) {
			return err
		}
		select {
		case <-time.After(leasePoll):
		case <-ctx.Done():
			return err
		}
	}
}

func (r *requests) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made
}

// extraRequest is a second or later request for a message that is not a callback answer. Like any
// request, it waits for the circuit, the lease and the total limit. It does not wait for the limits
// of its chat, because that could take a minute in the middle of a message; the chat's next message
// waits longer instead. It goes before all lanes that wait for a send slot, because its lane
// already holds a slot.
type extraRequest struct {
	lane    *lane
	message Message
	begin   chan error // receives nil when the request may begin, errStopped if it must not
}

// awaitExtra waits until a lane may begin an extra request for its current message. It fails if the
// dispatcher stops or the context ends before that.
func (t *term) awaitExtra(ctx context.Context, l *lane, m Message) error {
	r := extraRequest{l, m, make(chan error, 1)}
	select {
	case t.asked <- r:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-r.begin:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// onAsked queues an extra request. It counts the previous request for the message, which has just
// ended, against the limits.
func (t *term) onAsked(r extraRequest, now time.Time) {
	r.lane.chat.setLimits(t.settings.Limits.forChat(r.message.Private))
	t.countRequest(r.lane, now)
	r.lane.counted++
	t.extra = append(t.extra, r)
}

func (t *term) dropExtra(l *lane) {
	t.extra = slices.DeleteFunc(t.extra, func(r extraRequest) bool { return r.lane == l })
}

// beginExtra lets waiting extra requests begin, in order, as far as the circuit, the total limit,
// and the lease allow. While the dispatcher is stopping, it refuses them instead.
func (t *term) beginExtra(now time.Time) {
	for len(t.extra) > 0 &&
		(t.stopping.Load() || t.mayBeginExtra(now) && t.mayBegin(t.extra[0].message.timeout(t.settings))) {
		var err error
		if t.stopping.Load() {
			err = errStopped
		}
		t.extra[0].begin <- err
		t.extra = t.extra[1:]
	}
}

// mayBeginExtra reports whether an extra request is waiting and may begin now, regardless of the
// lease.
func (t *term) mayBeginExtra(now time.Time) bool {
	waiting := len(t.extra) // their lanes hold send slots, but have no request in flight
	return waiting > 0 && t.breaker.allows(t.sending-waiting, now) && !t.pace.next(now, t.sending-waiting).After(now)
}
