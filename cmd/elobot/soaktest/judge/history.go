package judge

import (
	"fmt"
	"time"
)

// History records what happened in a campaign.
type History struct {
	Commands    []Command // in the order in which they were sent
	Messages    []Message // the bot's messages, in order within each chat
	Matches     []Match
	Standings   []Standing
	Notices     []Notice // the answers as stored by the bot, in order within each chat
	DeadLetters []string // a description of each
	// CleanStops are the clean stops without any other fault, while Telegram answered within 5 s.
	// Each lasts from when the first answer may have been slow until the end of the process.
	CleanStops []Span
	// Handled has all commands that the bot has handled, including those before the campaign.
	Handled []Handling

	Lasting, Full time.Duration // how long faults struck, and after how long all kinds must have struck
	Kinds         []string      // the names of all kinds of faults
	Kills         []Kill
	Faults        []Fault
	FailedStarts  []FailedStart
}

// Part is the part of the system that a fault affects.
type Part string

// The parts of the system.
const (
	Bot      Part = "bot"
	Database Part = "database"
	Telegram Part = "telegram"
)

// Fault is a fault that the campaign caused, or tried to cause, during a span of time.
type Fault struct {
	Kind string
	Of   Part
	Span
	Missed bool // it could not be caused, or only in part
	// Crash means that writes from shortly before the fault may be lost if they did not wait for
	// the disk.
	Crash     bool
	Recovered time.Time // when the bot was first seen to work again; zero if not observed
}

// Kill is the life of a process that was killed.
type Kill struct {
	Span
	InHand []string // keys of the commands that were delivered to it and not confirmed
}

// FailedStart is a process that ended by itself before it was ready.
type FailedStart struct {
	Span
	Words string // the last lines of its log
}

// Span is a period of time, including both ends.
type Span struct{ From, To time.Time }

func (s Span) includes(at time.Time) bool { return !at.Before(s.From) && !at.After(s.To) }

// Game is the players and the score of a match.
type Game struct {
	Players [2]string
	Score   [2]int
}

// sameAs reports whether two games are the same, regardless of the order of the players.
func (g Game) sameAs(other Game) bool {
	turned := Game{[2]string{other.Players[1], other.Players[0]}, [2]int{other.Score[1], other.Score[0]}}
	return g == other || g == turned
}

// Match is a stored game.
type Match struct {
	Chat   int64
	Number int
	Key    string // of the command that reported it
	Game
	Undone bool
}

// Command is a reported result or an undo.
type Command struct {
	Chat    int64
	Message int // the message id, ascending within the chat
	Game        // the result, unless Undo is set
	Undo    int // the number of the match to undo, or 0; each match has at most one such command
	At      time.Time
}

// Key returns the idempotency key of the command.
func (c *Command) Key() string { return fmt.Sprintf("m:%d:%d", c.Chat, c.Message) }

func (c *Command) String() string {
	if c.Undo != 0 {
		return fmt.Sprintf("the undo of #%d (%s)", c.Undo, c.Key())
	}
	return fmt.Sprintf("the result %s – %s %d:%d (%s)", c.Players[0], c.Players[1], c.Score[0], c.Score[1], c.Key())
}

// Message is a message of the bot, with its final text.
type Message struct {
	Chat    int64
	ID      int
	ReplyTo int // the id of the message that it replies to, or 0 if it is not a reply
	Text    string
	At      time.Time
}

// Standing is the stored rating of a player in a chat, with the numbers of matches won, drawn and
// lost.
type Standing struct {
	Chat                  int64
	Name                  string
	Elo, Won, Drawn, Lost int
}

// Notice is an answer as stored by the bot.
type Notice struct {
	Chat           int64
	ID             int64  // ascending in the order in which the notices of the chat were stored
	Key            string // of the command that it answers
	Kind, State    string
	Message        int       // id of the message in which it was sent, or 0 if unsent or unknown
	PossibleCopies int       // as counted by the bot
	At, FinishedAt time.Time // if unfinished, FinishedAt is the end of the campaign
}

// Handling records when the bot handled a command.
type Handling struct {
	Key string
	At  time.Time
}
