package ranking

import (
	"slices"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// PromptWhich asks which of several matches is to be undone: those that a message has recorded, or shows. It offers the matches.
const PromptWhich PromptKind = "which"

// maxWhich is how many matches a PromptWhich offers: the last ones.
const maxWhich = 20

// WhichRequest is what a PromptWhich is about.
type WhichRequest struct {
	Tag     MatchTag      `json:"tag"` // of all matches together
	Matches []MatchChoice `json:"matches"`
}

// MatchChoice is a match that may be meant, and how often it had changed when that was asked.
type MatchChoice struct {
	Match   ladder.MatchID `json:"match"`
	Changes int            `json:"changes"`
}

// match returns the match that an option of a PromptUndo or a PromptWhich is about. ok is false if the prompt has no such option.
func (p *Prompt) match(o PromptOption) (m MatchChoice, ok bool) {
	switch p.Kind {
	case PromptUndo:
		return chosen(o, []MatchChoice{{p.Match, p.Changes}})
	case PromptWhich:
		return chosen(o, p.Which.Matches)
	}
	return m, false
}

// countable returns those of the matches of a message that can be undone, if it has several.
func countable(all []StoredMatch) []StoredMatch {
	if len(all) < 2 {
		return nil
	}
	counts := slices.DeleteFunc(slices.Clone(all), func(m StoredMatch) bool { return m.Undone })
	return counts[max(0, len(counts)-maxWhich):]
}

// askWhich asks which of several matches the sender means.
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

// WhichPrompt asks which of several matches is to be undone.
type WhichPrompt struct {
	Tag     MatchTag    `json:"tag,omitempty"`
	Matches []WhichItem `json:"matches"`
}

var _ = notice.Register[WhichPrompt](notice.Kind{Name: "which_prompt", Purpose: notice.Outcome, Alone: true})

// WhichItem is a match as its card shows it.
type WhichItem struct {
	Number int `json:"number"`
	NamedResult
}
