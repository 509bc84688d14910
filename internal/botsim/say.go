package botsim

import "time"

// Say adds a user's message and, if the bot is in the chat, sends its update. It marks commands,
// mentions, links and the like as Telegram does. It turns a link such as
// "[Bob 2](tg://user?id=1002)" into a mention of the user with that id, who needs no username.
func (c *Chat) Say(from User, text string) Message {
	return c.Post(Post{From: from, Text: text})
}

// Reply is like Say, but the message replies to another message of the chat, and is in that
// message's topic.
func (c *Chat) Reply(from User, to Message, text string) Message {
	return c.Post(Post{From: from, Text: text, ReplyTo: to.ID, ThreadID: to.ThreadID})
}

// SayAnonymously is like Say, for a message from an anonymous admin, who writes as the group.
func (c *Chat) SayAnonymously(text string) Message {
	return c.Post(Post{
		From: groupAnonymousBot(), Text: text,
		SenderChat: &SenderChat{ID: c.id, Type: c.kind, Title: c.Title()},
	})
}

// Post adds a message with the fields of p, and sends its update if the bot is in the chat and is
// not the author. An author who is not in the group joins it, unless p.SenderChat is set. A message
// in a private chat starts the bot.
func (c *Chat) Post(p Post) Message {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m := &message{senderChat: p.SenderChat, ephemeral: p.EphemeralID, extra: p.Extra}
	m.From, m.Text, m.Entities = c.s.current(p.From), p.Text, p.Entities
	m.ReplyTo, m.ThreadID, m.Date = p.ReplyTo, p.ThreadID, p.Date
	m.noFrom = p.From.ID == 0
	if p.Document != nil {
		m.Document = c.s.keep(*p.Document)
	}
	if p.Entities == nil {
		m.Text, m.Entities = c.s.markUserText(p.Text)
	}
	if p.From.ID != 0 && p.SenderChat == nil {
		c.join(p.From)
	}
	if c.kind == kindPrivate {
		c.started = true
	}
	seen := c.botSees(m)
	c.add(m)
	c.setReplyTarget(m)
	if seen {
		c.s.messageUpdate(kindOfMessageUpdate, m)
	}
	return m.Message
}

// Topic creates a forum topic and returns the message that creates it. The topic's id is the
// message's id.
func (c *Chat) Topic(by User, name string) Message {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.join(by)
	m := serviceNote(serviceTopicCreated, map[string]any{"name": name, "icon_color": 7322096})
	c.serviceMessage(by, m)
	c.topics[m.ID] = &topic{created: m}
	return m.Message
}

// CloseTopic closes a topic. The bot can write in a closed topic only as an admin.
func (c *Chat) CloseTopic(id int) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if t, ok := c.topics[id]; ok {
		t.closed = true
	}
}

// DeleteTopic deletes a topic with its messages. As in Telegram, the bot gets no update, and cannot
// write in a deleted topic.
func (c *Chat) DeleteTopic(id int) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.topics, id)
	for _, m := range c.messages {
		if m.ThreadID == id {
			m.Deleted = true
		}
	}
}

// Edit changes the text of a user's message. If the bot is in the chat, it gets an update, even if
// the text stays the same.
func (c *Chat) Edit(m Message, text string) Message { return c.EditAt(m, text, time.Time{}) }

// EditAt is like Edit, but sets edit_date to at, unless at is zero. The message keeps its date. If
// the chat has no such message, EditAt returns the zero Message.
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

// Delete deletes a message. As in Telegram, the bot gets no update.
func (c *Chat) Delete(m Message) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if old, ok := c.byID[m.ID]; ok {
		old.Deleted = true
	}
}

// botSees reports whether the bot gets an update for m.
func (c *Chat) botSees(m *message) bool {
	return m.From.ID != c.s.bot.ID && c.hasBot() && !c.isHidden(m)
}

func (c *Chat) hasBot() bool {
	switch c.status[c.s.bot.ID] {
	case "", statusLeft, statusKicked:
		return false
	}
	return true
}
