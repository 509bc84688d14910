package bot

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// below posts a message of the bot with buttons that have this data.
func (w *world) below(in *botsim.Chat, data ...string) botsim.Message {
	w.t.Helper()
	return w.replyBelow(in, 0, data...)
}

// replyBelow is like below, for a message that replies to another one.
func (w *world) replyBelow(in *botsim.Chat, replyTo int, data ...string) botsim.Message {
	w.t.Helper()
	return in.Post(w.postBelow(replyTo, data...))
}

func (w *world) postBelow(replyTo int, data ...string) botsim.Post {
	var row []map[string]string
	for _, d := range data {
		row = append(row, map[string]string{"text": "x", "callback_data": d})
	}
	markup := map[string]any{"inline_keyboard": []any{row}}
	return botsim.Post{From: w.sim.Bot(), Text: "Ranking", ReplyTo: replyTo, Extra: map[string]any{"reply_markup": markup}}
}

func TestTurnPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.below(w.group, "1p:1:1001", "1p:3:1001")
	for data, want := range map[string]string{
		"1p:3:1001": "ranking page 3 for 1001", "1p:1:1001": "ranking for 1001", "1p:2:0": "ranking page 2 for 0",
		"1p:3:1001:all": "ranking page 3 of all for 1001",
		"1p:4:1001":     "ranking page 4 for 1001", // of a keyboard that has changed since
	} {
		w.sim.Press(w.bob, page, data)
		w.expect(data, fmt.Sprintf("%s in %d", want, page.ID))
	}
}

// TestStartSeason checks that the button that starts a season works for PromptWindow after its
// message, and is refused later.
func TestStartSeason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for age, want := range map[time.Duration]string{
		ranking.PromptWindow:               `start season "Spring" after Aa0_-zZ9`,
		ranking.PromptWindow + time.Second: `answer refusal {"code":"prompt_over"}`,
	} {
		prompt := w.postBelow(0, "1ns:Aa0_-zZ9:Spring")
		prompt.Date = worldTime.Add(time.Minute - age) // presses come a minute later
		w.sim.Press(w.bob, w.group.Post(prompt), "1ns:Aa0_-zZ9:Spring")
		w.expect(age.String(), want)
	}
}

// TestForgedPages checks that data that the bot does not produce is rejected. Valid data is
// rejected unless the message is the bot's, still exists, is in a group, and has buttons that turn
// the page.
func TestForgedPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.below(w.group, "1p:2:1001")
	for _, data := range []string{
		"1p", "1p:", "1p:2", "1p:2:", "1p::1001", "1p:0:1001", "1p:-1:1001", "1p:+2:1001", "1p:02:1001", "1p:2:01", "1p:2:-1", "1p:2:+1",
		"1p:2:1001:", "1p:2:1001:1", "1p:2:1001:al", "1p:2:1001:all:", "1p:2:1001:all:all", "1p:2:all", "1p::1001:all", "1p:2:1001:ALL", "1p: 2:1001", "1p:2 :1001", "1p:2:1001\n", "1p:2.5:1001", "1p:2:alice", "1p:x:1001", "1p:2,1001", "1p:٢:1001",
		"1p:2147483648:1001", "1p:2:9223372036854775808", "2p:2:1001", "1P:2:1001", "p:2:1001", "11p:2:1001",
	} {
		w.sim.Press(w.alice, page, data)
		w.expect(fmt.Sprintf("%q", data), unknownButton)
	}
	private := w.below(w.sim.Private(w.alice), "1p:2:1001")
	gone := w.below(w.group, "1p:2:1001")
	w.group.Delete(gone)
	for what, m := range map[string]botsim.Message{
		"below a card": w.below(w.group, "1u:42:0"), "without buttons": w.card(w.group, 0), "in a private chat": private, "below what is gone": gone,
		"of a person": w.group.Post(botsim.Post{From: w.alice, Text: "x", Extra: map[string]any{"reply_markup": map[string]any{
			"inline_keyboard": [][]map[string]string{{{"text": "›", "callback_data": "1p:2:1001"}}},
		}}}),
	} {
		w.sim.Press(w.alice, m, "1p:2:1001")
		w.expect(what, unknownButton)
	}
}

func TestRankingTurn(t *testing.T) {
	t.Parallel()
	for _, page := range []int{1, 9, 10, math.MaxInt32} {
		for _, asker := range []ladder.UserID{0, 1, 1<<52 - 1, math.MaxInt64} {
			for _, all := range []bool{false, true} {
				want := stats.RankingQuestion{Page: page, Asker: asker, All: all}
				args, _ := argsOf(pageCode, pageData(want))
				if got, ok := parsePage(args); !ok || got != want {
					t.Errorf("%q says %+v, %t", pageData(want), got, ok)
				}
			}
		}
	}
}

// pageOf57 returns a page of a ranking of 57 players.
func pageOf57(number int) stats.RankingPage {
	n := stats.RankingPage{Title: "Table tennis", Page: number, Total: 57, Asker: 1001}
	for i := range min(10, 57-10*(number-1)) {
		n.Rows = append(n.Rows, stats.Row{Position: 10*(number-1) + i + 1, Name: called("Player"), Elo: 1500, Won: 1})
	}
	return n
}

// TestPagesEditTheirMessage checks that a page replaces the text and the buttons of its message,
// and has no button to a page that does not exist. If the message was deleted, the page is
// obsolete.
func TestPagesEditTheirMessage(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	shown := p.mustSend(t, messageOf(t, p.group.ID(), pageOf57(1)))
	back, forth := botsim.Button{Text: "‹", CallbackData: ""}, botsim.Button{Text: "›", CallbackData: ""}
	for i, number := range []int{1, 2, 6, 1, 1} {
		var want []botsim.Button
		if number > 1 {
			back.CallbackData = fmt.Sprintf("1p:%d:1001", number-1)
			want = append(want, back)
		}
		if number < 6 {
			forth.CallbackData = fmt.Sprintf("1p:%d:1001", number+1)
			want = append(want, forth)
		}
		m := messageOf(t, p.group.ID(), pageOf57(number))
		m.Action, m.Lane.Kind, m.Target = outbox.Page, outbox.Pages, int64(shown.ID)
		receipt, err := p.sender.Send(testContext(t), m, atOnce)
		if err != nil || receipt.MessageID != int64(shown.ID) { // "not modified" is a success
			t.Fatalf("%d: %+v, %v", i, receipt, err)
		}
		now, _ := p.group.Message(shown.ID)
		if diff := cmp.Diff([][]botsim.Button{want}, now.Buttons); diff != "" ||
			now.HTML != mustRender(t, pageOf57(number)).html {
			t.Errorf("page %d shows %q (-want +got):\n%s", number, now.Text, diff)
		}
	}
	p.group.Delete(shown)
	m := messageOf(t, p.group.ID(), pageOf57(2))
	m.Action, m.Target = outbox.Page, int64(shown.ID)
	if _, err := p.sender.Send(testContext(t), m, atOnce); failureOf(t, err).Kind != outbox.Obsolete {
		t.Errorf("a message that is gone: %v", err)
	}
}

// TestEmptyAnswer checks that the answer to a press that turns a page is empty, because its only
// purpose is to end the button's loading state.
func TestEmptyAnswer(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	shown := p.mustSend(t, messageOf(t, p.group.ID(), pageOf57(1)))
	press := p.sim.Press(p.alice, shown, "1p:2:1001")
	m := messageOf(t, p.group.ID(), ranking.Acknowledged{})
	m.Action, m.Lane.Kind, m.Row.Button, m.Items[0].Button = outbox.CallbackAnswer, outbox.CallbackAnswers, press, press
	if _, err := p.sender.Send(testContext(t), m, atOnce); err != nil {
		t.Fatal(err)
	}
	if answer, err := p.sim.WaitAnswer(testContext(t), press); err != nil || answer.Text != "" || answer.ShowAlert {
		t.Errorf("the answer is %+v, %v", answer, err)
	}
}
