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

func TestKickedAndAddedAgain(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	basic := s.BasicGroup("Basic", alice)
	group.Kick()
	basic.Kick()
	send := fields{"chat_id": group.ID(), "text": "x"}
	bot.refused(t, "sendMessage", send, 403, "Forbidden: bot was kicked from the supergroup chat")
	bot.refused(t, "sendMessage", fields{"chat_id": basic.ID(), "text": "x"}, 403,
		"Forbidden: bot was kicked from the group chat")
	bot.refused(t, "getChatAdministrators", fields{"chat_id": group.ID()}, 403,
		"Forbidden: bot was kicked from the supergroup chat")
	group.Say(alice, "the bot cannot read this")
	group.AddBot(alice)
	bot.want(t, "sendMessage", send, nil)

	got := bot.updates(t, fields{})
	if len(got) != 6 {
		t.Fatalf("%d updates, want 6: %+v", len(got), got)
	}
	status := func(u wireUpdate) any { return u.Mine["new_chat_member"].(map[string]any)["status"] }
	if status(got[0]) != "kicked" || got[1].Message["left_chat_member"] == nil {
		t.Errorf("kicked: %+v, %+v", got[0], got[1])
	}
	if status(got[4]) != "member" || got[5].Message["new_chat_members"] == nil {
		t.Errorf("added: %+v, %+v", got[4], got[5])
	}
	if old := got[4].Mine["old_chat_member"].(map[string]any)["status"]; old != "kicked" {
		t.Errorf("status before = %v", old)
	}
}

func TestBlockedByTheUser(t *testing.T) {
	t.Parallel()
	s := botsim.Start(t)
	bot, alice := newClient(t, s), s.User("alice")
	chat := s.Private(alice)
	chat.Kick()
	bot.refused(t, "sendMessage", fields{"chat_id": alice.ID, "text": "x"}, 403, "Forbidden: bot was blocked by the user")
	chat.AddBot(alice)
	bot.want(t, "sendMessage", fields{"chat_id": alice.ID, "text": "x"}, nil)
	got := bot.updates(t, fields{})
	if len(got) != 2 || got[0].Mine == nil || got[1].Mine == nil {
		t.Errorf("updates = %+v, want two my_chat_member", got)
	}
}

func TestNotStartedUntilTheUserWrites(t *testing.T) {
	t.Parallel()
	s := botsim.Start(t)
	bot, alice := newClient(t, s), s.User("alice")
	chat := s.Private(alice).NotStarted()
	send := fields{"chat_id": chat.ID(), "text": "x"}
	bot.refused(t, "sendMessage", send, 403, "Forbidden: bot can't initiate conversation with a user")
	chat.Say(alice, "/start")
	bot.want(t, "sendMessage", send, nil)
}

func TestMigration(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		migrate             func(*botsim.Chat) *botsim.Chat
		old, join, newGroup int // position of each update
	}{
		"old first":  {(*botsim.Chat).Migrate, 0, 1, 2},
		"new first":  {(*botsim.Chat).MigrateNewFirst, 2, 1, 0},
		"join first": {(*botsim.Chat).MigrateJoinFirst, 1, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := botsim.Start(t)
			bot, alice := newClient(t, s), s.User("alice")
			old := s.BasicGroup("Club", alice)
			old.Say(alice, "before")
			old.Promote(s.Bot())
			next := tc.migrate(old)
			r := bot.refused(t, "sendMessage", fields{"chat_id": old.ID(), "text": "x"}, 400,
				"Bad Request: group chat was upgraded to a supergroup chat")
			if r.Parameters["migrate_to_chat_id"] != float64(next.ID()) {
				t.Errorf("parameters = %v", r.Parameters)
			}
			bot.want(t, "sendMessage", fields{"chat_id": next.ID(), "text": "x"}, nil)
			got := bot.updates(t, fields{})[2:]
			if len(got) != 3 {
				t.Fatalf("updates = %+v", got)
			}
			to, join, from := got[tc.old].Message, got[tc.join].Mine, got[tc.newGroup].Message
			if to["migrate_to_chat_id"] != float64(next.ID()) || to["chat"].(map[string]any)["id"] != float64(old.ID()) {
				t.Errorf("old chat's message = %v", to)
			}
			if from["migrate_from_chat_id"] != float64(old.ID()) || from["message_id"] != float64(1) || next.Kind() != "supergroup" {
				t.Errorf("new chat's message = %v", from)
			}
			if join["chat"].(map[string]any)["id"] != float64(next.ID()) || statusIn(join) != "left→administrator" ||
				join["from"].(map[string]any)["id"] != float64(alice.ID) {
				t.Errorf("the bot's membership of the new chat = %v", join)
			}
			var admins []struct{ Status string }
			bot.want(t, "getChatAdministrators", fields{"chat_id": next.ID()}, &admins)
			if len(admins) != 2 || admins[0].Status != "creator" {
				t.Errorf("admins = %+v", admins)
			}
		})
	}
}

// TestMigrationWithoutTheBot: the bot gets no updates from a group that it is not in.
func TestMigrationWithoutTheBot(t *testing.T) {
	t.Parallel()
	s := botsim.Start(t)
	s.BasicGroup("Club", s.User("alice")).WithoutBot().Migrate()
	if got := newClient(t, s).updates(t, fields{}); len(got) != 0 {
		t.Errorf("updates = %+v", got)
	}
}

func TestAdministrators(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	bob := s.User("bob")
	group.Promote(bob)
	var admins []struct {
		Status string
		User   botsim.User
		Rights *bool `json:"can_manage_chat"`
	}
	bot.want(t, "getChatAdministrators", fields{"chat_id": group.ID()}, &admins)
	if len(admins) != 2 || admins[0].Status != "creator" || admins[0].User.ID != alice.ID ||
		admins[1].Status != "administrator" || admins[1].User.ID != bob.ID || admins[1].Rights == nil {
		t.Errorf("admins = %+v", admins)
	}
	group.Demote(bob)
	bot.want(t, "getChatAdministrators", fields{"chat_id": group.ID()}, &admins)
	if len(admins) != 1 {
		t.Errorf("admins after Demote = %+v", admins)
	}
	s.Private(alice)
	bot.refused(t, "getChatAdministrators", fields{"chat_id": alice.ID}, 400,
		"Bad Request: there are no administrators in the private chat")
	bot.refused(t, "getChatAdministrators", fields{"chat_id": 5}, 400, "Bad Request: chat not found")
}

func TestCommandLists(t *testing.T) {
	t.Parallel()
	_, bot, _, _ := scene(t)
	type command struct{ Command, Description string }
	list := func(params fields) []command {
		t.Helper()
		var got []command
		bot.want(t, "getMyCommands", params, &got)
		return got
	}
	if r := bot.must(t, "getMyCommands", nil); string(r.Result) != "[]" {
		t.Errorf("initial commands = %s", r.Raw)
	}
	set := func(more fields, names ...string) fields {
		var commands []fields
		for _, name := range names {
			commands = append(commands, fields{"command": name, "description": "about " + name})
		}
		more["commands"] = commands
		return more
	}
	groups := fields{"type": "all_group_chats"}
	bot.want(t, "setMyCommands", set(fields{}, "match"), nil)
	bot.want(t, "setMyCommands", set(fields{"language_code": "de"}, "spiel"), nil)
	bot.want(t, "setMyCommands", set(fields{"scope": groups}, "match", "ranking"), nil)
	equal(t, "default", list(fields{"scope": fields{"type": "default"}}), []command{{"match", "about match"}})
	equal(t, "German", list(fields{"language_code": "de"}), []command{{"spiel", "about spiel"}})
	equal(t, "groups", list(fields{"scope": groups}), []command{{"match", "about match"}, {"ranking", "about ranking"}})
	bot.want(t, "setMyCommands", fields{"scope": groups, "commands": []fields{}}, nil)
	equal(t, "emptied", list(fields{"scope": groups}), nil)
}
