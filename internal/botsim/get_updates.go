package botsim

import (
	"bytes"
	"cmp"
	"net/http"
	"time"
)

const (
	maxShown       = 100 // updates that a call returns by default, which is also the most
	maxPollTimeout = 50 * time.Second
	sameOffsetTime = 500 * time.Millisecond
)

// poll is a getUpdates that waits for an update.
type poll struct {
	wake     chan struct{} // closed when there is an update
	conflict chan struct{} // closed when another request terminates this one
	reason   error         // the error to return; set before conflict is closed
}

// conflict returns the error of a getUpdates that conflicts with another one or with a webhook.
func conflict(what string) error {
	return &apiError{code: http.StatusConflict, description: "Conflict: " + what}
}

// terminate terminates the waiting long poll, if any.
func (q *updateQueue) terminate(reason error) {
	if q.poller != nil {
		q.poller.reason = reason
		close(q.poller.conflict)
		q.poller = nil
	}
}

func (s *Server) getUpdates(r *request) (any, error) {
	offset := r.params.Integer("offset")
	limit := cmp.Or(int(r.params.Integer("limit")), maxShown)
	timeout := min(time.Duration(r.params.Integer("timeout"))*time.Second, maxPollTimeout)
	var allowed []string
	given, err := r.params.Object("allowed_updates", &allowed)
	if err != nil {
		return nil, err
	}
	shown, waiting, err := s.startPoll(offset, limit, given, allowed, timeout > 0)
	if err != nil {
		return nil, err
	}
	s.markDelivered(r.call) // the offset took effect, even if the client gets no response
	if waiting == nil {
		return shown, nil
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-waiting.wake:
		return s.endPoll(nil, limit), nil
	case <-timer.C:
		return s.endPoll(waiting, limit), nil
	case <-waiting.conflict:
		return nil, waiting.reason
	case <-r.ctx.Done():
	case <-s.done:
	}
	s.dropPoll(waiting)
	return nil, errNoResponse
}

// startPoll confirms the updates below offset and returns the waiting ones. If there are none and wait is set, it makes
// this request the waiting long poll, in place of any other.
func (s *Server) startPoll(
	offset int64, limit int, given bool, allowed []string, wait bool,
) (updateList, *poll, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook != nil {
		return nil, nil, conflict(
			"can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	q, now := &s.queue, s.now()
	if given {
		q.allowed = allowed
	}
	q.terminate(conflict("terminated by other getUpdates request; make sure that only one bot instance is running"))
	q.expire(now)
	if q.confirmBelow(offset) > 0 {
		s.confirmed.fire()
	}
	if offset == q.lastOffset && q.lastHadUpdates && now.Sub(q.lastPoll) < sameOffsetTime {
		limit = 1
	}
	q.lastOffset, q.lastPoll = offset, now
	shown := q.show(limit)
	if len(shown) > 0 || !wait {
		return shown, nil, nil
	}
	q.poller = &poll{wake: make(chan struct{}), conflict: make(chan struct{})}
	return nil, q.poller, nil
}

// endPoll ends the long poll p and returns the updates that have arrived.
func (s *Server) endPoll(p *poll, limit int) updateList {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p != nil && s.queue.poller == p {
		s.queue.poller = nil
	}
	return s.queue.show(limit)
}

func (s *Server) dropPoll(p *poll) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.poller == p {
		s.queue.poller = nil
	}
}

// show returns the first updates of the queue, up to limit. It confirms nothing.
func (q *updateQueue) show(limit int) updateList {
	waiting := q.waiting()
	shown := make(updateList, 0, min(limit, len(waiting)))
	for _, u := range waiting[:min(limit, len(waiting))] {
		shown = append(shown, u.raw)
	}
	q.lastHadUpdates = len(shown) > 0
	return shown
}

// updateList is written unchanged, so that an update that is not valid JSON reaches the bot as it is.
type updateList [][]byte

func (l updateList) raw() []byte {
	return append(append([]byte{'['}, bytes.Join(l, []byte{','})...), ']')
}
