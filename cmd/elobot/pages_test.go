package main_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestThirtyPeopleAtOnce: while Telegram refuses all messages and edits, thirty people press
// buttons below three messages and ask questions, and results come in. Afterward, no request
// exceeds the limits, which are ten times as fast as Telegram's. Every command is answered once and
// in order, these answers are sent before any page is turned, and the ranking shows the page of the
// last press.
func TestThirtyPeopleAtOnce(t *testing.T) {
	t.Parallel()
	limits := botsim.Limits{Chat: botsim.Window{N: 5, Per: 500 * time.Millisecond},
		Group: botsim.Window{N: 20, Per: 6 * time.Second}}
	sim := startTelegram(t, botsim.WithLimits(limits))
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	people := []botsim.User{alice, bob}
	for i := range 28 {
		people = append(people, sim.User(fmt.Sprintf("user%d", i)))
	}
	group := sim.Group("Club", people...)
	launch(t, append(plainEnvironment(sim, url), "SEND_LIMIT_GROUP=20/6s,5/500ms", "SEND_LIMIT_TOTAL=off"), "run")
	group.Say(alice, "/match @bob 3:1")
	awaitSettled(t, sim, pool, group)
	players := make([]int64, 55)
	for i := range players {
		players[i] = int64(900_000 + i)
		if i < len(people)-2 {
			players[i] = people[i+2].ID
		}
	}
	if _, err := pool.Exec(testContext(t), `
		WITH more AS (INSERT INTO players (telegram_user_id, display_name)
		    SELECT id, 'P' || n FROM unnest($1::bigint[]) WITH ORDINALITY AS p (id, n) RETURNING id, display_name)
		INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo, played, drawn, last_played_at)
		SELECT l.id, more.id, more.display_name, 1400, 1400, 1400, 1, 1, now() FROM more, ladders l`, players); err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{"/ranking", "/stats", "/records"} {
		group.Say(bob, question)
		awaitSettled(t, sim, pool, group)
	}
	asked := len(group.BotMessages())
	ranking, stats, records := group.BotMessages()[asked-3], group.BotMessages()[asked-2], group.BotMessages()[asked-1]
	if !strings.Contains(visible(ranking), "1–10 of 57 players") {
		t.Fatalf("the ranking is\n%s", visible(ranking))
	}
	page := func(number int) string { return fmt.Sprintf("1p:%d:%d", number, bob.ID) }

	var heal []func()
	for _, method := range []string{"sendMessage", "editMessageText"} {
		heal = append(heal, sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: method, RetryAfter: 1}))
	}
	var presses []string
	var said []int // ids of the messages that must be answered
	for i, who := range people {
		switch i % 3 {
		case 0:
			presses = append(presses, sim.Press(who, ranking, page(1+(i+3)%6)))
		case 1:
			presses = append(presses, sim.Press(who, stats, stats.Buttons[0][i/3%2].CallbackData),
				sim.Press(who, records, records.Buttons[0][i/3%2].CallbackData))
		case 2:
			said = append(said, group.Say(who, []string{"/ranking 2", "/matches", "/records"}[i/3%3]).ID)
		}
		if i%5 == 0 {
			said = append(said, group.Say(alice, fmt.Sprintf("/match @bob 3:%d", i%3)).ID)
		}
	}
	must(t, sim.WaitConfirmed(testContext(t)))
	before := len(sim.Calls())
	for _, end := range heal {
		end()
	}
	for _, id := range presses {
		if answer, err := sim.WaitAnswer(testContext(t), id); err != nil || answer.Text != "" {
			t.Errorf("press %s is answered by %+v, %v", id, answer, err)
		}
	}
	awaitSettled(t, sim, pool, group)

	var answered []int
	for _, m := range group.BotMessages()[asked:] {
		answered = append(answered, m.ReplyTo)
	}
	if !slices.Equal(answered, said) {
		t.Errorf("answered were the messages %v, want %v", answered, said)
	}
	sent, edited := 0, 0
	for _, c := range sim.Calls()[before:] {
		switch {
		case c.Status == http.StatusTooManyRequests && sent > 0:
			t.Errorf("%s exceeds the limits", c.Method)
		case c.Status != http.StatusOK:
		case c.Method == "sendMessage":
			if sent++; edited > 0 {
				t.Error("a page was turned before a message that waited was sent")
			}
		case c.Method == "editMessageText":
			edited++
		}
	}
	if edited == 0 {
		t.Error("no page was turned")
	}
	shown, _ := group.Message(ranking.ID)
	want := fmt.Sprintf("%d–%d of 57 players", 1, 10) // of the last press
	if !strings.Contains(visible(shown), want) || shown.Buttons[0][0].CallbackData != page(2) {
		t.Errorf("the ranking shows\n%s\nwith the buttons %v, want %s", visible(shown), shown.Buttons, want)
	}
}
