package ranking

import (
	"cmp"
	"reflect"
	"strings"
	"time"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// Notice is a fact that the bot tells a chat. It does not contain the text of the message.
type Notice = notice.Notice

// CallbackLifetime is the lifetime of the answer to a pressed button.
const CallbackLifetime = 15 * time.Second

// Name is a person's name in a notice. For a player, the stored notice has only the id. The other
// fields are set when the notice is sent, so that the name is up to date.
type Name struct {
	Player ladder.PlayerID `json:"player,omitempty"` // 0 for a non-player
	Name   string          `json:"name,omitempty"`
	// Mark distinguishes players with the same name in a group. It is the player's username, or
	// else a number. It is empty if the name is unique.
	Mark string `json:"mark,omitempty"`
}

// Nameless is the stored name of an account that shows no name. Messages show a word in the chat's
// language and a number instead.
const Nameless = "…"

// Former begins the stored name of a person who was forgotten. The number by which their group
// knows the person follows, except where no group is concerned. No other name has this character.
const Former = "\x1a"

// InPlaceOfNone returns the name to show for n: if n is Nameless, the word for that with the number
// that distinguishes the nameless players of a group; if n is Former, the words for that with the
// number; otherwise n.
func (n Name) InPlaceOfNone(nameless, former string) Name {
	number, isFormer := strings.CutPrefix(n.Name, Former)
	switch {
	case n.Name == Nameless:
		n.Name, n.Mark = nameless+" "+cmp.Or(n.Mark, "1"), ""
	case isFormer:
		n.Name, n.Mark = strings.TrimSpace(former+" "+number), ""
	}
	return n
}

// FillNames sets the Name and the Mark of each player in the value to which pointer points. called
// returns a player's Name with both fields set. If ok is false, the player stays unchanged.
func FillNames(pointer any, called func(ladder.PlayerID) (name Name, ok bool)) {
	EachName(pointer, func(name *Name) {
		if known, ok := called(name.Player); ok {
			name.Name, name.Mark = known.Name, known.Mark
		}
	})
}

// EachName calls do for each Name in the value to which pointer points, except in maps and
// interfaces.
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

// MatchRecorded is the content of a match's card, both when the card is sent and when it is edited.
// The winning side comes first. After a draw, side A comes first, unless side B came first before a
// fix made the match a draw. The card of an amended match has no NewPlayers, Past or Celebration.
type MatchRecorded struct {
	Number     int        `json:"number"` // set by the store for a new match
	Tag        MatchTag   `json:"tag,omitempty"`
	Sides      [2]Side    `json:"sides"`
	Sets       []SetScore `json:"sets,omitempty"`        // the points, if the score counts sets
	Games      string     `json:"games,omitempty"`       // the games as typed, for a match that ended early
	NewPlayers []Name     `json:"new_players,omitempty"` // players who had no standing in the season
	ReportedBy *Reporter  `json:"reported_by,omitempty"` // nil if a player reported it
	// Past is set if the report says that the match was not played today, but the match still
	// counts as of the time of the report.
	Past bool `json:"past,omitempty"`
	// Day is an instant of the day on which the match was played, if the report gives that day.
	Day   time.Time `json:"day,omitzero"`
	Moved int       `json:"moved,omitempty"` // number of other players whose ratings the new match changed
	// Season is the number of the match's season, 0 for the season that is current when the card is
	// made.
	Season   int       `json:"season,omitempty"`
	Was      *OldScore `json:"was,omitempty"`       // the old score, if the last amendment fixed only that
	Undone   bool      `json:"undone,omitempty"`    // the match no longer counts
	UndoneBy *Reporter `json:"undone_by,omitempty"` // nil if the match counts, or if a merge undid it
	Changes  int       `json:"changes,omitempty"`   // how often it was amended, or undone by a merge
	// Celebration is what the card celebrates, nil for nothing. It is nil if the match was recorded
	// while celebrations were off, or in a season that was over.
	Celebration *Celebration `json:"celebration,omitempty"`
}

var _ = notice.Register[MatchRecorded](notice.Kind{Name: "match_recorded", Purpose: notice.Outcome})

// ResultsSummary replaces cards that were not sent in time, or that waited in a lane with too many
// waiting notices. The store makes the summary when that happens.
type ResultsSummary struct {
	Count   int             `json:"count"`
	Results []MatchRecorded `json:"results"` // the first five of the cards
	Answers int             `json:"answers"` // number of unsent answers to questions
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
	Score    int            `json:"score"`
	Players  []RatingChange `json:"players"`
	StandIns int            `json:"stand_ins,omitempty"` // number of nameless guests on this side
}

// RatingChange is the change of a player's rating in a match or a replay.
type RatingChange struct {
	Name   Name `json:"name"`
	Before int  `json:"before"`
	After  int  `json:"after"`
}

// Reporter is the sender of a command. Name is nil for an anonymous admin.
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

// MatchRestored says that an undone match counts again. Its Sides have the ratings from after the
// restore.
type MatchRestored MatchUndone

var _ = notice.Register[MatchRestored](notice.Kind{Name: "match_restored", Purpose: notice.Outcome})

// MatchFixed says that the score or the players of a match were corrected.
type MatchFixed struct {
	Number int        `json:"number"`
	Sides  [2]Side    `json:"sides"` // with the new score and ratings
	Sets   []SetScore `json:"sets,omitempty"`
	Was    OldScore   `json:"was"`
	// Before is the match before its players were corrected, in the order of its report. It is nil
	// if only the score was corrected.
	Before *NamedResult `json:"before,omitempty"`
	By     Reporter     `json:"by"`
	Moved
}

var _ = notice.Register[MatchFixed](notice.Kind{Name: "match_fixed", Purpose: notice.Outcome})

// PlayersMerged says that a player counts as another one from now on, or no longer does, and how
// that changes the ratings. If an admin has made the change, a further PlayersMerged for each
// ladder whose ratings change has the Moved of that ladder, and nothing else.
type PlayersMerged struct {
	Username string `json:"username,omitempty"` // of an unclaimed player, without @; empty if Player is set
	Player   Name   `json:"named,omitzero"`
	Name     Name   `json:"name,omitzero"` // the other player
	Split    bool   `json:"split,omitempty"`
	Undone   []int  `json:"undone,omitempty"`   // the numbers of the matches that no longer count
	Restored []int  `json:"restored,omitempty"` // the numbers of the matches that count again
	Moved           // empty in the answer to an admin
}

var _ = notice.Register[PlayersMerged](notice.Kind{Name: "players_merged", Purpose: notice.Notification})

// GroupDetached says that a chat got a new id and had a group with matches under each of its two
// ids. The chat keeps one of the groups.
type GroupDetached struct {
	Kept     int `json:"kept"`     // number of matches of the group that the chat keeps
	Detached int `json:"detached"` // number of matches of the other group
}

var _ = notice.Register[GroupDetached](notice.Kind{Name: "group_detached", Purpose: notice.Notification})

// Moved lists how a replay changed the latest ratings of its season. The players of the notice's
// match, or the merged player, come first, even if their ratings have not changed.
type Moved struct {
	Ratings []RatingChange `json:"ratings"`
	Others  int            `json:"others,omitempty"` // number of changed ratings not listed
	Season  int            `json:"season,omitempty"` // number of the replayed season, 0 if it is current
}

// Joined says that a player is now in the ladder, or was already.
type Joined struct {
	Name    Name `json:"name"`
	Guest   bool `json:"guest,omitempty"` // the player is a guest, added by another person
	Elo     int  `json:"elo"`
	Already bool `json:"already,omitempty"` // the player was in the ladder before
	Back    bool `json:"back,omitempty"`    // the player had left the group
	Played  int  `json:"played,omitempty"`
}

var _ = notice.Register[Joined](notice.Kind{Name: "joined", Purpose: notice.Outcome})

// RefusalCode is the reason for a refusal.
type RefusalCode string

// The reasons for refusals. Name, Near, Who, Number, Minutes and Matches are fields of the Refusal.
const (
	SamePlayer    RefusalCode = "same_player"      // a match names the same person twice
	NoDraws       RefusalCode = "no_draws"         // the ladder has no draws
	NobodyToJoin  RefusalCode = "nobody_to_join"   // an anonymous admin cannot be a player
	NobodyToShow  RefusalCode = "nobody_to_show"   // an anonymous admin has no standing
	NoSuchPlayer  RefusalCode = "no_such_player"   // the group has no player with this Name
	NotPlayed     RefusalCode = "not_played"       // the sender is not a player
	NotAPerson    RefusalCode = "not_a_person"     // Name may be a bot, and was never seen
	PlayerOut     RefusalCode = "out"              // Who is out of the group's rankings
	SenderOut     RefusalCode = "out_you"          // like PlayerOut, but Who is the sender
	GuestOut      RefusalCode = "out_guest"        // like PlayerOut, but Who is the guest Name
	TooManyAtOnce RefusalCode = "too_many_at_once" // gave up after conflicts, locks or timeouts

	GuestUnusable RefusalCode = "guest_unusable" // Name cannot be a guest's name
	NameTaken     RefusalCode = "name_taken"     // the player Near has the name of a new guest; Name is a free name
	OneGuest      RefusalCode = "one_guest"      // Name is like the names of several guests
	NeedsNoGuest  RefusalCode = "needs_no_guest" // Name is an account, so it cannot be a guest

	TooManyMatches RefusalCode = "too_many_matches" // a message reports more than Matches matches

	UnevenTeams RefusalCode = "uneven_teams" // the ladder requires sides of the same size
	OddPlayers  RefusalCode = "odd_players"  // the players do not divide into sides of equal size

	NoSuchMatch    RefusalCode = "no_such_match"    // the group has no match with this Number
	NotAboutAMatch RefusalCode = "not_about_match"  // the replied-to message is not about one match
	NothingOfYours RefusalCode = "nothing_of_yours" // the sender has no match in the last Minutes
	WhichMatch     RefusalCode = "which_match"      // an anonymous admin has to name the match
	// NotYours means that the sender neither played nor reported the match, and is not an admin.
	NotYours RefusalCode = "not_yours"
	// TooLate means that the match is older than Minutes, and the sender is not an admin.
	TooLate       RefusalCode = "too_late"
	UndoneAlready RefusalCode = "undone_already" // the match is already undone
	SameScore     RefusalCode = "same_score"     // the match already has the new score
	SameLineup    RefusalCode = "same_lineup"    // the match already has the players and the result
	WrongLineup   RefusalCode = "wrong_lineup"   // too many or too few people are named, or they can play in many ways
	TooFarBack    RefusalCode = "too_far_back"   // Matches later matches exist, too many to replay
	// MergedAlready means that the player with this Name already counts as the requested player, or
	// counts as another player and has to be split from that player first.
	MergedAlready   RefusalCode = "merged_already"
	NotMerged       RefusalCode = "not_merged"         // the player with this Name does not count as another player
	TooManyToReplay RefusalCode = "too_many_to_replay" // a merge or a split would replay Matches matches, too many
	ChangedSince    RefusalCode = "changed_since"      // the match changed after the button was made
	// MatchGone means that the match of a button is gone. Another match may now have its number.
	MatchGone     RefusalCode = "match_gone"
	AdminsUnknown RefusalCode = "admins_unknown" // failed to check whether the sender is an admin
	// Inconsistent means that the stored ratings are inconsistent, so they cannot be replayed.
	Inconsistent  RefusalCode = "inconsistent"
	UnknownButton RefusalCode = "unknown_button" // the button is invalid or outdated

	NotUndone     RefusalCode = "not_undone"      // the match to be restored is not undone
	UndoneLongAgo RefusalCode = "undone_long_ago" // the undo was more than Minutes ago
	// NotUndoneByYou means that the sender did not undo the match, and is not an admin.
	NotUndoneByYou RefusalCode = "not_undone_by_you"
	// SamePersonTwice means that two of the match's players are the same person, so the match
	// cannot count.
	SamePersonTwice  RefusalCode = "same_person_twice"
	NothingToRestore RefusalCode = "nothing_to_restore" // the sender undid no match in the last Minutes
	WhichUndone      RefusalCode = "which_undone"       // an anonymous admin has to name the match

	NotYourPrompt    RefusalCode = "not_your_prompt"    // the prompt asks another person
	NotYourReport    RefusalCode = "not_your_report"    // the sender neither played nor reported
	AdminsOnlyPrompt RefusalCode = "admins_only_prompt" // an anonymous admin was asked, not the sender
	// AskedAlready means that the sender has yet to answer an earlier prompt about the match.
	AskedAlready RefusalCode = "asked_already"
	PromptOver   RefusalCode = "prompt_over" // the prompt can no longer be answered

	FileTooLarge    RefusalCode = "file_too_large"   // a file has more than Matches megabytes
	FileTooLong     RefusalCode = "file_too_long"    // a file has more than Matches rows
	TooManyNames    RefusalCode = "too_many_names"   // a file has more than Matches names
	GroupNotEmpty   RefusalCode = "group_not_empty"  // an export is restored only into a group without matches
	FileNotServed   RefusalCode = "file_not_served"  // the messenger's server serves no files to the bot
	FileUnavailable RefusalCode = "file_unavailable" // the messenger does not have the file, for now or forever

	SentAsChannel RefusalCode = "sent_as_channel" // the person behind a channel is unknown

	OnlyAdminsReport  RefusalCode = "only_admins_report"  // in this ladder, only admins report
	OnlyPlayersReport RefusalCode = "only_players_report" // in this ladder, only those who played report
	// NotJoinedYet means that Who has not joined, and that reports name only people who have.
	NotJoinedYet    RefusalCode = "not_joined_yet"
	GuestNotYet     RefusalCode = "guest_not_yet"    // like NotJoinedYet, but Name would be a new guest
	TooManyAdded    RefusalCode = "too_many_added"   // the sender has named more than Matches new people in a day
	SenderIgnored   RefusalCode = "ignored"          // the group ignores the sender
	NothingReported RefusalCode = "nothing_reported" // Who has reported nothing that could be undone

	AdminsOnly  RefusalCode = "admins_only"  // only an admin can do this
	SameSetting RefusalCode = "same_setting" // the setting already has this value
	UnknownZone RefusalCode = "unknown_zone" // Name is not a time zone

	NotJoined    RefusalCode = "not_joined"     // the sender is not a player, and has no name to change
	NobodyToName RefusalCode = "nobody_to_name" // an anonymous admin has no name to change
	NickTaken    RefusalCode = "nick_taken"     // Name may already mean the player Near
	NickUnusable RefusalCode = "nick_unusable"  // Name cannot be a nick

	LadderName     RefusalCode = "ladder_name"      // Name cannot be the name of a ladder
	LadderExists   RefusalCode = "ladder_exists"    // a ladder of the group has, or would get, this Name
	NoSuchLadder   RefusalCode = "no_such_ladder"   // no ladder of the group has this Name
	RenameWhich    RefusalCode = "rename_which"     // the group has several ladders; Name lists the active ones
	TooManyLadders RefusalCode = "too_many_ladders" // the group already has Matches active ladders, the maximum
	DefaultLadder  RefusalCode = "default_ladder"   // Name is the default, which cannot be archived
	OtherLadder    RefusalCode = "other_ladder"     // a later line names another ladder, Name
	LadderArchived RefusalCode = "ladder_archived"  // Name is an archived ladder
	SeasonName     RefusalCode = "season_name"      // Name cannot be the name of a season
	SeasonEnded    RefusalCode = "season_ended"     // the season that the button would end is not current
	// SeasonTooYoung means that the season to end has only just started or, by the messenger's
	// clock, starts after the command was sent.
	SeasonTooYoung RefusalCode = "season_too_young"
	SeasonEmpty    RefusalCode = "season_empty" // no player has played in the season to end
	// NoSuchSeason means that the ladder has no season with this Number or, if Number is 0, that no
	// season has ended yet.
	NoSuchSeason RefusalCode = "no_such_season"
	// SeasonClosed means that the match Number is in a season that is over, or would be moved into
	// such a season, so only admins may amend it.
	SeasonClosed RefusalCode = "season_closed"
	SameLadder   RefusalCode = "same_ladder" // the match is already in the ladder Name

	TooManyQuestions RefusalCode = "too_many_questions" // over the limit on questions
	TooManyPresses   RefusalCode = "too_many_presses"   // over the limit on presses; nothing changed
	TooManyResults   RefusalCode = "too_many_results"   // over the limit on results; nothing changed
)

// Refusal says why a command changed nothing.
type Refusal struct {
	Code RefusalCode `json:"code"`
	// Name is the name of a person, ladder, season or time zone, or a list of ladders, depending on
	// the code.
	Name string `json:"name,omitempty"`
	Near *Name  `json:"near,omitempty"` // a player that Name may mean
	Who  *Name  `json:"who,omitempty"`  // the player whom the refusal is about
	// Ladders are the names of the ladders that are not archived, if Name is a game.
	Ladders string `json:"ladders,omitempty"`
	Number  int    `json:"number,omitempty"` // the number of a match or season, depending on the code; 0 for none
	// Minutes is how long the players and the reporter may amend a match, or how long an undone
	// match can be restored.
	Minutes int `json:"minutes,omitempty"`
	Matches int `json:"matches,omitempty"` // a number of matches or ladders, depending on the code
	// Instead is what an anonymous admin can send instead of pressing a button, empty if there is
	// nothing to send.
	Instead string `json:"instead,omitempty"`
}

var _ = notice.Register[Refusal](notice.Kind{Name: "refusal", Purpose: notice.Outcome, Refuses: true})

// Fleeting reports whether the refusal is about the limit on questions. Such a refusal expires as
// fast as an answer, because the sender can ask again after a minute.
func (n Refusal) Fleeting() bool { return n.Code == TooManyQuestions }
