package chart

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"elobot/internal/ranking"
)

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		low, high, least float64
		want             []int
	}{
		{1470, 1530, 0, []int{1480, 1500, 1520}},
		{1392, 1790, 0, []int{1400, 1500, 1600, 1700}},
		{900, 2100, 0, []int{1000, 1500, 2000}},
		{-600, 10_600, 0, []int{0, 5000, 10_000}},
		{0, 30, 1, []int{10, 20, 30}},
		{0, 1, 1, []int{1}},
		{1, 2, 1, []int{1, 2}},
		{1, 5, 1, []int{1, 2, 3, 4, 5}},
		{1, 200, 1, []int{50, 100, 150, 200}},
		{1, 20_000, 1, []int{5000, 10_000, 15_000, 20_000}},
	} {
		if got := newScale(tc.low, tc.high, 1, 0, 100).ticks(tc.least); !slices.Equal(got, tc.want) {
			t.Errorf("from %v to %v: %v, want %v", tc.low, tc.high, got, tc.want)
		}
	}
}

func TestTimeTicks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		from, to string
		want     []string
		zone     string // Europe/Kyiv if empty
	}{
		{"2026-03-02 19:10", "2026-03-02 22:30", []string{"2026-03-02 20:00", "2026-03-02 21:00", "2026-03-02 22:00"}, ""},
		{"2026-03-02 19:10", "2026-03-02 19:10", []string{"2026-03-02 19:10", "2026-03-02 19:10"}, ""},
		{"2026-03-02 19:10", "2026-03-04 09:10", []string{"2026-03-03 00:00", "2026-03-04 00:00"}, ""},
		// In Kyiv, clocks go forward early on 29 March.
		{"2026-03-27 19:10", "2026-03-30 19:10", []string{"2026-03-28 00:00", "2026-03-29 00:00", "2026-03-30 00:00"}, ""},
		{"2026-03-02 19:10", "2026-06-04 09:10", []string{"2026-04-01 00:00", "2026-05-01 00:00", "2026-06-01 00:00"}, ""},
		{"2026-03-02 19:10", "2027-12-04 09:10", []string{"2026-07-01 00:00", "2027-01-01 00:00", "2027-07-01 00:00"}, ""},
		{"0001-03-02 19:10", "9999-12-04 09:10", []string{"0001-03-02 19:10", "9999-12-04 09:10"}, ""},
		// In Santiago, clocks go forward at midnight, so 6 September begins at 1:00.
		{"2026-09-05 09:10", "2026-09-07 09:10", []string{"2026-09-06 01:00", "2026-09-07 00:00"}, "America/Santiago"},
	} {
		zone := ranking.Display{TimeZone: cmp.Or(tc.zone, "Europe/Kyiv")}.Zone()
		at := func(text string) time.Time {
			parsed, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
			if err != nil {
				t.Fatal(err)
			}
			return parsed
		}
		ticks, clock := timeTicks(at(tc.from), at(tc.to))
		var got []string
		for _, tick := range ticks {
			got = append(got, tick.Format("2006-01-02 15:04"))
		}
		if !slices.Equal(got, tc.want) || clock != (tc.from[:10] == tc.to[:10] && tc.from != tc.to) {
			t.Errorf("from %s to %s: %v (clock: %v), want %v", tc.from, tc.to, got, clock, tc.want)
		}
	}
}
