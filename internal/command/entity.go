package command

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// EntityKind is the type of an entity, as in the Bot API.
type EntityKind string

// The kinds that mark commands and people.
const (
	KindBotCommand  EntityKind = "bot_command"
	KindMention     EntityKind = "mention"
	KindTextMention EntityKind = "text_mention"
)

// Entity is one marked piece of a message. Offset and Length are in UTF-16 code units, as in the
// Bot API.
type Entity struct {
	Kind           EntityKind
	Offset, Length int
	User           *Person // the person in a text mention; otherwise nil
}

// cutMentions returns the trimmed text after the first headLength bytes, with a placeholder for
// each mention, and the mentioned people. It converts digits of all scripts with withASCIIDigits.
// If two mentions overlap, it uses only the one that begins first.
func cutMentions(text string, headLength int, entities []Entity, botUsername string) (args string, people []Person) {
	isOther := func(e Entity) bool {
		return e.Kind != KindMention && e.Kind != KindTextMention || e.Offset < 0 || e.Length <= 0
	}
	marks := slices.DeleteFunc(slices.Clone(entities), isOther)
	slices.SortStableFunc(marks, func(a, b Entity) int { return cmp.Compare(a.Offset, b.Offset) })

	var left strings.Builder
	write := func(piece string) { left.WriteString(withASCIIDigits(strings.ReplaceAll(piece, placeholder, " "))) }
	places, done := unitPlaces(text), headLength
	for _, e := range marks {
		if e.Offset >= len(places) || e.Length >= len(places)-e.Offset {
			continue
		}
		start, end := places[e.Offset], places[e.Offset+e.Length]
		if start < done || end < start {
			continue
		}
		p, ok := e.person(text[start:end], botUsername)
		if !ok {
			continue
		}
		write(text[done:start])
		left.WriteString(placeholder)
		people = append(people, p)
		done = end
	}
	write(text[done:])
	return strings.TrimFunc(left.String(), isSpace), people
}

// MaxUsername is the length of the longest username that Telegram allows.
const MaxUsername = 32

// person returns the mentioned person. piece is the text that the entity marks. person returns
// false if the entity is not a valid mention.
func (e Entity) person(piece, botUsername string) (Person, bool) {
	var p Person
	username, isMarked := strings.CutPrefix(piece, "@")
	switch {
	case e.Kind == KindMention && isMarked && isWord(username) && len(username) <= MaxUsername:
		p.Username = username
	case e.Kind == KindTextMention && e.User != nil && e.User.ID > 0:
		p = *e.User
	default:
		return Person{}, false
	}
	p.IsBot = p.IsBot || isBotUsername(p.Username, botUsername)
	return p, true
}

// unitPlaces returns the byte offset of each UTF-16 code unit of a text, -1 for the second half of
// a surrogate pair, and the length of the text at the end.
func unitPlaces(text string) []int {
	places := make([]int, 0, len(text)+1)
	for i, r := range text {
		places = append(places, i)
		if utf16.RuneLen(r) > 1 {
			places = append(places, -1)
		}
	}
	return append(places, len(text))
}

// isSpace reports whether r separates words. Invisible characters do so, too, because clients
// insert direction marks and joiners.
func isSpace(r rune) bool { return unicode.IsSpace(r) || isInvisible(r) }

func isInvisible(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
