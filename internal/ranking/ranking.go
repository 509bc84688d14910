// Package ranking is the domain: groups and their ladders, the people in them, and the matches that
// move their ratings.
//
// A [Service] handles a command in three steps. It reads what the command concerns, decides in
// plain Go what to change, and has the [Store] apply everything in one transaction: the effect, the
// idempotency key and the [Notice] that answers the command. The package knows nothing about
// Telegram, SQL or wording: notices carry facts, and other packages render them.
package ranking

import (
	"cmp"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// The ids of chats and groups.
type (
	// ExternalChatID is the messenger's id of a chat.
	ExternalChatID int64
	// ChatID is the store's id of a chat.
	ChatID int64
	// GroupID is the id of a group: a group chat, with everything that is rated in it.
	GroupID int64
)

// Origin is what the caller says about a command: who sent it, when and where, and what it says.
type Origin struct {
	// Key is the idempotency key: commands with the same key are the same command, which takes
	// effect only once.
	Key string
	Logged
	Trigger Trigger // zero means ByPress with a Button, and ByMessage without
	// Message is the key of the message whose edit is the command, empty for all other commands.
	// The command is ignored unless everything that was handled of the message so far was refused,
	// or only led to a question about a result.
	Message string
	Chat    Chat
	Sender  *command.Person // nil for an anonymous admin
	SentAt  time.Time
	Press
	// Retried reports whether an operator has the command handled again. Its notices never expire,
	// and no rate limit applies.
	Retried bool
	Place
	// Ladder is the ladder that the pressed button names, 0 for none.
	Ladder ladder.ID
	// Said is what the message says. For a pressed button that is about an earlier command, it is
	// that one; for all other buttons it is empty.
	Said command.Command
}

// Logged is what only the log has of a command: the messenger's id of the update that contains it,
// and the name of the command or of the pressed button. Without a name there, the operation's own
// is used.
type Logged struct {
	Update  int64
	Command string
}

// Press is the press of a button, zero for a message.
type Press struct {
	// Button is the id of the press. The person who pressed gets the answer; the chat is notified
	// only if the press changes something, or is answered by a message of its own.
	Button string
	// Pressed is the message with the pressed button, or whose buttons a reply answers instead; 0
	// for none.
	Pressed int64
	// Instead is the command that does the same as the pressed button, empty if there is none.
	// Whether an anonymous admin is one is seen only if they send that.
	Instead string
}

// Place is where a command was sent, and whom its message shows there.
type Place struct {
	// ReplyTo and Thread say where the answer goes: the message to reply to and the topic, 0 for
	// none.
	ReplyTo, Thread int64
	// Replied is the match that the message which the command replies to may be about; zero if it
	// replies to none.
	Replied MatchRef
	// VisibleUsers are other people that the command's message shows with their ids, such as the
	// author of the message that it replies to. They need not take part in the command.
	VisibleUsers []command.Person
}

// Trigger is the kind of update that triggers a command.
type Trigger string

// The triggers.
const (
	ByMessage Trigger = "message"
	ByEdit    Trigger = "edit"
	ByPress   Trigger = "press"
	ByTimer   Trigger = "timer"
)

func (o Origin) trigger() Trigger {
	if o.Button != "" {
		return ByPress
	}
	return cmp.Or(o.Trigger, ByMessage)
}

// ChatKind distinguishes group chats from private ones.
type ChatKind string

// The kinds of chats that the bot supports.
const (
	Private    ChatKind = "private"
	Group      ChatKind = "group"
	Supergroup ChatKind = "supergroup"
)

// Chat is a chat as the messenger shows it.
type Chat struct {
	ID    ExternalChatID
	Kind  ChatKind
	Title string
	// Language is the sender's language as an IETF tag, empty if unknown. A new chat gets this
	// language. It is empty in a chat read from the store.
	Language string
}

// equalExceptLanguage reports whether two chats are equal, apart from the sender's language.
func (c Chat) equalExceptLanguage(o Chat) bool {
	c.Language, o.Language = "", ""
	return c == o
}

// IsGroup reports whether the chat can have ladders.
func (c Chat) IsGroup() bool { return c.Kind != Private }

// Player is a person as the store knows them. A player with a UserID is an account, one for all
// groups. A player without one is unclaimed: somebody mentioned the username in a group, but no
// message there has shown the person yet. An unclaimed player exists in that group only.
type Player struct {
	ID       ladder.PlayerID
	UserID   ladder.UserID
	Username string
	Name     string
}

// Ladder is everything in a group that is rated together, season by season, with its rules.
type Ladder struct {
	ID       ladder.ID
	Name     string // empty for a group's only ladder that nobody has named
	Archived bool   // it gets no more matches
	Season   Season // the one that goes on
	Rules
}
