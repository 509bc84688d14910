// Package markup finds the entities of a text: the parts that are bold, a link, a mention or a
// command, because the author marked them or because Telegram detects them.
//
//	<b>Alice</b> beat <a href="tg://user?id=1002">Bob</a>    a bot's markup, with parse_mode HTML
//	/match [Bob 2](tg://user?id=1002) 3:1                    how a test writes a picked mention
//
// The package works with user ids. The caller tells it which ids exist, and looks up the users.
package markup

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Entity marks a part of a text, such as a command, a mention or a link. Offset and Length are in
// UTF-16 code units.
type Entity struct {
	Type          string
	Offset        int
	Length        int
	URL           string
	UserID        int64 // the user in a text_mention
	Language      string
	CustomEmojiID string
}

// Types of entities that Telegram detects in a text.
const (
	Command = "bot_command"
	Mention = "mention"
	Hashtag = "hashtag"
	Cashtag = "cashtag"
	URL     = "url"
	Email   = "email"
)

const textMention = "text_mention"

// inOrder compares entities by their offset. At the same offset, the longer entity comes first.
func inOrder(a, b Entity) int {
	return cmp.Or(a.Offset-b.Offset, b.Length-a.Length)
}

var mentionOfUser = regexp.MustCompile(`\[([^\]\[]+)\]\(tg://user\?id=(\d+)\)`)

// ParseMentions parses mentions of users by id, which Telegram's apps offer for users without a
// username. Tests write such a mention as [Bob](tg://user?id=5). ParseMentions returns the text
// with each mention replaced by its name, and the mentions. exists reports whether a user can be
// mentioned. A mention of any other user stays in the text as it is.
func ParseMentions(text string, exists func(user int64) bool) (plain string, mentions []Entity) {
	var out strings.Builder
	rest := 0
	for _, at := range mentionOfUser.FindAllStringSubmatchIndex(text, -1) {
		id, err := strconv.ParseInt(text[at[4]:at[5]], 10, 64)
		if err != nil || !exists(id) {
			continue
		}
		out.WriteString(text[rest:at[0]])
		offset := UTF16Len(out.String())
		name := text[at[2]:at[3]]
		out.WriteString(name)
		mentions = append(mentions, Entity{Type: textMention, Offset: offset, Length: UTF16Len(name), UserID: id})
		rest = at[1]
	}
	out.WriteString(text[rest:])
	return out.String(), mentions
}

// UTF16Len returns the length of a text in UTF-16 code units, the Bot API's unit for offsets and
// lengths.
func UTF16Len(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// isWord reports whether a character continues a word. No mention, tag or command begins after such
// a character.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }

// decode returns the first character of a text and its size in bytes, or 0 and 0 if the text is
// empty.
func decode(text string) (rune, int) {
	if text == "" {
		return 0, 0
	}
	return utf8.DecodeRuneInString(text)
}

func lastRune(text string) (rune, int) { return utf8.DecodeLastRuneInString(text) }
