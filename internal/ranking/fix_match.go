package ranking

import (
	"context"
	"slices"

	"elobot/internal/notice"
)

// FixMatch corrects the result of a match. The match keeps its number and its position in the ladder, and the ladder is
// replayed from there. Whoever may undo a match may fix it.
//
// The order of the scores depends on how the match is found:
//   - by the command that recorded it: the order of that command;
//   - by number or by its card: the order of the card, which changes if a fix makes the other side the winner;
//   - as the sender's last match: the sender's own score first if they played, else the order of the command.
//
// A fix that makes the loser the winner is probably a mistake, so it is offered first, unless Sure is true.
type FixMatch struct {
	Amendment
	Scores []Score
	Sure   bool
}

func (f FixMatch) do(ctx context.Context, s *Service, o Origin) error {
	op := f.operation(s, o)
	op.asks = s.settings.AskUnusual && !f.Sure
	return s.amend(ctx, "fix match", o, f.Amendment, op)
}

func (f FixMatch) operation(s *Service, o Origin) fixOperation {
	return fixOperation{amendOperation: s.amendment(o, commandFix, f.Amendment), result: resultOf(f.Scores)}
}

// AcceptFix corrects the result of a match as an offer suggests, whose button was pressed. The message with the offer is edited to show
// what came of it, also if the match cannot be fixed any more: the button has served.
type AcceptFix FixMatch

func (f AcceptFix) do(ctx context.Context, s *Service, o Origin) error {
	return s.amend(ctx, "accept fix", o, f.Amendment, acceptedFix{fixOperation: FixMatch(f).operation(s, o)})
}

// acceptedFix is a press of the button of an offer, or of a prompt whose report completes the match.
type acceptedFix struct {
	fixOperation
	prompt PromptRef // the prompt; zero for an offer

	// What follows from the snapshot.
	late Notice // why the match cannot be fixed any more, nil if it can
}

func (f acceptedFix) needs() Needs {
	needs := f.fixOperation.needs()
	needs.Prompt = f.prompt.ID
	return needs
}

func (f acceptedFix) in(snap Snapshot) (operation, Snapshot) {
	f.amendOperation = f.with(snap)
	f.late = f.fixOperation.refuse(snap)
	return f, snap
}

// refuse refuses the button. If the match is there, the offer ends, which others may not make it do.
func (f acceptedFix) refuse(snap Snapshot) Notice {
	switch {
	case f.prompt.ID != 0 && !snap.Prompt.is(f.prompt):
		return Refusal{Code: UnknownButton}
	case f.prompt.ID != 0 && snap.Prompt.Closed:
		return Refusal{Code: PromptOver}
	case f.found == nil:
		return f.late
	}
	return nil
}

func (f acceptedFix) replays(Snapshot) *StoredMatch {
	if f.late != nil {
		return nil
	}
	return f.found
}

func (f acceptedFix) decide(snap Snapshot) (d Decision, err error) {
	if d.Notice = f.late; d.Notice == nil {
		d, err = f.fixOperation.decide(snap)
	}
	d.Page, d.Notice = d.Notice, nil
	if f.prompt.ID != 0 {
		d.Closes = &ClosedPrompt{ID: f.prompt.ID, As: PromptAnswered}
		if d.Effect != nil {
			d.Closes.Settles = snap.Prompt.Report.Key
		}
	}
	return d, err
}

type fixOperation struct {
	amendOperation
	result Result
	asks   bool // before it makes the loser the winner
}

func (f fixOperation) in(snap Snapshot) (operation, Snapshot) {
	f.amendOperation = f.with(snap)
	return f, snap
}

// corrected returns the new result in the stored order of the sides.
func (f fixOperation) corrected(snap Snapshot) Result {
	swapped := f.found.SidesSwapped
	switch {
	case f.found.Key == f.Match.Key: // found by its command
		swapped = false
	case f.Match == MatchRef{}: // the sender is never nil here: refusal has refused that
		sender := snap.People[0].Player
		swapped = sender != nil && slices.Contains(f.found.Players[1], sender.ID)
	}
	if swapped {
		return f.result.swapped()
	}
	return f.result
}

// refuse returns why the match cannot be fixed, nil if it can.
func (f fixOperation) refuse(snap Snapshot) Notice {
	if n := f.refusal(); n != nil {
		return n
	}
	switch corrected := f.corrected(snap); {
	case corrected.equal(f.found.Result):
		return Refusal{Code: SameScore, Number: f.found.Number}
	case corrected.A == corrected.B && !snap.Ladder.DrawsAllowed:
		return Refusal{Code: NoDraws}
	}
	return nil
}

func (f fixOperation) permission(snap Snapshot) Permission { return f.involved(snap) }

func (f fixOperation) replays(Snapshot) *StoredMatch { return f.found }

func (f fixOperation) decide(snap Snapshot) (Decision, error) {
	f.history = snap.History
	m, corrected := f.found, f.corrected(snap)
	if f.asks && (m.Result.A-m.Result.B)*(corrected.A-corrected.B) < 0 {
		return f.offer(corrected)
	}
	rewrite, played, err := f.replay(ByFix, func(m *PlayedMatch) { m.Result = corrected })
	if err != nil {
		return Decision{}, err
	}
	old := m.Result
	if m.swappedFor(corrected) {
		old = old.swapped() // the order of the new card
	}
	was := OldScore{Score: [2]int{old.A, old.B}, Sets: old.setScores()}
	by, reporter := f.by(snap)
	card := cardOf(m, corrected, played.Parts, rewrite.entries(played))
	notice := MatchFixed{
		Number: m.Number, Sides: card.Sides, Sets: card.Sets, Was: was, By: reporter,
		Moved: f.history.moved(rewrite, m.players()),
	}
	card.Was = &was
	return Decision{Effect: &Fixed{Amended: f.amended(by, rewrite, card), Old: m.Result, New: corrected, Season: m.Season}, Notice: notice}, nil
}

// offer offers a fix that makes the loser the winner.
func (f fixOperation) offer(corrected Result) (Decision, error) {
	played, err := f.played()
	if err != nil {
		return Decision{}, err
	}
	card := cardOf(f.found, corrected, played.Parts, played.entries())
	return Decision{Notice: WinnerOffer{
		Number: f.found.Number, Tag: TagOf(f.found.Key), Changes: f.found.Changes, Sides: card.Sides, Sets: card.Sets,
	}}, nil
}

// WinnerOffer offers a fix that makes the loser of a match its winner.
type WinnerOffer struct {
	Number  int        `json:"number"`
	Tag     MatchTag   `json:"tag"`
	Changes int        `json:"changes,omitempty"` // of the match so far
	Sides   [2]Side    `json:"sides"`             // after the fix: the loser so far comes first
	Sets    []SetScore `json:"sets,omitempty"`
}

var _ = notice.Register[WinnerOffer](notice.Kind{Name: "winner_offer", Purpose: notice.Answer, Alone: true})
