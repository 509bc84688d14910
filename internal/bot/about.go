package bot

import (
	"context"
	"html"

	"elobot/internal/ranking"
	"elobot/internal/release"
)

func aboutFeature() feature {
	return feature{
		commands: []Command{{Name: "about", Where: Everywhere, Handle: (*Router).about, Menu: InPrivate}},
	}
}

const kindAbout = "about"

// About says which bot this is, which release it runs, and where its source is. What is not known is empty.
type About struct {
	Bot     string `json:"bot"` // username
	Release string `json:"release,omitempty"`
	Source  string `json:"source,omitempty"`
}

// Kind implements ranking.Notice.
func (About) Kind() string { return kindAbout }

// Purpose implements ranking.Notice.
func (About) Purpose() ranking.Purpose { return ranking.Answer }

func (r *Router) about(ctx context.Context, req request) error {
	n := About{Bot: r.self.Username, Release: release.Version, Source: release.Source}
	return r.rankings.Do(ctx, req.origin, ranking.Say{Notice: n})
}

func (w words) about(n About) string {
	id := "about.plain"
	if n.Release != "" {
		id = "about.release"
	}
	text := w.Text(id, args{"Bot": n.Bot, "Release": html.EscapeString(n.Release)})
	if n.Source != "" {
		text += " " + w.Text("about.source", args{"Source": html.EscapeString(n.Source)})
	}
	return text
}
