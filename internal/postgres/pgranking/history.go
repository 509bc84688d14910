package pgranking

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// MatchHistory implements ranking.Store.
func (s *Store) MatchHistory(ctx context.Context, season ranking.SeasonID, from int, others ...ranking.PlayerID) (ranking.MatchHistory, error) {
	// the array is built once; a join would scan all matches of each player in the season
	const playing = postgres.RankedPlayers + `$1 AND s.player_id = ANY (ARRAY(
		    SELECT DISTINCT mp.player_id FROM matches m JOIN match_players mp ON mp.match_id = m.id
		    WHERE ` + ofSeason + ` AND m.number >= $2
		    UNION SELECT unnest($3::bigint[])))
		ORDER BY s.id`
	sql, args := playing, []any{season, from, others}
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
	batch.Queue(playedMatches, season, from).Query(func(rows pgx.Rows) error {
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

// allRankedPlayers reads all ranked players of a season.
const allRankedPlayers = postgres.RankedPlayers + `$1 ORDER BY s.id`

// ofSeason is the condition that the match m belongs to the season $1.
const ofSeason = `m.ladder_id = (SELECT ladder_id FROM seasons WHERE id = $1) AND m.season_id = $1`

// playedMatches has one row for each player in a match.
const playedMatches = `
	SELECT m.id, m.number, m.k_factor AS k, m.provisional_k_factor AS provisional_k, m.provisional_matches, m.margin_of_victory AS margin,
	       ` + postgres.Score + `, m.sets, m.played_at, m.undone_at IS NOT NULL AS undone, coalesce(m.upset, 0) AS upset,
	       mp.player_id AS player, mp.side, coalesce(h.id, 0) AS entry, coalesce(h.elo_before, 0) AS before, coalesce(h.elo_after, 0) AS after,
	       coalesce(h.k_factor, 0) AS player_k, coalesce(h.best_before, 0) AS best_before, coalesce(h.streak_before, 0) AS streak_before,
	       coalesce(h.longest_before, 0) AS longest_before
	FROM matches m
	JOIN match_players mp ON mp.match_id = m.id
	LEFT JOIN elo_history h ON h.match_id = m.id AND h.player_id = mp.player_id AND h.superseded_at = 'infinity'
	WHERE ` + ofSeason + ` AND m.number >= $2
	ORDER BY m.number, mp.side, mp.place, mp.player_id`

// playedRow is a row of playedMatches.
type playedRow struct {
	ID     ranking.MatchID
	Number int
	ratingRulesRow
	resultRow
	PlayedAt                                time.Time
	Undone                                  bool
	Upset                                   int
	Player                                  ranking.PlayerID
	Side                                    int
	Entry                                   ranking.HistoryID // zero for none, as all that follows
	Before, After                           int
	PlayerK                                 int
	BestBefore, StreakBefore, LongestBefore int
}

func (r playedRow) match() ranking.PlayedMatch {
	return ranking.PlayedMatch{
		ID: r.ID, Number: r.Number, RatingRules: r.ratingRules(), Result: r.result(),
		PlayedAt: r.PlayedAt, Undone: r.Undone, Upset: r.Upset,
	}
}

func (r playedRow) part() ranking.Part {
	p := ranking.Part{Player: r.Player, Side: r.Side}
	if r.Entry != 0 {
		p.Entry = &ranking.Entry{
			ID: r.Entry, Before: r.Before, After: r.After, K: r.PlayerK,
			BestBefore: r.BestBefore, StreakBefore: r.StreakBefore, LongestBefore: r.LongestBefore,
		}
	}
	return p
}

// eachMatch assembles the rows of playedMatches into matches, one after the other.
func eachMatch(rows pgx.Rows, yield func(ranking.PlayedMatch) error) error {
	var current ranking.PlayedMatch
	for rows.Next() {
		r, err := pgx.RowToStructByName[playedRow](rows)
		if err != nil {
			return fmt.Errorf("read match history: %w", err)
		}
		if r.ID != current.ID {
			if current.ID != 0 {
				if err := yield(current); err != nil {
					return err
				}
			}
			current = r.match()
		}
		current.Parts = append(current.Parts, r.part())
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read match history: %w", err)
	}
	if current.ID == 0 {
		return nil
	}
	return yield(current)
}

// ratingRulesRow are the rules that rate a match.
type ratingRulesRow struct {
	K, ProvisionalK, ProvisionalMatches int
	Margin                              bool
}

func (r ratingRulesRow) ratingRules() ranking.RatingRules {
	return ranking.RatingRules{
		K: r.K, Provisional: ranking.Provisional{K: r.ProvisionalK, Matches: r.ProvisionalMatches}, Margin: r.Margin,
	}
}
