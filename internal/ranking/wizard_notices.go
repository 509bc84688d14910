package ranking

// The kinds of the notices in this file.
const (
	KindOpponentPrompt = "opponent_prompt"
	KindNamePrompt     = "name_prompt"
	KindScorePrompt    = "score_prompt"
)

// OpponentPrompt asks whom the sender has played against.
type OpponentPrompt struct {
	Prompt    PromptID `json:"prompt,omitempty"` // 0 in the message that begins the prompt, whose id it is
	Tag       MatchTag `json:"tag,omitempty"`
	Opponents []Name   `json:"opponents"` // of this page
	First     int      `json:"first"`     // the position of the first of them, from 0
	Total     int      `json:"total"`     // how many there are on all pages
}

// Kind implements Notice.
func (OpponentPrompt) Kind() string { return KindOpponentPrompt }

// Purpose implements Notice.
func (OpponentPrompt) Purpose() Purpose { return Answer }

// Alone makes IsAlone true.
func (OpponentPrompt) Alone() bool { return true }

// NamePrompt asks who is meant by the name of an opponent.
type NamePrompt struct {
	Prompt    PromptID `json:"prompt"`
	Tag       MatchTag `json:"tag,omitempty"`
	Doubt     Doubt    `json:"doubt"`
	Word      string   `json:"word"`                // the name
	Opponents []Name   `json:"opponents,omitempty"` // who may be meant, the likeliest first
	First     int      `json:"first"`               // the position of the first of them, from 0
	More      bool     `json:"more,omitempty"`      // the wizard offers others, from its first page on
}

// Kind implements Notice.
func (NamePrompt) Kind() string { return KindNamePrompt }

// Purpose implements Notice.
func (NamePrompt) Purpose() Purpose { return Answer }

// Alone makes IsAlone true.
func (NamePrompt) Alone() bool { return true }

// ScorePrompt asks for the score of the sender against an opponent, or of two teams.
type ScorePrompt struct {
	Prompt   PromptID `json:"prompt,omitempty"` // 0 in the message that begins the prompt, whose id it is
	Tag      MatchTag `json:"tag,omitempty"`
	At       int      `json:"at"` // of the opponent, from 0
	Opponent Name     `json:"opponent,omitzero"`
	Scores   [][2]int `json:"scores"` // the likeliest first; the sender's points first
	// Teams are the sides if there is no Opponent. The points of the first one come first.
	Teams [2][]Name `json:"teams,omitzero"`
}

// Kind implements Notice.
func (ScorePrompt) Kind() string { return KindScorePrompt }

// Purpose implements Notice.
func (ScorePrompt) Purpose() Purpose { return Answer }

// Alone makes IsAlone true.
func (ScorePrompt) Alone() bool { return true }
