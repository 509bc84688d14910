package postgres

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ranking"
)

// RankedPlayers reads standings. The id of the ladder must follow.
const RankedPlayers = `
	SELECT s.id, s.player_id, s.name, s.elo, s.start_elo, s.best_elo, s.longest_streak, s.version,
	       s.played, s.won, s.drawn, s.lost, s.streak, s.left_at, s.last_played_at,
	       p.merged_into IS NOT NULL, coalesce(p.group_id <> (SELECT group_id FROM ladders WHERE id = s.ladder_id), false)
	FROM group_players s
	JOIN players p ON p.id = s.player_id
	WHERE s.ladder_id = `

// ScanRankedPlayer reads a row of RankedPlayers.
func ScanRankedPlayer(row pgx.CollectableRow) (ranking.RankedPlayer, error) {
	var c ranking.RankedPlayer
	err := row.Scan(append(StandingFields(&c.Standing), &c.Merged, &c.Elsewhere)...)
	return c, err
}

// StandingFields returns the scan targets for the columns of a standing, in the order of RankedPlayers.
func StandingFields(s *ranking.Standing) []any {
	return []any{&s.ID, &s.Player, &s.Name, &s.Elo, &s.StartElo, &s.BestElo, &s.Longest, &s.Version,
		&s.Played, &s.Won, &s.Drawn, &s.Lost, &s.Streak, (*zeronull.Timestamptz)(&s.LeftAt), (*zeronull.Timestamptz)(&s.LastPlayed)}
}
