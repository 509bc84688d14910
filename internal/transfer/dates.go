package transfer

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dayAndMonth matches a date such as 03/04/2024, in which the first two numbers are the day and the
// month, in either order. A time may follow.
var dayAndMonth = regexp.MustCompile(`^(\d\d?)[-./] ?(\d\d?)[-./] ?(\d{4}|\d\d)(?:[T ]|$)`)

// dayLayouts has the layouts of dates by the order of days and months. The layouts under "" do not
// depend on the order.
var dayLayouts = map[DateOrder][]string{
	DayFirst: {"2/1/2006", "2/1/06"}, MonthFirst: {"1/2/2006", "1/2/06"},
	"": {
		"2006-1-2", "2006/1/2", "20060102", "2-Jan-06", "2-Jan-2006",
		"January 2, 2006", "Jan 2, 2006", "2 January 2006", "2 Jan 2006",
	},
}

var clockLayouts = []string{"15:04:05", "15:04", "15:04:05Z07:00", "15:04Z07:00", "3:04:05 PM", "3:04 PM"}

// addDate notes whether a date settles the order of days and months in the file, as 28/04/2024
// does, or leaves it open, as 03/04/2024 does.
func (s *sheet) addDate(date string) {
	s.hasDates = s.hasDates || date != ""
	m := dayAndMonth.FindStringSubmatch(date)
	if m == nil {
		return
	}
	switch first, second := number(m[1], 2), number(m[2], 2); {
	case first > 12 && second <= 12:
		s.dayFirst = cmp.Or(s.dayFirst, s.line)
	case first <= 12 && second > 12:
		s.monthFirst = cmp.Or(s.monthFirst, s.line)
	default:
		s.isOpen = s.isOpen || first != second
	}
}

// settleDates sets s.File.Dates by the options, or else by the dates in the file. If both leave the
// order open, settleDates asks. It returns a Fault if two dates need different orders.
func (s *sheet) settleDates() error {
	switch s.File.Dates = s.Options.Dates; {
	case s.Options.Dates != "":
	case s.dayFirst > 0 && s.monthFirst > 0:
		return Fault{Line: s.dayFirst, Column: excerpt(s.header[s.at["date"]]), Reason: DatesDiffer, Other: s.monthFirst}
	case s.dayFirst > 0:
		s.File.Dates = DayFirst
	case s.monthFirst > 0:
		s.File.Dates = MonthFirst
	case s.isOpen:
		s.Ask = AskDates
	}
	return nil
}

// when reads the date of a match, with or without a time. isDay means that there is no time; at is
// then the beginning of the day. reason says why the date is refused, and is empty otherwise.
func (s *sheet) when(cell string) (at time.Time, isDay bool, reason Reason) {
	date, clock := cell, ""
	if colon := strings.IndexByte(cell, ':'); colon > 0 {
		end := strings.LastIndexAny(cell[:colon], "T ")
		date, clock = strings.TrimSpace(cell[:max(end, 0)]), cell[end+1:]
	}
	layouts := dayLayouts[""]
	if m := dayAndMonth.FindStringSubmatch(date); m != nil {
		date, layouts = strings.Join(m[1:], "/"), dayLayouts[cmp.Or(s.File.Dates, DayFirst)]
	}
	millis, noMillis := strconv.ParseInt(cell, 10, 64)
	day, isDate := parse(date, layouts)
	c, isClock := parse(clock, clockLayouts)
	wall := time.Date(day.Year(), day.Month(), day.Day(), c.Hour(), c.Minute(), c.Second(), c.Nanosecond(), time.UTC)
	switch _, offset := c.Zone(); {
	case cell == "":
		return at, false, NoDate
	case noMillis == nil && len(cell) == len("1709556667123"): // milliseconds since 1970
		at = time.UnixMilli(millis).In(s.Zone)
	case !isDate || clock != "" && !isClock:
		return at, false, BadDate
	case clock == "":
		at, isDay = time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, s.Zone), true
	case strings.ContainsAny(clock, "Z+-"):
		at = wall.Add(-time.Duration(offset) * time.Second).In(s.Zone)
	default:
		var ok bool
		if at, ok = onClock(wall, s.Zone); !ok {
			return at, false, BadClock
		}
	}
	switch {
	case at.Year() < 1800:
		reason = BadDate
	case at.After(s.Now):
		reason = FutureDate
	}
	return at, isDay, reason
}

// onClock returns the time at which the clocks of a zone show the date and time that wall has in
// UTC. ok is false if they never show it or show it twice, because of a clock change.
func onClock(wall time.Time, zone *time.Location) (at time.Time, ok bool) {
	count := 0
	for _, days := range []int{-1, 1} { // with the offsets before and after a clock change
		_, offset := wall.AddDate(0, 0, days).In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, is := t.Zone(); is == offset && !t.Equal(at) {
			at, count = t, count+1
		}
	}
	return at, count == 1
}

func parse(text string, layouts []string) (t time.Time, ok bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return t, false
}
