package bot

import (
	"strings"
	"testing"

	"elobot/internal/catalog"
	"elobot/internal/outbox"
)

// TestHelpPages checks that the buttons below the help in a group lead from the first page to each
// topic, from a topic to each of its commands that has help, and back. Each command in /help is on
// the page of one topic.
func TestHelpPages(t *testing.T) {
	t.Parallel()
	w := wordsFor("en")
	follow := func(from Help, label string) (page Help) {
		t.Helper()
		for _, row := range helpButtons(from, outbox.Item{}, w) {
			for _, b := range row {
				if b.text != label {
					continue
				}
				args, _ := argsOf(helpCode, b.data)
				page, ok := parseHelp(args)
				if !ok || page.page() != args {
					t.Errorf("%q shows %+v, %t", b.data, page, ok)
				}
				return page
			}
		}
		t.Fatalf("%+v has no button %q", from, label)
		return page
	}
	listed := map[string]bool{}
	for _, topic := range helpTopics() {
		list := follow(Help{}, w.topic(topic))
		if list != (Help{List: topic}) || follow(list, "‹ All topics") != (Help{}) {
			t.Errorf("%s leads to %+v, and not back", topic, list)
		}
		for _, c := range topic.commands() {
			listed[c.Name] = true
			if !strings.Contains(w.help(list), w.usage(c)) {
				t.Errorf("the page about %s does not list /%s", topic, c.Name)
			}
			if !c.hasHelp() {
				continue
			}
			one := follow(list, "/"+c.Name)
			if one != (Help{Topic: c.Name}) || follow(one, "‹ "+w.topic(topic)) != list {
				t.Errorf("/%s leads to %+v, and not back", c.Name, one)
			}
		}
	}
	for _, c := range commands() {
		equal(t, listed[c.Name], c.Topic != "", "/%s is on a page", c.Name)
	}
}

// TestShortHelp checks that the first page of the help in groups fits on a phone's screen, in all
// languages.
func TestShortHelp(t *testing.T) {
	t.Parallel()
	for _, l := range catalog.All() {
		if text := (words{Language: l}).help(Help{}); strings.Count(text, "\n") > 9 || len([]rune(plain(text))) > 400 {
			t.Errorf("%s: the help is long: %q", l.Tag(), text)
		}
	}
}

// TestTurnHelp checks that a press changes the page only of a help message, and only to a page that
// the bot offers.
func TestTurnHelp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	help := w.below(w.group, "1i:results", "1i:/match")
	for data, want := range map[string]string{
		"1i:all": `page help {}`, "1i:results": `page help {"list":"results"}`, "1i:/match": `page help {"topic":"match"}`,
	} {
		w.sim.Press(w.bob, help, data)
		if c := w.expect(data, want)[0]; c.offer != int64(help.ID) {
			t.Errorf("%s edits message %d, want %d", data, c.offer, help.ID)
		}
	}
	for _, data := range []string{"1i", "1i:", "1i:ALL", "1i:RESULTS", "1i:results:1", "1i:match", "1i:/",
		"1i:/won", "1i:/MATCH", "1i:/start", "1i://match"} {
		w.sim.Press(w.bob, help, data)
		w.expect("forged data "+data, unknownButton)
	}
	w.sim.Press(w.bob, w.card(w.group, 0), "1i:results")
	w.expect("below a card", unknownButton)
}
