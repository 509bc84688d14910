package ranking

import (
	"slices"

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
	Match   MatchID `json:"match"`
	Changes int     `json:"changes"`
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

// countable returns those of several matches that can be undone.
func (a amendOperation) countable() []StoredMatch {
	counts := slices.DeleteFunc(slices.Clone(a.several), func(m StoredMatch) bool { return m.Undone })
	return counts[max(0, len(counts)-maxWhich):]
}

// askWhich asks which of several matches the sender means.
func (u undoOperation) askWhich(snap Snapshot) Decision {
	by, _ := u.by(snap)
	var request WhichRequest
	var prompt WhichPrompt
	var keys []string
	for _, m := range u.countable() {
		request.Matches, keys = append(request.Matches, MatchChoice{m.ID, m.Changes}), append(keys, m.Key)
		item := WhichItem{Number: m.Number}
		r, players := m.Result, m.Players
		if m.SidesSwapped {
			r, players[0], players[1] = r.swapped(), players[1], players[0]
		}
		item.Score, item.Sets = [2]int{r.A, r.B}, r.setScores()
		for side := range players {
			for _, id := range players[side] {
				item.Sides[side] = append(item.Sides[side], Name{Player: id})
			}
		}
		prompt.Matches = append(prompt.Matches, item)
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
