package judge

import (
	"fmt"
	"time"
)

// History is all that happened between the first command and the moment at which nothing was left to be done.
type History struct {
	Commands    []Command // in the order in which they were sent
	Said        []Said    // by the bot, each chat's in the order in which it came
	Matches     []Match
	Standings   []Standing
	Notices     []Notice // the answers as the bot has written them down, each chat's in that order
	DeadLetters []string // each in words
	// CleanStops are the times in which the bot was stopped cleanly, while every answer of Telegram took less than 5 s and
	// nothing else was wrong: from when the first answer may have been slow to the end of the process.
	CleanStops []Span
	// Handled are the keys of the commands that the bot has handled, of the others as well that came before.
	Handled []string

	Lasting      time.Duration // how long faults were to strike
	Kinds        []string      // of faults that were to strike, by name
	Faults       []Fault
	FailedStarts []FailedStart
}

// Part is what a fault strikes.
type Part string

// The parts.
const (
	Bot      Part = "bot"
	Database Part = "database"
	Telegram Part = "telegram"
)

// Fault is something that went wrong for some time.
type Fault struct {
	Kind string
	Of   Part
	Span
	Missed    bool      // it could not be done, or only in part
	Recovered time.Time // when the bot was first seen to work again after it, zero if that was not looked for
}

// FailedStart is a process that ended by itself before it was ready.
type FailedStart struct {
	Span
	Words string // the last lines of its log
}

// Span is a span of time.
type Span struct{ From, To time.Time }

// Game is who played against whom, and how it ended.
type Game struct {
	Players [2]string
	Score   [2]int
}

// sameAs compares two games, in whatever order the players are named.
func (g Game) sameAs(other Game) bool {
	turned := Game{[2]string{other.Players[1], other.Players[0]}, [2]int{other.Score[1], other.Score[0]}}
	return g == other || g == turned
}

// Match is a game that is stored.
type Match struct {
	Chat   int64
	Number int
	Key    string // of the command that it comes from
	Game
	Undone bool
}

// Command is a result that somebody has reported, or an undo.
type Command struct {
	Chat    int64
	Message int // its id, which ascends in its chat
	Game        // the result, unless something is to be undone
	Undo    int // the number of the match to be undone; at most one command is for each
	At      time.Time
}

// Key is what the command is stored under.
func (c *Command) Key() string { return fmt.Sprintf("m:%d:%d", c.Chat, c.Message) }

func (c *Command) String() string {
	if c.Undo != 0 {
		return fmt.Sprintf("the undo of #%d (%s)", c.Undo, c.Key())
	}
	return fmt.Sprintf("the result %s – %s %d:%d (%s)", c.Players[0], c.Players[1], c.Score[0], c.Score[1], c.Key())
}

// Said is a message of the bot, as it reads at the end.
type Said struct {
	Chat    int64
	ID      int
	ReplyTo int // the message that it answers, 0 if it answers several
	Text    string
	At      time.Time
}

// Standing is where somebody stands in a chat.
type Standing struct {
	Chat                  int64
	Name                  string
	Elo, Won, Drawn, Lost int
}

// Notice is an answer as the bot has written it down.
type Notice struct {
	Chat           int64
	ID             int64  // ascends in the order in which they were written down
	Key            string // of the command that it answers
	Kind, State    string
	Message        int // the id of the message that it was sent as, 0 if none is known
	PossibleCopies int // as counted by the bot
	At             time.Time
}
