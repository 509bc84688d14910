package transfer_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"elobot/internal/elo"
	"elobot/internal/transfer"
)

// TestColumns checks that headers in all languages of the bot are understood, and that the file is
// refused if the header or the option Columns is unusable.
func TestColumns(t *testing.T) {
	t.Parallel()
	type columns = map[string]string
	for _, c := range []struct {
		header  string
		columns columns
		want    string
	}{
		{"Date,Winner,Loser,Score", nil, "2 played"},
		{"Datum;Sieger;Verlierer;Ergebnis", nil, "2 played"},
		{"Fecha;Ganador;Perdedor;Resultado", nil, "2 played"},
		{"Data;Vencedor;Perdedor;Placar", nil, "2 played"},
		{"Дата;Победитель;Проигравший;Счёт", nil, "2 played"},
		{"Дата;Переможець;Переможений;Рахунок", nil, "2 played"},
		{"DATE\thome_team\tAway Team\tscore", nil, "2 played"},
		{"date,Player 1,Player 2,score", nil, "2 played"},
		{"date,A1,b01,score", nil, "2 played"},
		{"date,A0,b,score", nil, "file: no_columns 1 date, A0, b, score"},
		{"Player 1,Player 2,Player 3,score", nil, "file: no_columns 1 Player 1, Player 2, Player 3, score"},
		{"x,y,z,score", columns{"date": " X", "a1": "y ", "b": "Z", "score": "score"}, "2 played"},
		{"x,y,z,score", columns{"winner": "y", "loser": "z"}, "2 played"},
		{"x,y,z,score", columns{"winner": "Sieger", "loser": "z"}, "file: no_such_column 1 sieger x, y, z, score"},
		{"x,y,z,score", columns{"winner": "y", "looser": "z"}, "file: no_such_role 0 looser"},
		{"x,y,z,score", columns{"a": "y", "b": "y"}, "file: two_roles 0 y a b"},
		{"x,y,y,score", columns{"a": "y", "b": "z"}, "file: two_columns 1 y y y"},
		{"x,y,z,score", columns{"a": "y", "a1": "z"}, "file: two_columns 1 z y z"},
		{"x,y,z,score", columns{"a": "y", "score": "score"}, "file: no_columns 1 x, y, z, score"},
	} {
		delimiter := strings.Trim(strings.TrimLeftFunc(c.header, func(r rune) bool {
			return unicode.IsLetter(r) || r == '_'
		})[:1], " ")
		o := options(t)
		o.Columns = c.columns
		file := c.header + "\n" + strings.ReplaceAll("2024-01-02,Ann,Bob,3:1\n", ",", delimiter)
		if got := summary(transfer.ReadCSV(strings.NewReader(file), o)); got != c.want {
			t.Errorf("%s %v: got %q, want %q", c.header, c.columns, got, c.want)
		}
	}
}

// TestLargeSide checks that ten players of a side are accepted, and the eleventh is refused.
func TestLargeSide(t *testing.T) {
	t.Parallel()
	header, row := "b,winner", "Bob,b"
	for n := range 11 {
		header += fmt.Sprintf(",a%d", n+1)
		row += fmt.Sprintf(",P%d", n+1)
	}
	for file, want := range map[string]string{
		header + "\n" + row + "\n":                                  "2 too_many_players a11 P11",
		header + "\n" + strings.TrimSuffix(row, "P11") + "\n":       "2 played",
		header + "\n" + strings.Replace(row, "P11", "P3", 1) + "\n": "2 same_player a11 P3; 2 too_many_players a11 P3",
	} {
		if got := summary(transfer.ReadCSV(strings.NewReader(file), options(t))); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestOrderOfPlay checks that matches are in the order of their times, and a match without a time
// comes after the other matches of its day. For equal times, the column order decides, or else the
// order of the rows. ReadCSV asks whether that order is right unless the options or the times of
// the rows say so.
func TestOrderOfPlay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file  string
		byRow bool
		want  []int
		ask   transfer.Question
	}{
		{"date,winner,loser\n2024-01-03,A,B\n2024-01-02,A,B\n2024-01-02 23:30,A,B\n", false, []int{4, 3, 2}, ""},
		{"date,winner,loser\n2024-01-02 23:30,A,B\n2024-01-02 23:45+02:00,A,B\n", false, []int{3, 2}, ""},
		{"date,winner,loser\n2024-01-02,A,B\n2024-01-02,A,C\n2024-01-03,A,B\n", false, []int{2, 3, 4}, ""},
		{"date,winner,loser\n2024-01-03,A,B\n2024-01-02,A,B\n2024-01-02,A,C\n", false, []int{3, 4, 2}, transfer.AskOrder},
		{"date,winner,loser\n2024-01-03,A,B\n2024-01-02,A,B\n2024-01-02,A,C\n", true, []int{3, 4, 2}, ""},
		{"date,winner,loser\n2024-01-03 12:00,A,B\n2024-01-02 12:00,A,B\n2024-01-02 12:00,A,C\n", false, []int{3, 4, 2}, transfer.AskOrder},
		{"date,order,winner,loser\n2024-01-03,1,A,B\n2024-01-02,10,A,B\n2024-01-02,9,A,C\n", false, []int{4, 3, 2}, ""},
		{"order,winner,loser\n3,A,B\n-1,A,B\n10,A,C\n", false, []int{3, 2, 4}, ""},
		{"winner,loser\nA,B\nC,D\nA,B\n", false, []int{2, 3, 4}, ""},
	} {
		o := options(t)
		o.OrderByRow = c.byRow
		f, err := transfer.ReadCSV(strings.NewReader(c.file), o)
		var got []int
		for _, r := range f.Rows {
			got = append(got, r.Line)
		}
		if err != nil || !slices.Equal(got, c.want) || f.Ask != c.ask {
			t.Errorf("%q: %v %q %v, want %v %q", c.file, got, f.Ask, err, c.want, c.ask)
		}
		if n := len(f.Rows); !f.First.Equal(f.Rows[0].When) || !f.Last.Equal(f.Rows[n-1].When) {
			t.Errorf("%q: from %v to %v", c.file, f.First, f.Last)
		}
	}
	refused := "order,winner,loser\n1.5,A,B\n,A,C\n"
	want := "2 bad_order order 1.5; 3 bad_order order"
	if got := summary(transfer.ReadCSV(strings.NewReader(refused), options(t))); got != want {
		t.Error(got)
	}
}

// TestKeys checks that a row has the same Text and Count in every file, whatever the quotes,
// delimiters and line endings, that equal rows are counted, and that rows with different cells have
// different Texts.
func TestKeys(t *testing.T) {
	t.Parallel()
	plain, equal := keys(t, "t-lf.csv"), []string{
		"t-crlf.csv", "t-cr.csv", "t-bom.csv", "t-no-last-newline.csv", "t-quotes-everywhere.csv", "t-bom-quoted-header.csv",
	}
	for _, name := range equal {
		if got := keys(t, name); !slices.Equal(got, plain) {
			t.Errorf("%s: %q, want %q", name, got, plain)
		}
	}
	rows := keys(t, "t-identical-rows.csv")
	counts := ""
	for _, key := range rows {
		counts += key[:1]
	}
	if counts != "12131" || !slices.Contains(plain, rows[0]) || !slices.Contains(plain, rows[2]) ||
		slices.Contains(plain, rows[1]) {
		t.Errorf("%q, %q", rows, plain)
	}
	if !slices.Equal(keys(t, "t-dates-undecidable-dmy.csv"), keys(t, "t-dates-undecidable-mdy.csv")) {
		t.Error("the key depends on how dates are read")
	}
	a, b := "winner,loser,x,y\nA,B,1\x1f,2\n", "winner,loser,x,y\nA,B,1,\x1f2\n"
	one, err1 := transfer.ReadCSV(strings.NewReader(a), options(t))
	other, err2 := transfer.ReadCSV(strings.NewReader(b), options(t))
	if errors.Join(err1, err2) != nil || one.Rows[0].Text == other.Rows[0].Text {
		t.Error("other cells, but the same key", err1, err2)
	}
}

// keys returns the Count and the Text of each row of a file in testdata/csv, ordered by line. A
// name that ends in dmy or mdy gives the order of days and months.
func keys(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/csv", name))
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Dates = transfer.DateOrder(strings.TrimSuffix(name[max(0, len(name)-7):], ".csv"))
	if o.Dates != transfer.MonthFirst {
		o.Dates = transfer.DayFirst
	}
	f, err := transfer.ReadCSV(bytes.NewReader(data), o)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(f.Rows))
	slices.SortFunc(f.Rows, func(a, b transfer.Row) int { return a.Line - b.Line })
	for i, r := range f.Rows {
		all[i] = fmt.Sprint(r.Count, r.Text)
	}
	return all
}

// TestManyOfOneID checks that, of many equal rows with the same id, all but the first are left out,
// and that all are refused if one of them differs. It also checks that no fault is lost if many
// rows have several.
func TestManyOfOneID(t *testing.T) {
	t.Parallel()
	equal := "id,winner,loser\n" + strings.Repeat("7,Ann,Bob\n", 5000)
	f, err := transfer.ReadCSV(strings.NewReader(equal), options(t))
	if err != nil || len(f.Rows) != 1 || len(f.LeftOut) != 4999 || len(f.Refused) != 0 || f.LeftOut[4998].Other != 2 {
		t.Error(len(f.Rows), len(f.LeftOut), len(f.Refused), err)
	}
	f, err = transfer.ReadCSV(strings.NewReader(equal+"7,Bob,Ann\n"), options(t))
	if err != nil || len(f.Rows) != 0 || len(f.LeftOut) != 0 || len(f.Refused) != 5001 ||
		f.Refused[0].Other != 5002 || f.Refused[5000].Other != 2 {
		t.Error(len(f.Rows), len(f.LeftOut), len(f.Refused), err)
	}
	all := "date,winner,loser,score\n" + strings.Repeat("x,,,y\n", 5000)
	if f, err = transfer.ReadCSV(strings.NewReader(all), options(t)); err != nil || len(f.Refused) != 4*5000 {
		t.Error(len(f.Refused), err)
	}
}

// TestDetails checks what the .want files cannot express: the scores that may have been turned into
// a date, the games of a match that ended early, and the order of dates that was found. It also
// covers further forms of scores, and columns that contradict each other.
func TestDetails(t *testing.T) {
	t.Parallel()
	read := func(file string) transfer.File {
		t.Helper()
		f, err := transfer.ReadCSV(strings.NewReader(file), options(t))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for cell, want := range map[string]string{
		"Mar-00": "[3:0 0:3]", "01-Mar": "[3:1 1:3]", "2024-03-01": "[3:1 1:3]", "03/01/2024": "[3:1 1:3]", "13.03.2024": "[3:13 13:3]",
	} {
		f := read(score(cell))
		if len(f.Refused) != 1 || f.Refused[0].Reason != transfer.ScoreIsDate || fmt.Sprint(f.Refused[0].Likely) != want {
			t.Errorf("%s: %v, want %s", cell, f.Refused, want)
		}
	}
	for cell, want := range map[string]string{
		"6-2 0-0 RET": "6-2 0-0", "RET": "", "6-4 2-1 Def.": "6-4 2-1", "3:2 aet": "", "3 : 2": "", "6-4 7-6 (5)": "",
	} {
		if f := read(score(cell)); len(f.Rows) != 1 || f.Rows[0].Result.Games != want {
			t.Errorf("%s: %v %v, want %q", cell, f.Rows, f.Refused, want)
		}
	}
	for cell, want := range map[string]string{
		"6-3, 7-6 [10-8]":      "2 bad_score score 6-3, 7-6 [10-8]", // a deciding set or a tie-break
		"3-6, 6-3, [10-8]":     "2 played",
		"6-3 7-6 [7-3]":        "2 played",
		"6-3, 7-6(3) [7-3]":    "2 played", // the third set
		"3:1 NA":               "2 bad_score score 3:1 NA",
		"aet":                  "2 bad_score score aet",
		"xyz RET":              "2 bad_score score xyz RET",
		"1:3 RET":              "2 played",
		"3|1":                  "2 played",
		"3|1|2":                "2 bad_score score 3|1|2",
		"Played and abandoned": "2 bad_score score Played and abandoned",
	} {
		if got := summary(transfer.ReadCSV(strings.NewReader(score(`"`+cell+`"`)), options(t))); got != want {
			t.Errorf("%s: %q, want %q", cell, got, want)
		}
	}
	for dates, want := range map[string]transfer.DateOrder{
		"28/04/2024": transfer.DayFirst, "04/28/2024": transfer.MonthFirst, "2024-04-28": "", "4/4/2024": "",
	} {
		if f := read(date(dates)); f.Dates != want || f.Ask != "" || len(f.Rows) != 1 {
			t.Errorf("%s: %q %q %v, want %q", dates, f.Dates, f.Ask, f.Refused, want)
		}
	}
	both := "a,b,winner,score,sets,score_a,score_b\n"
	for row, want := range map[string]string{
		"Ann,Bob,Ann,2:1,6-4 4-6 6-3,2,1\n": "2 played",
		"Ann,Bob,Ann,2:0,6-4 4-6 6-3,2,1\n": "2 contradiction sets 6-4 4-6 6-3 2:0",
		"Ann,Bob,Ann,2:1,,3,1\n":            "2 contradiction score 2:1 3:1",
		"Ann,Bob,Ann,6-4 6-3,6-4 6-2,2,0\n": "2 contradiction sets 6-4 6-2 2:0",
		"Ann,Bob,Bob,1:0,6-4,1,0\n":         "2 contradiction winner Bob 1:0",
		"Ann,Bob,,NA,,3,1\n":                "2 played",
		"Ann,Bob,NA,,,,\n":                  "2 not_played score",
		"Ann,Bob,=,W/O,,3,0\n":              "2 walkover score W/O",
		"Ann,Bob,draw,6-4 RET,,,\n":         "2 no_winner score 6-4 RET",
		"Ann,Bob,BOB,,,,\n":                 "2 played",
	} {
		if got := summary(transfer.ReadCSV(strings.NewReader(both+row), options(t))); got != want {
			t.Errorf("%s: %q, want %q", row, got, want)
		}
	}
}

// TestTemplate checks that all rows of the template are read, except the match that was not played,
// which is left out.
func TestTemplate(t *testing.T) {
	t.Parallel()
	f, err := transfer.ReadCSV(bytes.NewReader(transfer.Template), options(t))
	want := "10 played; 2 played; 3 played; 4 played; 5 played; 6 played; 7 played; 8 walkover score W/O; 9 played"
	if got := summary(f, err); got != want {
		t.Fatal(got)
	}
	if fmt.Sprint(f.Rows[3].Result.Sets) != "[6:4 3:6 7:6]" || f.Rows[7].Result.Score != f.Rows[6].Result.Score {
		t.Error(f.Rows)
	}
}

// TestPeople checks that a file of people is read with any header or none, and that a file of
// results or ratings is not taken for one.
func TestPeople(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		string(transfer.WritePeople([]transfer.Person{{Name: "Ann", Who: "@ann"}})): "@ann", "Ann,@ann": "@ann",
		"Name;wer\r\nAnn;@ann\r\n": "@ann", "": "", "Ann": "cell_count 1 0",
		"name,who\nAnn,@ann\n\nAnn,@bob\n": "two_versions 4 2", "winner,loser\nAnn,5\n": "not_people 0 0",
		"\ufeffPlayer,Rating\nAnn,1612\n": "not_people 0 0", "Ann,@ann\nplayer,rating\n": "@ann",
		"Ann,@ann\nJos\xe9,guest\n": "not_utf8 2 0",
	} {
		people, err := transfer.ReadPeople(strings.NewReader(file))
		got := people["Ann"]
		if fault := (transfer.Fault{}); errors.As(err, &fault) {
			got = fmt.Sprint(fault.Reason, " ", fault.Line, " ", fault.Other)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", file, got, want)
		}
	}
}

// TestUTF16 checks that the answer to a text in UTF-16 is about its encoding.
func TestUTF16(t *testing.T) {
	t.Parallel()
	var fault transfer.Fault
	_, err := transfer.ReadCSV(strings.NewReader("\xff\xfed\x00a\x00t\x00e\x00\n\x00"), options(t))
	if !errors.As(err, &fault) || fault.Reason != transfer.NotUTF8 {
		t.Error(err)
	}
}

// TestReaderFails checks that an error of the reader is returned, wherever it occurs.
func TestReaderFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, before := range []string{"", "date", header, header + row, header + "2024-01-02,\"A"} {
		in := iotest.DataErrReader(iotest.ErrReader(broken))
		if before != "" {
			in = &failing{before, broken}
		}
		if _, err := transfer.ReadCSV(in, options(t)); !errors.Is(err, broken) {
			t.Errorf("%q: %v", before, err)
		}
	}
}

// failing is a reader that returns a text, and then an error.
type failing struct {
	text string
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.text == "" {
		return 0, f.err
	}
	n := copy(p, f.text)
	f.text = f.text[n:]
	return n, nil
}

// TestMemory checks that reading 50,000 rows, or a file without line endings, never takes more than
// 100 MB, and that reading a hostile tournament never takes more than 64 MB.
func TestMemory(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	var b strings.Builder
	b.WriteString("date,home_team,away_team,home_score,away_score,tournament,city,country,neutral\n")
	for i := range 50_000 {
		fmt.Fprintf(&b, "%04d-%02d-%02d,Country %d,Country %d,%d,%d,Friendly,Town %d,Country %d,FALSE\n",
			1900+i/500, 1+i/45%11, 1+i%28, i%330, (i+1+i%7)%330, i%5, i%3, i%900, i%330)
	}
	o := options(t)
	o.OrderByRow = true
	const begin = `{"type":"Tournament","version":"5.1",`
	var players strings.Builder
	for n := range 12 {
		fmt.Fprintf(&players, "001 %4d      %-77s%s\n", n+1, "Ann", strings.Repeat("  0000 - U", 6_000))
	}
	for name, file := range map[string]string{
		"tournament of nothing":     begin + `"rounds":[{"plays":[` + strings.Repeat("{},", 99_000) + "{}]}]}",
		"tournament of numbers":     begin + `"rounds":[{"plays":[` + strings.Repeat("0,", 99_000) + "0]}]}",
		"tournament of disciplines": begin + `"rounds":[{"plays":[{"disciplines":[` + strings.Repeat("{},", 99_000) + "{}]}]}]}",
		"tournament of teams":       begin + `"teams":[` + strings.Repeat(`{"_id":"x"},`, 99_000) + `{}]}`,
		"tournament of depth":       begin + `"x":` + strings.Repeat("[", 3<<20),
		"tournament without end":    begin + `"x":"` + strings.Repeat("x", 10<<20),
		"tournament of byes":        players.String(),
		"tournament in a line":      "012 x\n" + strings.Repeat("0", 10<<20),
		"rows":                      b.String(),
		"commas":                    strings.Repeat(",", 5<<20),
		"commas in rows":            header + strings.Repeat(strings.Repeat(",", 60_000)+"\n", 80),
		"open quote":                header + `"` + strings.Repeat("x\n", 2<<20),
		"faults":                    header + strings.Repeat("x,,,y\n", 50_000),
	} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		peak := uint64(0)
		in := &sampling{strings.NewReader(file), func() {
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapInuse)
		}, 0}
		f, err := transfer.Read(in, o)
		in.sample()
		used := int64(peak) - int64(before.HeapInuse)
		t.Logf("%s: %d rows, %d faults, %v, %d MB", name, len(f.Rows), len(f.Refused)+len(f.LeftOut), err, used>>20)
		most := int64(100 << 20)
		if strings.HasPrefix(name, "tournament") {
			most = 64 << 20
		}
		if used > most {
			t.Errorf("%s: %d MB", name, used>>20)
		}
		if name == "rows" && len(f.Rows) != 50_000 {
			t.Error(len(f.Rows), f.Refused[:min(3, len(f.Refused))], err)
		}
	}
}

// sampling is a reader that calls sample before every 50th read.
type sampling struct {
	in     *strings.Reader
	sample func()
	n      int
}

func (s *sampling) Read(p []byte) (int, error) {
	if s.n++; s.n%50 == 0 {
		s.sample()
	}
	return s.in.Read(p)
}

// TestHighestRating checks that start ratings have the same limits as all other ratings.
func TestHighestRating(t *testing.T) {
	t.Parallel()
	file := fmt.Sprintf("player,rating\nAnn,%d\nBob,%d\nCid,%d\n", elo.Min, elo.Max, elo.Max+1)
	want := "2 start; 3 start; 4 bad_rating rating 10001"
	if got := summary(transfer.ReadCSV(strings.NewReader(file), options(t))); got != want {
		t.Error(got)
	}
}

// FuzzReadCSV checks that, whatever a file contains, the matches read from it are possible, no row
// is in two lists, faults can be shown without harm, and a second reading has the same result.
func FuzzReadCSV(f *testing.F) {
	files, _ := filepath.Glob("testdata/csv/*.csv")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "")
		f.Add(data, "dmy")
	}
	o := options(f)
	f.Fuzz(func(t *testing.T, data []byte, dates string) {
		o := o
		if dates == "dmy" {
			o.Dates, o.OrderByRow = transfer.DayFirst, true
		}
		read, err := transfer.ReadCSV(bytes.NewReader(data), o)
		again, err2 := transfer.ReadCSV(iotest.OneByteReader(bytes.NewReader(data)), o)
		if !reflect.DeepEqual(read, again) || !reflect.DeepEqual(err, err2) {
			t.Fatalf("read %v %v, and then %v %v", read, err, again, err2)
		}
		var fault transfer.Fault
		if err != nil && !errors.As(err, &fault) {
			t.Fatal(err)
		}
		kinds := map[int]string{}
		add := func(line int, kind string) {
			if other, ok := kinds[line]; ok && (other != kind || kind != "refused") || line < 1 {
				t.Fatalf("line %d: %s and %s", line, other, kind)
			}
			kinds[line] = kind
		}
		for _, r := range read.Rows {
			add(r.Line, "played")
			checkRow(t, r, o)
		}
		for _, s := range read.Starts {
			add(s.Line, "start")
			if s.Rating < elo.Min || s.Rating > elo.Max || s.Player == "" {
				t.Fatal(s)
			}
		}
		for _, l := range read.LeftOut {
			add(l.Line, "left out")
		}
		for _, r := range read.Refused {
			add(r.Line, "refused")
		}
		for _, f := range append(append(read.LeftOut, read.Refused...), fault) {
			for _, text := range []string{f.Value, f.Column, f.Against} {
				if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || utf8.RuneCountInString(text) > 45 {
					t.Fatalf("%q", text)
				}
			}
		}
	})
}

// checkRow fails the test if r is not a possible match.
func checkRow(t *testing.T, r transfer.Row, o transfer.Options) {
	t.Helper()
	names := slices.Concat(r.Sides[0], r.Sides[1])
	slices.Sort(names)
	isSet := r.Result.Sets == nil || len(r.Result.Sets) >= 2 && len(r.Result.Sets) <= transfer.MaxSets
	for _, set := range r.Result.Sets {
		isSet = isSet && set.IsValid() && set.HasPoints()
	}
	switch {
	case min(len(r.Sides[0]), len(r.Sides[1])) < 1, max(len(r.Sides[0]), len(r.Sides[1])) > transfer.MaxSide,
		len(slices.Compact(names)) != len(r.Sides[0])+len(r.Sides[1]), slices.Contains(names, ""),
		!isSet, !r.Result.IsValid(), r.Result.Games != "" && r.Result.HasPoints(),
		r.When.After(o.Now), r.Count < 1, r.Text == "":
		t.Fatalf("%+v", r)
	}
}
