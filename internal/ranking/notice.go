package ranking

import (
	"reflect"
	"time"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// Notice is what the package notifies a chat of.
type Notice = notice.Notice

// CallbackLifetime is the lifetime of the answer to a pressed button.
const CallbackLifetime = 15 * time.Second

// Name is a person's name in a notice. A notice stores only the id of a player, so that the name is that of the moment when it is sent. The
// other fields are then filled in.
type Name struct {
	Player ladder.PlayerID `json:"player,omitempty"` // 0 for a non-player
	Name   string          `json:"name,omitempty"`
	// Mark distinguishes players with the same name in a ladder: the username, or else a number.
	Mark string `json:"mark,omitempty"`
}

// Nameless is the name of somebody whose account shows none. Chats see a word of their language
// instead.
const Nameless = "…"

// FillNames sets the names of all players in what a pointer refers to. called returns that of a player who is known.
func FillNames(pointer any, called func(ladder.PlayerID) (name Name, ok bool)) {
	EachName(pointer, func(name *Name) {
		if known, ok := called(name.Player); ok {
			name.Name, name.Mark = known.Name, known.Mark
		}
	})
}

// EachName calls do for each name in what a pointer refers to.
func EachName(pointer any, do func(*Name)) { eachName(reflect.ValueOf(pointer).Elem(), do) }

func eachName(in reflect.Value, do func(*Name)) {
	switch in.Kind() {
	case reflect.Pointer:
		if !in.IsNil() {
			eachName(in.Elem(), do)
		}
	case reflect.Slice, reflect.Array:
		for i := range in.Len() {
			eachName(in.Index(i), do)
		}
	case reflect.Struct:
		if name, ok := in.Addr().Interface().(*Name); ok {
			do(name)
			return
		}
		if _, ok := in.Addr().Interface().(*time.Time); ok {
			return
		}
		for i := range in.NumField() {
			eachName(in.Field(i), do)
		}
	}
}

// MatchRecorded is the content of a match's card, both when the card is sent and when it is edited. The winner comes first.
type MatchRecorded struct {
	Number     int        `json:"number"` // set by the store, which assigns it
	Tag        MatchTag   `json:"tag,omitempty"`
	Sides      [2]Side    `json:"sides"`
	Sets       []SetScore `json:"sets,omitempty"`        // the points of each set, if the score counts sets
	Games      string     `json:"games,omitempty"`       // those of a match that ended early, as typed
	NewPlayers []Name     `json:"new_players,omitempty"` // who was not in the ladder before
	ReportedBy *Reporter  `json:"reported_by,omitempty"` // nil if one of the players reported it
	Past       bool       `json:"past,omitempty"`        // it was played on another day, but counts from when it was reported
	Season     int        `json:"season,omitempty"`      // the number of its season, 0 if that went on when the card was made
	Was        *OldScore  `json:"was,omitempty"`         // the score before the last fix
	Undone     bool       `json:"undone,omitempty"`      // the match no longer counts
	UndoneBy   *Reporter  `json:"undone_by,omitempty"`   // nil if a merge of two players undid it
	Changes    int        `json:"changes,omitempty"`     // how often the match was undone, restored or fixed
	// Celebration is what is special about the match; nil for nothing, and in a chat that does not celebrate.
	Celebration *Celebration `json:"celebration,omitempty"`
}

var _ = notice.Register[MatchRecorded](notice.Kind{Name: "match_recorded", Purpose: notice.Outcome})

// ResultsSummary tells of results whose cards could not be sent to the chat in time, or were too many. The store makes it.
type ResultsSummary struct {
	Count   int             `json:"count"`
	Results []MatchRecorded `json:"results"` // the first of them
	Answers int             `json:"answers"` // answers to questions that were not sent either
}

var _ = notice.Register[ResultsSummary](notice.Kind{Name: "results_summary", Purpose: notice.Outcome, Alone: true})

// SetScore holds the points of one set, in the order of the sides.
type SetScore [2]int

// OldScore is the score before a fix, in the order of the sides in the notice.
type OldScore struct {
	Score [2]int     `json:"score"`
	Sets  []SetScore `json:"sets,omitempty"`
}

// Side is one side of a match.
type Side struct {
	Score   int            `json:"score"`
	Players []RatingChange `json:"players"`
}

// RatingChange is the change of a player's rating.
type RatingChange struct {
	Name   Name `json:"name"`
	Before int  `json:"before"`
	After  int  `json:"after"`
}

// Reporter is the person who sent a command. Name is nil for an anonymous admin.
type Reporter struct {
	Name *Name `json:"name,omitempty"`
}

// MatchUndone says that a match no longer counts.
type MatchUndone struct {
	Number int        `json:"number"`
	Sides  [2]Side    `json:"sides"` // with the ratings from before the undo
	Sets   []SetScore `json:"sets,omitempty"`
	By     Reporter   `json:"by"`
	Moved
}

var _ = notice.Register[MatchUndone](notice.Kind{Name: "match_undone", Purpose: notice.Outcome})

// MatchRestored says that an undone match counts again. The ratings are the new ones.
type MatchRestored MatchUndone

var _ = notice.Register[MatchRestored](notice.Kind{Name: "match_restored", Purpose: notice.Outcome})

// MatchFixed says that the score of a match was corrected, or its players.
type MatchFixed struct {
	Number int        `json:"number"`
	Sides  [2]Side    `json:"sides"` // with the new score and ratings
	Sets   []SetScore `json:"sets,omitempty"`
	Was    OldScore   `json:"was"`
	// Before is the match before its players were corrected, in the order of its report; nil if they are the same.
	Before *NamedResult `json:"before,omitempty"`
	By     Reporter     `json:"by"`
	Moved
}

var _ = notice.Register[MatchFixed](notice.Kind{Name: "match_fixed", Purpose: notice.Outcome})

// PlayersMerged says that an unclaimed player turned out to be another player of the ladder. The results of both now belong to that player.
type PlayersMerged struct {
	Username string `json:"username"`         // without @
	Name     Name   `json:"name"`             // the known player
	Undone   []int  `json:"undone,omitempty"` // the numbers of matches that were undone because both had played in them
	Moved
}

var _ = notice.Register[PlayersMerged](notice.Kind{Name: "players_merged", Purpose: notice.Notification})

// GroupDetached says that a chat got a new id and had a group under each, and which of them goes on.
type GroupDetached struct {
	Kept     int `json:"kept"`     // the number of matches of the one that goes on
	Detached int `json:"detached"` // and of the other one
}

var _ = notice.Register[GroupDetached](notice.Kind{Name: "group_detached", Purpose: notice.Notification})

// Moved lists how a replay changed the current ratings. The players that the notice is about come first, changed or not.
type Moved struct {
	Ratings []RatingChange `json:"ratings"`
	Others  int            `json:"others,omitempty"` // number of changed ratings that are not listed
	Season  int            `json:"season,omitempty"` // the number of the season that they are of, 0 if it goes on
}

// Joined says that a player is in the ladder.
type Joined struct {
	Name    Name `json:"name"`
	Elo     int  `json:"elo"`
	Already bool `json:"already,omitempty"` // the player was in the ladder before
	Back    bool `json:"back,omitempty"`    // the player had left the group
	Played  int  `json:"played,omitempty"`
}

var _ = notice.Register[Joined](notice.Kind{Name: "joined", Purpose: notice.Outcome})

// RefusalCode is why a command was refused.
type RefusalCode string

// The reasons of this package.
const (
	SamePlayer    RefusalCode = "same_player"      // the same person on both sides
	NoDraws       RefusalCode = "no_draws"         // the ladder has no draws
	NobodyToJoin  RefusalCode = "nobody_to_join"   // an anonymous admin is no player
	NobodyToShow  RefusalCode = "nobody_to_show"   // an anonymous admin has no standing
	NoSuchPlayer  RefusalCode = "no_such_player"   // the group has no player called Name
	NotPlayed     RefusalCode = "not_played"       // the sender has played no match in the group
	NotAPerson    RefusalCode = "not_a_person"     // Name may be a bot, and no person with that username has been seen
	TooManyAtOnce RefusalCode = "too_many_at_once" // conflicts, locks or timeouts persisted; nothing was changed

	TooManyMatches RefusalCode = "too_many_matches" // more than Matches in one message

	UnevenTeams RefusalCode = "uneven_teams" // the ladder requires sides of the same size
	OddPlayers  RefusalCode = "odd_players"  // which cannot be divided into sides of the same size

	NoSuchMatch    RefusalCode = "no_such_match"    // the group has no match with this Number
	NotAboutAMatch RefusalCode = "not_about_match"  // the replied-to message is not about a match
	NothingOfYours RefusalCode = "nothing_of_yours" // the sender has no match in the last Minutes in the group
	WhichMatch     RefusalCode = "which_match"      // an anonymous admin has no match of their own
	NotYours       RefusalCode = "not_yours"        // the sender neither played nor reported the match and is no admin
	TooLate        RefusalCode = "too_late"         // the match is older than Minutes, and the sender is no admin
	UndoneAlready  RefusalCode = "undone_already"   // the match is already undone
	SameScore      RefusalCode = "same_score"       // the match already has the new score
	TooFarBack     RefusalCode = "too_far_back"     // Matches matches after it would have to be replayed, which is too many
	ChangedSince   RefusalCode = "changed_since"    // the match has changed since the pressed button was made
	MatchGone      RefusalCode = "match_gone"       // the match of a button cannot be found; another one may have its number
	AdminsUnknown  RefusalCode = "admins_unknown"   // checking whether the sender is an admin failed
	Inconsistent   RefusalCode = "inconsistent"     // the stored ratings are inconsistent, so they cannot be replayed
	UnknownButton  RefusalCode = "unknown_button"   // the bot no longer has this button

	NotUndone        RefusalCode = "not_undone"         // the match to be restored counts
	UndoneLongAgo    RefusalCode = "undone_long_ago"    // the match was undone more than Minutes ago
	NotUndoneByYou   RefusalCode = "not_undone_by_you"  // the sender did not undo the match and is no admin
	SamePersonTwice  RefusalCode = "same_person_twice"  // two of the match's players are the same person, so it cannot count
	NothingToRestore RefusalCode = "nothing_to_restore" // the sender undid no match in the last Minutes in the group
	WhichUndone      RefusalCode = "which_undone"       // an anonymous admin undid no match of their own

	NotYourPrompt    RefusalCode = "not_your_prompt"    // somebody else was asked
	NotYourReport    RefusalCode = "not_your_report"    // the sender neither plays nor reported
	AdminsOnlyPrompt RefusalCode = "admins_only_prompt" // every admin was asked, and the sender is none
	AskedAlready     RefusalCode = "asked_already"      // the sender was asked about the match and has not answered yet
	PromptOver       RefusalCode = "prompt_over"        // the prompt is closed

	SentAsChannel RefusalCode = "sent_as_channel" // a channel may be anybody

	AdminsOnly  RefusalCode = "admins_only"  // only an admin can do this
	SameSetting RefusalCode = "same_setting" // the setting already has this value
	UnknownZone RefusalCode = "unknown_zone" // Name is no time zone

	LadderName     RefusalCode = "ladder_name"      // no ladder can be called Name
	LadderExists   RefusalCode = "ladder_exists"    // another ladder of the group is called Name
	NoSuchLadder   RefusalCode = "no_such_ladder"   // no ladder of the group is called Name
	RenameWhich    RefusalCode = "rename_which"     // of the ladders called Name, with commas between
	TooManyLadders RefusalCode = "too_many_ladders" // the group has Matches ladders, and can have no more
	DefaultLadder  RefusalCode = "default_ladder"   // Name is the default ladder, which cannot be archived
	OtherLadder    RefusalCode = "other_ladder"     // a later line of a report names the ladder Name
	LadderArchived RefusalCode = "ladder_archived"  // Name is an archived ladder
	SeasonName     RefusalCode = "season_name"      // Name cannot be that of a season
	SeasonEnded    RefusalCode = "season_ended"     // the season that a button ends is over
	SeasonTooYoung RefusalCode = "season_too_young" // the season that would end has started in this second, or later
	SeasonEmpty    RefusalCode = "season_empty"     // nobody has played in the season that would end
	NoSuchSeason   RefusalCode = "no_such_season"   // Number is no season of the ladder, or none has ended yet if it is 0
	SeasonClosed   RefusalCode = "season_closed"    // Number is a match of a season that is over, which only admins may change
	SameLadder     RefusalCode = "same_ladder"      // the match is in the ladder Name already

	TooManyQuestions RefusalCode = "too_many_questions" // from the sender in a minute; results still count
	TooManyPresses   RefusalCode = "too_many_presses"   // from the person in a minute; the press was ignored
	TooManyResults   RefusalCode = "too_many_results"   // from the sender in a minute; the press changed nothing
)

// Refusal says why nothing was changed.
type Refusal struct {
	Code RefusalCode `json:"code"`
	Name string      `json:"name,omitempty"` // the person, the ladder or the time zone it is about, where the code says so
	Near *Name       `json:"near,omitempty"` // who may be meant by the name of nobody
	// Ladders are the names of those that there are, if Name is a game.
	Ladders string `json:"ladders,omitempty"`
	Number  int    `json:"number,omitempty"` // the match it is about
	// Minutes is how long the players and the reporter may amend a match, and an undone match can be restored.
	Minutes int `json:"minutes,omitempty"`
	Matches int `json:"matches,omitempty"` // or ladders, where the code says so
	// Instead is what an anonymous admin can send instead of pressing a button, empty for nothing.
	Instead string `json:"instead,omitempty"`
}

var _ = notice.Register[Refusal](notice.Kind{Name: "refusal", Purpose: notice.Outcome, Refuses: true})

// Fleeting makes what is obsolete once the minute has passed a notice.Fleeting.
func (n Refusal) Fleeting() bool { return n.Code == TooManyQuestions }
