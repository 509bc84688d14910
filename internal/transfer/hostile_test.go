package transfer_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"elobot/internal/transfer"
)

const (
	header = "date,winner,loser,score\n"
	row    = "2024-01-02,Ann,Bob,3:1\n"
)

// score, name and date return a file with a single row, in which the cell of the score, of the
// winner or of the date is given.
func score(cell string) string { return header + "2024-01-02,Ann,Bob," + cell + "\n" }
func name(cell string) string  { return header + "2024-01-02," + cell + ",Bob,3:1\n" }
func date(cell string) string  { return header + cell + ",Ann,Bob,3:1\n" }

// TestHostileFiles checks that files that are broken, or made to break something, are refused with
// the reason and the place, or read correctly.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	several := func(n int, line string) string { return strings.Repeat(line, n) }
	for _, c := range []struct {
		name, file string
		want       string // the result of summary
	}{
		{"empty", "", "file: no_rows 0"},
		{"only a mark", "\ufeff", "file: no_rows 0"},
		{"only a header", header, "file: no_rows 0 date, winner, loser, score"},
		{"only newlines", several(1<<20, "\n"), "file: no_rows 0"},
		{"no header", row, "file: no_columns 1 2024-01-02, Ann, Bob, 3:1"},
		{"one long line", several(5<<20, "a"), "file: too_long 1"},
		{"a quote never closed", header + `2024-01-02,"` + several(2<<20, "x\n"), "file: open_quote 2"},
		{"a quote closed in another line", header + "2024-01-02,\"Ann,Bob,3:1\n" + "2024-01-02,\"Cid\",Bob,3:1\n" + row, "file: open_quote 2"},
		{"a long quoted cell", header + "2024-01-02,\"" + several(40_000, "x\n") + "\",Bob,3:1\n", "file: open_quote 2"},
		{"NUL in a name", name("A\x00nn"), "2 control_char U+0000"},
		{"only NULs", several(1<<20, "\x00"), "file: not_text 1 application/octet-stream"},
		{"random bytes", random(1 << 20), "file: not_text 1 application/octet-stream"},
		{"UTF-16", utf16Of(binary.LittleEndian, "\ufeff"+header+row), "file: not_utf8 1 ?d a t e , w i n n e r , l o s e r , s c"},
		{"UTF-16 without a mark", utf16Of(binary.BigEndian, header+row), "file: not_text 1 application/octet-stream"},
		{"Windows-1252", name("J\xf6rg"), "2 not_utf8 2024-01-02 J?rg Bob 3:1"},
		{"Windows-1252 in the header", "date,winner,loser,gr\xf6\xdfe\n" + row, "file: not_utf8 1 date,winner,loser,gr?e"},
		{"overlong and half characters", name("A\xc0\xafn\xed\xa0\x80"), "2 not_utf8 2024-01-02 A?n? Bob 3:1"},
		{"a million columns", several(1_000_000, ",") + "\n" + row, "file: too_long 1"},
		{"many columns", several(60_000, ",") + "\n" + row, "file: no_columns 1 , , , , , , , , , , , , , , , , , , , ,"},
		{"a million cells", header + "2024-01-02,Ann,Bob,3:1" + several(1_000_000, ",") + "\n", "file: too_long 2"},
		{"short and long rows", header + "2024-01-02,Ann,Bob\n2024-01-02,Ann,Bob,3:1,x\n", "2 cell_count 3 4; 3 cell_count 5 4"},
		{"duplicate header", "date,winner,Winner,loser,score\n2024-01-02,Ann,Cid,Bob,3:1\n", "file: two_columns 1 Winner winner Winner"},
		{"two columns of a role", "date,winner,Sieger,loser\n2024-01-02,Ann,Cid,Bob\n", "file: two_columns 1 Sieger winner Sieger"},
		{"a club and its players", "Date,Home Team,Away Team,Home Player 1,Away Player 1,Scores\n,,,,,\n", "file: two_columns 1 Home Player 1 Home Team Home Player 1"},
		{"bars", strings.ReplaceAll(header+row, ",", "|"), "file: no_columns 1 date|winner|loser|score"},
		{"other delimiters in rows", header + strings.ReplaceAll(row, ",", ";"), "2 cell_count 1 4"},
		{"half of the header", "date,winner;loser,score\n" + row, "file: no_columns 1 date, winner;loser, score"},
		{"a spreadsheet's first line", "sep=;\n" + strings.ReplaceAll(header+row, ",", ";"), "file: no_columns 1 sep=,"},
		{"all line endings", "date,winner,loser,score\n2024-01-02,Ann,Bob,3:1\r\n2024-01-02,Cid,Bob,3:1\r2024-01-03,Ann,Bob,3:1\n", "2 played; 3 played; 4 played"},
		{"CR in a cell", name("An\rn"), "2 cell_count 2 4; 3 cell_count 3 4"},
		{"CR in a quoted cell", name("\"An\rn\""), "2 control_char winner U+000A"},
		{"empty rows", header + row + "\n\n,,,\n , ,\u00a0, \n \n" + "2024-01-03,Ann,Bob,3:1\n\n", "2 played; 5 empty_row; 6 empty_row; 7 empty_row; 8 played"},
		{"another file behind", "\ufeff" + header + row + "\ufeff" + header + row, "2 played; 3 bad_date date  date; 3 bad_score score score; 4 played"},
		{"a sum", header + row + "Total,,,3:1\n", "2 played; 3 bad_date date Total; 3 no_player loser; 3 no_player winner"},
		{"a web page", "<!DOCTYPE html><html><table>\n<tr>\n", "file: not_text 1 text/html; charset=utf-8"},
		{"a workbook", zipped(t), "file: not_text 1 application/zip"},
		{"gzip", "\x1f\x8b\x08" + several(1000, "\x00"), "file: not_text 1 application/x-gzip"},
		{"PDF", "%PDF-1.7\n" + several(1000, "x"), "file: not_text 1 application/pdf"},
		{"PNG", "\x89PNG\r\n\x1a\n" + several(1000, "x"), "file: not_utf8 1 ?PNG"},
		{"JSON", `{"format": "x",` + "\n" + `"matches": []}`, "file: open_quote 1"},
		{"deep JSON", several(1_000_000, "["), "file: too_long 1"},
		{"a score of 400 digits", score(several(400, "9") + ":1"), "2 bad_score score 9999999999999999999999999999999999999999"},
		{"a number that wraps", score("4294967299:1"), "2 bad_score score 4294967299:1"},
		{"points that wrap", "date,a,b,score_a,score_b\n2024-01-02,Ann,Bob,4294967299,1\n", "2 bad_score score_a 4294967299"},
		{"negative", score("-3:-1"), "2 bad_score score -3:-1"},
		{"half negative", score("3--1"), "2 bad_score score 3--1"},
		{"scientific", score("1e3:1"), "2 bad_score score 1e3:1"},
		{"hexadecimal", score("0x10:1"), "2 bad_score score 0x10:1"},
		{"signed", score("+3:1"), "2 bad_score score +3:1"},
		{"decimal", score("3.0:1"), "2 bad_score score 3.0:1"},
		{"underlined", score("1_0:1"), "2 bad_score score 1_0:1"},
		{"Arabic digits", score("٣:١"), "2 bad_score score ٣:١"},
		{"wide digits", score("１１:９"), "2 bad_score score １１:９"},
		{"one number", score("3"), "2 bad_score score 3"},
		{"three numbers", score("3:1:2"), "2 bad_score score 3:1:2"},
		{"a time a second early", score("03:00:59"), "2 bad_score score 03:00:59"},          // 3:1 out of some readers of xlsx
		{"the last set as a date", score("2001-07-05"), "2 score_is_date score 2001-07-05"}, // 6-4 7-5, sorted by csvkit
		{"words", score("three:one"), "2 bad_score score three:one"},
		{"a colon", score(":"), "2 bad_score score :"},
		{"half a score", score("3:"), "2 bad_score score 3:"},
		{"10,000 sets", score(several(10_000, "6-4 ")), "2 bad_score score 6-4 6-4 6-4 6-4 6-4 6-4 6-4 6-4 6-4 6-4 "},
		{"26 sets", score(several(26, "6-4 ")), "2 bad_score score 6-4 6-4 6-4 6-4 6-4 6-4 6-4 6-4 6-4 6-4 "},
		{"25 sets", score(several(25, "6-4 ")), "2 played"},
		{"a tie-break of 30 digits", score("7-6(" + several(30, "9") + ")"), "2 bad_score score 7-6(999999999999999999999999999999)"},
		{"oneself", header + "2024-01-02,Ann,Ann,3:1\n2024-01-02, Ann ,Ann,3:1\n", "2 same_player loser Ann; 3 same_player loser Ann"},
		{"a long name", name(several(10_000, "N")), "2 long_name winner NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN"},
		{"many marks", name("a" + several(4000, "\u0301")), "2 long_name winner a" + several(39, "\u0301")},
		{"the longest name", name(several(128, "ö")), "2 played"},
		{"a bell", name("A\x07nn"), "2 control_char winner U+0007"},
		{"terminal codes", name("\x1b[31mAnn"), "2 control_char winner U+001B"},
		{"a mark of direction", name("\u202eAnn"), "2 control_char winner U+202E"},
		{"an invisible letter", name("Ann\u200b"), "2 played"},
		{"markup", name("<b>Ann</b>&amp;"), "2 played"},
		{"a formula", name("=1+1"), "2 played"},
		{"a blank side", name(" \u00a0"), "2 no_player winner"},
		{"tomorrow", date("2026-12-01"), "2 future_date date 2026-12-01"},
		{"today", date("2026-11-30"), "2 played"},
		{"in ten years", date("2036-11-30 18:00"), "2 future_date date 2036-11-30 18:00"},
		{"in ten years, not played", header + "2036-11-30,Ann,Bob,NA\n", "2 not_played score NA"},
		{"faults of what was not played", header + "x,Ann,Ann,NA\n", "2 not_played score NA"},
		{"a row with only a date", header + "2024-01-02,,,\n", "2 not_played score"},
		{"no month in either order", header + "03/04/2024,Ann,Bob,3:1\n13/13/2024,Ann,Bob,3:1\n", "ask dates"},
		{"year 1", date("0001-01-02"), "2 bad_date date 0001-01-02"},
		{"year 0", date("0000-01-02"), "2 bad_date date 0000-01-02"},
		{"year -1", date("-001-01-02"), "2 bad_date date -001-01-02"},
		{"year 9999", date("9999-01-02"), "2 future_date date 9999-01-02"},
		{"year 10000", date("10000-01-02"), "2 bad_date date 10000-01-02"},
		{"30 February", date("2024-02-30"), "2 bad_date date 2024-02-30"},
		{"29 February", date("2024-02-29"), "2 played"},
		{"29 February of another year", date("2023-02-29"), "2 bad_date date 2023-02-29"},
		{"24:00:01", date("2024-01-02 24:00:01"), "2 bad_date date 2024-01-02 24:00:01"},
		{"a leap second", date("2024-01-02 23:59:60"), "2 bad_date date 2024-01-02 23:59:60"},
		{"only a time", date("12:30"), "2 bad_date date 12:30"},
		{"a time that did not exist", date("2026-03-29 02:30"), "2 bad_clock date 2026-03-29 02:30"},
		{"a time that came twice", date("2025-10-26 02:30"), "2 bad_clock date 2025-10-26 02:30"},
		{"the same with an offset", date("2025-10-26 02:30+01:00"), "2 played"},
		{"an hour before the change", date("2025-10-26 01:59:59"), "2 played"},
		{"an hour after the change", date("2025-10-26 03:00"), "2 played"},
		{"dates that differ", header + "28/04/2024,Ann,Bob,3:1\n04/28/2024,Ann,Bob,3:1\n", "file: dates_differ 2 date 3"},
		{"an undated year", date("01/02/03"), "ask dates"},
		{"a day's number", date("45293"), "2 bad_date date 45293"},
		{"seconds since 1970", date("1709556667"), "2 bad_date date 1709556667"},
		{"an id with quotes", "id,winner,loser\n'; DROP TABLE x;--,Ann,Bob\n", "2 played"},
		{"a long id", "id,winner,loser\n" + several(10_000, "7") + ",Ann,Bob\n", "2 played"},
		{"gaps in ratings", "player,rating\nAnn,10000\nBob,10001\nCid,-1\nDan,1e3\n", "2 start; 3 bad_rating rating 10001; 4 bad_rating rating -1; 5 bad_rating rating 1e3"},
		{"sides without results", "date,a,b\n2024-01-02,Ann,Bob\n", "file: no_columns 1 date, a, b"},
		{"points of nobody", "a,b,winner,score_winner,score_loser\nAnn,Bob,b,3,1\n", "file: no_columns 1 a, b, winner, score_winner, score_loser"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := summary(transfer.ReadCSV(strings.NewReader(c.file), options(t))); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// summary returns the lines that were read, and all faults with their places and values.
func summary(f transfer.File, err error) string {
	var fault transfer.Fault
	if errors.As(err, &fault) {
		return strings.TrimSpace(fmt.Sprintf("file: %s %s", fault.Reason, of(fault, "")))
	}
	if err != nil {
		return err.Error()
	}
	if f.Ask != "" {
		return "ask " + string(f.Ask)
	}
	all := []string{}
	for _, r := range f.Rows {
		all = append(all, fmt.Sprintf("%d played", r.Line))
	}
	for _, s := range f.Starts {
		all = append(all, fmt.Sprintf("%d start", s.Line))
	}
	for _, fault := range append(f.LeftOut, f.Refused...) {
		all = append(all, of(fault, fault.Reason))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func of(f transfer.Fault, reason transfer.Reason) string {
	text := fmt.Sprint(f.Line)
	for _, more := range []string{string(reason), f.Column, f.Value, f.Against} {
		if more != "" {
			text += " " + more
		}
	}
	if f.Other > 0 {
		text += fmt.Sprint(" ", f.Other)
	}
	return text
}

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.New(rand.NewSource(1)).Read(b)
	return string(b)
}

func utf16Of(order binary.ByteOrder, text string) string {
	var b bytes.Buffer
	_ = binary.Write(&b, order, utf16.Encode([]rune(text)))
	return b.String()
}

func zipped(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("xl/workbook.xml")
	if err == nil {
		_, err = io.WriteString(f, strings.Repeat("<x/>", 256))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
