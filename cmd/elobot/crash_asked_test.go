//go:build unix

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
)

// duplicateKill is the moment at which the bot is killed: the given visit to a crash point, counted
// from the second report of a result or, if press is set, from the press that answers the question
// about it.
type duplicateKill struct {
	press bool
	point crashpoint.Point
	visit int
}

// TestKilledAskingAboutADuplicate checks that a result that is reported twice leads to the right
// number of matches, wherever the bot is killed. The bot asks about the second report. If Bob
// answers that it is another game, two matches remain, and if he cancels the report, one remains. A
// message arrives twice only if it was being sent at the kill.
func TestKilledAskingAboutADuplicate(t *testing.T) {
	t.Parallel()
	k := &duplicates{killed: &killed{crashes: newCrashes(t), settings: []string{"ASK_UNUSUAL=on"}}}
	k.alice, k.bob = k.sim.User("alice"), k.sim.User("bob")
	k.startNext("off")
	k.expect("Another game", "✓ Bob 1:3 Alice", "answered", 2)
	for _, at := range []duplicateKill{
		{false, crashpoint.Requested, 1}, {true, crashpoint.Applying, 1}, {true, crashpoint.Handled, 1},
		// A press leads to three requests: for the edit of the question, the answer to the press,
		// and the card.
		{true, crashpoint.Requesting, 2}, {true, crashpoint.Requested, 1}, {true, crashpoint.Requested, 3},
	} {
		k.kill(at)
	}
	k.expect("Cancel", "Not recorded: Bob canceled. (Bob 1:3 @alice)", "cancelled", 1)
	k.kill(duplicateKill{true, crashpoint.Applying, 1})
	k.kill(duplicateKill{true, crashpoint.Handled, 1})
	checkNoDeadLetters(t, k.pool)
	verifyClean(t, k.url)
}

// duplicates is the fixture of a bot that is killed while it asks about duplicates.
type duplicates struct {
	*killed
	label, decided, closedAs string // the button to press, then the wanted text and closed_as of the prompt
	matches                  int    // how many remain in each group
}

// expect sets the button that answers the next questions, the text and the closed_as that the
// questions must then have, and how many matches must remain in each group.
func (k *duplicates) expect(label, decided, closedAs string, matches int) {
	k.label, k.decided, k.closedAs, k.matches = label, decided, closedAs, matches
}

// kill has both players report a result and Bob answer the question about it. The bot is killed
// once, at the moment that at describes. Finally, kill checks the report and the question.
func (k *duplicates) kill(at duplicateKill) {
	k.t.Helper()
	where := fmt.Sprintf("%s, press %t, visit %d to %q", k.label, at.press, at.visit, at.point)
	group := k.sim.Group(where, k.alice, k.bob)
	duplicates := k.possibleDuplicates()
	won := group.Say(k.alice, "/match @bob 3:1")
	k.settle()
	var sending sendingAtCrash
	crash := func(do func()) {
		k.t.Helper()
		k.at(at.point, at.visit, crashpoint.End)
		do()
		k.awaitCrash(k.bot)
		sending = k.sending()
		k.startNext("off")
	}

	var lost botsim.Message
	report := func() { lost = group.Say(k.bob, "/match @alice 1:3") }
	if at.press {
		report()
		k.settle()
	} else {
		crash(report)
	}
	questions := answersTo(group, lost)
	if len(questions) == 0 {
		k.t.Fatalf("%s: the report is not answered", where)
	}
	question := questions[len(questions)-1]
	says(k.t, visible(question), "Alice has just reported this result, as match #1. Another game?")
	if n := k.matchesIn(group); n != 1 {
		k.t.Errorf("%s: %d matches before the answer, want 1", where, n)
	}
	var press string
	answer := func() { press = k.sim.Press(k.bob, question, dataOf(k.t, question, k.label)) }
	if at.press {
		crash(answer)
	} else {
		answer()
		k.settle()
	}

	k.check(where, group, won, lost, question)
	k.checkPress(where, press)
	copies := len(group.BotMessages()) - 1 - k.matches // beyond one question, and a card per match
	alone := sending == sendingAtCrash{Messages: 1}
	if copies > sending.Messages || alone && at.point == crashpoint.Requested && copies != 1 ||
		alone && at.point == crashpoint.Requesting && copies != 0 {
		k.t.Errorf("%s: %d copies of messages while %+v was being sent", where, copies, sending)
	}
	if n := k.possibleDuplicates() - duplicates; n != sending.Messages+sending.Edits {
		k.t.Errorf("%s: %d possible duplicates were counted, want %+v", where, n, sending)
	}
	// A press on any copy of the question comes too late.
	for _, m := range append(questions, question) {
		late := k.sim.Press(k.alice, m, dataOf(k.t, question, "Another game"))
		k.settle()
		k.checkLate(where, late)
	}
	k.check(where, group, won, lost, question)
}

// check checks that the group has k.matches matches, that its only prompt is closed as k.closedAs
// and has no timer, that the question has become k.decided, and that each recorded report has its
// card.
func (k *duplicates) check(where string, group *botsim.Chat, won, lost, question botsim.Message) {
	k.t.Helper()
	if n := k.matchesIn(group); n != k.matches {
		k.t.Errorf("%s: %d matches, want %d", where, n, k.matches)
	}
	prompts := collect(k.t, k.pool, pgx.RowTo[string], `
		SELECT concat_ws(' ', p.kind, p.closed_as, (SELECT count(*) FROM timers t WHERE t.key = 't:prompt:' || p.id))
		FROM prompts p JOIN chats c ON c.id = p.chat_id WHERE c.telegram_chat_id = $1`, group.ID())
	if diff := cmp.Diff([]string{"report " + k.closedAs + " 0"}, prompts); diff != "" {
		k.t.Errorf("%s: questions with their timers (-want +got):\n%s", where, diff)
	}
	if now, _ := group.Message(question.ID); visible(now) != k.decided || len(now.Buttons) != 0 {
		k.t.Errorf("%s: the question has become %+v", where, now)
	}
	cards := slices.DeleteFunc(answersTo(group, lost),
		func(m botsim.Message) bool { return !strings.Contains(m.Text, "Match #2") })
	if len(answersTo(group, won)) != 1 || (len(cards) > 0) != (k.matches == 2) {
		k.t.Errorf("%s: the reports are answered with %+v and %+v", where, answersTo(group, won), answersTo(group, lost))
	}
}

// checkPress checks that a press was answered without a text, unless the answer expired.
func (k *duplicates) checkPress(where, press string) {
	k.t.Helper()
	k.checkToast(where, press, "")
}

func (k *duplicates) checkLate(where, press string) {
	k.t.Helper()
	k.checkToast(where, press, "Too late: somebody has answered", "This button no longer works")
}

// checkToast checks that the answer to a press begins with one of the texts, unless the answer
// expired. An empty text in want stands for an answer without a text.
func (k *duplicates) checkToast(where, press string, want ...string) {
	k.t.Helper()
	if count(k.t, k.pool, `SELECT count(*) FROM outbox WHERE callback_query_id = $1 AND state = 'expired'`, press) == 1 {
		return
	}
	answer, err := k.sim.WaitAnswer(testContext(k.t), press)
	if err != nil || !slices.ContainsFunc(want,
		func(w string) bool { return strings.HasPrefix(answer.Text, w) && (w != "" || answer.Text == "") }) {
		k.t.Errorf("%s: a press is answered with %q (%v)", where, answer.Text, err)
	}
}

// matchesIn returns the number of matches recorded in a group, including undone ones.
func (c *crashes) matchesIn(group *botsim.Chat) int {
	c.t.Helper()
	return count(c.t, c.pool, `
		SELECT count(*) FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = $1`, group.ID())
}
