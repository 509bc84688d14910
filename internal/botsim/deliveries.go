package botsim

import (
	"time"

	"elobot/internal/botsim/updates"
)

// Delivery is one attempt to hand an update to the webhook.
type Delivery struct {
	UpdateID int64
	ChatID   int64 // 0 for button presses and for updates that belong to no chat
	Attempt  int   // 1, 2, 3 … for each update and webhook
	At       time.Time
	Done     bool          // false while waiting for the response
	Status   int           // HTTP status of the response, 0 if there was none
	Err      string        // why it failed, in getWebhookInfo's wording; empty if the update is confirmed
	Wait     time.Duration // after a failure: delay before the next attempt
}

// Deliveries returns all recorded attempts in the order in which they started, including those in progress.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Delivery
	for _, d := range lastOf(s.deliveries, s.opts.recordLimit) {
		all = append(all, *d)
	}
	return all
}

// OnDelivery calls f before every attempt. f runs in the goroutine of the update's lane and may block it; while it
// does, the delivery counts towards max_connections. f must not call Close.
func (s *Server) OnDelivery(f func(Delivery)) (remove func()) { return addHook(s, &s.onDelivery, f) }

func (s *Server) beginDelivery(u *updates.Update, attempt int) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &Delivery{UpdateID: u.ID, ChatID: u.Lane.Chat(), Attempt: attempt, At: s.now()}
	s.deliveries = appendBounded(s.deliveries, d, s.opts.recordLimit)
	return d
}

// endDelivery completes the record of an attempt and applies its result, unless the webhook was removed during the
// attempt.
func (s *Server) endDelivery(
	h *activeWebhook, u *updates.Update, d *Delivery, status int, retryAfter time.Duration, failed error,
) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.Done, d.Status = true, status
	switch {
	case s.closed || s.webhook != h:
		d.Err = "the webhook was removed during the delivery"
	case failed != nil:
		d.Err = failed.Error()
		d.Wait = retryAfter
		if retryAfter == 0 {
			d.Wait = s.opts.webhookDelays(d.Attempt)
		}
		h.failedAt, h.lastFailed = s.now(), d.Err
	case s.queue.ConfirmOne(u):
		s.confirmed.fire()
	}
	return d.Wait
}
