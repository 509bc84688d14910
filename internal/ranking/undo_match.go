package ranking

import (
	"time"

	"elobot/internal/ladder"
)

// UndoMatch undoes a match: the match no longer counts, and its season is replayed from there. The
// players and the reporter may undo the match within Settings.UndoWindow, and admins at any time.
// In a season that is over, only admins may undo matches. If a sender may undo the match only as an
// admin, the bot asks first. If an anonymous admin is asked, any admin may answer by button, and
// any anonymous admin by repeating the command. If the command means several matches that count,
// the bot asks which one to undo.
//
// If the command means the sender's last match, and that match is already undone, the bot asks
// whether to undo the last match that counts. Otherwise, a repeated command would undo match after
// match.
type UndoMatch struct{ Amendment }

func (u UndoMatch) plan(s *Service, c *call) *call {
	return c.amending("undo match", undoOperation{amendOperation: s.amendment(c, commandUndo, u.Amendment)})
}

type undoOperation struct{ amendOperation }

func (u undoOperation) needs() Needs {
	needs := u.amendOperation.needs()
	needs.LastCounted = u.Match == MatchRef{}
	return needs
}

// meant returns the match to undo. It returns nil if there is none, or if the sender has to choose
// one of several. If the command means the sender's last match, and that match is already undone,
// meant returns the last match that counts and the number of the undone one, as long as both are
// within the window.
func (u undoOperation) meant(snap *Snapshot) (m *StoredMatch, undone int) {
	if counts := countable(snap.Matches); len(counts) == 1 {
		return &counts[0], 0
	}
	last, counted := u.found(snap), snap.Counted
	if u.Match == (MatchRef{}) && last != nil && last.Undone && !u.expired(last) && counted != nil && !u.expired(counted) {
		return counted, last.Number
	}
	return last, 0
}

// refuse returns why the match cannot be undone, nil if it can. It also returns nil if the sender
// has to choose a match.
func (u undoOperation) refuse(snap *Snapshot) Notice {
	n := len(snap.Matches)
	switch counts := len(countable(snap.Matches)); {
	case n > 1 && counts == 0:
		return Refusal{Code: UndoneAlready, Number: snap.Matches[n-1].Number}
	case n > 1 && counts > 1:
		return nil
	}
	m, _ := u.meant(snap)
	return u.refusal(m)
}

// permission returns who may undo the match. Any sender may ask for a choice of matches, because
// the answer needs permission for the chosen match.
func (u undoOperation) permission(snap *Snapshot) Permission {
	m, _ := u.meant(snap)
	if m == nil {
		return Permission{}
	}
	return u.involved(snap, m)
}

func (u undoOperation) about(snap *Snapshot) subject {
	m, _ := u.meant(snap)
	return subject{amended: m}
}

func (u undoOperation) decide(snap *Snapshot) (Decision, need, error) {
	m, undone := u.meant(snap)
	switch {
	case m == nil:
		return u.askWhich(snap), nil, nil
	case undone != 0 || u.involved(snap, m).asAdmin() && !u.confirms(m):
		return u.ask(snap, m, undone), nil, nil
	}
	return u.undo(snap, m)
}

// confirms reports whether the command confirms an earlier one: both are from anonymous admins, and
// the prompt that the earlier one made about the match is still open.
func (u undoOperation) confirms(m *StoredMatch) bool {
	return u.origin.Sender == nil && m.Asked[0] != 0
}

// ask asks the sender whether to undo the match. undone is as in UndoPrompt.
func (u undoOperation) ask(snap *Snapshot, m *StoredMatch, undone int) Decision {
	by, asked := u.by(snap)
	if u.origin.Button != "" && m.Asked[by] != 0 {
		return Decision{Notice: Refusal{Code: AskedAlready, Number: m.Number}}
	}
	card := m.unrated(m.Result)
	prompt := UndoPrompt{
		Number: m.Number, Tag: TagOf(m.Key), Sides: card.Sides, Sets: card.Sets, Asked: asked, Undone: undone,
	}
	if u.origin.SentAt.Sub(m.PlayedAt) >= 24*time.Hour {
		prompt.Played = m.PlayedAt.UTC()
	}
	// A repeated command shows the open prompt again.
	if prompt.Prompt = m.Asked[by]; prompt.Prompt != 0 {
		return Decision{Notice: prompt}
	}
	return Decision{
		Asks:           &NewPrompt{Kind: PromptUndo, Match: m.ID, Changes: m.Changes, Answerer: by},
		Notice:         prompt,
		CallbackAnswer: Acknowledged{},
	}
}

func (u undoOperation) undo(snap *Snapshot, m *StoredMatch) (Decision, need, error) {
	if snap.History == nil {
		return Decision{}, historyOf{match: m}, nil
	}
	amended, said, err := u.amended(snap, m, ladder.ByUndo, func(p *ladder.Match) { p.Undone = true })
	if err != nil {
		return Decision{}, nil, err
	}
	amended.Card.Undone, amended.Card.UndoneBy = true, &said.By
	return Decision{Effect: &Undone{amended, u.origin.SentAt}, Notice: said}, nil, nil
}
