package ladder

// UserID is the messenger's id of a person.
type UserID int64

// The ids that the store assigns.
type (
	// ID is the id of a group's ladder.
	ID int64
	// SeasonID is the id of a ladder's season.
	SeasonID int64
	// PlayerID is the id of a player.
	PlayerID int64
	// StandingID is the id of a player's standing in a season.
	StandingID int64
	// MatchID is the id of a match.
	MatchID int64
	// HistoryID is the id of a history entry.
	HistoryID int64
)
