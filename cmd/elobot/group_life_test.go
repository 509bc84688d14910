package main_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

func isGreeting(m botsim.Message) bool {
	// The adders in these tests speak English or German. The bot also greets in other languages.
	return strings.HasPrefix(m.Text, "Hello!") || strings.HasPrefix(m.Text, "Hallo!")
}

// greetings counts the bot's greetings in a chat.
func greetings(group *botsim.Chat) int {
	n := 0
	for _, m := range group.BotMessages() {
		if isGreeting(m) {
			n++
		}
	}
	return n
}

// testAddedToAGroup: each time the bot is added to a group, it sends one greeting that explains how
// to begin, in the language of the person who added it.
func testAddedToAGroup(t *testing.T, b *botFixture) {
	hans := b.sim.AddUser(botsim.User{FirstName: "Hans", Username: "hans", LanguageCode: "de"})
	for _, group := range []*botsim.Chat{b.group("Chess"), b.sim.BasicGroup("Tennis", b.olga, b.alice, b.bob, hans)} {
		group.Kick()
		b.settle()
		for n := range 2 { // added, removed and added again
			b.later.Add(2) // dates have a resolution of a second
			group.AddBot(hans)
			group.Say(hans, "/start@elo_bot group") // sent by Telegram if the bot is added by its link
			b.settle()
			if got := greetings(group); got != n+1 {
				t.Fatalf("added %d times, but sent %d greetings", n+1, got)
			}
			greeting := group.BotMessages()[n]
			says(t, visible(greeting), "/match @bobby 3:1", "/ranking", "/help")
			if lines := strings.Count(greeting.Text, "–"); lines != 3 {
				t.Errorf("the greeting has %d lines on how to begin, want 3:\n%s", lines, greeting.Text)
			}
			if n == 0 {
				b.later.Add(2)
				group.Kick()
				b.settle()
			}
		}
		says(t, visible(b.ask(group, b.alice, "/match @bob 3:1")), "Sieg für Alice gegen bob: 3:1", "Spiel #1")
		language := collect(t, b.pool, pgx.RowTo[string],
			`SELECT language FROM chats WHERE telegram_chat_id = $1`, group.ID())
		if !slices.Equal(language, []string{"de"}) {
			t.Errorf("the languages of the group are %q", language)
		}
	}
	b.settle()
}

// testUpgradedGroupIsGreetedOnce: when a group becomes a supergroup, Telegram also reports that the
// bot was added to it. The supergroup gets no second greeting, unless the bot handles that update
// before the one about the migration.
func testUpgradedGroupIsGreetedOnce(t *testing.T, b *botFixture) {
	hans := b.sim.AddUser(botsim.User{FirstName: "Hans", Username: "hans", LanguageCode: "de"})
	before := count(t, b.pool, `SELECT count(*) FROM chats`)
	orders := []struct {
		what    string
		migrate func(*botsim.Chat) *botsim.Chat
		most    int // maximum number of greetings in the supergroup
	}{
		// The updates of the two groups are handled concurrently.
		{"old group first", (*botsim.Chat).Migrate, 1},
		{"new group first", (*botsim.Chat).MigrateNewFirst, 0},
		{"join first", (*botsim.Chat).MigrateJoinFirst, 1},
	}
	var groups []*botsim.Chat
	for _, order := range orders {
		group := b.sim.BasicGroup(order.what, b.olga, b.alice, b.bob).WithoutBot()
		group.AddBot(hans)
		groups = append(groups, group)
	}
	b.settle()
	b.later.Add(120) // past the per-minute limits
	for i, order := range orders {
		supergroup := order.migrate(groups[i])
		b.settle()
		// A notice that is being sent during the migration may be sent again.
		duplicates := count(t, b.pool, `
			SELECT coalesce(sum(possible_duplicates), 0) FROM outbox o JOIN chats c ON c.id = o.chat_id
			WHERE c.telegram_chat_id = $1 AND o.kind = 'greeting'`, supergroup.ID())
		if n := greetings(groups[i]); n < 1 || n > 1+duplicates {
			t.Errorf("%s: %d greetings in the group", order.what, n)
		}
		n := greetings(supergroup)
		if n > order.most+duplicates {
			t.Errorf("%s: %d greetings in the supergroup, want at most %d and %d possible duplicates",
				order.what, n, order.most, duplicates)
		}
		for _, who := range []botsim.User{b.alice, b.bob} {
			says(t, visible(b.ask(supergroup, who, "/start")), "Hallo!")
		}
		says(t, visible(b.ask(supergroup, b.alice, "/match @bob 3:1")), "Spiel #1")
		language := collect(t, b.pool, pgx.RowTo[string],
			`SELECT language FROM chats WHERE telegram_chat_id = $1`, supergroup.ID())
		if !slices.Equal(language, []string{"de"}) {
			t.Errorf("%s: the languages of the group are %q", order.what, language)
		}
		if got := greetings(supergroup); got != n+2 {
			t.Errorf("%s: %d greetings after two /start, and %d before", order.what, got, n)
		}
	}
	if n := count(t, b.pool, `SELECT count(*) FROM chats`); n != before+len(orders) {
		t.Errorf("there are %d more chats, want %d", n-before, len(orders))
	}
	b.settle()
}

// testRemovedFromAGroup: the bot sends nothing to a group that it was removed from, and continues
// when it is back.
func testRemovedFromAGroup(t *testing.T, b *botFixture) {
	jana, karl := b.sim.User("jana"), b.sim.User("karl") // members of no other group
	group := b.sim.Group("Chess", b.olga, jana, karl)
	b.ask(group, jana, "/match @karl 3:1")
	group.Kick()
	b.settle()
	attempts := len(b.sim.CallsOf("sendMessage"))
	if n := count(t, b.pool, `SELECT count(*) FROM chats
		WHERE telegram_chat_id = $1 AND NOT is_active AND parked_at IS NOT NULL`, group.ID()); n != 1 {
		t.Error("the chat is not marked as inactive and parked")
	}
	private := b.sim.Private(jana)
	private.Say(jana, "/me")
	says(t, visible(awaitAnswers(t, private, 1)[0]), "not ranked in any group that I am in")
	if n := len(b.sim.CallsOf("sendMessage")); n != attempts+1 {
		t.Errorf("%d messages were sent, want the one in the private chat", n-attempts)
	}
	group.AddBot(karl)
	says(t, visible(b.ask(group, karl, "/match @jana 2:2")), "Match #2")
	if n := greetings(group); n != 1 {
		t.Errorf("%d greetings", n)
	}
	private.Say(jana, "/me")
	says(t, visible(awaitAnswers(t, private, 2)[1]), "Chess too few matches · 1515 · 1–1–0")

	private.Kick()
	b.settle()
	private.AddBot(jana)
	b.settle()
	if n := len(private.BotMessages()); n != 2 {
		t.Errorf("unblocking the bot causes %d messages, want none", n-2)
	}
	b.settle()
}

// testWhoLeavesIsHidden: people who left the group are hidden from the ranking until they play or
// join again, whether or not the bot is an admin.
func testWhoLeavesIsHidden(t *testing.T, b *botFixture) {
	for _, admin := range []bool{false, true} {
		group := b.group("Chess")
		if admin {
			group.Promote(b.sim.Bot())
		}
		b.seen(group, b.bob, b.carol)
		b.ask(group, b.alice, "/match @bob 3:1")
		b.ask(group, b.alice, "/match @carol 3:1")
		ranked := func(want ...string) {
			t.Helper()
			page := visible(b.ask(group, b.olga, "/ranking"))
			for _, name := range []string{"Alice", "Bob", "Carol"} {
				if shown := strings.Contains(page, name); shown != slices.Contains(want, name) {
					t.Errorf("%s is shown: %t, in\n%s", name, shown, page)
				}
			}
		}
		ranked("Alice", "Bob", "Carol")
		// A departure in the same second as a match counts as later than the match.
		group.Leave(b.alice)
		ranked("Bob", "Carol")
		group.Leave(b.bob)
		ranked("Carol")
		says(t, visible(b.ask(group, b.alice, "/me")), "You left this group", "1531")
		says(t, visible(b.ask(group, b.alice, "/join")), "Alice, welcome back! Your rating is still 1531")
		says(t, visible(b.ask(group, b.alice, "/join")), "you’re already in, with a rating of 1531")
		ranked("Alice", "Carol")
		says(t, visible(b.ask(group, b.carol, "/elo @alice")),
			"The rating of Alice so far is 1531. 2 of 3 matches played for a place in the ranking.")
		says(t, visible(b.ask(group, b.carol, "/profile bob")), "Bob left this group", "Their rating is still 1484")
		says(t, visible(b.ask(group, b.carol, "/top abc")), "Nobody here is called abc.")
		says(t, visible(b.ask(group, b.carol, "/top 1")), "? Alice 1531", "▸ ? Carol 1485", "1 of 2 players")
		says(t, visible(b.ask(group, b.carol, "/lb 9")), "? Alice 1531", "▸ ? Carol 1485", "won–lost")
		b.ask(group, b.carol, "/match @bob 3:1")
		ranked("Alice", "Bob", "Carol")
		says(t, visible(b.ask(group, b.alice, "/me")),
			"Alice, your rating so far is 1531. 2 of 3 matches played for a place in the ranking.", "2 wins in a row")
	}
	b.settle()
}

// testIgnoredSenders: the bot ignores commands from bots, in channels, and in forwarded messages.
func testIgnoredSenders(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	channel := &botsim.SenderChat{ID: -1001234567890, Type: "channel", Title: "News"}
	robot := b.sim.AddUser(botsim.User{FirstName: "Helper", Username: "helper_bot", IsBot: true})
	for _, p := range []botsim.Post{
		{From: robot},
		{From: botsim.User{ID: 777000, FirstName: "Telegram"}, SenderChat: channel, Extra: map[string]any{"is_automatic_forward": true}},
		{From: b.alice, Extra: map[string]any{"forward_origin": json.RawMessage(
			`{"type":"user","date":1,"sender_user":{"id":5,"is_bot":false,"first_name":"E"}}`)}},
		{From: b.alice, Extra: map[string]any{"forward_origin": json.RawMessage(`{"type":"hidden_user","date":1,"sender_user_name":"E"}`)}},
	} {
		p.Text = "/match @alice @bob 3:1"
		group.Post(p)
	}
	post, err := json.Marshal(map[string]any{"channel_post": map[string]any{
		"message_id": 5, "date": 1, "chat": map[string]any{"id": channel.ID, "type": "channel", "title": "News"},
		"text": "/ranking", "entities": []botsim.Entity{{Type: "bot_command", Length: 8}},
	}})
	must(t, err)
	b.sim.Update(post)
	b.settle()
	if n := len(group.BotMessages()); n != 0 {
		t.Errorf("%d answers", n)
	}
	says(t, visible(b.ask(group, b.alice, "/match @bob 3:1")), "Match #1")
	b.settle()
}

// testAnAnonymousAdmin: an anonymous admin has an admin's rights and is never a player.
func testAnAnonymousAdmin(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	b.seen(group, b.bob)
	people := count(t, b.pool, `SELECT count(*) FROM players`)
	anonymously := func(text string, want ...string) {
		t.Helper()
		says(t, visible(b.answer(group.SayAnonymously(text))), want...)
	}
	anonymously("/join", "You’re writing as the group")
	anonymously("/match @bob 3:1", "name both players")
	anonymously("/me", "You’re writing as the group")
	b.ask(group, b.alice, "/match @bob 3:1")
	anonymously("/match @alice @bob 3:0", "Alice beat Bob 3:0", "reported by an admin")
	anonymously("/fix 1 3:2", "Match #1 corrected")
	says(t, b.decide(b.olga, b.answer(group.SayAnonymously("/undo 1")), "Undo"), "Match #1 undone", "by an admin")
	if n := count(t, b.pool, `SELECT count(*) FROM players`); n != people {
		t.Errorf("%d players have been added", n-people)
	}
	anonymously("/ranking", "? Bob 1484")
	// Carol is the anonymous admin. Telegram does not list her among the admins.
	question := b.answer(group.SayAnonymously("/undo 2"))
	says(t, b.press(b.carol, question, dataOf(t, question, "Undo")), "Only the group’s admins can answer", "send /undo 2")
	anonymously("/undo 2", "Match #2 undone", "by an admin")
	b.settle()
}

// testAnswersInTopics: the bot answers in the topic of the command, and does not treat General as a
// topic.
func testAnswersInTopics(t *testing.T, b *botFixture) {
	forum := b.sim.Forum("Club", b.olga, b.alice, b.bob, b.carol)
	forum.Say(b.olga, "welcome") // so that no topic gets the id 1, which stands for General
	chess, tennis := forum.Topic(b.olga, "Chess").ID, forum.Topic(b.olga, "Tennis").ID
	for _, text := range []string{
		"/match @bob 3:1", "/ranking", "/me", "/join", "/help", "/match 3", "/undo 99", "/start",
	} {
		for _, topic := range []int{chess, 0, tennis} {
			answer := b.answer(forum.Post(botsim.Post{From: b.alice, Text: text, ThreadID: topic}))
			if answer.ThreadID != topic {
				t.Errorf("%s in topic %d is answered in topic %d", text, topic, answer.ThreadID)
			}
		}
	}
	b.settle()
	for _, c := range b.sim.CallsOf("sendMessage") {
		if c.Params["message_thread_id"] == "0" || c.Params["message_thread_id"] == "1" {
			t.Errorf("a request names General as its topic: %v", c.Params)
		}
	}
	b.settle()
}

// testAUsernamePasses: ratings stay with their owner when another person takes over the username.
func testAUsernamePasses(t *testing.T, b *botFixture) {
	dina, emil := b.sim.User("dina"), b.sim.User("emil")
	group := b.sim.Group("Chess", b.olga, b.alice, dina, emil)
	b.join(group, b.alice, dina, emil)
	truth := newOracle()
	b.ask(group, b.alice, "/match @dina 3:1")
	truth.play("Alice", "Dina", 3, 1, "")
	dina.Username = "dinah"
	b.sim.AddUser(dina)
	emil.Username = "dina"
	b.sim.AddUser(emil)
	// The person who took over the username writes before the one who gave it up.
	b.ask(group, emil, "/ranking")
	b.ask(group, b.alice, "/match @dina 3:0")
	truth.play("Alice", "Emil", 3, 0, "")
	b.ask(group, dina, "/ranking")
	b.ask(group, b.alice, "/match @dinah 2:2")
	truth.play("Alice", "Dina", 2, 2, "")
	checkRanking(t, group, b.alice, truth)
	b.settle()
}
