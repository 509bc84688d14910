package ranking

import (
	"fmt"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// KindBoard is the kind of the notice that sends or updates the message of a board. The stored
// notice is empty, because the board is read when the notice is sent.
const KindBoard = "board"

// Board is the board of a ladder: a message with the ranking, in the chat or in one of its topics,
// that the bot keeps up to date.
type Board struct {
	Ladder ladder.ID
	Thread int64 // the topic, 0 for none
}

// Object returns the string that identifies the board's message in the chat.
func (b Board) Object() string {
	object := fmt.Sprintf("%s:%d", KindBoard, b.Ladder)
	if b.Thread != 0 {
		object += fmt.Sprintf(":%d", b.Thread)
	}
	return object
}

// LadderOfBoard returns the ladder whose board the object identifies, 0 if it does not identify a
// board.
func LadderOfBoard(object string) (id ladder.ID) {
	_, _ = fmt.Sscanf(object, KindBoard+":%d", &id)
	return id
}

// BoardChange is the change that a /board command requests.
type BoardChange string

const (
	ShowBoard    BoardChange = "" // asks whether there is a board, without a change
	TurnBoardOn  BoardChange = "on"
	TurnBoardOff BoardChange = "off"
)

// ChangeBoard turns the board of a ladder off, turns it on in the command's topic, or says whether
// it is on. A ladder has only one board, so turning it on in another topic moves it. Only admins
// may change the board; any member may ask whether it is on.
type ChangeBoard struct{ Change BoardChange }

func (b ChangeBoard) plan(_ *Service, c *call) *call {
	op := boardOperation{adminsOnly{people: senderOf(c.Origin), asks: b.Change == ShowBoard}, c.Origin, b.Change}
	return c.with(job{name: "change board", bucket: RateQuestion, ofAdmins: true, operation: op})
}

// TypedBoard is a typed /board. If its first word is "on" or "off", ignoring case, it changes the
// board. Otherwise it asks whether there is a board.
type TypedBoard struct{}

func (t TypedBoard) plan(s *Service, c *call) *call { return t.Meant(c.Said).plan(s, c) }

// Meant returns the operation that the typed command asks for.
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
	case b.change == TurnBoardOn: // the chat has a new id, so the topic's id is invalid
		changed.After = &Board{Ladder: snap.Ladder.ID}
	case b.change == TurnBoardOff:
		changed.After = nil
	}
	n := BoardState{On: changed.After != nil}
	switch {
	case b.change == TurnBoardOn:
		n.Changed = true // a board that was on is pinned again
		n.Moved = before != nil && *before != *changed.After
	case (before == nil) != (changed.After == nil):
		n.Changed = true
	default:
		return Decision{Notice: n}, nil, nil
	}
	return Decision{Notice: n, Effect: changed}, nil, nil
}

// ChangedBoard changes the board of a ladder from Before to After, where nil means no board. If the
// stored board differs from Before, Apply fails with ErrConflict. The messages of Before and After
// are updated.
type ChangedBoard struct {
	Chat          ChatID
	Before, After *Board
}

func (*ChangedBoard) outcome() CommandOutcome { return OutcomeSettingChanged }

// BoardState is a notice that says whether a ladder has a board.
type BoardState struct {
	On      bool `json:"on,omitempty"`
	Changed bool `json:"changed,omitempty"` // the board was turned on, perhaps again, or off
	Moved   bool `json:"moved,omitempty"`   // the board was in a different topic before, or in none
}

var _ = notice.Register[BoardState](notice.Kind{Name: "board_state", Purpose: notice.Outcome})

// Fleeting reports whether the notice expires like the answer to a question. It does if nothing has
// changed.
func (n BoardState) Fleeting() bool { return !n.Changed }

// BoardNotPinned says that the bot lacks the right to pin the board's message.
type BoardNotPinned struct{}

var _ = notice.Register[BoardNotPinned](notice.Kind{Name: "board_not_pinned", Purpose: notice.Notification})
