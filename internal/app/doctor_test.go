package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
)

// TestFindings checks that findings about facts that are hard to bring about in a test have the
// expected text.
func TestFindings(t *testing.T) {
	t.Parallel()
	good := postgres.ServerFacts{Version: "17.2", Major: 17, MayCreate: true, Owns: true}
	server := func(change func(*postgres.ServerFacts)) func(*doctor) {
		return func(d *doctor) {
			f := good
			f.Now = time.Now()
			change(&f)
			d.server(f, "db:5432/elobot")
		}
	}
	account := func(self telegram.Self) func(*doctor) {
		return func(d *doctor) {
			d.self = self
			d.account()
		}
	}
	now := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	deliveries := func(webhook string, state telegram.WebhookState) func(*doctor) {
		return func(d *doctor) {
			d.config = &Config{WebhookConfig: WebhookConfig{WebhookURL: webhook}}
			d.deliveries(state, now)
		}
	}
	const hook = "https://elo.example.org/secret"
	failed := telegram.WebhookState{URL: hook, Pending: 3, LastError: "Wrong response: 503",
		LastErrorAt: now.Add(-2 * time.Hour)}
	failing, differs := failed, failed
	failing.LastErrorAt, differs.Differences = now.Add(-time.Minute), []string{"secret"}
	for name, tc := range map[string]struct {
		examine func(*doctor)
		want    string
	}{
		"good server": {server(func(*postgres.ServerFacts) {}), `
			✓ database: PostgreSQL 17.2 at db:5432/elobot
			✓ encryption: none, which is fine: the connection stays on this machine
			✓ rights: the role may create, read and write tables
			✓ clocks: ahead of this machine: database +0 s`},
		"too old": {server(func(f *postgres.ServerFacts) { f.Version, f.Major = "14.9", 14 }), `
			✗ database: PostgreSQL 14.9 at db:5432/elobot is too old: upgrade it to 15 or newer`},
		"TLS": {server(func(f *postgres.ServerFacts) { f.TLS = "TLS 1.3" }), `
			✓ encryption: TLS 1.3`},
		"not encrypted": {server(func(f *postgres.ServerFacts) { f.Exposed = true }), `
			✗ encryption: none: others can read and change what the bot and the database tell each other. ` +
			`Add sslmode=verify-full to DATABASE_URL`},
		"no tables of its own": {server(func(f *postgres.ServerFacts) { f.Owns = false }), `
			✗ rights: the role does not own the bot's tables, which upgrades change: make it their owner`},
		"a clock is ahead": {server(func(f *postgres.ServerFacts) { f.Now = time.Now().Add(time.Hour) }), `
			✗ clocks: ahead of this machine: database +3600 s. Synchronize the clocks, for example with NTP`},
		"another C library": {server(func(f *postgres.ServerFacts) { f.Database, f.Collation, f.ActualCollation = `elo"bot`, "2.31", "2.36" }), `
			✗ collation: the database sorts by version 2.31 of its language's rules, and the server has 2.36, ` +
			`so that names may not be found. ` +
			`Run REINDEX DATABASE "elo""bot"; and then ALTER DATABASE "elo""bot" REFRESH COLLATION VERSION;`},
		"asynchronous standbys": {server(func(f *postgres.ServerFacts) { f.Asynchronous = 2 }), `
			✓ replication: asynchronous (standbys: 2), so that a failover may lose`},
		"the webhook had an error": {deliveries(hook, failed), `
			✓ updates: by webhook at elo.example.org, 3 waiting at Telegram, ` +
			`last error "Wrong response: 503" at 2026-03-01T12:00:00Z`},
		"the webhook has an error": {deliveries(hook, failing), `
			✗ updates: Telegram cannot deliver them to elo.example.org: 3 waiting at Telegram, ` +
			`last error "Wrong response: 503" at 2026-03-01T13:59:00Z. Is`},
		"the webhook differs": {deliveries(hook, differs), `
			✗ updates: the webhook at Telegram differs in secret: ` + "`elobot run` or `elobot webhook set` corrects it" +
			` (3 waiting at Telegram, last error "Wrong`},
		"the webhook is not wanted": {deliveries("", failed), `
			✗ updates: Telegram delivers them to elo.example.org, so that the bot cannot poll: run ` +
			"`elobot webhook delete`" + `, or set WEBHOOK_URL (3 waiting at Telegram, last error "Wrong`},
		"no groups": {account(telegram.Self{ID: 7, Username: "elo_bot"}), `
			✗ groups: nobody can add the bot to a group: send /setjoingroups to @BotFather, and choose Enable`},
		"privacy mode off": {account(telegram.Self{ID: 7, Username: "elo_bot", JoinsGroups: true, ReadsAll: true}), `
			✓ groups: anybody may add the bot: https://t.me/elo_bot?startgroup=true
			✓ privacy mode: off: the bot receives all messages`},
		"just crashed": {func(d *doctor) { d.lease(postgres.WorkFacts{Leader: "host/7", LeaseEnds: -time.Minute}) }, `
			✗ lease: no bot is running on this database: host/7 ended without a clean stop 1m0s ago.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			var d doctor
			d.report = func(f Finding) {
				fmt.Fprintf(&b, "%s %s: %s\n", map[bool]string{true: "✓", false: "✗"}[f.OK], f.About, f.Text)
			}
			tc.examine(&d)
			for line := range strings.Lines(tc.want) {
				if line = strings.TrimSpace(line); !strings.Contains(b.String(), line) {
					t.Errorf("%q is not in\n%s", line, b.String())
				}
			}
		})
	}
}

// TestNewerTimeZones checks that the machine's zone files are mentioned only if they are newer than
// the zone files of this release.
func TestNewerTimeZones(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, text, want string }{
		{"tzdata.zi", "# version 2999b\n# redo posix_only\n", "2999b"}, {"+VERSION", "2999b\n", "2999b"}, {"+VERSION", "2999b", "2999b"},
		{"tzdata.zi", "# version " + ranking.TimeZoneEdition() + "\n", ""}, {"tzdata.zi", "# version 2025c\n# 2999b\n", ""},
		{"tzdata.zi", "# version unknown\n", ""}, {"tzdata.zi", "", ""}, {"zone.tab", "# version 2999b\n", ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tc.file), []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var found []Finding
		d := doctor{report: func(f Finding) { found = append(found, f) }}
		d.timeZones(dir)
		if said := len(found) == 1 && found[0].OK &&
			strings.Contains(found[0].Text, "the machine has "+tc.want); said != (tc.want != "") || len(found) > 1 {
			t.Errorf("%s with %q: %+v", tc.file, tc.text, found)
		}
	}
}

// TestHintOfDatabase checks that the hint mentions DATABASE_URL only if the operator has set it.
func TestHintOfDatabase(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		url  string
		want bool
	}{{"postgres://db/elobot", true}, {"", false}} {
		err := DatabaseConfig{DatabaseURL: tc.url}.withHint(errors.New("refused"))
		if strings.Contains(err.Error(), "DATABASE_URL") != tc.want || !strings.HasPrefix(err.Error(), "refused\n") {
			t.Errorf("with DATABASE_URL=%s: %v", tc.url, err)
		}
	}
}
