package bot

import (
	"fmt"
	"testing"

	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// goldenAbout returns the answer of a released build, and of a build without a time zone edition
// and source.
func goldenAbout() map[string]notice.Notice {
	return map[string]notice.Notice{
		"released": About{Bot: "elo_bot", Release: "1.2.0", TimeZones: "2026f", Source: "https://example.org/elobot?a=1&b=2"},
		"built":    About{Bot: "elo_bot", Release: "dev"},
	}
}

// TestAbout checks that /about names the release of the test binary, "dev", in groups and in
// private chats.
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
