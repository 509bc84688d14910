package main_test

import (
	"bufio"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// publicURL is the address at which browsers would reach the bots.
const publicURL = "https://elo.example.org"

var boardLink = regexp.MustCompile(regexp.QuoteMeta(publicURL) + `(/g/\d+/[\w-]+/)`)

// browse asks a bot for a page, and returns its status and content.
func browse(t *testing.T, p *process, path string) (int, string) {
	t.Helper()
	resp := visit(t, p, path)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(body)
}

func visit(t *testing.T, p *process, path string) *http.Response {
	t.Helper()
	var at []string
	eventually(t, "the bot serves", func() bool {
		at = servingAt.FindStringSubmatch(p.output.String())
		return at != nil
	})
	r, err := http.NewRequestWithContext(testContext(t), http.MethodGet, (&url.URL{Scheme: "http", Host: at[1]}).String()+path, nil)
	must(t, err)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	must(t, err)
	return resp
}

// TestWebBoard: admins turn the web board of their group on, and everybody gets its link. It shows each match at once, on all instances,
// whichever of them has recorded it. A new link cuts all viewers off.
func TestWebBoard(t *testing.T) {
	t.Parallel()
	b := startBotFixture(t, "LISTEN_ADDR=127.0.0.1:0", "PUBLIC_URL="+publicURL)
	second := launch(t, b.env, "run")
	second.await(t, "another instance leads")
	group := b.group("Chess")
	b.ask(group, b.alice, "/match @bob 3:1")
	says(t, visible(b.ask(group, b.alice, "/web")), "no web board")
	says(t, visible(b.ask(group, b.alice, "/settings web on")), "admin")
	says(t, visible(b.ask(group, b.olga, "/settings web on")), "The web board is on")
	link := boardLink.FindStringSubmatch(b.ask(group, b.bob, "/web").Text)
	if link == nil {
		t.Fatal("there is no link")
	}
	below := func() string {
		for _, row := range b.ask(group, b.alice, "/ranking").Buttons {
			for _, button := range row {
				if button.URL != "" {
					return button.URL
				}
			}
		}
		return ""
	}
	if got := below(); got != publicURL+link[1] {
		t.Errorf("below the ranking is a button to %q", got)
	}
	follow := func(p *process) (changed <-chan time.Time, cut <-chan struct{}) {
		resp := visit(t, p, link[1]+"events") //nolint:bodyclose // the goroutine below closes it
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("the events are %s", resp.Status)
		}
		events, end := make(chan time.Time, 100), make(chan struct{})
		go func() {
			defer close(end)
			defer resp.Body.Close()
			for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "data:") {
					events <- time.Now()
				}
			}
		}()
		return events, end
	}
	var cuts []<-chan struct{}
	for _, p := range []*process{b.bot, second} {
		if status, page := browse(t, p, link[1]); status != http.StatusOK || !strings.Contains(page, "Alice") {
			t.Errorf("the page is %d %s", status, page)
		}
		changed, cut := follow(p)
		cuts = append(cuts, cut)
		begun := time.Now()
		b.ask(group, b.alice, "/match @carol 3:1")
		select {
		case at := <-changed:
			t.Logf("a match is told after %v", at.Sub(begun))
		case <-cut:
			t.Fatal("the viewer is cut")
		case <-testContext(t).Done():
			t.Fatal("nobody tells of the match")
		}
		if _, page := browse(t, p, link[1]); !strings.Contains(page, "carol") {
			t.Errorf("the page does not show the match: %s", page)
		}
	}
	begun := time.Now()
	frame := b.ask(group, b.olga, "/settings")
	says(t, b.choose(b.olga, frame, "1c:online", "1c:web:new"), "new link")
	for _, cut := range cuts {
		<-cut
	}
	t.Logf("all are cut after %v", time.Since(begun))
	for _, p := range []*process{b.bot, second} {
		if status, _ := browse(t, p, link[1]); status != http.StatusNotFound {
			t.Errorf("the old link leads to %d", status)
		}
	}
	if got := below(); got == publicURL+link[1] || !boardLink.MatchString(got) {
		t.Errorf("below the ranking is a button to %q", got)
	}
	for _, log := range []string{b.bot.output.String(), second.output.String()} {
		if strings.Contains(log, strings.Split(link[1], "/")[3]) {
			t.Error("the log has the link")
		}
	}
	b.finish()
}
