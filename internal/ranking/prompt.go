package ranking

import (
	"fmt"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// PromptID is the id of a prompt.
type PromptID int64

// PromptRef says which prompt is meant. The id alone does not: like a match number, it comes again
// after a restore.
type PromptRef struct {
	ID  PromptID
	Tag MatchTag
}

// PromptKind is what a prompt is about.
type PromptKind string

// PromptUndo asks whether to undo a match, its only Choice.
const PromptUndo PromptKind = "undo"

// PromptOption is an answer to a prompt: Cancel, or a Choice. Of a PromptReport it can also be
// Complete, of a PromptWizard an OpponentPage, a ScoreAgainst, or what somebody types instead of
// pressing a button: a Reading for the result, a Person for the opponent, or an UnclearOpponent.
type PromptOption any

// Cancel is an answer to every prompt.
type Cancel struct{}

// Complete is the answer that a reported match is the earlier one, which gets its score.
type Complete struct{}

// Choice is the position of what is meant among all that a prompt offers, from 0.
type Choice int

// chosen returns what an option chooses of all that a prompt offers. ok is false if it chooses none
// of that.
func chosen[T any](o PromptOption, offered []T) (item T, ok bool) {
	i, ok := o.(Choice)
	if !ok || i < 0 || int(i) >= len(offered) {
		return item, false
	}
	return offered[i], true
}

// PromptWindow is how long a prompt can be answered after the messenger has accepted its message.
const PromptWindow = 5 * time.Minute

// Prompt is a question with buttons. It is open until somebody answers or cancels it, or its timer
// ends it.
type Prompt struct {
	NewPrompt        // with its ID
	Number    int    // of the match of a PromptUndo
	Key       string // of the match
	Message   int64  // the message that asks, 0 if unknown
	Closed    bool
}

// is reports whether p is the prompt that ref means. A nil prompt is none.
func (p *Prompt) is(ref PromptRef) bool { return p != nil && p.tag() == ref.Tag }

func (p *Prompt) tag() MatchTag {
	switch {
	case p.Report != nil:
		return p.Report.tag()
	case p.Wizard != nil:
		return p.Wizard.tag()
	case p.Which != nil:
		return p.Which.Tag
	default:
		return TagOf(p.Key)
	}
}

// isOf reports whether what the prompt asks about belongs to a ladder. That of the prompt may have
// ended, with the group of a chat that has become one with another.
func (p *Prompt) isOf(l Ladder) bool {
	var asked ladder.ID
	switch {
	case p.Report != nil:
		asked = p.Report.Ladder
	case p.Wizard != nil:
		asked = p.Wizard.Ladder
	}
	return asked == 0 || asked == l.ID
}

// dropped returns what the message says if nobody answers in time.
func (p Prompt) dropped() Notice {
	switch p.Kind {
	case PromptUndo, PromptWhich:
		return UndoDropped{Number: p.Number}
	case PromptReport:
		return p.Report.dropped(nil)
	default:
		return ReportDropped{}
	}
}

// NewPrompt is what a prompt asks.
type NewPrompt struct {
	ID       PromptID // of an open prompt that asks this instead; 0 for a new one. If it is closed, Apply fails with ErrConflict.
	Kind     PromptKind
	Match    ladder.MatchID  // of a PromptUndo
	Changes  int             // of the match when it is asked about
	Answerer ladder.PlayerID // who may answer; 0 for every admin
	Report   *ReportRequest  // of a PromptReport
	Wizard   *WizardRequest  // of a PromptWizard
	Which    *WhichRequest   // of a PromptWhich
}

// PromptEnd is how a prompt was closed.
type PromptEnd string

// The ends of prompts.
const (
	PromptAnswered  PromptEnd = "answered"
	PromptCancelled PromptEnd = "cancelled"
	PromptExpired   PromptEnd = "expired" // nobody answered in time
)

// ClosedPrompt is a prompt to be closed. If it is closed already, Apply fails with ErrConflict.
type ClosedPrompt struct {
	ID PromptID
	As PromptEnd
	// Settles is the key of the message that led to the prompt, if its edits are no reports any
	// more although no match has its key; otherwise it is empty.
	Settles string
}

// PromptAnswer is the press of a button below a prompt, or a reply to it. The message of the prompt
// is edited to show what was decided. It closes the prompt and does what the answer says, if the
// sender may answer and the prompt is still open. Of several answers to a prompt, one has an
// effect.
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
	default:
		match, _ := p.match(a.Option)
		op.undo.Match, op.undo.Changes = MatchRef{ID: match.Match}, &match.Changes
		if p.Answerer == 0 {
			op.undo.origin.Sender = nil // it was asked anonymously, so nobody is named
		}
	}
	return c.with(job{name: "answer prompt", bucket: RatePress, ofAdmins: true, locks: true, operation: op})
}

// finding returns the call with a job that looks for the prompt that it answers. What kind of
// prompt that is decides what else to read. The decision looks at the prompt again.
func (c *call) finding(f findPrompt) *call {
	return c.with(job{
		name: "answer prompt", finds: true, silent: true, knownChatOnly: true, ofGroup: true, operation: f,
	})
}

// findPrompt looks for a prompt, and perhaps for who is in the group. A reply is no command unless
// the prompt is an open wizard that asks its sender.
type findPrompt struct {
	plain
	ref       PromptRef
	everybody bool
	isReply   bool
	by        *command.Person // the sender
}

func (f findPrompt) needs() Needs { return Needs{Prompt: f.ref.ID, Everybody: f.everybody} }

func (f findPrompt) decide(snap *Snapshot) (Decision, need, error) {
	p := snap.Prompt
	if f.isReply && (!p.is(f.ref) || p.Wizard == nil || p.Closed || f.by == nil || p.Wizard.Reporter.ID != f.by.ID) {
		return Decision{ignored: true}, nil, nil
	}
	return Decision{}, foundPrompt{p, snap.everybody()}, nil
}

// promptOperation is an answer to a prompt.
type promptOperation struct {
	plain
	PromptAnswer
	origin Origin
	undo   undoOperation // of the prompt's match
}

func (p promptOperation) needs() Needs {
	people := senderOf(p.origin)
	needs := Needs{People: people, New: len(people), Prompt: p.Prompt.ID}
	if p.undo.Match.ID != 0 {
		needs.Match = &p.undo.Match
	}
	return needs
}

// refuse returns why the prompt cannot be answered so, nil if it can.
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

// permission checks again what was checked when the prompt was asked: people may have lost their
// rights since. Whoever was asked may cancel all the same.
func (p promptOperation) permission(snap *Snapshot) Permission {
	switch m := p.undo.found(snap); {
	case snap.Prompt.Answerer == 0:
		refusal := Refusal{Code: AdminsOnlyPrompt}
		if m != nil { // not to cancel
			refusal.Instead = fmt.Sprintf("/%s %d", commandUndo, m.Number)
		}
		return Permission{Who: OnlyAdmins, Refusal: refusal}
	case m == nil: // Cancel means no match; otherwise decide says that it is gone, because its group was detached
		return Permission{}
	default:
		return p.undo.involved(snap, m)
	}
}

func (p promptOperation) about(snap *Snapshot) subject {
	if p.undo.refuse(snap) != nil { // also with Cancel
		return subject{}
	}
	return p.undo.amendOperation.about(snap)
}

func (p promptOperation) decide(snap *Snapshot) (d Decision, lacks need, err error) {
	closes := &ClosedPrompt{ID: snap.Prompt.ID, As: PromptAnswered}
	if p.Option == (Cancel{}) {
		_, by := p.undo.by(snap)
		closes.As, d.Page = PromptCancelled, UndoDropped{Number: snap.Prompt.Number, By: &by}
		d.Unadded = snap.Prompt.Answerer == 0 // nobody is named
	} else if d.Page = p.undo.refuse(snap); d.Page == nil { // nothing has changed in the meantime
		if d, lacks, err = p.undo.undo(snap, p.undo.found(snap)); err != nil || lacks != nil {
			return d, lacks, err
		}
		d.Page, d.Notice = d.Notice, nil
	}
	d.Closes = closes
	return d, nil, nil
}

// IsPrompt reports whether notices of a kind ask a prompt.
func IsPrompt(kind string) bool {
	asking := []Notice{UndoPrompt{}, WhichPrompt{}, ReportPrompt{}, OpponentPrompt{}, NamePrompt{}, ScorePrompt{}}
	return slices.ContainsFunc(asking, func(n Notice) bool { return notice.KindOf(n).Name == kind })
}

// UndoPrompt asks an admin whether to undo a match of other people, or a player whether to undo
// their last match that counts.
type UndoPrompt struct {
	// Prompt is the open question that this repeats; 0 in the message that begins it, whose id it
	// is.
	Prompt PromptID   `json:"prompt,omitempty"`
	Number int        `json:"number"`
	Tag    MatchTag   `json:"tag,omitempty"`
	Sides  [2]Side    `json:"sides"`
	Sets   []SetScore `json:"sets,omitempty"`
	Asked  Reporter   `json:"asked"`           // who is asked
	Played time.Time  `json:"played,omitzero"` // zero if it was played less than a day ago
	// Undone is the number of the match that the command meant, which is undone already; 0 if it
	// meant this one.
	Undone int `json:"undone,omitempty"`
}

var _ = notice.Register[UndoPrompt](notice.Kind{Name: "undo_prompt", Purpose: notice.Outcome, Alone: true})

// UndoDropped says that an UndoPrompt was cancelled, or that nobody answered it. The match may be
// undone all the same, by others.
type UndoDropped struct {
	Number int       `json:"number"`       // 0 if nobody said which match is meant
	By     *Reporter `json:"by,omitempty"` // who cancelled; nil if nobody answered in time
}

var _ = notice.Register[UndoDropped](notice.Kind{Name: "undo_dropped", Purpose: notice.Outcome})
