package command

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
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
	done := position{bytes: headLength, units: headLength}
	for _, e := range marks {
		if e.Offset < done.units {
			continue
		}
		start, startFits := done.forward(text, e.Offset-done.units)
		end, endFits := start.forward(text, e.Length)
		if !startFits || !endFits {
			continue
		}
		p, ok := e.person(text[start.bytes:end.bytes], botUsername)
		if !ok {
			continue
		}
		left.WriteString(withASCIIDigits(text[done.bytes:start.bytes]))
		people = append(people, p)
		offsets = append(offsets, left.Len())
		left.WriteByte(' ')
		done = end
	}
	left.WriteString(withASCIIDigits(text[done.bytes:]))
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

// position is a place in a text, counted in bytes and in UTF-16 code units.
type position struct{ bytes, units int }

// forward returns the position n code units after p. It reports false if the text ends before, or if the place is in the middle of a
// surrogate pair.
func (p position) forward(text string, n int) (position, bool) {
	for n > 0 {
		if p.bytes == len(text) {
			return p, false
		}
		r, size := utf8.DecodeRuneInString(text[p.bytes:])
		units := utf16.RuneLen(r)
		if units > n {
			return p, false
		}
		p.bytes += size
		p.units += units
		n -= units
	}
	return p, true
}

// isSpace is true if r separates words. That includes control and formatting characters (direction marks, joiners): they are invisible, and
// clients insert them.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || isInvisible(r)
}

func isInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
