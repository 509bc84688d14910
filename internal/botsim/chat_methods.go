package botsim

import (
	"context"
	"fmt"
	"time"

	"elobot/internal/botsim/parameters"
)

func (s *Server) getMe(*request) (any, error) {
	return map[string]any{
		"id": s.bot.ID, "is_bot": true, "first_name": s.bot.FirstName, "username": s.bot.Username,
		"can_join_groups": true, "can_read_all_group_messages": !s.opts.privacy,
		"supports_inline_queries": false, "can_connect_to_business": false, "has_main_web_app": false,
	}, nil
}

func (s *Server) getChatAdministrators(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.readableChat(r.params)
	if err != nil {
		return nil, err
	}
	if c.kind == kindPrivate {
		return nil, badRequest("there are no administrators in the private chat")
	}
	admins := []any{}
	for _, id := range c.order {
		u := s.users[id]
		if c.isAdmin(id) && (!u.IsBot || id == s.bot.ID) {
			admins = append(admins, chatMember(u, c.status[id]))
		}
	}
	return admins, nil
}

func (s *Server) getChatMember(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.readableChat(r.params)
	if err != nil {
		return nil, err
	}
	id := r.params.Integer("user_id")
	u, known := s.users[id]
	if !known {
		return nil, badRequest("user not found")
	}
	return chatMember(u, c.status[id]), nil
}

// readableChat returns the chat that the bot asks about, or an error if the bot has no access to it.
func (s *Server) readableChat(p parameters.Values) (*Chat, error) {
	c, err := s.findChat(p)
	if err != nil {
		return nil, err
	}
	return c, c.access()
}

func (s *Server) sendChatAction(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.writableChat(r.params)
	return true, err
}

// CallbackAnswer is the bot's answer to a button press, as the person who pressed it sees it.
type CallbackAnswer struct {
	Text      string
	ShowAlert bool
	URL       string
}

// callbackLifetime is how long after a button press the bot can answer it.
const callbackLifetime = 150 * time.Second

func (s *Server) answerCallbackQuery(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, ok := s.queries[r.params["callback_query_id"]]
	if !ok || q.answer != nil || s.now().Sub(q.at) > callbackLifetime {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	q.answer = &CallbackAnswer{
		Text: r.params["text"], ShowAlert: r.params.Boolean("show_alert"), URL: r.params["url"],
	}
	s.answered.fire()
	return true, nil
}

// WaitAnswer waits until the bot has answered the button press with that id.
func (s *Server) WaitAnswer(ctx context.Context, queryID string) (CallbackAnswer, error) {
	var found CallbackAnswer
	err := s.wait(ctx, &s.answered, func() bool {
		q, ok := s.queries[queryID]
		if !ok || q.answer == nil {
			return false
		}
		found = *q.answer
		return true
	})
	if err != nil {
		return found, fmt.Errorf("wait for the answer to button press %s: %w", queryID, err)
	}
	return found, nil
}
