// Package ranking is the domain: groups and their ladders, the people in them, and the matches that move their ratings.
//
// A [Service] handles one command at a time. It reads what the command concerns, decides in plain Go what shall change,
// and has the [Store] apply all of it in one transaction: the effect, the idempotency key and the [Notice] that
// answers. The package knows neither Telegram nor SQL, and no wording: notices carry facts, and others put them into
// words.
package ranking

import "time"

// The messenger's own identifiers.
type (
	// ExternalChatID is the messenger's id of a chat.
	ExternalChatID int64
	// UserID is the messenger's id of a person.
	UserID int64
)

// The store's identifiers.
type (
	// ChatID is the store's id of a chat.
	ChatID int64
	// GroupID is the id of a group, which is the ranking side of a chat.
	GroupID int64
	// LadderID is the id of a ladder of a group.
	LadderID int64
	// PlayerID is the id of a player.
	PlayerID int64
	// StandingID is the id of a player's standing in a ladder.
	StandingID int64
	// MatchID is the id of a match.
	MatchID int64
	// HistoryID is the id of an entry of the history.
	HistoryID int64
)

// Origin says where a command came from: who sent it, when, and where the answer goes.
type Origin struct {
	// Key is the idempotency key: commands with the same key are the same command, and only one of them counts.
	Key    string
	Chat   Chat
	Sender *Person // nil when the sender has no name of their own, as an anonymous admin has none
	SentAt time.Time
	// Button is the id of the press of a button that the command came by, empty for a message. A press is answered
	// where it was made; the chat is told only of what it changes.
	Button string
	// Malformed is the name of a command that would have reported, undone or corrected a match if it could have been
	// read; empty for every other one.
	Malformed string
	// Again says that the command is handled once more because somebody asked for it: what comes of it is told however
	// late it is, and it is never one too many.
	Redelivered bool
	// ReplyTo and Thread are the address of the answer: the message that it answers and the topic that it belongs to,
	// 0 for none.
	ReplyTo, Thread int64
}

// ChatKind tells group chats from private ones.
type ChatKind string

// The kinds of chats that the bot talks in.
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
	// Language is that of whoever has written, as an IETF tag, empty if it is not known: what the bot speaks in a chat that
	// is new to it. A chat that comes from the store does not say it.
	Language string
}

// looksLike says whether two views of a chat are the same, whoever has them.
func (c Chat) looksLike(o Chat) bool {
	c.Language, o.Language = "", ""
	return c == o
}

// IsGroup says whether the chat can have a ranking.
func (c Chat) IsGroup() bool { return c.Kind != Private }

// Person is somebody as the messenger shows them. A person that is merely named has a Username and no ID; one that has
// been seen has an ID and a Name, and perhaps a username.
type Person struct {
	ID       UserID
	Username string // without @
	Name     string
	// Doubtful says of somebody who is merely named that it may be no person at all. They count only if they have been
	// seen before.
	Doubtful bool
}

// Player is a person as the store knows them. A player without an ID of the messenger is unclaimed: somebody has named
// the username, and the person has not been seen yet.
type Player struct {
	ID       PlayerID
	UserID   UserID
	Username string
	Name     string
}

// Ladder is one ranking of a group, with its rules.
type Ladder struct {
	ID                 LadderID
	StartElo           int
	K                  int
	DrawsAllowed       bool
	UnevenTeamsAllowed bool // the sides may differ in size
}
