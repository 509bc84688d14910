package bot

import (
	"fmt"
	"testing"

	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// goldenAbout has the fullest and the emptiest answer.
func goldenAbout() map[string]notice.Notice {
	return map[string]notice.Notice{
		"released": About{Bot: "elo_bot", Release: "1.2.0", TimeZones: "2026f", Source: "https://example.org/elobot?a=1&b=2"},
		"built":    About{Bot: "elo_bot", Release: "dev"},
	}
}

// TestAbout: a build without a release still names one, and gives no source address.
func TestAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := fmt.Sprintf(`answer about {"bot":"elo_bot","release":"dev","time_zones":%q}`, ranking.TimeZoneEdition())
	for _, text := range []string{"/about", "/about@elo_bot", "/about the bot"} {
		w.group.Say(w.alice, text)
		w.expect(text, want)
		w.sim.Private(w.alice).Say(w.alice, text)
		w.expect(text+" in private", want)
	}
}
