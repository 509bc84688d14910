package ranking

// MaxNotDone is how many results a NotRecorded names.
const MaxRejected = 30

// NotRecorded tells somebody that they have sent more results in a minute than count, and which were not recorded. As
// long as it waits to be told, further ones are added to it.
type NotRecorded struct {
	Limit int              `json:"limit"`          // how many results a minute count
	Items []RejectedResult `json:"items"`          // the first MaxNotDone of them, in the order in which they were refused
	More  int              `json:"more,omitempty"` // how many there are besides
}

// NotDone is a result that was not recorded, undone or corrected.
type RejectedResult struct {
	Command string `json:"command"` // match, undo or fix
	// Sides, of a match, are those who played, in the order of the command; and so are the scores, which a correction
	// has as well.
	Sides [2][]Name  `json:"sides,omitzero"`
	Score [2]int     `json:"score,omitzero"`
	Sets  []SetScore `json:"sets,omitempty"`
	// Number is that of the match that was to be undone or corrected, 0 if there is none, and Last says that the sender's
	// last one was meant.
	Number    int  `json:"number,omitempty"`
	Last      bool `json:"last,omitempty"`
	Malformed bool `json:"malformed,omitempty"` // it could not be read, and there is nothing but the Command
}

// The names of the commands that are results.
const (
	commandMatch = "match"
	commandUndo  = "undo"
	commandFix   = "fix"
)

// Kind implements Notice.
func (NotRecorded) Kind() string { return KindNotRecorded }

// Purpose implements Notice.
func (NotRecorded) Purpose() Purpose { return Outcome }
