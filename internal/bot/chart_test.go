package bot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/chart"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// dot draws a chart as a picture of one pixel, which is quick.
func dot(chart.Chart) ([]byte, error) {
	var out bytes.Buffer
	err := png.Encode(&out, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black}))
	return out.Bytes(), err
}

// whenReady sends a message, as soon as its content is ready.
func whenReady(ctx context.Context, s outbox.Sender, m outbox.Message) (outbox.Receipt, error) {
	for {
		receipt, err := s.Send(ctx, m, atOnce)
		var f *outbox.Failure
		if !errors.As(err, &f) || f.Kind != outbox.NotReady {
			return receipt, err
		}
		<-f.Ready
	}
}

// newCharts is newPost with charts of the given ratings, which are drawn quickly, and counts how many are drawn.
func newCharts(t *testing.T, elos ...int) (p *post, drawn *atomic.Int32) {
	t.Helper()
	p, drawn = newPost(t), new(atomic.Int32)
	p.views.title = "Table tennis"
	p.rate(elos...)
	p.sender.pictures.draw = func(c chart.Chart) ([]byte, error) {
		drawn.Add(1)
		return dot(c)
	}
	return p, drawn
}

// rate sets the ratings that charts show.
func (p *post) rate(elos ...int) {
	p.views.given = nil
	for i, elo := range elos {
		p.views.given = append(p.views.given, stats.Rating{At: time.Unix(1_800_000_000+int64(i)*86_400, 0).UTC(), Match: i, Elo: elo})
	}
}

// rows gives each message a row of its own.
var rows atomic.Int64

// chart returns a chart of Alice.
func (p *post) chart(t *testing.T) outbox.Message {
	t.Helper()
	m := messageOf(t, p.group.ID(), stats.Chart{Players: []ranking.Name{{Player: 1, Name: "Alice"}}, Period: stats.Month})
	m.Row.ID = 1_000 + rows.Add(1)
	return m
}

func (p *post) mustSendChart(t *testing.T, m outbox.Message) botsim.Message {
	t.Helper()
	receipt, err := whenReady(testContext(t), p.sender, m)
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	sent, ok := p.group.Message(int(receipt.MessageID))
	if c := p.sim.Complaints(); !ok || len(c) > 0 {
		t.Fatalf("no message %d, or the simulator complains: %q", receipt.MessageID, c)
	}
	return sent
}

// TestSendChart: nothing is sent while the picture is drawn. Then it is a photo with a caption and buttons, which turn it in place.
func TestSendChart(t *testing.T) {
	t.Parallel()
	p, _ := newCharts(t, 1500, 1516)
	begun, goOn := make(chan struct{}), make(chan struct{})
	p.sender.pictures.draw = func(c chart.Chart) ([]byte, error) {
		close(begun)
		<-goOn
		return chart.Draw(c)
	}
	asked := p.group.Say(p.alice, "/chart")
	m := answering(p.chart(t), asked.ID)
	_, err := p.sender.Send(testContext(t), m, atOnce)
	<-begun
	_, again := p.sender.Send(testContext(t), m, atOnce)
	for _, err := range []error{err, again} {
		if f := failureOf(t, err); f.Kind != outbox.NotReady || len(p.sim.Calls()) > 0 {
			t.Errorf("%+v, requests %v", f, p.sim.Calls())
		}
	}
	close(goOn)
	sent := p.mustSendChart(t, m)
	if sent.Photo == nil || sent.Photo.Width != chart.Width || sent.Photo.Height != chart.Height || !sent.Silent || sent.ReplyTo != asked.ID {
		t.Errorf("sent %+v", sent)
	}
	if want := "Ratings · " + isolate + "Table tennis" + endIsolate + "\nThe last month"; sent.Text != want {
		t.Errorf("the caption is %q, want %q", sent.Text, want)
	}
	if len(p.sender.pictures.made) > 0 {
		t.Error("the picture is kept although it is sent")
	}
	p.sender.pictures.draw = dot
	turn := messageOf(t, p.group.ID(), stats.Chart{Players: []ranking.Name{{Player: 1, Name: "Анна 🎾"}}, Period: stats.AllTime, ByMatch: true})
	turn.Row.ID, turn.Action, turn.Target = 4, outbox.Page, int64(sent.ID)
	turned := p.mustSendChart(t, turn)
	if turned.ID != sent.ID || turned.Edits != 1 || turned.Photo.Width != 1 || !strings.HasSuffix(turned.Text, "\nA: "+isolate+"Анна 🎾"+endIsolate) {
		t.Errorf("turned to %+v", turned)
	}
	if turned.Buttons[0][2].Text != "✓ All" || turned.Buttons[1][1].Text != "✓ By match" {
		t.Errorf("buttons %+v", turned.Buttons)
	}
	turn.Row.ID = 5
	if same := p.mustSendChart(t, turn); same.Edits != 1 { // not modified, which is a success
		t.Errorf("turned to the same: %+v", same)
	}
}

// TestSamePictureIsNotUploadedAgain: for a minute, as long as nothing that it shows has changed.
func TestSamePictureIsNotUploadedAgain(t *testing.T) {
	t.Parallel()
	p, drawn := newCharts(t, 1500, 1516)
	now := time.Now()
	p.sender.pictures.now = func() time.Time { return now }
	ofDark := func(dark bool, language string) outbox.Message {
		m := p.chart(t)
		m.Dark, m.Language = dark, language
		return m
	}
	first := p.mustSendChart(t, p.chart(t))
	for i, step := range []struct {
		after   time.Duration
		elos    []int
		message outbox.Message
		same    bool
		drawn   int32
	}{
		{59 * time.Second, []int{1500, 1516}, p.chart(t), true, 1},
		{0, []int{1500, 1516}, ofDark(true, "en"), false, 2},
		{0, []int{1500, 1516}, ofDark(false, "de"), false, 3},
		{0, []int{1500, 1516, 1530}, p.chart(t), false, 4}, // a match
		{0, []int{1500, 1516}, p.chart(t), true, 4},
		{2 * time.Second, []int{1500, 1516}, p.chart(t), false, 5},
	} {
		now = now.Add(step.after)
		p.rate(step.elos...)
		sent := p.mustSendChart(t, step.message)
		if same := sent.Photo.FileID == first.Photo.FileID; same != step.same || drawn.Load() != step.drawn {
			t.Errorf("step %d: the same file %t, drawn %d, want %t and %d", i, same, drawn.Load(), step.same, step.drawn)
		}
	}
}

// TestForgottenFile: a file that Telegram does not know any more is uploaded again.
func TestForgottenFile(t *testing.T) {
	t.Parallel()
	p, drawn := newCharts(t, 1500, 1516)
	p.mustSendChart(t, p.chart(t))
	p.sim.ForgetPhotos()
	m := p.chart(t)
	_, err := whenReady(testContext(t), p.sender, m)
	if f := failureOf(t, err); f.Kind != outbox.Unreachable || p.sim.CallCount("sendPhoto") != 2 {
		t.Errorf("%+v", f)
	}
	if p.mustSendChart(t, m); drawn.Load() != 2 {
		t.Errorf("drawn %d times", drawn.Load())
	}
}

// TestNoPhotos: where the bot may not send photos it says so, once in an hour, and then sends charts as soon as it may.
func TestNoPhotos(t *testing.T) {
	t.Parallel()
	p, _ := newCharts(t, 1500, 1516)
	now := time.Now()
	p.sender.noPhotos.Now = func() time.Time { return now }
	sent := p.mustSendChart(t, p.chart(t))
	p.group.AllowPhotos(false)
	p.rate(1500, 1520)
	for i, after := range []time.Duration{0, 59 * time.Minute, 2 * time.Minute} {
		now = now.Add(after)
		m := answering(p.chart(t), sent.ID)
		receipt, err := whenReady(testContext(t), p.sender, m)
		said, found := p.group.Message(int(receipt.MessageID))
		if err != nil || found != (i != 1) || found && (said.Photo != nil || !strings.Contains(said.Text, "can’t send the chart") || said.ReplyTo != sent.ID) {
			t.Errorf("%d: %+v, %v", i, said, err)
		}
	}
	turn := p.chart(t)
	turn.Action, turn.Target = outbox.Page, int64(sent.ID)
	if _, err := whenReady(testContext(t), p.sender, turn); failureOf(t, err).Kind != outbox.Obsolete {
		t.Errorf("a chart is turned: %v", err)
	}
	p.group.AllowPhotos(true)
	if sent := p.mustSendChart(t, p.chart(t)); sent.Photo == nil {
		t.Errorf("sent %+v", sent)
	}
}

// TestChartsOfUnknownOutcome: the same picture is sent again. A rate limit keeps it too, and what Telegram refuses is forgotten.
func TestChartsOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault botsim.Fault
		kind  outbox.FailureKind
		kept  bool
	}{
		"cut":        {botsim.Fault{Method: "sendPhoto", Kind: botsim.CutAfter, Times: 1}, outbox.Ambiguous, true},
		"rate limit": {botsim.Fault{Method: "sendPhoto", Kind: botsim.TooManyRequests, RetryAfter: 3, Times: 1}, outbox.RateLimited, true},
		"refused":    {botsim.Fault{Method: "sendPhoto", Kind: botsim.Reject, Description: "Bad Request: of tomorrow", Times: 1}, outbox.Rejected, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, drawn := newCharts(t, 1500, 1516)
			p.sim.Fault(tc.fault)
			m := p.chart(t)
			_, err := whenReady(testContext(t), p.sender, m)
			if f := failureOf(t, err); f.Kind != tc.kind || len(p.sender.pictures.made) > 0 != tc.kept {
				t.Errorf("%+v, %d pictures are kept", f, len(p.sender.pictures.made))
			}
			if p.mustSendChart(t, m); (drawn.Load() == 1) != tc.kept {
				t.Errorf("drawn %d times", drawn.Load())
			}
		})
	}
}

// TestChartsThatCannotBeMade: what cannot be read is tried again, and nothing takes the process down.
func TestChartsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	p, _ := newCharts(t, 1500, 1516)
	m := p.chart(t)
	p.views.err = errors.New("no database")
	_, err := whenReady(testContext(t), p.sender, m)
	if f := failureOf(t, err); f.Kind != outbox.Unreachable || len(p.sim.Calls()) > 0 {
		t.Errorf("%+v", f)
	}
	p.views.err = nil
	p.sender.pictures.draw = func(chart.Chart) ([]byte, error) { panic("of the day") }
	_, err = whenReady(testContext(t), p.sender, m)
	if f := failureOf(t, err); f.Kind != outbox.Rejected || len(p.sim.Calls()) > 0 {
		t.Errorf("%+v", f)
	}
	p.sender.pictures.draw = dot
	p.mustSendChart(t, m)
}

// TestFewDrawingsAtOnce: two at most, and one core is left to everything else. Pictures that are not sent are dropped after a minute.
func TestFewDrawingsAtOnce(t *testing.T) {
	t.Parallel()
	p, _ := newCharts(t, 1500)
	now := time.Now()
	p.sender.pictures.now = func() time.Time { return now }
	var busy, most atomic.Int32
	turn := make(chan struct{})
	p.sender.pictures.draw = func(c chart.Chart) ([]byte, error) {
		if n := busy.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-turn
		defer busy.Add(-1)
		return dot(c)
	}
	var ready []<-chan struct{}
	for i := range 8 {
		m := messageOf(t, p.group.ID(), stats.Chart{Players: []ranking.Name{{Player: 1, Name: fmt.Sprint("Alice", i)}}, Period: stats.Month})
		m.Row.ID = int64(i)
		_, err := p.sender.Send(testContext(t), m, atOnce)
		ready = append(ready, failureOf(t, err).Ready)
	}
	for range ready {
		turn <- struct{}{}
	}
	for _, r := range ready {
		<-r
	}
	if want := int32(min(2, max(1, runtime.GOMAXPROCS(0)-1))); most.Load() > want {
		t.Errorf("%d drawings at the same time, want %d", most.Load(), want)
	}
	now = now.Add(pictureKept + time.Second)
	p.sender.pictures.draw = dot
	p.mustSendChart(t, p.chart(t))
	if n := len(p.sender.pictures.made); n > 0 {
		t.Errorf("%d pictures are kept", n)
	}
}

// slowViews read ratings until their context ends.
type slowViews struct {
	fakeViews
	begun   chan struct{}
	reading atomic.Int32
}

func (v *slowViews) Ratings(ctx context.Context, _ stats.Chart, _ time.Time) (stats.Ratings, error) {
	v.reading.Add(1)
	defer v.reading.Add(-1)
	v.begun <- struct{}{}
	<-ctx.Done()
	return stats.Ratings{}, ctx.Err()
}

// TestCloseEndsDrawings: a closed sender reads no ratings, neither for charts that are being drawn nor for those that wait to be drawn.
func TestCloseEndsDrawings(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	views := &slowViews{begun: make(chan struct{}, 8)}
	p.sender.WithViews(views)
	var ready []<-chan struct{}
	for range 4 {
		_, err := p.sender.Send(testContext(t), p.chart(t), atOnce)
		ready = append(ready, failureOf(t, err).Ready)
	}
	<-views.begun
	p.sender.Close()
	if n := views.reading.Load(); n > 0 {
		t.Errorf("%d charts are still read", n)
	}
	for i, r := range ready {
		select {
		case <-r:
		default:
			t.Errorf("chart %d is still being drawn", i+1)
		}
	}
}

// TestTheLongestCaptionFits: the simulator refuses longer ones.
func TestTheLongestCaptionFits(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("@", 64)
	n := stats.Chart{Title: longest, Period: stats.ThreeMonths}
	for i := range stats.MaxCharted {
		n.Players = append(n.Players, ranking.Name{Player: ranking.PlayerID(i + 1), Name: longest + "🎾", Mark: strings.Repeat("#", 64)})
		if i%2 == 0 {
			n.Players[i].Name = "é" + strings.Repeat("\u0301", 100)
		}
	}
	inEachLanguage(t, func(t *testing.T, _ words, send func(notice.Notice) botsim.Message) {
		t.Helper()
		if m := send(n); len([]rune(m.Text)) > 900 { // far from the limit
			t.Errorf("%d characters", len([]rune(m.Text)))
		}
	})
}

// TestLettersInChartsAreExplained: also those of names that are cut to the same.
func TestLettersInChartsAreExplained(t *testing.T) {
	t.Parallel()
	p, _ := newCharts(t, 1500, 1516)
	long := "Maximiliana Alexandra "
	n := stats.Chart{Period: stats.Month}
	for i, name := range []string{long + "Smith", "Alice", long + "Jones"} {
		n.Players = append(n.Players, ranking.Name{Player: ranking.PlayerID(i + 1), Name: name})
	}
	m := messageOf(t, p.group.ID(), n)
	m.Row.ID = 1
	shown := func(i int) string { return "\n" + "ABC"[i:i+1] + ": " + isolate + n.Players[i].Name + endIsolate }
	if sent := p.mustSendChart(t, m); !strings.HasSuffix(sent.Text, "The last month"+shown(0)+shown(2)) {
		t.Errorf("the caption is %q", sent.Text)
	}
}

// TestChartData: what a button says is read as it is written, and nothing else is.
func TestChartData(t *testing.T) {
	t.Parallel()
	four := stats.Chart{Period: stats.ThreeMonths, ByMatch: true}
	for range stats.MaxCharted {
		four.Players = append(four.Players, ranking.Name{Player: 1<<40 - 1})
	}
	data := chartData(four)
	args, ok := argsOf(chartCode, data)
	if got, read := parseChart(args); !ok || !read || fmt.Sprint(got) != fmt.Sprint(four) {
		t.Errorf("%q is read as %+v", data, got)
	}
	for _, args := range []string{
		"", "month", "month:d", "month:d:", "year:d:1", "month:x:1", "month:d:0", "month:d:-1", "month:d:01", "month:d:A", "month:d:1,", "month:d:1:2",
		"month:d:1,2,3,4,5", "month::1",
	} {
		if n, ok := parseChart(args); ok {
			t.Errorf("%q is read as %+v", args, n)
		}
	}
}

// TestChartCommand: who is meant is read as in other questions. The buttons of a chart turn it, and that of a player's page posts one.
func TestChartCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, want := range map[string]string{
		"/chart": "chart of ", "/chart @bob": "chart of " + team([]ranking.Person{{Username: "bob"}}),
		"/graph @bob @carol":                        "chart of " + team([]ranking.Person{{Username: "bob"}, {Username: "carol"}}),
		"/chart @a_a_a @b_b_b @c_c_c @d_d_d @e_e_e": `answer unclear_people {"reason":"too_many","command":"chart"}`,
	} {
		w.group.Say(w.alice, text)
		w.expect(text, want)
	}
	data := chartData(stats.Chart{Players: []ranking.Name{{Player: 36}}, Period: stats.Month})
	sent := w.below(w.group, data, "1o:36")
	w.sim.Press(w.alice, sent, data)
	w.expect("a chart", fmt.Sprintf("chart %+v in %d", stats.Chart{Players: []ranking.Name{{Player: 36}}, Period: stats.Month}, sent.ID))
	w.sim.Press(w.alice, sent, "1o:36")
	w.expect("a page", "post the chart of 36")
	card := w.card(w.group, 0)
	for _, forged := range []string{data, "1o:36"} {
		w.sim.Press(w.alice, card, forged)
		w.expect("a forged button", unknownButton)
	}
}
