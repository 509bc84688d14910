package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// settingPages returns the settings pages that buttons lead to, the first page first.
func settingPages() []string {
	pages := []string{""}
	for i := 0; i < len(pages); i++ {
		for _, data := range dataBelow(pages[i], ranking.GroupSettings{}) {
			name := strings.TrimPrefix(data, "1c:")
			if name != "all" && !strings.Contains(name, ":") && !slices.Contains(pages, name) {
				pages = append(pages, name)
			}
		}
	}
	return pages
}

func dataBelow(page string, now ranking.GroupSettings) (all []string) {
	for _, row := range settingButtons(ranking.SettingsPage{GroupSettings: now, Open: page}, outbox.Item{}, wordsFor("")) {
		for _, b := range row {
			all = append(all, b.data)
		}
	}
	return all
}

// TestPressSetting checks that settings can be opened and changed only by buttons that the bot
// makes and the message has.
func TestPressSetting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, page := range settingPages() {
		below := dataBelow(page, ranking.GroupSettings{})
		shown := w.below(w.group, below...)
		for _, data := range below {
			name, value, chooses := strings.Cut(strings.TrimPrefix(data, "1c:"), ":")
			want := strings.TrimSpace("settings " + strings.TrimPrefix(name, "all"))
			if chooses {
				want = fmt.Sprintf("setting %s to %s in %d", name, value, shown.ID)
			}
			switch data {
			case "1x:":
				want = "export"
			case "1j:":
				want = "import, example false"
			}
			w.sim.Press(w.bob, shown, data)
			w.expect(data, want)
		}
	}
	for _, data := range []string{
		"1c", "1c:", "1c:k:", "1c:k:25", "1c:k:-24", "1c:k:024", "1c:k:24:1", "1c:start:10001", "1c:provisional:48:9", "1c:provisional:48",
		"1c:margin:2", "1c:margin:ON", "1c:tables:", "1c:language:xx", "1c:language:", "1c:x", "1c:x:1", "1c:all:", "1c:rating:", "1C:k:24", "2c:k:24", "1x:1",
	} {
		w.sim.Press(w.alice, w.below(w.group, data), data)
		w.expect(fmt.Sprintf("%q", data), unknownButton)
	}
	for what, m := range map[string]botsim.Message{"below a card": w.below(w.group, "1u:42:0"),
		"without buttons": w.card(w.group, 0)} {
		for _, data := range []string{"1c:k:24", "1c:k", "1c:all", "1x:"} {
			w.sim.Press(w.alice, m, data)
			w.expect(what, unknownButton)
		}
	}
}

// TestSettingButtons checks that buttons lead to all offered values and back, and a page has at
// most nine buttons. Of the values of a setting, only the current one is marked.
func TestSettingButtons(t *testing.T) {
	t.Parallel()
	usual := ranking.GroupSettings{Rules: ranking.DefaultRules(), Display: ranking.DefaultDisplay()}
	found := map[string]bool{}
	for i, page := range settingPages() {
		below := dataBelow(page, usual)
		if len(below) > 9 {
			t.Errorf("below %q are %d buttons", page, len(below))
		}
		for _, data := range below {
			found[data] = true
		}
		if back := strings.TrimPrefix(below[len(below)-1], "1c:"); page != "" && back != "all" &&
			!slices.Contains(settingPages()[:i], back) {
			t.Errorf("the last button below %q leads to %q", page, back)
		}
	}
	for _, s := range ranking.AllSettings() {
		for _, value := range slices.Concat(offered(s)...) {
			if !found[settingData(s.Name, value)] {
				t.Errorf("no button leads to %s %s", s.Name, value)
			}
			var marked []string
			for _, page := range settingPages() {
				n := ranking.SettingsPage{GroupSettings: s.With(usual, value), Open: page}
				for _, b := range slices.Concat(settingButtons(n, outbox.Item{}, wordsFor(""))...) {
					if strings.HasPrefix(b.text, chosenMark) && strings.HasPrefix(b.data, settingData(s.Name, "")) {
						marked = append(marked, b.data)
					}
				}
			}
			if want := []string{settingData(s.Name, s.Value(s.With(usual, value)))}; !slices.Equal(marked, want) {
				t.Errorf("of %s, %q is marked, want %q", s.Name, marked, want)
			}
		}
	}
}

// TestSettingValue checks that a value that is a word is translated if there is a text for it. The
// test takes the setting and the value from the id of another text, setting.dark_charts.
func TestSettingValue(t *testing.T) {
	t.Parallel()
	equal(t, wordsFor("").settingValue("dark", "charts"), "dark charts", "setting.dark_charts")
}
