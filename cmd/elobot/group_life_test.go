package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

func isGreeting(m botsim.Message) bool {
	// In these tests, the people who add the bot speak English or German. The bot also greets in
	// other languages.
	return strings.HasPrefix(m.Text, "Hello!") || strings.HasPrefix(m.Text, "Hallo!")
}

func greetings(group *botsim.Chat) int {
	n := 0
	for _, m := range group.BotMessages() {
		if isGreeting(m) {
			n++
		}
	}
	return n
}

// testAddedToAGroup checks that, each time the bot is added to a group, it sends one greeting that
// explains how to begin. The group gets the language of the person who added the bot.
func testAddedToAGroup(t *testing.T, b *botFixture) {
	hans := b.sim.AddUser(botsim.User{FirstName: "Hans", Username: "hans", LanguageCode: "de"})
	for _, group := range []*botsim.Chat{b.group("Chess"), b.sim.BasicGroup("Tennis", b.olga, b.alice, b.bob, hans)} {
		group.Kick()
		b.settle()
		for n := range 2 { // added, removed and added again
			b.later.Add(2) // dates have a resolution of a second
			group.AddBot(hans)
			group.Say(hans, "/start@elo_bot group") // sent by Telegram if the bot is added through its link
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

// testRemovedFromAGroup checks that the bot sends nothing to a group that it was removed from, and
// continues when it is back. When a person unblocks the bot, it sends nothing.
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
	equal(t, greetings(group), 1, "greetings")
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

// testAnAnonymousAdmin checks that commands of an anonymous admin have an admin's rights. A press
// by the same person has them only if Telegram lists the person as an admin. An anonymous admin is
// never a player.
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
