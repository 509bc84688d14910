package botsim

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"elobot/internal/botsim/updates"
)

const firstQueryID = 4382913000000000001

// callbackLifetime is how long after a button press the bot can answer it.
const callbackLifetime = 150 * time.Second

// CallbackAnswer is the bot's answer to a button press, as the person who pressed it sees it.
type CallbackAnswer struct {
	Text      string
	ShowAlert bool
	URL       string
}

// callbackQuery is a button press that the bot can answer once.
type callbackQuery struct {
	at     time.Time
	answer *CallbackAnswer
}

// Press presses a button under a message and returns the id of the callback query. data need not
// belong to any button of m, because a client can forge it. If the bot is not in the chat, it gets
// no update.
func (s *Server) Press(from User, m Message, data string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ensureUser(from)
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
	s.sendUpdate(updates.LaneOfPresses(from.ID), "callback_query", query)
	return id
}

// pressedMessage returns the message of a callback query, as the Bot API encodes it. A deleted or
// unknown message has the date 0.
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

func (s *Server) answerCallbackQuery(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, ok := s.queries[r.params["callback_query_id"]]
	if !ok || q.answer != nil || s.now().Sub(q.at) > callbackLifetime {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	if address := r.params["url"]; address != "" && !s.opensBot(address) {
		return nil, badRequest("URL_INVALID")
	}
	q.answer = &CallbackAnswer{
		Text: r.params["text"], ShowAlert: r.params.Boolean("show_alert"), URL: r.params["url"],
	}
	s.answered.fire()
	return true, nil
}

// opensBot reports whether a URL opens the bot with a parameter. Telegram accepts no other URL as
// the answer to a press, except those of games.
func (s *Server) opensBot(address string) bool {
	parameter, ok := strings.CutPrefix(address, "https://t.me/"+s.bot.Username+"?start=")
	return ok && validStart.MatchString(parameter)
}

var validStart = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// WaitAnswer waits until the bot has answered the button press with the given id, and returns the
// answer. It fails if ctx ends or the server is closed first.
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
