package postgres

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ranking"
)

// RankedPlayers reads standings with everything needed to name their players. The id of the ladder must follow.
const RankedPlayers = `
	SELECT s.id, s.player_id, s.name, s.elo, s.start_elo, s.best_elo, s.version,
	       s.played, s.won, s.drawn, s.lost, s.streak, s.left_at, coalesce(p.username, ''), namesakes.others, namesakes.earlier,
	       p.merged_into IS NOT NULL
	FROM group_players s
	JOIN players p ON p.id = s.player_id
	CROSS JOIN LATERAL (
	    SELECT count(*) AS others, count(*) FILTER (WHERE o.id < s.id) AS earlier
	    FROM group_players o
	    WHERE o.ladder_id = s.ladder_id AND o.id <> s.id AND lower(o.name) = lower(s.name)
	) AS namesakes
	WHERE s.ladder_id = `

// ScanRankedPlayer reads a row of RankedPlayers.
func ScanRankedPlayer(row pgx.CollectableRow) (ranking.RankedPlayer, error) {
	var c ranking.RankedPlayer
	err := row.Scan(append(StandingFields(&c.Standing), &c.Username, &c.Namesakes, &c.Earlier, &c.Merged)...)
	return c, err
}

// StandingFields returns the scan targets for the columns of a standing, in the order of RankedPlayers.
func StandingFields(s *ranking.Standing) []any {
	return []any{&s.ID, &s.Player, &s.Name, &s.Elo, &s.StartElo, &s.BestElo, &s.Version,
		&s.Played, &s.Won, &s.Drawn, &s.Lost, &s.Streak, (*zeronull.Timestamptz)(&s.LeftAt)}
}
