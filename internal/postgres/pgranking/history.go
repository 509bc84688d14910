package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// MatchHistory implements ranking.Store.
func (s *Store) MatchHistory(ctx context.Context, ladder ranking.LadderID, from int) (ranking.MatchHistory, error) {
	// the array is built once; a join would scan all matches of each player in the ladder
	const playing = postgres.RankedPlayers + `$1 AND s.player_id = ANY (ARRAY(
		    SELECT DISTINCT mp.player_id FROM matches m JOIN match_players mp ON mp.match_id = m.id
		    WHERE ` + ofLadder + ` AND m.number >= $2))
		ORDER BY s.id`
	sql, args := playing, []any{ladder, from}
	if from == 0 {
		sql, args = allRankedPlayers, args[:1]
	}
	var history ranking.MatchHistory
	var batch pgx.Batch
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		var err error
		history.Standings, err = pgx.CollectRows(rows, postgres.ScanRankedPlayer)
		return err
	})
	batch.Queue(playedMatches, ladder, from).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		return eachMatch(rows, func(m ranking.PlayedMatch) error {
			history.Matches = append(history.Matches, m)
			return nil
		})
	})
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return history, fmt.Errorf("read match history: %w", postgres.Translate(err))
	}
	return history, nil
}

// allRankedPlayers reads all ranked players of a ladder.
const allRankedPlayers = postgres.RankedPlayers + `$1 ORDER BY s.id`

// ofLadder is the condition that the match m belongs to the ladder $1.
const ofLadder = `m.group_id = (SELECT group_id FROM ladders WHERE id = $1) AND m.ladder_id = $1`

// playedMatches has one row for each player in a match.
const playedMatches = `
	SELECT m.id, m.number, m.k_factor, m.provisional_k_factor, m.provisional_matches, m.margin_of_victory,
	       m.score_a, m.score_b, m.sets, m.played_at, m.undone_at IS NOT NULL, coalesce(m.upset, 0), mp.player_id, mp.side,
	       coalesce(h.id, 0), coalesce(h.elo_before, 0), coalesce(h.elo_after, 0), coalesce(h.k_factor, 0),
	       coalesce(h.best_before, 0), coalesce(h.streak_before, 0), coalesce(h.longest_before, 0)
	FROM matches m
	JOIN match_players mp ON mp.match_id = m.id
	LEFT JOIN elo_history h ON h.match_id = m.id AND h.player_id = mp.player_id AND h.superseded_at IS NULL
	WHERE ` + ofLadder + ` AND m.number >= $2
	ORDER BY m.number, mp.side, mp.place, mp.player_id`

// eachMatch assembles the rows of playedMatches into matches, one after the other.
func eachMatch(rows pgx.Rows, yield func(ranking.PlayedMatch) error) error {
	var current ranking.PlayedMatch
	for rows.Next() {
		var m ranking.PlayedMatch
		var p ranking.Part
		var e ranking.Entry
		var points [][]int16
		err := rows.Scan(&m.ID, &m.Number, &m.K, &m.Provisional.K, &m.Provisional.Matches, &m.Margin,
			&m.A, &m.B, &points, &m.PlayedAt, &m.Undone, &m.Upset, &p.Player, &p.Side,
			&e.ID, &e.Before, &e.After, &e.K, &e.BestBefore, &e.StreakBefore, &e.LongestBefore)
		if err != nil {
			return fmt.Errorf("read match history: %w", err)
		}
		if e.ID != 0 {
			p.Entry = &e
		}
		if m.ID != current.ID {
			if current.ID != 0 {
				if err := yield(current); err != nil {
					return err
				}
			}
			current = m
			current.Sets = setScores(points)
		}
		current.Parts = append(current.Parts, p)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read match history: %w", err)
	}
	if current.ID == 0 {
		return nil
	}
	return yield(current)
}
