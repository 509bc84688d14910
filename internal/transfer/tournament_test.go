package transfer_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"elobot/internal/transfer"
)

// TestTournaments checks that the tournaments in testdata/trf and testdata/kickertool are read as
// the files ending in .want say.
func TestTournaments(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/[tk]*/*.want")
	files = slices.DeleteFunc(files, func(name string) bool { return strings.Contains(name, "telegram") })
	if err != nil || len(files) < 14 {
		t.Fatal(len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".want"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file := map[string]string{"trf": ".trf", "kickertool": ".ktool"}[filepath.Base(filepath.Dir(name))]
			file = strings.TrimSuffix(name, ".want") + file
			o := options(t)
			var want, order []string
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSpace(line)
				if kind, rest, _ := strings.Cut(line, ":"); kind == "file" {
					file = filepath.Join(filepath.Dir(name), strings.TrimSpace(rest))
				} else if kind == "options" {
					readOptions(t, strings.TrimSpace(rest), &o)
				} else if kind == "results" {
					order = strings.Fields(rest)
				} else if line != "" && line[0] != '#' {
					want = append(want, line)
				}
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			read, err := transfer.Read(strings.NewReader(string(data)), o)
			if err != nil {
				t.Fatal(err)
			}
			got := tournament(t, read, data)
			for i := range max(len(got), len(want)) {
				var g, w string
				if i < len(got) {
					g = got[i]
				}
				if i < len(want) {
					w = withReason(t, want[i])
				}
				if !fits(t, g, w, o.Zone) {
					t.Errorf("got  %s\nwant %s", g, w)
				}
			}
			var ids []string
			for _, r := range read.Rows {
				ids = append(ids, r.ID)
			}
			if order != nil && !slices.Equal(order, ids) {
				t.Errorf("order of the results: got %v, want %v", ids, order)
			}
		})
	}
}

// refusals are the reasons to refuse a match, by the words of the .want files.
var refusals = map[string]transfer.Reason{
	"disagree": transfer.ResultsDiffer, "once": transfer.ResultsDiffer, "self": transfer.SamePlayer,
	"no-player": transfer.NoPlayer, "no-name": transfer.NoPlayer, "sides": transfer.NoPlayer,
	"ambiguous": transfer.SameName, "code": transfer.BadScore, "no-score": transfer.BadScore,
	"disciplines": transfer.BadScore, "contradiction": transfer.Contradiction, "no-time": transfer.NoDate,
}

// withReason returns a line of a .want file in the form of tournament. Rows that are left out have
// one reason there, and a match that is left out or refused is named by its first player.
func withReason(t *testing.T, line string) string {
	t.Helper()
	match, what, _ := strings.Cut(line, ": ")
	pair := strings.IndexByte(match, '-')
	switch kind, word, _ := strings.Cut(what, " "); {
	case kind == "LEFT":
		word = string(transfer.NotPlayed)
		return match[:cmp.Or(max(pair, 0), len(match))] + ": LEFT OUT " + word
	case kind == "REFUSED" && refusals[word] == "":
		t.Fatal("no reason:", word)
	case kind == "REFUSED":
		return match[:cmp.Or(max(pair, 0), len(match))] + ": REFUSED " + string(refusals[word])
	}
	return line
}

// tournament returns what was read of a tournament as lines in the form of the .want files, and in
// their order.
func tournament(t *testing.T, f transfer.File, data []byte) []string {
	t.Helper()
	if f.Ask != "" {
		return []string{"ASK " + string(f.Ask)}
	}
	plays := playIDs(t, data)
	number := numbers(string(data))
	type at struct {
		round, place int
		text         string
	}
	var lines []at
	add := func(line int, column, b, text string) {
		if plays != nil {
			lines = append(lines, at{0, line, fmt.Sprintf("play %s: %s", plays[line-1], text)})
			return
		}
		round, err := strconv.Atoi(strings.TrimPrefix(column, "round "))
		if err != nil {
			t.Fatal(err)
		}
		first := number[strconv.Itoa(line)]
		pair := strconv.Itoa(first)
		if b != "" {
			pair += "-" + strconv.Itoa(number[b])
		}
		lines = append(lines, at{round, first, fmt.Sprintf("round %d, %s: %s", round, pair, text)})
	}
	for _, r := range f.Rows {
		round, _, _ := strings.Cut(r.Text, ",")
		line := described(transfer.File{Rows: []transfer.Row{r}}, nil)[0]
		_, line, _ = strings.Cut(line, ": ")
		for _, side := range r.Sides {
			line = strings.Replace(line, "="+cells(side), "="+strings.Join(side, ","), 1)
		}
		add(r.Line, round, strings.Join(r.Sides[1], ","), line)
	}
	for _, l := range f.LeftOut {
		add(l.Line, l.Column, "", "LEFT OUT "+string(l.Reason))
	}
	last := 0
	for _, r := range f.Refused {
		if plays == nil || r.Line != last { // a play with several faults is refused once
			add(r.Line, r.Column, "", "REFUSED "+string(r.Reason))
		}
		last = r.Line
	}
	slices.SortStableFunc(lines, func(a, b at) int { return cmp.Or(a.round-b.round, a.place-b.place) })
	var all []string
	for _, l := range lines {
		all = append(all, l.text)
	}
	return all
}

// numbers returns the numbers of the players of a report, by their lines and by their names.
func numbers(text string) map[string]int {
	all := map[string]int{}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for i, line := range strings.Split(text, "\n") {
		if r := []rune(line); strings.HasPrefix(line, "001 ") {
			n, _ := strconv.Atoi(strings.TrimSpace(string(r[4:8])))
			all[strconv.Itoa(i+1)], all[strings.TrimSpace(string(r[14:47]))] = n, n
		}
	}
	return all
}

// playIDs returns the ids of the plays of a Kickertool file, nil if it is another file.
func playIDs(t *testing.T, data []byte) (ids []string) {
	t.Helper()
	type level struct {
		Plays []struct {
			ID string `json:"_id"`
		}
	}
	var file struct {
		Rounds []level
		KO     []struct {
			Levels []level
			Third  level
		}
	}
	if json.Unmarshal(data, &file) != nil {
		return nil
	}
	levels := file.Rounds
	for _, ko := range file.KO {
		levels = append(append(levels, ko.Levels...), ko.Third)
	}
	for _, l := range levels {
		for _, p := range l.Plays {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// TestHostileTournaments checks that tournaments that are broken, or made to break something, are
// refused with the reason and the place, or read correctly.
func TestHostileTournaments(t *testing.T) {
	t.Parallel()
	player := func(number int, name, games string) string {
		return fmt.Sprintf("001 %4d      %-77s%s\n", number, name, games)
	}
	days := func(text string) string {
		return "042 2024/01/01\n052 2024/01/31\n132" + strings.Repeat(" ", 88) + text + "\n"
	}
	const game = "   1 b 0"
	pair := player(1, "Ann", "   2 w 1") + player(2, "Bob", game)
	play := func(more string) string {
		return `{"type":"Tournament","version":"5.1","players":[{"_id":"a","_name":"Ann"},{"_id":"b","_name":"Bob"}],` +
			`"rounds":[{"plays":[{"_id":"m","valid":true,"team1":{"_id":"a"},"team2":{"_id":"b"},` + more + `}]}]}`
	}
	sets := func(all string) string { return play(`"disciplines":[{"sets":[` + all + `]}]`) }
	for _, c := range []struct{ name, file, want string }{
		{"only records", "012 Cup\n042 2024/01/01\n", "file: no_rows 0"},
		{"only comments", "### x\n\n001", "file: bad_order 3"},
		{"no number", player(0, "Ann", game), "file: bad_order 1 0"},
		{"a number twice", pair + player(2, "Cid", game), "file: bad_order 3 2"},
		{"a huge line", pair + strings.Repeat("0", 1<<17), "file: too_long 3"},
		{"Latin-1", "012 K\xf6ln\n" + pair, "file: not_utf8 1 012 K?ln"},
		{"zeros", "001\x00\x00\x00\x00\x00\n" + pair, "file: not_text 1 application/octet-stream"},
		{"a bell in a name", player(1, "A\x07nn", "   2 w 1") + player(2, "Bob", game), "1 control_char a U+0007"},
		{"no name", player(1, "", "   2 w 1") + player(2, "Bob", game), "1 no_player a"},
		{"no game", player(1, "Ann", "") + player(2, "Bob", ""), "file: no_rows 0"},
		{"an opponent like no other", player(1, "Ann", "  -2 w 1"), "1 no_player round 1"},
		{"a cut line", player(1, "Ann", "   2 w 1") + player(2, "Bob", game)[:93], "1 results_differ round 1 1 2; 2 not_played round 1"},
		{"a quote", "122 30\"\n" + pair, "2 played"},
		{"a mark", "\ufeff" + pair, "1 played"},
		{"a day of the tournament", days("24/01/31") + pair, "4 played"},
		{"another day", days("24/02/01") + pair, "4 bad_date date ? 24/02/01"},
		{"no day", days("24/13/01") + pair, "4 bad_date date ? 24/13/01"},
		{"a day for another round", days("          24/01/31") + pair, "4 played"},
		{"tomorrow", "042 2026/12/01\n052 2026/12/01\n" + pair, "3 future_date date 2026/12/01"},
		{"no date", "042 x\n052 x\n" + pair, "3 bad_date date x"},
		{"no order of numbers", "042 03/04/2024\n052 03/04/2024\n" + pair, "ask dates"},
		{"orders that differ", "042 28/04/2024\n052 04/28/2024\n" + pair, "file: dates_differ 1 date 2"},

		{"other JSON", `{"messages":[]}`, `file: unknown_form 0 {"messages":[]}`},
		{"an array", `[1,2]`, "file: unknown_form 0 [1,2]"},
		{"a later version", strings.Replace(play(""), "5.1", "6.0", 1), "file: bad_json 0"},
		{"another version", strings.Replace(sets(""), "5.1", "6.0", 1), "file: unknown_form 0 Kickertool 6.0"},
		{"JSON without end", strings.TrimSuffix(sets(`{"team1":1,"team2":0}`), "}"), "file: bad_json 0"},
		{"JSON after the end", sets(`{"team1":1,"team2":0}`) + "{}", "file: bad_json 0"},
		{"depth", play(`"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)), "file: bad_json 0"},
		{"no matches", `{"type":"Tournament","version":"5.1"}`, "file: no_rows 0"},
		{"a number for a list", `{"type":"Tournament","version":"5.1","rounds":3}`, "file: bad_json 0"},
		{"a score in words", sets(`{"team1":"one","team2":0}`), "file: bad_json 0"},
		{"a score that is not whole", sets(`{"team1":1.5,"team2":0}`), "file: bad_json 0"},
		{"a score below zero", sets(`{"team1":-1,"team2":3}`), "1 bad_score sets -1:3"},
		{"a huge score", sets(`{"team1":1000,"team2":3}`), "1 bad_score sets 1000:3"},
		{"the highest score", sets(`{"team1":999,"team2":3}`), "1 played"},
		{"26 sets", sets(strings.Repeat(`{"team1":2,"team2":1},`, 25) + `{"team1":2,"team2":1}`), "1 bad_score sets 2:1,2:1,2:1,2:1,2:1,2:1,2:1,2:1,2:1,2:1,"},
		{"the year 2300", play(`"timeStart":10413792000000,"disciplines":[{"sets":[{"team1":2,"team2":1}]}]`), "1 bad_date date 10413792000000"},
		{"tomorrow's milliseconds", play(`"timeStart":1796140800000,"disciplines":[{"sets":[{"team1":2,"team2":1}]}]`), "1 future_date date 1796140800000"},
		{"a winner of nothing", play(`"winner":3,"disciplines":[{"sets":[{"team1":2,"team2":1}]}]`), "1 unclear_winner winner 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := summary(transfer.Read(strings.NewReader(c.file), options(t))); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
