package ranking

import (
	"fmt"
	"slices"
	"time"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// PromptID is the store's id of a prompt.
type PromptID int64

// PromptRef identifies a prompt. The id alone is not enough: like match numbers, ids are assigned
// again after a backup is restored.
type PromptRef struct {
	ID  PromptID
	Tag MatchTag
}

// PromptKind is what a prompt is about.
type PromptKind string

// PromptUndo asks whether to undo a match. The match is the only Choice.
const PromptUndo PromptKind = "undo"

// PromptOption is an answer to a prompt. Every prompt accepts Cancel, and a Choice of what it
// offers. A PromptReport also accepts Complete if its request has Completes. A PromptWizard also
// accepts an OpponentPage, a Doubles and a ScoreAgainst. A typed answer to a wizard is a
// command.Reading for the result, a command.Person for the opponent, or an UnclearOpponent.
type PromptOption any

// Cancel is the answer that ends a prompt without an effect. Every prompt accepts it.
type Cancel struct{}

// Complete is the answer that the report is about the earlier match, which then gets the reported
// score.
type Complete struct{}

// Choice is the zero-based index of an option that a prompt offers.
type Choice int

// chosen returns the offered item that an option chooses. ok is false if it chooses none.
func chosen[T any](o PromptOption, offered []T) (item T, ok bool) {
	i, ok := o.(Choice)
	if !ok || i < 0 || int(i) >= len(offered) {
		return item, false
	}
	return offered[i], true
}

// PromptWindow is how long a prompt can be answered after the messenger has accepted its message,
// or after a press or a reply has changed its question. A PromptImport has another Window.
const PromptWindow = 5 * time.Minute

// importWindow is the Window of a PromptImport: people edit a file before they reply.
const importWindow = 24 * time.Hour

// Window is the PromptWindow of prompts of this kind.
func (k PromptKind) Window() time.Duration {
	if k == PromptImport {
		return importWindow
	}
	return PromptWindow
}

// Prompt is a question with buttons. It is open until it is answered or canceled, its timer ends
// it, or an edit of the message that led to it takes effect.
type Prompt struct {
	NewPrompt        // its ID is the prompt's own id
	Number    int    // the match's number, for a PromptUndo
	Key       string // the key of that match
	Message   int64  // the message with the prompt, 0 if unknown
	Closed    bool
}

// is reports whether p, found by the id of ref, also has the tag of ref. It returns false for a nil
// prompt.
func (p *Prompt) is(ref PromptRef) bool { return p != nil && p.tag() == ref.Tag }

func (p *Prompt) tag() MatchTag {
	switch {
	case p.Report != nil:
		return p.Report.tag()
	case p.Wizard != nil:
		return p.Wizard.tag()
	case p.Which != nil:
		return p.Which.Tag
	case p.Import != nil:
		return p.Import.tag()
	default:
		return TagOf(p.Key)
	}
}

// isOf reports whether the prompt may belong to the ladder l. A prompt belongs to another ladder if
// two chats have become one and the prompt's group was detached.
func (p *Prompt) isOf(l Ladder) bool {
	var asked ladder.ID
	switch {
	case p.Report != nil:
		asked = p.Report.Ladder
	case p.Wizard != nil:
		asked = p.Wizard.Ladder
	case p.Import != nil:
		asked = p.Import.Ladder
	}
	return asked == 0 || asked == l.ID
}

// dropped returns the notice that replaces the message of an expired prompt.
func (p Prompt) dropped() Notice {
	switch p.Kind {
	case PromptUndo, PromptWhich:
		return UndoDropped{Number: p.Number}
	case PromptReport:
		return p.Report.dropped(nil)
	case PromptImport:
		return ImportDropped{}
	default:
		return ReportDropped{}
	}
}

// NewPrompt is the content of a prompt.
type NewPrompt struct {
	// ID is the open prompt whose content is replaced, 0 for a new prompt. If that prompt has been
	// closed in the meantime, Apply fails with ErrConflict.
	ID       PromptID
	Kind     PromptKind
	Match    ladder.MatchID  // for a PromptUndo
	Changes  int             // the match's change count when the prompt was made
	Answerer ladder.PlayerID // who may answer a PromptUndo or PromptWhich; 0 for any admin
	Report   *ReportRequest  // for a PromptReport
	Wizard   *WizardRequest  // for a PromptWizard
	Which    *WhichRequest   // for a PromptWhich
	Import   *ImportRequest  // for a PromptImport
}

// PromptEnd is how a prompt was closed.
type PromptEnd string

const (
	PromptAnswered PromptEnd = "answered"
	PromptCanceled PromptEnd = "cancelled" // by a person, or by an edit of the message that led to it
	PromptExpired  PromptEnd = "expired"   // unanswered for too long, or about a player who is TakenOut
)

// ClosedPrompt is a prompt to be closed. If it is closed already, Apply fails with ErrConflict.
type ClosedPrompt struct {
	ID PromptID
	As PromptEnd
	// Settles is the key of the message that led to the prompt, if the answer settles that message
	// although no match has its key. Further edits of the message are then ignored. Otherwise,
	// Settles is empty.
	Settles string
}

// PromptAnswer is a press of a prompt's button, or a reply to the prompt. If the sender may answer
// and the prompt is still open, the service carries out the answer. An answer that leads to another
// question keeps the prompt open, and the prompt's message asks that question. An answer that takes
// effect is shown in the message and closes the prompt, so that no other answer can take effect.
type PromptAnswer struct {
	Prompt PromptRef
	Option PromptOption
}

func (a PromptAnswer) plan(s *Service, c *call) *call {
	if c.found == nil {
		return c.finding(findPrompt{ref: a.Prompt})
	}
	undo := undoOperation{amendOperation: s.amendment(c, commandUndo, Amendment{})}
	op := promptOperation{PromptAnswer: a, origin: c.Origin, undo: undo}
	switch p := c.found.prompt; {
	case p == nil:
	case p.Kind == PromptReport:
		return a.planReport(s, c)
	case p.Kind == PromptWizard:
		return a.planWizard(s, c)
	case p.Kind == PromptImport:
		return a.planImport(s, c)
	default:
		match, _ := p.match(a.Option)
		op.undo.Match, op.undo.Changes = MatchRef{ID: match.Match}, &match.Changes
		if p.Answerer == 0 {
			op.undo.origin.Sender = nil // an anonymous admin was asked, so the undo names no person
		}
	}
	return c.with(job{name: "answer prompt", bucket: RatePress, ofAdmins: true, locks: true, operation: op})
}

// finding gives the call a job that looks for the prompt to answer. The kind of prompt determines
// what else to read. The operation that is then planned for the answer checks the prompt again.
func (c *call) finding(f findPrompt) *call {
	return c.with(job{
		name: "answer prompt", finds: true, silent: true, knownChatOnly: true, ofGroup: true, operation: f,
	})
}

// findPrompt looks for a prompt, and for the group's members if everybody is set.
type findPrompt struct {
	plain
	ref       PromptRef
	everybody bool
	accepts   func(*Prompt) bool // whether the command answers the prompt; nil if a button was pressed
}

func (f findPrompt) needs() Needs { return Needs{Prompt: f.ref.ID, Everybody: f.everybody} }

func (f findPrompt) decide(snap *Snapshot) (Decision, need, error) {
	p := snap.Prompt
	if f.accepts != nil && (!p.is(f.ref) || !f.accepts(p)) {
		return Decision{ignored: true}, nil, nil
	}
	return Decision{}, foundPrompt{p, snap.everybody()}, nil
}

// promptOperation is an answer to a PromptUndo or a PromptWhich.
type promptOperation struct {
	plain
	PromptAnswer
	origin Origin
	undo   undoOperation // of the chosen match
}

func (p promptOperation) needs() Needs {
	people := senderOf(p.origin)
	needs := Needs{People: people, New: len(people), Prompt: p.Prompt.ID}
	if p.undo.Match.ID != 0 {
		needs.Match = &p.undo.Match
	}
	return needs
}

func (p promptOperation) refuse(snap *Snapshot) Notice {
	if !snap.Prompt.is(p.Prompt) {
		return Refusal{Code: UnknownButton}
	}
	_, known := snap.Prompt.match(p.Option)
	switch {
	case !known && p.Option != Cancel{}:
		return Refusal{Code: UnknownButton}
	case snap.Prompt.Answerer != 0 && (snap.People[0].Player == nil || snap.People[0].Player.ID != snap.Prompt.Answerer):
		return Refusal{Code: NotYourPrompt}
	case snap.Prompt.Closed:
		return Refusal{Code: PromptOver}
	}
	return nil
}

// permission checks whether the sender may undo the match at the time of the answer, because the
// sender may have lost the permission since the prompt was sent. The person asked may cancel in any
// case.
func (p promptOperation) permission(snap *Snapshot) Permission {
	switch m := p.undo.found(snap); {
	case snap.Prompt.Answerer == 0:
		refusal := Refusal{Code: AdminsOnlyPrompt}
		if m != nil { // for Cancel, there is no match
			refusal.Instead = fmt.Sprintf("/%s %d", commandUndo, m.Number)
		}
		return Permission{Who: OnlyAdmins, Refusal: refusal}
	// There is no match to undo. Either the answer is Cancel, or decide refuses.
	case m == nil:
		return Permission{}
	default:
		return p.undo.involved(snap, m)
	}
}

func (p promptOperation) about(snap *Snapshot) subject {
	if p.undo.refuse(snap) != nil { // as it always is for Cancel
		return subject{}
	}
	return p.undo.amendOperation.about(snap)
}

func (p promptOperation) decide(snap *Snapshot) (d Decision, lacks need, err error) {
	closes := &ClosedPrompt{ID: snap.Prompt.ID, As: PromptAnswered}
	if p.Option == (Cancel{}) {
		_, by := p.undo.by(snap)
		closes.As, d.Page = PromptCanceled, UndoDropped{Number: snap.Prompt.Number, By: &by}
		d.Unadded = snap.Prompt.Answerer == 0 // the notice names no person
	} else if d.Page = p.undo.refuse(snap); d.Page == nil { // the match can still be undone
		if d, lacks, err = p.undo.undo(snap, p.undo.found(snap)); err != nil || lacks != nil {
			return d, lacks, err
		}
		d.Page, d.Notice = d.Notice, nil
	}
	d.Closes = closes
	return d, nil, nil
}

// IsPrompt reports whether notices of this kind ask the question of a stored Prompt. Other notices
// that ask something, such as FixPrompt, have no Prompt.
func IsPrompt(kind string) bool {
	asking := []Notice{UndoPrompt{}, WhichPrompt{}, ReportPrompt{}, OpponentPrompt{}, TogetherPrompt{},
		NamePrompt{}, ScorePrompt{}, ImportPrompt{}}
	return slices.ContainsFunc(asking, func(n Notice) bool { return notice.KindOf(n).Name == kind })
}

// UndoPrompt asks whether to undo a match. It is for an admin who may not undo the match as a
// player or reporter, or for a sender whose last match is already undone.
type UndoPrompt struct {
	// Prompt is the open prompt that the notice repeats. It is 0 in the prompt's first message,
	// whose notice has the same id as the prompt.
	Prompt PromptID   `json:"prompt,omitempty"`
	Number int        `json:"number"`
	Tag    MatchTag   `json:"tag,omitempty"`
	Sides  [2]Side    `json:"sides"`
	Sets   []SetScore `json:"sets,omitempty"`
	Asked  Reporter   `json:"asked"`           // the person asked
	Played time.Time  `json:"played,omitzero"` // zero if the match was played less than a day ago
	// Undone is the number of the match that the command meant, if that match is already undone. It
	// is 0 if the command meant this match.
	Undone int `json:"undone,omitempty"`
}

var _ = notice.Register[UndoPrompt](notice.Kind{Name: "undo_prompt", Purpose: notice.Outcome, Alone: true})

// UndoDropped says that a prompt about an undo was canceled or has expired. Another command may
// still undo the match.
type UndoDropped struct {
	Number int       `json:"number"`       // 0 if no match was chosen
	By     *Reporter `json:"by,omitempty"` // the person who canceled, nil if the prompt expired
}

var _ = notice.Register[UndoDropped](notice.Kind{Name: "undo_dropped", Purpose: notice.Outcome})
