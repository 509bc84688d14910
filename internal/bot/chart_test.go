package bot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/chart"
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// dot draws a chart as a single pixel, which is quick.
func dot(chart.Chart) ([]byte, error) {
	var out bytes.Buffer
	err := png.Encode(&out, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black}))
	return out.Bytes(), err
}

// newCharts is like newPost, with quickly drawn charts of the given ratings. drawn counts the
// drawings.
func newCharts(t *testing.T, elos ...int) (p *post, drawn *atomic.Int32) {
	t.Helper()
	p, drawn = newPost(t), new(atomic.Int32)
	p.views.title = "Table tennis"
	p.rate(elos...)
	p.sender.draw = func(c chart.Chart) ([]byte, error) {
		drawn.Add(1)
		return dot(c)
	}
	return p, drawn
}

// rate sets the ratings of the first player in charts, one per day.
func (p *post) rate(elos ...int) {
	p.views.given = nil
	for i, elo := range elos {
		p.views.given = append(p.views.given,
			stats.Rating{At: time.Unix(1_800_000_000+int64(i)*86_400, 0).UTC(), Match: i, Elo: elo})
	}
}

// chart returns a message with a chart of Alice's ratings.
func (p *post) chart(t *testing.T) outbox.Message {
	t.Helper()
	return messageOf(t, p.group.ID(),
		stats.Chart{Players: []ranking.Name{{Player: 1, Name: "Alice"}}, Period: stats.Month})
}

func (p *post) mustSendChart(t *testing.T, m outbox.Message) botsim.Message {
	t.Helper()
	receipt, err := p.sender.Send(testContext(t), m, atOnce)
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	sent, ok := p.group.Message(int(receipt.MessageID))
	if c := p.sim.Complaints(); !ok || len(c) > 0 {
		t.Fatalf("no message %d, or the simulator complains: %q", receipt.MessageID, c)
	}
	return sent
}

// TestSendChart checks that a chart is a photo with a caption and with buttons that change it in
// place.
func TestSendChart(t *testing.T) {
	t.Parallel()
	p, _ := newCharts(t, 1500, 1516)
	p.sender.draw = chart.Draw
	asked := p.group.Say(p.alice, "/chart")
	sent := p.mustSendChart(t, answering(p.chart(t), asked.ID))
	if sent.Photo == nil || sent.Photo.Width != chart.Width || sent.Photo.Height != chart.Height ||
		!sent.Silent || sent.ReplyTo != asked.ID {
		t.Errorf("sent %+v", sent)
	}
	if want := "Ratings · " + isolate + "Table tennis" + endIsolate + "\nThe last month"; sent.Text != want {
		t.Errorf("the caption is %q, want %q", sent.Text, want)
	}
	p.sender.draw = dot
	turn := messageOf(t, p.group.ID(),
		stats.Chart{Players: []ranking.Name{{Player: 1, Name: "Анна 🎾"}}, Period: stats.AllTime, ByMatch: true})
	turn.Action, turn.Target = outbox.Page, int64(sent.ID)
	turned := p.mustSendChart(t, turn)
	if turned.ID != sent.ID || turned.Edits != 1 || turned.Photo.Width != 1 ||
		!strings.HasSuffix(turned.Text, "\nA: "+isolate+"Анна 🎾"+endIsolate) {
		t.Errorf("turned to %+v", turned)
	}
	if turned.Buttons[1][1].Text != "✓ All" || turned.Buttons[2][1].Text != "✓ By match" {
		t.Errorf("buttons %+v", turned.Buttons)
	}
	p.sim.Fault(botsim.Fault{Method: "editMessageMedia", Kind: botsim.Reject,
		Description: "Bad Request: message is not modified", Times: 1})
	if same := p.mustSendChart(t, turn); same.Edits != 1 { // not modified, which is a success
		t.Errorf("turned to the same: %+v", same)
	}
}

// TestNoPhotos checks that the bot says so if it may not send photos, and that it sends charts as
// soon as it may.
func TestNoPhotos(t *testing.T) {
	t.Parallel()
	p, _ := newCharts(t, 1500, 1516)
	sent := p.mustSendChart(t, p.chart(t))
	p.group.AllowPhotos(false)
	said := p.mustSendChart(t, answering(p.chart(t), sent.ID))
	if said.Photo != nil || !strings.Contains(said.Text, "can’t send the chart") || said.ReplyTo != sent.ID {
		t.Errorf("said %+v", said)
	}
	turn := p.chart(t)
	turn.Action, turn.Target = outbox.Page, int64(sent.ID)
	if _, err := p.sender.Send(testContext(t), turn, atOnce); failureOf(t, err).Kind != outbox.Obsolete {
		t.Errorf("a chart is turned: %v", err)
	}
	p.group.AllowPhotos(true)
	if sent := p.mustSendChart(t, p.chart(t)); sent.Photo == nil {
		t.Errorf("sent %+v", sent)
	}
}

// TestChartsThatFail checks that a failed upload is classified like any other failed request, and
// the chart can be sent afterward.
func TestChartsThatFail(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault botsim.Fault
		kind  outbox.FailureKind
	}{
		"cut":        {botsim.Fault{Method: "sendPhoto", Kind: botsim.CutAfter, Times: 1}, outbox.Ambiguous},
		"rate limit": {botsim.Fault{Method: "sendPhoto", Kind: botsim.TooManyRequests, RetryAfter: 3, Times: 1}, outbox.RateLimited},
		"refused":    {botsim.Fault{Method: "sendPhoto", Kind: botsim.Reject, Description: "Bad Request: of tomorrow", Times: 1}, outbox.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := newCharts(t, 1500, 1516)
			p.sim.Fault(tc.fault)
			m := p.chart(t)
			_, err := p.sender.Send(testContext(t), m, atOnce)
			equal(t, failureOf(t, err).Kind, tc.kind, "failure %v", err)
			p.mustSendChart(t, m)
		})
	}
}

// TestChartsThatCannotBeMade checks that a chart whose ratings cannot be read is tried again, but
// one that cannot be drawn is not. Neither makes a request.
func TestChartsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	p, drawn := newCharts(t, 1500, 1516)
	m := p.chart(t)
	p.views.err = errors.New("no database")
	_, err := p.sender.Send(testContext(t), m, atOnce)
	if f := failureOf(t, err); f.Kind != outbox.Unreachable || drawn.Load() > 0 || len(p.sim.Calls()) > 0 {
		t.Errorf("%+v", f)
	}
	p.views.err = nil
	p.sender.draw = func(chart.Chart) ([]byte, error) { panic("of the day") }
	_, err = p.sender.Send(testContext(t), m, atOnce)
	if f := failureOf(t, err); f.Kind != outbox.Rejected || len(p.sim.Calls()) > 0 {
		t.Errorf("%+v", f)
	}
	p.sender.draw = dot
	p.mustSendChart(t, m)
}

// TestFewDrawingsAtOnce checks that a chart waits while maxDrawings other charts are being drawn,
// and fails as Unreachable if the wait is too long.
func TestFewDrawingsAtOnce(t *testing.T) {
	t.Parallel()
	p, _ := newCharts(t, 1500)
	begun, goOn := make(chan struct{}), make(chan struct{})
	p.sender.draw = func(c chart.Chart) ([]byte, error) {
		begun <- struct{}{}
		<-goOn
		return dot(c)
	}
	sent := make(chan error, maxDrawings)
	for range maxDrawings {
		go func() {
			_, err := p.sender.Send(testContext(t), p.chart(t), atOnce)
			sent <- err
		}()
		<-begun
	}
	ctx, cancel := context.WithTimeout(testContext(t), time.Millisecond)
	defer cancel()
	_, err := p.sender.Send(ctx, p.chart(t), atOnce)
	if f := failureOf(t, err); f.Kind != outbox.Unreachable || len(p.sim.Calls()) > 0 {
		t.Errorf("%+v", f)
	}
	close(goOn)
	for range maxDrawings {
		if err := <-sent; err != nil {
			t.Error(err)
		}
	}
}

// TestTheLongestCaptionFits checks that a caption with the longest title and names has at most 900
// characters. Telegram allows 1,024.
func TestTheLongestCaptionFits(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("@", 64)
	n := stats.Chart{Title: longest, Period: stats.ThreeMonths}
	for i := range stats.MaxCharted {
		n.Players = append(n.Players,
			ranking.Name{Player: ladder.PlayerID(i + 1), Name: longest + "🎾", Mark: strings.Repeat("#", 64)})
		if i%2 == 0 {
			n.Players[i].Name = "é" + strings.Repeat("\u0301", 100)
		}
	}
	inEachLanguage(t, func(t *testing.T, _ words, send func(notice.Notice) botsim.Message) {
		t.Helper()
		if m := send(n); len([]rune(m.Text)) > 900 {
			t.Errorf("%d characters", len([]rune(m.Text)))
		}
	})
}

// TestLettersInChartsAreExplained checks that letters stand for names that look the same after they
// are cut, and the caption explains the letters.
func TestLettersInChartsAreExplained(t *testing.T) {
	t.Parallel()
	p, _ := newCharts(t, 1500, 1516)
	long := "Maximiliana Alexandra "
	n := stats.Chart{Period: stats.Month}
	for i, name := range []string{long + "Smith", "Alice", long + "Jones"} {
		n.Players = append(n.Players, ranking.Name{Player: ladder.PlayerID(i + 1), Name: name})
	}
	m := messageOf(t, p.group.ID(), n)
	shown := func(i int) string { return "\n" + "ABC"[i:i+1] + ": " + isolate + n.Players[i].Name + endIsolate }
	if sent := p.mustSendChart(t, m); !strings.HasSuffix(sent.Text, "The last month"+shown(0)+shown(2)) {
		t.Errorf("the caption is %q", sent.Text)
	}
}

// TestChartData checks that the longest data of a chart's button reads back as the same chart, and
// data that the bot does not produce is rejected.
func TestChartData(t *testing.T) {
	t.Parallel()
	four := stats.Chart{Period: stats.ThreeMonths, ByMatch: true}
	for range stats.MaxCharted {
		four.Players = append(four.Players, ranking.Name{Player: 1<<40 - 1})
	}
	data := chartData(four)
	args, ok := argsOf(chartCode, data)
	if got, read := parseChart(args); !ok || !read || fmt.Sprint(got.Chart) != fmt.Sprint(four) {
		t.Errorf("%q is read as %+v", data, got)
	}
	for _, args := range []string{
		"", "month", "month:d", "month:d:", "week:d:1", "month:x:1", "month:d:0", "month:d:-1", "month:d:01", "month:d:A", "month:d:1,", "month:d:1:2",
		"month:d:1,2,3,4,5", "month::1",
	} {
		if n, ok := parseChart(args); ok {
			t.Errorf("%q is read as %+v", args, n)
		}
	}
}

// TestChartCommand checks that /chart finds people in the same way as other questions do. The
// buttons of a chart change it in place, but the button on a player's page posts a new chart.
func TestChartCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, want := range map[string]string{
		"/chart": "chart of ", "/chart @bob": "chart of " + team([]command.Person{{Username: "bob"}}),
		"/graph @bob @carol":                        "chart of " + team([]command.Person{{Username: "bob"}, {Username: "carol"}}),
		"/chart @a_a_a @b_b_b @c_c_c @d_d_d @e_e_e": `answer unclear_people {"reason":"too_many","command":"chart"}`,
	} {
		w.group.Say(w.alice, text)
		w.expect(text, want)
	}
	data := chartData(stats.Chart{Players: []ranking.Name{{Player: 36}}, Period: stats.Month})
	sent := w.below(w.group, data, "1o:36")
	w.sim.Press(w.alice, sent, data)
	w.expect("a chart", fmt.Sprintf("chart %+v in %d",
		stats.Chart{Players: []ranking.Name{{Player: 36}}, Period: stats.Month}, sent.ID))
	w.sim.Press(w.alice, sent, "1o:36")
	w.expect("a page", "post the chart of 36")
	card := w.card(w.group, 0)
	for _, forged := range []string{data, "1o:36"} {
		w.sim.Press(w.alice, card, forged)
		w.expect("a forged button", unknownButton)
	}
}
