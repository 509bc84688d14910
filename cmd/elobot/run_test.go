package main_test

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

// TestConfiguration checks that, before anything starts, all errors from flags, the environment and
// the file are reported together, without secrets, and with hints at likely causes.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	// The file begins with a byte order mark, which editors on Windows write.
	file := "\ufeffTELEGRAM_BOT_TOKEN=123:hush-0123456789_abcdefghijkl\nLOG_LEVEL=${X:-hush}\nPORT=hush\n" +
		"DATABSE_URL=hush\nADMIN_ADDR hush\n"
	must(t, os.WriteFile(filepath.Join(folder, ".env"), []byte(file), 0o600))
	env := []string{"DATABASE_URL=postgres://elobot:hush@127.0.0.1:1/elobot", "PGSSLROOTCERT=/hush.pem",
		"LOG_FORMAT=hush", "PORT=8080", "WEBHOK_URL=hush"}
	bot := launchIn(t, folder, env, "run", "--undo-window=hush")
	code, output := bot.wait(t), bot.output.String()
	if code != 2 || !strings.HasPrefix(output, "elobot: the configuration is not valid, nothing was started:\n  - ") {
		t.Errorf("exit code %d:\n%s", code, output)
	}
	names := []string{".env cannot be read as settings in line 5:",
		"DATABSE_URL in .env is not a setting, but nearly DATABASE_URL:",
		"WEBHOK_URL in the environment is not a setting, but nearly WEBHOOK_URL:"}
	says(t, output, append(names, "sslrootcert", "UNDO_WINDOW must be", "LOG_LEVEL must be",
		"LOG_FORMAT must be", "LOG_LEVEL in line 2 of .env has a $")...)
	if n := strings.Count(output, "\n  - "); n != 8 || strings.Contains(output, "hush") {
		t.Errorf("%d lines are reported, want 7 faults, a hint and no secret:\n%s", n, output)
	}
	for command, code := range map[string]int{"verify": 2, "health": 2, "webhook info": 2, "doctor": 1, "version": 0} {
		p := launchIn(t, folder, env, strings.Fields(command)...)
		if got := p.wait(t); got != code {
			t.Errorf("elobot %s ended with %d, want %d:\n%s", command, got, code, p.output)
		}
		if code > 0 {
			says(t, p.output.String(), names...)
		}
	}
}

// TestNoDatabaseThere checks that, if no server listens at DATABASE_URL, the bot exits. Its output
// suggests a cause, and warns of settings without effect. Neither a missing passfile nor an API
// server with a path is a configuration error.
func TestNoDatabaseThere(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, ".env"),
		[]byte("COMPOSE_FILE=hush\nPGHOST=hush\nLOG_LEVEL=\"$COMPOSE_FILES\"\n"), 0o600))
	bot := launchIn(t, folder, []string{"TELEGRAM_BOT_TOKEN=" + unknownToken, "TELEGRAM_API_URL=http://127.0.0.1:1/path/",
		"ALL_PROXY=socks5://hush:1", "DATABASE_URL=postgres://elobot:hush@127.0.0.1:1/elobot?passfile=/nonexistent"}, "run")
	if code := bot.wait(t); code != 1 || strings.Contains(bot.output.String(), "hush") {
		t.Errorf("exit code %d:\n%s", code, bot.output)
	}
	says(t, bot.output.String(), "connect to the database", "Is PostgreSQL running",
		`file=.env names="COMPOSE_FILE, PGHOST"`,
		`hint="LOG_LEVEL in line 3 of .env has a $`, `hint="ALL_PROXY has no effect`)
}

// TestDatabaseFromBeforeTheFirstRelease checks that the bot and a repair refuse a database from
// before version 0.1.0, and say what to do.
func TestDatabaseFromBeforeTheFirstRelease(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	url, pool := database(t)
	_, err := pool.Exec(testContext(t), `UPDATE schema_migrations SET version = 111`)
	must(t, err)
	for _, args := range [][]string{{"run"}, {"verify", "--repair"}} {
		p := launch(t, environment(sim, url), args...)
		equal(t, p.wait(t), 3, "exit code of elobot %v", args)
		says(t, p.output.String(), "from before version 0.1.0, which cannot be brought up to date: use a new database")
	}
}

// TestNoUserInOutput checks that, if the server refuses the password in DATABASE_URL, then run,
// verify and doctor print no part of the user or the password. Neither does run if the URL is
// malformed.
func TestNoUserInOutput(t *testing.T) {
	t.Parallel()
	server, err := url.Parse(pgtest.ByTCP(t, pgtest.Empty(t)))
	must(t, err)
	for address, code := range map[string]int{
		"postgres://zqkuser:zq@zqk/w:zqk@" + server.Host + "/postgres": 2, "postgres//zqkuser:zqk@" + server.Host + "/postgres": 2,
		"postgres://zqkuser:zqk@" + server.Host + "/postgres": 1,
	} {
		commands := []string{"run"}
		if code == 1 {
			commands = []string{"run", "verify", "doctor"}
		}
		for _, command := range commands {
			bot := launch(t, []string{"TELEGRAM_BOT_TOKEN=" + unknownToken, "TELEGRAM_API_URL=http://127.0.0.1:1",
				"DATABASE_URL=" + address}, command)
			want := code
			if command == "doctor" {
				want = 1
			}
			if got := bot.wait(t); got != want || strings.Contains(bot.output.String(), "zqk") {
				t.Errorf("elobot %s with %s ends with %d:\n%s", command, address, got, bot.output)
			}
		}
	}
}

// TestWrongUsage checks that the error about wrong arguments points to the help and does not repeat
// misplaced secrets.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"start"}, {"run", "--123456:hush", "postgres://elobot:hush@localhost/elobot"},
		{"run", "--database-url=postgres://elobot:a", "hush", "word@localhost/elobot"}, {"run", "--database-url", "host=db", "password=hush"}} {
		bot := launch(t, nil, args...)
		if code := bot.wait(t); code != 2 || !strings.Contains(bot.output.String(), "elobot --help") ||
			strings.Contains(bot.output.String(), "hush") {
			t.Errorf("elobot %v ends with %d:\n%s", args, code, bot.output)
		}
	}
}

// TestHelp checks that asking for help or the version succeeds.
func TestHelp(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "Usage: elobot <command>"},
		{[]string{"help", "dead", "retry"}, "Usage: elobot dead retry"},
		{[]string{"version"}, "elobot dev (go1"},
		{[]string{"--version"}, "elobot dev (go1"},
	} {
		bot := launch(t, nil, tc.args...)
		if code := bot.wait(t); code != 0 || !strings.HasPrefix(bot.output.String(), tc.want) {
			t.Errorf("elobot %v ends with %d:\n%s", tc.args, code, bot.output)
		}
	}
}

// cutPoll cuts off the response to the poll that delivers the next update. cut returns that call.
func cutPoll(t *testing.T, sim *botsim.Server) (cut func() botsim.Call) {
	t.Helper()
	// A meaningless update ends the current poll, so the fault applies to the next poll.
	past := sim.Update([]byte(`{"poll":{"id":"1"}}`)) + 1
	isNext := func(c botsim.Call) bool { return c.Params["offset"] == strconv.FormatInt(past, 10) }
	sim.Fault(botsim.Fault{Kind: botsim.CutAfter, Name: "cut poll", Method: "getUpdates", Times: 1, Match: isNext})
	cut = func() botsim.Call {
		polls := faulted(sim, "getUpdates")
		if len(polls) == 0 {
			return botsim.Call{}
		}
		return polls[len(polls)-1]
	}
	eventually(t, "the next poll waits", func() bool { return cut().Fault == "cut poll" })
	return cut
}

// testEphemeralResults checks that equal ephemeral messages within a second are different results,
// but a message delivered twice is one result. A person's reply to an ephemeral message refers to
// that message. The bot never replies to an ephemeral message.
func testEphemeralResults(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	b.seen(group, b.alice, b.bob)
	now := group.Say(b.alice, "/ranking").Date
	said := func(p botsim.Post) {
		t.Helper()
		p.Date, p.Text = now, cmp.Or(p.Text, "/match @bob 3:1")
		group.Post(p)
		b.settle()
	}
	before := b.matches(group)
	for id := range 3 {
		for range 2 { // delivered twice, as one message
			said(botsim.Post{From: b.alice, EphemeralID: id + 1})
		}
	}
	said(botsim.Post{From: b.bob, EphemeralID: 1, Text: "/match @alice 1:3\n@alice 2:3"})
	equal(t, b.matches(group)-before, 5, "matches")
	update := `{"update_id":%d,"message":{"message_id":0,"date":%d,"chat":{"id":%d,"type":"supergroup","title":"Chess"},` +
		`"from":{"id":%d,"first_name":"Alice","username":"alice"},"caption":"/match @bob 3:1",` +
		`"caption_entities":[{"type":"bot_command","offset":0,"length":6},{"type":"mention","offset":7,"length":4}]}}`
	last := b.sim.Update([]byte(`{"poll":{}}`))
	for _, id := range []int64{last + 1, last + 2, last + 3, last + 3} {
		b.sim.Update([]byte(fmt.Sprintf(update, id, now.Unix(), group.ID(), b.alice.ID)))
		b.settle()
	}
	equal(t, b.matches(group)-before, 8, "matches")
	undo := func(message int, replied string) (undone int) {
		t.Helper()
		b.sim.Update([]byte(fmt.Sprintf(
			`{"message":{"message_id":%d,"date":%d,"chat":{"id":%d,"type":"supergroup","title":"Chess"},`+
				`"from":{"id":%d,"first_name":"Alice","username":"alice"},"text":"/undo",`+
				`"entities":[{"type":"bot_command","offset":0,"length":5}],`+
				`"reply_to_message":{"message_id":0%s}}}`, message, now.Unix(), group.ID(), b.alice.ID, replied)))
		b.settle()
		return count(t, b.pool, `
			SELECT count(*) FROM matches
			WHERE undone_at IS NOT NULL AND idempotency_key = $1`,
			fmt.Sprintf("u:%x", sha256.Sum256(fmt.Appendf(nil, "u:%d:%d:2", group.ID(), b.alice.ID))))
	}
	undone := func() int {
		return count(t, b.pool,
			`SELECT count(*) FROM matches WHERE undone_at IS NOT NULL AND starts_with(idempotency_key, $1)`, "u:")
	}
	if undo(9000, ""); undone() != 0 {
		t.Error("a reply to an unknown ephemeral message undoes a match")
	}
	if n := undo(9001, fmt.Sprintf(`,"ephemeral_message_id":2,"from":{"id":%d,"first_name":"Alice"}`,
		b.alice.ID)); n != 1 || undone() != 1 {
		t.Errorf("a reply to an ephemeral message undoes it %d times, and %d matches in all", n, undone())
	}
	for _, c := range b.sim.CallsOf("sendMessage") {
		if c.ChatID == group.ID() && strings.Contains(c.Params["reply_parameters"], `"message_id":0`) {
			t.Errorf("a request replies to no message: %v", c.Params)
		}
	}
}

// testDeliveredTwice checks that an update delivered twice has one effect and one answer.
func testDeliveredTwice(t *testing.T, b *botFixture) {
	sim, alice, group := b.sim, b.alice, b.group("Chess")
	cut := cutPoll(t, sim)
	group.Say(alice, "/match @bob 3:1")
	group.Say(alice, "/match @bob 3")
	group.Say(alice, "/ranking")
	awaitAnswers(t, group, 3)
	if c := cut(); c.Status != 0 || c.Shown == 0 {
		t.Errorf("the poll that was cut off showed %d updates, its status is %d", c.Shown, c.Status)
	}
	again := `{"message":{"message_id":%d,"date":1700000000,"chat":{"id":%d,"type":"supergroup","title":"Chess"},` +
		`"from":{"id":%d,"first_name":"Alice","username":"alice"},"text":"/match @bob 3:1",` +
		`"entities":[{"type":"bot_command","offset":0,"length":6},{"type":"mention","offset":7,"length":4}]}}`
	for _, m := range group.Messages() {
		if !m.From.IsBot {
			sim.Update([]byte(fmt.Sprintf(again, m.ID, group.ID(), alice.ID)))
		}
	}
	must(t, sim.WaitConfirmed(testContext(t)))
	group.Say(alice, "/join") // answered after all others
	if answers := awaitAnswers(t, group, 4); !strings.Contains(answers[3].Text, "you’re already in") {
		t.Errorf("a second answer came:\n%s", answers[3].Text)
	}
	equal(t, b.matches(group), 1, "matches")
}
