package pgranking

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// MatchHistory implements ranking.Store.
func (s *Store) MatchHistory(
	ctx context.Context, season ladder.SeasonID, from ladder.Position, others ...ladder.PlayerID,
) (ladder.History, error) {
	// The subquery with ARRAY runs only once. A join would scan all matches of each player in the
	// season.
	const playing = postgres.RankedPlayers + `$1 AND s.player_id = ANY (ARRAY(
		    SELECT DISTINCT mp.player_id FROM matches m JOIN match_players mp ON mp.match_id = m.id
		    WHERE ` + ofSeason + ` AND ` + postgres.Position + ` >= $2
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

// Gap implements ranking.Store. Without OFFSET, the planner might scan the ladder's matches from
// the beginning to find the first later one.
func (s *Store) Gap(ctx context.Context, in ladder.ID, at time.Time) (g ladder.Gap, err error) {
	const sql = `
		WITH gap AS (
		    SELECT after, coalesce((SELECT ` + postgres.Position + ` FROM matches m
		        WHERE ladder_id = $1 AND ` + postgres.Position + ` < coalesce(after, $3)
		                   ORDER BY ` + postgres.Position + ` DESC LIMIT 1), 0) AS before
		    FROM (SELECT min(position) AS after FROM (
		        SELECT ` + postgres.Position + ` AS position FROM matches m
		        WHERE ladder_id = $1 AND played_at > $2 OFFSET 0) AS later) AS a)
		SELECT before, coalesce(after, 0),
		       coalesce((SELECT g.last_match_number FROM ladders l JOIN groups g ON g.id = l.group_id WHERE l.id = $1)
		           - (after >> 32)::integer + 1, 0),
		       ARRAY(SELECT position FROM matches m
		             WHERE ladder_id = $1 AND ` + postgres.Position + ` > before >> 32 << 32
		               AND ` + postgres.Position + ` < ((before >> 32) + 1) << 32
		             ORDER BY ` + postgres.Position + `)
		FROM gap`
	row := s.db.QueryRow(ctx, sql, in, at, ladder.LastPosition)
	if err := row.Scan(&g.Before, &g.After, &g.Later, &g.Taken); err != nil {
		return g, fmt.Errorf("find the place of a match: %w", Translate(err))
	}
	return g, nil
}

// queueSpread makes room for a new match by changing the positions in in.Spread. The server checks
// after each changed row that positions are unique, so the matches first get negative positions.
func queueSpread(batch *pgx.Batch, in ranking.Inserted) {
	if len(in.Spread) == 0 {
		return
	}
	from, to := make([]ladder.Position, len(in.Spread)), make([]ladder.Position, len(in.Spread))
	for i, m := range in.Spread {
		from[i], to[i] = m.From, m.To
	}
	batch.Queue(`
		UPDATE matches m SET position = -position WHERE ladder_id = $1 AND `+postgres.Position+` = ANY ($2)`,
		in.Ladder, from)
	batch.Queue(`
		UPDATE matches m SET position = spread.place FROM unnest($2::bigint[], $3::bigint[]) AS spread (was, place)
		WHERE ladder_id = $1 AND `+postgres.Position+` = -spread.was`, in.Ladder, from, to)
}

// ofSeason is the condition that a match m is in the season $1.
const ofSeason = `m.ladder_id = (SELECT ladder_id FROM seasons WHERE id = $1) AND m.season_id = $1`

// doubled is the value of undone_at for a match that is undone only because two of its parts count
// for one player. No command was sent at that time.
const doubled = `'epoch'`

// playedMatches selects the matches of the season $1 from the position $2 on, with one row for
// each player of a match.
const playedMatches = `
	SELECT m.id, m.number, ` + postgres.Position + ` AS position, m.k_factor AS k, m.provisional_k_factor AS provisional_k,
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
	WHERE ` + ofSeason + ` AND ` + postgres.Position + ` >= $2
	ORDER BY ` + postgres.Position + `, mp.side, mp.place, mp.player_id`

// playedRow is a row of playedMatches.
type playedRow struct {
	ID                                  ladder.MatchID
	Number                              int
	Position                            ladder.Position
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
		ID: r.ID, Number: r.Number, Position: r.Position, Result: r.result(), PlayedAt: r.PlayedAt,
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
