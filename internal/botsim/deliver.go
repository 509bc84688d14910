package botsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"elobot/internal/botsim/updates"
)

const (
	maxRetryDelay = time.Minute
	maxRetryAfter = 3600 // seconds
	maxHookAnswer = 1 << 20
)

// webhookClient returns a client that follows no redirects and uses no proxy.
func webhookClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: maxConnections, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// retryDelay returns how long Telegram waits after the given failed attempt.
func retryDelay(attempt int) time.Duration {
	if attempt <= 1 {
		return 0
	}
	return min(time.Second<<min(attempt-1, 10), maxRetryDelay)
}

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
func (s *Server) runLane(h *webhook, l updates.Lane) {
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
func (s *Server) nextInLane(h *webhook, l updates.Lane) *updates.Update {
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
func (h *webhook) pause(d time.Duration) bool {
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
func (s *Server) deliver(h *webhook, u *updates.Update, attempt int) time.Duration {
	d := s.beginDelivery(u, attempt)
	s.runDelivery(&s.onDelivery, d)
	status, retryAfter, err := s.post(h, u.Raw)
	wait := s.endDelivery(h, u, d, status, retryAfter, err)
	s.runDelivery(&s.afterDelivery, d)
	return wait
}

// post sends an update and returns the status of the response and, if it is an error, the value of Retry-After.
func (s *Server) post(h *webhook, raw []byte) (status int, retryAfter time.Duration, err error) {
	ctx, cancel := context.WithTimeout(h.ctx, s.opts.webhookTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(raw))
	if err != nil {
		return 0, 0, fmt.Errorf("create request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "") // Telegram sends no User-Agent
	if h.secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", h.secret)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, 0, errors.New(describeFailure(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxHookAnswer)); err != nil {
		return resp.StatusCode, 0, errors.New(describeFailure(err))
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return resp.StatusCode, 0, nil
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil {
		seconds = 0 // Telegram understands only seconds
	}
	return resp.StatusCode, time.Duration(min(max(seconds, 0), maxRetryAfter)) * time.Second,
		fmt.Errorf("Wrong response from the webhook: %s", resp.Status) //nolint:staticcheck // Telegram's wording
}

// describeFailure describes, in Telegram's wording, why there was no response.
func describeFailure(err error) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "Read timeout expired"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "Connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "Connection reset by peer"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "Connection closed"
	}
	return err.Error()
}
