package pgstats

import (
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
)

// queueCounted reads matches of thisLadder that count, ordered by position, with what a
// [ladder.Summary] needs. ids is a query that selects their ids as match_id. season is a further
// condition on the matches m, such as ofAnySeason. An incomplete match, which elobot verify
// reports, is left out. OFFSET 0 and LIMIT 1 keep the planner from reading whole tables.
func queueCounted(batch *pgx.Batch, matches *[]ladder.Match, ids, season string, args ...any) {
	sql := `
		SELECT m.number, ` + postgres.Position + ` AS position, m.played_at, ` + postgres.Score + `,
		       coalesce(m.upset, 0) AS upset, ` + postgres.StandIns + `,
		       p.player_id AS player, p.side,
		       coalesce(h.id, 0) AS id, coalesce(h.elo_before, 0) AS before, coalesce(h.elo_after, 0) AS after,
		       coalesce(h.streak_before, 0) AS streak_before
		FROM (` + ids + `) AS wanted
		CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = wanted.match_id LIMIT 1) AS m
		CROSS JOIN LATERAL (SELECT * FROM match_players WHERE match_id = m.id OFFSET 0) AS p
		LEFT JOIN LATERAL (
		    SELECT * FROM elo_history
		    WHERE match_id = m.id AND player_id = p.player_id AND superseded_at = 'infinity' LIMIT 1) AS h ON true
		WHERE m.ladder_id = ` + thisLadder + ` AND ` + season + ` AND m.undone_at IS NULL
		ORDER BY ` + postgres.Position + `, p.side, p.place`
	type partRow struct {
		Number                int
		Position              ladder.Position
		PlayedAt              time.Time
		ScoreA, ScoreB, Upset int
		StandIns              [2]int
		Player                ladder.PlayerID
		Side                  int
		ladder.Entry          // its ID is 0 if there is no entry
	}
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		parts, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[partRow])
		if err != nil {
			return fmt.Errorf("read matches: %w", err)
		}
		for i, p := range parts {
			if n := len(*matches); n == 0 || (*matches)[n-1].Number != p.Number {
				result := ladder.Result{Score: ladder.Score{A: p.ScoreA, B: p.ScoreB}}
				*matches = append(*matches, ladder.Match{
					Number: p.Number, Position: p.Position, PlayedAt: p.PlayedAt.UTC(), Result: result,
					Upset: p.Upset, StandIns: p.StandIns,
				})
			}
			part := ladder.Part{Player: p.Player, Side: p.Side}
			if p.ID != 0 {
				part.Entry = &parts[i].Entry
			}
			last := &(*matches)[len(*matches)-1]
			last.Parts = append(last.Parts, part)
		}
		*matches = slices.DeleteFunc(*matches, func(m ladder.Match) bool { return !m.IsComplete() })
		return nil
	})
}

// ofAnySeason is the condition for matches of all seasons.
const ofAnySeason = `true`

// ofPlayer selects the matches of the player thisOne.
const ofPlayer = `
		    SELECT match_id FROM match_players WHERE player_id = ` + thisOne

// ofPair selects the matches of thisOne in which otherOne was an opponent.
const ofPair = `
		    SELECT one.match_id FROM match_players one
		    WHERE one.player_id = ` + thisOne + `
		      AND (SELECT true FROM match_players o
		          WHERE o.match_id = one.match_id AND o.player_id = ` + otherOne + ` AND o.side <> one.side)`

// ofTime selects the matches of thisLadder played at $2 or later, and before $3.
const ofTime = `
		    SELECT id AS match_id FROM matches
		    WHERE ladder_id = ` + thisLadder + ` AND played_at >= $2 AND played_at < $3`

// latest selects the last $2 matches of thisLadder.
const latest = `
		    SELECT id AS match_id FROM matches m WHERE ladder_id = ` + thisLadder + `
		    ORDER BY ` + postgres.Position + ` DESC LIMIT $2`
