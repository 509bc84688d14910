package ranking

import (
	"time"

	"elobot/internal/notice"
	"elobot/internal/transfer"
)

// ImportPrompt says what a file contains, and asks what its import leaves open.
type ImportPrompt struct {
	Prompt  PromptID           `json:"prompt,omitempty"` // as in UndoPrompt
	Tag     MatchTag           `json:"tag"`
	File    string             `json:"file,omitempty"` // its name
	Results int                `json:"results,omitempty"`
	Starts  int                `json:"starts,omitempty"` // number of start ratings, if the file has no results
	First   time.Time          `json:"first,omitzero"`   // zero if the file has no dates
	Last    time.Time          `json:"last,omitzero"`
	Zone    string             `json:"zone"`
	Dates   transfer.DateOrder `json:"dates,omitempty"` // empty if nothing settles it
	Unused  []string           `json:"unused,omitempty"`
	Known   int                `json:"known,omitempty"`    // number of matches that are recorded already
	LeftOut int                `json:"left_out,omitempty"` // number of rows that count for nothing
	// Messages is set if the rows are messages of the export of a chat.
	Messages bool `json:"messages,omitempty"`
	// Refused is the number of faults of rows, and Faults has the first of them.
	Refused int              `json:"refused,omitempty"`
	Faults  []transfer.Fault `json:"faults,omitempty"`
	// Unknown is the number of names that are not settled, and Names has the first of them.
	Unknown int           `json:"unknown,omitempty"`
	Names   []UnknownName `json:"names,omitempty"`
	// People are the first people who cannot take part, and MorePeople counts the others.
	People     []PersonFault     `json:"people,omitempty"`
	MorePeople int               `json:"more_people,omitempty"`
	Closed     []int             `json:"closed,omitempty"` // numbers of the seasons that are over and would change
	Later      int               `json:"later,omitempty"`  // number of later matches, if there are too many to ask nothing
	Ask        transfer.Question `json:"ask,omitempty"`
	Choices    []ImportChoice    `json:"choices,omitempty"`
	Export     *FoundExport      `json:"export,omitempty"` // nil unless the file is an export
}

// FoundExport is the export of a group.
type FoundExport struct {
	Title   string    `json:"title"`
	At      time.Time `json:"at"`
	Players int       `json:"players"`
}

var _ = notice.Register[ImportPrompt](notice.Kind{Name: "import_prompt", Purpose: notice.Outcome, Alone: true})

// UnknownName is a name in a file.
type UnknownName struct {
	Name    string `json:"name"`
	Similar string `json:"similar,omitempty"` // an excerpt of the players with similar names
}

// ImportDropped replaces an ImportPrompt that was canceled, has expired, or was answered by a
// reply.
type ImportDropped struct {
	Answered bool `json:"answered,omitempty"` // another message answers the reply
}

var _ = notice.Register[ImportDropped](notice.Kind{Name: "import_dropped", Purpose: notice.Outcome})

// ImportRefused says why a file was not read.
type ImportRefused struct {
	File     string         `json:"file,omitempty"`      // its name
	OfPeople bool           `json:"of_people,omitempty"` // the file was to say who the people are
	Fault    transfer.Fault `json:"fault"`
}

var _ = notice.Register[ImportRefused](
	notice.Kind{Name: "import_refused", Purpose: notice.Answer, Alone: true, Refuses: true})

// Imported says what an import has recorded.
type Imported struct {
	Number  int       `json:"number,omitempty"` // of the import; 0 if nothing was new
	Tag     MatchTag  `json:"tag,omitempty"`    // of the import
	Matches int       `json:"matches,omitempty"`
	Starts  int       `json:"starts,omitempty"` // number of start ratings
	First   time.Time `json:"first,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Players int       `json:"players,omitempty"`  // number of new players
	LeftOut int       `json:"left_out,omitempty"` // number of rows that do not count, for whatever reason
	Known   int       `json:"known,omitempty"`    // number of rows that were recorded already
	// Equal and Same are as in ImportReport, as RowRanges.
	Equal string `json:"equal,omitempty"`
	Same  string `json:"same,omitempty"`
	Later int    `json:"later,omitempty"` // number of matches that were calculated again
	// Restored is set if the import is the restore of an export, with this number of Players. The
	// Number is 0 if it has no matches.
	Restored bool `json:"restored,omitempty"`
	Kept     bool `json:"kept,omitempty"` // shown again, because an admin did not take the import back
}

var _ = notice.Register[Imported](notice.Kind{Name: "imported", Purpose: notice.Outcome, Alone: true})
