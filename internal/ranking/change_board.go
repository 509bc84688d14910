package ranking

import (
	"fmt"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// KindBoard is the kind of the notice of a board. What is stored of it says nothing: what it shows is read when it is sent.
const KindBoard = "board"

// Board is the board of a ladder: a message in the chat, or in one of its topics, that always shows the ranking.
type Board struct {
	Ladder ladder.ID
	Thread int64 // the topic, 0 for none
}

// Object returns what identifies the message of the board in its chat.
func (b Board) Object() string {
	object := fmt.Sprintf("%s:%d", KindBoard, b.Ladder)
	if b.Thread != 0 {
		object += fmt.Sprintf(":%d", b.Thread)
	}
	return object
}

// LadderOfBoard returns the ladder whose board an object identifies, 0 if it identifies none.
func LadderOfBoard(object string) (id ladder.ID) {
	_, _ = fmt.Sscanf(object, KindBoard+":%d", &id)
	return id
}

// BoardChange is what /board asks for.
type BoardChange string

// The changes.
const (
	ShowBoard    BoardChange = "" // changes nothing: it asks whether there is a board
	TurnBoardOn  BoardChange = "on"
	TurnBoardOff BoardChange = "off"
)

// ChangeBoard turns the board of a ladder on, in the topic of the command, or off. A ladder has one board: it moves if it is turned on in
// another topic. Only admins may do so; everybody may ask.
type ChangeBoard struct{ Change BoardChange }

func (b ChangeBoard) plan(_ *Service, c *call) *call {
	op := boardOperation{adminsOnly{people: senderOf(c.Origin), asks: b.Change == ShowBoard}, c.Origin, b.Change}
	return c.with(job{name: "change board", bucket: RateQuestion, ofAdmins: true, operation: op})
}

// TypedBoard is /board as somebody types it: with "on" or "off", or else it asks.
type TypedBoard struct{}

func (t TypedBoard) plan(s *Service, c *call) *call { return t.Meant(c.Said).plan(s, c) }

// Meant returns what a command means.
func (TypedBoard) Meant(said command.Command) Operation {
	switch word, _, _ := strings.Cut(strings.ToLower(said.Typed()), " "); word {
	case On:
		return ChangeBoard{TurnBoardOn}
	case Off:
		return ChangeBoard{TurnBoardOff}
	default:
		return ChangeBoard{ShowBoard}
	}
}

type boardOperation struct {
	adminsOnly
	origin Origin
	change BoardChange
}

func (b boardOperation) needs() Needs { return Needs{People: b.people, Board: true} }

func (b boardOperation) refuse(snap *Snapshot) Notice {
	if b.change == TurnBoardOn && snap.Ladder.Archived {
		return Refusal{Code: LadderArchived, Name: snap.Ladder.Name}
	}
	return nil
}

func (b boardOperation) decide(snap *Snapshot) (Decision, need, error) {
	before := snap.Board
	changed := &ChangedBoard{Chat: snap.ChatID, Before: before, After: before}
	switch {
	case b.change == TurnBoardOn && snap.Chat.ID == b.origin.Chat.ID:
		changed.After = &Board{Ladder: snap.Ladder.ID, Thread: b.origin.Thread}
	case b.change == TurnBoardOn: // the chat has a new id, and its topics with it
		changed.After = &Board{Ladder: snap.Ladder.ID}
	case b.change == TurnBoardOff:
		changed.After = nil
	}
	n := BoardState{On: changed.After != nil}
	switch {
	case b.change == TurnBoardOn:
		n.Changed = true // also one that is on already: it is pinned again
		n.Moved = before != nil && *before != *changed.After
	case (before == nil) != (changed.After == nil):
		n.Changed = true
	default:
		return Decision{Notice: n}, nil, nil
	}
	return Decision{Notice: n, Effect: changed}, nil, nil
}

// ChangedBoard is what an admin changed about the board of a ladder; nil means none. If what is stored differs from Before, Apply fails with
// ErrConflict. The messages of both are brought up to date.
type ChangedBoard struct {
	Chat          ChatID
	Before, After *Board
}

func (*ChangedBoard) outcome() CommandOutcome { return OutcomeSettingChanged }

// BoardState says whether a ladder has a board.
type BoardState struct {
	On      bool `json:"on,omitempty"`
	Changed bool `json:"changed,omitempty"` // the command has turned it on or off
	Moved   bool `json:"moved,omitempty"`   // it was in another topic before
}

var _ = notice.Register[BoardState](notice.Kind{Name: "board_state", Purpose: notice.Outcome})

// Fleeting makes the answer to a question a notice.Fleeting.
func (n BoardState) Fleeting() bool { return !n.Changed }

// BoardNotPinned says that the bot has no right to pin the board.
type BoardNotPinned struct{}

var _ = notice.Register[BoardNotPinned](notice.Kind{Name: "board_not_pinned", Purpose: notice.Notification})
