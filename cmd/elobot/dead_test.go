package main_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

// letters runs the `elobot dead` commands with the environment env. pool, if set, is open on their
// database.
type letters struct {
	t    *testing.T
	env  []string
	pool *pgxpool.Pool
}

// noLetters returns letters for a new database. Its environment sets only the URL of the database.
func noLetters(t *testing.T) letters {
	t.Helper()
	url, pool := database(t)
	return letters{t, []string{"DATABASE_URL=" + url}, pool}
}

// elobot runs `elobot dead` to completion.
func (l letters) elobot(args ...string) (code int, stdout, stderr string) {
	l.t.Helper()
	return output(l.t, l.env, append([]string{"dead"}, args...)...)
}

var anyMoment = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// must runs `elobot dead` with space-separated arguments, and checks its exit code and output, in
// which NOW stands for any time.
func (l letters) must(args string, code int, stdout, stderr string) {
	l.t.Helper()
	gotCode, out, errs := l.elobot(strings.Fields(args)...)
	if gotCode != code {
		l.t.Errorf("dead %s ended with %d, want %d", args, gotCode, code)
	}
	if diff := cmp.Diff(stdout, anyMoment.ReplaceAllString(out, "NOW")); diff != "" {
		l.t.Errorf("dead %s on standard output (-want +got):\n%s", args, diff)
	}
	if diff := cmp.Diff(stderr, errs); diff != "" {
		l.t.Errorf("dead %s on standard error (-want +got):\n%s", args, diff)
	}
}

func (l letters) exec(sql string, args ...any) {
	l.t.Helper()
	if _, err := l.pool.Exec(l.t.Context(), sql, args...); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
}

// insert adds the dead letter of an update.
func (l letters) insert(update int64, payload, lastError string) {
	l.t.Helper()
	l.exec(`
		INSERT INTO dead_letters (kind, update_id, payload, last_error, attempts, first_seen_at)
		VALUES ('update', $1, $2, $3, 1, now())`, update, []byte(payload), lastError)
}

func (l letters) await(n int) {
	l.t.Helper()
	eventually(l.t, fmt.Sprintf("there are %d dead letters", n), func() bool {
		return count(l.t, l.pool, `SELECT count(*) FROM dead_letters`) == n
	})
}

const sayNoLetters = "There are no dead letters.\n"

// sayUnknown returns the error message for a dead letter that does not exist.
func sayUnknown(id int) string {
	return fmt.Sprintf("elobot: there is no dead letter %d: run `elobot dead list` to see them all\n", id)
}

// TestDead runs the tests of dead letters that need no running bot.
func TestDead(t *testing.T) {
	t.Parallel()
	l := noLetters(t)
	for _, test := range []func(letters){
		deadWithoutAny, deadNoticeThatIsNot, deadUpdatesThatCannotBeRead,
		deadWithoutTelegram, deadInterrupted, deadOfAnOutage,
	} {
		l.exec(`TRUNCATE dead_letters, chats RESTART IDENTITY CASCADE`)
		test(l)
	}
}

func deadWithoutAny(l letters) {
	l.must("retry all", 0, sayNoLetters, "")
	l.must("show 7", 1, "", sayUnknown(7))
	l.must("drop 8 7 8", 1, "", sayUnknown(7)+sayUnknown(8)+"elobot: 2 of 2 failed\n")
}

// testDeadNotice checks that a card refused by Telegram becomes a dead letter, and after a retry
// the running bot sends it.
func testDeadNotice(t *testing.T, b *botFixture) {
	l, alice, group := b.letters(), b.alice, b.group("Chess")
	b.sim.Fault(botsim.Fault{
		Kind: botsim.Reject, Method: "sendMessage", ChatID: group.ID(), Times: 1,
		Description: "Bad Request: can't parse \x1b[31mno\u009b " + strings.Repeat("way ", 40),
	})
	refused := group.Say(alice, "/match @bob 3:1")
	l.await(1)
	answered := group.Say(alice, "/match @bob 3:2")
	awaitAnswers(t, group, 1)

	code, out, errs := l.elobot("list")
	list := regexp.MustCompile(fmt.Sprintf(
		`^1  notice  20\S+Z  1 attempt  match_recorded to %d "Chess": .*Bad Request: [^\n]*no[^\n]* way w?a?y?…\n$`, group.ID()))
	if code != 0 || errs != "" || !list.MatchString(out) {
		t.Errorf("the list ended with %d: %s%s", code, errs, out)
	}
	code, shown, errs := l.elobot("show", "1")
	if code != 0 || errs != "" {
		t.Errorf("show ended with %d: %s", code, errs)
	}
	for _, want := range []string{
		"dead letter  1\nkind         notice\n", fmt.Sprintf(", notice %d, now dead\n", count(t, b.pool, `SELECT outbox_id FROM dead_letters`)), "attempts     1\n", strings.Repeat("way ", 39),
		"payload\n{\n  \"", "\"after\": 1516,\n",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown:\n%s", want, shown)
		}
	}
	checkHarmless(t, out+shown)

	l.must("retry 1", 0, "1: queued for sending\n", "") // needs no token
	answers := awaitAnswers(t, group, 2)
	b.settle()
	if answers[0].ReplyTo != answered.ID || answers[1].ReplyTo != refused.ID || len(group.BotMessages()) != 2 {
		t.Errorf("the answers are %+v", group.BotMessages())
	}
	says(t, visible(answers[1]), "Match #1")
}

// checkHarmless checks that a text contains none of several characters that control a terminal.
func checkHarmless(t *testing.T, text string) {
	t.Helper()
	if i := strings.IndexAny(text, "\x00\x1b\r\a\u009b\u202e\x7f"); i >= 0 {
		t.Errorf("a control character reaches the terminal: %q", text[max(0, i-20):i+1])
	}
}

// deadNoticeThatIsNot checks that a retry sends neither a notice that is not dead nor a notice that
// no longer exists. Dropping the dead letter of a dead notice does not revive the notice.
func deadNoticeThatIsNot(l letters) {
	t := l.t
	l.exec(`INSERT INTO chats (telegram_chat_id, kind, title) VALUES (-100, 'group', E'Cl\u202eub'), (5, 'private', '')`)
	l.exec(`INSERT INTO outbox (chat_id, kind, payload, state, finished_at)
		VALUES (1, 'ranking', '{}', 'sent', now()), (2, 'help', '{}', 'dead', now()), (1, 'joined', '{}', 'dead', now())`)
	for outbox := 1; outbox <= 4; outbox++ {
		l.exec(`INSERT INTO dead_letters (kind, outbox_id, payload, last_error, attempts, first_seen_at)
			VALUES ('notice', $1, '{}', E'no\n way', 2, now())`, outbox)
	}
	l.must("list --limit=3", 0, `4  notice  NOW  2 attempts  notice 4, which is gone: no way
3  notice  NOW  2 attempts  joined to -100 "Cl\u202eub": no way
2  notice  NOW  2 attempts  help to 5: no way
… and 1 more: use --limit=4 to list them
`, "")
	const kept = "elobot: dead letter %[1]d was not retried, because its notice is no longer dead: " +
		"`elobot dead show %[1]d` shows its state, `elobot dead drop %[1]d` deletes the dead letter\n"
	l.must("retry all", 1, "2: queued for sending\n3: queued for sending\n",
		fmt.Sprintf(kept, 1)+fmt.Sprintf(kept, 4)+"elobot: 2 of 4 failed\n")
	l.must("show 1", 0, `dead letter  1
kind         notice
about        ranking to -100 "Cl\u202eub", notice 1, now sent
first seen   NOW
last seen    NOW
attempts     2
last error   no
 way
payload
{}
`, "")
	l.exec(`UPDATE outbox SET state = 'dead', finished_at = now() WHERE id = 1`)
	l.must("drop 4 1 9", 1, "Dropped 2 dead letters.\n", sayUnknown(9)+"elobot: 1 of 3 failed\n")
	equal(t, count(t, l.pool, `SELECT count(*) FROM outbox WHERE state = 'dead'`), 1, "dead notices")
	l.must("list", 0, sayNoLetters, "")
}

// testDeadUpdate checks that the sender of a result that the database refuses is notified. A retry
// fails while the cause persists. Afterward, a retry records and answers the result once.
func testDeadUpdate(t *testing.T, b *botFixture) {
	l, alice, group := b.letters(), b.alice, b.group("Chess")
	group.Say(alice, "/match @bob 3:1")
	awaitAnswers(t, group, 1)
	l.exec(`ALTER TABLE matches ADD CONSTRAINT broken CHECK (score_a <> 17) NOT VALID`)
	posted := group.Say(alice, "/match @bob 17:2")
	l.await(1)
	attempts := func() int { return count(t, l.pool, `SELECT attempts FROM dead_letters`) }
	before := attempts()

	code, out, errs := l.elobot("retry", "1")
	if code != 2 || out != "" || !strings.Contains(errs, "TELEGRAM_BOT_TOKEN is not set") || attempts() != before {
		t.Errorf("without a token: %d: %s%s", code, out, errs)
	}
	l.env = b.env
	l.exec(`UPDATE dead_letters SET last_error = 'long ago', last_seen_at = now() - interval '1 day'`)
	code, out, errs = l.elobot("retry", "1")
	if code != 1 || out != "" ||
		!strings.HasPrefix(errs, "elobot: dead letter 1: handle update ") || !strings.Contains(errs, `"broken"`) {
		t.Errorf("the failing retry ended with %d: %s%s", code, out, errs)
	}
	if n := count(t, l.pool, `SELECT count(*) FROM dead_letters
		WHERE attempts = $1 AND last_error LIKE '%"broken"%'
		  AND last_seen_at > now() - interval '1 hour'`, before+1); n != 1 {
		t.Error("the failure is not recorded")
	}
	_, shown, _ := l.elobot("show", "1")
	for _, want := range []string{"kind         update\nabout        update ", `    "text": "/match @bob 17:2"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not shown:\n%s", want, shown)
		}
	}

	l.exec(`ALTER TABLE matches DROP CONSTRAINT broken`)
	l.exec(`CREATE TABLE copied AS SELECT update_id, payload FROM dead_letters`)
	l.must("retry all", 0, "1: handled\n", "")
	says(t, visible(awaitAnswers(t, group, 3)[1]), "/match @bob 17:2 was not done.")
	says(t, visible(group.BotMessages()[2]), "17:2", "Match #2")
	// A retry of an update that was handled before has no effect except that it removes the dead
	// letter.
	l.exec(`INSERT INTO dead_letters (kind, update_id, payload, last_error, attempts, first_seen_at)
		SELECT 'update', update_id, payload, 'copied', 1, now() FROM copied`)
	id := count(t, l.pool, `SELECT id FROM dead_letters`)
	l.must(fmt.Sprint("retry ", id), 0, fmt.Sprintf("%d: handled\n", id), "")
	l.await(0)
	b.settle()
	l.exec(`DROP TABLE copied`)
	equal(t, b.matches(group), 2, "matches")
	if all := group.BotMessages(); len(all) != 3 || all[1].ReplyTo != posted.ID || all[2].ReplyTo != posted.ID {
		t.Errorf("the answers are %+v", all)
	}
}

// deadUpdatesThatCannotBeRead checks that, on a retry, updates that cannot be decoded stay dead
// letters and others are handled. None of them can control the terminal.
func deadUpdatesThatCannotBeRead(l letters) {
	t := l.t
	sim := startTelegram(t)
	l.env = environment(sim, strings.TrimPrefix(l.env[0], "DATABASE_URL="))
	l.insert(71, "{\x1b[31m\xff", "\x1b]0;title\a\r\n\u202e"+strings.Repeat("é", 200))
	l.insert(72, "{\"message\": {\"text\": \"\u009b31m\x7f\U000e0001\"}}", "\x7f")
	l.insert(73, `{"update_id": 73, "message": {"text": 7}}`, "x")
	l.insert(74, `{"update_id": 74}`, "x")
	code, list, errs := l.elobot("list")
	if code != 0 || errs != "" || strings.Count(list, "\n") != 4 || !strings.Contains(list, "é…\n") {
		t.Errorf("the list ended with %d: %s%s", code, errs, list)
	}
	for id, want := range map[string]string{
		"1": `payload` + "\n" + `"{\x1b[31m\xff"`,
		"2": `    "text": "\u009b31m\u007f\udb40\udc01"`,
	} {
		_, shown, _ := l.elobot("show", id)
		if !strings.Contains(shown, want) {
			t.Errorf("%s is not shown:\n%s", want, shown)
		}
		list += shown
	}
	checkHarmless(t, list)
	code, out, errs := l.elobot("retry", "4", "3", "1", "9")
	if code != 1 || out != "4: handled\n" || strings.Count(errs, "update cannot be read") != 2 ||
		!strings.HasSuffix(errs, sayUnknown(9)+"elobot: 3 of 4 failed\n") {
		t.Errorf("the retry ended with %d: %s%s", code, out, errs)
	}
	if n := count(t, l.pool,
		`SELECT count(*) FROM dead_letters WHERE attempts = 2 AND last_error LIKE 'update cannot be read%'`); n != 2 {
		t.Errorf("%d dead letters failed again, want 2", n)
	}
	l.must("drop all", 0, "Dropped 3 dead letters.\n", "")
}

// deadWithoutTelegram checks that nothing is retried if Telegram refuses the token.
func deadWithoutTelegram(l letters) {
	t := l.t
	sim := startTelegram(t)
	l.env = environment(sim, strings.TrimPrefix(l.env[0], "DATABASE_URL="))
	l.insert(71, `{"update_id": 71}`, "x")
	sim.Fault(botsim.Fault{Kind: botsim.Reject, Status: 401, Description: "Unauthorized: bot" + sim.Token()})
	code, out, errs := l.elobot("retry", "all")
	if code != 3 || out != "" || !strings.Contains(errs, "BotFather") || strings.Contains(errs, sim.Token()) {
		t.Errorf("the retry ended with %d: %s%s", code, out, errs)
	}
	if n := count(t, l.pool, `SELECT count(*) FROM dead_letters WHERE attempts = 1`); n != 1 {
		t.Error("the dead letter has changed")
	}
}

// deadOfAnOutage checks that a retry or a drop can be limited to the dead letters of an outage, by
// time and error.
func deadOfAnOutage(l letters) {
	sim := startTelegram(l.t)
	l.env = environment(sim, strings.TrimPrefix(l.env[0], "DATABASE_URL="))
	for i, lastError := range []string{
		"password refused long before", "FATAL: Password refused", "100 percent", "password refused, once more",
	} {
		update := 71 + i
		l.insert(int64(update), fmt.Sprintf(`{"update_id": %d}`, update), lastError)
	}
	l.exec(`UPDATE dead_letters SET last_seen_at = '2026-01-01 12:00:00.7+00'`)
	l.exec(`UPDATE dead_letters SET last_seen_at = '2026-01-01 11:59:59.9+00' WHERE id = 1`)
	const none = "No dead letter is that recent and has such an error.\n"
	l.must("drop all --error=100%", 0, none, "")
	// The time has the format of `elobot dead list`.
	l.must("retry all --since=2026-01-01T12:00:00Z --error=PASSWORD", 0, "2: handled\n4: handled\n", "")
	l.must("drop all --since=2026-01-01T12:00:00Z", 0, "Dropped 1 dead letter.\n", "")
	l.must("drop all --error=refused", 0, "Dropped 1 dead letter.\n", "")
}

// TestDeadWithoutDatabase checks that `elobot dead list` says what is missing if DATABASE_URL is
// not set, and if the database is empty.
func TestDeadWithoutDatabase(t *testing.T) {
	t.Parallel()
	l := letters{t: t}
	if code, out, errs := l.elobot("list"); code != 2 || out != "" || !strings.Contains(errs, "DATABASE_URL is not set") {
		t.Errorf("dead list ended with %d: %s%s", code, out, errs)
	}
	l.env = []string{"DATABASE_URL=" + pgtest.Empty(t)}
	l.must("list", 1, "", "elobot: there is nothing of elobot in this database yet: `elobot run` creates its tables\n")
}

// deadInterrupted checks that an interrupted retry, here one that waits for a lock, counts neither
// as a success nor as a failed attempt at the update.
func deadInterrupted(l letters) {
	t := l.t
	sim := startTelegram(t)
	l.env = environment(sim, strings.TrimPrefix(l.env[0], "DATABASE_URL="))
	l.insert(71, `{"update_id": 71, "message": {"message_id": 3, "date": 1700000000, "text": "/help", "entities":
		[{"type": "bot_command", "offset": 0, "length": 5}], `+
		`"from": {"id": 5, "first_name": "A"}, "chat": {"id": 5, "type": "private"}}}`, "x")
	tx, err := l.pool.Begin(t.Context())
	must(t, err)
	if _, err := tx.Exec(t.Context(), "LOCK TABLE handled_commands"); err != nil {
		t.Fatal(err)
	}
	p := launch(t, l.env, "dead", "retry", "1")
	eventually(t, "the retry waits for the table", func() bool {
		return count(t, l.pool, `
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	})
	must(t, p.cmd.Process.Signal(os.Interrupt))
	if code := p.wait(t); code != 1 ||
		!strings.HasSuffix(p.output.String(), "elobot: stopped before the end: not everything was done\n") {
		t.Errorf("the retry ended with %d: %s", code, p.output)
	}
	must(t, tx.Rollback(t.Context()))
	if n := count(t, l.pool, `SELECT count(*) FROM dead_letters WHERE attempts = 1 AND last_error = 'x'`); n != 1 {
		t.Error("the dead letter has changed")
	}
}
