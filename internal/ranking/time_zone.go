package ranking

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // so that all zones are known everywhere: images and Windows may have none, other machines old ones
)

// UTC is the zone of a chat until its admins choose another one.
const UTC = "UTC"

// timeZones has the names that a group can choose: those of the zones of time/tzdata, which cannot be listed. They are a table so that
// nothing else is a zone, such as Local or a file of the machine. A test compares the two.
//
//go:embed time_zones.txt
var timeZones string

var timeZoneNames = strings.Fields(timeZones)

// FindTimeZone returns the IANA name that is meant, written as it is in the list of zones. Letter case does not matter, and a space stands
// for an underscore, as in "america/new york".
func FindTimeZone(written string) (name string, ok bool) {
	written = strings.Join(strings.Fields(written), "_")
	at := slices.IndexFunc(timeZoneNames, func(name string) bool { return strings.EqualFold(name, written) })
	if at < 0 {
		return "", false
	}
	return timeZoneNames[at], true
}

// Zone returns the time zone, or UTC if this release does not know it.
func (d Display) Zone() *time.Location {
	if d.TimeZone == UTC || !slices.Contains(timeZoneNames, d.TimeZone) {
		return time.UTC
	}
	if zone, ok := loadedZones.Load(d.TimeZone); ok {
		return zone.(*time.Location)
	}
	zone, err := time.LoadLocation(d.TimeZone)
	if err != nil {
		return time.UTC
	}
	loadedZones.Store(d.TimeZone, zone)
	return zone
}

// loadedZones has the zones that are in use: to load one is to read a file.
var loadedZones sync.Map

// MonthOf returns the first instant of the calendar month that a time is in, in a zone.
func MonthOf(at time.Time, zone *time.Location) time.Time { return LaterMonth(at.In(zone), 0) }

// LaterMonth returns the first instant of the calendar month that is so many months after that of a time, in the zone of the time.
func LaterMonth(at time.Time, months int) time.Time {
	year, month, _ := at.Date()
	return beginOfDay(year, month+time.Month(months), 1, at.Location())
}

// LaterDay returns the first instant of the day that is so many days after that of a time, in the zone of the time.
func LaterDay(at time.Time, days int) time.Time {
	year, month, day := at.Date()
	return beginOfDay(year, month, day+days, at.Location())
}

// beginOfDay returns the first instant of a day in a zone, or of the next day if the zone skips it. That is not always what time.Date
// returns for midnight: when clocks change, there may be two midnights or none.
func beginOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	midnight := time.Date(year, month, day, 0, 0, 0, 0, zone)
	since, until := midnight.ZoneBounds() // of the offset from UTC
	switch clock := asUTC(midnight).Compare(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)); {
	case clock < 0: // there is no midnight, and time.Date goes by the offset before the change
		return until
	case clock > 0: // or by the one after it
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

// asUTC returns the time at which clocks in UTC show what clocks in the zone of a time show then.
func asUTC(at time.Time) time.Time {
	_, offset := at.Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}
