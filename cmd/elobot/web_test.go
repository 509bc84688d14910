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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

// publicURL is the address at which browsers would reach the bot.
const publicURL = "https://elo.example.org"

var boardLink = regexp.MustCompile(regexp.QuoteMeta(publicURL) + `(/g/\d+/[\w-]+/)`)

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
	r, err := http.NewRequestWithContext(testContext(t), http.MethodGet,
		(&url.URL{Scheme: "http", Host: at[1]}).String()+path, nil)
	must(t, err)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	must(t, err)
	return resp
}

// followBoard subscribes to the events of a web board, as browsers do. changed receives the time of
// each event, and cut is closed when the connection ends.
func followBoard(t *testing.T, p *process, board string) (changed <-chan time.Time, cut <-chan struct{}) {
	t.Helper()
	resp := visit(t, p, board+"events") //nolint:bodyclose // the goroutine below closes it
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

// board makes an admin set a group's web board to a value: on turns it on, and new replaces its
// link. It returns the path of the link.
func (b *botFixture) board(group *botsim.Chat, value string) string {
	b.t.Helper()
	b.ask(group, b.olga, "/settings web "+value)
	link := boardLink.FindStringSubmatch(b.ask(group, b.bob, "/web").Text)
	if link == nil {
		b.t.Fatal("there is no link")
	}
	return link[1]
}

// TestWebBoard checks that only an admin can turn on the group's web board, and that its link then
// works for everyone. Each of two instances notifies its viewers of a match. A new link disconnects
// all viewers. If the bot is no longer a member, the group's viewers are disconnected too.
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
	equal(t, below(), publicURL+link[1], "address of the button below the ranking")
	var cuts []<-chan struct{}
	for _, p := range []*process{b.bot, second} {
		if status, page := browse(t, p, link[1]); status != http.StatusOK || !strings.Contains(page, "Alice") {
			t.Errorf("the page is %d %s", status, page)
		}
		changed, cut := followBoard(t, p, link[1])
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
	salt := collect(t, b.pool, pgx.RowTo[string], `SELECT web_salt::text FROM groups WHERE web_on`)[0]
	notices := collect(t, b.pool, pgx.RowTo[string], `SELECT payload::text FROM outbox`)
	for _, text := range append(notices, b.bot.output.String(), second.output.String()) {
		if strings.Contains(text, strings.Split(link[1], "/")[3]) || strings.Contains(text, salt) {
			t.Error("a log or a stored notice has the link or the salt")
		}
	}
	b.cutsWithoutBot()
	b.finish()
}

// cutsWithoutBot checks that, if the bot is kicked or removed, or the group deleted, viewers are
// disconnected and the link stops working. When the bot is back, the link works again.
func (b *botFixture) cutsWithoutBot() {
	t := b.t
	t.Helper()
	for what, leave := range map[string]func(*botsim.Chat){
		"kicked": (*botsim.Chat).Kick, "removed": func(group *botsim.Chat) { group.Leave(b.sim.Bot()) }, "deleted": (*botsim.Chat).DeleteGroup,
	} {
		group := b.group("Chess, " + what)
		link := b.board(group, "on")
		_, cut := followBoard(t, b.bot, link)
		begun := time.Now()
		leave(group)
		select {
		case <-cut:
		case <-testContext(t).Done():
			t.Fatalf("%s: the viewer is not cut", what)
		}
		t.Logf("%s: the viewer is cut after %v", what, time.Since(begun))
		if status, _ := browse(t, b.bot, link); status != http.StatusNotFound {
			t.Errorf("%s: the link leads to %d", what, status)
		}
		if what == "deleted" {
			continue
		}
		group.AddBot(b.olga)
		b.settle()
		if status, _ := browse(t, b.bot, link); status != http.StatusOK {
			t.Errorf("%s, and back: the link leads to %d", what, status)
		}
	}
}

// TestWebBoardAfterARestore checks which links and buttons work after the database was restored
// from a backup. A new group gets the id of a lost group that was newer than the backup, but the
// lost group's link does not open the new group's board. If the backup has an earlier link of a
// group, that link works again, and the newest does not. Buttons of lost messages, and replies to
// them, do not change new matches or prompts with the same numbers.
func TestWebBoardAfterARestore(t *testing.T) {
	t.Parallel()
	b := startBotFixture(t, "LISTEN_ADDR=127.0.0.1:0", "PUBLIC_URL="+publicURL)
	chess := b.group("Chess")
	earlier := b.board(chess, "on")
	b.settle()
	b.bot.stop(t)
	b.pool.Close()
	backup := pgtest.Copy(t, b.url)
	begin := func(url string) {
		t.Helper()
		pool, err := pgxpool.New(t.Context(), url)
		must(t, err)
		t.Cleanup(pool.Close)
		b.url, b.pool = url, pool
		b.env = append(b.env, "DATABASE_URL="+url)
		b.bot = launch(t, b.env, "run")
	}

	begin(b.url)
	lost := b.board(b.group("Go"), "on")
	newest := b.board(chess, "new")
	check := func(what, path string, want int) {
		t.Helper()
		if status, _ := browse(t, b.bot, path); status != want {
			t.Errorf("%s: it leads to %d, want %d", what, status, want)
		}
	}
	check("the link of a group that the backup does not know, before the restore", lost, http.StatusOK)
	check("the newest link, before it", newest, http.StatusOK)
	check("the earlier link, before it", earlier, http.StatusNotFound)
	messages := b.loseMessages(chess)
	b.settle()
	b.bot.stop(t)

	begin(backup)
	secret := b.board(b.group("Secret society"), "on")
	check("the link of a group that the backup does not know", lost, http.StatusNotFound)
	check("the link of another group", secret, http.StatusOK)
	check("the newest link", newest, http.StatusNotFound)
	check("the earlier link", earlier, http.StatusOK)
	if id := func(path string) string { return strings.Split(path, "/")[2] }; id(lost) != id(secret) {
		t.Errorf("the ids differ: %s and %s", lost, secret)
	}
	messages.check(b, chess)
	b.finish()
}
