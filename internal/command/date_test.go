package command

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

var blanks = regexp.MustCompile(` +`)

// TestDates checks that withoutDates removes dates, and times of day such as "7pm", from a text,
// and returns the day. Apart from spaces, the rest of the text must stay unchanged, except that
// "last night" becomes "yesterday".
func TestDates(t *testing.T) {
	t.Parallel()
	names := NewNames([]Person{{ID: 1, Name: "April"}, {ID: 2, Name: "Domingo"}, {ID: 3, Name: "Bob"},
		{ID: 4, Name: "Anna Freitag"}, {ID: 5, Name: "Anna"}})
	for _, c := range []struct{ text, want string }{
		{"bob 3:1 yesterday", "bob 3:1 yesterday"}, // a word of the vocabulary
		{"bob 3:1 on 20.11.", "bob 3:1 | 11-20"},
		{"bob 3:1 11/27", "bob 3:1 | 11-27"},
		{"bob 3:1 5/11", "bob 3:1 5/11"},       // may be a score
		{"bob 21/15 27/11", "bob 21/15 27/11"}, // no word is certain to be a score
		{"bob 3:1 28.11.2025.", "bob 3:1 | 11-28 of 25"},
		{"bob 3:1 28.11.24", "bob 3:1 | 11-28 of 24"},
		{"bob 3:1 November 28th, 2025", "bob 3:1 | 11-28 of 25"},
		{"bob 3:1 28 de noviembre de 2023", "bob 3:1 | 11-28 of 23"},
		{"bob 3:1 2026-11-05!", "bob 3:1 ! | 11-5 of 26"},
		{"21/12 15-21 15/10", "21/12 15-21 15/10"}, // a game beside other games
		{"10-12 13/11 11/9", "10-12 13/11 11/9"},
		{"2:1 (15/12 12/15 15/11)", "2:1 (15/12 12/15 15/11)"},
		{"3:0 (11/9 14/12 11/8)", "3:0 (11/9 14/12 11/8)"},
		{"3:0 (11.9 13.11 11.8)", "3:0 (11.9 13.11 11.8)"},
		{"bob 21-9 21/5", "bob 21-9 21/5"},
		{"2-0: 21/12, 21/10", "2-0: 21/12, 21/10"},
		{"bob 2:0 11/9 11/7.", "bob 2:0 11/9 11/7."},
		{"1:0 0:1 1/2.", "1:0 0:1 1/2."},
		{"bob 13/11.", "bob 13/11."}, // the only score
		{"bob 21/10. Revanche", "bob 21/10. Revanche"},
		{"bob 3:1 21/11", "bob 3:1 | 11-21"}, // a day beside a result or a set of tennis
		{"bob 6:4 7:5 15/12.", "bob 6:4 7:5 | 12-15"},
		{"bob 21:15 21.11.", "bob 21:15 | 11-21"},
		{"bob 21:15 27/11", "bob 21:15 | 11-27"},
		{"bob 28/11.", "bob | 11-28"},
		{"bob 3:1 28.11.\ncarol 3:2 20.11.", "bob 3:1 \ncarol 3:2 | 11-28 not 28.11."}, // several days
		{"bob 3:1 28.11.\ncarol 3:2 28.11.", "bob 3:1 \ncarol 3:2 | 11-28"},
		{"bob 3:1 28/11, carol 2:3 21/11", "bob 3:1 , carol 2:3 | 11-28 not 28/11"},
		{"bob 3:1 yesterday, 28.11.", "bob 3:1 yesterday, | 11-28 not 28.11."},
		{"bob 3:1 вчера в пятницу", "bob 3:1 вчера | weekday 5 not в пятницу"},
		{"bob 3:1 31.11.", "bob 3:1 | 11-31 not 31.11."}, // no such day
		{"bob 3:1 29.2.", "bob 3:1 | 2-29"},
		{"bob 3:1 29.2.2027", "bob 3:1 | 2-29 of 27 not 29.2.2027"},
		{"bob 3.1.", "bob 3.1."},
		{"bob 3:1 3.1.", "bob 3:1 | 1-3"},
		{"bob 3:1 30th of November 2026, gg", "bob 3:1 , gg | 11-30 of 26"},
		{"bob 3:1 the day before yesterday", "bob 3:1 | 0-0"},
		{"bob 3:1 a few days ago", "bob 3:1 | 0-0"},
		{"bob 3 1 2 days ago", "bob 3 1 | 0-2"},
		{"bob 3:1 last night", "bob 3:1 yesterday"},
		{"bob 3:1 at 7pm", "bob 3:1"},
		{"bob 3:1 at 19:30", "bob 3:1 at 19:30"},
		{"april 3 1", "april 3 1"}, // players with these names
		{"domingo 3:1", "domingo 3:1"},
		{"anna freitag 3:1", "anna freitag 3:1"},
		{"anna 3:1 freitag", "anna 3:1 | weekday 5"},
		{"april 3:1 7 april", "april 3:1 | 4-7"},
		{"second set bob 3:1, fri", "second set bob 3:1, fri"},
		{"bob 3:1 on fri", "bob 3:1 | weekday 5"},
		{"3 day\nago bob 3:1", "3 day\nago bob 3:1"},
		{"bob 3:1 минулої п’ятниці", "bob 3:1 | weekday 5"},
	} {
		without, day, other, _ := text{written: c.text}.withoutDates(names)
		got := blanks.ReplaceAllString(strings.TrimSpace(without.written), " ")
		if day != nil {
			got += fmt.Sprintf(" | %d-%d", day.Month, day.Day)
			if day.Year != 0 {
				got += fmt.Sprintf(" of %d", day.Year)
			}
			if day.Weekday != 0 {
				got = strings.TrimSuffix(got, "0-0") + fmt.Sprintf("weekday %d", day.Weekday)
			}
			if other != "" {
				got += " not " + other
			}
		}
		if got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// TestWhenOn checks that a report means the last matching day that has begun in the time zone of
// the report. There is no such day if the report is unclear about the day, or if the day does not
// exist or is in the future.
func TestWhenOn(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin") //nolint:forbidigo // any zone does
	if err != nil {
		t.Fatal(err)
	}
	monday := time.Date(2026, time.November, 30, 0, 30, 0, 0, berlin) // still Sunday in UTC
	for _, c := range []struct {
		when When
		want string
	}{
		{When{}, "2026-11-30"},
		{When{Past: true}, "2026-11-29"},
		{When{Past: true, Day: &Day{Weekday: 5}}, ""},
		{When{Day: &Day{}}, ""},
		{When{Day: &Day{Weekday: 1}}, "2026-11-30"},
		{When{Day: &Day{Weekday: 1, Last: true}}, "2026-11-23"},
		{When{Day: &Day{Weekday: 2}}, "2026-11-24"},
		{When{Day: &Day{Weekday: 7}}, "2026-11-29"},
		{When{Day: &Day{Month: 11, Day: 30}}, "2026-11-30"},
		{When{Day: &Day{Month: 12, Day: 1}}, "2025-12-01"},
		{When{Day: &Day{Year: 26, Month: 12, Day: 1}}, ""},
		{When{Day: &Day{Year: 25, Month: 11, Day: 30}}, "2025-11-30"},
		{When{Day: &Day{Month: 2, Day: 29}}, ""},
		{When{Day: &Day{Year: 24, Month: 2, Day: 29}}, "2024-02-29"},
	} {
		got := ""
		if day, ok := c.when.On(monday); ok {
			got = day.Format(time.DateOnly)
		}
		if got != c.want {
			t.Errorf("%+v %+v: %q, want %q", c.when, c.when.Day, got, c.want)
		}
	}
}

// TestDateLetters checks that every match of dateForms with at most five letters contains one of
// dateLetters. withoutDates relies on that: it does not search a text that contains none of them.
func TestDateLetters(t *testing.T) {
	t.Parallel()
	words := []string{""}
	for range 6 {
		for _, w := range words {
			if dateForms.MatchString(w) {
				t.Fatalf("%q is a date", w)
			}
		}
		var longer []string
		for _, w := range words {
			for _, letter := range "Npoabvn." {
				longer = append(longer, w+string(letter))
			}
		}
		words = longer
	}
}
