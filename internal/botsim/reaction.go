package botsim

import (
	"context"
	"fmt"
	"slices"
)

// reactionEmoji are some of the emoji that a bot may react with. Telegram knows more of them, and no others.
var reactionEmoji = []string{"👍", "👎", "❤", "🔥", "🥰", "👏", "😁", "🤔", "🤯", "😢", "🎉", "🤩", "🙏", "👌", "🏆", "💯", "🤝", "✍"}

// setMessageReaction replaces the bot's reaction to a message. A bot has at most one, and gets no update about its own. Reactions
// count against the total limit, but not against those of messages in a chat.
func (s *Server) setMessageReaction(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var reactions []struct {
		Type  string `json:"type"`
		Emoji string `json:"emoji"`
	}
	if _, err := r.params.Object("reaction", &reactions); err != nil {
		return nil, err
	}
	c, err := s.writableChat(r.params)
	if err != nil {
		return nil, err
	}
	m, found := c.byID[int(r.params.Integer("message_id"))]
	if !found || m.Deleted {
		return nil, badRequest("message to react not found")
	}
	emoji := ""
	switch {
	case len(reactions) > 1:
		return nil, badRequest("REACTIONS_TOO_MANY")
	case len(reactions) == 1:
		emoji = reactions[0].Emoji
		if c.noReactions || m.Service != "" || reactions[0].Type != "emoji" || !slices.Contains(reactionEmoji, emoji) {
			return nil, badRequest("REACTION_INVALID")
		}
	}
	if err := s.limiter.takeReaction(s.now()); err != nil {
		return nil, err
	}
	m.Reaction = emoji
	c.reacted.fire()
	r.call.MessageID = m.ID
	return true, nil
}

// DisableReactions forbids reactions to the messages of the chat.
func (c *Chat) DisableReactions() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.noReactions = true
}

// WaitReaction waits until the bot has reacted to a message, and returns the emoji.
func (c *Chat) WaitReaction(ctx context.Context, id int) (string, error) {
	err := c.s.wait(ctx, &c.reacted, func() bool { return c.byID[id] != nil && c.byID[id].Reaction != "" })
	m, _ := c.Message(id)
	if err != nil {
		return "", fmt.Errorf("wait for a reaction to message %d in %q: %w", id, c.Title(), err)
	}
	return m.Reaction, nil
}
