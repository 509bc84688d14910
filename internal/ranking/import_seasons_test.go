package ranking_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/ranking"
)

// endSeasonAt ends the club's season at the given time, and tells nobody.
func (g *game) endSeasonAt(t *testing.T, at time.Time) {
	t.Helper()
	locked, snap, err := g.store.Lock(t.Context(), ranking.Query{Chat: ranking.Chat{ID: club.ID}, KnownChat: true})
	must(t, err)
	defer locked.Release(t.Context())
	n := &ranking.NewSeason{Ladder: snap.Ladder.ID, Ends: snap.Ladder.Season.ID, At: at}
	must(t, locked.Apply(t.Context(), ranking.Changes{
		Decision: ranking.Decision{Effect: n, Presence: ranking.NoChange}, Chat: snap.ChatID,
		Key: fmt.Sprint("test:", n.Ends), Keyless: true,
	}))
}

// spans returns the numbers and spans of the seasons, and what was kept of the rules.
func (g *game) spans(t *testing.T) []string {
	t.Helper()
	return dbValues(t, g, `
		SELECT concat_ws(' ', s.number, s.name, s.starts_at AT TIME ZONE 'UTC', '-', s.ends_at AT TIME ZONE 'UTC',
		                 s.place_matches, s.halfway,
		                 l.season_id = s.id)
		FROM seasons s JOIN ladders l ON l.id = s.ladder_id ORDER BY s.number`)
}

// TestImportOfSeasons checks that an import that divides a ladder into seasons has the same result
// as parts of it that were imported while the seasons were played, also if everybody begins
// halfway. A second import changes nothing, and the undo leaves the ladder as it was.
func TestImportOfSeasons(t *testing.T) {
	t.Parallel()
	years := []string{ // in Berlin
		"2021-05-01 12:00,Ann,Bob\n2021-05-02 12:00,Ann,Cid\n2021-12-31 23:59,Alice,Ann\n",
		"2023-01-01 00:00,Dan,Ann\n2023-03-01 12:00,Bob,Dan\n",
		"2024-06-01 12:00,Cid,Alice\n2024-12-31,Cid,Dan\n",
		"2026-02-01 12:00,Ann,Cid\n",
	}
	boundaries := []time.Time{
		time.Date(2021, 12, 31, 23, 0, 0, 0, time.UTC), time.Date(2023, 12, 31, 23, 0, 0, 0, time.UTC),
		time.Date(2024, 12, 31, 23, 0, 0, 0, time.UTC),
	}
	const header = "date,winner,loser\n"
	people := guests("Ann", "Cid", "Dan")
	yearly := func(f *ranking.ImportFile) { f.SeasonMonths = 12 }
	for _, halfway := range []bool{false, true} {
		for last := len(years) - 1; last <= len(years); last++ { // with and without a match of this season
			t.Run(fmt.Sprintf("halfway %t, %d years", halfway, last), func(t *testing.T) {
				t.Parallel()
				begin := func() *game {
					g := newGame(t)
					must(t, g.Do(t.Context(), g.origin(&alice), ranking.Join{}))
					must(t, g.Do(t.Context(), g.origin(&bob), ranking.Join{}))
					g.exec(t, `UPDATE chats SET time_zone = 'Europe/Berlin'`)
					g.exec(t, `UPDATE ladders SET season_months = 1, season_halfway = $1`, halfway)
					g.exec(t, `UPDATE seasons SET ends_at = '2026-11-30 23:00Z'`)
					g.exec(t, `INSERT INTO timers SELECT 't:season:1:1', id, '2026-11-30 23:01Z' FROM chats`)
					return g
				}
				played := begin()
				for i, year := range years[:last] {
					played.importing(t, header+year, people)
					if i < len(boundaries) {
						played.endSeasonAt(t, boundaries[i])
					}
				}
				played.exec(t, `UPDATE seasons SET ends_at = '2026-11-30 23:00Z' WHERE ends_at IS NULL`)
				g := begin()
				text := header + strings.Join(years[:last], "")
				before, spans, notices := g.state(t), g.spans(t), g.count(t, "outbox")
				r := g.importing(t, text, people, yearly)
				if r.Number != 1 || r.Seasons != 3 || len(r.Closed) != 0 {
					t.Fatalf("imported: %+v", r)
				}
				equal(t, "seasons", played.spans(t), g.spans(t))
				equal(t, "state", withoutKeys(played.state(t)), withoutKeys(g.state(t)))
				equal(t, "timers", []string{"t:season:1:4"}, dbValues(t, g, `SELECT key FROM timers WHERE key LIKE 't:season%'`))
				equal(t, "notices", notices, g.count(t, "outbox"))
				g.verifyClean(t)

				imported := g.state(t)
				if r := g.importing(t, text, people, yearly); r.Number != 0 || r.New != 0 {
					t.Errorf("imported again: %+v", r)
				}
				equal(t, "state after the second import", imported, g.state(t))
				importer, f := g.readImport(t, text+"2020-01-01,Ann,Bob\n", people, yearly)
				if _, err := importer.Import(t.Context(), f); !errors.Is(err, ranking.ErrNotEmpty) {
					t.Errorf("divided twice: %v", err)
				}
				_, err := ranking.UndoImport(t.Context(), g.store, club.ID, 1)
				must(t, err)
				equal(t, "state after the undo", before, g.state(t))
				equal(t, "seasons after the undo", spans, g.spans(t))
				equal(t, "timers", []string{"t:season:1:1"}, dbValues(t, g, `SELECT key FROM timers WHERE key LIKE 't:season%'`))
				g.importing(t, text, people, yearly)
				isMatch := func(line string) bool { return strings.HasPrefix(line, "match") } // with the id of a season
				equal(t, "standings of a new import", slices.DeleteFunc(imported, isMatch), slices.DeleteFunc(g.state(t), isMatch))
				equal(t, "seasons of a new import", played.spans(t), g.spans(t))
				g.verifyClean(t)
			})
		}
	}
}

// TestUndoKeepsSeasons checks that taking an import back leaves alone the seasons that it did not
// make, although nobody has played in them.
func TestUndoKeepsSeasons(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.Join{}))
	g.endSeasonAt(t, time.Date(2024, 12, 31, 23, 0, 0, 0, time.UTC))
	spans := g.spans(t)
	equal(t, "seasons", 2, len(spans))
	g.importing(t, "date,winner,loser\n2026-02-01,Ann,Alice\n", guests("Ann"))
	_, err := ranking.UndoImport(t.Context(), g.store, club.ID, 1)
	must(t, err)
	equal(t, "seasons after the undo", spans, g.spans(t))
}
