package pgranking

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
)

// MatchHistory implements ranking.Store.
func (s *Store) MatchHistory(
	ctx context.Context, season ladder.SeasonID, from int, others ...ladder.PlayerID,
) (ladder.History, error) {
	// the array is built once; a join would scan all matches of each player in the season
	const playing = postgres.RankedPlayers + `$1 AND s.player_id = ANY (ARRAY(
		    SELECT DISTINCT mp.player_id FROM matches m JOIN match_players mp ON mp.match_id = m.id
		    WHERE ` + ofSeason + ` AND m.number >= $2
		    UNION SELECT unnest($3::bigint[])))
		ORDER BY s.id`
	sql, args := playing, []any{season, from, others}
	if from == 0 {
		sql, args = postgres.RankedPlayers+`$1 ORDER BY s.id`, args[:1]
	}
	history := ladder.History{Season: season}
	var batch pgx.Batch
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		var err error
		history.Standings, err = pgx.CollectRows(rows, postgres.ScanRankedPlayer)
		return err
	})
	batch.Queue(playedMatches, season, from).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			r, err := pgx.RowToStructByName[playedRow](rows)
			if err != nil {
				return err
			}
			if n := len(history.Matches); n == 0 || history.Matches[n-1].ID != r.ID {
				history.Matches = append(history.Matches, r.match())
			}
			last := &history.Matches[len(history.Matches)-1]
			last.Parts = append(last.Parts, r.part())
		}
		return rows.Err()
	})
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return history, fmt.Errorf("read match history: %w", Translate(err))
	}
	return history, nil
}

// ofSeason selects the matches m of the season $1.
const ofSeason = `m.ladder_id = (SELECT ladder_id FROM seasons WHERE id = $1) AND m.season_id = $1`

// doubled is the time at which a match is undone only because two of its parts count for one
// player. No command has that time.
const doubled = `'epoch'`

// playedMatches selects one row for each player of each match of a season, from the match number $2
// on.
const playedMatches = `
	SELECT m.id, m.number, m.k_factor AS k, m.provisional_k_factor AS provisional_k,
	       m.provisional_matches, m.margin_of_victory AS margin,
	       ` + postgres.Score + `, m.sets, coalesce(m.games, '') AS games, m.played_at,
	       m.undone_at IS NOT NULL AS undone, coalesce(m.undone_at = ` + doubled + `, false) AS doubled,
	       coalesce(m.upset, 0) AS upset,
	       ` + postgres.StandIns + `, mp.player_id AS player, coalesce(mp.named_id, 0) AS named, mp.side,
	       coalesce(h.id, 0) AS entry, coalesce(h.elo_before, 0) AS before, coalesce(h.elo_after, 0) AS after,
	       coalesce(h.k_factor, 0) AS player_k,
	       coalesce(h.best_before, 0) AS best_before, coalesce(h.streak_before, 0) AS streak_before,
	       coalesce(h.longest_before, 0) AS longest_before
	FROM matches m
	JOIN match_players mp ON mp.match_id = m.id
	LEFT JOIN elo_history h ON h.match_id = m.id AND h.player_id = mp.player_id AND h.superseded_at = 'infinity'
	WHERE ` + ofSeason + ` AND m.number >= $2
	ORDER BY m.number, mp.side, mp.place, mp.player_id`

// playedRow is a row of playedMatches.
type playedRow struct {
	ID                                  ladder.MatchID
	Number                              int
	K, ProvisionalK, ProvisionalMatches int
	Margin                              bool
	resultRow
	PlayedAt                                time.Time
	Undone, Doubled                         bool
	Upset                                   int
	StandIns                                [2]int
	Player, Named                           ladder.PlayerID
	Side                                    int
	Entry                                   ladder.HistoryID // zero for none; then the fields below are zero too
	Before, After                           int
	PlayerK                                 int
	BestBefore, StreakBefore, LongestBefore int
}

func (r playedRow) match() ladder.Match {
	return ladder.Match{
		ID: r.ID, Number: r.Number, Result: r.result(), PlayedAt: r.PlayedAt,
		Undone: r.Undone, Doubled: r.Doubled, Upset: r.Upset, StandIns: r.StandIns,
		RatingRules: ladder.RatingRules{
			K: r.K, Provisional: ladder.Provisional{K: r.ProvisionalK, Matches: r.ProvisionalMatches}, Margin: r.Margin,
		},
	}
}

func (r playedRow) part() ladder.Part {
	p := ladder.Part{Player: r.Player, Named: r.Named, Side: r.Side}
	if r.Entry != 0 {
		p.Entry = &ladder.Entry{
			ID: r.Entry, Before: r.Before, After: r.After, K: r.PlayerK,
			BestBefore: r.BestBefore, StreakBefore: r.StreakBefore, LongestBefore: r.LongestBefore,
		}
	}
	return p
}
