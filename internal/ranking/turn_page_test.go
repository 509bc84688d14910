package ranking_test

import (
	"fmt"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// press returns the origin of a button press below message 77.
func (g *game) press(by *command.Person) ranking.Origin {
	o := g.origin(by)
	o.Button, o.Pressed, o.ReplyTo, o.SentAt = o.Key, 77, 77, time.Now()
	return o
}

// below returns o as a press of a button below the given message.
func below(message int64, o ranking.Origin) ranking.Origin {
	o.Pressed = message
	return o
}

// turn has a person turn to a page of the ranking that asker asked for, and returns the new content
// of message 77.
func (g *game) turn(t *testing.T, by *command.Person, asker ladder.UserID, page int) stats.RankingPage {
	t.Helper()
	g.question(t, below(77, g.press(by)), stats.RankingQuestion{Page: page, Asker: asker})
	return g.waitingPage(t)
}

// waitingPage returns the new content of message 77, which waits to be sent.
func (g *game) waitingPage(t *testing.T) stats.RankingPage {
	t.Helper()
	all := notices[stats.RankingPage](t, g, `action = 'page' AND edited_message_id = 77 AND finished_at IS NULL`)
	if len(all) != 1 {
		t.Fatalf("%d pages wait", len(all))
	}
	return all[0]
}

// TestTurnRanking checks that the row below the page belongs to the person who asked for the
// ranking, even if another person turns the page. If the page does not exist, the last page is
// shown.
func TestTurnRanking(t *testing.T) {
	t.Parallel()
	g := newCrowd(t)
	for _, tc := range []struct {
		asker           ladder.UserID
		page, want, own int
	}{
		{1333, 2, 2, 333}, {1333, 34, 34, 333}, {1333, 45, 45, 333}, {1333, 46, 45, 333}, {1333, 1 << 30, 45, 333}, {0, 3, 3, -1}, {77, 3, 3, -1},
	} {
		equal(t, fmt.Sprintf("page %d of %d", tc.page, tc.asker),
			crowdPage(tc.want, tc.asker, tc.own), g.turn(t, &alice, tc.asker, tc.page))
	}
	g.exec(t, `UPDATE group_players SET left_at = now() WHERE name > 'P1014'`)
	if n := g.turn(t, &bob, 1333, 45); n.Page != 2 || len(n.Rows) != 5 || n.Total != 15 ||
		n.Rows[0].Position != 9 || n.Own != nil {
		t.Errorf("after many have left: %+v", n)
	}
	g.exec(t, `UPDATE group_players SET left_at = now()`)
	equal(t, "after all have left", stats.RankingPage{Title: "Club", Page: 1, Asker: 1333, NoDraws: true,
		PlaceMatches: 3, HideDays: 60, Unplaced: true}, g.turn(t, &bob, 1333, 2))
}

// TestPressesTurnPages checks that each press is answered and handled once. The newest page for a
// message replaces one that still waits. Pages expire after ten minutes.
func TestPressesTurnPages(t *testing.T) {
	t.Parallel()
	g := newCrowd(t)
	g.exec(t, `DELETE FROM outbox`)
	first := g.press(&alice)
	for _, page := range []int{2, 3} { // the second is a redelivery
		g.question(t, below(77, first), stats.RankingQuestion{Page: page})
	}
	if n := g.waitingPage(t); n.Page != 2 {
		t.Errorf("page %d waits", n.Page)
	}
	second := g.press(&bob)
	g.question(t, below(77, second), stats.RankingQuestion{Page: 4})
	if n := g.waitingPage(t); n.Page != 4 {
		t.Errorf("page %d waits", n.Page)
	}
	g.exec(t, `UPDATE outbox SET state = 'sending', supersede_key = NULL WHERE action = 'page'`)
	g.question(t, below(77, g.press(&bob)), stats.RankingQuestion{Page: 5})
	g.question(t, below(78, g.press(&bob)), stats.RankingQuestion{Page: 6})
	rows := texts(t, g, `
		SELECT concat_ws(' ', action, kind, edited_message_id, state, payload->>'page', alone,
		       CASE WHEN key = $1 THEN 'second' END, supersede_key,
		       extract(minute FROM (expires_at - now()) + interval '30 s'), reply_to)
		FROM outbox WHERE action <> 'callback_answer' ORDER BY id`, second.Key)
	want := []string{
		"page ranking_page 77 sending 4 t second 10", "page ranking_page 77 planned 5 t page:77 10", "page ranking_page 78 planned 6 t page:78 10",
	}
	equal(t, "pages", want, rows)
	answers := texts(t, g, `SELECT concat_ws(' ', kind, payload) FROM outbox WHERE action = 'callback_answer'`)
	equal(t, "answers", []string{"acknowledged {}", "acknowledged {}", "acknowledged {}", "acknowledged {}"},
		answers)
	g.has(t, 4, "handled_commands WHERE key LIKE 'm:%' AND rate_class = 'press'")
}

// TestPressesOfPagesAreLimited checks that a press over the limit gets an answer but no page.
func TestPressesOfPagesAreLimited(t *testing.T) {
	t.Parallel()
	g, _ := newLimitedGame(t)
	g.addCrowd(t)
	at := time.Now()
	var last ranking.Origin
	for i := range 61 {
		last = g.press(&alice)
		last.SentAt = at
		g.question(t, below(77, last), stats.RankingQuestion{Page: 1 + i%45})
	}
	checkNotice(t, g.callbackAnswer(t, last), ranking.Refusal{Code: ranking.TooManyPresses})
	if n := g.waitingPage(t); n.Page != 15 {
		t.Errorf("page %d waits", n.Page)
	}
}

// TestPageOfAMovedChat checks that after the chat got a new id, its older messages cannot be
// edited, so a press below one of them gets only an answer.
func TestPageOfAMovedChat(t *testing.T) {
	t.Parallel()
	g := newCrowd(t)
	must(t, g.MoveChat(t.Context(), club.ID, -1_000_000_100))
	o := g.press(&alice)
	g.question(t, below(77, o), stats.RankingQuestion{Page: 2})
	g.has(t, 0, "outbox WHERE action = 'page'")
	g.has(t, 1, "outbox WHERE action = 'callback_answer' AND kind = 'acknowledged'")
}
