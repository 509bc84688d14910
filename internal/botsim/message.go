package botsim

import (
	"encoding/json"
	"fmt"
	"maps"
)

// serviceTopicCreated is the field of the message that creates a topic. The topic's id is the
// message's id.
const serviceTopicCreated = "forum_topic_created"

// message is a Message together with fields that tests do not see.
type message struct {
	Message
	chat       *Chat
	noFrom     bool // the message has no author, as in a channel
	senderChat *SenderChat
	tooOld     bool           // too old to be edited by the bot
	ephemeral  int            // id of an ephemeral message, which only its author and the bot see; else 0
	extra      map[string]any // service fields, and fields that a test adds
	// wireReply is the message for reply_to_message. In a topic, it may be the message that created
	// the topic.
	wireReply *message
}

// add gives m an id, and a date if it has none, appends m to the chat, and wakes subscribers and
// waiting calls of WaitBot. It sends no update to the bot; that is up to the caller.
func (c *Chat) add(m *message) {
	m.chat, m.ID, m.ChatID = c, c.nextMessageID(), c.id
	if m.Date.IsZero() {
		m.Date = c.s.now()
	}
	if m.Service == serviceTopicCreated {
		m.ThreadID = m.ID
	}
	c.messages = append(c.messages, m)
	c.byID[m.ID] = m
	if m.From.ID == c.s.bot.ID && m.Service == "" {
		c.botMessages++
		c.botSent.fire()
	}
	c.s.publish(m.Message)
}

// setReplyTarget sets the message that m replies to. It looks up the id ReplyTo. If it finds no
// message or a deleted one, and m is in a topic, the target is the message that created the topic.
func (c *Chat) setReplyTarget(m *message) {
	if target, ok := c.byID[m.ReplyTo]; ok && !target.Deleted {
		m.wireReply = target
	} else if t, ok := c.topics[m.ThreadID]; ok && m.ThreadID != m.ID {
		m.wireReply = t.created
	}
}

// shownReply returns the message that reply_to_message shows, or nil for none. Instead of a deleted
// message, it shows the message that created the topic, if there is one.
func (m *message) shownReply() *message {
	switch {
	case m.wireReply == nil || !m.wireReply.Deleted:
		return m.wireReply
	case m.chat.topics[m.ThreadID] != nil:
		return m.chat.topics[m.ThreadID].created
	}
	return nil
}

// wire encodes the message as the Bot API does, with replies one level deep.
func (m *message) wire() (json.RawMessage, error) {
	w := wireMessage{
		MessageID:       m.ID,
		MessageThreadID: m.ThreadID,
		SenderChat:      m.senderChat,
		Date:            m.Date.Unix(),
		Chat:            m.chat.wire(),
		IsTopicMessage:  m.ThreadID != 0 && m.chat.isForum,
		Text:            m.Text,
		Entities:        m.Entities,
	}
	if m.ephemeral != 0 {
		w.MessageID, w.EphemeralID = 0, m.ephemeral
	}
	if m.Rich {
		w.Text, w.Entities, w.Rich = "", nil, m.wireRich()
	}
	if m.Photo != nil {
		w.Text, w.Entities, w.Photo, w.Caption, w.CaptionEntities = "", nil, m.Photo.wire(), m.Text, m.Entities
	}
	if m.Document != nil {
		w.Text, w.Entities, w.Document, w.Caption, w.CaptionEntities = "", nil, m.Document.wire(), m.Text, m.Entities
	}
	if len(m.Buttons) > 0 {
		w.ReplyMarkup = &inlineKeyboard{Rows: m.Buttons}
	}
	if !m.noFrom {
		from := m.chat.s.current(m.From)
		w.From = &from
	}
	if !m.EditDate.IsZero() {
		w.EditDate = m.EditDate.Unix()
	}
	if target := m.shownReply(); target != nil {
		raw, err := target.shallow()
		if err != nil {
			return nil, err
		}
		w.ReplyToMessage = raw
	}
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode message %d of chat %d: %w", m.ID, m.ChatID, err)
	}
	if len(m.extra) == 0 {
		return raw, nil
	}
	return withFields(raw, m.extra)
}

// wireRich encodes the content of a rich message, which consists of blocks instead of a text and
// entities. The only block is a paragraph in which only the links are marked.
func (m *message) wireRich() *wireRich {
	paragraph, done := wireBlock{Type: "paragraph", Text: []any{}}, 0
	add := func(until int) {
		if text := m.EntityText(Entity{Offset: done, Length: until - done}); text != "" {
			paragraph.Text = append(paragraph.Text, text)
		}
		done = until
	}
	for _, e := range m.Entities {
		if e.URL != "" && e.Offset >= done {
			add(e.Offset)
			paragraph.Text = append(paragraph.Text, wireLink{Type: "url", Text: m.EntityText(e), URL: e.URL})
			done = e.Offset + e.Length
		}
	}
	add(maxRichUnits)
	return &wireRich{Blocks: []wireBlock{paragraph}}
}

// maxRichUnits exceeds the length of any rich message in UTF-16 code units.
const maxRichUnits = 1 << 20

// withFields adds fields to a JSON object, replacing fields of the same name.
func withFields(object json.RawMessage, fields map[string]any) (json.RawMessage, error) {
	kept := map[string]json.RawMessage{} // raw, so that large ids keep their digits
	if err := json.Unmarshal(object, &kept); err != nil {
		return nil, fmt.Errorf("decode object to extend: %w", err)
	}
	all := make(map[string]any, len(kept)+len(fields))
	for name, raw := range kept {
		all[name] = raw
	}
	maps.Copy(all, fields)
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encode extended object: %w", err)
	}
	return raw, nil
}
