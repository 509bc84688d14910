// Package ranking is the domain: groups and their ladders, the people in them, and the matches that move their ratings.
//
// A [Service] handles a command in three steps. It reads what the command concerns, decides in plain Go what to change,
// and has the [Store] apply everything in one transaction: the effect, the idempotency key and the [Notice] that answers
// the command. The package knows nothing about Telegram, SQL or wording: notices carry facts, and other packages render
// them.
package ranking

import (
	"fmt"
	"slices"
	"time"

	"elobot/internal/elo"
)

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
	// GroupID is the id of a group. A group is what a chat is to the ranking.
	GroupID int64
	// LadderID is the id of a ladder of a group.
	LadderID int64
	// PlayerID is the id of a player.
	PlayerID int64
	// StandingID is the id of a player's standing in a ladder.
	StandingID int64
	// MatchID is the id of a match.
	MatchID int64
	// HistoryID is the id of a history entry.
	HistoryID int64
)

// Origin says where a command came from: who sent it, when, and where the answer goes.
type Origin struct {
	// Key is the idempotency key: commands with the same key are the same command, which takes effect only once.
	Key    string
	Chat   Chat
	Sender *Person // nil for an anonymous admin
	SentAt time.Time
	// Button is the id of the button press that sent the command, empty for a message. The person who pressed gets the
	// answer; the chat is notified only if the press changes something.
	Button string
	// Malformed is the name of a command that reports or amends a match but could not be parsed. It is empty for all
	// other commands.
	Malformed string
	// Redelivered is true if an operator has the command handled again. Its notices never expire, and no rate limit
	// applies.
	Redelivered bool
	// ReplyTo and Thread say where the answer goes: the message to reply to and the topic, 0 for none.
	ReplyTo, Thread int64
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
	// Language is the sender's language as an IETF tag, empty if unknown. A new chat gets this language. It is empty in a
	// chat read from the store.
	Language string
}

// equalExceptLanguage reports whether two chats are equal, apart from the sender's language.
func (c Chat) equalExceptLanguage(o Chat) bool {
	c.Language, o.Language = "", ""
	return c == o
}

// IsGroup reports whether the chat can have a ranking.
func (c Chat) IsGroup() bool { return c.Kind != Private }

// Person is a person as the messenger shows them. A person who is only mentioned has a Username and no ID. A person whom
// the messenger shows has an ID and a Name, and possibly a Username.
type Person struct {
	ID       UserID
	Username string // without @
	Name     string
	// Doubtful is true if a mention may not refer to a person at all. The command is then refused unless a message has
	// shown a person with that username.
	Doubtful bool
}

// Player is a person as the store knows them. A player without a UserID is unclaimed: somebody mentioned the username,
// but the messenger has not shown the person yet.
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

// Score is the score of a match or of one set, from 0 to 999 for each side.
type Score struct{ A, B int }

// Result is the result of a match. In a match played in sets, the score counts the sets that each side won.
type Result struct {
	Score
	Sets []Score // the points of each set; none, or at least two
}

// resultOf returns the result for reported scores. A single score is the score of the match; several are the scores of
// its sets. A drawn set counts for neither side.
func resultOf(scores []Score) Result {
	if len(scores) == 1 {
		return Result{Score: scores[0]}
	}
	r := Result{Sets: scores}
	for _, set := range scores {
		switch {
		case set.A > set.B:
			r.A++
		case set.A < set.B:
			r.B++
		}
	}
	return r
}

func (r Result) equal(o Result) bool { return r.Score == o.Score && slices.Equal(r.Sets, o.Sets) }

// swapped returns the result with the sides exchanged.
func (r Result) swapped() Result {
	s := Result{Score: Score{r.B, r.A}}
	for _, set := range r.Sets {
		s.Sets = append(s.Sets, Score{set.B, set.A})
	}
	return s
}

// of returns the outcome for a side, 1 or 2.
func (s Score) of(side int) elo.Score {
	if side == 1 {
		return elo.ScoreOf(s.A, s.B)
	}
	return elo.ScoreOf(s.B, s.A)
}

// setScores returns the sets in the form that notices use.
func (r Result) setScores() []SetScore {
	var sets []SetScore
	for _, s := range r.Sets {
		sets = append(sets, SetScore{s.A, s.B})
	}
	return sets
}

// Standing is a player's rating, counters and streak in a ladder. Ratings are between elo.Min and elo.Max.
type Standing struct {
	ID       StandingID // 0 if not stored yet
	Player   PlayerID
	Name     string // the player's last name in this group
	Elo      int
	StartElo int
	BestElo  int
	Version  int64
	Played   int
	Won      int
	Drawn    int
	Lost     int
	Streak   int // wins in a row, or losses in a row as a negative number
	// LeftAt is when the player left the group, zero for a member. The ranking does not show players who left.
	LeftAt time.Time
}

// beginning returns the standing as it was before its first match.
func (s Standing) initial() Standing {
	return Standing{
		ID: s.ID, Player: s.Player, Name: s.Name, Version: s.Version,
		Elo: s.StartElo, StartElo: s.StartElo, BestElo: s.StartElo, LeftAt: s.LeftAt,
	}
}

// presentAt returns the standing of a player who was in the group at that time: it clears an earlier LeftAt.
func (s Standing) presentAt(at time.Time) Standing {
	if !s.LeftAt.After(at) {
		s.LeftAt = time.Time{}
	}
	return s
}

// mergedLeftAt returns LeftAt for the combination of two standings: zero if either is a member's, else the later one.
func (s Standing) mergedLeftAt(o Standing) time.Time {
	switch {
	case s.LeftAt.IsZero() || o.LeftAt.IsZero():
		return time.Time{}
	case s.LeftAt.Before(o.LeftAt):
		return o.LeftAt
	default:
		return s.LeftAt
	}
}

// counters formats the matches won, drawn and lost for operators.
func (s Standing) counters() string { return fmt.Sprintf("%d–%d–%d", s.Won, s.Drawn, s.Lost) }

// after returns the standing after a match with the given score and rating change.
func (s Standing) after(score elo.Score, change int) Standing {
	s.Elo += change
	s.BestElo = max(s.BestElo, s.Elo)
	s.count(score, 1)
	switch score {
	case elo.Win:
		s.Streak = max(s.Streak, 0) + 1
	case elo.Loss:
		s.Streak = min(s.Streak, 0) - 1
	default:
		s.Streak = 0
	}
	return s
}

// count adds n matches with the given score to the counters; n may be negative.
func (s *Standing) count(score elo.Score, n int) {
	s.Played += n
	switch score {
	case elo.Win:
		s.Won += n
	case elo.Loss:
		s.Lost += n
	default:
		s.Drawn += n
	}
}
