package bot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// TestPressSetting: only the buttons of a message that has them change a setting.
func TestPressSetting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []string
	for _, row := range settingButtons(ranking.SettingsPage{}, outbox.Item{}, wordsFor("")) {
		for _, b := range row {
			all = append(all, b.data)
		}
	}
	shown := w.below(w.group, all...)
	for _, data := range all {
		name, value, _ := strings.Cut(strings.TrimPrefix(data, "1c:"), ":")
		id := w.sim.Press(w.bob, shown, data)
		o := w.expect(data, fmt.Sprintf("setting %s to %s in %d", name, value, shown.ID))[0].origin
		if o.Key != "c:"+id || o.Button != id || o.Sender.ID != 1002 {
			t.Errorf("%s: origin %+v", data, o)
		}
	}
	for _, data := range []string{
		"1c", "1c:", "1c:k", "1c:k:25", "1c:k:-24", "1c:k:024", "1c:k:24:1", "1c:start:10001", "1c:provisional:48:9", "1c:provisional:48",
		"1c:margin:2", "1c:margin:ON", "1c:tables:", "1c:language:xx", "1c:language:", "1c:x:1", "1C:k:24", "2c:k:24",
	} {
		w.sim.Press(w.alice, w.below(w.group, data), data)
		w.expect(fmt.Sprintf("%q", data), unknownButton)
	}
	for what, m := range map[string]botsim.Message{"below a card": w.below(w.group, "1u:42:0"), "without buttons": w.card(w.group, 0)} {
		w.sim.Press(w.alice, m, "1c:k:24")
		w.expect(what, unknownButton)
	}
}

// TestSettingButtons: of the values of a setting, only the current one is marked, and all data fits into a button.
func TestSettingButtons(t *testing.T) {
	t.Parallel()
	usual := ranking.GroupSettings{Rules: ranking.DefaultRules(), Display: ranking.DefaultDisplay()}
	for _, chosen := range ranking.AllSettings() {
		for _, value := range slices.Concat(offered(chosen)...) {
			now := chosen.With(usual, value)
			marked := map[string]string{}
			for _, row := range settingButtons(ranking.SettingsPage{GroupSettings: now}, outbox.Item{}, wordsFor("")) {
				for _, b := range row {
					name, value, _ := strings.Cut(strings.TrimPrefix(b.data, "1c:"), ":")
					if name == "" {
						t.Fatalf("%q has no data", b.text)
					}
					if strings.HasPrefix(b.text, chosenMark) {
						marked[name] += value
					}
				}
			}
			want := map[string]string{}
			for _, s := range ranking.AllSettings() {
				want[s.Name] = s.Value(now)
			}
			want[chosen.Name] = value
			if diff := cmp.Diff(want, marked); diff != "" {
				t.Errorf("with %+v, marked (-want +got):\n%s", now, diff)
			}
		}
	}
}

func TestSettingsCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for who, want := range map[botsim.User]bool{w.alice: true, w.bob: false} { // she has created the group
		w.group.Say(who, "/settings")
		c := w.expect("/settings", "settings")[0]
		if admin, err := c.take.IsAdmin(testContext(t)); admin != want || err != nil {
			t.Errorf("%s is an admin: %t, %v", who.FirstName, admin, err)
		}
	}
}

// TestSettingValue: a value that is a word is shown in words if there are some. No setting has such a value so far.
func TestSettingValue(t *testing.T) {
	t.Parallel()
	if got := wordsFor("").settingValue("dark", "charts"); got != "dark charts" {
		t.Errorf("the text setting.dark_charts is not used, but %q", got)
	}
}
