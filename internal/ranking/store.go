package ranking

import (
	"context"
	"errors"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// The errors of a Store that callers handle.
var (
	// ErrHandled means that the command's key is already stored: its effect and its answer are
	// committed, but perhaps not durable yet.
	ErrHandled = errors.New("command already handled")
	// ErrConflict means that another transaction changed what was read. Nothing was changed; read
	// again.
	ErrConflict = errors.New("conflict with another transaction")
	// ErrLocked means that waiting for a lock timed out. Nothing was changed; retry.
	ErrLocked = errors.New("lock held by another session")
	// ErrTimeout means that the deadline passed before the store responded. The changes may have
	// been committed.
	ErrTimeout = errors.New("store timed out")
)

// Store is the database. Each method runs in its own transaction, except that matches recorded at
// the same time may share one; each still succeeds or fails alone. In all methods, a former id of a
// chat refers to that chat. Every method may fail with ErrLocked, or with ErrTimeout when the
// context's deadline passes. Neither means that the operation itself is at fault.
type Store interface {
	// Read returns what a command needs to know, in one round trip and without locks. It stores
	// nothing, but draws ids from sequences. The caller may change the snapshot.
	Read(ctx context.Context, q Query) (*Snapshot, error)

	// Lock begins a transaction, locks the chat's group, and reads, all in one round trip.
	Lock(ctx context.Context, q Query) (Locked, *Snapshot, error)

	writer

	// EnsureDurable returns nil once everything that was committed before is durable: a failover
	// does not lose it. What can be read may not be durable yet, if the commit was interrupted or
	// failed with ErrTimeout.
	EnsureDurable(ctx context.Context) error

	// DueTimers returns up to limit timers that are due, in the order of their times and keys,
	// beginning after the given one.
	DueTimers(ctx context.Context, after Timer, limit int) ([]Timer, error)

	// LockPlayers begins a transaction that merges an unclaimed player into an account. It locks
	// both players and the group of the unclaimed one, and returns the ladders that rank both. If
	// the player has been claimed or merged already, it returns nil.
	LockPlayers(ctx context.Context, unclaimed, claimed ladder.PlayerID) (Merging, []SharedLadder, error)

	// Move changes a chat's id with the messenger from oldID to newID, in one transaction. The old
	// id refers to the chat forever. Waiting notices of the chat no longer reply to a message.
	//
	// If there already is a chat with the new id, Move locks both groups and makes the two chats
	// one, with the group that has more matches, or else the older one. If the other group has
	// matches too, Move detaches and returns it, and notifies the chat; else its players pass to
	// the one that remains. Sightings, notices and everything else of both chats pass to that one.
	// Later sightings replace earlier ones. The bot is in the combined chat if it is in either, and
	// so is every member. The settings of the older chat remain. The later greeting counts. If the
	// older chat was greeted, waiting notices of the newer chat that answer no command are dropped.
	//
	// If only the chat with the new id is known, the old id refers to it too. If the move is done
	// already, or neither id is known, nothing changes, but Move returns as EnsureDurable does.
	Move(ctx context.Context, oldID, newID ExternalChatID) (*DetachedGroup, error)
}

// writer is what is left to do of a Store or a Locked after the read. What it reads may change
// after the read, unless the group is locked.
type writer interface {
	// Apply makes all changes or none, in one round trip. It may fail with ErrHandled or
	// ErrConflict.
	Apply(ctx context.Context, c Changes) error

	// MatchHistory returns the matches of a season from a number on, and the standings of all who
	// play in them, and of others who have one. Number 0 means the whole season, with all its
	// standings.
	MatchHistory(ctx context.Context, season ladder.SeasonID, from int, others ...ladder.PlayerID) (ladder.History, error)

	// SeasonAt returns the season of a ladder in which a message of this time reports a match.
	SeasonAt(ctx context.Context, ladder ladder.ID, at time.Time) (ladder.SeasonID, error)

	// LargestUpset returns the largest upset of a ladder that counts, of the month with this first
	// instant in its zone; 0 if there is none.
	LargestUpset(ctx context.Context, ladder ladder.ID, month time.Time) (int, error)
}

// Locked is a transaction that locks a group: nobody else records, amends or merges in it. Apply or
// Rewrite commits it.
type Locked interface {
	writer
	// Rewrite writes the changes of a replay, and nothing else.
	Rewrite(ctx context.Context, w ladder.Rewrite) error
	// Release ends the transaction. If it is not committed, it changes nothing.
	Release(ctx context.Context)
}

// Merging is a transaction that merges a player into another one.
type Merging interface {
	// Merge makes the changes in the shared ladders, passes everything else that belongs to the
	// unclaimed player to the account, and commits.
	Merge(ctx context.Context, merges []LadderMerge) error
	// Release ends the transaction. If it is not committed, it changes nothing.
	Release(ctx context.Context)
}

// Query says what to read for a command: what every command needs to know, and what its operation
// needs to know.
type Query struct {
	Needs
	Key     string
	Message string // the key of the message whose edit is the command, empty for none
	Chat    Chat
	Sender  *command.Person  // who sent the command, nil for an anonymous admin
	Shown   []command.Person // others that the message shows
	SentAt  time.Time        // when the message showed its people, zero if that may be long ago
	// KnownChat reports whether the command is nothing in an unknown chat. Otherwise, a chat, a
	// group and a ladder that are not stored yet get an id.
	KnownChat bool
	// Ladder is the ladder to read, 0 for the group's default one. Thread and Replied, as in
	// Origin, say which one Applies.
	Ladder ladder.ID
	// Season is the season of that ladder to read, 0 for the one that goes on.
	Season    ladder.SeasonID
	Thread    int64
	Replied   MatchRef
	RateEntry RateEntry // if not zero, requests RecentUsage for its sender and time
	Extra     RateEntry // if not zero, requests ExtraUsage for its sender and time
}

// Needs says what an operation needs to know apart from its chat. The zero value is nothing.
type Needs struct {
	// People is who the operation is about. The sender of a command is among them, so that every
	// command claims the sender's unclaimed player.
	People          []command.Person
	New             int                 // how many of the people, from the first on, get an id unless they are players already
	DuplicatesOf    time.Time           // if not zero, requests PossibleDuplicates: the matches that were reported at most SameGameWindow before or after
	DuplicateScores []ladder.Score      // only those with one of these scores, in either order, or without one, and those within the RepeatWindow; none: all
	Result          *ladder.LeaderQuery // of an operation that may record a result of its people; requests Leaders; there are People
	Everybody       bool                // requests Everybody
	Near            bool                // also if one of the people is only mentioned and not known; the store need not know
	Match           *MatchRef           // requests Matches
	// ReportedSince limits which matches that the sender reported, and did not play, may be the
	// last one that is meant, or Counted. With Season, it requests Since.
	ReportedSince time.Time
	Season        bool     // requests FirstMatch
	LastCounted   bool     // requests Counted
	Prompt        PromptID // requests Prompt
	Played        int      // requests that many LastMatches
	Board         bool     // requests Board
	Topics        bool     // requests the Topics of the Ladders
	Timer         bool     // requests Due
}

// MatchRef says which match of a group is meant: the one with the ID; else the one with the Number;
// else the one that the Message shows or that the command with the Key recorded; else the last one
// that the sender undid, if LastUndone is true; else the last one that the sender played or
// reported.
type MatchRef struct {
	ID     ladder.MatchID
	Number int
	// Tag is that of the match, as the button with the Number says; empty without a button. Any
	// other match is refused.
	Tag        MatchTag
	Message    int64
	Key        string
	LastUndone bool
}

// Snapshot is what a Query returns, grouped by what it was asked for, and what the service adds to
// it.
type Snapshot struct {
	// Handled reports whether the key is already stored, or the message with an outcome other than
	// OutcomeRefused and OutcomeAsked.
	Handled bool
	Here
	Whom
	Usage
	ForReport
	ForAmendment
	ForSeason
	Prompt *Prompt // nil if the chat has no prompt with this id
	Board  *Board  // of the ladder, nil if it has none
	Due    bool    // there is a timer with the command's key, and it is due
	Beside
}

// Here is the chat of a query, with its group and the ladder that is meant.
type Here struct {
	ChatID  ChatID // 0 for an unknown chat
	Chat    Chat   // as stored
	NewChat bool   // the chat is not stored yet
	Display Display
	Greeted time.Time // when the chat was last greeted, zero if not since the bot was added
	Added   time.Time // when the bot was added to the chat, zero if unknown

	Group GroupID
	// NewGroup reports whether the group and its ladder are not stored yet. A new ladder has the
	// DefaultRules.
	NewGroup bool
	Web      bool            // as in GroupSettings
	Ladders  []GroupLadder   // of the group, the oldest first
	Ladder   Ladder          // that of the query, zero if the group does not have it
	Season   ladder.SeasonID // that of the query; it is over unless it is the one of the Ladder
	Over     int             // its number if it is over, 0 for the current one
	// Applies is the ladder that the query's Replied match or matches are in, or else its Thread is
	// bound to; 0 for the default one.
	Applies ladder.ID
}

// Whom is what is known of people.
type Whom struct {
	People    []Known // in the order of the query's people
	Shown     []Known // in the order of those that the query's message shows
	Everybody []Known // who is in a ladder of the group: Player and Standing; never newer than what is read for a report
}

// Usage is how much a sender has asked for recently.
type Usage struct {
	RecentUsage RecentUsage // for the RateEntry of the query
	ExtraUsage  RecentUsage // for Extra of the query
}

// ForReport is what a report is compared with, and what a wizard suggests for it.
type ForReport struct {
	// PossibleDuplicates are matches that the query asks for, the newest first. They are never
	// older than the standings of the People.
	PossibleDuplicates []RecentMatch
	// Leaders are players at the top of the ranking that the query asks for, read together with the
	// standings of the People.
	Leaders     []ladder.Leader
	LastMatches []PlayedBefore // of the sender and of everybody in the ladder, those that count, the newest first
}

// ForAmendment is which matches an amendment may mean.
type ForAmendment struct {
	Matches []StoredMatch // those that the MatchRef means, in the order of their numbers; several only if it is a message
	Counted *StoredMatch  // the last match that counts of those that the sender played or reported, nil if there is none
}

// ForSeason is what the start of a season depends on.
type ForSeason struct {
	FirstMatch string // the key of the first match of the ladder, empty if it has none
	Since      []int  // the numbers of the matches of the current season that count and were reported since a time
}

// Beside is what the service adds to a snapshot, because a decision needs it.
type Beside struct {
	Admin        AdminStatus     // of the sender, if the operation asks
	UpsetMonth   time.Time       // the month of the LargestUpset that the operation asks for
	LargestUpset int             // of that month, 0 if there is none
	History      *ladder.History // of the season of the match that the operation replays, from that match on
	Into         *ladder.History // of the season that it moves the match to, from that match on
	IntoSeason   ladder.SeasonID
	Answer       Notice // that the Answerer has read
}

// everybody returns the people who are in a ladder of the group.
func (s *Snapshot) everybody() []command.Person {
	people := make([]command.Person, len(s.Everybody))
	for i, k := range s.Everybody {
		people[i] = k.person()
	}
	return people
}

// everybodyWith returns which of Everybody has a player, nothing if nobody has.
func (s *Snapshot) everybodyWith(player ladder.PlayerID) Known {
	if i := slices.IndexFunc(s.Everybody, func(k Known) bool { return k.Player.ID == player }); i >= 0 {
		return s.Everybody[i]
	}
	return Known{}
}

// known returns what is known of a person, nothing if the snapshot does not have the person.
func (s *Snapshot) known(person int) Known {
	if person >= len(s.People) {
		return Known{}
	}
	return s.People[person]
}

// StoredMatch is a match that a MatchRef means.
type StoredMatch struct {
	RecentMatch
	ID       ladder.MatchID
	Ladder   ladder.ID
	Season   ladder.SeasonID
	Undone   bool
	UndoneAt time.Time       // when the command that undid it was sent; zero if it counts
	UndoneBy ladder.PlayerID // 0 for an anonymous admin or a merge
	Later    int             // number of later matches of the group, undone ones included
	// SidesSwapped reports whether side B comes first on the match's card: it won, or it was the
	// last to win before a fix made the match a draw.
	SidesSwapped bool
	// SamePerson reports whether two of the players are the same person by now. Such a match is
	// undone: by the merge of the two, or before it.
	SamePerson bool
	// Asked has the open prompt about the match of each who is asked; 0 stands for all admins. A
	// prompt that has waited for its delivery for a PromptWindow does not count.
	Asked map[ladder.PlayerID]PromptID
}

// players returns the players of both sides.
func (m *StoredMatch) players() []ladder.PlayerID { return slices.Concat(m.Players[0], m.Players[1]) }

// SharedLadder is a season of a ladder that ranks both of two players to be merged.
type SharedLadder struct {
	Chat    ChatID
	Over    bool           // the season: what told its end is corrected, and nothing else is said
	Label   *LadderLabel   // nil if its group has no other ladder
	History ladder.History // from the first match of either player on, with the standings of both
}

// LadderMerge holds the changes of a merge in a season that ranks both players.
type LadderMerge struct {
	SharedLadder
	Drop    ladder.Standing // of the removed player
	Rewrite ladder.Rewrite
	Undone  []ladder.MatchID // matches in which both players took part
	Cards   []Card
	Notice  Notice
}

// Known is what is known of a person in a chat. In a private chat, ByUsername, Unclaimed and
// Sighting are nil.
type Known struct {
	ByID       *Player          // the account with the person's user id, or nil
	ByUsername *Player          // the account that was last seen in the group with the username of a person without id, or nil
	Unclaimed  *Player          // the group's unclaimed player with the person's username, or nil
	Player     *Player          // the person's player: one of the three, or a new one, or nil
	New        bool             // the player is not stored yet
	Gone       bool             // the player came only by being named, and no match counts: as if New, but stored
	Claimed    bool             // the player is Unclaimed, and a message shows the person's account for the first time
	Standing   *ladder.Standing // of Player, or nil
	Sighting   *Sighting        // of ByID in the group, or nil
	Former     string           // of one of Everybody, as Left: the Person's Former
	Left       bool             // the player has left the group
}

// person returns the player as a person that the store knows.
func (k Known) person() command.Person {
	return command.Person{
		ID: k.Player.UserID, Username: k.Player.Username, Name: k.Player.Name, Player: k.Player.ID, Former: k.Former, Left: k.Left,
	}
}

// Sighting says that a message in a group has shown an account with a username, possibly none.
type Sighting struct {
	Username string
	At       time.Time // when the account was first shown with it
	Came     bool      // the person has sent a command, or pressed a button, in the group
}

// PlayerChange adds or updates a player. Without a UserID, the player is an unclaimed one of the
// chat's group. An unclaimed player who gets a UserID becomes an account.
type PlayerChange struct {
	Player    Player
	New       bool              // the player is not stored yet
	Mentioned bool              // only the Standing changes: of somebody who is known, a mention shows nothing
	Standing  ladder.StandingID // gets the player's name; 0 for none
	Sighting  *Sighting         // of the player in the chat's group, nil for no change; the username is nobody else's there any more
}

// Seen is what a command shows about its chat and about people there, as far as that is not stored
// yet.
type Seen struct {
	Chat     *Chat // nil if nothing is new
	NewChat  bool  // the Chat is not stored yet
	NewGroup bool  // neither are its group and ladder
	Group    GroupID
	Ladder   Ladder
	People   []PlayerChange
}

// Changes is what a command writes: its key, its decision, and what it shows. One transaction
// writes all of it or nothing.
type Changes struct {
	Decision
	Seen    Seen
	Key     string
	Trigger Trigger        // zero means ByMessage
	Outcome CommandOutcome // zero means OutcomeUnanswered
	// Corrected are the seasons that are over and whose final tables may change.
	Corrected []ladder.SeasonID
	// Message is the key of the message whose edit is the command, empty for all other commands and
	// for a refused one. It is stored with the outcome. If it already is, with another one than
	// OutcomeRefused and OutcomeAsked, Apply fails with ErrConflict.
	Message string
	// Keyless reports whether the key is not stored. The command did nothing, so it may be handled
	// again.
	Keyless   bool
	RateEntry RateEntry // how the command counts
	Extra     RateEntry // how each match after the first one counts, if an answer records several; zero: like the command
	Chat      ChatID
	SentAt    time.Time // when the command was sent; the lifetime of its notices begins then. Zero: they never expire
	// ConsumesTimer reports whether Key is that of a timer. Apply deletes the timer; without a due
	// timer it fails with ErrConflict.
	ConsumesTimer   bool
	Button          string // the id of the button press that CallbackAnswer answers
	ReplyTo, Thread int64  // of Notice, and of the cards of new matches
	Addressee       Name   // the person who is answered, zero if unknown
	// Ladder is what the notices are about, if the group has several ladders; otherwise nil.
	Ladder *LadderLabel
	// ShownOnWeb is the group if it has a web board, 0 if it has none.
	ShownOnWeb GroupID
	// Language is the sender's, as an IETF tag, empty if unknown. CallbackAnswer is in it, and so
	// is Notice if Private is true.
	Language string
	Private  bool // the chat is the sender's alone
}

// Decision is what an operation decides. The zero value changes and says nothing.
type Decision struct {
	Effect Effect // nil for none
	// Asks is a prompt that the command asks, perhaps about what is left of a message; nil for
	// none. The Notice is the message that asks. A prompt with an ID is open, and asks something
	// else from now on: the Page does.
	Asks *NewPrompt
	// Notice is a message to the chat, nil for none. A NotRecorded is merged with one of the same
	// sender that is still waiting.
	Notice Notice
	// Page replaces the content of the message PageMessageID, nil for none.
	Page          Notice
	PageMessageID int64 // 0 means the origin's Pressed
	// CallbackAnswer answers the press of a button; nil means the Notice, or no words if there is a
	// Page.
	CallbackAnswer Notice
	Closes         *ClosedPrompt // the prompt that the command closes, nil for none
	Presence       Presence      // what the command shows about the bot's presence in the chat
	// Ladder is what the notices are about if it is not the ladder of the snapshot; nil if it is.
	Ladder *LadderLabel
	// Unadded reports whether the command adds no players: it only asks about people.
	Unadded bool
	dropped bool // nothing is stored or said
	ignored bool // neither, and nothing is logged: the message is no command
}

// Effect is what a command changes: NewMatches, an *Undone, *Restored, *Fixed, *MovedMatch,
// *NewStanding, *Left, *CameBack, *ChangedSetting, *ChangedBoard, *ChangedLadder or *Greeted.
type Effect interface {
	// outcome returns the command's outcome for the log; empty if it follows from the notice.
	outcome() CommandOutcome
}

// Presence is what an update shows about the bot's presence in a chat.
type Presence int

// The values of Presence.
const (
	ChatSeen    Presence = iota // the chat sent an update: the bot is in it, and may be able to write there
	BotActive                   // the bot is in the chat and may write there
	BotInactive                 // the bot is not in the chat or may not write there; notices wait
	NoChange                    // the update shows nothing about it
)

// Greeted is a greeting of a chat. If the stored time of the last greeting differs from Before,
// Apply fails with ErrConflict.
type Greeted struct {
	Before, At time.Time // zero for never
	Added      time.Time // when the bot was added; zero for no change
	Language   string    // the chat's new language unless an admin chose one; empty for no change
}

// Card is the message that shows a match.
type Card struct {
	Match  ladder.MatchID
	Notice MatchRecorded
}

// Amended holds the changes that every amendment makes. If the stored number of changes differs
// from Changes, Apply fails with ErrConflict.
type Amended struct {
	Match   ladder.MatchID
	Changes int             // before the amendment
	By      ladder.PlayerID // 0 for an anonymous admin
	Rewrite ladder.Rewrite
	Card    MatchRecorded // the new content of the match's card
}

// Amendment returns what all amendments have.
func (a *Amended) Amendment() *Amended { return a }

// Undone is a match to be undone.
type Undone struct {
	Amended
	At time.Time // when the command was sent
}

// Restored is an undone match that is to count again.
type Restored struct{ Amended }

// Fixed is a match whose result is corrected, or whose players.
type Fixed struct {
	Amended
	Old, New ladder.Result
	CameBack // who has got into the match
}

// NewMatches are matches of one group to be recorded in this order. There is at least one.
type NewMatches []*NewMatch

// NewMatch is a match to be recorded.
type NewMatch struct {
	// Key is the match's idempotency key, unlike the command's that of the message that reports it.
	// The matches of a message beyond the first one have #2, #3 and so on after it.
	Key    string
	Group  GroupID
	Ladder ladder.ID
	Season ladder.SeasonID
	ladder.Played
	ReportedBy ladder.PlayerID // 0 for an anonymous admin
	Card       MatchRecorded   // sent to the chat
}

// NewStanding is a player's first standing in a season. A player who has left is in all ladders of
// the group again.
type NewStanding struct {
	Season   ladder.SeasonID
	Standing ladder.Standing
	CameBack
}

// Left says that a player left a group: all ladders there, unless the player has left before, or
// has played in one of them since then.
type Left struct {
	Group  GroupID
	Player ladder.PlayerID
	At     time.Time
}

// CameBack says that players who may have left a group before are there again, in all ladders.
type CameBack struct {
	Group   GroupID
	Players []ladder.PlayerID
	At      time.Time
}

func (NewMatches) outcome() CommandOutcome   { return OutcomeRecorded }
func (*Undone) outcome() CommandOutcome      { return OutcomeUndone }
func (*Restored) outcome() CommandOutcome    { return OutcomeRestored }
func (*Fixed) outcome() CommandOutcome       { return OutcomeFixed }
func (*NewStanding) outcome() CommandOutcome { return OutcomeJoined }
func (*Left) outcome() CommandOutcome        { return "" }
func (*CameBack) outcome() CommandOutcome    { return OutcomeJoined }
func (*Greeted) outcome() CommandOutcome     { return "" }
