package pgstats

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// Matches implements stats.Store.
func (s *Store) Matches(
	ctx context.Context, in ladder.ID, player ladder.PlayerID, at stats.Paging,
) (n stats.HistoryPage, err error) {
	var batch pgx.Batch
	var shown *ladder.PlayerID
	matches, key, changesOf, args := `
		    SELECT id FROM matches m WHERE ladder_id = `+thisLadder, "number", noPlayer, []any{in}
	if player != 0 {
		matches, key, changesOf, args = `
		    SELECT mp.match_id AS id FROM match_players mp
		    CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id LIMIT 1) AS m
		    WHERE mp.player_id = `+thisOne+` AND m.ladder_id = `+thisLadder, "id", thisOne, []any{in, player}
		queueOne(&batch, &shown, pgx.RowTo[ladder.PlayerID],
			`SELECT player_id FROM group_players WHERE season_id = `+thisSeason+` AND player_id = `+thisOne, in, player)
	}
	if !at.Since.IsZero() {
		if player == 0 {
			// Select the matches by their time, so that no other matches are read.
			matches = `
			    SELECT id FROM (SELECT * FROM matches
			        WHERE ladder_id = ` + thisLadder + ` AND played_at >= $2 AND played_at < $3 OFFSET 0) AS m
			    WHERE true`
		} else {
			matches += ` AND m.played_at >= $3 AND m.played_at < $4`
		}
		args = append(args, at.Since, at.Until)
	}
	var first, turned []stats.MatchRow // newest first
	newest := matches + ` ORDER BY ` + postgres.Position + ` DESC LIMIT ` + pageLimit
	queueMatchRows(&batch, &first, newest, changesOf, args...)
	switch {
	case at.Key != 0:
		than, order := ` < `, ` DESC`
		if at.Newer {
			than, order = ` > `, ``
		}
		turnedTo := matches + ` AND ` + postgres.Position + than + `(
			    SELECT ` + postgres.Position + ` FROM matches m
			    WHERE group_id = ` + thisGroup + ` AND ` + key + ` = $` + strconv.Itoa(len(args)+1) + `)
			    ORDER BY ` + postgres.Position + order + ` LIMIT ` + pageLimit
		queueMatchRows(&batch, &turned, turnedTo, changesOf, append(args, at.Key)...)
	case at.Page > 1:
		offset := min(at.Page-1, maxPage) * stats.PageRows
		queueMatchRows(&batch, &turned, newest+` OFFSET `+strconv.Itoa(offset), changesOf, args...)
	}
	if err := s.send(ctx, &batch); err != nil {
		return n, err
	}
	n.Rows, n.Newer, n.Older = page(at, first, turned)
	if shown != nil {
		n.Name.Player = *shown
	}
	return n, nil
}

// pageLimit is how many matches are read for a page: one more than it shows, to find out whether
// there is another page.
var pageLimit = strconv.Itoa(stats.PageRows + 1)

// maxPage limits how many pages a request can skip, because the database reads all matches on those
// pages.
const maxPage = 1000

// noPlayer stands for no player, so that no rating changes are read.
const noPlayer = `NULL::bigint`

// page returns the rows to show, and whether there are newer and older matches. first has the rows
// of the first page, and turned the rows of the requested page. The first page is shown if turned
// is empty, or if newer matches were requested and turned has at most one page of them.
func page(at stats.Paging, first, turned []stats.MatchRow) (rows []stats.MatchRow, newer, older bool) {
	hasMore := func(rows []stats.MatchRow) bool { return len(rows) > stats.PageRows }
	switch {
	case at.Newer && hasMore(turned):
		// There are older matches: at least the match of the key.
		return turned[1:], true, true
	case !at.Newer && len(turned) > 0:
		// There are newer matches: at least the match of the key, or those on earlier pages.
		return turned[:min(len(turned), stats.PageRows)], true, hasMore(turned)
	default:
		return first[:min(len(first), stats.PageRows)], false, hasMore(first)
	}
}

// queueMatchRows reads the rows of matches, newest first. matches is an SQL query for their ids.
// player is an SQL expression for the id of the player whose rating changes are read, or noPlayer.
// args are the arguments of both.
func queueMatchRows(batch *pgx.Batch, to *[]stats.MatchRow, matches, player string, args ...any) {
	sql := `
		SELECT m.id, m.number, m.played_at, ` + postgres.Score + `, ` + postgres.StandIns + `,
		       m.undone_at IS NOT NULL AS undone, ` + postgres.SidesSwapped + ` AS swapped,
		       ARRAY(SELECT mp.player_id FROM match_players mp
		           WHERE mp.match_id = m.id AND mp.side = 1 ORDER BY mp.place) AS side_a,
		       ARRAY(SELECT mp.player_id FROM match_players mp
		           WHERE mp.match_id = m.id AND mp.side = 2 ORDER BY mp.place) AS side_b,
		       fix.id IS NOT NULL AS fixed, coalesce(fix.old_score_a, (fix.old_winner = 1)::integer - 1, 0) AS old_score_a,
		       coalesce(fix.old_score_b, (fix.old_winner = 2)::integer - 1, 0) AS old_score_b,
		       (SELECT h.elo_after - h.elo_before FROM elo_history h
		        WHERE h.match_id = m.id AND h.player_id = ` + player + ` AND h.superseded_at = 'infinity') AS change
		FROM (` + matches + `) AS shown
		CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = shown.id LIMIT 1) AS m
		LEFT JOIN LATERAL (SELECT * FROM match_fixes WHERE match_id = m.id ORDER BY id DESC LIMIT 1) AS fix ON true
		ORDER BY ` + postgres.Position + ` DESC`
	queueAll(batch, to, postgres.RowTo(readMatch.row), sql, args...)
}

// readMatch is a row of the query in queueMatchRows.
type readMatch struct {
	ID                   ladder.MatchID
	Number               int
	PlayedAt             time.Time
	ScoreA, ScoreB       int
	StandIns             [2]int
	Undone, Swapped      bool
	SideA, SideB         []ladder.PlayerID
	Fixed                bool
	OldScoreA, OldScoreB int  // before the last fix, if there is one
	Change               *int // of the player's rating; nil if there is none
}

func (m readMatch) row() stats.MatchRow {
	row := stats.MatchRow{
		Match: m.ID, Number: m.Number, Played: m.PlayedAt, Score: [2]int{m.ScoreA, m.ScoreB}, Undone: m.Undone,
		Sides: [2][]ranking.Name{names(m.SideA), names(m.SideB)}, StandIns: m.StandIns, Change: m.Change,
	}
	if m.Fixed {
		row.Was = &[2]int{m.OldScoreA, m.OldScoreB}
	}
	if m.Swapped {
		row.Sides[0], row.Sides[1] = row.Sides[1], row.Sides[0]
		row.StandIns[0], row.StandIns[1] = row.StandIns[1], row.StandIns[0]
		row.Score[0], row.Score[1] = row.Score[1], row.Score[0]
		if m.Fixed {
			row.Was[0], row.Was[1] = row.Was[1], row.Was[0]
		}
	}
	return row
}
