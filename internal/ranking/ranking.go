// Package ranking implements the domain: groups and their ladders, the people in them, and the
// matches that change their ratings.
//
// A [Service] handles a command in three steps. It reads what the command concerns, decides in
// plain Go what to change, and has the [Store] apply everything in one transaction: the effect, the
// idempotency key and the [Notice] that answers the command. The decision is pure, so it can be
// repeated. If another transaction has changed what was read, the store writes nothing and the
// service starts over, a limited number of times. As long as the key is stored, a command that was
// committed before is recognized and has no second effect.
//
// The package calls no Telegram API, runs no SQL and contains no message texts: notices carry
// facts, and other packages render them.
package ranking

import (
	"cmp"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

type (
	// ExternalChatID is the messenger's id of a chat.
	ExternalChatID int64
	// ChatID is the store's id of a chat.
	ChatID int64
	// GroupID is the store's id of a group, which has ladders, players and matches.
	GroupID int64
)

// Origin describes where a command comes from: who sent it, when and where, and its words.
type Origin struct {
	// Key is the idempotency key. Commands with the same key are the same command, which has no
	// second effect as long as the key is stored.
	Key string
	Logged
	Trigger Trigger // zero means ByPress if there is a Button, otherwise ByMessage
	// Message is the key of the edited message if the command is an edit, otherwise empty. If that
	// message already had an outcome other than a refusal or a prompt about a result, the command
	// counts as handled. A ReadReport then compares the edit with the recorded matches.
	Message string
	Chat    Chat
	// Sender is the person who sent the command or pressed the button. It is nil for an anonymous
	// admin, for a message sent as a channel, and if the update's sender could not be read. It is
	// also nil for service messages, changes of membership and timers.
	Sender *command.Person
	SentAt time.Time
	Press
	// Retried is set if an operator retries the command. Its answers then have no expiry time, and
	// no rate limit applies.
	Retried bool
	Place
	Ladder ladder.ID // the ladder that the command or its button names, 0 for none
	// Said is the parsed message. If a button is about the earlier command that its message
	// answered, Said is that command. For all other buttons, it is empty.
	Said command.Command
}

// Logged is what the log says about a command: the messenger's id of the update, and the name of
// the command or of the pressed button. If Command is empty, the log has the name of the job.
type Logged struct {
	Update  int64
	Command string
}

// Press is the press of a button. A reply that answers a prompt has only Pressed; for every other
// message, Press is zero.
type Press struct {
	// Button is the id of the press. The answer goes to the person who pressed the button. The chat
	// is notified only if the press changes something, or if a separate message answers it.
	Button string
	// Pressed is the message with the pressed button. For a reply that answers a prompt, it is the
	// message with the prompt's buttons. Otherwise, it is 0.
	Pressed int64
	// Instead is the command that does the same as the pressed button, empty if there is none. An
	// anonymous admin has to send it, because a press does not show that they are an admin.
	Instead string
}

// Place is where a command was sent, and which other people its update shows.
type Place struct {
	// ReplyTo and Thread are the message to reply to and the topic of the answer, 0 for none.
	ReplyTo, Thread int64
	// Replied is the match that the replied-to message may be about; zero if the command is not a
	// reply.
	Replied MatchRef
	// VisibleUsers are other people whom the update shows with their ids, such as the author of the
	// replied-to message or a new member. They may have no part in the command.
	VisibleUsers []command.Person
}

// Trigger is what triggers a command: a kind of update, or a timer.
type Trigger string

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

// ChatKind distinguishes group chats from private chats.
type ChatKind string

// The kinds of chats that the bot supports, by the messenger's names.
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
	// language. In a chat read from the store, it is empty.
	Language string
}

func (c Chat) equalExceptLanguage(o Chat) bool {
	c.Language, o.Language = "", ""
	return c == o
}

// IsGroup reports whether the chat can have ladders.
func (c Chat) IsGroup() bool { return c.Kind != Private }

// Player is a person as the store knows them. A player with a UserID is an account, which is the
// same in all groups. Any other player exists in only one group. Such a player is unclaimed if it
// has a Username: a message there mentioned the username, but no message has shown the person yet.
// Otherwise, the player is a guest.
type Player struct {
	ID       ladder.PlayerID
	UserID   ladder.UserID
	Username string
	Name     string
}

// Ladder is a ranking of a group, with its rules and its current season.
type Ladder struct {
	ID       ladder.ID
	Name     string // empty if the group's only ladder has no name
	Archived bool   // an archived ladder accepts no matches
	Season   Season // the current season
	Rules
}
