package botsim

import (
	"cmp"
	"net/http"
	"time"

	"elobot/internal/botsim/updates"
)

const (
	maxShown       = 100 // updates that a call returns by default, which is also the most
	maxPollTimeout = 50 * time.Second
)

// conflict returns the error of a getUpdates that conflicts with another one or with a webhook.
func conflict(what string) error {
	return &apiError{code: http.StatusConflict, description: "Conflict: " + what}
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
	case <-waiting.Wake:
		return s.endPoll(waiting, limit), nil
	case <-timer.C:
		return s.endPoll(waiting, limit), nil
	case <-waiting.Conflict:
		return nil, waiting.Reason
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
) (updates.List, *updates.Poll, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook != nil {
		return nil, nil, conflict(
			"can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	q, now := s.queue, s.now()
	if given {
		q.Allowed = allowed
	}
	q.Terminate(conflict("terminated by other getUpdates request; make sure that only one bot instance is running"))
	q.Expire(now)
	if q.ConfirmBelow(offset) > 0 {
		s.confirmed.fire()
	}
	shown := q.ShowFrom(now, offset, limit)
	if len(shown) > 0 || !wait {
		return shown, nil, nil
	}
	return nil, q.Wait(), nil
}

// endPoll ends a long poll and returns the updates that have arrived.
func (s *Server) endPoll(p *updates.Poll, limit int) updates.List {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.Leave(p)
	return s.queue.Show(limit)
}

func (s *Server) dropPoll(p *updates.Poll) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.Leave(p)
}
