package botsim

import (
	"encoding/json"
	"fmt"
)

const servicePinned = "pinned_message"

// getChat returns a chat and, if it has pinned messages, the pinned message that was sent last.
func (s *Server) getChat(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.readableChat(r.params)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(c.wire())
	if err != nil {
		return nil, fmt.Errorf("encode chat %d: %w", c.id, err)
	}
	more := map[string]any{"accent_color_id": 0, "max_reaction_count": 11}
	if m := c.newestPinned(); m != nil {
		if more[servicePinned], err = m.shallow(); err != nil {
			return nil, err
		}
	}
	return withFields(raw, more)
}

func (s *Server) pinChatMessage(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.writableChat(r.params)
	if err != nil {
		return nil, err
	}
	m, found := c.byID[int(r.params.Integer("message_id"))]
	switch {
	case !found || m.Deleted:
		return nil, badRequest("message to pin not found")
	case !c.mayPin():
		return nil, badRequest("not enough rights to manage pinned messages in the chat")
	case m.Service != "":
		return nil, badRequest("message can't be pinned")
	}
	r.call.MessageID = m.ID
	return true, c.pin(s.bot, m, r.params.Boolean("disable_notification"))
}

// unpinChatMessage unpins the message with message_id. Without message_id, it unpins the pinned
// message that was sent last.
func (s *Server) unpinChatMessage(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.writableChat(r.params)
	if err != nil {
		return nil, err
	}
	m, found := c.byID[int(r.params.Integer("message_id"))]
	switch {
	case !c.mayPin():
		return nil, badRequest("not enough rights to manage pinned messages in the chat")
	case r.params["message_id"] == "":
		m = c.newestPinned()
	case !found || m.Deleted:
		return nil, badRequest("message to unpin not found")
	}
	if m == nil || !c.pinned[m.ID] {
		return nil, badRequest("message to unpin not found")
	}
	r.call.MessageID = m.ID
	delete(c.pinned, m.ID)
	return true, nil
}

// mayPin reports whether the bot may pin and unpin messages.
func (c *Chat) mayPin() bool {
	return c.kind == kindPrivate || c.isAdmin(c.s.bot.ID) && !c.noPins
}

// AllowPins sets whether the bot has the right to pin messages when it is an admin of the group. An
// ordinary member never has that right. The bot gets an update.
func (c *Chat) AllowPins(allowed bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	status := c.status[c.s.bot.ID]
	before := c.memberOf(c.s.bot, status)
	c.noPins = !allowed
	c.membership(kindOfBotUpdate, c.owner(), before, c.memberOf(c.s.bot, status))
}

// Unpin unpins a message of the chat. As in Telegram, there is neither a service message nor an
// update.
func (c *Chat) Unpin(m Message) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.pinned, m.ID)
}

// MakeTooOld makes a message of the bot too old to be edited.
func (c *Chat) MakeTooOld(m Message) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if old, ok := c.byID[m.ID]; ok {
		old.tooOld = true
	}
}

// AllPinned returns all pinned messages of the chat, oldest first. The bot sees only the last one.
func (c *Chat) AllPinned() []Message {
	return c.collect(func(m *message) bool { return c.pinned[m.ID] && !m.Deleted })
}

// Pin pins a message of the chat and adds the service message. It does nothing if the message is
// already pinned or is not in the chat.
func (c *Chat) Pin(by User, m Message) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.ensureUser(by)
	pinned, ok := c.byID[m.ID]
	if !ok {
		return
	}
	if err := c.pin(by, pinned, false); err != nil {
		c.s.complaints.add(err.Error())
	}
}

// Pinned returns the pinned message that the chat shows: the one that was sent last. It returns
// false if no message is pinned.
func (c *Chat) Pinned() (Message, bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m := c.newestPinned()
	if m == nil {
		return Message{}, false
	}
	return m.Message, true
}

// pin pins m and adds the service message. It does nothing if m is already pinned.
func (c *Chat) pin(by User, m *message, silent bool) error {
	if c.pinned[m.ID] {
		return nil
	}
	raw, err := m.shallow()
	if err != nil {
		return err
	}
	c.pinned[m.ID] = true
	note := &message{extra: map[string]any{servicePinned: raw}}
	note.Service, note.ThreadID, note.Silent = servicePinned, m.ThreadID, silent
	if by.ID == c.s.bot.ID { // a bot gets no update for its own actions
		note.From = by
		c.add(note)
		return nil
	}
	c.serviceMessage(by, note)
	return nil
}

// newestPinned returns the pinned message that was sent last, or nil if there is none. Deleted
// messages do not count.
func (c *Chat) newestPinned() *message {
	var newest *message
	for id := range c.pinned {
		if m := c.byID[id]; !m.Deleted && (newest == nil || m.ID > newest.ID) {
			newest = m
		}
	}
	return newest
}

// shallow encodes the message without the message that it replies to.
func (m *message) shallow() (json.RawMessage, error) {
	alone := *m
	alone.wireReply = nil
	return alone.wire()
}
