package main_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"elobot/internal/postgres/dbtest"
)

// TestHealthChecks checks that an instance is ready while the database answers and has this
// release's schema. It is healthy even while it is not ready.
func TestHealthChecks(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	url, pool := database(t)
	proxy, address, admin := dbtest.NewProxy(t, url), freeAddress(t), freeAddress(t)
	bot := launch(t, append(environment(sim, proxy.URL), "LISTEN_ADDR="+address, "ADMIN_ADDR="+admin), "run")
	bot.await(t, "msg=ready")
	says(t, get(t, "http://"+admin+"/readyz"), `"ready":true`)
	health := func(code int, want string) {
		t.Helper()
		p := launch(t, []string{"ADMIN_ADDR=" + admin}, "health")
		if got := p.wait(t); got != code || !strings.HasPrefix(p.output.String(), want) {
			t.Errorf("health ended with %d, want %d, %s:\n%s", got, code, want, p.output)
		}
	}
	answers := func(path string, code int, contents ...string) bool {
		t.Helper()
		r, err := http.NewRequestWithContext(testContext(t), http.MethodGet, "http://"+address+path, nil)
		must(t, err)
		response, err := http.DefaultClient.Do(r)
		must(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		must(t, err)
		for _, want := range contents {
			if !strings.Contains(string(body), want) {
				return false
			}
		}
		return response.StatusCode == code
	}
	isReady := func(when string) {
		t.Helper()
		eventually(t, "the bot is ready "+when, func() bool { return answers("/readyz", http.StatusOK, `"ready":true`) })
	}
	isUnready := func(when string) {
		t.Helper()
		eventually(t, "the bot is not ready "+when, func() bool {
			return answers("/readyz", http.StatusServiceUnavailable, "the database does not answer, or does not have the schema")
		})
		if !answers("/healthz", http.StatusOK, "ok") {
			t.Errorf("the process is not healthy %s", when)
		}
	}
	isReady("at first")
	eventually(t, "it leads", func() bool {
		return answers("/readyz", http.StatusOK, `"leader":true`)
	})
	health(0, "ready, leading\n")
	for _, names := range [][2]string{{"schema_migrations", "elsewhere"}, {"elsewhere", "schema_migrations"}} {
		if _, err := pool.Exec(t.Context(), fmt.Sprintf("ALTER TABLE %s RENAME TO %s", names[0], names[1])); err != nil {
			t.Fatal(err)
		}
		if names[1] == "elsewhere" {
			isUnready("without a schema")
		}
	}
	isReady("with its schema again")
	proxy.Stall()
	isUnready("while the database is silent")
	health(1, "elobot: not ready: the database does not answer")
	proxy.Resume()
	isReady("after the outage")
	bot.kill()
	health(1, "elobot: no answer: ")
}

// TestHealthWhileStarting checks that a bot that waits for Telegram or the database is healthy but
// not ready, and names what it waits for. It stops without an error, and has not printed its token.
func TestHealthWhileStarting(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	url, _ := database(t)
	silent := dbtest.NewProxy(t, url)
	silent.Stall()
	for name, tc := range map[string]struct{ setting, want string }{
		"Telegram does not answer":      {"TELEGRAM_API_URL=http://127.0.0.1:1", "Telegram"},
		"the database does not answer":  {"DATABASE_URL=" + silent.URL, "the database"},
		"the database refuses sessions": {"DATABASE_URL=postgres://elobot@127.0.0.1:1/elobot", "the database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			public, admin := freeAddress(t), freeAddress(t)
			bot := launch(t, append(environment(sim, url), tc.setting, "LISTEN_ADDR="+public, "ADMIN_ADDR="+admin), "run")
			answers := func(address, path string) (code int, body string) {
				r, err := http.NewRequestWithContext(testContext(t), http.MethodGet, "http://"+address+path, nil)
				must(t, err)
				response, err := http.DefaultClient.Do(r)
				if err != nil {
					return 0, err.Error()
				}
				defer response.Body.Close()
				content, err := io.ReadAll(response.Body)
				if err != nil {
					return 0, err.Error()
				}
				return response.StatusCode, string(content)
			}
			for _, address := range []string{admin, public} {
				eventually(t, "the process is healthy", func() bool {
					code, _ := answers(address, "/healthz")
					return code == http.StatusOK
				})
				eventually(t, "the process says what it waits for", func() bool {
					code, body := answers(address, "/readyz")
					return code == http.StatusServiceUnavailable &&
						strings.Contains(body, `"problem":"starting, waiting for `+tc.want+`"`)
				})
			}
			code, body := answers(admin, "/metrics")
			if code != http.StatusOK || !strings.Contains(body, "elobot_outbox_dispatching 0") {
				t.Errorf("the metrics are %d:\n%s", code, body)
			}
			if tc.want == "Telegram" {
				bot.await(t, "failed to ask Telegram")
			}
			stopCleanly(t, bot)
			if _, secret, _ := strings.Cut(sim.Token(), ":"); strings.Contains(bot.output.String(), secret) {
				t.Error("the output contains the token")
			}
		})
	}
}
