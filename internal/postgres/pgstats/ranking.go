package pgstats

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// activeSince is the cutoff of the ranking of thisLadder at the time $3: players whose last match
// is not after the cutoff are hidden.
var activeSince = `(SELECT ` + postgres.ActiveSince("$3", "hide_days") + ` FROM ladders WHERE id = ` + thisLadder + `)`

// isListed is the condition that the standing o is listed in the ranking: its player is a member
// who has played in the season, the last time after activeSince.
var isListed = `o.played > 0 AND o.left_at IS NULL AND o.last_played_at > ` + activeSince

// hasPlace returns the condition that the standing o has a place in a ranking, provided that at
// least minPlaces standings meet it. The standing's player must be a member with enough matches,
// the last of them recent enough. matches and since are SQL expressions for the number of matches
// that a place requires, and for the time after which the last match must have been played.
func hasPlace(matches, since string) string {
	return `o.played >= ` + matches + ` AND o.left_at IS NULL AND o.last_played_at > ` + since
}

// places returns a query about the standings that meet hasPlace in the season of the standing with
// the alias s: how many there are (all), how many of them have a higher rating than s (better), and
// whether s is one of them (shows, NULL if there are none). matches and since are as for hasPlace.
// Standings have places only if there are at least minPlaces of them, which the caller must check.
func places(s, matches, since string) string {
	return `
		    SELECT count(*) AS all, count(*) FILTER (WHERE o.elo > ` + s + `.elo) AS better,
		           bool_or(o.id = ` + s + `.id) AS shows
		    FROM group_players o WHERE o.season_id = ` + s + `.season_id AND ` + hasPlace(matches, since)
}

// placeMatches is how many matches a player must have played for a place in thisLadder.
const placeMatches = `(SELECT place_matches FROM ladders WHERE id = ` + thisLadder + `)`

// minPlaces is ladder.MinPlaces in SQL.
var minPlaces = strconv.Itoa(ladder.MinPlaces)

// comparedDays is the age, in days, of the places with which a page compares the current places.
const comparedDays = 7

// rankedRow is a row of the ranking with its player, as the queries return it.
type rankedRow struct {
	stats.Row
	Player ladder.PlayerID
}

// row returns the row as a page shows it, with the player and the movement. before has the places
// of a week ago.
func (r rankedRow) row(before map[ladder.PlayerID]int) stats.Row {
	r.Name.Player = r.Player
	if place := before[r.Player]; r.Position > 0 && place > 0 {
		r.Moved = place - r.Position
	}
	return r.Row
}

// Ranking implements stats.Store.
func (s *Store) Ranking(
	ctx context.Context, in ladder.ID, asker *command.Person, q stats.RankingQuestion, now time.Time,
) (stats.RankingPage, error) {
	number, size := q.Page, stats.PageRows
	if q.Places > 0 {
		number, size = 1, q.Places
	}
	week := ranking.LaterDay(now, -comparedDays)
	if q.All {
		now = time.Time{} // no player is hidden
	}
	page := stats.RankingPage{All: q.All}
	var shown []rankedRow
	var own *rankedRow
	before := make(map[ladder.PlayerID]int)
	var batch pgx.Batch
	queuePage(&batch, in, number, size, now, &page, &shown)
	queueOne(&batch, &page.Web, pgx.RowToStructByPos[ranking.WebBoard], `
		SELECT g.id, g.web_salt::text FROM ladders l JOIN groups g ON g.id = l.group_id
		WHERE l.id = $1 AND g.web_on`, in)
	if asker != nil {
		queueOwn(&batch, in, asker.ID, now, &own)
	}
	if !q.All {
		queuePlaces(&batch, in, week, now, before)
	}
	if err := s.send(ctx, &batch); err != nil {
		return stats.RankingPage{}, err
	}
	if q.Places == 0 {
		page.Page = min(number, max(1, (page.Total+size-1)/size))
	}
	fill(&page, shown, own, before)
	if page.HasMoved() {
		page.Since = week
	}
	return page, nil
}

// fill adds the rows to a page, with their places and movements. own is the asker's row, or nil. If
// own is set and not among the rows shown, it becomes page.Own. before has the places of a week
// ago.
func fill(page *stats.RankingPage, shown []rankedRow, own *rankedRow, before map[ladder.PlayerID]int) {
	first, _ := page.Bounds()
	for i, r := range shown {
		switch { // the first row already has its place
		case i == 0 || r.Position == 0:
		case r.Elo == shown[i-1].Elo:
			r.Position = shown[i-1].Position
		default:
			r.Position = first + i
		}
		if own != nil && r.Player == own.Player {
			r.Mine, own = true, nil
		}
		shown[i] = r
		page.Rows = append(page.Rows, r.row(before))
	}
	if own != nil {
		row := own.row(before)
		row.Mine, page.Own = true, &row
	}
}

// queuePage counts the listed and the hidden players of the ranking, and reads the rows of a page,
// or of the last page if there are fewer pages. Players without a place come last, and their rows
// have the place 0. Of the other rows, only the first has the correct place; fill sets the places
// of the rest. Equal ratings share a place, and are in the order in which the players joined the
// ladder.
func queuePage(
	batch *pgx.Batch, in ladder.ID, number, size int, now time.Time, page *stats.RankingPage, shown *[]rankedRow,
) {
	sql := `
		WITH counted AS MATERIALIZED (
		    SELECT count(*) FILTER (WHERE active) AS total, count(*) FILTER (WHERE NOT active) AS hidden,
		           coalesce(bool_or(drawn > 0 AND active), false) AS has_draws, ` + placeMatches + ` AS place_matches,
		           (SELECT hide_days FROM ladders WHERE id = ` + thisLadder + `) AS hide_days,
		           (SELECT number FROM seasons WHERE id = ` + thisSeason + ` AND number > 1) AS season,
		           count(*) FILTER (WHERE active AND played >= ` + placeMatches + `) < ` + minPlaces + ` AS unplaced
		    FROM (SELECT o.drawn, o.played, o.last_played_at > ` + activeSince + ` AS active FROM group_players o
		          WHERE o.season_id = ` + thisSeason + ` AND o.played > 0 AND o.left_at IS NULL) AS ranked
		), skipped AS MATERIALIZED (
		    SELECT greatest(0, least(($2::bigint - 1) * $4::bigint, (total - 1) / $4 * $4)) AS rows FROM counted
		), page AS MATERIALIZED (
		    SELECT o.id, o.elo, o.played < (SELECT place_matches FROM counted) OR (SELECT unplaced FROM counted) AS placeless
		    FROM group_players o
		    WHERE o.season_id = ` + thisSeason + ` AND ` + isListed + `
		    ORDER BY placeless, o.elo DESC, o.id OFFSET (SELECT rows FROM skipped) LIMIT $4
		), first AS MATERIALIZED (
		    SELECT elo, id FROM page WHERE NOT placeless ORDER BY elo DESC, id LIMIT 1
		)
		SELECT counted.total, counted.hidden, NOT counted.has_draws AS no_draws,
		       coalesce(counted.place_matches, 0) AS place_matches, coalesce(counted.hide_days, 0) AS hide_days,
		       coalesce(counted.season, 0) AS season, counted.unplaced, coalesce(s.player_id, 0) AS player,
		       coalesce(s.elo, 0) AS elo, coalesce(s.won, 0) AS won,
		       coalesce(s.drawn, 0) AS drawn, coalesce(s.lost, 0) AS lost,
		       CASE WHEN page.placeless THEN 0 ELSE 1 + skipped.rows - (
		           SELECT count(*) FROM group_players o
		           WHERE o.season_id = ` + thisSeason + ` AND ` + hasPlace(placeMatches, activeSince) + `
		             AND o.elo = (SELECT elo FROM first) AND o.id < (SELECT id FROM first)) END AS position
		FROM counted CROSS JOIN skipped LEFT JOIN page ON true
		LEFT JOIN LATERAL (SELECT * FROM group_players WHERE id = page.id LIMIT 1) AS s ON true
		ORDER BY page.placeless, page.elo DESC, page.id`
	type pageRow struct {
		Total, Hidden, PlaceMatches, HideDays, Season int
		NoDraws, Unplaced                             bool
		rankedRow
	}
	batch.Queue(sql, in, number, now, size).Query(func(rows pgx.Rows) error {
		read, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[pageRow])
		if err != nil {
			return fmt.Errorf("read the rows of a ranking: %w", err)
		}
		for _, r := range read { // one row without a player if the page is empty
			page.Total, page.Hidden, page.NoDraws = r.Total, r.Hidden, r.NoDraws
			page.PlaceMatches, page.HideDays, page.Season, page.Unplaced = r.PlaceMatches, r.HideDays, r.Season, r.Unplaced
			if r.Player != 0 {
				*shown = append(*shown, r.rankedRow)
			}
		}
		return nil
	})
}

// queueOwn reads the asker's row, even if the asker has not played yet. It leaves own nil if the
// asker is not a member of the ladder.
func queueOwn(batch *pgx.Batch, in ladder.ID, who ladder.UserID, now time.Time, own **rankedRow) {
	queueOne(batch, own, pgx.RowToStructByNameLax[rankedRow], `
		SELECT s.player_id AS player, s.elo, s.won, s.drawn, s.lost,
		       coalesce(s.last_played_at <= `+activeSince+`, false) AS inactive,
		       CASE WHEN places.shows AND places.all >= `+minPlaces+` THEN places.better + 1 ELSE 0 END AS position
		FROM group_players s
		CROSS JOIN LATERAL (`+places("s", placeMatches, activeSince)+`) AS places
		WHERE s.season_id = `+thisSeason+` AND s.left_at IS NULL
		  AND s.player_id = `+postgres.Counting(postgres.ThisPlayer, thisGroup), in, who, now)
}

// queuePlaces reads the places at the time day, among the players who have a place now and had
// played enough matches then. It reads none if there are fewer than ladder.MinPlaces of them. A
// player's rating at that time is the rating before the player's first match since, or the current
// rating if there is no such match.
func queuePlaces(batch *pgx.Batch, in ladder.ID, day, now time.Time, places map[ladder.PlayerID]int) {
	sql := `
		WITH ladder AS MATERIALIZED (
		    SELECT ` + thisLadder + ` AS id, ` + thisSeason + ` AS season_id
		), later AS MATERIALIZED (
		    SELECT h.player_id, count(*) AS played, (array_agg(h.elo_before ORDER BY ` + postgres.Position + `))[1] AS elo
		    FROM (SELECT * FROM matches
		          WHERE ladder_id = (SELECT id FROM ladder) AND season_id = (SELECT season_id FROM ladder) AND played_at >= $2
		            AND undone_at IS NULL OFFSET 0) AS m
		    CROSS JOIN LATERAL (SELECT * FROM elo_history WHERE match_id = m.id AND superseded_at = 'infinity' OFFSET 0) AS h
		    GROUP BY h.player_id
		)
		SELECT o.player_id, rank() OVER (ORDER BY coalesce(later.elo, o.elo) DESC)
		FROM group_players o LEFT JOIN later ON later.player_id = o.player_id
		WHERE o.season_id = (SELECT season_id FROM ladder) AND ` + hasPlace(placeMatches, activeSince) + `
		  AND o.played - coalesce(later.played, 0) >= ` + placeMatches
	batch.Queue(sql, in, day, now).Query(func(rows pgx.Rows) error {
		var player ladder.PlayerID
		var place int
		_, err := pgx.ForEachRow(rows, []any{&player, &place}, func() error {
			places[player] = place
			return nil
		})
		if err != nil {
			return fmt.Errorf("read the places of a week ago: %w", err)
		}
		if len(places) < ladder.MinPlaces {
			clear(places)
		}
		return nil
	})
}
