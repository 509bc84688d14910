package bot

import (
	"slices"

	"elobot/internal/ranking"
)

// zoneRegion is a part of the world, with as many of its time zones as fit below the settings.
// Admins can type any other time zone.
type zoneRegion struct {
	name  string // its name in button data and in the id of its label
	zones []string
}

// zoneRegions returns the regions in the order of their buttons.
func zoneRegions() []zoneRegion {
	return []zoneRegion{
		{"zone_europe", []string{
			"Europe/London", "Europe/Madrid", "Europe/Berlin", "Europe/Athens", "Europe/Kyiv",
			"Europe/Istanbul", "Europe/Moscow",
		}},
		{"zone_america", []string{
			"America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles",
			"America/Mexico_City", "America/Sao_Paulo",
			"America/Argentina/Buenos_Aires",
		}},
		{"zone_asia", []string{
			"Asia/Jerusalem", "Asia/Dubai", "Asia/Tashkent", "Asia/Kolkata", "Asia/Bangkok", "Asia/Shanghai", "Asia/Tokyo",
		}},
		{"zone_africa", []string{
			"Africa/Casablanca", "Africa/Accra", "Africa/Algiers", "Africa/Lagos", "Africa/Cairo",
			"Africa/Johannesburg", "Africa/Nairobi",
		}},
		{"zone_australia", []string{
			"Australia/Perth", "Australia/Darwin", "Australia/Adelaide", "Australia/Brisbane",
			"Australia/Sydney", "Australia/Melbourne",
			"Australia/Hobart",
		}},
		{"zone_pacific", []string{
			"Pacific/Guam", "Pacific/Port_Moresby", "Pacific/Auckland", "Pacific/Fiji", "Pacific/Tongatapu",
			"Pacific/Apia", "Pacific/Honolulu",
		}},
	}
}

func findZoneRegion(name string) (r zoneRegion, ok bool) {
	all := zoneRegions()
	if at := slices.IndexFunc(all, func(r zoneRegion) bool { return r.name == name }); at >= 0 {
		return all[at], true
	}
	return r, false
}

// offeredZones returns the time zones of regions in rows of up to two.
func offeredZones(regions ...zoneRegion) (rows [][]string) {
	for _, r := range regions {
		rows = append(rows, slices.Collect(slices.Chunk(r.zones, 2))...)
	}
	return rows
}

// zoneButtons returns the buttons that open a region, and the button that chooses UTC.
func (w words) zoneButtons(current string) [][]button {
	var all []button
	for _, r := range zoneRegions() {
		all = append(all, button{text: w.Text("button."+r.name, nil) + " ›", data: openData(r.name)})
	}
	all = append(all,
		button{text: choice(ranking.UTC, current == ranking.UTC), data: settingData(ranking.SettingZone, ranking.UTC)})
	return slices.Collect(slices.Chunk(all, 2))
}
