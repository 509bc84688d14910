package ranking

import "time"

// Notice is what there is to tell about a command's outcome: facts, not words. It is stored as JSON until it is sent,
// so the fields of a notice may become more, but none may change its name or its meaning.
type Notice interface {
	// Kind names the type of the notice in the store.
	Kind() string
	// Purpose is what it is told for.
	Purpose() Purpose
}

// Purpose is what something is told for.
type Purpose string

// The purposes.
const (
	Outcome      Purpose = "outcome"      // what came of a command, or why nothing did
	Answer       Purpose = "answer"       // to a question, which can be asked again
	Notification Purpose = "notification" // for people who have not asked
)

// Lifetime is how long after the command there is a point in telling something: as long as Telegram keeps the command,
// but for the answer to a question, which nobody waits for so long.
func (p Purpose) Lifetime() time.Duration {
	if p == Answer {
		return 10 * time.Minute
	}
	return 24 * time.Hour
}

// ToastLifetime is the lifetime of whatever is told to somebody who has pressed a button.
const CallbackLifetime = 15 * time.Second

// The kinds of notices of this package.
const (
	KindMatchRecorded = "match_recorded"
	KindJoined        = "joined"
	KindMatchUndone   = "match_undone"
	KindMatchFixed    = "match_fixed"
	KindPlayersMerged = "players_merged"
	KindGroupsJoined  = "groups_joined"
	KindNotRecorded   = "not_recorded"
	KindFixOffer      = "fix_offer"
	KindRefusal       = "refusal"

	KindResultsExpired = "results_expired"
)

// Name is what a player is called in a notice.
type Name struct {
	Name string `json:"name"`
	// Mark tells the player from others in the ladder who are called the same: the username, or else a number.
	Mark string `json:"mark,omitempty"`
}

// MatchRecorded tells of a match. It is what the match's card says, at first and whenever the card changes. The side
// that scored more when the match was recorded comes first, also after a correction that makes the other one the winner.
type MatchRecorded struct {
	Number     int        `json:"number"` // filled in by the store, which draws it
	Sides      [2]Side    `json:"sides"`
	Sets       []SetScore `json:"sets,omitempty"`        // the points of each set, when the score counts sets
	NewPlayers []Name     `json:"new_players,omitempty"` // who was not in the ladder before
	ReportedBy *Reporter  `json:"reported_by,omitempty"` // set when no player reported it
	Was        *OldScore  `json:"was,omitempty"`         // what the score was before it was corrected
	Undone     bool       `json:"undone,omitempty"`      // it does not count any more
	UndoneBy   *Reporter  `json:"undone_by,omitempty"`   // not set when both sides turned out to be the same person
}

// ResultsExpired tells how many results were recorded of which the chat could not be told in time.
type ResultsExpired struct {
	Count int `json:"count"`
}

// Kind implements Notice.
func (ResultsExpired) Kind() string { return KindResultsExpired }

// Purpose implements Notice.
func (ResultsExpired) Purpose() Purpose { return Outcome }

// SetScore is the points of one set, in the order of the sides.
type SetScore [2]int

// OldScore is a score that has been corrected, in the order of the sides as they stand now.
type OldScore struct {
	Score [2]int     `json:"score"`
	Sets  []SetScore `json:"sets,omitempty"`
}

// Side is one side of a match.
type Side struct {
	Score   int            `json:"score"`
	Players []RatingChange `json:"players"`
}

// RatingChange is how a match moved a player's rating.
type RatingChange struct {
	Name   Name `json:"name"`
	Before int  `json:"before"`
	After  int  `json:"after"`
}

// Reporter is somebody who reported a match of others. Without a name it was an anonymous admin.
type Reporter struct {
	Name *Name `json:"name,omitempty"`
}

// Kind implements Notice.
func (MatchRecorded) Kind() string { return KindMatchRecorded }

// Purpose implements Notice.
func (MatchRecorded) Purpose() Purpose { return Outcome }

// MatchUndone tells that a match does not count any more.
type MatchUndone struct {
	Number int        `json:"number"`
	Sides  [2]Side    `json:"sides"` // as the match had been recorded
	Sets   []SetScore `json:"sets,omitempty"`
	By     Reporter   `json:"by"`
	Moved
}

// Kind implements Notice.
func (MatchUndone) Kind() string { return KindMatchUndone }

// Purpose implements Notice.
func (MatchUndone) Purpose() Purpose { return Outcome }

// MatchFixed tells that the score of a match has been corrected.
type MatchFixed struct {
	Number int        `json:"number"`
	Sides  [2]Side    `json:"sides"` // as the match counts now
	Sets   []SetScore `json:"sets,omitempty"`
	Was    OldScore   `json:"was"`
	By     Reporter   `json:"by"`
	Moved
}

// Kind implements Notice.
func (MatchFixed) Kind() string { return KindMatchFixed }

// Purpose implements Notice.
func (MatchFixed) Purpose() Purpose { return Outcome }

// PlayersMerged tells that a player who was known by a username alone turned out to be another player of the ladder,
// so that the results of both are one person's.
type PlayersMerged struct {
	Username string `json:"username"`         // without @
	Name     Name   `json:"name"`             // who it is
	Undone   []int  `json:"undone,omitempty"` // the numbers of matches that this person would have played against themself
	Moved
}

// Kind implements Notice.
func (PlayersMerged) Kind() string { return KindPlayersMerged }

// Purpose implements Notice.
func (PlayersMerged) Purpose() Purpose { return Notification }

// GroupsJoined tells that a group which had begun anew, because nobody knew yet that it was an older one with another id,
// is one with that again: its matches, 1 to Count, come after those of the older one.
type GroupsJoined struct {
	First int `json:"first"` // the number that match 1 has now
	Count int `json:"count"`
}

// Kind implements Notice.
func (GroupsJoined) Kind() string { return KindGroupsJoined }

// Purpose implements Notice.
func (GroupsJoined) Purpose() Purpose { return Notification }

// Moved tells how ratings have moved because matches were replayed: from what everybody had before to what they have
// now, those whom the notice is about first.
type Moved struct {
	Ratings []RatingChange `json:"ratings"`
	Others  int            `json:"others,omitempty"` // how many more ratings have moved
}

// Joined tells that a player is in the ladder.
type Joined struct {
	Name    Name `json:"name"`
	Elo     int  `json:"elo"`
	Already bool `json:"already,omitempty"` // they were in it before
	Played  int  `json:"played,omitempty"`
}

// Kind implements Notice.
func (Joined) Kind() string { return KindJoined }

// Purpose implements Notice.
func (Joined) Purpose() Purpose { return Outcome }

// RefusalCode is why a command was refused.
type RefusalCode string

// The reasons of this package.
const (
	SamePlayer    RefusalCode = "same_player"      // the same person on both sides
	NoDraws       RefusalCode = "no_draws"         // the ladder has no draws
	NobodyToJoin  RefusalCode = "nobody_to_join"   // an anonymous admin is no player
	NobodyToShow  RefusalCode = "nobody_to_show"   // an anonymous admin has no standing
	NotAPerson    RefusalCode = "not_a_person"     // Name is perhaps a bot, and no person of that name has been seen
	TooManyAtOnce RefusalCode = "too_many_at_once" // others kept changing the same standings; nothing was recorded

	UnevenTeams RefusalCode = "uneven_teams" // the ladder wants sides of the same size

	NoSuchMatch    RefusalCode = "no_such_match"    // the group has no match with this Number
	NotAboutAMatch RefusalCode = "not_about_match"  // the message that was replied to tells of no match
	NothingOfYours RefusalCode = "nothing_of_yours" // the sender has no match of the last Minutes in the group
	WhichMatch     RefusalCode = "which_match"      // an anonymous admin has no match of their own
	NotYours       RefusalCode = "not_yours"        // the sender neither played nor reported the match and is no admin
	TooLate        RefusalCode = "too_late"         // the match is older than Minutes, and the sender is no admin
	UndoneAlready  RefusalCode = "undone_already"   // the match does not count any more
	SameScore      RefusalCode = "same_score"       // the match has the score already that it was to get
	AdminsUnknown  RefusalCode = "admins_unknown"   // it could not be found out whether the sender is an admin
	Inconsistent   RefusalCode = "inconsistent"     // what is stored contradicts itself, so nothing can be reckoned anew
	UnknownButton  RefusalCode = "unknown_button"   // the button means nothing any more

	TooManyQuestions RefusalCode = "too_many_questions" // of the sender in a minute; results still count
	TooManyPresses   RefusalCode = "too_many_presses"   // of the person in a minute; the press was not looked at
	TooManyResults   RefusalCode = "too_many_results"   // of the sender in a minute; what the button does was not done
)

// Refusal tells why nothing was changed.
type Refusal struct {
	Code   RefusalCode `json:"code"`
	Name   string      `json:"name,omitempty"`   // whom it is about, where the code says so
	Number int         `json:"number,omitempty"` // the match that it is about
	// Minutes is how long those who played or reported a match may take it back.
	Minutes int `json:"minutes,omitempty"`
}

// Kind implements Notice.
func (Refusal) Kind() string { return KindRefusal }

// Purpose implements Notice.
func (n Refusal) Purpose() Purpose {
	if n.Code == TooManyQuestions { // which is over soon
		return Answer
	}
	return Outcome
}
