package command

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// EntityKind is Telegram's type of an entity.
type EntityKind string

// The kinds that matter to commands; all others are ignored.
const (
	KindBotCommand  EntityKind = "bot_command"
	KindMention     EntityKind = "mention"
	KindTextMention EntityKind = "text_mention"
)

// Entity is one marked piece of a message. Offset and Length are in UTF-16 code units, as Telegram counts them.
type Entity struct {
	Kind           EntityKind
	Offset, Length int
	User           *Person // of a text mention
}

// maxUsername is the length of the longest username that Telegram allows.
const maxUsername = 32

// cutMentions returns the trimmed text after the first headLength bytes, which are ASCII, with each mention replaced by a space; the
// mentioned people; and their offsets in args, in bytes. Of two mentions that overlap, the one that begins first counts.
func cutMentions(
	text string, headLength int, entities []Entity, botUsername string,
) (args string, people []Person, offsets []int) {
	var marks []Entity
	for _, e := range entities {
		isMention := e.Kind == KindMention || e.Kind == KindTextMention
		if isMention && e.Offset >= headLength && e.Length > 0 {
			marks = append(marks, e)
		}
	}
	slices.SortStableFunc(marks, func(a, b Entity) int { return cmp.Compare(a.Offset, b.Offset) })

	var left strings.Builder
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
		left.WriteString(withASCIIDigits(text[done:start]))
		people = append(people, p)
		offsets = append(offsets, left.Len())
		left.WriteByte(' ')
		done = end
	}
	left.WriteString(withASCIIDigits(text[done:]))
	args = strings.TrimLeftFunc(left.String(), isSpace)
	trimmed := left.Len() - len(args)
	untrimmed := args
	args = strings.TrimRightFunc(args, isSpace)
	if len(offsets) > 0 { // a person in a line of their own stays there
		last := max(len(args), offsets[len(offsets)-1]-trimmed)
		if strings.Contains(untrimmed[len(args):last], "\n") {
			args = untrimmed[:last]
		}
	}
	for i := range offsets {
		offsets[i] = min(max(0, offsets[i]-trimmed), len(args))
	}
	return args, people, offsets
}

// person returns the mentioned person; piece is the text that the entity marks.
func (e Entity) person(piece, botUsername string) (Person, bool) {
	var p Person
	switch e.Kind {
	case KindMention:
		username, marked := strings.CutPrefix(piece, "@")
		if !marked || !isWord(username) || len(username) > maxUsername {
			return Person{}, false
		}
		p.Username = username
	case KindTextMention:
		if e.User == nil || e.User.UserID <= 0 {
			return Person{}, false
		}
		p = *e.User
	default:
		return Person{}, false
	}
	p.IsBot = p.IsBot || isBotUsername(p.Username, botUsername)
	return p, true
}

// unitPlaces returns where each UTF-16 code unit of a text begins, and where the text ends, in bytes; -1 in the middle of a pair.
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

// isSpace is true if r separates words. Clients insert invisible characters, such as direction marks and joiners.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || isInvisible(r)
}

func isInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
