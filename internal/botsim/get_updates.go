package botsim

import (
	"bytes"
	"net/http"
	"time"
)

const (
	maxShown       = 100 // updates that a call shows
	maxPollTimeout = 50 * time.Second
	sameOffsetTime = 500 * time.Millisecond
)

// poll is a getUpdates that waits for something to happen.
type poll struct {
	wake     chan struct{} // closed when there is an update
	conflict chan struct{} // closed when something else takes the updates
	ousted   error         // what that was; set before conflict is closed
}

// conflict is the refusal of a getUpdates that is not the only way to the updates.
func conflict(what string) error {
	return &apiError{code: http.StatusConflict, description: "Conflict: " + what}
}

// oust ends the long poll that waits, if any.
func (q *updateQueue) oust(reason error) {
	if q.poller != nil {
		q.poller.ousted = reason
		close(q.poller.conflict)
		q.poller = nil
	}
}

func (s *Server) getUpdates(r *request) (any, error) {
	offset, _ := r.params.integer("offset")
	limit := maxShown
	if n, ok := r.params.integer("limit"); ok && n > 0 {
		limit = int(min(n, maxShown))
	}
	seconds, _ := r.params.integer("timeout")
	timeout := min(time.Duration(max(seconds, 0))*time.Second, maxPollTimeout)
	var allowed []string
	given, err := r.params.object("allowed_updates", &allowed)
	if err != nil {
		return nil, badRequest("can't parse allowed updates JSON object")
	}
	shown, waiting, err := s.startPoll(offset, limit, given, allowed, timeout > 0)
	if err != nil {
		return nil, err
	}
	s.delivered(r.call) // what the offset confirms is confirmed, whoever hears of it
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
		return nil, waiting.ousted
	case <-r.ctx.Done():
	case <-s.done:
	}
	s.dropPoll(waiting)
	return nil, errGone
}

// startPoll confirms what the offset confirms and shows what there is. With nothing to show and time to wait
// it makes this request the one that waits, in place of any other.
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
	q.oust(conflict("terminated by other getUpdates request; make sure that only one bot instance is running"))
	q.expire(now)
	if q.confirmBelow(offset) > 0 {
		s.confirmed.fire()
	}
	if offset == q.lastOffset && q.lastGave && now.Sub(q.lastPoll) < sameOffsetTime {
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

// endPoll shows what has come meanwhile.
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

// show is the beginning of the queue. Showing confirms nothing.
func (q *updateQueue) show(limit int) updateList {
	waiting := q.waiting()
	shown := make(updateList, 0, min(limit, len(waiting)))
	for _, u := range waiting[:min(limit, len(waiting))] {
		shown = append(shown, u.raw)
	}
	q.lastGave = len(shown) > 0
	return shown
}

// updateList is written as it is, so that an update that is no JSON reaches the bot as such.
type updateList [][]byte

func (l updateList) raw() []byte {
	return append(append([]byte{'['}, bytes.Join(l, []byte{','})...), ']')
}
