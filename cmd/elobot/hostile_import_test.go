package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres/dbtest"
)

// TestHostileImports checks that files, lists of people and arguments that are broken, or made to
// break something, are refused by `elobot import` in words, or are imported correctly. A refusal
// writes nothing, and no run takes more than 100 MB of memory.
func TestHostileImports(t *testing.T) {
	t.Parallel()
	url, pool := database(t)
	newClub(t, pool, -100)
	dbtest.Exec(t, pool, `
		INSERT INTO players (telegram_user_id, username, display_name) VALUES (998, 'gone', 'Gone');
		INSERT INTO sightings (group_id, player_id, username, seen_at, out_at)
		    SELECT 1, id, 'gone', now(), now() FROM players WHERE username = 'gone';
		UPDATE sightings SET nick = 'Bobby' WHERE username = 'bob';
		UPDATE group_players SET name = 'Bobby' WHERE name = 'Bob';
		`+dbtest.PadelLadders("true")+`
		UPDATE ladders SET name = 'old', archived_at = now() WHERE NOT is_default`)
	const good = "date,a,b,score\n2026-10-01,Bob,Ann,3:1\n"
	with := func(name string) string { return "a,b,score\nBob," + name + ",3:1\n" }
	who := func(is string) string { return "name,who\nZed," + is + "\n" }
	long := strings.Repeat("x", 1<<20)
	everything := func() []string {
		var all []string
		for _, table := range []string{
			"players", "group_players", "matches", "imports", "start_ratings", "outbox", "groups",
		} {
			all = append(all, collect(t, pool, pgx.RowTo[string], "SELECT r::text FROM "+table+" r ORDER BY 1")...)
		}
		return all
	}
	chat := func(messages string) string {
		return `{"name": "x", "type": "private_supergroup", "id": 1, "messages": [` + messages + `]}`
	}
	said := func(id, from int, text string) string {
		return fmt.Sprintf(`{"id": %d, "type": "message", "date_unixtime": "1700000000",
			"from": "Zed", "from_id": "user%d", "text": "%s"}`, id, from, text)
	}
	many := func(count int, message func(n int) string) string {
		all := make([]string, count)
		for n := range all {
			all[n] = message(n + 1)
		}
		return strings.Join(all, ",\n")
	}
	before, highest := everything(), 0
	for _, tc := range []struct {
		name, file, people, args string
		want                     string // what the command prints in the end
	}{
		// the list of people
		{"nobody decided", with("Zed"), "", "", `1 name is unknown: "Zed"`},
		{"an empty list", with("Zed"), " ", "", "row 1: the number of cells is 1"},
		{"a list that is not text", with("Zed"), "\x7fELF\x02\x01\x01\x00", "", "this is no text file"},
		{"a list in UTF-16", with("Zed"), "\xff\xfen\x00a\x00m\x00e\x00", "", "the text is not UTF-8"},
		{"a list with an open quote", with("Zed"), "name,who\n\"Zed,guest\n", "", "row 2: a quote inside a cell is not doubled"},
		{"a list with one column", with("Zed"), "name\nZed\n", "", "row 1: the number of cells is 1"},
		{"a list with a row of a megabyte", with("Zed"), who(long), "", "row 2: the row is too long"},
		{"a list that contradicts itself", with("Zed"), "name,who\nZed,guest\nZed,@bob\n", "", `row 3: row 2 also has “Zed”`},
		{"no decision", with("Zed"), who(""), "", `does not say who these are: "Zed"`},
		{"an unknown word", with("Zed"), who("nobody"), "", `Zed can’t be “nobody”`},
		{"only an at sign", with("Zed"), who("@"), "", `Zed can’t be “@”`},
		{"no username", with("Zed"), who("@zed smith"), "", `Zed can’t be “@zed smith”`},
		{"SQL for a username", with("Zed"), who("@x'; DROP TABLE players;--"), "", `Zed can’t be “@x'; DROP TABLE players;--”`},
		{"a negative id", with("Zed"), who("-100"), "", `Zed can’t be “-100”`},
		{"an id of 40 digits", with("Zed"), who(strings.Repeat("9", 40)), "", `Zed can’t be “9999`},
		{"a guest with a player's name", with("Zed"), who("guest Bob"), "", "because somebody here has that name"},
		{"a guest with a player's nick", with("Zed"), who("guest BOBBY"), "", "because somebody here has that name"},
		{"a guest like a username", with("Zed"), who("guest @bob"), "", "because somebody here has that name"},
		{"a guest like a command", with("Zed"), who("guest won"), "", "I would misread the name"},
		{"a guest like several", with("Zed"), who("\"guest Zed, Yan\""), "", "I would misread the name"},
		{"a guest with a name of 100 letters", with("Zed"), who("guest " + strings.Repeat("n", 100)), "", "it’s too long"},
		{"a guest without letters", with("Zed"), who("guest ...."), "", "I would misread the name"},
		{"a guest with a mark of direction", with("Zed"), who("guest \u202eZed"), "", `Zed can’t be “guest \u202eZed”`},
		{"somebody who has left", with("Zed"), who("@gone"), "", "who does not play here any more"},
		{"one person twice", with("Zed"), who("@bob"), "", `Zed is in the match under another name`},
		{"everybody left out", with("Zed"), who("leave out"), "", nothingWritten},
		{"a list that is missing", with("Zed"), "", "--people=none.csv", "none.csv: no such file"},
		{"a list that is a folder", with("Zed"), "", "--people=.", "is a directory"},
		// names in the file
		{"a thousand names", "a,b,score\n" + manyNames(1000), "", "", "1000 names are unknown"},
		{"a name like a path", with("../../etc/passwd"), "", "", `1 name is unknown: "../../etc/passwd"`},
		{"a name like a command of a terminal", with("\x1b]0;x\x07"), "", "", "there is an invisible character"},
		{"a name like a format", with("%s%n%!d"), "", "", `1 name is unknown: "%s%n%!d"`},
		// arguments
		{"no such group", good, "", "--group=-7", "there is no group with the Telegram id -7"},
		{"no group", good, "", "--group=0", "--group is missing"},
		{"an archived ranking", good, "", "--ladder=old", `no ranking "old" in use`},
		{"a ranking like SQL", good, "", "--ladder=x';--", "no ranking"},
		{"a role that there is not", good, "", "--columns=x=a", "which is no role"},
		{"a column that there is not", good, "", "--columns=a=x", `there is no column “x”`},
		{"a column for two roles", good, "", "--columns=a=a,b=a", "gives this column two roles"},
		{"an order of dates that there is not", good, "", "--dates=ymd", "--dates must be one of"},
		{"rows that are not there", good, "", "--again=0 --again=-5 --again=2147483647", "but not for rows -5, 0, 2147483647"},
		{"a row that is no number", good, "", "--again=x", "expected a valid"},
		{"a file and an undo", good, "", "--undo=1", "either a file or --undo is needed"},
		// files
		{"a column of terminal codes", "a,b,score,\x1b[31m\nBob,Ann,3:1,\x1b[31m\n", "", "--dry-run", nothingWritten},
		{"start ratings beyond the limits", "player,rating\nBob,10001\nAnn,-1\n", "", "", "rows are refused"},
		{"start ratings twice", "player,rating\nBob,1600\nBob,1700\n", "", "", "rows are refused"},
		{"start ratings of nobody", "player,rating\n,1600\n", "", "", "rows are refused"},
		{"a start rating of somebody under two names", "player,rating\nBob,1600\nBobby,1700\n", "", "", "rows are refused"},
		{"a zip that is no export", "PK\x03\x04" + strings.Repeat("\x00", 100), "", "", "elobot: "},
		{"a file of 80 megabytes", "a,b,score\n" + strings.Repeat("Bob,Ann,3:1\n", 7<<20), "", "", "is larger than"},
		{"a megabyte in a cell", with(long), "", "", "the row is too long"},
		{"50,000 faults", "a,b,score\n" + strings.Repeat("Bob,Ann,x\n", 50_000), "", "", "rows are refused"},
		{"800,000 rows", "a,b,score\n" + strings.Repeat("Bob,Ann,3:1\n", 800_000), "", "", "has more than 60000 rows"},
		{"a million faults", "a,b,score\n" + strings.Repeat("x\n", 1_000_000), "", "", "has more than 60000 rows"},
		{"a million empty rows", "a,b,score\n" + strings.Repeat(",\n", 1_000_000), "", "", "has more than 60000 rows"},
		// exports of chats
		{"half a chat", chat(`{"id": 1, "text": "/match`)[:80], "", "", "not as Telegram Desktop writes it"},
		{"a chat of lists in lists", chat(`{"id": 1, "text": ` + strings.Repeat("[", 20_000)), "", "", "not as Telegram Desktop writes it"},
		{"a chat of a million lists", chat(`{"id": 1, "text": ` + strings.Repeat("[", 1_000_000)), "", "", "not as Telegram Desktop writes it"},
		{"a message of 80 megabytes", chat(`{"id": 1, "text": "` + strings.Repeat("x", 80<<20) + `"}`), "", "", "too long to be by Telegram"},
		{"a message of many parts", chat(`{"id": 1, "text": [` + strings.Repeat(`"",`, 150_000) + `""]}`), "", "--dry-run", nothingWritten},
		{"skipped lists in lists", `{"about": ` + strings.Repeat("[", 20_000), "", "", "not as Telegram Desktop writes it"},
		{"a number that is no id", chat(`{"id": 1e300, "file_size": -1e300, "text": "/match @bob 3:1"}`), "", "", "not as Telegram Desktop writes it"},
		{"an id twice", chat(`{"id": 1}, {"id": 1}`), "", "", "not as Telegram Desktop writes it"},
		{"wrong types", chat(`{"id": 1, "type": 5, "text": {"a": []}, "from_id": {}, "date": [], "from": 7}, 8, null`), "", "", "not as Telegram Desktop writes it"},
		{"terminal codes", chat(said(1, 999, `/match \u001b[31m \x1b[31m 3:1`)), "", "", "rows are refused"},
		{"names of terminal codes", strings.Replace(chat(said(1, 998, "/won @bob")), "Zed", `\x1b[31m\u202e`, 1), "", "", "1 name is unknown"},
		{"no chat of a group", strings.Replace(chat(""), "private_supergroup", "personal_chat", 1), "", "", "not the chat of a group"},
		{"an account without chats", `{"about": "", "chats": {"list": []}}`, "", "", "does not have this chat"},
		{"nothing but a name", `{"name": "x", "type": "private_supergroup", "id": 1}`, "", "", "does not have this chat"},
		{"two exports in one file", chat("") + "\n" + chat(""), "", "", "not as Telegram Desktop writes it"},
		{"a result of the Stone Age", chat(strings.Replace(said(1, 999, "/match @ann 3:1"), "1700000000", "-99999999999", 1)), "", "", "“-99999999999” is not a date"},
		{"an unknown zone", chat(""), "", "--zone=Mars", `no time zone "Mars"`},
		{"three million messages", chat(many(3_000_002, func(n int) string { return fmt.Sprintf(`{"id": %d}`, n) })), "", "", "more than 3000000 rows"},
		{"100,000 people", chat(many(100_002, func(n int) string { return said(n, n, "hello") })), "", "", "more than 3000000 rows"},
		{"60,001 commands", chat(many(60_001, func(n int) string { return said(n, 1+n%9, "/match") })), "", "", "more than 60000 rows"},
		{"a command of 10,000 lines", chat(said(1, 999, "/match "+strings.Repeat(`@bob 3:1\n`, 10_000))), "", "", "too long to be by Telegram"},
		{"80,000 results", chat(many(1000, func(n int) string {
			return said(n, 998, "/match "+strings.Repeat(`@bob 3:1\n`, 80))
		})), "", "", "more than 60000 rows"},
		{"an option of another form", good, "", "--zone=UTC", "only for Telegram's export of chats"},
		{"options of other forms", chat(""), "", "--dates=dmy", "not for Telegram's export of chats"},
		{"50,000 rows", "a,b,score\n" + strings.Repeat("Bob,Ann,3:1\n", 50_000), "", "--dry-run", nothingWritten},
	} {
		folder := t.TempDir()
		must(t, os.WriteFile(filepath.Join(folder, "results.csv"), []byte(tc.file), 0o600))
		args := []string{"import", "results.csv", "--group=-100"}
		if tc.people != "" {
			must(t, os.WriteFile(filepath.Join(folder, "people.csv"), []byte(tc.people), 0o600))
			args = append(args, "--people=people.csv")
		}
		env := []string{"DATABASE_URL=" + url, "GODEBUG=gctrace=1", "GOGC=100"}
		p := prepare(env, append(args, strings.Fields(tc.args)...)...)
		p.cmd.Dir = folder
		p.start(t)
		code := p.wait(t)
		output, memory := withoutTrace(p.output.String())
		isRefused := code == 1 || code == 2
		if !strings.Contains(output, tc.want) || isRefused == (tc.want == nothingWritten) {
			t.Errorf("%s: exit code %d, and the output is\n%.2000s", tc.name, code, output)
		}
		if strings.ContainsAny(output, "\x1b\x07\x00") || strings.Contains(output, "goroutine") {
			t.Errorf("%s: the output is %.2000q", tc.name, output)
		}
		if isLong := tc.name == "50,000 rows"; strings.Contains(output, "This is a long file") != isLong {
			t.Errorf("%s: whether it says that the file is long is wrong", tc.name)
		}
		if highest = max(highest, memory); memory > 100 || strings.HasPrefix(tc.file, "{") && memory > 64 {
			t.Errorf("%s: %d MB of memory", tc.name, memory)
		}
		equal(t, everything(), before, "contents of the database: %s", tc.name)
	}
	t.Logf("the largest heap is %d MB", highest)
	verifyClean(t, url)
}

const nothingWritten = "Nothing was written."

// traced matches the heap sizes in a line that the Go runtime prints about a garbage collection.
var traced = regexp.MustCompile(`^gc \d+ @.* (\d+)->(\d+)->\d+ MB, `)

// withoutTrace returns the output without lines about garbage collections, and the largest heap in
// MB that these lines tell of.
func withoutTrace(output string) (rest string, largest int) {
	lines := slices.DeleteFunc(strings.Split(output, "\n"), func(line string) bool {
		m := traced.FindStringSubmatch(line)
		if m != nil {
			heap, _ := strconv.Atoi(m[2])
			largest = max(largest, heap)
		}
		return m != nil
	})
	return strings.Join(lines, "\n"), largest
}

// manyNames returns rows of a file with n names besides Bob.
func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("Bob,Zed " + strings.Repeat("x", 1+i%50) + string(rune('a'+i/50)) + ",3:1\n")
	}
	return b.String()
}
