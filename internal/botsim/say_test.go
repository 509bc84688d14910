package botsim_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
)

func TestEntitiesOfUserTexts(t *testing.T) {
	t.Parallel()
	s := botsim.Start(t)
	alice := s.User("alice") // 1001
	bob := s.User("Bob 2")   // 1002, no username
	group := s.Group("G", alice, bob)
	type found map[string]string // text of the entity → type
	for text, want := range map[string]found{
		"/match @alice @bob 3:1":        {"/match": "bot_command", "@alice": "mention", "@bob": "mention"},
		"/Match@Elo_Bot 3-1":            {"/Match@Elo_Bot": "bot_command"},
		"😀👍🏽 /match 😀 @alice":           {"/match": "bot_command", "@alice": "mention"},
		"either/or 1/2 //x </b /a/":     {},
		"mail bob@home.org, not a@b":    {"bob@home.org": "email"},
		"x@alice @al @alice_1!":         {"@alice_1": "mention"},
		"#top #1 #1a a#b $USD $usd":     {"#top": "hashtag", "#1a": "hashtag", "$USD": "cashtag"},
		"see http://a.b/c?d=1, bob.com": {"http://a.b/c?d=1": "url", "bob.com": "url"},
		"3:1 v1.2 St. Pierre e.g. 3.1":  {},
		"жук@alice ж /match":            {"/match": "bot_command"},
		"(t.me/elo_bot)":                {"t.me/elo_bot": "url"},
	} {
		m := group.Say(alice, text)
		got := found{}
		for _, e := range m.Entities {
			got[m.EntityText(e)] = e.Type
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestOffsetsCountUTF16Units(t *testing.T) {
	t.Parallel()
	s := botsim.Start(t)
	bob := s.AddUser(botsim.User{FirstName: "Bob 2"})
	alice := s.User("alice")
	m := s.Group("G").Say(alice, "😀 /match [Bob 2](tg://user?id=1001) é @alice [X](tg://user?id=5)")
	want := []botsim.Entity{
		{Type: "bot_command", Offset: 3, Length: 6},
		{Type: "text_mention", Offset: 10, Length: 5, User: &bob},
		{Type: "mention", Offset: 18, Length: 6},
		{Type: "url", Offset: 29, Length: 14}, // no user has that id, so this is an ordinary link
	}
	if diff := cmp.Diff(want, m.Entities); diff != "" {
		t.Error(diff)
	}
	if m.Text != "😀 /match Bob 2 é @alice [X](tg://user?id=5)" {
		t.Errorf("text = %q", m.Text)
	}
}

func TestAnonymousAdmins(t *testing.T) {
	t.Parallel()
	_, bot, group, _ := scene(t)
	group.SayAnonymously("/help")
	m := bot.updates(t, fields{})[0].Message
	if m["from"].(map[string]any)["id"] != float64(1087968824) ||
		m["sender_chat"].(map[string]any)["id"] != float64(group.ID()) {
		t.Errorf("message = %v", m)
	}
}

// TestMessageIDsOfChats checks that each supergroup numbers its own messages from 1 on.
func TestMessageIDsOfChats(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	other := s.Group("Other", alice)
	if a, b := group.Say(alice, "x"), other.Say(alice, "x"); a.ID != 1 || b.ID != 1 {
		t.Errorf("first ids in two supergroups = %d, %d", a.ID, b.ID)
	}
	bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": "y"}, nil)
	if m := group.Say(alice, "z"); m.ID != 3 {
		t.Errorf("id after two messages = %d", m.ID)
	}
}

func TestButtonPresses(t *testing.T) {
	t.Parallel()
	c := newClock()
	s, bot, group, alice := scene(t, botsim.WithClock(c.Now))
	bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": "card"}, nil)
	card := group.BotMessages()[0]
	id := s.Press(alice, card, "forged")
	query := bot.updates(t, fields{})[0].Callback
	if query["id"] != id || query["data"] != "forged" || query["from"].(map[string]any)["id"] != float64(alice.ID) ||
		query["message"].(map[string]any)["text"] != "card" || query["chat_instance"] == nil {
		t.Errorf("callback query = %v", query)
	}
	const tooOld = "Bad Request: query is too old and response timeout expired or query ID is invalid"
	bot.want(t, "answerCallbackQuery", fields{"callback_query_id": id, "text": "done", "show_alert": true}, nil)
	got, err := s.WaitAnswer(testContext(t), id)
	if err != nil || got.Text != "done" || !got.ShowAlert {
		t.Errorf("answer = %+v, %v", got, err)
	}
	bot.refused(t, "answerCallbackQuery", fields{"callback_query_id": id}, 400, tooOld)
	bot.refused(t, "answerCallbackQuery", fields{"callback_query_id": "1"}, 400, tooOld)
	late := s.Press(alice, card, "x")
	c.advance(151 * time.Second)
	bot.refused(t, "answerCallbackQuery", fields{"callback_query_id": late}, 400, tooOld)
	group.Delete(card)
	s.Press(alice, card, "x")
	all := bot.updates(t, fields{})
	if m := all[len(all)-1].Callback["message"].(map[string]any); m["date"] != float64(0) {
		t.Errorf("deleted message = %v", m)
	}
}
