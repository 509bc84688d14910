package botsim_test

import (
	"testing"
	"time"

	"elobot/internal/botsim"
)

// statusIn returns the change of status in a membership update, such as left→member.
func statusIn(update map[string]any) string {
	status := func(of string) string { return update[of].(map[string]any)["status"].(string) }
	return status("old_chat_member") + "→" + status("new_chat_member")
}

// TestUsernamesPass checks that a username passes from one person to another, and back.
func TestUsernamesPass(t *testing.T) {
	t.Parallel()
	s, _, group, alice := scene(t)
	bob := s.AddUser(botsim.User{ID: s.User("bob").ID, FirstName: "Bob", Username: "Alice"})
	if got := s.User("alice"); got.ID != bob.ID {
		t.Errorf("the username belongs to %+v", got)
	}
	if former := group.Say(alice, "x").From; former.Username != "" || former.FirstName != "Alice" {
		t.Errorf("former holder of the username = %+v", former)
	}
	s.AddUser(alice)
	if m := group.Say(alice, "x"); m.From != alice || s.User("alice") != alice {
		t.Errorf("after it came back: %+v", m.From)
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
			if from["migrate_from_chat_id"] != float64(old.ID()) || from["message_id"] != float64(1) ||
				next.Kind() != "supergroup" {
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
