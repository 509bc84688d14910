package botsim_test

import (
	"testing"
	"time"

	"elobot/internal/botsim"
)

// kinds returns the kind of each update, in order.
func kinds(updates []wireUpdate) []string {
	var all []string
	for _, u := range updates {
		switch {
		case u.Mine != nil:
			all = append(all, "my_chat_member "+statusIn(u.Mine))
		case u.Member != nil:
			all = append(all, "chat_member "+statusIn(u.Member))
		case u.Message["text"] != nil:
			all = append(all, u.Message["text"].(string))
		}
		for _, service := range []string{"new_chat_members", "left_chat_member", "new_chat_title"} {
			if u.Message[service] != nil {
				all = append(all, service)
			}
		}
	}
	return all
}

// statusIn returns the change of status in a membership update.
func statusIn(update map[string]any) string {
	status := func(of string) string { return update[of].(map[string]any)["status"].(string) }
	return status("old_chat_member") + "→" + status("new_chat_member")
}

func TestBotIsAddedToNewGroup(t *testing.T) {
	t.Parallel()
	s, bot, _, alice := scene(t)
	carol := s.AddUser(botsim.User{FirstName: "Carol", LanguageCode: "de"})
	group := s.Group("New", alice).WithoutBot()
	group.Say(alice, "nobody hears this")
	group.Rename(alice, "Newer")
	group.Topic(alice, "nor this")
	bot.refused(t, "sendMessage", fields{"chat_id": group.ID(), "text": "x"}, 403, "Forbidden: bot is not a member of the supergroup chat")
	group.AddBot(carol)
	got := bot.updates(t, fields{})
	equal(t, "updates", kinds(got), []string{"my_chat_member left→member", "new_chat_members"})
	from, members := got[0].Mine["from"].(map[string]any), got[1].Message["new_chat_members"].([]any)
	if from["language_code"] != "de" || got[1].Message["from"].(map[string]any)["id"] != float64(carol.ID) ||
		len(members) != 1 || members[0].(map[string]any)["id"] != float64(s.Bot().ID) {
		t.Errorf("updates = %+v", got)
	}
	if title := got[0].Mine["chat"].(map[string]any)["title"]; title != "Newer" {
		t.Errorf("title = %v", title)
	}
	bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": "x"}, nil)
}

func TestKickedBotGetsNoUpdates(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	m := group.Say(alice, "before")
	bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": "card"}, nil)
	seen := bot.updates(t, fields{})
	group.Promote(s.Bot())
	group.Kick()
	all := bot.updates(t, fields{"offset": seen[0].ID + 1, "allowed_updates": []string{"message", "edited_message", "chat_member", "callback_query"}})
	carol := s.User("carol")
	group.Say(alice, "after")
	group.Edit(m, "edited")
	group.Join(carol)
	group.Leave(carol)
	group.Rename(alice, "X")
	group.Pin(alice, m)
	group.Promote(alice)
	s.Press(alice, group.BotMessages()[0], "x")
	if got := bot.updates(t, fields{"offset": all[len(all)-1].ID + 1}); len(got) != 0 {
		t.Errorf("a kicked bot got %v", kinds(got))
	}
	private := s.Private(alice)
	private.Kick()
	private.Say(alice, "a blocked bot hears nothing either")
	if got := bot.updates(t, fields{}); len(got) != 0 {
		t.Errorf("a blocked bot got %v", kinds(got))
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	_, bot, group, alice := scene(t)
	group.Rename(alice, "Chess")
	group.Say(alice, "x")
	got := bot.updates(t, fields{})
	if got[0].Message["new_chat_title"] != "Chess" || got[0].Message["from"].(map[string]any)["id"] != float64(alice.ID) {
		t.Errorf("service message = %v", got[0].Message)
	}
	if title := got[1].Message["chat"].(map[string]any)["title"]; title != "Chess" || group.Title() != "Chess" {
		t.Errorf("title afterwards = %v", title)
	}
	if chat := bot.chat(t, group.ID()); chat.Title != "Chess" {
		t.Errorf("getChat = %+v", chat)
	}
}

func TestMembersJoinAndLeave(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	carol := s.User("carol")
	joinAndLeave := func() {
		group.Join(carol)
		group.Leave(carol)
	}
	service := []string{"new_chat_members", "left_chat_member"}
	joinAndLeave() // not allowed
	got := bot.updates(t, fields{})
	equal(t, "by default", kinds(got), service)
	if by := got[1].Message["from"].(map[string]any)["id"]; by != float64(carol.ID) {
		t.Errorf("removed by %v", by)
	}
	bot.updates(t, fields{"offset": got[1].ID + 1, "allowed_updates": []string{"message", "chat_member"}})
	joinAndLeave() // allowed, but not an admin
	got = bot.updates(t, fields{})
	equal(t, "to no admin", kinds(got), service)
	group.Promote(s.Bot())
	bot.updates(t, fields{"offset": got[1].ID + 1})
	joinAndLeave()
	got = bot.updates(t, fields{})
	equal(t, "to an admin who asked", kinds(got), []string{
		"chat_member left→member", "new_chat_members", "chat_member member→left", "left_chat_member",
	})
	if by := got[2].Member["from"].(map[string]any)["id"]; by != float64(carol.ID) {
		t.Errorf("removed by %v", by)
	}
}

func TestRenamedUsers(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	bob, private := s.User("bob"), s.Private(alice)
	old := group.Say(alice, "1")
	s.AddUser(botsim.User{ID: alice.ID, FirstName: "Alicia", Username: "alicia"})
	group.Reply(alice, old, "2") // with the old User value
	private.Say(alice, "3")
	s.Press(alice, old, "x")
	group.AddBot(alice)
	group.Leave(alice)
	for _, u := range bot.updates(t, fields{})[1:] {
		of := u.Message
		if u.Callback != nil {
			of = u.Callback
		} else if u.Mine != nil {
			of = u.Mine
		}
		people := []any{of["from"]}
		if reply, ok := of["reply_to_message"].(map[string]any); ok {
			people = append(people, reply["from"])
		}
		if left := of["left_chat_member"]; left != nil {
			people = append(people, left)
		}
		for _, who := range people {
			if p := who.(map[string]any); p["first_name"] != "Alicia" || p["username"] != "alicia" {
				t.Errorf("name %v in %v", p, of)
			}
		}
	}
	if private.Title() != "Alicia" {
		t.Errorf("title of the private chat = %q", private.Title())
	}

	s.AddUser(botsim.User{ID: bob.ID, FirstName: "Bob", Username: "Alicia"})
	if got := s.User("alicia"); got.ID != bob.ID {
		t.Errorf("the username belongs to %+v", got)
	}
	if formerHolder := group.Say(alice, "x").From; formerHolder.Username != "" || formerHolder.FirstName != "Alicia" {
		t.Errorf("former holder of the username = %+v", formerHolder)
	}
	s.AddUser(alice) // and back
	if m := group.Say(alice, "x"); m.From != alice || s.User("alice") != alice {
		t.Errorf("after renaming back: %+v", m.From)
	}
	made := botsim.User{ID: bob.ID, FirstName: "Somebody", Username: "else"}
	if m := group.Say(made, "x"); m.From != made {
		t.Errorf("user built for one message = %+v", m.From)
	}
}

func TestEditKeepsDate(t *testing.T) {
	t.Parallel()
	c := newClock()
	_, bot, group, alice := scene(t, botsim.WithClock(c.Now))
	sentAt := c.Now()
	m := group.Say(alice, "1")
	c.advance(time.Hour)
	group.Edit(m, "2")
	group.EditAt(m, "3", sentAt.Add(30*time.Second))
	got := bot.updates(t, fields{})
	for i, want := range []int64{sentAt.Unix() + 3600, sentAt.Unix() + 30} {
		if of := got[i+1].Edited; of["date"] != float64(sentAt.Unix()) || of["edit_date"] != float64(want) {
			t.Errorf("edit %d = %v, want date %d and edit_date %d", i+1, of, sentAt.Unix(), want)
		}
	}
}

func TestPressContainsReplyTarget(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	asked := group.Say(alice, "/match")
	id := bot.sends(t, fields{"chat_id": group.ID(), "text": "card", "reply_parameters": fields{"message_id": asked.ID}})
	card, _ := group.Message(id)
	s.Press(alice, card, "1")
	group.Delete(asked)
	s.Press(alice, card, "2")
	got := bot.updates(t, fields{})[1:]
	shown := func(u wireUpdate) any { return u.Callback["message"].(map[string]any)["reply_to_message"] }
	reply, ok := shown(got[0]).(map[string]any)
	if !ok || reply["text"] != "/match" || reply["from"].(map[string]any)["id"] != float64(alice.ID) {
		t.Errorf("first press contains %v", got[0].Callback)
	}
	if shown(got[1]) != nil {
		t.Errorf("the press contains a deleted message: %v", got[1].Callback)
	}
}
