package command

import "strings"

// Person is a person in a message: named by username (a mention), or known as a
// Telegram user (a text mention, the sender, the author of a replied-to message).
// The zero Person is nobody.
type Person struct {
	UserID   int64  // 0 if unknown
	Username string // without the @, in the original letter case
	Name     string // the display name, empty for a mention
	IsBot    bool
}

// isKnown reports whether p is identified by an id or a username.
func (p Person) isKnown() bool {
	return p.UserID != 0 || p.Username != ""
}

// isSame reports whether p and q have the same id or username.
func (p Person) isSame(q Person) bool {
	return p.UserID != 0 && p.UserID == q.UserID ||
		p.Username != "" && strings.EqualFold(p.Username, q.Username)
}

// identify returns known instead of p if they are the same person: a sender has
// more data than a mention.
func (p Person) identify(known Person) Person {
	if !p.isSame(known) {
		return p
	}
	known.IsBot = known.IsBot || p.IsBot
	return known
}

// label returns the username or the name of p.
func (p Person) label() string {
	if p.Username != "" {
		return "@" + p.Username
	}
	return p.Name
}

// isBotUsername reports whether username is this bot's, or that of a bot which
// Telegram shows as the sender of messages of anonymous admins and channels. Other
// bots cannot be recognized from a mention.
func isBotUsername(username, botUsername string) bool {
	for _, bot := range [...]string{botUsername, "GroupAnonymousBot", "Channel_Bot"} {
		if username != "" && strings.EqualFold(username, bot) {
			return true
		}
	}
	return false
}
