package ranking

// MaxRejected is the maximum number of results that a NotRecorded lists.
const MaxRejected = 30

// NotRecorded lists results that were rejected because their sender exceeded the limit per minute. Until it is sent,
// further rejected results of the sender are added to it.
type NotRecorded struct {
	Limit int              `json:"limit"`          // maximum number of results per minute
	Items []RejectedResult `json:"items"`          // the first MaxRejected results, in the order of their rejection
	More  int              `json:"more,omitempty"` // number of results that are not listed
}

// RejectedResult is a match that was not recorded, or an amendment that was not made.
type RejectedResult struct {
	Command string `json:"command"` // match, undo, restore or fix
	// Sides are the players of a match, in the order of the command. The scores are in that order too; a fix also has them.
	Sides [2][]Name  `json:"sides,omitzero"`
	Score [2]int     `json:"score,omitzero"`
	Sets  []SetScore `json:"sets,omitempty"`
	// Number is the match to be amended, 0 if unknown. Last is true if the command means the sender's last match, or the last
	// one that the sender undid.
	Number    int  `json:"number,omitempty"`
	Last      bool `json:"last,omitempty"`
	Malformed bool `json:"malformed,omitempty"` // the command could not be parsed; all fields but Command are empty
}

// The names of the commands that count as results.
const (
	commandMatch   = "match"
	commandUndo    = "undo"
	commandRestore = "restore"
	commandFix     = "fix"
)

// Kind implements Notice.
func (NotRecorded) Kind() string { return KindNotRecorded }

// Purpose implements Notice.
func (NotRecorded) Purpose() Purpose { return Outcome }

// Alone makes IsAlone true.
func (NotRecorded) Alone() bool { return true }

// malformedResult is the answer to a result that could not be parsed.
type malformedResult struct {
	answer
	name string
}

// rejectedResult describes a match that is not recorded. Players appear under their known names, or as mentioned.
func (r recordOperation) rejectedResult(snap Snapshot) RejectedResult {
	rejected := RejectedResult{Command: commandMatch}
	for i, person := range r.players {
		name := Name{Name: r.people[person].Name}
		switch p := snap.People[person].Player; {
		case p != nil:
			name = p.name()
		case name.Name == "":
			name.Name = "@" + r.people[person].Username
		}
		rejected.Sides[r.sides[i]-1] = append(rejected.Sides[r.sides[i]-1], name)
	}
	rejected.Score, rejected.Sets = [2]int{r.result.A, r.result.B}, r.result.setScores()
	return rejected
}

// rejected describes an amendment that is not made.
func (a *amendOperation) rejected(name string) RejectedResult {
	rejected := RejectedResult{Command: name, Number: a.Match.Number, Last: a.Match == MatchRef{} || a.Match.LastUndone}
	if rejected.Number == 0 && !rejected.Last && a.found != nil {
		rejected.Number = a.found.Number
	}
	return rejected
}

func (u undoOperation) rejectedResult(Snapshot) RejectedResult { return u.rejected(commandUndo) }

func (r restoreOperation) rejectedResult(Snapshot) RejectedResult { return r.rejected(commandRestore) }

func (f fixOperation) rejectedResult(Snapshot) RejectedResult {
	rejected := f.rejected(commandFix)
	rejected.Score, rejected.Sets = [2]int{f.result.A, f.result.B}, f.result.setScores()
	return rejected
}

func (m malformedResult) rejectedResult(Snapshot) RejectedResult {
	return RejectedResult{Command: m.name, Malformed: true}
}
