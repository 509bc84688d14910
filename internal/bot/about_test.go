package bot

import (
	"testing"

	"elobot/internal/notice"
)

// goldenAbout has all that may be known, and the least.
func goldenAbout() map[string]notice.Notice {
	return map[string]notice.Notice{
		"released": About{Bot: "elo_bot", Release: "1.2.0", Source: "https://example.org/elobot?a=1&b=2"},
		"built":    About{Bot: "elo_bot"},
	}
}

// TestAbout: the tests are built without a release and without an address.
func TestAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"/about", "/about@elo_bot", "/about the bot"} {
		w.group.Say(w.alice, text)
		w.expect(text, `answer about {"bot":"elo_bot"}`)
		w.sim.Private(w.alice).Say(w.alice, text)
		w.expect(text+" in private", `answer about {"bot":"elo_bot"}`)
	}
}
