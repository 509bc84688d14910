package botsim

import (
	"strconv"
	"time"
)

const firstQueryID = 4382913000000000001

// Say is a message of a user, and the update that tells the bot of it. Commands, mentions, links and the like
// are marked as Telegram does; "[Bob 2](tg://user?id=1002)" becomes a mention of somebody without a username.
func (c *Chat) Say(from User, text string) Message {
	return c.Post(Post{From: from, Text: text})
}

// Reply is Say as a reply to another message of the chat.
func (c *Chat) Reply(from User, to Message, text string) Message {
	return c.Post(Post{From: from, Text: text, ReplyTo: to.ID, ThreadID: to.ThreadID})
}

// SayAnonymously is a message of an admin who hides behind the group.
func (c *Chat) SayAnonymously(text string) Message {
	return c.Post(Post{
		From: groupAnonymousBot(), Text: text,
		SenderChat: &SenderChat{ID: c.id, Type: c.kind, Title: c.Title()},
	})
}

// Post is a message with everything under the caller's control, and its update.
func (c *Chat) Post(p Post) Message {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m := &message{senderChat: p.SenderChat, autoFwd: p.AutomaticForward, fwdOrigin: p.ForwardOrigin, extra: p.Extra}
	m.From, m.Text, m.Entities = c.s.current(p.From), p.Text, p.Entities
	m.ReplyTo, m.ThreadID, m.Date = p.ReplyTo, p.ThreadID, p.Date
	m.noFrom = p.From.ID == 0
	if p.Entities == nil {
		m.Text, m.Entities = c.s.markUserText(p.Text)
	}
	if p.From.ID != 0 && p.SenderChat == nil {
		c.join(p.From)
	}
	if c.kind == kindPrivate {
		c.started = true
	}
	if p.ForumTopicCreated != "" {
		return c.addTopic(m, p.ForumTopicCreated)
	}
	seen := c.botSees(m)
	c.add(m)
	c.replyTarget(m)
	if seen {
		c.s.messageUpdate(kindOfMessageUpdate, m)
	}
	return m.Message
}

// Topic creates a forum topic. The message that does so has the id of the topic.
func (c *Chat) Topic(by User, name string) Message {
	return c.Post(Post{From: by, ForumTopicCreated: name})
}

// CloseTopic closes a topic: the bot can no longer write in it.
func (c *Chat) CloseTopic(id int) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if t, ok := c.topics[id]; ok {
		t.closed = true
	}
}

func (c *Chat) addTopic(m *message, name string) Message {
	m.Service = serviceTopicCreated
	m.extra = map[string]any{m.Service: map[string]any{"name": name, "icon_color": 7322096}}
	c.add(m)
	c.topics[m.ID] = &topic{created: m}
	if c.hasBot() {
		c.s.messageUpdate(kindOfMessageUpdate, m)
	}
	return m.Message
}

// Edit changes the text of a user's message. The same text again is an edit that nobody sees, which Telegram
// reports too.
func (c *Chat) Edit(m Message, text string) Message { return c.EditAt(m, text, time.Time{}) }

// EditAt is Edit with a time of its own for edit_date; zero means now. The message keeps its date.
func (c *Chat) EditAt(m Message, text string, at time.Time) Message {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	old, ok := c.byID[m.ID]
	if !ok {
		return Message{}
	}
	old.Text, old.Entities = c.s.markUserText(text)
	if at.IsZero() {
		at = c.s.now()
	}
	old.EditDate = at
	old.Edits++
	if c.botSees(old) {
		c.s.messageUpdate("edited_message", old)
	}
	return old.Message
}

// Delete removes a message. Telegram tells bots nothing of it.
func (c *Chat) Delete(m Message) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if old, ok := c.byID[m.ID]; ok {
		old.Deleted = true
	}
}

// callbackQuery is a press of a button that may still be answered.
type callbackQuery struct {
	at     time.Time
	answer *CallbackAnswer
}

// Press is a press of a button under a message; data may be anything, as it can be forged. It returns the id of
// the callback query. From a chat that the bot was removed from no press comes.
func (s *Server) Press(from User, m Message, data string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.know(from)
	id := strconv.FormatInt(s.nextQuery, 10)
	s.nextQuery++
	s.queries[id] = &callbackQuery{at: s.now()}
	query := map[string]any{
		"id": id, "from": s.current(from), "data": data, "chat_instance": strconv.FormatInt(-7*m.ChatID, 10),
	}
	if c, ok := s.chats[m.ChatID]; ok {
		if !c.hasBot() {
			return id
		}
		query["message"] = c.pressedMessage(m.ID)
	}
	s.sendUpdate(laneOfPresses(from.ID), "callback_query", query)
	return id
}

// pressedMessage is the message of a callback query: one that is gone is shown with date 0.
func (c *Chat) pressedMessage(id int) any {
	if m, ok := c.byID[id]; ok && !m.Deleted {
		raw, err := m.wire()
		if err == nil {
			return raw
		}
		c.s.complaints.add(err.Error())
	}
	return map[string]any{"message_id": id, "date": 0, "chat": c.wire()}
}

// botSees tells whether an update of m goes to the bot. With privacy mode on, a bot that is no admin sees
// commands meant for it, replies to its messages, and commands without an addressee while it was the last bot
// to write.
func (c *Chat) botSees(m *message) bool {
	if m.From.ID == c.s.bot.ID || !c.hasBot() {
		return false
	}
	if !c.s.opts.privacy || c.kind == kindPrivate || c.isAdmin(c.s.bot.ID) {
		return true
	}
	if target, ok := c.byID[m.ReplyTo]; ok && target.From.ID == c.s.bot.ID {
		return true
	}
	for _, e := range m.Entities {
		if e.Type == entityCommand {
			mine, addressed := c.s.addressee(m.EntityText(e))
			return mine || !addressed && !c.otherBot
		}
	}
	return false
}

func (c *Chat) hasBot() bool {
	switch c.status[c.s.bot.ID] {
	case "", statusLeft, statusKicked:
		return false
	}
	return true
}
