package transfer

import (
	_ "embed" // for Template
	"fmt"
	"time"

	"elobot/internal/ladder"
)

// The limits of a match. In addition, each number of a score has at most three digits.
const (
	MaxName = 128 // characters
	MaxSide = 10  // players on a side
	MaxSets = 25
)

// Template is an example of a file of matches, with explanations in a column of notes.
//
//go:embed template.csv
var Template []byte

// DateOrder is the order of the numbers in dates such as 03/04/2024.
type DateOrder string

// The orders of days and months.
const (
	DayFirst   DateOrder = "dmy"
	MonthFirst DateOrder = "mdy"
)

// Options say how to read a file.
type Options struct {
	// Columns maps roles, such as "winner", to the names of the file's columns. All other columns
	// are then ignored. If the map is empty, the columns are found by their usual names.
	Columns map[string]string
	// Dates is the order of days and months. If it is empty, the file must settle the order.
	Dates DateOrder
	// OrderByRow means that matches of the same time were played in the order of their rows.
	OrderByRow bool
	// Zone is the zone of times without an offset. It must not be nil.
	Zone *time.Location
	// Now is the time after which no match can have been played.
	Now time.Time
}

// File is what a file contains. Each row of the file is in one of the lists.
type File struct {
	Rows    []Row   // in the order of play
	Starts  []Start // a file has either Rows or Starts
	LeftOut []Fault // rows that count for nothing, such as matches that were not played
	Refused []Fault // rows that cannot be read; a row may have several faults
	Ask     Question
	Unused  []string // excerpts of the names of columns that mean nothing here
	// Dates is the order of days and months. It comes from the Options, or else from the dates in
	// the file, and is empty if neither settles it.
	Dates DateOrder
	// First and Last are the times of the first and the last match, zero if the file has no dates.
	First, Last time.Time

	// Accounts has the accounts for which names in Rows stand. It is nil unless the file is an
	// export of chats, in which people have typed all other names. Likely has the accounts that
	// have typed names today, and Members the display names of accounts.
	Accounts, Likely map[string]int64
	Members          map[int64]string
	Chat             Chat
	Chats            []Chat // for AskChat, those that may be meant
}

// Question is a question that the file leaves open, empty if there is none. To answer it, read the
// file again with the answer in the Options.
type Question string

// The questions.
const (
	AskDates Question = "dates" // which number is the day; File has no other content then
	AskOrder Question = "order" // whether rows of the same time are in the order of play
	AskChat  Question = "chat"  // which of File.Chats; File has no other content then
	AskZone  Question = "zone"  // the zone of times; File has no other content then
)

// Row is a match.
type Row struct {
	Line   int
	ID     string    // the file's own id of the match, or empty
	When   time.Time // zero if the file has no dates
	IsDay  bool      // only the day is known, and When is its beginning
	Sides  [2][]string
	Result ladder.Result
	// Text is the same for rows with the same cells, whatever the quotes, delimiters and line
	// endings. Together with Count, it identifies a match without an ID.
	Text  string
	Count int // 1 for the first row with this Text, 2 for the second; 0 if one match can have it
	// Ladder is the name of the ladder if the file says which, empty for the default ladder.
	Ladder string
	order  int // the number in the column order, which sorts matches of the same time
}

// Start is the rating with which a player starts.
type Start struct {
	Line   int
	Player string
	Rating int
}

// Fault says why a row was left out or refused. As an error, it refuses the whole file.
type Fault struct {
	Line int // where the row begins, 0 if the whole file is meant
	// Message is set if Line is the id of a message instead.
	Message bool `json:",omitempty"`
	Column  string
	Reason  Reason
	// Value is an excerpt of what is wrong, without control and formatting characters. It must be
	// escaped before display.
	Value   string
	Against string         // an excerpt of what Value does not agree with, or empty
	Other   int            // the line of another row that the fault is about, or 0
	Likely  []ladder.Score // for ScoreIsDate, the scores that may have been turned into the date
}

func (f Fault) Error() string {
	return fmt.Sprintf("line %d, column %q: %s: %q %q %d", f.Line, f.Column, f.Reason, f.Value, f.Against, f.Other)
}

// Reason is the kind of a Fault.
type Reason string

// The reasons to refuse a whole file.
const (
	NoRows       Reason = "no_rows"        // Value is the header, empty if the file is empty
	NotText      Reason = "not_text"       // Value is the media type
	NotUTF8      Reason = "not_utf8"       // also a reason to refuse a row
	TooManyRows  Reason = "too_many_rows"  // more than MaxRows, which is Value
	TooLong      Reason = "too_long"       // a row has more than maxRow bytes
	OpenQuote    Reason = "open_quote"     // a quoted cell does not end in its line
	NoColumns    Reason = "no_columns"     // the header, Value, names neither results nor ratings
	NoSuchColumn Reason = "no_such_column" // Against is the header
	NoSuchRole   Reason = "no_such_role"   // Value is a key of Options.Columns
	TwoColumns   Reason = "two_columns"    // Value and Against are columns of the same role
	TwoRoles     Reason = "two_roles"      // Value and Against are roles of the same column
	DatesDiffer  Reason = "dates_differ"   // the day is first on Line, and the month on line Other
	NotPeople    Reason = "not_people"     // the file has results or ratings instead of people
	UnknownForm  Reason = "unknown_form"   // Value is its beginning, or its name and version
	BadJSON      Reason = "bad_json"       // damaged, cut off, or not as expected at Value
	BadChat      Reason = "bad_chat"       // no export of chats: broken or out of order behind Line
	NotGroup     Reason = "not_group"      // the chat is of the kind Value
	NoSuchChat   Reason = "no_such_chat"   // the file does not have the chat, or none
	LongMessage  Reason = "long_message"   // longer than Value KB
)

// The reasons to refuse a message in an export of a chat. Value is its text.
const (
	Unreadable    Reason = "unreadable"     // the command cannot be read, or the bot would ask what is missing
	InDoubt       Reason = "in_doubt"       // the command has several readings, and the bot would ask
	UnknownLadder Reason = "unknown_ladder" // it is unclear which ladder the command names
	LostTopic     Reason = "lost_topic"     // the file does not show in which topic it was
	NotWritten    Reason = "not_written"    // its sender has forwarded it, or written it through a bot
	DayTooEarly   Reason = "day_too_early"  // only admins may name the day, and the file does not show who is one
	Numbered      Reason = "numbered"       // it amends a match by its number, which the file does not show
	NoTarget      Reason = "no_target"      // it amends no match that counts
	WhichMatch    Reason = "which_match"    // it may amend several matches
	OnlyAdmins    Reason = "only_admins"    // only admins may amend the match, and the file does not show who is one
)

// The reasons to refuse a row.
const (
	CellCount      Reason = "cell_count"       // Value is the row's number of cells, Against the header's
	BadQuotes      Reason = "bad_quotes"       // a quote inside a cell is not doubled
	ControlChar    Reason = "control_char"     // Value is its code point
	NoPlayer       Reason = "no_player"        // a side or a start rating lacks a name
	LongName       Reason = "long_name"        // longer than MaxName
	TooManyPlayers Reason = "too_many_players" // more than MaxSide
	SamePlayer     Reason = "same_player"      // Value is twice in the match
	SamePerson     Reason = "same_person"      // Value is a player who is in the match under another name
	SameName       Reason = "same_name"        // Value is the name of several players
	NoDate         Reason = "no_date"          // though other rows have one
	BadDate        Reason = "bad_date"         // not a date and time, or too long ago for a match
	BadClock       Reason = "bad_clock"        // a clock change skipped or repeated the time
	FutureDate     Reason = "future_date"      // after Options.Now
	BadScore       Reason = "bad_score"        // neither a score nor a known word, or beyond a limit
	HalfScore      Reason = "half_score"       // only one side has points: Value
	ScoreIsDate    Reason = "score_is_date"    // a spreadsheet turned the score into a date
	NoWinner       Reason = "no_winner"        // an early end, as in Value, requires one
	UnclearWinner  Reason = "unclear_winner"   // Value names neither side, or may mean both
	Contradiction  Reason = "contradiction"    // Value and Against have different winners or scores
	BadOrder       Reason = "bad_order"        // not a whole number
	BadRating      Reason = "bad_rating"       // not a whole number, or beyond the limits
	HasPlayed      Reason = "has_played"       // a start rating for Value, who has a match in the season
	TwoVersions    Reason = "two_versions"     // Line and Other differ, with the same id or player
	ResultsDiffer  Reason = "results_differ"   // Line, with Value, and Other do not agree about a match
)

// The reasons to leave out a row.
const (
	EmptyRow    Reason = "empty_row"
	NotPlayed   Reason = "not_played"
	Walkover    Reason = "walkover"
	SameRow     Reason = "same_row"     // line Other has the same id or player, and says the same
	Undone      Reason = "undone"       // by line Other
	OtherBot    Reason = "other_bot"    // a command for the bot Value
	NewSeason   Reason = "new_season"   // a command that asks for a new season
	OtherLadder Reason = "other_ladder" // a result of another ladder, Value
)
