package botsim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
)

const (
	maxRepeatDelay = time.Minute
	maxRetryAfter  = 3600 // seconds
	maxHookAnswer  = 1 << 20
)

// lane is a queue of updates that a webhook gets one after another.
type lane struct {
	kind laneKind
	id   int64
}

type laneKind int

const (
	chatLane  laneKind = iota // whatever happens in a chat
	pressLane                 // the button presses of a user
	loneLane                  // an update of nobody, alone
)

func laneOfChat(chat int64) lane    { return lane{chatLane, chat} }
func laneOfPresses(user int64) lane { return lane{pressLane, user} }

// rawLane finds the lane of an update that a test made up.
func rawLane(id int64, raw json.RawMessage) lane {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return lane{loneLane, id}
	}
	for kind, body := range fields {
		var of struct{ Chat, From struct{ ID int64 } }
		switch {
		case json.Unmarshal(body, &of) != nil:
		case kind == "callback_query" && of.From.ID != 0:
			return laneOfPresses(of.From.ID)
		case of.Chat.ID != 0:
			return laneOfChat(of.Chat.ID)
		}
	}
	return lane{loneLane, id}
}

// webhookClient shows redirects as they are, and knows no proxy.
func webhookClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: maxConnections, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// repeatDelay is how long Telegram waits after that many failed attempts.
func repeatDelay(attempt int) time.Duration {
	if attempt <= 1 {
		return 0
	}
	return min(time.Second<<min(attempt-1, 10), maxRepeatDelay)
}

// toWebhook puts an update into its lane, if there is a webhook, and has the lane run.
func (s *Server) toWebhook(u *update) {
	h := s.webhook
	if h == nil || s.closed {
		return
	}
	_, running := h.lanes[u.lane]
	h.lanes[u.lane] = append(h.lanes[u.lane], u)
	if !running {
		s.handlers.Go(func() { s.runLane(h, u.lane) })
	}
}

// runLane delivers a lane's updates until none is left or the webhook ends.
func (s *Server) runLane(h *webhook, l lane) {
	var current *update
	attempt := 0
	for {
		select {
		case h.slots <- struct{}{}:
		case <-h.ctx.Done():
			return
		}
		u := s.headOf(h, l)
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

// headOf is the update of a lane that is to be delivered next. Without one, nil, the lane is no more.
func (s *Server) headOf(h *webhook, l lane) *update {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.webhook != h {
		return nil
	}
	s.queue.expire(s.now())
	waiting := h.lanes[l]
	for len(waiting) > 0 && waiting[0].gone {
		waiting = waiting[1:]
	}
	if len(waiting) == 0 {
		delete(h.lanes, l)
		return nil
	}
	h.lanes[l] = waiting
	return waiting[0]
}

// pause waits in real time; false means that the webhook has ended.
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

// deliver sends an update once and tells how long to wait until the next delivery of the lane.
func (s *Server) deliver(h *webhook, u *update, attempt int) time.Duration {
	d := s.beginDelivery(u, attempt)
	s.runDelivery(&s.onDelivery, d)
	status, retryAfter, err := s.post(h, u.raw)
	wait := s.endDelivery(h, u, d, status, retryAfter, err)
	s.runDelivery(&s.afterDelivery, d)
	return wait
}

// post sends an update and returns the answer's status and, if it is a refusal, for how long it asks to be spared.
func (s *Server) post(h *webhook, raw []byte) (status int, retryAfter time.Duration, err error) {
	ctx, cancel := context.WithTimeout(h.ctx, s.opts.webhookTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(raw))
	if err != nil {
		return 0, 0, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "") // Telegram names none
	if h.secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", h.secret)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, 0, errors.New(failure(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxHookAnswer)); err != nil {
		return resp.StatusCode, 0, errors.New(failure(err))
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return resp.StatusCode, 0, nil
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil {
		seconds = 0 // Telegram reads seconds only
	}
	return resp.StatusCode, time.Duration(min(max(seconds, 0), maxRetryAfter)) * time.Second,
		fmt.Errorf("Wrong response from the webhook: %s", resp.Status) //nolint:staticcheck // Telegram's words
}

// failure says in Telegram's words why no answer came.
func failure(err error) string {
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
