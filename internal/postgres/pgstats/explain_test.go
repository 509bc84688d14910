package pgstats_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// tenYears adds 100,000 matches of ten years to ladder 150, with 1,000 players: the busiest player
// plays 5,000 of the matches, the others play about 200 each, and the last player joined without
// ever playing.
const tenYears = `
	INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo)
	    SELECT 150, id, 'Name ' || id % 50, 1400 + id % 97, 1500, 1500 FROM players p
	    WHERE NOT EXISTS (SELECT FROM group_players s WHERE s.season_id = 150 AND s.player_id = p.id)
	    ORDER BY telegram_user_id LIMIT 940;
	CREATE TEMP TABLE member AS
	    SELECT player_id, row_number() OVER (ORDER BY (p.telegram_user_id IS NULL)::integer, s.id) - 1 AS n
	    FROM group_players s JOIN players p ON p.id = s.player_id WHERE season_id = 150;
	INSERT INTO matches
	    (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, upset, idempotency_key)
	    SELECT group_id, id, id, n, 3, 1, 32, now() - (100051 - n) * interval '53 minutes',
	           CASE WHEN n % 100 = 0 THEN 100 + n / 1000 END, 'busy:' || n
	    FROM ladders, generate_series(51, 100050) n WHERE id = 150;
	INSERT INTO match_players (match_id, player_id, side)
	    SELECT m.id, member.player_id, side
	    FROM matches m, generate_series(1, 2) side, member
	    WHERE m.idempotency_key LIKE 'busy:%' AND member.n = CASE
	        WHEN side = 1 AND m.number % 20 = 0 THEN 0
	        ELSE 1 + (m.number * 7 + (side - 1) * (1 + m.number / 998)) % 998 END;
	INSERT INTO elo_history
	    (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
	    SELECT match_id, player_id, 1500, 1548 - 32 * side, 32, 1700, 1, 1, 'match'
	    FROM match_players mp JOIN matches m ON m.id = match_id
	    WHERE m.idempotency_key LIKE 'busy:%';
	UPDATE group_players s SET elo = 1400 + n % 97,
	        best_elo = CASE n WHEN 0 THEN 1516 ELSE 1500 END, last_played_at = now(),
	        played = CASE n WHEN 999 THEN 0 ELSE 9 END, won = CASE n WHEN 999 THEN 0 ELSE 9 END, lost = 0,
	        longest_streak = CASE n WHEN 0 THEN 2 ELSE 0 END
	    FROM member WHERE s.season_id = 150 AND s.player_id = member.player_id;
	INSERT INTO boards (chat_id, ladder_id)
	    SELECT g.chat_id, l.id FROM groups g JOIN ladders l ON l.group_id = g.id AND l.is_default;
	INSERT INTO topics SELECT g.chat_id, 8, l.id FROM groups g JOIN ladders l ON l.group_id = g.id AND l.is_default`

const viewedLadder = ladder.ID(150)

// TestViewsOfManyMatches checks that no view of this package scans a table. Only records of all
// time and charts read more matches of a ladder than a month or a player has. Views of players are
// checked for the busiest player, an ordinary player, and a player without matches.
func TestViewsOfManyMatches(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	dbtest.FillFast(t, plain, tenYears)
	dbtest.Exec(t, plain, `VACUUM ANALYZE`)
	store := pgstats.NewStore(pool, pool)
	players := dbtest.Values[ladder.PlayerID](t, plain, `
		SELECT player_id FROM match_players mp JOIN matches m ON m.id = match_id WHERE m.ladder_id = 150
		GROUP BY player_id ORDER BY count(*) DESC, player_id`)
	idle := dbtest.Value[ladder.PlayerID](t, plain, `
		SELECT player_id FROM group_players WHERE season_id = 150 AND played = 0`)
	const ofMonth, ofAll = 2 * 850, 100_000 // a match is read twice, once to find its id
	views := viewsOfGroup(t, store, ofMonth, ofAll)
	for name, p := range map[string]ladder.PlayerID{
		"the busiest": players[0], "an ordinary player": players[1], "an idle player": idle,
	} {
		const own = `SELECT match_id FROM match_players JOIN matches m ON m.id = match_id
			WHERE player_id = $1 AND ladder_id = 150`
		matches := dbtest.Values[int64](t, plain, own+` ORDER BY match_id`, p)
		match := int64(1)
		if len(matches) > 0 {
			match = matches[len(matches)/2]
		}
		other := dbtest.Value[ladder.PlayerID](t, plain,
			`SELECT coalesce(max(player_id), $2) FROM match_players WHERE player_id <> $1 AND match_id IN (`+own+`)`, p, players[0])
		elsewhere := dbtest.Value[int](t, plain, `SELECT count(*) FROM match_players WHERE player_id = $1`, p) - len(matches)
		for _, v := range viewsOfPlayer(t, store, p, other, match, p != idle, len(matches)+elsewhere, ofAll) {
			v.Name += " of " + name
			views = append(views, v)
		}
	}
	var explained []dbtest.Explained
	for _, v := range views {
		explained = append(explained, v.Explained)
	}
	rec.Take()
	dbtest.MustNotScan(t, plain, &rec, explained)
	for _, v := range views {
		dbtest.Must(t, v.Run(t.Context()))
		for _, sent := range rec.Take() {
			if n := matchesRead(t, plain, sent); n > v.matches {
				t.Errorf("%s reads %d matches, want at most %d: %s", v.Name, n, v.matches, sent.SQL)
			}
		}
	}
}

// view is a read to be explained; matches is how many matches each of its statements may read.
type view struct {
	dbtest.Explained
	matches int
}

var scanOfMatches = regexp.MustCompile(`Scan.* on matches\b.*rows=(\d+) loops=(\d+)`)

// matchesRead runs a statement and returns how many rows of matches it reads.
func matchesRead(t *testing.T, pool *pgxpool.Pool, s dbtest.Statement) (n int) {
	t.Helper()
	for _, line := range dbtest.Values[string](t, pool, `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) `+s.SQL, s.Args...) {
		if m := scanOfMatches.FindStringSubmatch(line); m != nil {
			rows, err := strconv.Atoi(m[1])
			dbtest.Must(t, err)
			loops, err := strconv.Atoi(m[2])
			dbtest.Must(t, err)
			n += max(rows, 1) * loops
		}
	}
	return n
}

// viewsOfGroup returns the views that are not about a player. ofMonth and ofAll are how many
// matches a statement may read for a month and for all time.
func viewsOfGroup(t *testing.T, store *pgstats.Store, ofMonth, ofAll int) (all []view) {
	now := time.Now()
	for name, q := range map[string]stats.RankingQuestion{
		"the first page": {Page: 1}, "a late page": {Page: 90}, "a page of all": {Page: 90, All: true}, "the first places": {Places: 20},
	} {
		want := 3
		if q.All {
			want = 2
		}
		all = append(all, view{dbtest.Explained{Name: name, Run: func(ctx context.Context) error {
			n, err := store.Ranking(ctx, viewedLadder, nil, q, now)
			if len(n.Rows) != max(stats.PageRows, q.Places) || n.Total != 999 {
				t.Errorf("%s of the ranking is %+v", name, n)
			}
			return err
		}, Want: want}, ofMonth})
	}
	all = append(all, view{dbtest.Explained{Name: "a season", Run: func(ctx context.Context) error {
		n, err := store.Season(ctx, viewedLadder, 0)
		if len(n.Rows) < 900 || n.Number != 1 {
			t.Errorf("the season is %+v", n)
		}
		return err
	}, Want: 4}, 1}, view{dbtest.Explained{Name: "a season by its name", Run: func(ctx context.Context) error {
		n, err := store.Season(ctx, viewedLadder, 2025)
		if n.Number != 0 {
			t.Errorf("the season 2025 is %+v", n)
		}
		return err
	}, Want: 1}, 1}, view{dbtest.Explained{Name: "the end of a season", Run: func(ctx context.Context) error {
		n, ladder, err := store.SeasonEnd(ctx, ladder.SeasonID(viewedLadder))
		if len(n.Rows) < 900 || ladder != viewedLadder {
			t.Errorf("the end of the season of ladder %d is %+v", ladder, n)
		}
		return err
	}, Want: 3}, 1}, view{dbtest.Explained{Name: "all seasons", Run: func(ctx context.Context) error {
		results, err := store.SeasonResults(ctx, viewedLadder)
		if len(results) < 999 {
			t.Errorf("there are %d results of seasons", len(results))
		}
		return err
	}, Want: 1}, 0})
	all = append(all, view{dbtest.Explained{Name: "the board", Run: func(ctx context.Context) error {
		n, err := store.Board(ctx, viewedLadder, "board:150", now)
		if len(n.Rows) != stats.BoardRows || n.Rows[0].Name.Player == 0 || n.Title == "" {
			t.Errorf("the board is %+v", n)
		}
		return err
	}, Want: 5}, ofMonth})
	all = append(all, view{dbtest.Explained{Name: "records of all time", Run: func(ctx context.Context) error {
		n, err := store.Records(ctx, viewedLadder, now.AddDate(-1, 0, 0))
		if n.Streak == nil || n.Rating == nil || n.Upset == nil || n.Upset.By != 200 || n.Played == nil {
			t.Errorf("the records are %+v", n)
		}
		return err
	}, Want: 5}, ofAll}, view{dbtest.Explained{Name: "records of a month", Run: func(ctx context.Context) error {
		matches, err := store.MatchesOf(ctx, viewedLadder, now.AddDate(-5, 0, 0), now.AddDate(-5, 1, 0))
		if len(matches) < 700 {
			t.Errorf("%d matches of a month", len(matches))
		}
		return err
	}, Want: 1}, ofMonth})
	all = append(all, view{dbtest.Explained{Name: "a group on the web", Run: func(ctx context.Context) error {
		_, err := store.WebGroup(ctx, 1)
		return err
	}, Want: 1}, 0}, view{dbtest.Explained{Name: "the last matches", Run: func(ctx context.Context) error {
		matches, err := store.LatestMatches(ctx, viewedLadder, 100)
		if len(matches) < 90 || matches[0].Number > matches[1].Number {
			t.Errorf("%d matches, not in the order of their numbers", len(matches))
		}
		return err
	}, Want: 1}, 200}, view{dbtest.Explained{Name: "names", Run: func(ctx context.Context) error {
		_, err := store.Names(ctx, viewedLadder, []ranking.Name{{Player: 1}, {Player: 2}})
		return err
	}, Want: 1}, 0})
	week := stats.Paging{Since: now.AddDate(0, 0, -6), Until: now.AddDate(0, 0, 1)}
	all = append(all, view{dbtest.Explained{Name: "who gained most in a week", Run: func(ctx context.Context) error {
		_, err := store.MatchesOf(ctx, viewedLadder, week.Since, week.Until)
		return err
	}, Want: 1}, ofMonth}, view{dbtest.Explained{Name: "the matches of a week", Run: func(ctx context.Context) error {
		_, err := store.Matches(ctx, viewedLadder, 0, week)
		return err
	}, Want: 1}, ofMonth})
	for name, at := range pagings(40) {
		at.Since, at.Until = now.AddDate(-5, 0, 0), now.AddDate(-5, 1, 0)
		all = append(all, view{dbtest.Explained{Name: name + " page of matches of a month",
			Run: func(ctx context.Context) error {
				_, err := store.Matches(ctx, viewedLadder, 0, at)
				return err
			}, Want: statementsOf(at) - 1}, ofMonth})
	}
	for name, at := range pagings(40) {
		all = append(all, view{dbtest.Explained{Name: name + " page of matches", Run: func(ctx context.Context) error {
			n, err := store.Matches(ctx, viewedLadder, 0, at)
			if len(n.Rows) != stats.PageRows {
				t.Errorf("the %s page has %d matches", name, len(n.Rows))
			}
			return err
		}, Want: statementsOf(at) - 1}, ofMonth})
	}
	return all
}

// viewsOfPlayer returns the views about the player p, alone and compared with other. Each must show
// something if hasPlayed is true, and nothing otherwise. match is the key at which pages of the
// history are turned. own and ofAll are how many matches a statement may read for the player and
// for all time.
func viewsOfPlayer(
	t *testing.T, store *pgstats.Store, p, other ladder.PlayerID, match int64, hasPlayed bool, own, ofAll int,
) (all []view) {
	now := time.Now()
	since := now.Add(-time.Hour)
	who := command.Person{ID: ladder.UserID(p)}
	check := func(name string, want, matches int, read func(context.Context) (shown bool, err error)) {
		all = append(all, view{dbtest.Explained{Name: name, Run: func(ctx context.Context) error {
			shown, err := read(ctx)
			if shown != hasPlayed {
				t.Errorf("%s of player %d: it shows something: %t", name, p, shown)
			}
			return err
		}, Want: want}, matches})
	}
	check("the own row of a ranking", 4, 850, func(ctx context.Context) (bool, error) {
		n, err := store.Ranking(ctx, viewedLadder, &who, stats.RankingQuestion{Page: 2}, now)
		return len(n.Rows) > 0 && hasPlayed, err
	})
	check("the page", 2, own, func(ctx context.Context) (bool, error) {
		h, err := store.Player(ctx, viewedLadder, p, since)
		n := h.View()
		return n.Position > 0 && n.Total == 999 && len(n.Last) > 0 && n.Most != nil, err
	})
	check("the standings in all groups", 1, 0, func(ctx context.Context) (bool, error) {
		n, err := store.Standings(ctx, who, stats.MaxGroups, since)
		return len(n.Groups) > 0 && hasPlayed, err
	})
	check("the comparison", 2, own, func(ctx context.Context) (bool, error) {
		_, meetings, err := store.HeadToHead(ctx, viewedLadder, p, other)
		return len(meetings) > 0, err
	})
	for name, at := range pagings(match) {
		check(fmt.Sprintf("%s page of the history", name), statementsOf(at), 2*own, func(ctx context.Context) (bool, error) {
			n, err := store.Matches(ctx, viewedLadder, p, at)
			return len(n.Rows) > 0, err
		})
	}
	check("the history of a month", 2, 2*own, func(ctx context.Context) (bool, error) {
		_, err := store.Matches(ctx, viewedLadder, p,
			stats.Paging{Since: now.AddDate(-5, 0, 0), Until: now.AddDate(-5, 1, 0)})
		return hasPlayed, err
	})
	check("the card", 1, own, func(ctx context.Context) (bool, error) {
		c, err := store.PlayerCard(ctx, viewedLadder, p)
		return c.Names[0].Matches > 0, err
	})
	check("whether one has played", 1, 0, func(ctx context.Context) (bool, error) {
		played, err := store.HavePlayed(ctx, viewedLadder, []ladder.PlayerID{p})
		return played[0], err
	})
	for name, begin := range map[string]time.Time{
		"all time": {}, "years": time.Date(2015, time.May, 1, 0, 0, 0, 0, time.UTC),
	} {
		check("the chart of "+name, 4, ofAll, func(ctx context.Context) (bool, error) {
			n, err := store.Ratings(ctx, viewedLadder, []ladder.PlayerID{p}, begin)
			return len(n.Players[0]) > 0, err
		})
	}
	check("the chart of nothing", 4, 1, func(ctx context.Context) (bool, error) {
		n, err := store.Ratings(ctx, viewedLadder, []ladder.PlayerID{p}, since.AddDate(100, 0, 0))
		return len(n.Others) == 0 && hasPlayed, err
	})
	return all
}

// pagings returns a Paging for the first page, and for the pages on either side of a key.
func pagings(key int64) map[string]stats.Paging {
	return map[string]stats.Paging{"first": {}, "older": {Key: key}, "newer": {Key: key, Newer: true}}
}

// statementsOf returns how many statements read a page of a player's matches. A page of a group's
// matches takes one less.
func statementsOf(at stats.Paging) int {
	if at.Key == 0 {
		return 2
	}
	return 3
}
