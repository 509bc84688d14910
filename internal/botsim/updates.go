package botsim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"elobot/internal/botsim/updates"
)

const kindOfMessageUpdate = "message"

// sendUpdate queues an update if the bot allows its kind.
func (s *Server) sendUpdate(l updates.Lane, kind string, payload any) {
	if !s.queue.Allows(kind) {
		return
	}
	body, err := json.Marshal(payload)
	if err != nil {
		s.complaints.add(fmt.Sprintf("encode %s update: %v", kind, err))
		return
	}
	id := s.queue.Next
	s.queue.Next++
	raw := slices.Concat([]byte(`{"update_id":`), strconv.AppendInt(nil, id, 10),
		[]byte(`,"`), []byte(kind), []byte(`":`), body, []byte(`}`))
	s.enqueue(&updates.Update{ID: id, At: s.now(), Raw: raw, Lane: l})
}

func (s *Server) messageUpdate(kind string, m *message) {
	raw, err := m.wire()
	if err != nil {
		s.complaints.add(err.Error())
		return
	}
	s.sendUpdate(updates.LaneOfChat(m.ChatID), kind, raw)
}

// enqueue queues an update for getUpdates or the webhook.
func (s *Server) enqueue(u *updates.Update) {
	s.queue.Add(u)
	s.enqueueForWebhook(u)
}

// Update queues a raw update, regardless of allowed_updates, and returns its id. A JSON object
// without update_id gets the next id. An object with update_id keeps it, even if that id has been
// used. Anything else, even invalid JSON, reaches the bot unchanged, and is queued under the next
// id.
func (s *Server) Update(raw json.RawMessage) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, raw := s.identify(raw)
	if id >= s.queue.Next || len(s.queue.Waiting()) == 0 {
		// If no update waits, a lower id is valid too: ids restart after a week without updates.
		s.queue.Next = id + 1
	}
	s.enqueue(&updates.Update{ID: id, At: s.now(), Raw: slices.Clone(raw), Lane: updates.LaneOfRaw(id, raw)})
	return id
}

// identify returns the id of a raw update, and the update itself. If the update is an object
// without an id, identify adds the next id to it.
func (s *Server) identify(raw json.RawMessage) (int64, json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return s.queue.Next, raw
	}
	if given, ok := fields["update_id"]; ok {
		id, err := strconv.ParseInt(string(given), 10, 64)
		if err != nil {
			return s.queue.Next, raw
		}
		return id, raw
	}
	id := s.queue.Next
	extended, err := withFields(raw, map[string]any{"update_id": id})
	if err != nil {
		return id, raw
	}
	return id, extended
}

// RestartUpdateIDs sets the id of the next update, as Telegram does after a week without updates.
func (s *Server) RestartUpdateIDs(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.Next = next
}

// Pending returns the number of unconfirmed updates.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.Expire(s.now())
	return len(s.queue.Waiting())
}

const (
	maxShown       = 100 // the default and the maximum number of updates in a response
	maxPollTimeout = 50 * time.Second
)

// conflict returns the error of a getUpdates that conflicts with another getUpdates or with a
// webhook.
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

// startPoll terminates the waiting long poll, if any, confirms the updates below offset, and
// returns the first updates that wait, at most limit. If there are none and wait is set, this
// request becomes the waiting long poll. If given is set, allowed replaces the allowed kinds of
// updates. startPoll fails if there is a webhook.
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

// endPoll ends a long poll and returns the first updates that wait, at most limit.
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
