package ranking

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// The errors of a Store that callers handle.
var (
	// ErrHandled means that the command's key is already stored: its effect and its answer are
	// committed, but perhaps not durable yet. Within the service, it also means that the message
	// that the command edits was handled before.
	ErrHandled = errors.New("command already handled")
	// ErrConflict means that another transaction changed what was read. Nothing was written, and
	// the caller must read again.
	ErrConflict = errors.New("conflict with another transaction")
	// ErrLocked means that a lock was not acquired in time. Nothing was written, and the caller may
	// retry.
	ErrLocked = errors.New("lock held by another session")
	// ErrTimeout means that the deadline passed before the store responded. The changes may or may
	// not have been committed.
	ErrTimeout = errors.New("store timed out")
)

// Store is the database. Each method runs in its own transaction, except that concurrent calls of
// Apply may share one. Each of these calls still succeeds or fails independently of the others. In
// all methods, a former id of a chat refers to that chat. Every method may fail with ErrLocked, or
// with ErrTimeout when the context's deadline passes. Neither error means that the operation itself
// is at fault.
type Store interface {
	// Read returns what a command needs to know, in one round trip and without locks. It stores
	// nothing, but takes ids for new rows from sequences. The caller may modify the snapshot.
	Read(ctx context.Context, q Query) (*Snapshot, error)

	// Lock begins a transaction, locks the chat's group if it has one, and reads like Read, all in
	// one round trip. The caller must release the result. Lock may fail with ErrConflict.
	Lock(ctx context.Context, q Query) (Locked, *Snapshot, error)

	// Stage begins a transaction that writes the new people, the matches and the history entries of
	// an import whose numbers are reserved. Nobody else sees them before the transaction is
	// committed, and the group is not locked. The caller must release the result. Stage may fail
	// with ErrConflict.
	Stage(ctx context.Context, n *NewImport, people Seen) (Staged, error)
	// StageUndo is like Stage, but begins a transaction that takes an import back. It locks the
	// matches of the import.
	StageUndo(ctx context.Context, group GroupID, number int) (Staged, error)

	writer

	// EnsureDurable returns nil once everything committed before the call is durable, so that a
	// failover does not lose it. Data whose commit was interrupted, or failed with ErrTimeout, can
	// be read before it is durable.
	EnsureDurable(ctx context.Context) error

	// DueTimers returns up to limit timers that are due, ordered by time and key. It returns only
	// timers that follow the given one in this order.
	DueTimers(ctx context.Context, after Timer, limit int) ([]Timer, error)

	// Move changes a chat's id with the messenger from oldID to newID, in one transaction. The old
	// id refers to the chat forever. Waiting notices of the chat no longer reply to a message or go
	// to a topic.
	//
	// If a chat with the new id exists, Move locks both groups and makes the two chats one. The
	// combined chat keeps the group with more matches or, in a tie, the older group. If the other
	// group has matches too, Move detaches and returns it, and notifies the chat; otherwise its
	// players pass to the remaining group. The sightings, notices and other data of both chats pass
	// to the combined chat, except boards, topics and messages that no longer apply. Later
	// sightings replace earlier ones. The bot and every member are in the combined chat if they are
	// in either chat. The settings of the older chat remain, except that a detached group keeps its
	// own. The time of the later greeting stays. If the older chat was greeted, waiting notices of
	// the newer chat that answer no command are dropped.
	//
	// If only a chat with the new id exists, the old id then refers to it too. If the move is done
	// already, or neither id is known, Move changes nothing, but still ensures durability like
	// EnsureDurable. Move may fail with ErrConflict.
	Move(ctx context.Context, oldID, newID ExternalChatID) (*DetachedGroup, error)
}

// writer has the methods of a Store or a Locked that are used after the read. Unless the group is
// locked, the methods may read newer data than the snapshot has.
type writer interface {
	// Apply writes all changes or none, in one round trip. It may fail with ErrHandled or
	// ErrConflict.
	Apply(ctx context.Context, c Changes) error

	// MatchHistory returns a season's matches from the position from on, and the standings of their
	// players. It also returns any standings that the players in others have. If from is 0, it
	// returns the whole season with all its standings.
	MatchHistory(
		ctx context.Context, season ladder.SeasonID, from ladder.Position, others ...ladder.PlayerID,
	) (ladder.History, error)

	// Gap returns where a match that was played at the given time belongs in a ladder: after all
	// matches that were played until then.
	Gap(ctx context.Context, ladder ladder.ID, at time.Time) (ladder.Gap, error)

	// Mapping returns the mapping of a group, with the matches and standings that a merge or a
	// split of the players from and into would replay. If into is 0, it stands for the player for
	// whom from counts. If the change would replay more than longest matches, Mapping does not read
	// them and returns no Seasons.
	Mapping(ctx context.Context, group GroupID, from, into ladder.PlayerID, longest int) (*Mapping, error)

	// SeasonAt returns the season of a ladder to which a match belongs. at is the match's PlayedAt.
	SeasonAt(ctx context.Context, ladder ladder.ID, at time.Time) (ladder.SeasonID, error)

	// LargestUpset returns the largest upset among a ladder's matches of a month that count, 0 if
	// there is none. month is the first instant of the month, in the group's time zone.
	LargestUpset(ctx context.Context, ladder ladder.ID, month time.Time) (int, error)

	// ReportedSince returns the matches of the current seasons of a chat that count and that a
	// player, or somebody who counts as the player, has reported at the given time or later. They
	// are ordered by ladder and position.
	ReportedSince(ctx context.Context, chat ExternalChatID, player ladder.PlayerID, at time.Time) ([]StoredMatch, error)

	// AddedInADay returns how many people an account has added in the last 24 hours: to the group,
	// or as accounts, which belong to no group.
	AddedInADay(ctx context.Context, group GroupID, by ladder.PlayerID) (int, error)

	// PrivateChat returns the private chat of a person, or 0 if the bot cannot write to it, as far
	// as is known.
	PrivateChat(ctx context.Context, user ladder.UserID) (ChatID, error)
}

// Locked is a transaction that holds the lock of the chat's group, so no other transaction can
// record, amend or merge in that group. Apply or Rewrite commits the transaction. If the chat had
// no group, nothing is locked.
type Locked interface {
	writer
	importer
	restorer
	// Rewrite writes the changes of a replay, and nothing else.
	Rewrite(ctx context.Context, w ladder.Rewrite) error
	// Release ends the transaction. If it is not committed, it is rolled back.
	Release(ctx context.Context)
}

// Staged is a transaction that has staged an import or its undo. It can be used like a Locked once
// LockGroup has locked the chat's group. Apply then writes the rest.
type Staged interface {
	Locked
	// LockGroup locks the group and reads, like Store.Lock. If it fails, the transaction can only
	// be released.
	LockGroup(ctx context.Context, q Query) (*Snapshot, error)
	// DeleteMatches deletes the matches of an import that is taken back.
	DeleteMatches(ctx context.Context, matches []FoundMatch) error
}

// Query is what to read for a command: what every command needs, and the Needs of its operation.
type Query struct {
	Needs
	Key     string
	Message string // the key of the edited message if the command is an edit, otherwise empty
	Chat    Chat
	Sender  *command.Person  // the sender of the command, nil for none
	Shown   []command.Person // other people that the message shows
	SentAt  time.Time        // when the command was sent, zero if retried or fired by a timer
	// KnownChat is set if the command does nothing when the chat is not stored. Otherwise, a chat,
	// a group and a ladder that are not stored yet get ids.
	KnownChat bool
	// Ladder is the ladder to read, 0 for the group's default ladder. Thread and Replied, as in
	// Origin, determine Applies in the snapshot.
	Ladder ladder.ID
	// Season is the season of that ladder to read, 0 for the current one.
	Season    ladder.SeasonID
	Thread    int64
	Replied   MatchRef
	RateEntry RateEntry // if not zero, requests RecentUsage for its sender and time
	Extra     RateEntry // if not zero, requests ExtraUsage for its sender and time
}

// Needs is what an operation needs to know in addition to its chat. The zero value requests
// nothing.
type Needs struct {
	// People are the people that the operation is about. Commands include their sender, so that
	// each command claims the sender's unclaimed player.
	People []command.Person
	// New is how many of the People, from the first on, get an id if they are not players yet.
	New int
	// DuplicatesOf, if not zero, requests PossibleDuplicates: the ladder's matches that count and
	// whose PlayedAt is at most SameGameWindow before or after this time.
	DuplicatesOf time.Time
	// DuplicatesSince, if not zero, is the start of that period instead of the time SameGameWindow
	// before DuplicatesOf.
	DuplicatesSince time.Time
	// DuplicateScores limits PossibleDuplicates to matches with one of these scores in either
	// order, matches without a score, and matches within the RepeatWindow. An empty DuplicateScores
	// sets no limit.
	DuplicateScores []ladder.Score
	// Result requests Leaders. It is set if the operation may record a result. If it is set, People
	// must not be empty.
	Result    *ladder.LeaderQuery
	Everybody bool // requests Everybody
	// Near is set if Everybody is also needed when one of the people is mentioned but unknown. The
	// store ignores Near.
	Near  bool
	Match *MatchRef // requests Matches
	// ReportedSince limits the matches that the sender reported without playing in them. Such a
	// match may be the sender's last match, or Counted, only if it was reported at this time or
	// later. If Season is set, ReportedSince also requests Since.
	ReportedSince time.Time
	Season        bool     // requests FirstMatch
	LastCounted   bool     // requests Counted
	Prompt        PromptID // requests Prompt
	Played        int      // requests LastMatches: up to this many of the sender, and up to this many of all players
	Board         bool     // requests Board
	Topics        bool     // requests the Topics of the Ladders
	Timer         bool     // requests Due
}

// MatchRef identifies a match of a group, by the first of these fields that is set:
//   - the ID
//   - the Number
//   - the Message that shows the match, or the Key of the message that reported it
//   - LastUndone, for the last match that the sender undid
//
// The zero value means the last match that the sender played or reported.
type MatchRef struct {
	ID     ladder.MatchID
	Number int
	// Tag is the match's tag in the pressed button, empty if no button was pressed. If the match
	// has another tag, the command is refused.
	Tag        MatchTag
	Message    int64
	Key        string
	LastUndone bool
}

// Snapshot is the result of a Query, grouped by purpose, with what the service adds to it.
type Snapshot struct {
	// Handled is set if the key is stored already, or if the query's Message is stored with an
	// outcome other than OutcomeRefused and OutcomeAsked.
	Handled bool
	Here
	Whom
	Usage
	ForReport
	ForAmendment
	ForSeason
	Prompt *Prompt // nil if the chat has no prompt with this id
	Board  *Board  // the ladder's board, nil if it has none
	Due    bool    // whether the timer with the command's key exists and is due
	Beside
}

// Here is the chat of a query, with its group and the ladder to read.
type Here struct {
	ChatID  ChatID // 0 if the chat is not stored
	Chat    Chat   // as stored
	NewChat bool   // whether the chat is not stored yet
	Display Display
	Greeted time.Time // when the chat was last greeted, zero if not since the bot was added
	Added   time.Time // when the bot was added to the chat, zero if unknown

	Group GroupID
	// NewGroup is set if the group and its ladder are not stored yet. A new ladder has the
	// DefaultRules.
	NewGroup bool
	Web      bool            // as in GroupSettings
	Ladders  []GroupLadder   // the group's ladders, oldest first
	Ladder   Ladder          // the queried ladder, zero if the group does not have it
	Season   ladder.SeasonID // the queried season; it is over unless it is Ladder.Season
	Over     int             // the number of Season if it is over, 0 if it is current
	// Applies is the ladder of the query's Replied matches if all of them are in one ladder, or
	// else the ladder to which its Thread is bound; 0 for the default one.
	Applies ladder.ID
}

// Whom is what the store knows about people.
type Whom struct {
	People []Known // in the order of the query's people
	Shown  []Known // in the order of the query's Shown
	// Everybody has the players of the group's ladders, including those who have left, with the
	// Player and any Standing in the queried season. It may omit players without a match that
	// counts. It is read before ForReport.
	Everybody []Known
}

// Usage counts the commands that senders have recently sent.
type Usage struct {
	RecentUsage RecentUsage // for the RateEntry of the query
	ExtraUsage  RecentUsage // for the Extra of the query
}

// ForReport is what a report is compared with, and what a wizard suggests for it.
type ForReport struct {
	// PossibleDuplicates are the requested matches, newest first. They are read after the standings
	// of the People.
	PossibleDuplicates []RecentMatch
	// Leaders are the requested players at the top of the ranking, read together with the standings
	// of the People.
	Leaders []ladder.Leader
	// LastMatches are the last matches that count in the ladder, of the sender and of all players,
	// newest first.
	LastMatches []PlayedBefore
}

// ForAmendment holds the matches that an amendment may mean.
type ForAmendment struct {
	// Matches are the matches of the MatchRef, ordered by number. Only a MatchRef with a Message or
	// a Key can have several.
	Matches []StoredMatch
	// Counted is the last match that counts among the matches that the sender played or reported,
	// nil if there is none.
	Counted *StoredMatch
}

// ForSeason is what the start of a season depends on.
type ForSeason struct {
	FirstMatch string // the key of the ladder's first match, empty if it has none
	// Since has the numbers of the current season's matches that count and were reported at
	// ReportedSince or later.
	Since []int
}

// Beside is what the service adds to a snapshot if the operation needs it.
type Beside struct {
	Admin        AdminStatus     // the sender's status, if the operation may need it
	UpsetMonth   time.Time       // the month of the LargestUpset
	LargestUpset int             // the largest upset of that month, 0 if there is none
	Day          *OtherDay       // the day of the reported matches, nil if it is today or not settled yet
	Gap          *ladder.Gap     // where matches of that day belong
	History      *ladder.History // the season of the match to replay, from that match on
	Into         *ladder.History // the season to which the match is moved, from that match on
	IntoSeason   ladder.SeasonID
	Mapping      *Mapping       // of the players whose mapping changes
	Planned      *PlannedImport // of the file to be imported
	Restoring    *Restoring     // the restore of an export
	Reported     *Reported      // what a player has reported
	UndoneImport *UndoneImport  // the import to be taken back, without matches if there is none
	Answer       Notice         // the notice from the Answerer
	PrivateChat  *ChatID        // the sender's private chat, 0 if the bot cannot write to it
}

// everybody returns the entries of Everybody as people, except those who were forgotten.
func (s *Snapshot) everybody() (people []command.Person) {
	for _, k := range s.Everybody {
		if p := k.person(); !strings.HasPrefix(p.Name, Former) {
			people = append(people, p)
		}
	}
	return people
}

// everybodyWith returns the entry of Everybody with the given player, zero if there is none.
func (s *Snapshot) everybodyWith(player ladder.PlayerID) Known {
	if i := slices.IndexFunc(s.Everybody, func(k Known) bool { return k.named().ID == player }); i >= 0 {
		return s.Everybody[i]
	}
	return Known{}
}

// known returns the entry of People with the given index, zero if the snapshot has no such entry.
func (s *Snapshot) known(person int) Known {
	if person < 0 || person >= len(s.People) {
		return Known{}
	}
	return s.People[person]
}

// StoredMatch is a match found by a MatchRef.
type StoredMatch struct {
	RecentMatch
	ID       ladder.MatchID
	Ladder   ladder.ID
	Season   ladder.SeasonID
	Position ladder.Position
	Undone   bool
	UndoneAt time.Time       // when the undo was sent or the merge happened, zero if the match counts
	UndoneBy ladder.PlayerID // 0 for an anonymous admin, a merge, or a match that counts
	Later    int             // number of later matches of the group, including undone ones
	// SidesSwapped is set if the match's card shows side B first, because side B won, or was the
	// last to win before a fix made the match a draw.
	SidesSwapped bool
	// SamePerson is set if two of the players have turned out to be the same person. Such a match
	// was undone by their merge or before it.
	SamePerson bool
	// Asked maps each person who was asked about the match to the open prompt, with 0 for all
	// admins. It omits a prompt that has waited longer than a PromptWindow for its delivery.
	Asked map[ladder.PlayerID]PromptID
}

func (m *StoredMatch) players() []ladder.PlayerID { return slices.Concat(m.Players[0], m.Players[1]) }

// Known is what the store knows about a person in a chat. In a private chat, ByUsername, Unclaimed
// and Sighting are nil.
type Known struct {
	ByID *Player // the account with the person's user id, or nil
	// ByUsername is the account last seen in the group with the person's username. It is nil if
	// there is none, or if the person has an id.
	ByUsername *Player
	Unclaimed  *Player // the group's unclaimed player with the username, or nil
	// CountsAs is the player as whom the person counts in the group, nil if they count for
	// themselves. If several of the three players above exist, the first of them determines it.
	CountsAs *Player
	// Player is the player who counts: CountsAs, or else one of the three at the top, or else a new
	// player, or nil.
	Player *Player
	// Named is the player who was named, nil unless another Player counts.
	Named *Player
	New   bool // the player is not stored yet
	// Gone is set if the player exists only because of mentions, and has no match that counts. Such
	// a player is stored, but treated as if New.
	Gone bool
	// Claimed is set if the player is Unclaimed, and a message shows the person's account for the
	// first time.
	Claimed  bool
	Standing *ladder.Standing // Player's standing, or nil
	Sighting *Sighting        // ByID's sighting in the group, or nil
	Nick     string           // what the group calls Player, empty for the name that Telegram shows
	Out      bool             // Player does not take part in the group's rankings
	Ignored  bool             // reports and presses of the account Player are refused; not set in Everybody
	Came     bool             // as in the person's Sighting, also if the person has no id; true in Everybody
	Former   string           // former usernames as in command.Person; set only in Everybody, like Shown and Left
	Shown    string           // the name that Telegram shows, if the player has a Nick
	Left     bool             // the player has left the group
	// Nameless is as in command.Person, or would be so if Player had no Nick. It is set only in
	// Everybody.
	Nameless int
}

// named returns the player who was named, nil if there is none. It is Named if that is set,
// otherwise Player.
func (k Known) named() *Player { return cmp.Or(k.Named, k.Player) }

// namedID returns the player who was named if that player counts as another one, otherwise 0.
func (k Known) namedID() ladder.PlayerID {
	if k.Named == nil {
		return 0
	}
	return k.Named.ID
}

// person returns the named player, who must exist, as a command.Person.
func (k Known) person() command.Person {
	one := k.named()
	p := command.Person{
		ID: one.UserID, Username: one.Username, Name: one.Name,
		Player: one.ID, Former: k.Former, Shown: k.Shown, Left: k.Left,
	}
	if k.Nick == "" {
		p.Nameless = k.Nameless
	}
	if k.Named != nil {
		p.CountsAs = k.Player.ID
	}
	return p
}

// Sighting records the username with which an account was last seen in a group. Username is empty
// if the account had none.
type Sighting struct {
	Username string
	At       time.Time // when the message that first showed this was sent
	Came     bool      // the person has sent a command or pressed a button in the group
}

// PlayerChange adds or updates a player. A player without a UserID is an unclaimed player of the
// chat's group. An unclaimed player who gets a UserID becomes an account.
type PlayerChange struct {
	Player Player
	New    bool // the player is not stored yet
	// Mentioned is set if only the name in the player's standings changes, because a mention shows
	// nothing new about an existing player.
	Mentioned bool
	Standing  ladder.StandingID // a standing that has an old name of the player, 0 for none
	// Sighting is the player's sighting in the chat's group, nil for no change. Other players lose
	// the username there, unless they were seen with it later.
	Sighting *Sighting
}

// Seen is what a command newly shows about its chat and the people there.
type Seen struct {
	Chat     *Chat // nil if nothing is new
	NewChat  bool  // the Chat is not stored yet
	NewGroup bool  // the group and its ladder are not stored yet
	Group    GroupID
	Ladder   Ladder
	People   []PlayerChange
	AddedBy  ladder.PlayerID // the account that names the new people, 0 for none
}

// Changes is everything that a command writes. One transaction writes all of it or nothing.
type Changes struct {
	Decision
	Seen    Seen
	Key     string
	Trigger Trigger        // zero means ByMessage
	Outcome CommandOutcome // zero means OutcomeUnanswered
	// Corrected are the finished seasons whose final tables may change.
	Corrected []ladder.SeasonID
	// Message is the key of the edited message if the command is an edit that was not refused,
	// otherwise empty. It is stored with the outcome. If it is stored already with an outcome other
	// than OutcomeRefused and OutcomeAsked, Apply fails with ErrConflict.
	Message string
	// Keyless is set if the key is not stored, because handling the command again does no harm.
	Keyless   bool
	RateEntry RateEntry // how the command counts against a rate limit
	// Extra is how each match after the first one counts against a rate limit if an answer records
	// several matches. If Extra is zero, each match counts like the command.
	Extra RateEntry
	Chat  ChatID
	// SentAt is when the command was sent. The lifetimes of its Notice, Page, CallbackAnswer and
	// new cards start then; zero means that these never expire.
	SentAt time.Time
	// ConsumesTimer is set if Key is the key of a timer. Apply deletes that timer, or fails with
	// ErrConflict if the timer is gone or not due.
	ConsumesTimer   bool
	Button          string // the id of the button press that CallbackAnswer answers
	ReplyTo, Thread int64  // of Notice, and of the cards of new matches
	Addressee       Name   // the person who gets the answer, zero if unknown
	// Ladder is the ladder of the notices if the group has several ladders, otherwise nil.
	Ladder *LadderLabel
	// ShownOnWeb is the group if it has a web board and the content of the board may have changed,
	// otherwise 0.
	ShownOnWeb GroupID
	// Language is the sender's language as an IETF tag, empty if unknown. CallbackAnswer uses it,
	// and so does Notice if Private is true.
	Language string
	Private  bool // whether the chat is private
}

// Decision is what an operation decides. The zero value has no effect and no answer.
type Decision struct {
	Effect Effect // nil for none
	// Asks is a prompt to make, nil for none. It may be about only some of a message's matches,
	// while the others are recorded. The Notice is the prompt's message. If Asks has an ID, it
	// replaces the content of the open prompt with that ID, and the Page is the prompt's message.
	Asks *NewPrompt
	// Notice is a message to the chat, nil for none. A NotRecorded is merged with a waiting
	// NotRecorded for the same sender in the same topic.
	Notice Notice
	// Page replaces the content of the message PageMessageID, nil for none.
	Page          Notice
	PageMessageID int64 // 0 means the origin's Pressed
	// CallbackAnswer answers the press of a button. If it is nil, the Notice answers the press, and
	// is sent to the chat only if there is an Effect. With a Page, or without a Notice, the press
	// gets an answer without words instead.
	CallbackAnswer Notice
	ToSender       *PrivateNotice // a message to the sender's private chat, nil for none
	Closes         *ClosedPrompt  // the prompt that the command closes, nil for none
	Fires          string         // the key of a timer that is due at once, empty for none
	Presence       Presence       // what the command shows about the bot's presence in the chat
	// Ladder is the ladder of the notices, nil for Snapshot.Ladder.
	Ladder *LadderLabel
	// Unadded is set if the command adds no players, because it only asks about people.
	Unadded bool
	dropped bool // nothing is stored or answered
	ignored bool // like dropped, and not logged either, because the message is not a command
}

// Effect is what a command changes in the group: NewMatches, an *Undone, *Restored, *Fixed,
// *MovedMatch, *Remapping, *NewStanding, *Left, *TakenOut, *CameBack, *Ignored, *UndoneDay,
// *NewNick, *ChangedSetting, *ChangedBoard, *ChangedLadder, *NewSeason, *SeasonUntil, *ToldSeason,
// *Greeted, *NewImport, *UndoneImport, *RestoredGroup, *OffWeb or *Forgotten.
type Effect interface {
	// outcome returns the command's outcome, empty if the notice determines it.
	outcome() CommandOutcome
}

// Presence is what an update reveals about whether the bot is in a chat and may write there.
type Presence int

const (
	// ChatSeen means that the chat sent an update: the bot is in it, and may be able to write
	// there.
	ChatSeen    Presence = iota
	BotActive            // the bot is in the chat and may write there
	BotInactive          // the bot is not in the chat or may not write there, so notices wait
	NoChange             // the update reveals nothing
)

// Greeted records that the bot greeted a chat or was added to it. If the stored time of the last
// greeting differs from Before, Apply fails with ErrConflict.
type Greeted struct {
	Before, At time.Time // the last greeting before and after the change, zero for never
	Added      time.Time // when the bot was added; zero for no change
	// Language is the chat's new language unless an admin chose one; empty for no change.
	Language string
}

// Card is the new content of the message that shows a match.
type Card struct {
	Match  ladder.MatchID
	Notice MatchRecorded
}

// Amended holds the changes that every amendment makes. If the match's stored change count differs
// from Changes, Apply fails with ErrConflict.
type Amended struct {
	Match   ladder.MatchID
	Changes int             // the match's change count before the amendment
	By      ladder.PlayerID // 0 for an anonymous admin
	Rewrite ladder.Rewrite
	Card    MatchRecorded // the new content of the match's card
}

// Amendment returns a, which is the common part of all amendments.
func (a *Amended) Amendment() *Amended { return a }

// Undone is a match to be undone.
type Undone struct {
	Amended
	At time.Time // when the command was sent
}

// Restored is an undone match to count again.
type Restored struct{ Amended }

// Fixed is a match whose result or players are corrected.
type Fixed struct {
	Amended
	Old, New ladder.Result
	CameBack // the new players of the match
}

// NewMatches are the matches of a message to be recorded, in order. There is at least one.
type NewMatches []*NewMatch

// NewMatch is a match to be recorded.
type NewMatch struct {
	// Key is the match's idempotency key: the key of the message with the report, followed by #2,
	// #3 and so on for the further matches of the message. If a button press records the match, Key
	// still derives from the message.
	Key    string
	Group  GroupID
	Ladder ladder.ID
	Season ladder.SeasonID
	ladder.Played
	Inserted   *Inserted       // nil for a match of the day of its report
	StandIns   [2]int          // as in ladder.Match
	ReportedBy ladder.PlayerID // 0 for an anonymous admin
	Card       MatchRecorded   // sent to the chat
}

// NewStanding gives a player their first standing in a season. A player who had left comes back to
// all ladders of the group.
type NewStanding struct {
	Season   ladder.SeasonID
	Standing ladder.Standing
	CameBack
}

// Left records that a player left a group, and thereby all its ladders. Left has no effect if the
// player had left before, or has played in one of the ladders since At.
type Left struct {
	Group  GroupID
	Player ladder.PlayerID
	At     time.Time
}

// TakenOut takes a player out of a group's rankings until the player joins again. It deletes the
// standings of a player who has no match in the group, not even an undone one. If such a player is
// not an account, only the player's id remains, because old buttons may have it.
type TakenOut struct {
	Left
	// Over replaces the messages of the open prompts that name the player or another player who
	// counts as that player. The prompts are closed as PromptExpired.
	Over Notice
}

// CameBack brings players back to all ladders of a group, in case they have left. Players who left
// after At stay away, and so do players who were TakenOut, unless Joined is set.
type CameBack struct {
	Group   GroupID
	Players []ladder.PlayerID
	At      time.Time
	Joined  bool // the players have asked to come back, so they are no longer TakenOut
}

func (NewMatches) outcome() CommandOutcome   { return OutcomeRecorded }
func (*Undone) outcome() CommandOutcome      { return OutcomeUndone }
func (*Restored) outcome() CommandOutcome    { return OutcomeRestored }
func (*Fixed) outcome() CommandOutcome       { return OutcomeFixed }
func (*NewStanding) outcome() CommandOutcome { return OutcomeJoined }
func (*Left) outcome() CommandOutcome        { return "" }
func (*CameBack) outcome() CommandOutcome    { return OutcomeJoined }
func (*Greeted) outcome() CommandOutcome     { return "" }
