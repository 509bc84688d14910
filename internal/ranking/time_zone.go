package ranking

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"strings"
	"sync"
	"time"
)

// UTC is the zone of a chat until its admins choose another one.
const UTC = "UTC"

// timeZones is an archive of all zone files, made by time_zones.sh. The bot does not use the
// machine's zone files, so that all instances of a release agree on when days begin.
//
//go:embed time_zones.zip
var timeZones string

// openTimeZones returns the archive of time zones. It opens the archive each time, because keeping
// the archive's directory in memory would take more space than the zones in use.
func openTimeZones() *zip.Reader {
	archive, err := zip.NewReader(strings.NewReader(timeZones), int64(len(timeZones)))
	if err != nil {
		panic(err) // the archive is part of the program
	}
	return archive
}

// TimeZoneEdition returns the edition of the time zones in this release, such as 2026f.
func TimeZoneEdition() string { return openTimeZones().Comment }

// FindTimeZone returns the IANA name of the time zone that written means. It ignores case and
// accepts spaces for underscores, as in "america/new york". The last parts of a name are enough if
// no other name ends with them, as in "berlin" and "argentina/salta". Names in Etc must be written
// in full and do not count as other names. This keeps GMT+3 from meaning Etc/GMT+3, which is behind
// UTC. ok is false if no single zone matches.
func FindTimeZone(written string) (name string, ok bool) {
	written = strings.ToLower(strings.Join(strings.Fields(written), "_"))
	var ends []string
	for _, f := range openTimeZones().File {
		switch lower := strings.ToLower(f.Name); {
		case lower == written:
			return f.Name, true
		case strings.HasSuffix(lower, "/"+written) && !strings.HasPrefix(lower, "etc/"):
			ends = append(ends, f.Name)
		}
	}
	if len(ends) != 1 {
		return "", false
	}
	return ends[0], true
}

// Zone returns the location of the TimeZone, or UTC if this release does not know the zone.
func (d Display) Zone() *time.Location {
	if d.TimeZone == UTC {
		return time.UTC
	}
	if zone, ok := loadedZones.Load(d.TimeZone); ok {
		return zone.(*time.Location)
	}
	zone, err := loadTimeZone(d.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	loadedZones.Store(d.TimeZone, zone)
	return zone
}

// loadedZones caches the zones in use, because loading one opens the archive.
var loadedZones sync.Map

func loadTimeZone(name string) (*time.Location, error) {
	data, err := fs.ReadFile(openTimeZones(), name)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, data)
}

// MonthOf returns the first instant of the calendar month of at in a zone.
func MonthOf(at time.Time, zone *time.Location) time.Time { return LaterMonth(at.In(zone), 0) }

// LaterMonth adds a number of months to the calendar month of at, and returns the first instant of
// the resulting month, in the zone of at.
func LaterMonth(at time.Time, months int) time.Time {
	year, month, _ := at.Date()
	return beginOfDay(year, month+time.Month(months), 1, at.Location())
}

// LaterDay adds a number of days to the day of at, and returns the first instant of the resulting
// day, in the zone of at.
func LaterDay(at time.Time, days int) time.Time {
	year, month, day := at.Date()
	return beginOfDay(year, month, day+days, at.Location())
}

// beginOfDay returns the first instant of a day in a zone, or of the next day if the zone skips the
// day. time.Date does not always return this instant for midnight: a change of clocks may lead to
// two midnights or none.
func beginOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, zone)
	since, until := midnight.ZoneBounds() // the period in which midnight's offset from UTC applies
	switch clock := asUTC(midnight).Compare(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)); {
	// The clocks skip midnight, and time.Date has returned an instant before the change.
	case clock < 0:
		return until
	case clock > 0: // midnight is skipped too; the instant is after the change
		return since
	case since.IsZero():
		return midnight
	}
	_, before := since.Add(-1).Zone()
	_, after := midnight.Zone()
	if first := midnight.Add(time.Duration(after-before) * time.Second); first.Before(since) && before > after {
		return first
	}
	return midnight
}

// asUTC returns the time in UTC with the same clock reading as at.
func asUTC(at time.Time) time.Time {
	_, offset := at.Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}
