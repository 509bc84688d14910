package main_test

import (
	"bytes"
	"testing"

	"elobot/internal/botsim"
)

// chart sends a command to a group and returns the bot's answer, which must be a chart.
func (b *botFixture) chart(group *botsim.Chat, from botsim.User, text string) botsim.Message {
	b.t.Helper()
	m := b.ask(group, from, text)
	if m.Photo == nil || m.Photo.Width != 1280 || m.Photo.Height != 800 {
		b.t.Fatalf("%s is answered by %+v", text, m)
	}
	return m
}

// turn presses the button with the given label below a chart and returns the edited message.
func (b *botFixture) turn(m botsim.Message, label string) botsim.Message {
	b.t.Helper()
	before, _ := b.sim.Chat(m.ChatID).Message(m.ID)
	for _, row := range before.Buttons {
		for _, button := range row {
			if button.Text == label {
				b.press(b.bob, before, button.CallbackData)
			}
		}
	}
	var turned botsim.Message
	eventually(b.t, "the chart is turned to "+label, func() bool {
		turned, _ = b.sim.Chat(m.ChatID).Message(m.ID)
		return turned.Edits > before.Edits
	})
	return turned
}

// testCharts checks that a chart of the top of the ranking, or of named players, is a picture.
// Buttons below it replace it in place. A new match and the setting for dark charts change the next
// picture.
func testCharts(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	b.seen(group, b.alice, b.bob, b.carol)
	says(t, visible(b.ask(group, b.alice, "/chart")), "No matches yet")
	b.ask(group, b.alice, "/match @bob 3:1")
	first := b.chart(group, b.alice, "/chart")
	says(t, visible(first), "Ratings · Chess", "The last month")
	all := b.turn(first, "All")
	says(t, visible(all), "All matches")
	byMatch := b.turn(all, "By match")
	if same := b.chart(group, b.bob, "/chart@elo_bot"); !looksLike(same, first) || !looksLike(all, first) ||
		looksLike(byMatch, first) {
		t.Error("the pictures of the same matches differ, or the one by match does not")
	}
	says(t, visible(b.ask(group, b.alice, "/chart @carol")), "Carol has not played")
	says(t, visible(b.ask(group, b.alice, "/chart robert")), "robert")
	b.ask(group, b.bob, "/match @alice 3:1")
	next := b.chart(group, b.alice, "/chart @bob alice")
	frame := b.ask(group, b.olga, "/settings")
	b.choose(b.olga, frame, "1c:display", "1c:dark_charts:on")
	dark := b.chart(group, b.alice, "/chart @bob alice")
	if looksLike(next, first) || looksLike(dark, next) {
		t.Error("the picture is the same after a match, or in the dark")
	}
}

// looksLike reports whether two messages show the same picture.
func looksLike(a, b botsim.Message) bool { return bytes.Equal(a.Photo.Content, b.Photo.Content) }

// testChartsRefused checks that a bot without the right to send photos says so. Once it has the
// right, it sends the next chart.
func testChartsRefused(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	b.ask(group, b.alice, "/match @bob 3:1")
	group.AllowPhotos(false)
	says(t, visible(b.ask(group, b.alice, "/chart")), "can’t send the chart", "admin")
	group.AllowPhotos(true)
	b.chart(group, b.alice, "/chart")
}

// testChartOfUnknownOutcome checks that a chart whose upload gets no response is sent again and
// counted as a possible duplicate. The card queued after it waits its turn.
func testChartOfUnknownOutcome(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	b.ask(group, b.alice, "/match @bob 3:1")
	b.sim.Fault(botsim.Fault{Method: "sendPhoto", ChatID: group.ID(), Kind: botsim.CutAfter, Times: 1})
	asked := group.Say(b.alice, "/chart")
	b.ask(group, b.alice, "/match @bob 3:2")
	var photos []int
	var card int
	for _, m := range group.BotMessages() {
		switch {
		case m.Photo != nil && m.ReplyTo == asked.ID:
			photos = append(photos, m.ID)
		default:
			card = m.ID
		}
	}
	if len(photos) != 2 || card < photos[1] {
		t.Errorf("the charts %v, then the card %d", photos, card)
	}
	b.settle()
	n := count(t, b.pool,
		`SELECT sum(possible_duplicates) FROM outbox WHERE kind = 'chart' AND reply_to = $1 AND state = 'sent'`, asked.ID)
	equal(t, n, 1, "possible duplicates")
}
