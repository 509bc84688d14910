package pgstats_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// shown describes a match on a page: "#3 Alice 3:1 Bob +16 was 1:3".
func shown(names map[ladder.PlayerID]string, r stats.MatchRow) string {
	text := fmt.Sprintf("#%d %s %d:%d %s",
		r.Number, names[r.Sides[0][0].Player], r.Score[0], r.Score[1], names[r.Sides[1][0].Player])
	if r.Change != nil {
		text += fmt.Sprintf(" %+d", *r.Change)
	}
	if r.Was != nil {
		text += fmt.Sprintf(" was %d:%d", r.Was[0], r.Was[1])
	}
	if r.Undone {
		text += " undone"
	}
	return text
}

// TestMatchPages checks that a page of matches shows the winner of each match first, and whether
// the match was undone or fixed. A player's page also shows the changes of the player's rating.
func TestMatchPages(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t, dbtest.Alice, dbtest.Bob, dbtest.Carol)
	store := pgstats.NewStore(w.Pool, w.Pool)
	w.Record(t, "1", dbtest.Alice, dbtest.Bob, 3, 1)
	w.Record(t, "2", dbtest.Alice, dbtest.Bob, 1, 3)
	w.Record(t, "3", dbtest.Bob, dbtest.Carol, 2, 2)
	w.Record(t, "4", dbtest.Carol, dbtest.Alice, 0, 1)
	w.Undo(t, "undo", dbtest.Bob, 2)
	w.Fix(t, "fix", dbtest.Bob, 1, ladder.Score{A: 0, B: 4})
	w.Fix(t, "again", dbtest.Bob, 1, ladder.Score{A: 4, B: 2})
	names := map[ladder.PlayerID]string{w.ID(t, "Alice"): "Alice", w.ID(t, "Bob"): "Bob", w.ID(t, "Carol"): "Carol"}
	describe := func(rows []stats.MatchRow) (all []string) {
		for _, r := range rows {
			all = append(all, shown(names, r))
		}
		return all
	}
	group, err := store.Matches(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID), 0, stats.Paging{})
	if err != nil || group.Newer || group.Older {
		t.Fatalf("%+v, %v", group, err)
	}
	want := []string{"#4 Alice 1:0 Carol", "#3 Bob 2:2 Carol", "#2 Bob 3:1 Alice undone", "#1 Bob 4:2 Alice was 4:0"}
	dbtest.Equal(t, "of the group", want, describe(group.Rows))
	alice, err := store.Matches(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID), w.ID(t, "Alice"), stats.Paging{})
	if err != nil || alice.Name.Player != w.ID(t, "Alice") {
		t.Fatalf("%+v, %v", alice, err)
	}
	want = []string{"#4 Alice 1:0 Carol +17", "#2 Bob 3:1 Alice undone", "#1 Bob 4:2 Alice -16 was 4:0"}
	dbtest.Equal(t, "of Alice", want, describe(alice.Rows))
	dbtest.Exec(t, w.Pool, `UPDATE players SET telegram_user_id = NULL, username = NULL, merged_into = $1 WHERE id = $2`,
		w.ID(t, "Bob"), w.ID(t, "Carol"))
	if merged, err := store.Matches(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID),
		w.ID(t, "Carol"), stats.Paging{}); err != nil || merged.Name.Player != w.ID(t, "Bob") {
		t.Errorf("of a merged player: %+v, %v", merged, err)
	}
	for what, player := range map[string]ladder.PlayerID{
		"an unknown chat": 0, "a player of another chat": w.ID(t, "Alice"),
	} {
		n, err := store.Matches(t.Context(), -5, player, stats.Paging{})
		if err != nil || len(n.Rows) > 0 || n.Name != (ranking.Name{}) {
			t.Errorf("%s: %+v, %v", what, n, err)
		}
	}
}

// TestPaging checks that paging forward shows every match once, in order, and paging back shows the
// same pages. Instead of a page with too few newer matches, or of an empty page, the first page is
// shown.
func TestPaging(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t, dbtest.Alice, dbtest.Bob)
	store := pgstats.NewStore(w.Pool, w.Pool)
	numbers := func(rows []stats.MatchRow) (all []int) {
		for _, r := range rows {
			all = append(all, r.Number)
		}
		return all
	}
	type page struct {
		rows         []stats.MatchRow
		newer, older bool
	}
	readers := map[string]struct {
		read func(stats.Paging) page
		key  func(stats.MatchRow) int64
	}{
		"of the group": {
			func(at stats.Paging) page {
				n, err := store.Matches(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID), 0, at)
				dbtest.Must(t, err)
				return page{n.Rows, n.Newer, n.Older}
			},
			func(r stats.MatchRow) int64 { return int64(r.Number) },
		},
		"of a player": {
			func(at stats.Paging) page {
				n, err := store.Matches(t.Context(), dbtest.Ladder(t, w.Pool, dbtest.Club.ID), w.ID(t, "Alice"), at)
				dbtest.Must(t, err)
				return page{n.Rows, n.Newer, n.Older}
			},
			func(r stats.MatchRow) int64 { return int64(r.Match) },
		},
	}
	for i := range 31 {
		w.Record(t, fmt.Sprint(i), dbtest.Alice, dbtest.Bob, 3, 1+i%2)
		// Pages are in the order of the match numbers, no matter when the matches were played.
		dbtest.Exec(t, w.Pool, `
			UPDATE matches SET played_at = '2026-11-03'::timestamptz + $1 * interval '1 hour' WHERE number = $2`,
			i*7%11, i+1)
		count := i + 1
		if count%10 > 1 {
			continue
		}
		for what, r := range readers {
			want := dbtest.Values[int](t, w.Pool, `SELECT number FROM matches ORDER BY number DESC`)
			first := r.read(stats.Paging{})
			pages := []page{first}
			for pages[len(pages)-1].older {
				last := pages[len(pages)-1].rows
				pages = append(pages, r.read(stats.Paging{Key: r.key(last[len(last)-1])}))
			}
			var got []int
			for at, p := range pages {
				got = append(got, numbers(p.rows)...)
				if p.newer != (at > 0) || len(p.rows) > stats.PageRows {
					t.Errorf("%d %s: page %d has %d rows, newer %t", count, what, at+1, len(p.rows), p.newer)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d %s: %v, want %v", count, what, got, want)
			}
			for at := len(pages) - 1; at > 0; at-- {
				back := r.read(stats.Paging{Key: r.key(pages[at].rows[0]), Newer: true})
				if diff := cmp.Diff(numbers(pages[at-1].rows), numbers(back.rows)); diff != "" ||
					back.newer != (at > 1) || !back.older {
					t.Errorf("%d %s: back to page %d, newer %t, older %t (-want +got):\n%s",
						count, what, at, back.newer, back.older, diff)
				}
			}
			for at, p := range pages {
				if numbered := r.read(stats.Paging{Page: at + 1}); !cmp.Equal(numbers(p.rows), numbers(numbered.rows)) ||
					numbered.older != p.older {
					t.Errorf("%d %s: page %d by its number is %v", count, what, at+1, numbers(numbered.rows))
				}
			}
			last := pages[len(pages)-1].rows
			for _, at := range []stats.Paging{
				{Key: r.key(first.rows[min(2, count-1)]), Newer: true}, {Key: r.key(last[len(last)-1])}, {Page: 9},
			} {
				if p := r.read(at); p.newer || p.older != first.older || !slices.Equal(numbers(p.rows), numbers(first.rows)) {
					t.Errorf("%d %s, at %+v: %v, want the first page", count, what, at, numbers(p.rows))
				}
			}
		}
	}
}
