package botsim_test

import (
	"fmt"
	"testing"

	"elobot/internal/botsim"
)

// chatOf is the result of getChat.
type chatOf struct {
	Pinned *struct {
		ID       int `json:"message_id"`
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

// TestNewestPinnedMessageIsShown checks that, of several pinned messages, getChat returns the one
// sent last, no matter who pinned it or when.
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
	group.Delete(hers)
	if got := bot.chat(t, group.ID()).Pinned; got == nil || got.ID != bots {
		t.Errorf("pinned after a deletion = %+v", got)
	}
}

// TestUnpinChatMessage checks that, with an id, unpinChatMessage unpins the message with that id.
// Without an id, it unpins the pinned message that was sent last.
func TestUnpinChatMessage(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	group.Promote(s.Bot())
	var sent []int
	for _, text := range []string{"One", "Two", "Three"} {
		id := bot.sends(t, fields{"chat_id": group.ID(), "text": text})
		bot.want(t, "pinChatMessage", fields{"chat_id": group.ID(), "message_id": id, "disable_notification": true}, nil)
		sent = append(sent, id)
	}
	bot.want(t, "unpinChatMessage", fields{"chat_id": group.ID()}, nil)
	bot.want(t, "unpinChatMessage", fields{"chat_id": group.ID(), "message_id": sent[0]}, nil)
	if all := group.AllPinned(); len(all) != 1 || all[0].ID != sent[1] {
		t.Errorf("pinned: %+v", all)
	}
}

// TestTheRightToPin checks that, in a group, the bot may pin and unpin only as an admin, and even
// an admin may lack that right. The bot gets an update when the right changes. getChat shows a
// pinned message without the message that it replies to.
func TestTheRightToPin(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	reply := fields{"message_id": group.Say(alice, "/ranking").ID}
	id := bot.sends(t, fields{"chat_id": group.ID(), "text": "One", "reply_parameters": reply})
	pin := fields{"chat_id": group.ID(), "message_id": id}
	refused := func() {
		t.Helper()
		for _, method := range []string{"pinChatMessage", "unpinChatMessage"} {
			bot.refused(t, method, pin, 400, "Bad Request: not enough rights to manage pinned messages in the chat")
		}
	}
	refused()
	group.Promote(s.Bot())
	group.AllowPins(false)
	refused()
	group.AllowPins(true)
	bot.want(t, "pinChatMessage", pin, nil)
	if got := bot.chat(t, group.ID()).Pinned; got == nil || got.ID != id || got.Text != "One" || got.ReplyTo != nil {
		t.Errorf("pinned = %+v", got)
	}
	var got []string
	for _, u := range bot.updates(t, fields{}) {
		if u.Mine == nil {
			continue
		}
		before, _ := u.Mine["old_chat_member"].(map[string]any)
		after, _ := u.Mine["new_chat_member"].(map[string]any)
		got = append(got, fmt.Sprint(before["status"], before["can_pin_messages"], " ",
			after["status"], after["can_pin_messages"]))
	}
	equal(t, "changes", got, []string{
		"member<nil> administratortrue", "administratortrue administratorfalse", "administratorfalse administratortrue",
	})
}

// TestPinnedRichMessage checks that a rich message has blocks instead of a text and entities, and
// the blocks contain its links.
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
