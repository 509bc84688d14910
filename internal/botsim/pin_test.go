package botsim_test

import (
	"fmt"
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
	Color    *int `json:"accent_color_id"`
	Pinned   *struct {
		ID       int `json:"message_id"`
		From     botsim.User
		Text     string
		Entities []botsim.Entity
		ReplyTo  map[string]any `json:"reply_to_message"`
		Rich     map[string]any `json:"rich_message"`
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
		got.IsForum || got.Color == nil || got.Pinned != nil {
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

// TestNewestPinnedMessageIsShown: of several pinned messages getChat returns the one sent last, no matter who pinned it or when.
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

func TestUnpinChatMessage(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	group.Promote(s.Bot())
	unpin := func(id int) fields { return fields{"chat_id": group.ID(), "message_id": id} }
	first, second := bot.sends(t, fields{"chat_id": group.ID(), "text": "One"}), bot.sends(t, fields{"chat_id": group.ID(), "text": "Two"})
	for _, id := range []int{first, second} {
		bot.want(t, "pinChatMessage", fields{"chat_id": group.ID(), "message_id": id, "disable_notification": true}, nil)
	}
	if all := group.AllPinned(); len(all) != 2 || all[0].ID != first || all[1].ID != second {
		t.Errorf("pinned: %+v", all)
	}
	bot.want(t, "unpinChatMessage", unpin(first), nil)
	bot.refused(t, "unpinChatMessage", unpin(first), 400, "Bad Request: message to unpin not found")
	bot.refused(t, "unpinChatMessage", unpin(99), 400, "Bad Request: message to unpin not found")
	if m, ok := group.Pinned(); !ok || m.ID != second {
		t.Errorf("pinned: %+v", m)
	}
	bot.want(t, "unpinChatMessage", fields{"chat_id": group.ID()}, nil)
	bot.refused(t, "unpinChatMessage", fields{"chat_id": group.ID()}, 400, "Bad Request: message to unpin not found")
	hers := group.Say(alice, "Rules")
	group.Pin(alice, hers)
	group.Unpin(hers)
	if got := bot.chat(t, group.ID()).Pinned; got != nil {
		t.Errorf("pinned: %+v", got)
	}
	group.Demote(s.Bot())
	bot.refused(t, "unpinChatMessage", unpin(second), 400, "Bad Request: not enough rights to manage pinned messages in the chat")
}

// TestTheRightToPin: an admin may lack it, and the bot is told when that changes.
func TestTheRightToPin(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	group.Promote(s.Bot())
	id := bot.sends(t, fields{"chat_id": group.ID(), "text": "One"})
	pin := fields{"chat_id": group.ID(), "message_id": id}
	group.AllowPins(false)
	for _, method := range []string{"pinChatMessage", "unpinChatMessage"} {
		bot.refused(t, method, pin, 400, "Bad Request: not enough rights to manage pinned messages in the chat")
	}
	group.AllowPins(true)
	bot.want(t, "pinChatMessage", pin, nil)
	var got []string
	for _, u := range bot.updates(t, fields{"allowed_updates": []string{"my_chat_member"}}) {
		before, _ := u.Mine["old_chat_member"].(map[string]any)
		after, _ := u.Mine["new_chat_member"].(map[string]any)
		got = append(got, fmt.Sprint(before["status"], before["can_pin_messages"], " ", after["status"], after["can_pin_messages"]))
	}
	equal(t, "changes", got, []string{
		"member<nil> administratortrue", "administratortrue administratorfalse", "administratorfalse administratortrue",
	})
}

// TestMessagesThatAreTooOld: they cannot be edited any more.
func TestMessagesThatAreTooOld(t *testing.T) {
	t.Parallel()
	_, bot, group, _ := scene(t)
	id := bot.sends(t, fields{"chat_id": group.ID(), "text": "One"})
	m, _ := group.Message(id)
	group.MakeTooOld(m)
	bot.refused(t, "editMessageText", fields{"chat_id": group.ID(), "message_id": id, "text": "Two"}, 400, "Bad Request: message can't be edited")
}

// TestPinnedRichMessage: a rich message has blocks instead of a text and entities, and its links are in them.
func TestPinnedRichMessage(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	group.Promote(s.Bot())
	var sent struct {
		ID int `json:"message_id"`
	}
	bot.want(t, "sendRichMessage", fields{"chat_id": group.ID(), "rich_message": fields{
		"html": `<table><caption>Ranking <a href="https://t.me/elo_bot?object=board">.</a></caption><tr><td>Alice</td></tr></table>`,
	}}, &sent)
	bot.want(t, "pinChatMessage", fields{"chat_id": group.ID(), "message_id": sent.ID}, nil)
	got := bot.chat(t, group.ID()).Pinned
	if got == nil || got.ID != sent.ID || got.Text != "" || len(got.Entities) != 0 {
		t.Fatalf("pinned: %+v", got)
	}
	const want = `map[blocks:[map[text:[Ranking  map[text:. type:url url:https://t.me/elo_bot?object=board] 
Alice] type:paragraph]]]`
	if blocks := fmt.Sprint(got.Rich); blocks != want {
		t.Errorf("the content is %s, want %s", blocks, want)
	}
}
