package bot

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"elobot/internal/catalog"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// words renders notices in one language. Its methods return texts in Telegram's HTML, but plain
// texts for buttons, menus and charts. In HTML, texts that people chose must go through showText,
// showName or codeText. A method that serves as the line of a view returns an item's text for a
// merged message, without line breaks.
type words struct {
	catalog.Language
	single bool                          // the message has one item, so its line is not used
	tables bool                          // the chat wants tables
	zone   *time.Location                // the chat's time zone; nil for UTC
	web    func(ranking.WebBoard) string // the link of a web board; nil if no address is configured
	salt   string                        // salt of the web board, for a notice stored without it
	ladder string                        // the name in the notice's label; empty if there is none
}

func (s *Sender) words(m outbox.Message) words {
	return words{
		Language: catalog.For(m.Language), single: len(m.Items) == 1, tables: m.Tables, zone: zoneOf(m),
		web: s.web.link, salt: m.WebSalt,
	}
}

func zoneOf(m outbox.Message) *time.Location { return ranking.Display{TimeZone: m.TimeZone}.Zone() }

func (w words) local(at time.Time) time.Time { return at.In(cmp.Or(w.zone, time.UTC)) }

// Date formats the day of a time in the chat's time zone.
func (w words) Date(at time.Time) string { return w.Language.Date(w.local(at)) }

type args = catalog.Args

// textBy returns a text that names a person in the argument Name. A reporter without a name is an
// admin who writes as the group. For such an admin, the id of the text ends in _admin.
func (w words) textBy(id string, r ranking.Reporter, with args) string {
	if r.Name == nil {
		return w.Text(id+"_admin", with)
	}
	if with == nil {
		with = make(args, 1)
	}
	with["Name"] = showName(*r.Name)
	return w.Text(id, with)
}

// titleOf returns the title of a view, with the names of the group and of the ladder. It omits an
// empty name, and the ladder's name if it equals the group's name in any letter case.
func (w words) titleOf(id, group string) string {
	names := slices.DeleteFunc([]string{group, w.ladder}, func(name string) bool { return name == "" })
	names = slices.CompactFunc(names, strings.EqualFold)
	if len(names) == 0 {
		return w.Text(id, nil)
	}
	return w.Text(id+"_of", args{"Title": showText(strings.Join(names, " · "))})
}

// inLadder puts the ladder's name, if it has one, in front of a text that is not empty.
func (w words) inLadder(text string) string {
	if w.ladder == "" || text == "" {
		return text
	}
	return showText(w.ladder) + " · " + text
}

// ladderWords returns the ladder's name for use after a command in <code>, with a trailing space.
// It is empty if the ladder has no name.
func (w words) ladderWords() string {
	if w.ladder == "" {
		return ""
	}
	return codeText(w.ladder) + " "
}
