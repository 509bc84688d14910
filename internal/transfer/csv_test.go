package transfer_test

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

// options returns options for tests: Berlin time, and the evening of 30 November 2026.
func options(t testing.TB) transfer.Options {
	t.Helper()
	zone := ranking.Display{TimeZone: "Europe/Berlin"}.Zone()
	return transfer.Options{Zone: zone, Now: time.Date(2026, 11, 30, 18, 0, 0, 0, zone)}
}

// TestFiles checks that small files in the forms that people bring are read as expected. For each
// file, the file of the same name ending in .want has the expected rows, starts and faults.
func TestFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/csv/*.csv")
	if err != nil || len(files) < 70 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".csv"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			expected, err := os.ReadFile(strings.TrimSuffix(file, "csv") + "want")
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(strings.TrimSpace(string(expected)), "\n")
			o := options(t)
			if written, ok := strings.CutPrefix(want[0], "options: "); ok {
				want = want[1:]
				readOptions(t, written, &o)
			}
			read, err := transfer.ReadCSV(strings.NewReader(string(data)), o)
			got := described(read, err)
			if len(got) != len(want) {
				t.Errorf("%d lines, want %d", len(got), len(want))
			}
			for i, line := range got {
				if i < len(want) && !fits(t, line, want[i], o.Zone) {
					t.Errorf("got  %s\nwant %s", line, want[i])
				}
			}
		})
	}
}

var option = regexp.MustCompile(`--(\w+) (.*?)(?: --|$)`)

// readOptions sets the options in o that are written as on a command line, such as "--dates dmy".
func readOptions(t *testing.T, written string, o *transfer.Options) {
	t.Helper()
	for written != "" {
		m := option.FindStringSubmatch(written)
		if m == nil {
			t.Fatal("no option:", written)
		}
		written = strings.TrimSpace(strings.TrimPrefix(written, "--"+m[1]+" "+m[2]))
		switch m[1] {
		case "columns":
			o.Columns = map[string]string{}
			for _, pair := range strings.Split(m[2], ",") {
				role, column, _ := strings.Cut(pair, "=")
				o.Columns[role] = column
			}
		case "dates":
			o.Dates = transfer.DateOrder(m[2])
		case "order":
			o.OrderByRow = true
		}
	}
}

// described returns what was read, which question is open, or why the file was refused, as lines in
// the form of the .want files.
func described(f transfer.File, err error) []string {
	if err != nil {
		return []string{"REFUSED FILE " + err.Error()}
	}
	if f.Ask != "" {
		return []string{"ASK " + string(f.Ask)}
	}
	type at struct {
		line int
		text string
	}
	var lines []at
	for _, r := range f.Rows {
		when := "-"
		if r.IsDay {
			when = r.When.Format(time.DateOnly)
		} else if !r.When.IsZero() {
			when = r.When.Format(time.RFC3339Nano)
		}
		score, sets, id := "-", "-", "-"
		if r.Result.HasPoints() {
			score = r.Result.String()
		}
		if r.Result.Sets != nil {
			sets = strings.Trim(fmt.Sprint(r.Result.Sets), "[]")
			sets = strings.ReplaceAll(sets, " ", ",")
		}
		if r.ID != "" {
			id = r.ID
		}
		winner := []string{"b", "draw", "a"}[1+cmp.Compare(r.Result.A, r.Result.B)]
		lines = append(lines, at{r.Line, fmt.Sprintf("PLAYED when=%s a=%s b=%s winner=%s score=%s sets=%s id=%s",
			when, cells(r.Sides[0]), cells(r.Sides[1]), winner, score, sets, id)})
	}
	for _, s := range f.Starts {
		lines = append(lines, at{s.Line, fmt.Sprintf("START player=%s rating=%d", s.Player, s.Rating)})
	}
	for _, l := range f.LeftOut {
		lines = append(lines, at{l.Line, "LEFT OUT " + string(l.Reason)})
	}
	for _, r := range f.Refused {
		lines = append(lines, at{r.Line, "REFUSED column=" + r.Column + " " + r.Error()})
	}
	slices.SortStableFunc(lines, func(a, b at) int { return cmp.Compare(a.line, b.line) })
	var all []string
	for _, l := range lines {
		all = append(all, fmt.Sprintf("line %d: %s", l.line, l.text))
	}
	return all
}

// cells returns names as the cells of a line of CSV.
func cells(names []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(names)
	w.Flush()
	return strings.TrimSpace(b.String())
}

var (
	sense = regexp.MustCompile(`^(REFUSED FILE|line \d+: LEFT OUT|line \d+: REFUSED column=\S+).*$`)
	when  = regexp.MustCompile(` when=(\S+T\S+) `)
)

// fits reports whether a line of described has the meaning of a line of a .want file. Times are
// equal if they are the same instant in any zone; those without an offset are in zone. Of faults,
// only the line, the column and whether the row was refused or left out are compared.
func fits(t *testing.T, got, want string, zone *time.Location) bool {
	t.Helper()
	inZone := func(line string) string {
		return when.ReplaceAllStringFunc(line, func(written string) string {
			written = when.FindStringSubmatch(written)[1]
			at, err := time.Parse(time.RFC3339Nano, written)
			if err != nil {
				at, err = time.ParseInLocation("2006-01-02T15:04:05", written, zone)
			}
			if err != nil {
				t.Fatal(err)
			}
			return " when=" + at.UTC().Format(time.RFC3339Nano) + " "
		})
	}
	return sense.ReplaceAllString(inZone(got), "$1") == sense.ReplaceAllString(inZone(want), "$1")
}
