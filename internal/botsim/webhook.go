package botsim

import (
	"cmp"
	"context"
	"time"

	"elobot/internal/botsim/parameters"
	"elobot/internal/botsim/updates"
	"elobot/internal/botsim/webhook"
)

const defaultConnections = 40

// activeWebhook is the current webhook. The server's lock guards the fields below slots.
type activeWebhook struct {
	webhook.Settings
	ctx   context.Context // done when the webhook or the server ends
	end   context.CancelFunc
	slots chan struct{} // one element per delivery in progress

	// lanes holds the waiting updates. Each lane in it has a goroutine.
	lanes      map[updates.Lane][]*updates.Update
	failedAt   time.Time
	lastFailed string
}

func (s *Server) setWebhook(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	settings, err := readWebhook(r.params)
	if err != nil {
		return nil, err
	}
	var allowed []string
	given, err := r.params.Object("allowed_updates", &allowed)
	if err != nil {
		return nil, err
	}
	if given {
		s.queue.Allowed = allowed
	}
	if s.webhook != nil && s.webhook.Settings == settings {
		return true, nil // unchanged
	}
	s.removeWebhook()
	if settings.URL == "" {
		return true, nil
	}
	s.queue.Terminate(conflict("terminated by setWebhook request"))
	ctx, cancel := context.WithCancel(context.Background())
	s.webhook = &activeWebhook{
		Settings: settings, ctx: ctx, end: cancel,
		slots: make(chan struct{}, settings.Connections), lanes: map[updates.Lane][]*updates.Update{},
	}
	s.queue.Expire(s.now())
	for _, u := range s.queue.Waiting() {
		s.enqueueForWebhook(u)
	}
	return true, nil
}

func (s *Server) deleteWebhook(*request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeWebhook()
	return true, nil
}

// removeWebhook removes the webhook and interrupts its deliveries. Their updates stay unconfirmed.
func (s *Server) removeWebhook() {
	if s.webhook != nil {
		s.webhook.end()
		s.webhook = nil
	}
}

func (s *Server) getWebhookInfo(*request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.Expire(s.now())
	info := map[string]any{
		"url": "", "has_custom_certificate": false, "pending_update_count": len(s.queue.Waiting()),
	}
	if len(s.queue.Allowed) > 0 {
		info["allowed_updates"] = s.queue.Allowed
	}
	h := s.webhook
	if h == nil {
		return info, nil
	}
	info["url"], info["max_connections"] = h.URL, h.Connections
	if h.lastFailed != "" {
		info["last_error_date"], info["last_error_message"] = h.failedAt.Unix(), h.lastFailed
	}
	return info, nil
}

// readWebhook reads and checks the settings of a webhook. It returns zero settings if there is no
// URL.
func readWebhook(p parameters.Values) (webhook.Settings, error) {
	if p["url"] == "" {
		return webhook.Settings{}, nil
	}
	w := webhook.Settings{
		URL: p["url"], Secret: p["secret_token"],
		Connections: cmp.Or(int(p.Integer("max_connections")), defaultConnections),
	}
	if err := w.Check(); err != nil {
		return w, badRequest(err.Error())
	}
	return w, nil
}

// webhookTimeout is how long Telegram waits for the response of the webhook.
const webhookTimeout = time.Minute

// enqueueForWebhook appends an update to its lane, if there is a webhook, and starts the lane if it
// is idle.
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

// nextInLane returns the next update of a lane to deliver. If there is none, it removes the lane
// and returns nil. It also returns nil if the webhook has ended.
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

// pause waits in real time until d has passed or the webhook ends. It returns false if the webhook
// has ended.
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

// deliver sends an update once and returns the delay before the lane's next delivery.
func (s *Server) deliver(h *activeWebhook, u *updates.Update, attempt int) time.Duration {
	d := s.beginDelivery(u, attempt)
	for _, f := range hooksOf(s, &s.onDelivery) {
		f(*d) // reading d needs no lock, because only endDelivery changes it
	}
	ctx, cancel := context.WithTimeout(h.ctx, webhookTimeout)
	defer cancel()
	status, retryAfter, err := webhook.Post(ctx, s.client, h.Settings, u.Raw)
	return s.endDelivery(h, u, d, status, retryAfter, err)
}

// Delivery is one attempt to deliver an update to the webhook.
type Delivery struct {
	UpdateID int64
	ChatID   int64 // 0 for button presses and updates without a chat
	Attempt  int   // 1, 2, 3 … for each update and webhook
	At       time.Time
	Done     bool          // false while waiting for the response
	Status   int           // HTTP status of the response, 0 if there was none
	Err      string        // why the attempt failed; empty if it succeeded or is in progress
	Wait     time.Duration // after a failure: delay before the next attempt
}

// Deliveries returns the recorded attempts to deliver updates, in the order in which they started,
// including those in progress. WithRecordLimit limits their number.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Delivery
	for _, d := range lastOf(s.deliveries, s.opts.recordLimit) {
		all = append(all, *d)
	}
	return all
}

// OnDelivery calls f before every attempt to deliver an update, until remove is called. f runs in
// the goroutine of the update's lane and may block it; meanwhile the delivery counts toward
// max_connections. f must not call Close.
func (s *Server) OnDelivery(f func(Delivery)) (remove func()) { return addHook(s, &s.onDelivery, f) }

func (s *Server) beginDelivery(u *updates.Update, attempt int) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &Delivery{UpdateID: u.ID, ChatID: u.Lane.Chat(), Attempt: attempt, At: s.now()}
	s.deliveries = appendBounded(s.deliveries, d, s.opts.recordLimit)
	return d
}

// endDelivery completes the record of an attempt, and returns the delay before the next delivery of
// the lane. The result of the attempt has no effect if the webhook was removed or the server was
// closed in the meantime.
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
