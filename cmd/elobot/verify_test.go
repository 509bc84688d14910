package main_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

// mustVerify runs `elobot verify` and checks its exit code and output. In the arguments and the
// expected standard output, CHESS and GO stand for the groups' ids.
func (b *verifyFixture) mustVerify(t *testing.T, code int, stdout, stderr string, args ...string) {
	t.Helper()
	for i, a := range args {
		args[i] = b.ids.Replace(a)
	}
	gotCode, out, errs := output(t, b.env(), append([]string{"verify"}, args...)...)
	equal(t, gotCode, code, "exit code of verify %v", args)
	equal(t, out, b.ids.Replace(strings.TrimPrefix(stdout, "\n")), "verify %v on standard output", args)
	equal(t, errs, stderr, "verify %v on standard error", args)
}

// What verify prints to standard error.
const (
	sayRepairable = "elobot: differences found: " +
		"run again with --repair to correct everything that can be calculated from the matches\n"
	sayDiffers = "elobot: differences found that cannot be corrected, " +
		"because they cannot be calculated from the matches\n"
)

// verifyFixture is a database of two groups with matches, without a running bot.
type verifyFixture struct {
	url  string
	pool *pgxpool.Pool
	ids  *strings.Replacer // replaces CHESS and GO with the groups' ids
}

func (b *verifyFixture) env() []string { return []string{"DATABASE_URL=" + b.url} }

// newVerifyFixture plays four matches in one group and one in the other.
func newVerifyFixture(t *testing.T) *verifyFixture {
	t.Helper()
	sim := startTelegram(t)
	url, pool := database(t)
	alice, bob := sim.User("Alice"), sim.User("Bob")
	chess, second := sim.Group("Chess", alice, bob), sim.Group("Go", alice, bob)
	bot := launch(t, environment(sim, url), "run")
	for _, p := range []botsim.User{alice, bob} {
		chess.Say(p, "/join")
	}
	for _, command := range []string{
		"/match @bob 3:1", "/match @bob 11:7 7:11 11:9", "/match @bob 0:3", "/match @bob 2:2",
	} {
		chess.Say(alice, command)
	}
	awaitAnswers(t, chess, 6)
	second.Say(bob, "/match @alice 3:0")
	awaitAnswers(t, second, 1)
	awaitSettled(t, sim, pool, chess)
	awaitSettled(t, sim, pool, second)
	bot.stop(t)
	pool.Close() // a database with sessions cannot be copied
	return &verifyFixture{url, nil, strings.NewReplacer("CHESS", fmt.Sprint(chess.ID()), "GO", fmt.Sprint(second.ID()))}
}

// copy returns a fixture with a copy of the database.
func (b *verifyFixture) copy(t *testing.T) *verifyFixture {
	t.Helper()
	url := pgtest.Copy(t, b.url)
	pool, err := pgxpool.New(t.Context(), url)
	must(t, err)
	t.Cleanup(pool.Close)
	return &verifyFixture{url, pool, b.ids}
}

func (b *verifyFixture) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), b.ids.Replace(sql)); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// contents returns the standings and the history, which a repair rewrites if they are wrong.
func (b *verifyFixture) contents(t *testing.T) []string {
	t.Helper()
	return collect(t, b.pool, pgx.RowTo[string],
		`SELECT s::text FROM group_players s UNION ALL SELECT h::text FROM elo_history h ORDER BY 1`)
}

// TestVerify checks that verify reports the damage done to copies of a database, and repairs what
// can be calculated from the matches.
func TestVerify(t *testing.T) {
	t.Parallel()
	b := newVerifyFixture(t)
	for name, test := range map[string]func(*testing.T, *verifyFixture){
		"shows and repairs":       testVerifyShowsAndRepairs,
		"what cannot be repaired": testVerifyWhatCannotBeRepaired, "what cannot be calculated": testVerifyWhatCannotBeCalculated,
		"shows the first": testVerifyShowsTheFirst, "interrupted": testVerifyInterrupted,
		"without a chat": testVerifyWithoutAChat,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, b.copy(t))
		})
	}
}

// testVerifyWithoutAChat checks that a group whose chat now belongs to another group is named,
// verified and repaired.
func testVerifyWithoutAChat(t *testing.T, b *verifyFixture) {
	for _, sql := range []string{
		"UPDATE groups SET chat_id = NULL, former_chat_id = chat_id WHERE chat_id = (SELECT id FROM chats WHERE telegram_chat_id = GO)",
		"INSERT INTO groups (chat_id) SELECT id FROM chats WHERE telegram_chat_id = GO",
		"WITH l AS (INSERT INTO ladders (group_id, is_default, season_id) SELECT max(id), true, nextval('seasons_id_seq') FROM groups RETURNING *) INSERT INTO seasons (id, group_id, ladder_id, number) OVERRIDING SYSTEM VALUE SELECT season_id, group_id, id, 1 FROM l",
		"UPDATE group_players SET streak = 0 WHERE streak = 1 AND season_id = 2",
	} {
		b.exec(t, sql)
	}
	const found, outcome, named = `
group 2 of GO "Go", "Bob": the streak is 0, but should be 1
`, "Verified %s: %s.\n", `Without a chat: group 2 of GO "Go", with 1 match. Another group has the chat.
`
	b.mustVerify(t, 1, found+fmt.Sprintf(outcome, "2 groups with 1 match", "1 difference in 1 group")+named,
		sayRepairable, "--group=GO")
	b.mustVerify(t, 0, found+fmt.Sprintf(outcome, "3 groups with 5 matches", "1 difference in 1 group")+named+
		`group 2 of GO "Go": repaired
Verifying again:
`+fmt.Sprintf(outcome, "3 groups with 5 matches", "no differences")+named, "", "--repair")
}

// testVerifyShowsAndRepairs checks that a group damaged in many ways is reported before the repair
// and clean after it.
func testVerifyShowsAndRepairs(t *testing.T, b *verifyFixture) {
	for _, sql := range []string{
		"ALTER TABLE group_players DROP CONSTRAINT group_players_played_check",
		"UPDATE elo_history SET elo_before = elo_before + 1, best_before = 1600, elo_after = elo_after + 2 WHERE id = 5",
		"DELETE FROM elo_history WHERE id = 8",
		"UPDATE group_players SET elo = 1501, best_elo = 1700, played = 9 WHERE id = 1",
		"UPDATE group_players SET won = won + 1, lost = lost - 1, streak = 1 WHERE id = 2",
	} {
		b.exec(t, sql)
	}
	const found = `
CHESS "Chess", match 3, "Alice": the history says 1532 → 1514 (K 32, best 1600, streak 2, longest 2 before), ` +
		`but should say 1531 → 1512 (K 32, best 1531, streak 2, longest 2 before)
CHESS "Chess", match 4, "Bob": the history has no entry, ` +
		`but should say 1488 → 1489 (K 32, best 1500, streak 1, longest 1 before)
CHESS "Chess", "Alice": the rating is 1501, but should be 1511
CHESS "Chess", "Alice": the best rating is 1700, but should be 1531
CHESS "Chess", "Alice": the number of matches (won–drawn–lost) is 9 (2–1–1), but should be 4 (2–1–1)
CHESS "Chess", "Bob": the streak is 1, but should be 0
CHESS "Chess", "Bob": the number of matches (won–drawn–lost) is 4 (2–1–1), but should be 4 (1–1–2)
Verified 2 groups with 5 matches: 7 differences in 1 group.
`
	b.mustVerify(t, 1, found, sayRepairable)
	b.mustVerify(t, 0, found+`CHESS "Chess": repaired
Verifying again:
Verified 2 groups with 5 matches: no differences.
`, "", "--repair")
}

// testVerifyWhatCannotBeRepaired checks that data that cannot be calculated from the matches stays
// as it is, and the rest is repaired.
func testVerifyWhatCannotBeRepaired(t *testing.T, b *verifyFixture) {
	for _, sql := range []string{
		"DELETE FROM handled_commands WHERE key = (SELECT idempotency_key FROM matches WHERE id = 2)",
		"ALTER TABLE matches DROP CONSTRAINT matches_idempotency_key_key",
		"UPDATE matches SET idempotency_key = (SELECT idempotency_key FROM matches WHERE id = 4) WHERE id = 3",
		"UPDATE matches SET score_a = 0 WHERE id = 2",
		"UPDATE matches SET undone_at = now() WHERE id = 4",
		"UPDATE groups SET last_match_number = 3 WHERE id = 1",
		"UPDATE groups SET last_match_number = 2 WHERE id > 1",
	} {
		b.exec(t, sql)
	}
	const beyond = `CHESS "Chess", match 4: the group's counter has not reached this number yet; ` +
		`when it does, no match can be recorded
CHESS "Chess", match 2: the command that recorded it is not marked as handled
CHESS "Chess", match 3: another match has the same idempotency key
CHESS "Chess", match 4: another match has the same idempotency key
CHESS "Chess", match 2: the score does not match the sets: it is 0:1, but should be 2:1
`
	const beyondInGo = `GO "Go", match 2: no match has this number, although it was assigned
`
	b.mustVerify(t, 1, "\n"+beyondInGo+"Verified 1 group with 1 match: 1 difference in 1 group.\n", sayDiffers,
		"--group=GO", "--repair")
	code, stdout, stderr := output(t, b.env(), "verify", "--repair")
	_, again, _ := strings.Cut(stdout, b.ids.Replace("CHESS \"Chess\": repaired\nVerifying again:\n"))
	want := b.ids.Replace(beyond + beyondInGo + "Verified 2 groups with 5 matches: 6 differences in 2 groups.\n")
	if diff := cmp.Diff(want, again); diff != "" || code != 1 || stderr != sayDiffers {
		t.Errorf("the repair ended with %d: %s\n%s\n(-want +got after it):\n%s", code, stderr, stdout, diff)
	}
	if !strings.Contains(stdout, `match 4, "Bob": it is undone, but the history still says 1488 → 1489`) {
		t.Errorf("the entry of an undone match is not shown:\n%s", stdout)
	}
}

// testVerifyWhatCannotBeCalculated checks that, if a side of a match has no player, the ratings
// cannot be calculated, and a repair changes neither the standings nor the history.
func testVerifyWhatCannotBeCalculated(t *testing.T, b *verifyFixture) {
	b.exec(t, "UPDATE match_players SET side = 2 WHERE match_id = 2")
	b.exec(t, "UPDATE group_players SET best_elo = 1999")
	const found = `
CHESS "Chess", match 2: a side has no player, or a player without a standing in the ladder
`
	b.exec(t, "UPDATE elo_history SET k_factor = 16 WHERE id = 1")
	before := b.contents(t)
	b.mustVerify(t, 1, `
CHESS "Chess", match 1, "Alice": the history says 1500 → 1516 (K 16, best 1500, streak 0, longest 0 before), `+
		`but should say 1500 → 1516 (K 32, best 1500, streak 0, longest 0 before)
`+strings.TrimPrefix(found, "\n")+`Verified 1 group with 4 matches: 2 differences in 1 group.
CHESS "Chess": cannot be repaired: a match has a side without players, or a player without a standing
`, sayDiffers, "--group=CHESS", "--repair")
	equal(t, b.contents(t), before, "data")
}

// testVerifyShowsTheFirst checks that only the first differences of a group are shown, because a
// single wrong match can make many later matches differ.
func testVerifyShowsTheFirst(t *testing.T, b *verifyFixture) {
	const matches = 60
	for n := 5; n <= matches; n++ { // undone matches, which must have no history
		b.exec(t, fmt.Sprintf(`
			WITH m AS (
			    INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at,
			                         idempotency_key, undone_at, created_at)
			    VALUES (1, 1, 1, %[1]d, 1, 0, 32, now(), %[1]d, now(), now() - interval '1 year') RETURNING id
			), mp AS (
			    INSERT INTO match_players SELECT id, side, side, 1 FROM m, (VALUES (1), (2)) AS s (side) RETURNING match_id
			)
			UPDATE groups SET last_match_number = %[1]d WHERE id = 1`, n))
	}
	b.exec(t, `
		INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, k_factor,
		    best_before, streak_before, longest_before, reason)
		SELECT id, 2, 1489, 1489, 32, 1500, 0, 0, 'match' FROM matches WHERE group_id = 1 AND undone_at IS NOT NULL`)
	code, stdout, stderr := output(t, b.env(), "verify")
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(lines) != 52 || code != 1 || stderr != sayRepairable {
		t.Fatalf("verify ended with %d: %s\n%s", code, stderr, stdout)
	}
	want := b.ids.Replace("CHESS \"Chess\": … and more differences that are not shown\n" +
		"Verified 2 groups with 61 matches: 56 differences in 1 group.")
	equal(t, strings.Join(lines[50:], "\n"), want, "last lines")
}

// testVerifyInterrupted checks that an interrupted verification says so and exits with 1. A repair
// without differences reports success, and a group that does not exist is an error. Neither changes
// the standings or the history.
func testVerifyInterrupted(t *testing.T, b *verifyFixture) {
	tx, err := b.pool.Begin(t.Context())
	must(t, err)
	if _, err := tx.Exec(t.Context(), "LOCK TABLE elo_history"); err != nil {
		t.Fatal(err)
	}
	p := launch(t, b.env(), "verify")
	eventually(t, "verify waits for the table", func() bool {
		return count(t, b.pool, `
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	})
	must(t, p.cmd.Process.Signal(os.Interrupt))
	code, output := p.wait(t), p.output.String()
	if code != 1 || output != "elobot: stopped before the end: not everything was verified\n" {
		t.Errorf("verify ended with %d: %s", code, output)
	}
	must(t, tx.Rollback(t.Context()))
	right := b.contents(t)
	b.mustVerify(t, 0, "Verified 2 groups with 5 matches: no differences.\n", "", "--repair")
	b.mustVerify(t, 1, "", "elobot: there is no group with the Telegram id -4711 in this database\n", "--group=-4711")
	equal(t, b.contents(t), right, "data")
}
