package bot

import (
	"html"

	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/release"
)

// About names the bot, its release, its edition of the time zone data, and the address of its
// source code. TimeZones and Source are empty if unknown.
type About struct {
	Bot       string `json:"bot"` // username
	Release   string `json:"release,omitempty"`
	TimeZones string `json:"time_zones,omitempty"`
	Source    string `json:"source,omitempty"`
}

var _ = notice.Register[About](notice.Kind{Name: "about", Purpose: notice.Answer})

func about(r *Router, _ request) ranking.Operation {
	n := About{Bot: r.self.Username, Release: release.Name(), TimeZones: ranking.TimeZoneEdition(), Source: release.Source}
	return ranking.Say{Notice: n}
}

var _ = shows(view[About]{text: words.about, line: words.about})

func (w words) about(n About) string {
	text := w.Text("about.release", args{"Bot": n.Bot, "Release": html.EscapeString(n.Release)})
	if n.TimeZones != "" {
		text += " " + w.Text("about.time_zones", args{"Edition": n.TimeZones})
	}
	if n.Source == "" {
		return text + " " + w.Text("about.no_source", nil)
	}
	return text + " " + w.Text("about.source", args{"Source": html.EscapeString(n.Source)})
}
