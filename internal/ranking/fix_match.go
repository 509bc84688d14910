package ranking

import (
	"slices"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// FixMatch corrects the result of a match. The match keeps its number and its position in the
// season, and the season is replayed from there. Anyone who may undo a match may also fix it.
//
// The order of the sides in Scores depends on how the command identifies the match:
//   - by the command that recorded it: the order of that command
//   - by its number or its card: the order of the card, which changes if a fix changes the winner
//   - as the sender's last match: the sender's own side first if the sender played, otherwise the
//     order of the command that recorded it
//
// A fix that makes the loser the winner is probably a mistake. The bot asks first if
// Settings.AskUnusual is set and Sure is not. If Scores is empty, the bot asks the sender for the
// score.
type FixMatch struct {
	Amendment
	Scores []ladder.Score
	Sure   bool
}

func (f FixMatch) plan(s *Service, c *call) *call {
	op := f.operation(s, c)
	op.isOpen, op.asks = len(f.Scores) == 0, s.settings.AskUnusual && !f.Sure
	return c.amending("fix match", op)
}

func (f FixMatch) operation(s *Service, c *call) fixOperation {
	return fixOperation{amendOperation: s.amendment(c, commandFix, f.Amendment), result: ladder.ResultOf(f.Scores)}
}

// AcceptFix is a press of the button below an offer to fix a match. The offer can be accepted only
// once, so the outcome replaces the offer. Most refusals also replace the offer, but not if the
// match is gone or the sender lacks permission.
type AcceptFix FixMatch

func (f AcceptFix) plan(s *Service, c *call) *call {
	return c.amending("accept fix", acceptedFix{fixOperation: FixMatch(f).operation(s, c)})
}

// acceptedFix is a press of the button below an offer, or of the Complete button of a PromptReport.
type acceptedFix struct {
	fixOperation
	prompt PromptRef // zero for an offer
}

func (f acceptedFix) needs() Needs {
	needs := f.fixOperation.needs()
	needs.Prompt = f.prompt.ID
	return needs
}

// refuse refuses a press whose prompt is gone or closed, or whose match is gone. Any other refusal
// ends the offer, which only a sender with permission may do. Such a refusal therefore comes from
// decide, after the permission has been checked.
func (f acceptedFix) refuse(snap *Snapshot) Notice {
	switch {
	case f.prompt.ID != 0 && !snap.Prompt.is(f.prompt):
		return Refusal{Code: UnknownButton}
	case f.prompt.ID != 0 && snap.Prompt.Closed:
		return Refusal{Code: PromptOver}
	case f.found(snap) == nil, f.isGone(f.found(snap)):
		return f.fixOperation.refuse(snap)
	}
	return nil
}

func (f acceptedFix) about(snap *Snapshot) subject {
	if f.fixOperation.refuse(snap) != nil {
		return subject{}
	}
	return f.fixOperation.about(snap)
}

func (f acceptedFix) decide(snap *Snapshot) (d Decision, lacks need, err error) {
	if d.Notice = f.fixOperation.refuse(snap); d.Notice == nil {
		if d, lacks, err = f.fixOperation.decide(snap); err != nil || lacks != nil {
			return d, lacks, err
		}
	}
	d.Page, d.Notice = d.Notice, nil
	if f.prompt.ID != 0 {
		d.Closes = &ClosedPrompt{ID: f.prompt.ID, As: PromptAnswered}
		if d.Effect != nil {
			d.Closes.Settles = snap.Prompt.Report.Key
		}
	}
	return d, nil, nil
}

type fixOperation struct {
	amendOperation
	result ladder.Result
	isOpen bool // the command has no scores, so ask for them
	asks   bool // ask first if the fix makes the loser the winner
}

// corrected returns the new result with the sides in the stored order.
func (f fixOperation) corrected(snap *Snapshot) ladder.Result {
	m := f.found(snap)
	swapped := m.SidesSwapped
	switch {
	case m.Key == f.Match.Key: // found by its command
		swapped = false
	case f.Match == MatchRef{}: // the origin has a Sender, as refusal has checked
		sender := snap.People[0].Player
		swapped = sender != nil && slices.Contains(m.Players[1], sender.ID)
	}
	if swapped {
		return f.result.Swapped()
	}
	return f.result
}

// refuse returns why the match cannot be fixed, nil if it can. If the bot still has to ask for the
// score, refuse checks only the match.
func (f fixOperation) refuse(snap *Snapshot) Notice {
	m := f.found(snap)
	if n := f.refusal(m); n != nil || f.isOpen {
		return n
	}
	switch corrected := f.corrected(snap); {
	case corrected.Equal(m.Result):
		return Refusal{Code: SameScore, Number: m.Number}
	case corrected.A == corrected.B && !snap.Ladder.DrawsAllowed:
		return Refusal{Code: NoDraws}
	}
	return nil
}

func (f fixOperation) decide(snap *Snapshot) (Decision, need, error) {
	m, corrected := f.found(snap), f.corrected(snap)
	if f.isOpen {
		return Decision{Notice: FixPrompt(m.winnerOffer(m.Result))}, nil, nil
	}
	if f.asks && (m.Result.A-m.Result.B)*(corrected.A-corrected.B) < 0 {
		return Decision{Notice: m.winnerOffer(corrected)}, nil, nil
	}
	if snap.History == nil {
		return Decision{}, historyOf{match: m}, nil
	}
	corrected.Games = m.Result.Games
	amended, said, err := f.amended(snap, m, ladder.ByFix, func(p *ladder.Match) { p.Result = corrected })
	if err != nil {
		return Decision{}, nil, err
	}
	was := shown(m.Result)
	if m.swappedFor(corrected) {
		was = shown(m.Result.Swapped()) // in the order of the new card
	}
	amended.Card.Was = &was
	return Decision{
		Effect: &Fixed{Amended: amended, Old: m.Result, New: corrected},
		Notice: MatchFixed{Number: m.Number, Sides: said.Sides, Sets: said.Sets, Was: was, By: said.By, Moved: said.Moved},
	}, nil, nil
}

// WinnerOffer offers a fix that makes the loser of a match the winner.
type WinnerOffer struct {
	Number  int        `json:"number"`
	Tag     MatchTag   `json:"tag"`
	Changes int        `json:"changes,omitempty"` // the match's change count so far
	Sides   [2]Side    `json:"sides"`             // after the fix: the previous loser comes first
	Sets    []SetScore `json:"sets,omitempty"`
}

var _ = notice.Register[WinnerOffer](notice.Kind{Name: "winner_offer", Purpose: notice.Answer, Alone: true})

// FixPrompt asks for the right score of a match. Sides and Sets are as on the card, but without
// ratings.
type FixPrompt WinnerOffer

var _ = notice.Register[FixPrompt](notice.Kind{Name: "fix_prompt", Purpose: notice.Answer, Alone: true})
