package command_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

const botUsername = "EloBot"

// message builds a text with its entities piece by piece. It counts UTF-16 code units by encoding
// the text, which the package under test does not do.
type message struct {
	text     string
	entities []command.Entity
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

func (m *message) plain(s string) { m.text += s }

func (m *message) mark(kind command.EntityKind, piece string, user *command.Person) {
	m.entities = append(m.entities, command.Entity{
		Kind: kind, Offset: units(m.text), Length: units(piece), User: user,
	})
	m.text += piece
}

// naming is a way to name people in a message. Templates contain the keys of people, such as {a}.
type naming struct {
	name   string
	people map[string]called
}

type called struct {
	kind   command.EntityKind
	piece  string
	person command.Person // the expected person
}

func mentioned(username string) called {
	return called{
		kind:   command.KindMention,
		piece:  "@" + username,
		person: command.Person{Username: username, IsBot: strings.EqualFold(username, botUsername)},
	}
}

func textMentioned(id ladder.UserID, name string) called {
	return called{
		kind:   command.KindTextMention,
		piece:  name,
		person: command.Person{ID: id, Name: name, IsBot: id == 5},
	}
}

// namings returns the ways of naming people that the tests try: with and without a username, and
// with names that contain numbers, surrogate pairs, joined emoji and right-to-left script.
func namings() []naming {
	return []naming{
		{"usernames", map[string]called{
			"{a}": mentioned("alice"), "{b}": mentioned("Bob_2"), "{c}": mentioned("carol"),
			"{me}": mentioned("sAM"), "{bot}": mentioned("elobot"),
		}},
		{"names with scores", map[string]called{
			"{a}": textMentioned(1, "Alice 3:1"), "{b}": textMentioned(2, "Bob 2"), "{c}": textMentioned(3, "-7"),
			"{me}": textMentioned(9, "9"), "{bot}": textMentioned(5, "Elo 1500"),
		}},
		{"emoji", map[string]called{
			"{a}": textMentioned(1, "👨‍👩‍👧 2"), "{b}": textMentioned(2, "🏓"), "{c}": textMentioned(3, "𝔠𝔞𝔯𝔬𝔩"),
			"{me}": textMentioned(9, "❤️🇩🇪"), "{bot}": textMentioned(5, "🤖"),
		}},
		{"right to left", map[string]called{
			"{a}": textMentioned(1, "أحمد"), "{b}": textMentioned(2, "\u202eדוד 3\u202c"), "{c}": textMentioned(3, "سارا"),
			"{me}": textMentioned(9, "שלי"), "{bot}": textMentioned(5, "روبوت"),
		}},
		{"mixed", map[string]called{
			"{a}": textMentioned(1, "🥇🥇🥇"), "{b}": mentioned("bob42"), "{c}": textMentioned(3, "דוד"),
			"{me}": mentioned("Sam"), "{bot}": mentioned("EloBot"),
		}},
	}
}

func sender() command.Person {
	return command.Person{ID: 9, Username: "Sam", Name: "Sam S."}
}

// fill returns the message of a template. The template begins with a command, which ends at the
// first white space.
func (n naming) fill(template string) message {
	var m message
	end := strings.IndexAny(template, " \n")
	if end < 0 {
		end = len(template)
	}
	m.mark(command.KindBotCommand, template[:end], nil)
	rest := template[end:]
	for rest != "" {
		key := ""
		if rest[0] == '{' {
			key = rest[:strings.IndexByte(rest, '}')+1]
		}
		c, ok := n.people[key]
		if !ok {
			m.plain(rest[:1])
			rest = rest[1:]
			continue
		}
		if c.kind == command.KindTextMention {
			user := c.person
			m.mark(c.kind, c.piece, &user)
		} else {
			m.mark(c.kind, c.piece, nil)
		}
		rest = rest[len(key):]
	}
	return m
}

// label returns the text by which an error names a person.
func label(p command.Person) string {
	if p.Username != "" {
		return "@" + p.Username
	}
	return strings.NewReplacer("\u200d", "", "\u202e", "", "\u202c", "").Replace(p.Name)
}

// parseOne returns the match of a report. It fails if the report has several matches or is in
// doubt.
func parseOne(c command.Command, from command.Person, reply *command.Person) (command.Match, error) {
	report, err := command.ParseMatch(by(c, from, reply), nil)
	if err != nil {
		return command.Match{}, err
	}
	return command.Certain(report)
}

// equal compares got with want. The format and its arguments describe the compared value.
func equal[T any](t testing.TB, got, want T, format string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fmt.Sprintf(format, args...), diff)
	}
}
