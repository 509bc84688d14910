package ranking

// Notice is what there is to tell about a command's outcome: facts, not words. It is stored as JSON until it is sent,
// so the fields of a notice may become more, but none may change its name or its meaning.
type Notice interface {
	// Kind names the type of the notice in the store.
	Kind() string
}

// The kinds of notices of this package.
const (
	KindMatchRecorded = "match_recorded"
	KindRankingPage   = "ranking_page"
	KindJoined        = "joined"
	KindRefusal       = "refusal"
)

// Name is what a player is called in a notice.
type Name struct {
	Name string `json:"name"`
	// Mark tells the player from others in the ladder who are called the same: the username, or else a number.
	Mark string `json:"mark,omitempty"`
}

// MatchRecorded tells of a match that counts now. The side that scored more comes first.
type MatchRecorded struct {
	Number     int       `json:"number"` // filled in by the store, which draws it
	Sides      [2]Side   `json:"sides"`
	NewPlayers []Name    `json:"new_players,omitempty"` // who was not in the ladder before
	ReportedBy *Reporter `json:"reported_by,omitempty"` // set when no player reported it
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

// RankingPage tells the beginning of a ladder's ranking.
type RankingPage struct {
	Title string `json:"title"` // of the group
	Rows  []Row  `json:"rows"`
	Total int    `json:"total"`         // all who are ranked
	Own   *Row   `json:"own,omitempty"` // the asker's row when it is not among Rows
}

// Row is one line of a ranking. Equal ratings share a position.
type Row struct {
	Position int  `json:"position"`
	Name     Name `json:"name"`
	Elo      int  `json:"elo"`
	Won      int  `json:"won"`
	Drawn    int  `json:"drawn"`
	Lost     int  `json:"lost"`
}

// Kind implements Notice.
func (RankingPage) Kind() string { return KindRankingPage }

// Joined tells that a player is in the ladder.
type Joined struct {
	Name    Name `json:"name"`
	Elo     int  `json:"elo"`
	Already bool `json:"already,omitempty"` // they were in it before
	Played  int  `json:"played,omitempty"`
}

// Kind implements Notice.
func (Joined) Kind() string { return KindJoined }

// RefusalCode is why a command was refused.
type RefusalCode string

// The reasons of this package.
const (
	SamePlayer    RefusalCode = "same_player"      // the same person on both sides
	NoDraws       RefusalCode = "no_draws"         // the ladder has no draws
	NobodyToJoin  RefusalCode = "nobody_to_join"   // an anonymous admin is no player
	NotAPerson    RefusalCode = "not_a_person"     // Name is perhaps a bot, and no person of that name has been seen
	TooManyAtOnce RefusalCode = "too_many_at_once" // others kept changing the same standings; nothing was recorded
)

// Refusal tells why nothing was changed.
type Refusal struct {
	Code RefusalCode `json:"code"`
	Name string      `json:"name,omitempty"` // whom it is about, where the code says so
}

// Kind implements Notice.
func (Refusal) Kind() string { return KindRefusal }
