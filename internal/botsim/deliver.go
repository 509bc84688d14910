package botsim

import (
	"context"
	"time"

	"elobot/internal/botsim/updates"
	"elobot/internal/botsim/webhook"
)

// webhookTimeout is how long Telegram waits for the response of the webhook.
const webhookTimeout = time.Minute

// enqueueForWebhook appends an update to its lane, if there is a webhook, and starts the lane if it is idle.
func (s *Server) enqueueForWebhook(u *updates.Update) {
	h := s.webhook
	if h == nil || s.closed {
		return
	}
	_, running := h.lanes[u.Lane]
	h.lanes[u.Lane] = append(h.lanes[u.Lane], u)
	if !running {
		s.handlers.Go(func() { s.runLane(h, u.Lane) })
	}
}

// runLane delivers a lane's updates until the lane is empty or the webhook ends.
func (s *Server) runLane(h *activeWebhook, l updates.Lane) {
	var current *updates.Update
	attempt := 0
	for {
		select {
		case h.slots <- struct{}{}:
		case <-h.ctx.Done():
			return
		}
		u := s.nextInLane(h, l)
		if u == nil {
			<-h.slots
			return
		}
		if u != current {
			current, attempt = u, 0
		}
		attempt++
		wait := s.deliver(h, u, attempt)
		<-h.slots
		if !h.pause(wait) {
			return
		}
	}
}

// nextInLane returns the next update of a lane to deliver. If there is none, it removes the lane and returns nil.
func (s *Server) nextInLane(h *activeWebhook, l updates.Lane) *updates.Update {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.webhook != h {
		return nil
	}
	s.queue.Expire(s.now())
	waiting := h.lanes[l]
	for len(waiting) > 0 && waiting[0].Gone() {
		waiting = waiting[1:]
	}
	if len(waiting) == 0 {
		delete(h.lanes, l)
		return nil
	}
	h.lanes[l] = waiting
	return waiting[0]
}

// pause waits in real time. It returns false if the webhook has ended.
func (h *activeWebhook) pause(d time.Duration) bool {
	if d <= 0 {
		return h.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-h.ctx.Done():
		return false
	}
}

// deliver sends an update once and returns how long to wait before the lane's next delivery.
func (s *Server) deliver(h *activeWebhook, u *updates.Update, attempt int) time.Duration {
	d := s.beginDelivery(u, attempt)
	for _, f := range hooksOf(s, &s.onDelivery) {
		f(*d) // nothing changes it before its end
	}
	ctx, cancel := context.WithTimeout(h.ctx, webhookTimeout)
	defer cancel()
	status, retryAfter, err := webhook.Post(ctx, s.client, h.Settings, u.Raw)
	return s.endDelivery(h, u, d, status, retryAfter, err)
}
