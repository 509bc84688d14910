//go:build unix

package main_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

// TestQuestionAnsweredOnTwoInstances: if both players answer the question about a duplicate at the
// same time, on two instances, one press counts, whichever buttons they press. The question is
// edited once, and the other player learns that their press came too late.
func TestQuestionAnsweredOnTwoInstances(t *testing.T) {
	t.Parallel()
	c := newCrashes(t)
	alice, bob := c.sim.User("alice"), c.sim.User("bob")
	door := newBalancer(t, 2)
	bots := make([]*process, 2)
	for i := range bots {
		bots[i] = c.start(append(door.environment(), "ASK_UNUSUAL=on")...)
		c.await("the bot serves", func() bool { return door.find(i, bots[i]) })
		awaitWebhooks(t, c.sim, 1) // two instances that start together may both set the webhook
	}
	for _, labels := range [][2]string{
		{"Another game", "Another game"}, {"Another game", "Cancel"}, {"Cancel", "Cancel"},
	} {
		group := c.sim.Group(fmt.Sprint(labels), alice, bob)
		group.Say(alice, "/match @bob 3:1")
		c.settle()
		question := awaitReply(t, group, group.Say(bob, "/match @alice 1:3"))
		c.settle()

		release := holdRows(t, c.pool,
			`SELECT FROM groups g JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = $1 FOR UPDATE OF g`, group.ID())
		presses := []string{c.sim.Press(alice, question, dataOf(t, question, labels[0])),
			c.sim.Press(bob, question, dataOf(t, question, labels[1]))}
		c.await("both instances wait for the group", func() bool {
			return count(t, c.pool, `
				SELECT count(DISTINCT application_name) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock'`) == len(bots)
		})
		release()
		c.settle()

		toasts := make([]string, len(presses))
		for i, press := range presses {
			answer, err := c.sim.WaitAnswer(testContext(t), press)
			must(t, err)
			toasts[i] = answer.Text
		}
		first := slices.Index(toasts, "")
		if first < 0 || toasts[1-first] != "Too late: somebody has answered, or time is up." {
			t.Fatalf("%q: the presses are answered with %q", labels, toasts)
		}
		decided, matches, closedAs := "✓ Bob 1:3 Alice", 2, "answered"
		if labels[first] == "Cancel" {
			decided, matches, closedAs = fmt.Sprintf("Not recorded: %s canceled. (Bob 1:3 @alice)",
				[]botsim.User{alice, bob}[first].FirstName), 1, "cancelled"
		}
		now, _ := group.Message(question.ID)
		if visible(now) != decided || now.Edits != 1 || len(now.Buttons) != 0 {
			t.Errorf("%q: the question has become %+v", labels, now)
		}
		if n := c.matchesIn(group); n != matches || len(group.BotMessages()) != 1+matches {
			t.Errorf("%q: %d matches and %d messages, want %d and %d", labels, n, len(group.BotMessages()), matches, 1+matches)
		}
		ends := collect(t, c.pool, pgx.RowTo[string], `
			SELECT closed_as FROM prompts p JOIN chats c ON c.id = p.chat_id WHERE c.telegram_chat_id = $1`, group.ID())
		if diff := cmp.Diff([]string{closedAs}, ends); diff != "" {
			t.Errorf("%q: ends of questions (-want +got):\n%s", labels, diff)
		}
	}
	checkNoDeadLetters(t, c.pool)
	verifyClean(t, c.url)
}

// awaitReply waits for the bot to reply to a message and returns the first reply.
func awaitReply(t *testing.T, group *botsim.Chat, m botsim.Message) botsim.Message {
	t.Helper()
	eventually(t, "the message is answered", func() bool { return len(answersTo(group, m)) > 0 })
	return answersTo(group, m)[0]
}
