package ranking_test

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/ranking"
)

func TestFindTimeZone(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"Europe/Berlin": "Europe/Berlin", "europe/berlin": "Europe/Berlin", "AMERICA/NEW_YORK": "America/New_York",
		"America/New York": "America/New_York", " america/argentina/buenos  aires ": "America/Argentina/Buenos_Aires",
		"america/port-au-prince": "America/Port-au-Prince", "antarctica/mcmurdo": "Antarctica/McMurdo", "africa/dar es salaam": "Africa/Dar_es_Salaam",
		"utc": "UTC", "gmt": "GMT", "etc/gmt+3": "Etc/GMT+3", "us/eastern": "US/Eastern", "Europe/Kiev": "Europe/Kiev",
		"Berlin": "Europe/Berlin", "new york": "America/New_York", "argentina/salta": "America/Argentina/Salta",
		"gmt+3": "", "istanbul": "", "eastern": "", // Etc/GMT+3 is behind UTC; the others are ambiguous
		"": "", "Local": "", "local": "", "Europe": "", "Europe/": "", "Europe/Berlin\nUTC": "", "Europe/Berlin UTC": "", "CEST": "", "+03:00": "",
		"Factory": "", "localtime": "", "posixrules": "", "right/UTC": "", "../Europe/Berlin": "", "/etc/localtime": "", "Europe/../UTC": "", `Europe\Berlin`: "",
	} {
		if name, ok := ranking.FindTimeZone(written); name != want || ok != (want != "") {
			t.Errorf("%q means %q, %t, want %q", written, name, ok, want)
		}
	}
}

// TestTimeZones checks that each zone in the archive is found by its name, which has at most 64
// bytes, and can be loaded. An unknown name means UTC. The archive has every zone in Go's own
// archive, except perhaps Factory, which is not a place.
func TestTimeZones(t *testing.T) {
	t.Parallel()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	must(t, err)
	own := zoneNames(t, "time_zones.zip")
	for _, name := range own {
		if found, ok := ranking.FindTimeZone(strings.ToUpper(name)); found != name || !ok || len(name) > 64 {
			t.Errorf("%s is found as %q", name, found)
		}
		if zone := (ranking.Display{TimeZone: name}).Zone(); zone.String() != name {
			t.Errorf("the zone of %s is %s", name, zone)
		}
	}
	for _, name := range zoneNames(t, filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip")) {
		if !slices.Contains(own, name) && name != "Factory" {
			t.Errorf("time_zones.zip lacks %s", name)
		}
	}
	for _, name := range []string{"", "Local", "Mars/Olympus_Mons"} {
		if zone := (ranking.Display{TimeZone: name}).Zone(); zone != time.UTC {
			t.Errorf("the zone of %q is %s", name, zone)
		}
	}
	if edition := ranking.TimeZoneEdition(); !regexp.MustCompile(`^20[0-9]{2}[a-z]+$`).MatchString(edition) {
		t.Errorf("the edition of the time zones is %q", edition)
	}
}

func zoneNames(t *testing.T, archive string) (names []string) {
	t.Helper()
	zones, err := zip.OpenReader(archive)
	must(t, err)
	defer func() { must(t, zones.Close()) }()
	for _, f := range zones.File {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	return names
}

// TestBeginningsOfDaysAndMonths checks that days and months begin at their first instant, even
// around clock changes, a leap day, a midnight that occurs twice or never, and a skipped day.
func TestBeginningsOfDaysAndMonths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ zone, at, begins, unit, next string }{
		{"UTC", "2024-02-29T23:59:59Z", "2024-02-29T00:00:00Z", day, "2024-03-01T00:00:00Z"},
		{"UTC", "2024-02-29T23:59:59Z", "2024-02-01T00:00:00Z", month, "2024-03-01T00:00:00Z"},
		// In Berlin, this instant is in March.
		{"Europe/Berlin", "2024-02-29T23:30:00Z", "2024-02-29T23:00:00Z", month, "2024-03-31T22:00:00Z"},
		{"Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-28T23:00:00Z", day, "2026-03-29T22:00:00Z"},
		{"Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z", day, "2026-10-25T23:00:00Z"},
		{"Europe/Berlin", "2026-10-31T22:59:59Z", "2026-09-30T22:00:00Z", month, "2026-10-31T23:00:00Z"},
		{"America/New_York", "2024-02-29T12:00:00Z", "2024-02-29T05:00:00Z", day, "2024-03-01T05:00:00Z"},
		{"America/New_York", "2026-03-01T04:59:59Z", "2026-02-01T05:00:00Z", month, "2026-03-01T05:00:00Z"},
		{"America/New_York", "2026-03-08T12:00:00Z", "2026-03-08T05:00:00Z", day, "2026-03-09T04:00:00Z"},
		// The clocks go back on the first day of a month.
		{"America/New_York", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", day, "2026-11-02T05:00:00Z"},
		{"America/New_York", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", month, "2026-12-01T05:00:00Z"},
		// The clocks change by half an hour.
		{"Australia/Lord_Howe", "2026-04-04T16:00:00Z", "2026-04-04T13:00:00Z", day, "2026-04-05T13:30:00Z"},
		{"Australia/Lord_Howe", "2026-10-04T00:00:00Z", "2026-10-03T13:30:00Z", day, "2026-10-04T13:00:00Z"},
		// The zone skips the next day.
		{"Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-29T10:00:00Z", day, "2011-12-30T10:00:00Z"},
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z", day, "2011-12-31T10:00:00Z"},
		{"Pacific/Apia", "2011-12-31T09:59:59Z", "2011-12-01T10:00:00Z", month, "2011-12-31T10:00:00Z"},
		// April 24 begins at 1:00.
		{"Africa/Cairo", "2026-04-23T22:00:00Z", "2026-04-23T22:00:00Z", day, "2026-04-24T21:00:00Z"},
		// This is the second 23:30.
		{"Africa/Cairo", "2026-10-29T21:30:00Z", "2026-10-28T21:00:00Z", day, "2026-10-29T22:00:00Z"},
		{"America/Santiago", "2026-09-06T04:00:00Z", "2026-09-06T04:00:00Z", day, "2026-09-07T03:00:00Z"},
		// This is the second 0:30.
		{"Atlantic/Azores", "2026-10-25T01:30:00Z", "2026-10-25T00:00:00Z", day, "2026-10-26T01:00:00Z"},
		{"America/Havana", "2025-11-01T12:00:00Z", "2025-11-01T04:00:00Z", month, "2025-12-01T05:00:00Z"},
		// This is the second 0:30.
		{"America/Havana", "2025-11-02T05:30:00Z", "2025-11-02T04:00:00Z", day, "2025-11-03T05:00:00Z"},
		// In 2026, the clocks do not go back.
		{"America/Havana", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", month, "2026-12-01T04:00:00Z"},
	} {
		checkBeginnings(t, ranking.Display{TimeZone: tc.zone}.Zone(), tc.at, tc.unit, tc.begins, tc.next)
	}
}

// TestEditions checks that if two editions of the time zones differ, days and months follow the
// edition in use. testdata has the older one.
func TestEditions(t *testing.T) {
	t.Parallel()
	type beginnings struct{ this, next string }
	for _, tc := range []struct {
		zone, at, unit string
		old, own       beginnings
	}{
		{"Africa/Casablanca", "2026-09-20T12:00:00Z", day,
			beginnings{"2026-09-19T23:00:00Z", "2026-09-20T23:00:00Z"},
			beginnings{"2026-09-19T23:00:00Z", "2026-09-21T00:00:00Z"}},
		{"Africa/Casablanca", "2026-11-28T12:00:00Z", day,
			beginnings{"2026-11-27T23:00:00Z", "2026-11-28T23:00:00Z"},
			beginnings{"2026-11-28T00:00:00Z", "2026-11-29T00:00:00Z"}},
		{"Africa/Casablanca", "2026-11-30T23:30:00Z", month, // still November in the new edition
			beginnings{"2026-11-30T23:00:00Z", "2026-12-31T23:00:00Z"},
			beginnings{"2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"}},
		{"America/Vancouver", "2026-11-28T12:00:00Z", month,
			beginnings{"2026-11-01T07:00:00Z", "2026-12-01T08:00:00Z"},
			beginnings{"2026-11-01T07:00:00Z", "2026-12-01T07:00:00Z"}},
		{"America/Edmonton", "2026-11-28T12:00:00Z", day,
			beginnings{"2026-11-28T07:00:00Z", "2026-11-29T07:00:00Z"},
			beginnings{"2026-11-28T06:00:00Z", "2026-11-29T06:00:00Z"}},
		// This instant is after the last change listed in the files.
		{"America/Winnipeg", "2040-12-01T12:00:00Z", day,
			beginnings{"2040-12-01T06:00:00Z", "2040-12-02T06:00:00Z"},
			beginnings{"2040-12-01T05:00:00Z", "2040-12-02T05:00:00Z"}},
		{"America/Havana", "2026-11-01T04:30:00Z", day, // midnight occurs twice in the old edition
			beginnings{"2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
			beginnings{"2026-11-01T04:00:00Z", "2026-11-02T04:00:00Z"}},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "2025c", filepath.FromSlash(tc.zone)))
		must(t, err)
		old, err := time.LoadLocationFromTZData(tc.zone+" in 2025c", data)
		must(t, err)
		checkBeginnings(t, old, tc.at, tc.unit, tc.old.this, tc.old.next)
		checkBeginnings(t, ranking.Display{TimeZone: tc.zone}.Zone(), tc.at, tc.unit, tc.own.this, tc.own.next)
	}
}

const day, month = "day", "month"

// checkBeginnings checks when the day or month that contains an instant begins in a zone, and when
// the next one does.
func checkBeginnings(t *testing.T, zone *time.Location, written, unit, begins, next string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, written)
	must(t, err)
	gotThis, gotNext := ranking.LaterDay(at.In(zone), 0), ranking.LaterDay(at.In(zone), 1)
	if unit == month {
		gotThis, gotNext = ranking.MonthOf(at, zone), ranking.LaterMonth(ranking.MonthOf(at, zone), 1)
	}
	if got := gotThis.UTC().Format(time.RFC3339); got != begins {
		t.Errorf("the %s of %s in %s begins at %s, want %s", unit, written, zone, got, begins)
	}
	if got := gotNext.UTC().Format(time.RFC3339); got != next {
		t.Errorf("the %s after %s in %s begins at %s, want %s", unit, written, zone, got, next)
	}
}

// TestDaysBeginOnce checks that LaterDay returns the first instant of a day. The test finds that
// instant in small steps.
func TestDaysBeginOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo", "Africa/Casablanca",
		"America/Santiago", "America/Havana", "Asia/Beirut", "Asia/Gaza", "Atlantic/Azores", "Pacific/Kiritimati", "Pacific/Chatham",
	} {
		zone := ranking.Display{TimeZone: name}.Zone()
		last := ""
		const step = 15 * time.Minute // in these years, all days begin at a multiple of step
		for at := time.Date(2010, time.December, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2013; at = at.Add(step) {
			day := at.In(zone).Format(time.DateOnly)
			if day > last && last != "" {
				if got := ranking.LaterDay(at.In(zone).Add(6*time.Hour), 0); !got.Equal(at) {
					t.Errorf("%s begins in %s at %s, want %s", day, name, got, at.In(zone))
				}
			}
			last = max(last, day)
		}
	}
}
