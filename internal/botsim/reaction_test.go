package botsim_test

import (
	"testing"
	"time"

	"elobot/internal/botsim"
)

// thumb are the parameters of a reaction to a message.
func thumb(chat *botsim.Chat, message int) fields {
	return fields{"chat_id": chat.ID(), "message_id": message, "reaction": []fields{{"type": "emoji", "emoji": "👍"}}}
}

func TestSetMessageReaction(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	m := group.Say(alice, "/match @bob 3:1")
	reaction := func() string {
		now, _ := group.Message(m.ID)
		return now.Reaction
	}
	bot.updates(t, fields{})
	bot.want(t, "setMessageReaction", thumb(group, m.ID), nil)
	bot.want(t, "setMessageReaction", thumb(group, m.ID), nil) // changes nothing
	if got, err := group.WaitReaction(t.Context(), m.ID); got != "👍" || err != nil {
		t.Errorf("reaction %q, %v", got, err)
	}
	heart := thumb(group, m.ID)
	heart["reaction"] = []fields{{"type": "emoji", "emoji": "❤"}}
	bot.want(t, "setMessageReaction", heart, nil)
	if got := reaction(); got != "❤" {
		t.Errorf("reaction %q instead of the one before", got)
	}
	bot.want(t, "setMessageReaction", fields{"chat_id": group.ID(), "message_id": m.ID}, nil)
	if got := reaction(); got != "" {
		t.Errorf("reaction %q after it was removed", got)
	}
	if calls := s.CallsOf("setMessageReaction"); len(calls) != 4 || calls[0].MessageID != m.ID {
		t.Errorf("calls %+v", calls)
	}
	if c := s.Complaints(); len(c) > 0 {
		t.Errorf("complaints: %q", c)
	}
}

func TestReactionsThatAreRefused(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	m := group.Say(alice, "/match @bob 3:1")
	refused := func(params fields, status int, want string) {
		t.Helper()
		bot.refused(t, "setMessageReaction", params, status, want)
	}
	with := func(name string, value any) fields {
		params := thumb(group, m.ID)
		params[name] = value
		return params
	}
	refused(with("message_id", 99), 400, "Bad Request: message to react not found")
	refused(with("chat_id", 5), 400, "Bad Request: chat not found")
	refused(with("reaction", []fields{{"type": "emoji", "emoji": "elo"}}), 400, "Bad Request: REACTION_INVALID")
	refused(with("reaction", []fields{{"type": "emoji", "emoji": "👍"}, {"type": "emoji", "emoji": "❤"}}), 400, "Bad Request: REACTIONS_TOO_MANY")
	if c := s.Complaints(); len(c) > 0 {
		t.Errorf("complaints: %q", c)
	}
	refused(with("reaction", []fields{{"type": "emoji"}}), 400, `Bad Request: can't parse ReactionTypeEmoji: Can't find field "emoji"`)
	if c := s.Complaints(); len(c) != 1 {
		t.Errorf("complaints: %q", c)
	}
	group.DisableReactions()
	refused(thumb(group, m.ID), 400, "Bad Request: REACTION_INVALID")
	bot.want(t, "setMessageReaction", fields{"chat_id": group.ID(), "message_id": m.ID}, nil)
	group.Delete(m)
	refused(thumb(group, m.ID), 400, "Bad Request: message to react not found")
	group.Kick()
	refused(thumb(group, m.ID), 403, "Forbidden: bot was kicked from the supergroup chat")
}

// Reactions count against the total limit, and not against that of the chat.
func TestReactionsAreLimited(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	s, bot, group, alice := scene(t, botsim.WithClock(func() time.Time { return now }), botsim.WithLimits(botsim.TelegramLimits()))
	m := group.Say(alice, "/match @bob 3:1")
	for range 29 {
		bot.want(t, "setMessageReaction", thumb(group, m.ID), nil)
	}
	bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": "Recorded"}, nil)
	bot.refused(t, "setMessageReaction", thumb(group, m.ID), 429, "Too Many Requests: retry after 1")
	bot.refused(t, "sendMessage", fields{"chat_id": s.Private(alice).ID(), "text": "Hello"}, 429, "Too Many Requests: retry after 1")
}
