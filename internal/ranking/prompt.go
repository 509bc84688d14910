package ranking

import (
	"context"
	"fmt"
	"time"
)

// PromptID is the id of a prompt.
type PromptID int64

// PromptRef says which prompt is meant. The id alone does not: like a match number, it comes again after a restore.
type PromptRef struct {
	ID  PromptID
	Tag MatchTag
}

// PromptKind is what a prompt is about.
type PromptKind string

// PromptUndo asks whether to undo a match. OptionUndo undoes it.
const PromptUndo PromptKind = "undo"

// PromptOption is an answer to a prompt. Every prompt has OptionCancel.
type PromptOption string

// The options.
const (
	OptionUndo   PromptOption = "undo"
	OptionCancel PromptOption = "cancel"
)

// PromptWindow is how long a prompt can be answered after the messenger has accepted its message.
const PromptWindow = 5 * time.Minute

// Prompt is a question with buttons. It is open until somebody answers or cancels it, or its timer ends it.
type Prompt struct {
	ID       PromptID
	Kind     PromptKind
	Match    MatchID        // of a PromptUndo, like all until Answerer
	Changes  int            // of the match when it was asked about
	Number   int            // of the match
	Key      string         // of the match
	Answerer PlayerID       // who may answer; 0 for every admin
	Report   *ReportRequest // of a PromptReport
	Wizard   *WizardRequest // of a PromptWizard
	Which    *WhichRequest  // of a PromptWhich
	Message  int64          // the message that asks, 0 if unknown
	Closed   bool
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

// dropped returns what the message says if nobody answers in time.
func (p Prompt) dropped() Notice {
	switch p.Kind {
	case PromptUndo, PromptWhich:
		return UndoDropped{Number: p.Number}
	default:
		return ReportDropped{}
	}
}

// NewPrompt asks a question. The notice of the same changes is the message that asks.
type NewPrompt struct {
	Kind     PromptKind
	Match    MatchID        // of a PromptUndo, like all until Answerer
	Changes  int            // of the match
	Answerer PlayerID       // 0 for every admin
	Report   *ReportRequest // of a PromptReport
	Wizard   *WizardRequest // of a PromptWizard
	Which    *WhichRequest  // of a PromptWhich
}

func (*NewPrompt) outcome() CommandOutcome { return OutcomeAsked }

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
}

// PromptAnswer is the press of a button below a prompt, or a reply to it.
type PromptAnswer struct {
	Prompt PromptRef
	Option PromptOption
	// Reports, Opponent or Unclear is what somebody typed instead of pressing a button of a PromptWizard.
	Reports  []Report
	Opponent *Person
	Unclear  *UnclearOpponent
	// Message is the message with the button. It is edited to show what was decided.
	Message int64
	// IsAdmin reports whether the sender is an admin of the chat.
	IsAdmin func(context.Context) (bool, error)
}

// AnswerPrompt closes a prompt and does what the answer says, if the sender may answer and the prompt is still open. Of
// several answers to a prompt, one has an effect.
func (s *Service) AnswerPrompt(ctx context.Context, o Origin, a PromptAnswer) error {
	p, err := s.store.FindPrompt(ctx, o.Chat.ID, a.Prompt.ID)
	if err != nil {
		return fmt.Errorf("answer prompt: %w", err)
	}
	switch {
	case p == nil:
	case p.Kind == PromptReport:
		return s.answerReport(ctx, o, a, p)
	case p.Kind == PromptWizard:
		return s.answerWizard(ctx, o, a, p)
	}
	people := senderOf(o)
	return s.handle(ctx, o, command{
		name: "answer prompt", people: people, needed: len(people), class: RatePress, locks: true,
		operation: &promptOperation{PromptAnswer: a, origin: o, undo: undoOperation{s.amendment(o, Amendment{IsAdmin: a.IsAdmin})}},
	})
}

// promptOperation is an answer to a prompt.
type promptOperation struct {
	plain
	PromptAnswer
	origin Origin
	prompt *Prompt       // nil if the chat has no such prompt
	undo   undoOperation // of the prompt's match
}

func (p *promptOperation) read(ctx context.Context, store Store, snap Snapshot) (err error) {
	p.prompt, err = store.FindPrompt(ctx, p.origin.Chat.ID, p.Prompt.ID)
	if err != nil || p.prompt == nil {
		return err
	}
	match, _ := p.prompt.match(p.Option)
	p.undo.Match, p.undo.Changes = MatchRef{ID: match.Match}, &match.Changes
	if p.prompt.Answerer == 0 {
		p.undo.origin.Sender = nil // it was asked anonymously, so nobody is named
	}
	if match.Match == 0 { // it is cancelled
		return nil
	}
	return p.undo.read(ctx, store, snap)
}

func (p *promptOperation) readLocked(ctx context.Context, store Store, snap Snapshot) (err error) {
	p.prompt, err = store.FindPrompt(ctx, p.origin.Chat.ID, p.Prompt.ID)
	if err != nil || p.prompt == nil || p.prompt.Closed || p.Option == OptionCancel {
		return err
	}
	return p.undo.readLocked(ctx, store, snap)
}

func (p *promptOperation) refuse(snap Snapshot) Notice {
	if !p.prompt.is(p.Prompt) {
		return Refusal{Code: UnknownButton}
	}
	_, known := p.prompt.match(p.Option)
	switch {
	case !known && p.Option != OptionCancel:
		return Refusal{Code: UnknownButton}
	case p.prompt.Answerer != 0 && (snap.People[0].Player == nil || snap.People[0].Player.ID != p.prompt.Answerer):
		return Refusal{Code: NotYourPrompt}
	case p.prompt.Closed:
		return Refusal{Code: PromptOver}
	}
	return nil
}

// permit checks again what was checked when the prompt was asked: people may have lost their rights since. Whoever was asked
// may cancel all the same.
func (p *promptOperation) permit(ctx context.Context, snap Snapshot) Notice {
	if p.prompt.Answerer == 0 {
		admins := adminsOnly{isAdmin: p.IsAdmin, origin: p.origin, log: p.undo.log}
		if refusal := admins.permit(ctx, snap); refusal != nil {
			if refusal == (Refusal{Code: AdminsOnly}) {
				return Refusal{Code: AdminsOnlyPrompt}
			}
			return refusal
		}
	}
	if p.Option == OptionCancel || p.undo.found == nil { // decide says that the match is gone, because its group was detached
		return nil
	}
	return p.undo.permit(ctx, snap)
}

func (p *promptOperation) decide(_ context.Context, snap Snapshot) (changes Changes, err error) {
	closes := &ClosedPrompt{ID: p.prompt.ID, As: PromptAnswered}
	var refusal Notice
	if p.Option != OptionCancel {
		refusal = p.undo.refusal()
	}
	switch {
	case p.Option == OptionCancel:
		_, by := p.undo.by(snap)
		closes.As, changes.Page = PromptCancelled, UndoDropped{Number: p.prompt.Number, By: &by}
	case refusal != nil: // changed in the meantime
		changes.Page = refusal
	default:
		changes, err = p.undo.undo(snap)
		changes.Page, changes.Notice = changes.Notice, nil
	}
	changes.Closes, changes.Edits = closes, p.Message
	return changes, err
}

// IsPrompt reports whether notices of a kind ask a prompt.
func IsPrompt(kind string) bool {
	switch kind {
	case KindUndoPrompt, KindWhichPrompt, KindReportPrompt, KindOpponentPrompt, KindNamePrompt, KindScorePrompt:
		return true
	}
	return false
}

// UndoPrompt asks an admin whether to undo a match of other people, or a player whether to undo their last match that counts.
type UndoPrompt struct {
	Number int        `json:"number"`
	Tag    MatchTag   `json:"tag,omitempty"` // like that of all prompts, empty if an older release asked
	Sides  [2]Side    `json:"sides"`
	Sets   []SetScore `json:"sets,omitempty"`
	Asked  Reporter   `json:"asked"`           // who is asked
	Played time.Time  `json:"played,omitzero"` // zero if it was played less than a day ago
	// Undone is the number of the match that the command meant, which is undone already; 0 if it meant this one.
	Undone int `json:"undone,omitempty"`
}

// Kind implements Notice.
func (UndoPrompt) Kind() string { return KindUndoPrompt }

// Purpose implements Notice.
func (UndoPrompt) Purpose() Purpose { return Outcome }

// Alone makes IsAlone true.
func (UndoPrompt) Alone() bool { return true }

// UndoDropped says that an UndoPrompt was cancelled, or that nobody answered it. The match may be undone all the same, by others.
type UndoDropped struct {
	Number int       `json:"number"`       // 0 if nobody said which match is meant
	By     *Reporter `json:"by,omitempty"` // who cancelled; nil if nobody answered in time
}

// Kind implements Notice.
func (UndoDropped) Kind() string { return KindUndoDropped }

// Purpose implements Notice.
func (UndoDropped) Purpose() Purpose { return Outcome }
