package botsim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

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

// Update queues a raw update and returns its id, regardless of allowed_updates. A JSON object without update_id gets
// the next id; one with update_id keeps it, even if that id was used before. Anything else, even invalid JSON, reaches
// the bot unchanged.
func (s *Server) Update(raw json.RawMessage) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, raw := s.identify(raw)
	switch {
	case id >= s.queue.Next || len(s.queue.Waiting()) == 0:
		// A lower id than the last one is valid too: ids restart after a week without updates.
		s.queue.Next = id + 1
	}
	s.enqueue(&updates.Update{ID: id, At: s.now(), Raw: slices.Clone(raw), Lane: updates.LaneOfRaw(id, raw)})
	return id
}

// identify returns a raw update and its id. It adds an id to an object that has none.
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
