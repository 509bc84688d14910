package ranking

import (
	"context"
	"errors"
	"time"
)

// What a Store reports besides its own errors.
var (
	// ErrHandled means that the command's key is there already: the command has had its effect and its answer.
	ErrHandled = errors.New("command was handled before")
	// ErrConflict means that somebody else has changed what was read: nothing was changed, read again.
	ErrConflict = errors.New("conflict with another transaction")
)

// Store keeps everything. Each method is one transaction of its own, except on the store that Exclusively lends.
type Store interface {
	// Read returns what the command concerns, in one round trip and without locks.
	Read(ctx context.Context, q Query) (Snapshot, error)

	// Introduce makes the chat, its group and the people known that a command concerns. It is no effect of the command:
	// it only keeps what has been seen of the world, and repeating it changes nothing. ErrConflict means: read again.
	Introduce(ctx context.Context, chat Chat, changes []PlayerChange) error

	// Apply makes the changes, all or none, in one round trip. It fails with ErrHandled or ErrConflict.
	Apply(ctx context.Context, c Changes) error

	// Exclusively runs fn in one transaction that holds the chat's group: nobody else records, undoes or merges in it
	// meanwhile. The transaction commits when fn returns nil.
	Exclusively(ctx context.Context, chat ExternalChatID, fn func(context.Context, Store) error) error
}

// Query says what a command concerns.
type Query struct {
	Key    string
	Chat   Chat
	People []Person
	Top    int // how many rows of the ranking are wanted, 0 for no ranking
}

// Snapshot is what there is for a Query.
type Snapshot struct {
	Handled bool
	ChatID  ChatID // 0: the chat is not known
	Chat    Chat   // as the store knows it
	Group   GroupID
	Ladder  Ladder   // the group's default ladder
	People  []Known  // in the order of the query's people
	Ranked  []Ranked // the top of the ranking
	Total   int      // how many are ranked
}

// Ranked is somebody in the ranking.
type Ranked struct {
	Standing
	Username string
	Position int

	// Namesakes and Earlier are as in Known.
	Namesakes, Earlier int
}

// Known is what is known of a person.
type Known struct {
	ByID       *Player   // who has the person's user id
	ByUsername *Player   // who has the person's username
	Player     *Player   // which of the two the person is, or nil
	Standing   *Standing // of that player
	Position   int       // of that player in the ranking, when the query asked for it; 0 for who is not ranked

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

// PlayerChange is one step of keeping what is known of people. Without an ID it is a new player; Standing 0 leaves
// the name in the ladder alone.
type PlayerChange struct {
	Player   Player
	Standing StandingID
}

// Changes is what a command changes: the key and the notice always, the rest by kind of command.
type Changes struct {
	Key   string
	Chat  ChatID
	Match *NewMatch
	Join  *NewStanding

	Notice          Notice
	ReplyTo, Thread int64
}

// NewMatch is a match to be recorded.
type NewMatch struct {
	Group      GroupID
	Ladder     LadderID
	ScoreA     int
	ScoreB     int
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
