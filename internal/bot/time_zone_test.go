package bot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestOfferedZones checks that buttons offer only existing time zones, under their exact names, and
// each zone once.
func TestOfferedZones(t *testing.T) {
	t.Parallel()
	s, _ := ranking.FindSetting(ranking.SettingZone)
	all := slices.Concat(offered(s)...)
	for i, zone := range all {
		if name, ok := ranking.FindTimeZone(zone); name != zone || !ok || slices.Contains(all[:i], zone) {
			t.Errorf("%q is offered, which means %q", zone, name)
		}
	}
}

// TestShownInTheTimeZone checks that dates, the time on an ended board and the axis of a chart are
// in the chat's time zone, or in UTC if this release does not know that zone. A board is read for
// the chat's time zone.
func TestShownInTheTimeZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.October, 31, 23, 30, 0, 0, time.UTC)
	for zone, want := range map[string]struct{ date, clock, tick string }{
		"":                    {"31 October 2026", "23:30 UTC", "31 Oct"},
		"UTC":                 {"31 October 2026", "23:30 UTC", "31 Oct"},
		"Europe/Berlin":       {"1 November 2026", "00:30 CET", "1 Nov"},
		"America/New_York":    {"31 October 2026", "19:30 EDT", "31 Oct"},
		"America/Sao_Paulo":   {"31 October 2026", "20:30 -03", "31 Oct"},
		"Atlantis/Poseidonis": {"31 October 2026", "23:30 UTC", "31 Oct"},
	} {
		w := new(Sender).words(outbox.Message{Language: "en", TimeZone: zone})
		if got := w.board(stats.Board{AsOf: at}); !strings.Contains(got, want.date+", "+want.clock) {
			t.Errorf("in %q, an ended board is %q", zone, got)
		}
		if got := w.undoPrompt(ranking.UndoPrompt{Number: 42, Played: at}); !strings.Contains(got, want.date) {
			t.Errorf("in %q, the prompt is %q", zone, got)
		}
		if got := w.gains(stats.Gains{Since: at}); !strings.Contains(got, want.date) {
			t.Errorf("in %q, the ranking of a month is %q", zone, got)
		}
		c := w.chartOf(stats.Chart{}, stats.Ratings{Others: [][]stats.Rating{{{At: at}}}})
		equal(t, w.chartDay(time.Hour)(c.Others[0][0].At), want.tick, "day on a chart in %q", zone)
	}
	p := newPost(t)
	board := p.board(t, 1500, 0)
	board.TimeZone = "Asia/Tokyo"
	if p.mustSend(t, board); p.views.zone.String() != "Asia/Tokyo" {
		t.Errorf("the board is read for a time in %s", p.views.zone)
	}
}
