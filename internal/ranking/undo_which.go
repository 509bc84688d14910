package ranking

import (
	"slices"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// PromptWhich asks which match to undo, if the command is about a message with several matches. It
// offers the matches that are not undone.
const PromptWhich PromptKind = "which"

// maxWhich is the maximum number of matches that a PromptWhich offers. If there are more, it offers
// the last ones.
const maxWhich = 20

// WhichRequest is what a PromptWhich asks about: the matches to choose from.
type WhichRequest struct {
	Tag     MatchTag      `json:"tag"` // the common tag of the Matches
	Matches []MatchChoice `json:"matches"`
}

// MatchChoice is a match to choose, with its change count when the prompt was made.
type MatchChoice struct {
	Match   ladder.MatchID `json:"match"`
	Changes int            `json:"changes"`
}

// match returns the match that an option of a PromptUndo or a PromptWhich chooses. ok is false if
// the prompt has no such option.
func (p *Prompt) match(o PromptOption) (m MatchChoice, ok bool) {
	switch p.Kind {
	case PromptUndo:
		return chosen(o, []MatchChoice{{p.Match, p.Changes}})
	case PromptWhich:
		return chosen(o, p.Which.Matches)
	}
	return m, false
}

// countable returns the matches of a message that are not undone, at most the last maxWhich. It
// returns none if the message has fewer than two matches.
func countable(all []StoredMatch) []StoredMatch {
	if len(all) < 2 {
		return nil
	}
	counts := slices.DeleteFunc(slices.Clone(all), func(m StoredMatch) bool { return m.Undone })
	return counts[max(0, len(counts)-maxWhich):]
}

func (u undoOperation) askWhich(snap *Snapshot) Decision {
	by, _ := u.by(snap)
	var request WhichRequest
	var prompt WhichPrompt
	var keys []string
	for _, m := range countable(snap.Matches) {
		request.Matches, keys = append(request.Matches, MatchChoice{m.ID, m.Changes}), append(keys, m.Key)
		if m.SidesSwapped {
			m.Result, m.Players[0], m.Players[1] = m.Result.Swapped(), m.Players[1], m.Players[0]
		}
		prompt.Matches = append(prompt.Matches, WhichItem{m.Number, m.named()})
	}
	request.Tag = TagOf(keys...)
	prompt.Tag = request.Tag
	return Decision{Asks: &NewPrompt{Kind: PromptWhich, Answerer: by, Which: &request}, Notice: prompt}
}

// WhichPrompt asks which of several matches to undo.
type WhichPrompt struct {
	Tag     MatchTag    `json:"tag,omitempty"`
	Matches []WhichItem `json:"matches"`
}

var _ = notice.Register[WhichPrompt](notice.Kind{Name: "which_prompt", Purpose: notice.Outcome, Alone: true})

// WhichItem is a match, with its sides in the order of its card.
type WhichItem struct {
	Number int `json:"number"`
	NamedResult
}
