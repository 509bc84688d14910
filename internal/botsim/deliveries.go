package botsim

import (
	"context"
	"fmt"
	"time"
)

// Delivery is one attempt to hand an update to the webhook.
type Delivery struct {
	UpdateID int64
	ChatID   int64 // 0 for button presses and for what belongs to no chat
	Attempt  int   // 1, 2, 3 … for each update and webhook
	At       time.Time
	Done     bool          // false while the answer is awaited
	Status   int           // HTTP status of the answer, 0 if none came
	Err      string        // why it has failed, in getWebhookInfo's words; empty if the update is confirmed
	Took     time.Duration // until the answer was read
	Wait     time.Duration // after a failure: until the next attempt
}

// deliveryRecord keeps deliveries in order of their beginning. The server's lock guards it.
type deliveryRecord struct {
	list []*Delivery
	done int // how many are finished, those that were forgotten included
}

// Deliveries is the record of all attempts in the order in which they began, those in hand included.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Delivery
	for _, d := range kept(s.deliveries.list, s.opts.recordLimit) {
		all = append(all, *d)
	}
	return all
}

// WaitDeliveries waits until n attempts are finished, well or badly.
func (s *Server) WaitDeliveries(ctx context.Context, n int) error {
	done := 0
	err := s.wait(ctx, &s.deliveryDone, func() bool {
		done = s.deliveries.done
		return done >= n
	})
	if err != nil {
		return fmt.Errorf("wait for delivery %d, of which there are %d: %w", n, done, err)
	}
	return nil
}

// OnDelivery calls f before every attempt. It runs in the goroutine of the update's queue and may block it; the
// delivery counts as one of max_connections meanwhile. It must not call Close.
func (s *Server) OnDelivery(f func(Delivery)) (remove func()) { return addHook(s, &s.onDelivery, f) }

// AfterDelivery calls f after every attempt, when its answer has taken effect and before the next one of its queue.
func (s *Server) AfterDelivery(f func(Delivery)) (remove func()) {
	return addHook(s, &s.afterDelivery, f)
}

func (s *Server) runDelivery(l *hookList[Delivery], d *Delivery) {
	for _, f := range hooksOf(s, l) {
		s.mu.Lock()
		taken := *d
		s.mu.Unlock()
		f(taken)
	}
}

func (s *Server) beginDelivery(u *update, attempt int) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &Delivery{UpdateID: u.id, Attempt: attempt, At: s.now()}
	if u.lane.kind == chatLane {
		d.ChatID = u.lane.id
	}
	s.deliveries.list = appendKept(s.deliveries.list, d, s.opts.recordLimit)
	return d
}

// endDelivery completes the record of an attempt and has it take effect: a webhook that is no more neither confirms
// nor fails.
func (s *Server) endDelivery(
	h *webhook, u *update, d *Delivery, status int, retryAfter time.Duration, failed error,
) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.Done, d.Status, d.Took = true, status, s.now().Sub(d.At)
	s.deliveries.done++
	s.deliveryDone.fire()
	switch {
	case s.closed || s.webhook != h:
		d.Err = "the webhook was removed meanwhile"
	case failed != nil:
		d.Err = failed.Error()
		d.Wait = retryAfter
		if retryAfter == 0 {
			d.Wait = s.opts.webhookDelays(d.Attempt)
		}
		h.failedAt, h.lastFailed = s.now(), d.Err
	case s.queue.confirmOne(u):
		s.confirmed.fire()
	}
	return d.Wait
}
