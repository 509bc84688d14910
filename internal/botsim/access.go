package botsim

import (
	"net/http"

	"elobot/internal/botsim/parameters"
)

// findChat returns the chat that a call names.
func (s *Server) findChat(p parameters.Values) (*Chat, error) {
	if p["chat_id"] == "" {
		return nil, badRequest("chat_id is empty")
	}
	if c, ok := s.chats[p.Integer("chat_id")]; ok {
		return c, nil
	}
	return nil, badRequest("chat not found")
}

// readableChat returns the chat that the bot asks about, or an error if the bot has no access to it.
func (s *Server) readableChat(p parameters.Values) (*Chat, error) {
	c, err := s.findChat(p)
	if err != nil {
		return nil, err
	}
	return c, c.access()
}

// writableChat returns the chat that the bot writes to, or an error if it may not.
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

// access returns an error if the bot no longer has access to the chat.
func (c *Chat) access() error {
	if c.migratedTo != 0 {
		return &apiError{
			code:        http.StatusBadRequest,
			description: "Bad Request: group chat was upgraded to a supergroup chat",
			parameters:  map[string]any{"migrate_to_chat_id": c.migratedTo},
		}
	}
	switch status := c.status[c.s.bot.ID]; {
	case status == statusKicked && c.kind == kindPrivate:
		return forbidden("bot was blocked by the user")
	case status == statusKicked:
		return forbidden("bot was kicked from the " + c.kind + " chat")
	case status == statusLeft || status == "":
		return forbidden("bot is not a member of the " + c.kind + " chat")
	}
	return nil
}
