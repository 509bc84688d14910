package botsim

import (
	"context"
	"fmt"
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
	Took     time.Duration // until the response was read
	Wait     time.Duration // after a failure: delay before the next attempt
}

// deliveryRecord keeps deliveries in the order in which they started. The server's lock guards it.
type deliveryRecord struct {
	list []*Delivery
	done int // how many are finished, including those dropped from the list
}

// Deliveries returns all recorded attempts in the order in which they started, including those in progress.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Delivery
	for _, d := range lastOf(s.deliveries.list, s.opts.recordLimit) {
		all = append(all, *d)
	}
	return all
}

// WaitDeliveries waits until n attempts are finished, successful or not.
func (s *Server) WaitDeliveries(ctx context.Context, n int) error {
	done := 0
	err := s.wait(ctx, &s.deliveryDone, func() bool {
		done = s.deliveries.done
		return done >= n
	})
	if err != nil {
		return fmt.Errorf("wait for delivery %d, have %d: %w", n, done, err)
	}
	return nil
}

// OnDelivery calls f before every attempt. f runs in the goroutine of the update's lane and may block it; while it
// does, the delivery counts towards max_connections. f must not call Close.
func (s *Server) OnDelivery(f func(Delivery)) (remove func()) { return addHook(s, &s.onDelivery, f) }

// AfterDelivery calls f after every attempt: after its response has taken effect and before the lane's next attempt.
func (s *Server) AfterDelivery(f func(Delivery)) (remove func()) {
	return addHook(s, &s.afterDelivery, f)
}

func (s *Server) runDelivery(l *hookList[Delivery], d *Delivery) {
	for _, f := range hooksOf(s, l) {
		s.mu.Lock()
		copied := *d
		s.mu.Unlock()
		f(copied)
	}
}

func (s *Server) beginDelivery(u *updates.Update, attempt int) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &Delivery{UpdateID: u.ID, ChatID: u.Lane.Chat(), Attempt: attempt, At: s.now()}
	s.deliveries.list = appendBounded(s.deliveries.list, d, s.opts.recordLimit)
	return d
}

// endDelivery completes the record of an attempt and applies its result, unless the webhook was removed during the
// attempt.
func (s *Server) endDelivery(
	h *activeWebhook, u *updates.Update, d *Delivery, status int, retryAfter time.Duration, failed error,
) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.Done, d.Status, d.Took = true, status, s.now().Sub(d.At)
	s.deliveries.done++
	s.deliveryDone.fire()
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
