package postgres

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ladder"
)

// RankedPlayers selects the standings of a season. The season's id must be appended to the query.
// ScanRankedPlayer reads the rows.
const RankedPlayers = `
	SELECT ` + StandingColumns + `,
	       p.merged_into IS NOT NULL, coalesce(s.named_id, 0),
	       coalesce(p.group_id <> (SELECT group_id FROM seasons WHERE id = s.season_id), false)
	FROM group_players s
	JOIN players p ON p.id = s.player_id
	WHERE s.season_id = `

// ScanRankedPlayer reads a row of RankedPlayers.
func ScanRankedPlayer(row pgx.CollectableRow) (ladder.RankedPlayer, error) {
	var c ladder.RankedPlayer
	err := row.Scan(append(StandingFields(&c.Standing), &c.Merged, (*int64)(&c.Named), &c.Elsewhere)...)
	return c, err
}

// StandingColumns lists the columns of a standing s. If there is none, all are zero, empty or null.
const StandingColumns = `coalesce(s.id, 0), coalesce(s.player_id, 0), coalesce(s.name, ''), coalesce(s.elo, 0),
	       coalesce(s.start_elo, 0), coalesce(s.best_elo, 0), coalesce(s.longest_streak, 0),
	       coalesce(s.version, 0), coalesce(s.played, 0), coalesce(s.won, 0),
	       coalesce(s.drawn, 0), coalesce(s.lost, 0), coalesce(s.streak, 0), s.left_at, s.last_played_at`

// StandingFields returns the scan targets for StandingColumns. pgx scans directly into an int64,
// but needs reflection for a named type.
func StandingFields(s *ladder.Standing) []any {
	return []any{(*int64)(&s.ID), (*int64)(&s.Player), &s.Name, &s.Elo, &s.StartElo, &s.BestElo, &s.Longest, &s.Version,
		&s.Played, &s.Won, &s.Drawn, &s.Lost, &s.Streak,
		(*zeronull.Timestamptz)(&s.LeftAt), (*zeronull.Timestamptz)(&s.LastPlayed)}
}
