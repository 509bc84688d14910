package botsim_test

import (
	"testing"

	"elobot/internal/botsim"
)

// chatOf is the result of getChat.
type chatOf struct {
	ID       int64
	Type     string
	Title    string
	Username string
	IsForum  bool `json:"is_forum"`
	Colour   *int `json:"accent_color_id"`
	Pinned   *struct {
		ID       int `json:"message_id"`
		From     botsim.User
		Text     string
		Entities []botsim.Entity
		ReplyTo  map[string]any `json:"reply_to_message"`
	} `json:"pinned_message"`
}

func (c *client) chat(t *testing.T, id int64) chatOf {
	t.Helper()
	var got chatOf
	c.want(t, "getChat", fields{"chat_id": id}, &got)
	return got
}

func (c *client) sends(t *testing.T, params fields) int {
	t.Helper()
	var sent struct {
		ID int `json:"message_id"`
	}
	c.want(t, "sendMessage", params, &sent)
	return sent.ID
}

func TestGetChat(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	forum := s.Forum("Club", alice)
	private := s.Private(alice)
	if got := bot.chat(t, group.ID()); got.ID != group.ID() || got.Type != "supergroup" || got.Title != "Table tennis" ||
		got.IsForum || got.Colour == nil || got.Pinned != nil {
		t.Errorf("group = %+v", got)
	}
	if got := bot.chat(t, forum.ID()); !got.IsForum || got.Title != "Club" {
		t.Errorf("forum = %+v", got)
	}
	if got := bot.chat(t, private.ID()); got.Type != "private" || got.Username != "alice" {
		t.Errorf("private chat = %+v", got)
	}
	bot.refused(t, "getChat", fields{}, 400, "Bad Request: chat_id is empty")
	bot.refused(t, "getChat", fields{"chat_id": 5}, 400, "Bad Request: chat not found")
	group.Kick()
	bot.refused(t, "getChat", fields{"chat_id": group.ID()}, 403, "Forbidden: bot was kicked from the supergroup chat")
	old := s.BasicGroup("Basic", alice)
	next := old.Migrate()
	r := bot.refused(t, "getChat", fields{"chat_id": old.ID()}, 400, "Bad Request: group chat was upgraded to a supergroup chat")
	if r.Parameters["migrate_to_chat_id"] != float64(next.ID()) {
		t.Errorf("parameters = %v", r.Parameters)
	}
}

func TestPinChatMessage(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	asked := group.Say(alice, "/ranking")
	first := bot.sends(t, fields{
		"chat_id": group.ID(), "text": `<b>Ranking</b><a href="https://t.me/elo_bot?object=board">.</a>`, "parse_mode": "HTML",
		"reply_parameters": fields{"message_id": asked.ID},
	})
	pin := func(id int) fields {
		return fields{"chat_id": group.ID(), "message_id": id, "disable_notification": true}
	}
	bot.refused(t, "pinChatMessage", pin(first), 400, "Bad Request: not enough rights to manage pinned messages in the chat")
	if m, ok := group.Pinned(); ok {
		t.Errorf("pinned without permission: %+v", m)
	}
	group.Promote(s.Bot())
	bot.want(t, "pinChatMessage", pin(first), nil)
	got := bot.chat(t, group.ID()).Pinned
	if got == nil || got.ID != first || got.From.ID != s.Bot().ID || got.Text != "Ranking." || got.ReplyTo != nil {
		t.Fatalf("pinned = %+v", got)
	}
	if len(got.Entities) != 2 || got.Entities[1].Type != "text_link" || got.Entities[1].URL != "https://t.me/elo_bot?object=board" {
		t.Errorf("entities = %+v", got.Entities)
	}
	all := group.Messages()
	if note := all[len(all)-1]; note.Service != "pinned_message" || !note.Silent || note.From.ID != s.Bot().ID {
		t.Errorf("service message = %+v", note)
	}
	bot.want(t, "pinChatMessage", pin(first), nil) // changes nothing
	if n := len(group.Messages()); n != len(all) {
		t.Errorf("%d messages after pinning again, want %d", n, len(all))
	}
	if n := len(group.BotMessages()); n != 1 {
		t.Errorf("%d messages of the bot", n)
	}
	bot.refused(t, "pinChatMessage", pin(99), 400, "Bad Request: message to pin not found")
	bot.refused(t, "pinChatMessage", pin(all[len(all)-1].ID), 400, "Bad Request: message can't be pinned")
	if c := s.Complaints(); len(c) > 0 {
		t.Errorf("complaints: %q", c)
	}
}

// TestNewestPinnedMessageIsShown: of several pinned messages getChat returns the one sent last, no matter who pinned it
// or when.
func TestNewestPinnedMessageIsShown(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	group.Promote(s.Bot())
	bots := bot.sends(t, fields{"chat_id": group.ID(), "text": "Ranking"})
	hers := group.Say(alice, "Rules")
	group.Pin(alice, hers)
	bot.want(t, "pinChatMessage", fields{"chat_id": group.ID(), "message_id": bots}, nil)
	if got := bot.chat(t, group.ID()).Pinned; got == nil || got.ID != hers.ID {
		t.Errorf("pinned = %+v", got)
	}
	if m, ok := group.Pinned(); !ok || m.ID != hers.ID {
		t.Errorf("Pinned() = %+v", m)
	}
	group.Delete(hers)
	if got := bot.chat(t, group.ID()).Pinned; got == nil || got.ID != bots {
		t.Errorf("pinned after a deletion = %+v", got)
	}
	bot.refused(t, "pinChatMessage", fields{"chat_id": group.ID(), "message_id": hers.ID}, 400, "Bad Request: message to pin not found")
	var notes []any
	for _, u := range bot.updates(t, fields{}) {
		if pinned, ok := u.Message["pinned_message"].(map[string]any); ok {
			notes = append(notes, pinned["message_id"])
		}
	}
	equal(t, "messages that the bot is told were pinned", notes, []any{float64(hers.ID)})
}

func TestPinInPrivateChat(t *testing.T) {
	t.Parallel()
	s, bot, _, alice := scene(t)
	private := s.Private(alice)
	id := bot.sends(t, fields{"chat_id": private.ID(), "text": "Hello"})
	bot.want(t, "pinChatMessage", fields{"chat_id": private.ID(), "message_id": id}, nil)
	if m, ok := private.Pinned(); !ok || m.ID != id {
		t.Errorf("Pinned() = %+v", m)
	}
	private.Kick()
	bot.refused(t, "pinChatMessage", fields{"chat_id": private.ID(), "message_id": id}, 403, "Forbidden: bot was blocked by the user")
}
