// Package markup says what a text means: which parts of it are bold, a link, a mention or a command, because its author
// marked them or because Telegram detects them.
//
//	<b>Alice</b> beat <a href="tg://user?id=1002">Bob</a>    the markup of a bot, with parse_mode HTML
//	/match [Bob 2](tg://user?id=1002) 3:1                    what a test writes for a user who picks Bob from a list
//
// It knows no users: the caller says which ones exist, and replaces their ids by the users.
package markup

import "cmp"

// Entity is a special part of a text. Offset and Length count UTF-16 units.
type Entity struct {
	Type          string
	Offset        int
	Length        int
	URL           string
	UserID        int64 // whom a text_mention mentions
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

// inOrder compares entities by where they begin, the longer one first.
func inOrder(a, b Entity) int {
	return cmp.Or(a.Offset-b.Offset, b.Length-a.Length)
}
