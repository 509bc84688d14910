package botsim

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"elobot/internal/botsim/parameters"
)

// The ids of the first supergroup and the first basic group. As in Telegram, the ids of groups do
// not fit into 32 bits.
const (
	firstSupergroupID = -1002000000001
	firstGroupID      = -4000000001
)

// Kinds of chats, as the Bot API names them.
const (
	kindPrivate    = "private"
	kindGroup      = "group"
	kindSupergroup = "supergroup"
)

// Statuses of a chat member, as the Bot API names them.
const (
	statusCreator       = "creator"
	statusAdministrator = "administrator"
	statusMember        = "member"
	statusLeft          = "left"
	statusKicked        = "kicked"
)

// Chat is a group, or the private chat of a user with the bot.
type Chat struct {
	s *Server

	// Set at creation and never changed.
	id      int64
	kind    string
	isForum bool
	user    User // the person in a private chat

	// Guarded by s.mu.
	title       string
	order       []int64          // past and present members, in the order in which they first joined
	status      map[int64]string // of present and past members, including the bot, by user id
	started     bool             // in a private chat: the user has started the bot
	migratedTo  int64
	lastID      int
	messages    []*message
	byID        map[int]*message
	botMessages int
	botSent     signal
	edited      signal
	topics      map[int]*topic
	deleted     bool
	pinned      map[int]bool // by message id; deleted messages do not count
	noPins      bool         // the bot lacks the right to pin, even as an admin
	noPhotos    bool         // members may not send photos
	noDocuments bool         // members may not send documents
	rates       chatRates
}

type topic struct {
	created *message
	closed  bool
}

// Group makes a supergroup. The bot is a member, and the first of members is the creator. The group
// has no messages yet, and the bot gets no update.
func (s *Server) Group(title string, members ...User) *Chat {
	return s.addGroup(kindSupergroup, title, false, members)
}

// BasicGroup is like Group, but the group is not a supergroup yet.
func (s *Server) BasicGroup(title string, members ...User) *Chat {
	return s.addGroup(kindGroup, title, false, members)
}

// Forum is like Group, but the supergroup is a forum. Its only topic is General.
func (s *Server) Forum(title string, members ...User) *Chat {
	return s.addGroup(kindSupergroup, title, true, members)
}

// generalTopic is the id of a forum's first topic. Messages cannot be sent to it by this id.
const generalTopic = 1

func (s *Server) addGroup(kind, title string, forum bool, members []User) *Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.newGroup(kind, title, forum)
	if forum {
		c.lastID = generalTopic
	}
	for i, u := range members {
		if i == 0 {
			c.setStatus(u.ID, statusCreator)
		} else {
			c.setStatus(u.ID, statusMember)
		}
		s.ensureUser(u)
	}
	c.setStatus(s.bot.ID, statusMember)
	return c
}

func (s *Server) newGroup(kind, title string, forum bool) *Chat {
	id := s.nextSupergroup
	if kind == kindGroup {
		id = s.nextGroup
		s.nextGroup--
	} else {
		s.nextSupergroup--
	}
	c := s.newChat(id, kind)
	c.title, c.isForum = title, forum
	return c
}

func (s *Server) newChat(id int64, kind string) *Chat {
	c := &Chat{
		s: s, id: id, kind: kind, status: map[int64]string{},
		byID: map[int]*message{}, topics: map[int]*topic{}, pinned: map[int]bool{},
	}
	s.chats[id] = c
	return c
}

// Private returns the private chat of the user with the bot, and makes it if needed. In a new chat,
// the user has already started the bot.
func (s *Server) Private(u User) *Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.chats[u.ID]; ok {
		return c
	}
	s.ensureUser(u)
	c := s.newChat(u.ID, kindPrivate)
	c.user, c.started = u, true
	c.setStatus(u.ID, statusMember)
	c.setStatus(s.bot.ID, statusMember)
	return c
}

// NotStarted undoes the start of the bot in a private chat, so the bot cannot write there until the
// user does. It returns the chat.
func (c *Chat) NotStarted() *Chat {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.started = false
	return c
}

// ensureUser registers u if the server does not know u's id, because the test built the User
// itself. It ignores a user without an id.
func (s *Server) ensureUser(u User) {
	if _, ok := s.users[u.ID]; !ok && u.ID != 0 {
		s.addUser(u)
	}
}

// Chat returns the chat with the given id, or nil if there is none.
func (s *Server) Chat(id int64) *Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chats[id]
}

// ID returns the chat's Telegram id.
func (c *Chat) ID() int64 { return c.id }

// Kind returns "private", "group" or "supergroup".
func (c *Chat) Kind() string { return c.kind }

// Title returns the group's title, or the user's first name in a private chat.
func (c *Chat) Title() string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.kind == kindPrivate {
		return c.s.users[c.user.ID].FirstName
	}
	return c.title
}

// Messages returns all messages of the chat in the order in which they were sent, including service
// messages and deleted messages.
func (c *Chat) Messages() []Message { return c.collect(func(*message) bool { return true }) }

// BotMessages returns the messages that the bot has sent to the chat, in the order in which they
// were sent. They include deleted messages, but no service messages.
func (c *Chat) BotMessages() []Message {
	return c.collect(func(m *message) bool { return m.From.ID == c.s.bot.ID && m.Service == "" })
}

// Message returns the current state of the message with the given id. It returns false if there is
// none.
func (c *Chat) Message(id int) (Message, bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	m, ok := c.byID[id]
	if !ok {
		return Message{}, false
	}
	return m.Message, true
}

func (c *Chat) collect(want func(*message) bool) []Message {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	var all []Message
	for _, m := range c.messages {
		if want(m) {
			all = append(all, m.Message)
		}
	}
	return all
}

// WaitBot waits until the bot has sent at least n messages to this chat, and returns all messages
// that the bot has sent there. If ctx ends or the server is closed first, it returns an error and
// the messages sent so far.
func (c *Chat) WaitBot(ctx context.Context, n int) ([]Message, error) {
	err := c.s.wait(ctx, &c.botSent, func() bool { return c.botMessages >= n })
	sent := c.BotMessages()
	if err != nil {
		return sent, fmt.Errorf("wait for message %d of the bot in %q, have %d: %w", n, c.Title(), len(sent), err)
	}
	return sent, nil
}

// WaitEdits waits until the message with the given id, which must be the bot's, has been edited at
// least n times, and returns the message. If ctx ends or the server is closed first, it returns an
// error and the message as it is.
func (c *Chat) WaitEdits(ctx context.Context, id, n int) (Message, error) {
	err := c.s.wait(ctx, &c.edited, func() bool { return c.byID[id] != nil && c.byID[id].Edits >= n })
	m, _ := c.Message(id)
	if err != nil {
		return m, fmt.Errorf("wait for edit %d of message %d in %q: %w", n, id, c.Title(), err)
	}
	return m, nil
}

func (c *Chat) setStatus(user int64, status string) {
	if !slices.Contains(c.order, user) {
		c.order = append(c.order, user)
	}
	c.status[user] = status
}

// join makes a user who is not in the group a member, without an update.
func (c *Chat) join(u User) {
	c.s.ensureUser(u)
	switch c.status[u.ID] {
	case "", statusLeft, statusKicked:
		c.setStatus(u.ID, statusMember)
	}
}

func (c *Chat) isAdmin(user int64) bool {
	return c.status[user] == statusAdministrator || c.status[user] == statusCreator
}

func (c *Chat) wire() wireChat {
	w := wireChat{ID: c.id, Type: c.kind, Title: c.title, IsForum: c.isForum}
	if c.kind == kindPrivate {
		u := c.s.users[c.user.ID]
		w.Username, w.FirstName, w.LastName = u.Username, u.FirstName, u.LastName
	}
	return w
}

// nextMessageID returns the next message id. Each supergroup has its own sequence; all other chats
// share a sequence.
func (c *Chat) nextMessageID() int {
	if c.kind == kindSupergroup {
		c.lastID++
		return c.lastID
	}
	c.s.lastSharedID++
	return c.s.lastSharedID
}

// findChat returns the chat with a call's chat_id, or an error if there is none.
func (s *Server) findChat(p parameters.Values) (*Chat, error) {
	if p["chat_id"] == "" {
		return nil, badRequest("chat_id is empty")
	}
	if c, ok := s.chats[p.Integer("chat_id")]; ok {
		return c, nil
	}
	return nil, badRequest("chat not found")
}

// readableChat returns the chat with a call's chat_id, or an error if the bot has no access to the
// chat.
func (s *Server) readableChat(p parameters.Values) (*Chat, error) {
	c, err := s.findChat(p)
	if err != nil {
		return nil, err
	}
	return c, c.access()
}

// writableChat returns the chat with a call's chat_id, or an error if the bot may not write to the
// chat.
func (s *Server) writableChat(p parameters.Values) (*Chat, error) {
	c, err := s.findChat(p)
	if err != nil {
		if u, ok := s.users[p.Integer("chat_id")]; ok && !u.IsBot {
			return nil, forbidden("bot can't initiate conversation with a user")
		}
		return nil, err
	}
	if err := c.access(); err != nil {
		return nil, err
	}
	if c.kind == kindPrivate && !c.started {
		return nil, forbidden("bot can't initiate conversation with a user")
	}
	return c, nil
}

// access returns an error if the bot has no access to the chat.
func (c *Chat) access() error {
	if c.migratedTo != 0 {
		return &apiError{
			code:        http.StatusBadRequest,
			description: "Bad Request: group chat was upgraded to a supergroup chat",
			parameters:  map[string]any{"migrate_to_chat_id": c.migratedTo},
		}
	}
	switch status := c.status[c.s.bot.ID]; {
	case c.deleted:
		return forbidden("the group chat was deleted")
	case status == statusKicked && c.kind == kindPrivate:
		return forbidden("bot was blocked by the user")
	case status == statusKicked:
		return forbidden("bot was kicked from the " + c.kind + " chat")
	case status == statusLeft || status == "":
		return forbidden("bot is not a member of the " + c.kind + " chat")
	}
	return nil
}
