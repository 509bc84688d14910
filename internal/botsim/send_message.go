package botsim

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"elobot/internal/botsim/markup"
	"elobot/internal/botsim/parameters"
)

const maxText = 4096 // characters, after the markup has been parsed

func (s *Server) sendMessage(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &message{}
	explicit, err := s.readContent(r, m)
	if err != nil {
		return nil, err
	}
	if m.Buttons, err = readKeyboard(r.params); err != nil {
		return nil, err
	}
	return s.send(r, m, explicit)
}

// send sends a message whose content and buttons have been read. explicit lists the entities that
// the bot marked.
func (s *Server) send(r *request, m *message, explicit []Entity) (any, error) {
	c, err := s.writableChat(r.params)
	if err != nil {
		return nil, err
	}
	if m.Photo != nil && !c.mayPhoto() {
		return nil, badRequest("not enough rights to send photos to the chat")
	}
	if m.Document != nil && !c.mayDocument() {
		return nil, badRequest("not enough rights to send documents to the chat")
	}
	if err := s.readThread(r.params, c, m); err != nil {
		return nil, err
	}
	if err := s.readReply(r.params, c, m); err != nil {
		return nil, err
	}
	if t, ok := c.topics[m.ThreadID]; ok && t.closed && !c.isAdmin(s.bot.ID) {
		return nil, badRequest("TOPIC_CLOSED")
	}
	if err := s.limiter.take(s.now(), c); err != nil {
		return nil, err
	}
	m.From = s.bot
	m.Silent = r.params.Boolean("disable_notification")
	c.add(m)
	c.setReplyTarget(m)
	s.complainOfDetected(r.call.Method, m, explicit)
	r.call.MessageID = m.ID
	return m.wire()
}

func (s *Server) editMessageText(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edited := &message{}
	explicit, err := s.readContent(r, edited)
	if err != nil {
		return nil, err
	}
	if edited.Buttons, err = readKeyboard(r.params); err != nil {
		return nil, err
	}
	return s.replace(r, edited, explicit)
}

// replace gives a message the content and the buttons of edited. explicit lists the entities that
// the bot marked.
func (s *Server) replace(r *request, edited *message, explicit []Entity) (any, error) {
	c, err := s.writableChat(r.params)
	if err != nil {
		return nil, err
	}
	m, found := c.byID[int(r.params.Integer("message_id"))]
	switch {
	case !found || m.Deleted:
		return nil, badRequest("message to edit not found")
	case m.From.ID != s.bot.ID || m.Service != "" || m.tooOld:
		return nil, badRequest("message can't be edited")
	case m.Document != nil, m.Photo != nil && edited.Photo == nil:
		return nil, badRequest("there is no text in the message to edit")
	case m.Photo == nil && edited.Photo != nil:
		s.complaints.add(r.call.Method + ": to put a photo in the place of a text is not simulated")
		return nil, badRequest("message can't be edited")
	case edited.Photo != nil && !c.mayPhoto():
		return nil, badRequest("not enough rights to send photos to the chat")
	case sameContent(m, edited):
		return nil, badRequest("message is not modified: specified new message content and reply markup are " +
			"exactly the same as a current content and reply markup of the message")
	}
	if err := s.limiter.take(s.now(), c); err != nil {
		return nil, err
	}
	m.Text, m.HTML, m.ParseMode, m.Entities = edited.Text, edited.HTML, edited.ParseMode, edited.Entities
	m.Photo, m.Rich, m.NoPreview, m.Buttons = edited.Photo, edited.Rich, edited.NoPreview, edited.Buttons
	m.EditDate = s.now()
	m.Edits++
	c.edited.fire()
	s.publish(m.Message)
	s.complainOfDetected(r.call.Method, m, explicit)
	r.call.MessageID = m.ID
	return m.wire()
}

// sameContent reports whether a and b have the same content and the same buttons. Two uploads never
// have the same content, even if the files are equal.
func sameContent(a, b *message) bool {
	sameEntity := func(x, y Entity) bool {
		xUser, yUser := x.User, y.User
		x.User, y.User = nil, nil
		return x == y && (xUser == nil) == (yUser == nil) && (xUser == nil || xUser.ID == yUser.ID)
	}
	return a.Photo == b.Photo && a.Rich == b.Rich && (!a.Rich || a.HTML == b.HTML) && a.Text == b.Text &&
		slices.EqualFunc(a.Entities, b.Entities, sameEntity) &&
		slices.EqualFunc(a.Buttons, b.Buttons, slices.Equal)
}

// readContent sets the content of a message that the bot writes: a text or a rich message. It
// returns the entities that the bot marked.
func (s *Server) readContent(r *request, m *message) ([]Entity, error) {
	var rich struct {
		HTML     string `json:"html"`
		Markdown string `json:"markdown"`
		Verbatim bool   `json:"skip_entity_detection"`
	}
	given, err := r.params.Object("rich_message", &rich)
	switch {
	case err != nil:
		return nil, err
	case !given:
		return s.readText(r, m)
	case r.params["text"] != "", rich.HTML != "" && rich.Markdown != "":
		return nil, badRequest("a message has either a text or a rich message, in HTML or in Markdown")
	case rich.Markdown != "":
		s.complaints.add(r.call.Method + ": Markdown of rich messages is not simulated")
		return nil, badRequest("unsupported markup")
	}
	text, marked, warnings, err := markup.ParseRich(rich.HTML, s.userExists)
	if err != nil {
		return nil, badRequest(err.Error())
	}
	for _, w := range warnings {
		s.complaints.add(r.call.Method + ": " + w)
	}
	m.Rich, m.HTML = true, rich.HTML
	var explicit []Entity
	if m.Text, explicit = trim(text, s.entities(marked)); m.Text == "" {
		return nil, badRequest("message text is empty")
	}
	if m.Entities = explicit; !rich.Verbatim {
		m.Entities = withDetected(m.Text, explicit)
	}
	return explicit, nil
}

// readText sets the text, the entities and the link preview of a message that the bot writes. It
// returns the entities that the bot marked.
func (s *Server) readText(r *request, m *message) ([]Entity, error) {
	text := r.params["text"]
	if err := checkUTF8(text); err != nil {
		return nil, err
	}
	m.HTML, m.ParseMode = text, r.params["parse_mode"]
	explicit, err := s.parseMarkup(r.call.Method, r.params, "entities", m)
	if err != nil {
		return nil, err
	}
	m.Text, explicit = trim(m.Text, explicit)
	if m.Text == "" {
		return nil, badRequest("message text is empty")
	}
	if utf8.RuneCountInString(m.Text) > maxText {
		return nil, badRequest("message is too long")
	}
	m.Entities = withDetected(m.Text, explicit)
	var preview struct {
		IsDisabled bool `json:"is_disabled"`
	}
	_, err = r.params.Object("link_preview_options", &preview)
	m.NoPreview = preview.IsDisabled
	return explicit, err
}

func checkUTF8(text string) error {
	if !utf8.ValidString(text) {
		return badRequest("strings must be encoded in UTF-8")
	}
	return nil
}

// parseMarkup sets the text of a message from m.HTML, which is the text as the bot sent it. It
// returns the entities that the bot marked. entities is the name of the parameter that has them if
// there is no parse_mode.
func (s *Server) parseMarkup(method string, p parameters.Values, entities string, m *message) ([]Entity, error) {
	switch strings.ToLower(m.ParseMode) {
	case "":
		m.Text = m.HTML
		var explicit []Entity
		if _, err := p.Object(entities, &explicit); err != nil {
			return nil, err
		}
		return explicit, checkEntities(m.Text, explicit)
	case "html":
		text, marked, warnings, err := markup.ParseHTML(m.HTML, s.userExists)
		if err != nil {
			return nil, badRequest(err.Error())
		}
		for _, w := range warnings {
			s.complaints.add(method + ": " + w)
		}
		m.Text = text
		return s.entities(marked), nil
	}
	s.complaints.add(fmt.Sprintf("%s: parse_mode %q is not simulated", method, m.ParseMode))
	return nil, badRequest("unsupported parse_mode")
}

// readThread sets the topic of a message from message_thread_id. The topic must exist. Without
// message_thread_id, readThread sets no topic, but readReply may set one later.
func (s *Server) readThread(p parameters.Values, c *Chat, m *message) error {
	id := int(p.Integer("message_thread_id"))
	if _, exists := c.topics[id]; !exists && id != 0 {
		return badRequest("message thread not found")
	}
	m.ThreadID = id
	return nil
}

// readReply sets the message to reply to. If m has no topic yet, it gets the topic of that message.
// If the message does not exist, is deleted or is ephemeral, readReply fails, unless the request
// allows sending without a reply.
func (s *Server) readReply(p parameters.Values, c *Chat, m *message) error {
	var reply struct {
		MessageID    int64 `json:"message_id"`
		AllowMissing bool  `json:"allow_sending_without_reply"`
	}
	given, err := p.Object("reply_parameters", &reply)
	if err != nil || !given {
		return err
	}
	if target, ok := c.byID[int(reply.MessageID)]; ok && !target.Deleted && target.ephemeral == 0 {
		m.ReplyTo = target.ID
		if m.ThreadID == 0 {
			m.ThreadID = target.ThreadID
		}
		return nil
	}
	if reply.AllowMissing {
		return nil
	}
	return badRequest("message to be replied not found")
}

const maxButtons = 100

// buttonActions lists the fields that give a button of an inline keyboard an action.
var buttonActions = []string{
	"url", "callback_data", "web_app", "login_url", "switch_inline_query", "switch_inline_query_current_chat",
	"switch_inline_query_chosen_chat", "copy_text", "callback_game", "pay",
}

// readKeyboard reads the inline keyboard in reply_markup. Other kinds of reply_markup have no
// effect.
func readKeyboard(p parameters.Values) ([][]Button, error) {
	var markup struct {
		Rows [][]map[string]any `json:"inline_keyboard"`
	}
	if _, err := p.Object("reply_markup", &markup); err != nil {
		return nil, err
	}
	var keyboard [][]Button
	count := 0
	for _, row := range markup.Rows {
		var buttons []Button
		for _, fields := range row {
			b, err := readButton(fields)
			if err != nil {
				return nil, err
			}
			buttons = append(buttons, b)
		}
		if len(buttons) > 0 {
			keyboard = append(keyboard, buttons)
			count += len(buttons)
		}
	}
	if count > maxButtons {
		return nil, badRequest("REPLY_MARKUP_TOO_LONG")
	}
	return keyboard, nil
}

func readButton(fields map[string]any) (Button, error) {
	var b Button
	for name, into := range map[string]*string{"text": &b.Text, "callback_data": &b.CallbackData, "url": &b.URL} {
		*into, _ = fields[name].(string)
	}
	if copied, ok := fields["copy_text"].(map[string]any); ok {
		b.CopyText.Text, _ = copied["text"].(string)
	}
	if fields["url"] != nil && !markup.ValidURL(b.URL) {
		return b, badRequest("inline keyboard button URL '" + b.URL + "' is invalid: Wrong HTTP URL")
	}
	if !slices.ContainsFunc(buttonActions, func(name string) bool { return fields[name] != nil }) {
		return b, badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	}
	return b, nil
}
