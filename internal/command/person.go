package command

import "strings"

// Person is somebody a message names: by username (a mention), or as a Telegram
// user (a text mention, the sender, the target of a reply). The zero Person is
// nobody.
type Person struct {
	UserID   int64  // zero until known
	Username string // without the @, in the letter case it was written in
	Name     string // the display name, empty for a mention
	IsBot    bool
}

// isKnown reports whether p can be told from others.
func (p Person) isKnown() bool {
	return p.UserID != 0 || p.Username != ""
}

// isSame reports whether p and q are one person, as far as the message tells.
func (p Person) isSame(q Person) bool {
	return p.UserID != 0 && p.UserID == q.UserID ||
		p.Username != "" && strings.EqualFold(p.Username, q.Username)
}

// identify returns known in the place of p if they are the same person: Telegram
// tells more of a sender than a mention does.
func (p Person) identify(known Person) Person {
	if !p.isSame(known) {
		return p
	}
	known.IsBot = known.IsBot || p.IsBot
	return known
}

// label is what the message calls p.
func (p Person) label() string {
	if p.Username != "" {
		return "@" + p.Username
	}
	return p.Name
}

// isBotUsername reports whether username is this bot's, or one of the bots in
// whose name Telegram shows the messages of anonymous admins and of channels. A
// mention does not tell of other bots.
func isBotUsername(username, botUsername string) bool {
	for _, bot := range [...]string{botUsername, "GroupAnonymousBot", "Channel_Bot"} {
		if username != "" && strings.EqualFold(username, bot) {
			return true
		}
	}
	return false
}
