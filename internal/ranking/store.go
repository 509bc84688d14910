package ranking

import (
	"context"
	"errors"
	"slices"
	"time"
)

// What a Store reports besides its own errors.
var (
	// ErrHandled means that the command's key is there already: the command has had its effect and its answer.
	ErrHandled = errors.New("command was handled before")
	// ErrConflict means that somebody else has changed what was read: nothing was changed, read again.
	ErrConflict = errors.New("conflict with another transaction")
	// ErrLocked means that somebody else has held what was needed for longer than a statement waits: nothing was changed, try
	// again.
	ErrLocked = errors.New("somebody else holds what is needed")
	// ErrTimeout means that the time was over before the store had done it. Something may have been changed.
	ErrTimeout = errors.New("the store was not done in time")
)

// Store keeps everything. Each method is one transaction, its own or, of results that come at the same time, one that they
// have in common, though none depends on another one. The store that Exclusively lends is part of one that
// is open already: there Merge, Move and Exclusively must not be called. Each may fail with ErrLocked, and with ErrTimeout when
// the context's deadline passes. Neither says anything against what was to be done.
type Store interface {
	// Read returns what the command concerns, in one round trip and without locks. Here as everywhere, an earlier id of a
	// chat stands for that chat.
	Read(ctx context.Context, q Query) (Snapshot, error)

	// Introduce makes the chat, its group and the people known that a command concerns. It is no effect of the command:
	// it only keeps what has been seen of the world, and repeating it changes nothing. Of a chat that is known the language
	// stays. ErrConflict means: read again.
	UpsertChatAndPlayers(ctx context.Context, chat Chat, changes []PlayerChange) error

	// Apply makes the changes, all or none, in one round trip. It fails with ErrHandled or ErrConflict.
	Apply(ctx context.Context, c Changes) error

	// Rewrite writes what a replay changes, and nothing else.
	Rewrite(ctx context.Context, w Rewrite) error

	// Exclusively runs fn in one transaction that holds the chat's group: nobody else records, undoes or merges in it
	// meanwhile. The transaction commits when fn returns nil.
	WithGroupLock(ctx context.Context, chat ExternalChatID, fn func(context.Context, Store) error) error

	// Merge makes the unclaimed player from and the known player into one, in one transaction that holds both and all
	// groups in which from is ranked: everything of from passes to into. decide gets the ladders in which both are ranked
	// and returns what shall change in them. When from is claimed or merged by now, nothing changes.
	Merge(ctx context.Context, from, into PlayerID, decide func([]SharedLadder) ([]LadderMerge, error)) error

	// Move has the chat with the messenger's id from go by the id to, in one transaction, and by the old id as well for
	// ever. What waits to be told there answers no message any more. If there is a chat with the new id already, everything
	// of it passes to the one with the old id, in one transaction that holds the groups of both; if it has matches, decide
	// gets what they are in their new place and returns what shall change. If there is none with the old id, the one with
	// the new id goes by the old one too. Of two that become one the bot is in the one if it is in either, and whoever is a
	// member of either is a member; it was greeted when either was last. What the newer one was to be told because something
	// has happened there is told no more if the older one was greeted. If it is done already, or neither is known, nothing
	// changes.
	Move(ctx context.Context, from, to ExternalChatID, decide func(Appended) (Appendix, error)) error
}

// Query says what a command concerns.
type Query struct {
	Key    string
	Chat   Chat
	People []Person
	Needed int  // for the first so many people an id is set aside if they are not known
	Named  bool // what people are called by now is what they go by in the ladder, whatever the store has
	// LastPlayed asks when the first of the people has played last in the ladder.
	LastPlayed bool
	Match      *MatchRef // which match is wanted, nil for none
	// Course asks for the course of a ladder as well. Only under Exclusively does it stay as it is read.
	MatchHistory *HistoryFrom
	// Counted asks what has been counted lately for whom the command counts, up to its date.
	RateEntry RateEntry
}

// MatchRef says which match of a group is meant: that with the Number; else the one that the message tells of, or that
// the command with the key has made; else the last one that the first of the query's people has played or reported.
type MatchRef struct {
	Number int
	// Below is the message that the Number was read from: if that is known to tell of a match, that one is meant, whatever
	// its number is by now.
	Below   int64
	Message int64
	Key     string
}

// CourseFrom is the beginning of a course. Number 0 means the whole ladder, with all standings in it.
type HistoryFrom struct {
	Ladder LadderID
	Number int
}

// Snapshot is what there is for a Query.
type Snapshot struct {
	Handled      bool
	ChatID       ChatID // 0: the chat is not known
	Chat         Chat   // as the store knows it
	Group        GroupID
	Ladder       Ladder  // the group's default ladder
	People       []Known // in the order of the query's people
	Match        *StoredMatch
	MatchHistory MatchHistory

	Greeted     time.Time   // when the chat was last greeted, zero for never since the bot is in it
	Added       time.Time   // when the bot was added to the chat, zero if that is not known
	LastPlayed  time.Time   // when the first of the people has played last in the ladder, zero for never
	RecentUsage RecentUsage // of the Counted of the query
}

// StoredMatch is a match that was asked for.
type StoredMatch struct {
	ID         MatchID
	Ladder     LadderID
	Number     int
	Result     Result
	PlayedAt   time.Time
	Undone     bool
	ReportedBy PlayerID // 0: an anonymous admin
	Reporter   string   // what the group knows the reporter by
	Players    [2][]PlayerID
	// Turned says that side B comes first on the match's card, because it had won as the match was recorded. Who has
	// seen a card must find its order unchanged.
	Turned bool
	// ByCommand says that it was found by the command that made it.
	ByCommand bool
}

// players returns everybody who has played.
func (m *StoredMatch) players() []PlayerID { return slices.Concat(m.Players[0], m.Players[1]) }

// Shared is a ladder in which two players are ranked who are to become one.
type SharedLadder struct {
	Chat         ChatID
	From         RankedPlayer // the player who goes
	Into         RankedPlayer // the player who stays
	MatchHistory MatchHistory // from the first match of either on
}

// LadderMerge is what the merging of two players changes in a ladder where both are ranked.
type LadderMerge struct {
	Chat    ChatID
	Drop    Standing // that of the player who goes
	Rewrite Rewrite
	Undone  []MatchID // matches that one person cannot have played, with the two on two sides or together on one
	Cards   []Card
	Notice  Notice
}

// Known is what is known of a person.
type Known struct {
	ByID       *Player   // who has the person's user id
	ByUsername *Player   // who has the person's username
	Player     *Player   // which of the two the person is, or nil
	Standing   *Standing // of that player
	Reserved   PlayerID  // set aside for the player that the person becomes; 0 if there is one, or nobody needs one

	// Namesakes is how many others in the ladder go by the name that the player goes by, Earlier how many of them
	// came first.
	Namesakes, Earlier int
}

// Identify returns which player the person p is, or nil. Whoever has been seen is not the player with their username
// when that one has been seen too, under another user id.
func (p Person) Identify(byID, byUsername *Player) *Player {
	if byID == nil && byUsername != nil && (p.ID == 0 || byUsername.UserID == 0) {
		return byUsername
	}
	return byID
}

// PlayerChange is one step of keeping what is known of people. Without an ID it is a new player, who gets the one that is
// Reserved, if any; Standing 0 leaves the name in the ladder alone.
type PlayerChange struct {
	Player   Player
	Reserved PlayerID
	Standing StandingID
}

// Changes is what a command changes: the key, and the rest by kind of command.
type Changes struct {
	Key string
	// Keyless says that the key is not kept: nothing was done, and when the command comes again it may as well be.
	Keyless   bool
	RateEntry RateEntry // what the command counts as
	Chat      ChatID
	SentAt    time.Time // when the command was sent: what is told lives from then on, for ever if it is zero
	People    []PlayerChange
	Match     *NewMatch
	Join      *NewStanding
	Undo      *Undone
	Fix       *Fixed
	Rewrite   *Rewrite

	// Standing is one that changes without a match, with the version that it was read with.
	Standing *Standing
	// Presence is what the command shows of the bot's place in the chat.
	Presence Presence
	Language string   // what is spoken in the chat from now on, where the bot is Present; empty: what was spoken before
	Greeted  *Greeted // set when the chat is greeted

	// Button is the press of a button that is answered with Toast.
	Button         string
	CallbackAnswer Notice

	// Notice is what the chat is told, nil for nothing. What was not recorded is told with what of that sender waits to be
	// told already.
	Notice          Notice
	ReplyTo, Thread int64
	Addressee       string // whom it answers, by name; empty if nobody is known
	// Card is what the card of a match has to say from now on.
	Card *Card
}

// Presence is what something shows of the bot's place in a chat.
type Presence int

// What can be seen.
const (
	ChatSeen    Presence = iota // the chat was heard of: the bot is in it, and may write there perhaps
	BotActive                   // the bot is in the chat and may write there
	BotInactive                 // the bot is not in the chat, or may not write there: what there is to tell waits
	NoChange                    // nothing new
)

// Greeted is the greeting of a chat. If it was greeted at another time Before than what was read, that is a conflict.
type Greeted struct {
	Before, At time.Time // zero for never
	Added      time.Time // when the bot was added, if that is why; zero leaves what was known
}

// Card is the message that tells of a match.
type Card struct {
	Match  MatchID
	Notice MatchRecorded
}

// Undone is a match that shall not count any more.
type Undone struct {
	Match MatchID
	By    PlayerID // 0: nobody with a name
}

// Fixed is a match whose result is corrected.
type Fixed struct {
	Match    MatchID
	By       PlayerID // 0: nobody with a name
	Old, New Result
}

// NewMatch is a match to be recorded.
type NewMatch struct {
	Group  GroupID
	Ladder LadderID
	Result
	K          int
	ReportedBy PlayerID // 0: nobody with a name
	PlayedAt   time.Time
	Players    []MatchPlayer
}

// MatchPlayer is one player of a new match, with the standing before it and after.
type MatchPlayer struct {
	Side   int // 1 is A, 2 is B
	Before Standing
	After  Standing
}

// NewStanding is somebody's first standing in a ladder.
type NewStanding struct {
	Ladder   LadderID
	Standing Standing
}
