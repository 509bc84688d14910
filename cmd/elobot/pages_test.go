package main_test

import (
	"fmt"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// TestTwentyPeopleTurnPages: twenty people press ‹ and › below one message at once, and results are reported meanwhile. No
// request hits Telegram's limits, each press is answered, and the message shows the page of the last press.
func TestTwentyPeopleTurnPages(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t, botsim.WithLimits(botsim.TelegramLimits()))
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	people := []botsim.User{alice, bob}
	for i := range 18 {
		people = append(people, sim.User(fmt.Sprintf("user%d", i)))
	}
	group := sim.Group("Club", people...)
	launch(t, plainEnvironment(sim, url), "run")
	group.Say(alice, "/match @bob 3:1")
	awaitSettled(t, sim, pool, group)
	if _, err := pool.Exec(testContext(t), `
		WITH more AS (INSERT INTO players (telegram_user_id, display_name) SELECT 900000 + n, 'P' || n FROM generate_series(1, 55) n RETURNING id, display_name)
		INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo, played, drawn, last_played_at)
		SELECT l.id, more.id, more.display_name, 1400, 1400, 1400, 1, 1, now() FROM more, ladders l`); err != nil {
		t.Fatal(err)
	}
	group.Say(bob, "/ranking")
	awaitSettled(t, sim, pool, group)
	page := group.BotMessages()[1]
	if n := len(page.Buttons); n != 1 || !strings.Contains(visible(page), "1–10 of 57 players") {
		t.Fatalf("the page has %d rows of buttons:\n%s", n, visible(page))
	}
	data := func(number int) string { return fmt.Sprintf("1p:%d:%d", number, bob.ID) }
	var presses []string
	for i, who := range people {
		presses = append(presses, sim.Press(who, page, data(1+(i+3)%6)))
		if i%5 == 0 {
			group.Say(alice, "/match @bob 3:2")
		}
	}
	for _, id := range presses {
		if answer, err := sim.WaitAnswer(testContext(t), id); err != nil || answer.Text != "" {
			t.Errorf("press %s is answered by %+v, %v", id, answer, err)
		}
	}
	awaitSettled(t, sim, pool, group)
	shown, _ := group.Message(page.ID)
	want := fmt.Sprintf("%d–%d of 57 players", 41, 50) // page 5, by the last of twenty
	if !strings.Contains(visible(shown), want) || shown.Buttons[0][0].CallbackData != data(4) || shown.Buttons[0][1].CallbackData != data(6) {
		t.Errorf("the message shows\n%s\nwith the buttons %v, want %s", visible(shown), shown.Buttons, want)
	}
	if _, own, _ := strings.Cut(visible(shown), "…\n▸ "); !strings.HasPrefix(own, "? Bob ") && !strings.HasPrefix(own, "🥈 Bob ") { // the results come meanwhile
		t.Errorf("the line of the person who asked is missing:\n%s", visible(shown))
	}
	if n := refused(sim); n > 0 {
		t.Errorf("Telegram has refused %d requests", n)
	}
	checkNoComplaints(t, sim)
}
