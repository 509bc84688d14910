package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"elobot/internal/botsim"
)

const webhookSecret = "s3cret-_0123456789"

// entrance is the public address of a bot. It forwards all requests to the bot's current address.
type entrance struct {
	*httptest.Server
	bot atomic.Pointer[url.URL]
}

func newEntrance(t *testing.T) *entrance {
	t.Helper()
	e := new(entrance)
	forward := &httputil.ReverseProxy{
		Rewrite:  func(r *httputil.ProxyRequest) { r.SetURL(e.bot.Load()) },
		ErrorLog: log.New(io.Discard, "", 0), // bots come and go
	}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e.bot.Load() == nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

// launch starts a bot behind the entrance, and waits until it listens.
func (e *entrance) launch(t *testing.T, env []string) *process {
	t.Helper()
	p := launch(t, append(env, "WEBHOOK_URL="+e.URL+"/telegram", "WEBHOOK_SECRET="+webhookSecret,
		"LISTEN_ADDR=127.0.0.1:0", "ADMIN_ADDR=127.0.0.1:0"), "run")
	e.lead(t, p)
	return p
}

// lead waits until a bot listens, and forwards all requests to it.
func (e *entrance) lead(t *testing.T, p *process) {
	t.Helper()
	eventually(t, "the bot serves", func() bool {
		found := servingAt.FindStringSubmatch(p.output.String())
		if found != nil {
			e.bot.Store(&url.URL{Scheme: "http", Host: found[1]})
		}
		return found != nil
	})
}

// post sends a request to the entrance, with secret in the header in which Telegram sends the
// webhook's secret. It returns the status of the response.
func (e *entrance) post(t *testing.T, method, path, secret string, body []byte) int {
	t.Helper()
	r, err := http.NewRequestWithContext(testContext(t), method, e.URL+path, bytes.NewReader(body))
	must(t, err)
	r.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	must(t, response.Body.Close())
	return response.StatusCode
}

// matchUpdate returns the update with the given id. In its message, whose id is message, Alice
// reports a result against @bob.
func matchUpdate(id int, group *botsim.Chat, alice botsim.User, message int) []byte {
	return fmt.Appendf(nil, `{"update_id":%d,"message":{"message_id":%d,"date":%d,"chat":{"id":%d,"type":"supergroup",`+
		`"title":"Chess"},"from":{"id":%d,"first_name":"Alice","username":"alice"},"text":"/match @bob 3:1",`+
		`"entities":[{"type":"bot_command","offset":0,"length":6},{"type":"mention","offset":7,"length":4}]}}`,
		id, message, time.Now().Unix(), group.ID(), alice.ID)
}

// TestWebhook checks that a bot can be switched from polling to a webhook and back, and an operator
// can inspect the webhook.
func TestWebhook(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	databaseURL, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	group := sim.Group("Chess", alice, bob)
	door := newEntrance(t)
	env := environment(sim, databaseURL)

	// An update that was polled and handled but not confirmed is delivered again to the webhook.
	remove := sim.Fault(botsim.Fault{Kind: botsim.CutBefore, Method: "getUpdates",
		Match: func(c botsim.Call) bool { return c.Params["offset"] != "" }})
	group.Say(alice, "/match @bob 3:1")
	polling := launch(t, env, "run")
	eventually(t, "the answer is sent",
		func() bool { return count(t, pool, `SELECT count(*) FROM outbox WHERE state = 'sent'`) == 1 })
	polling.kill()
	expireLease(t, pool, polling)
	if sim.Pending() != 1 {
		t.Fatalf("%d updates wait, want 1", sim.Pending())
	}
	remove()
	polls := sim.CallCount("getUpdates")
	bot := door.launch(t, env)
	must(t, sim.WaitConfirmed(testContext(t)))
	card := group.BotMessages()[0]
	press := sim.Press(bob, card, card.Buttons[0][0].CallbackData)
	if answer, err := sim.WaitAnswer(testContext(t), press); err != nil || answer.Text == "" {
		t.Errorf("the press is answered with %+v, %v", answer, err)
	}
	awaitAnswers(t, group, 2)
	if code, took := bot.stop(t); code != 0 {
		t.Fatalf("the bot ended with %d after %v", code, took)
	}
	if n := sim.CallCount("getUpdates"); n != polls {
		t.Errorf("there were %d polls", n-polls)
	}

	webhook := func(args ...string) string {
		t.Helper()
		p := launch(t, append(env, "WEBHOOK_URL="+door.URL+"/telegram", "WEBHOOK_SECRET="+webhookSecret),
			append([]string{"webhook"}, args...)...)
		equal(t, p.wait(t), 0, "exit code of webhook %v:\n%s", args, p.output)
		if output := p.output.String(); strings.Contains(output, webhookSecret) {
			t.Errorf("webhook %v shows the secret:\n%s", args, output)
		}
		return p.output.String()
	}
	says(t, webhook("info"), door.URL+"/telegram\n", "nothing: it matches WEBHOOK_URL")
	// A different secret is detected. The public listener serves no metrics.
	other := launch(t, append(env, "WEBHOOK_URL="+door.URL+"/telegram", "WEBHOOK_SECRET=another-one", "PORT=0"), "run")
	awaitWebhooks(t, sim, 2)
	eventually(t, "the bot serves", func() bool {
		found := servingAnywhere.FindStringSubmatch(other.output.String())
		if found != nil {
			door.bot.Store(&url.URL{Scheme: "http", Host: "127.0.0.1:" + found[1]})
		}
		return found != nil
	})
	for _, path := range []string{"/metrics", "/api/metrics"} {
		equal(t, door.post(t, "GET", path, "", nil), 404, "answer to %s", path)
	}
	says(t, webhook("info"), "differs in  secret")
	other.kill()
	expireLease(t, pool, other)
	webhook("set")
	awaitWebhooks(t, sim, 3)

	refused := launch(t, env, "run")
	if code := refused.wait(t); code != 3 || !strings.Contains(refused.output.String(), "elobot webhook delete") {
		t.Errorf("a bot that polls ends with %d:\n%s", code, refused.output)
	}
	group.Say(alice, "/match @bob 3:2")
	says(t, webhook("delete"), "The webhook is deleted")
	says(t, webhook("info"), "none: updates are polled", "waiting     1 update\n")
	launch(t, env, "run")
	awaitAnswers(t, group, 3)
	if n := count(t, pool, `SELECT count(*) FROM matches`); n != 2 || len(group.BotMessages()) != 3 {
		t.Errorf("%d matches were recorded, want 2, and %d messages were sent, want 3", n, len(group.BotMessages()))
	}
}

// awaitWebhooks waits until the webhook has been set n times.
func awaitWebhooks(t *testing.T, sim *botsim.Server, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("the webhook is set %d times", n),
		func() bool { return len(sim.CallsOf("setWebhook")) == n })
}

// TestBehindAWebhook runs tests one after another with the same bot, which has a webhook.
func TestBehindAWebhook(t *testing.T) {
	t.Parallel()
	b, door := newBotFixture(t), newEntrance(t)
	b.env = append(environment(b.sim, b.url), "LOG_LEVEL=info")
	b.bot = door.launch(t, b.env)
	b.joinAll()
	for _, tc := range []struct { //nolint:paralleltest // sequential, because they look at the whole database
		name string
		test func(*testing.T, *botFixture, *entrance)
	}{
		{"takes nothing else", testTakesNothingElse},
		{"metrics", testMetrics},
		{"every command is logged", testEveryCommandIsLogged},
		{"undo pressed by all", func(t *testing.T, b *botFixture, _ *entrance) { testUndoPressedByAll(t, b) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b.later.Add(61)
			in := *b
			in.t = t
			tc.test(t, &in, door)
			in.settle()
		})
	}
	b.finish()
}

// testTakesNothingElse checks that requests other than deliveries of an update with the secret are
// refused, and nothing in them is stored. Each update from Telegram that cannot be decoded becomes
// a dead letter with the reason.
func testTakesNothingElse(t *testing.T, b *botFixture, door *entrance) {
	group := b.group("Chess")
	good := matchUpdate(731000000, group, b.alice, 900)
	stored := func() int {
		return count(t, b.pool, `SELECT (SELECT count(*) FROM handled_commands) + (SELECT count(*) FROM dead_letters)
			+ (SELECT count(*) FROM matches) + (SELECT count(*) FROM chats)`)
	}
	before := stored()
	for name, tc := range map[string]struct {
		method, path, secret string
		body                 []byte
		want                 int
	}{
		"no secret":     {"POST", "/telegram", "", good, 401},
		"wrong secret":  {"POST", "/telegram", webhookSecret + "x", good, 401},
		"half a secret": {"POST", "/telegram", webhookSecret[:8], good, 401},
		"GET":           {"GET", "/telegram", webhookSecret, nil, 405},
		"too large":     {"POST", "/telegram", webhookSecret, append(good[:len(good)-1:len(good)-1], bytes.Repeat([]byte(" "), 1<<20)...), 413},
		"not JSON":      {"POST", "/telegram", webhookSecret, []byte("hello"), 400},
		"nothing":       {"POST", "/telegram", webhookSecret, nil, 400},
		"a list":        {"POST", "/telegram", webhookSecret, []byte(`[]`), 400},
		"no update":     {"POST", "/telegram", webhookSecret, []byte(`{"message":{}}`), 400},
		"another path":  {"POST", "/", webhookSecret, good, 404},
	} {
		equal(t, door.post(t, tc.method, tc.path, tc.secret, tc.body), tc.want, "answer to %s", name)
	}
	if n := stored(); n != before {
		t.Errorf("%d rows of refused requests are stored", n-before)
	}
	for _, status := range []string{"status=400", "status=401"} { // one line per minute each
		if n := len(regexp.MustCompile(`webhook request refused.* `+status).
			FindAllString(b.bot.output.String(), -1)); n != 1 {
			t.Errorf("the log reports %s %d times, want once", status, n)
		}
	}
	says(t, get(t, adminOf(t, b.bot)+"/metrics"), "elobot_webhook_requests_total{code=\"400\"} 4\n")

	const malformed = 12
	for i := range malformed {
		body := fmt.Appendf(nil, `{"update_id":%d,"message":{"message_id":"%d"}}`, 732000000+i, i)
		equal(t, door.post(t, "POST", "/telegram", webhookSecret, body), 200, "answer to a malformed update")
	}
	equal(t, count(t, b.pool, `SELECT count(DISTINCT update_id) FROM dead_letters WHERE last_error <> ''`),
		malformed, "dead letters")
	b.exec(`DELETE FROM dead_letters`)
	// Repeated deliveries of the same update have no effect.
	for range 3 {
		equal(t, door.post(t, "POST", "/telegram", webhookSecret, good), 200, "answer to an update")
	}
	awaitAnswers(t, group, 1)
	equal(t, b.matches(group), 1, "matches")
	if output := b.bot.output.String(); strings.Contains(output, webhookSecret) || strings.Contains(output, "/match") {
		t.Error("the log contains the secret or the text of a message")
	}
}

// testMetrics checks that the metrics count every sent notice as sent and delivered, and say that
// the bot dispatches.
func testMetrics(t *testing.T, b *botFixture, _ *entrance) {
	address := adminOf(t, b.bot)
	b.settle()
	var metrics struct {
		Dispatching     bool
		Sent, Delivered int
	}
	sent := count(t, b.pool, `SELECT count(*) FROM outbox WHERE state = 'sent'`)
	eventually(t, "the metrics include everything that was sent", func() bool {
		must(t, json.Unmarshal([]byte(get(t, address+"/api/metrics")), &metrics))
		return metrics.Sent == sent
	})
	if !metrics.Dispatching || metrics.Delivered != sent {
		t.Errorf("metrics: %+v", metrics)
	}
	if text := get(t, address+"/metrics"); !regexp.MustCompile(
		fmt.Sprintf(`(?m)^elobot_outbox_\w+ %d$`, sent)).MatchString(text) {
		t.Errorf("metrics:\n%s", text)
	}
}

// adminOf returns the URL of a bot's admin listener.
func adminOf(t *testing.T, p *process) string {
	t.Helper()
	found := servingMetrics.FindStringSubmatch(p.output.String())
	if found == nil {
		t.Fatal("the bot does not serve metrics")
	}
	return "http://" + found[1]
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(testContext(t), http.MethodGet, url, nil)
	must(t, err)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", url, response.Status, err)
	}
	return string(body)
}
