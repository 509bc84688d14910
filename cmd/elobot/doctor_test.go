package main_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
)

// patient is a bot that the doctor examines.
type patient struct {
	*botFixture
}

// examine runs the doctor. It checks the exit code, and that the output contains the findings in
// want and no secret. “✗ lease: free” stands for a line marked ✗ about the lease that contains
// free.
func (p patient) examine(when string, code int, env []string, want ...string) {
	p.t.Helper()
	doctor := launch(p.t, append(plainEnvironment(p.sim, p.url), env...), "doctor")
	got, output := doctor.wait(p.t), doctor.output.String()
	if got != code {
		p.t.Errorf("%s, the doctor ended with %d, want %d", when, got, code)
	}
	lines := strings.Split(output, "\n")
	for _, w := range want {
		mark, rest, _ := strings.Cut(w, " ")
		about, text, _ := strings.Cut(rest, ": ")
		found := false
		for _, line := range lines {
			found = found || strings.HasPrefix(line, fmt.Sprintf("%s %-13s ", mark, about)) && strings.Contains(line, text)
		}
		if !found {
			p.t.Errorf("%s, %q is not in\n%s", when, w, output)
		}
	}
	if strings.Contains(output, p.sim.Token()) || strings.Contains(output, "hush") {
		p.t.Errorf("%s, the doctor shows a secret:\n%s", when, output)
	}
}

// TestDoctor checks that the doctor finds nothing wrong with a healthy bot, and reports everything
// that the test breaks. Faults that do not hide each other are caused together.
func TestDoctor(t *testing.T) {
	t.Parallel()
	p := patient{startBotFixture(t)}
	p.settle()
	p.examine("while the bot runs", 0, nil, "✓ settings: valid", "✓ token: @", "✓ groups: may add",
		"✓ privacy mode: off: the bot receives all", "✓ updates: by polling, 0 waiting", "✓ database: PostgreSQL 1",
		"✓ encryption: none, which is fine", "✓ rights: create", "✓ clocks: Telegram +", "✓ schema: this release",
		"✓ owner: belongs to @", "✓ lease: leads", "✓ backlog: 0 notices", "✓ dead letters: none")
	if code, _ := p.bot.stop(t); code != 0 {
		t.Fatalf("the bot ended with %d", code)
	}
	p.withOtherSettings()
	p.throughProxies()
	p.withFaults()
	p.withoutRights()
}

// twoHosts returns a DATABASE_URL with two hosts. The first does not answer.
func (p patient) twoHosts(sslmode string) string {
	address := pgtest.WithParameter(pgtest.ByTCP(p.t, p.url), "sslmode", sslmode)
	return "DATABASE_URL=" + strings.Replace(address, "@", "@127.0.0.1:1,", 1)
}

func (p patient) withOtherSettings() {
	p.t.Helper()
	p.examine("with wrong settings and a revoked token", 1,
		[]string{"LOG_LEVEL=hush", "PORT=hush", "TELEGRAM_BOT_TOKEN=1:hush-0123456789_abcdefghij"},
		"✗ settings: LOG_LEVEL must be", "✗ settings: PORT must be", "✓ schema: ",
		"✗ token: refused by Telegram, perhaps because it was revoked: copy it from @BotFather into TELEGRAM_BOT_TOKEN")
	p.examine("without a token, with an empty database", 1,
		[]string{"TELEGRAM_BOT_TOKEN=", "DATABASE_URL=" + pgtest.Empty(p.t)},
		"✗ settings: TELEGRAM_BOT_TOKEN is not set", "✓ schema: none yet")
	p.examine("without Telegram, with two hosts", 1, []string{"TELEGRAM_API_URL=http://127.0.0.1:1", p.twoHosts("prefer")},
		"✗ Telegram: http://127.0.0.1:1 does not answer: check the network, and TELEGRAM_API_URL if it is set (getMe: ",
		"✗ sslmode: Add sslmode=", "✓ schema: ")
	p.examine("without a database server, with wrong proxies", 1,
		[]string{"DATABASE_URL=postgres://elobot:hush@127.0.0.1:1/elobot", "HTTP_PROXY=hush", "ALL_PROXY=socks5://hush:1"},
		"✓ settings: valid", "✗ settings: HTTP_PROXY is not the address of a proxy", "✗ settings: ALL_PROXY has no effect",
		"✓ token: @", "✗ database: Is PostgreSQL running")
}

// throughProxies runs the doctor with a proxy, and with a proxy that NO_PROXY disables. Requests to
// the loopback interface never use a proxy, so the simulator is first the proxy, and then a server
// with a non-loopback address.
func (p patient) throughProxies() {
	p.t.Helper()
	address, err := url.Parse(p.sim.URL())
	must(p.t, err)
	p.examine("through a proxy", 0,
		[]string{"TELEGRAM_API_URL=http://elobot.invalid/", "HTTP_PROXY=http://elobot:hush@" + address.Host},
		"✓ proxy: http://"+address.Host+", for requests to elobot.invalid", "✓ token: @", "✓ lease: free")
	here := "0.0.0.0:" + address.Port()
	p.examine("past a proxy, with two hosts and sslmode", 0,
		[]string{"TELEGRAM_API_URL=http://" + here, "http_proxy=elobot:hush@127.0.0.1:1", "NO_PROXY=0.0.0.0",
			p.twoHosts("disable")},
		"✓ proxy: none: by HTTP_PROXY and NO_PROXY, requests to "+here+" are direct", "✓ token: @", "✓ schema: ")
}

func (p patient) withFaults() {
	p.t.Helper()
	faults := []struct{ change, back, want string }{
		{`UPDATE pg_database SET datcollversion = '0.1' WHERE datname = current_database()`,
			`UPDATE pg_database SET datcollversion = NULL WHERE datname = current_database()`,
			"✗ collation: REFRESH COLLATION VERSION;"},
		{`UPDATE leases SET holder = 'host/7', expires_at = now() - interval '1 hour'`, `UPDATE leases SET holder = ''`,
			"✗ lease: host/7 ended without a clean stop 1h0m"},
		{`INSERT INTO outbox (chat_id, kind, payload, created_at)
			SELECT min(id), 'k', '{}', now() - interval '1 hour' FROM chats`,
			`DELETE FROM outbox WHERE kind = 'k'`, "✗ backlog: 1 notice waits, the oldest for 1h0m"},
		{`INSERT INTO dead_letters (kind, update_id, payload, last_error, attempts, first_seen_at)
			VALUES ('update', 1, '', 'x', 1, now())`, `DELETE FROM dead_letters`, "✗ dead letters: `elobot dead list`"},
		{`UPDATE bot SET telegram_user_id = telegram_user_id + 1`, `UPDATE bot SET telegram_user_id = telegram_user_id - 1`,
			"✗ owner: `elobot adopt`"},
	}
	want := []string{"✗ clocks: Synchronize the clocks", "✗ updates: `elobot webhook set` corrects it"}
	for _, f := range faults {
		p.exec(f.change)
		want = append(want, f.want)
	}
	p.later.Store(3600)
	hook := []string{"WEBHOOK_URL=https://elo.example.org/hush", "WEBHOOK_SECRET=hush"}
	p.examine("with another clock, without the webhook, and with faults in the database", 1, hook, want...)
	p.later.Store(0)
	for _, f := range faults {
		p.exec(f.back)
	}

	webhook := launch(p.t, append(plainEnvironment(p.sim, p.url), hook...), "webhook", "set")
	if code := webhook.wait(p.t); code != 0 {
		p.t.Fatalf("set the webhook: %s", webhook.output)
	}
	p.exec(`WITH chat AS (INSERT INTO chats (telegram_chat_id, kind, title) VALUES (-77, 'group', 'Chess') RETURNING id)
		INSERT INTO groups (former_chat_id, last_match_number) SELECT id, 3 FROM chat`)
	p.examine("with the webhook, and a group without a chat", 0, hook, "✓ updates: by webhook at elo.example.org, ",
		`✓ old rankings: of -77 "Chess" has no chat, and 3 of its matches are kept`)
	p.exec(`WITH chats AS (
			INSERT INTO chats (telegram_chat_id, kind, is_active, parked_at)
			VALUES (-78, 'group', false, now() - interval '366 days'), (-79, 'group', false, now() - interval '364 days'),
			    (-80, 'group', false, now() - interval '400 days'), (-81, 'group', true, now() - interval '400 days')
			RETURNING *)
		INSERT INTO groups (chat_id, web_on, web_salt)
		SELECT id, telegram_chat_id = -80, gen_random_uuid() FROM chats`)
	p.examine("with groups that removed the bot", 0, hook,
		"✓ old groups: 1 removed the bot a year ago or earlier, such as -78: `elobot forget --group=-78` deletes one")
	p.exec(`UPDATE schema_migrations SET dirty = true`)
	p.examine("with a webhook that is not wanted, and half a schema", 1, nil, "✗ schema: `elobot run` finishes it",
		"✗ updates: delivers them to elo.example.org, so that the bot cannot poll: run `elobot webhook delete`")
	p.exec(`UPDATE schema_migrations SET dirty = false`)
}

// withoutRights examines the database as a role that may read but not write.
func (p patient) withoutRights() {
	p.t.Helper()
	role := fmt.Sprintf("reader_%d", time.Now().UnixNano())
	p.exec(`CREATE ROLE ` + role + ` LOGIN PASSWORD 'hush'`)
	p.exec(`ALTER ROLE ` + role + ` SET default_transaction_read_only = on`)
	p.exec(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ` + role)
	address, err := url.Parse(p.url)
	must(p.t, err)
	address.User = url.UserPassword(role, "hush")
	p.examine("without rights", 1, []string{"DATABASE_URL=" + address.String()}, "✗ database: accepts no writes",
		"✗ rights: may not create tables", "✓ schema: ")
	p.exec(`DROP OWNED BY ` + role)
	p.exec(`DROP ROLE ` + role)
}

// TestDoctorBeforeTheFirstStart checks that, without DATABASE_URL, the doctor neither creates a
// database nor reports the missing database as a fault.
func TestDoctorBeforeTheFirstStart(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	sim := startTelegram(t)
	folder := filepath.Join(t.TempDir(), "data")
	p := patient{&botFixture{t: t, sim: sim, later: &later}}
	p.examine("before the first start", 0, []string{"DATA_DIR=" + folder},
		"✓ token: ", "✓ database: none yet: `elobot run` makes its own in "+folder, "✓ clocks: Telegram")
	help := launch(t, nil, "doctor", "--help")
	if code := help.wait(t); code != 0 ||
		!strings.Contains(strings.Join(strings.Fields(help.output.String()), " "), "starts the bot's own PostgreSQL") {
		t.Errorf("the help ends with %d and does not say what the doctor starts:\n%s", code, help.output)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the doctor made the folder: %v", err)
	}
}

// TestDoctorWithASilentDatabase checks that the doctor ends even if the database stops answering
// during the examination, and reports no fault once it is interrupted.
func TestDoctorWithASilentDatabase(t *testing.T) {
	t.Parallel()
	b := newBotFixture(t)
	// begin starts a doctor for which the database falls silent at a query.
	begin := func(t *testing.T, query string) (p *process, asked <-chan struct{}) {
		t.Helper()
		proxy := dbtest.NewProxy(t, b.url)
		silent, end := make(chan struct{}, 100), make(chan struct{})
		t.Cleanup(func() { close(end) })
		proxy.OnMessage(func(_ byte, body []byte) bool {
			if !bytes.Contains(body, []byte(query)) {
				return false
			}
			silent <- struct{}{}
			<-end
			return true
		})
		return launch(t, plainEnvironment(b.sim, proxy.URL), "doctor"), silent
	}
	for query, about := range map[string]string{
		"server_version_num": "database", "FROM schema_migrations": "schema", "FROM dead_letters": "schema",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			p, _ := begin(t, query)
			equal(t, p.wait(t), 1, "exit code")
			says(t, p.output.String(), fmt.Sprintf("✗ %-13s no answer within 5s: ", about))
		})
	}
	p, asked := begin(t, "FROM dead_letters")
	<-asked
	if code, _ := p.stop(t); code != 1 {
		t.Errorf("when broken off, the doctor ended with %d", code)
	}
	if output := p.output.String(); strings.Contains(output, "✗") {
		t.Errorf("a doctor that was broken off finds fault:\n%s", output)
	}
}
