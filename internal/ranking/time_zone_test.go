package ranking_test

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
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
		"": "", "Local": "", "local": "", "Berlin": "", "Europe": "", "Europe/": "", "Europe/Berlin\nUTC": "", "Europe/Berlin UTC": "", "CEST": "", "+03:00": "",
		"Factory": "", "localtime": "", "posixrules": "", "right/UTC": "", "../Europe/Berlin": "", "/etc/localtime": "", "Europe/../UTC": "", `Europe\Berlin`: "",
	} {
		if name, ok := ranking.FindTimeZone(written); name != want || ok != (want != "") {
			t.Errorf("%q means %q, %t, want %q", written, name, ok, want)
		}
	}
}

// TestTimeZones: the table has every zone of Go's, apart from the one that no place has, and each can be chosen and is found.
func TestTimeZones(t *testing.T) {
	t.Parallel()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	must(t, err)
	zones, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	must(t, err)
	defer func() { must(t, zones.Close()) }()
	inGo := map[string]bool{}
	for _, f := range zones.File {
		if !strings.HasSuffix(f.Name, "/") && f.Name != "Factory" {
			inGo[f.Name] = true
		}
	}
	table, err := os.ReadFile("time_zones.txt")
	must(t, err)
	for _, name := range strings.Fields(string(table)) {
		if !inGo[name] {
			t.Errorf("Go does not know %s", name)
		}
		delete(inGo, name)
		if found, ok := ranking.FindTimeZone(strings.ToUpper(name)); found != name || !ok || len(name) > 64 {
			t.Errorf("%s is found as %q", name, found)
		}
		if zone := (ranking.Display{TimeZone: name}).Zone(); zone.String() != name {
			t.Errorf("the zone of %s is %s", name, zone)
		}
	}
	for name := range inGo {
		t.Errorf("time_zones.txt lacks %s", name)
	}
	for _, name := range []string{"", "Local", "Mars/Olympus_Mons"} {
		if zone := (ranking.Display{TimeZone: name}).Zone(); zone != time.UTC {
			t.Errorf("the zone of %q is %s", name, zone)
		}
	}
}

// TestBeginningsOfDaysAndMonths: with the zones' clocks put forward and back, a leap day, midnights that come twice or never, and a day
// that was skipped.
func TestBeginningsOfDaysAndMonths(t *testing.T) {
	t.Parallel()
	const day, month = "day", "month"
	for _, tc := range []struct{ zone, at, begins, unit, next string }{
		{"UTC", "2024-02-29T23:59:59Z", "2024-02-29T00:00:00Z", day, "2024-03-01T00:00:00Z"},
		{"UTC", "2024-02-29T23:59:59Z", "2024-02-01T00:00:00Z", month, "2024-03-01T00:00:00Z"},
		{"Europe/Berlin", "2024-02-29T23:30:00Z", "2024-02-29T23:00:00Z", month, "2024-03-31T22:00:00Z"}, // March has begun
		{"Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-28T23:00:00Z", day, "2026-03-29T22:00:00Z"},
		{"Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z", day, "2026-10-25T23:00:00Z"},
		{"Europe/Berlin", "2026-10-31T22:59:59Z", "2026-09-30T22:00:00Z", month, "2026-10-31T23:00:00Z"},
		{"America/New_York", "2024-02-29T12:00:00Z", "2024-02-29T05:00:00Z", day, "2024-03-01T05:00:00Z"},
		{"America/New_York", "2026-03-01T04:59:59Z", "2026-02-01T05:00:00Z", month, "2026-03-01T05:00:00Z"},
		{"America/New_York", "2026-03-08T12:00:00Z", "2026-03-08T05:00:00Z", day, "2026-03-09T04:00:00Z"},
		{"America/New_York", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", day, "2026-11-02T05:00:00Z"}, // and a month
		{"America/New_York", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", month, "2026-12-01T05:00:00Z"},
		{"Australia/Lord_Howe", "2026-04-04T16:00:00Z", "2026-04-04T13:00:00Z", day, "2026-04-05T13:30:00Z"}, // by half an hour
		{"Australia/Lord_Howe", "2026-10-04T00:00:00Z", "2026-10-03T13:30:00Z", day, "2026-10-04T13:00:00Z"},
		{"Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-29T10:00:00Z", day, "2011-12-30T10:00:00Z"}, // that day is the next one
		{"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z", day, "2011-12-31T10:00:00Z"},
		{"Pacific/Apia", "2011-12-31T09:59:59Z", "2011-12-01T10:00:00Z", month, "2011-12-31T10:00:00Z"},
		{"Africa/Cairo", "2026-04-23T22:00:00Z", "2026-04-23T22:00:00Z", day, "2026-04-24T21:00:00Z"}, // 24 April begins at 1:00
		{"Africa/Cairo", "2026-10-29T21:30:00Z", "2026-10-28T21:00:00Z", day, "2026-10-29T22:00:00Z"}, // the second 23:30
		{"America/Santiago", "2026-09-06T04:00:00Z", "2026-09-06T04:00:00Z", day, "2026-09-07T03:00:00Z"},
		{"Atlantic/Azores", "2026-10-25T01:30:00Z", "2026-10-25T00:00:00Z", day, "2026-10-26T01:00:00Z"}, // the second 0:30
		{"America/Havana", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", month, "2026-12-01T05:00:00Z"},
	} {
		zone := ranking.Display{TimeZone: tc.zone}.Zone()
		at, err := time.Parse(time.RFC3339, tc.at)
		must(t, err)
		begins, next := ranking.LaterDay(at.In(zone), 0), ranking.LaterDay(at.In(zone), 1)
		if tc.unit == month {
			begins, next = ranking.MonthOf(at, zone), ranking.LaterMonth(ranking.MonthOf(at, zone), 1)
		}
		if got := begins.UTC().Format(time.RFC3339); got != tc.begins {
			t.Errorf("the %s of %s in %s begins at %s, want %s", tc.unit, tc.at, tc.zone, got, tc.begins)
		}
		if got := next.UTC().Format(time.RFC3339); got != tc.next {
			t.Errorf("the %s after %s in %s begins at %s, want %s", tc.unit, tc.at, tc.zone, got, tc.next)
		}
	}
}

// TestDaysBeginOnce compares the beginning of each day with the first minute of that day, found by counting.
func TestDaysBeginOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo", "Africa/Casablanca",
		"America/Santiago", "America/Havana", "Asia/Beirut", "Asia/Gaza", "Atlantic/Azores", "Pacific/Kiritimati", "Pacific/Chatham",
	} {
		zone := ranking.Display{TimeZone: name}.Zone()
		last := ""
		const step = 15 * time.Minute // all changes of the last years are at such times
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
