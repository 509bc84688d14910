package ranking_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/plainladder"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

// importNow is when the tests import, and when a match without a date counts as played.
var importNow = time.Date(2026, time.November, 30, 18, 0, 0, 0, time.UTC)

// readImport reads the text of a file as the command does.
func (g *game) readImport(
	t testing.TB, text string, adjust ...func(*ranking.ImportFile),
) (*ranking.Importer, ranking.ImportFile) {
	t.Helper()
	importer, err := ranking.NewImporter(t.Context(), g.store, club.ID, "")
	must(t, err)
	read, err := transfer.ReadCSV(strings.NewReader(text), transfer.Options{
		Zone: importer.Zone, Now: importNow, OrderByRow: true, Dates: transfer.DayFirst,
	})
	must(t, err)
	f := ranking.ImportFile{File: read, Hash: text, At: importNow}
	for _, a := range adjust {
		a(&f)
	}
	return importer, f
}

// importing imports the text of a file and returns the report.
func (g *game) importing(t testing.TB, text string, adjust ...func(*ranking.ImportFile)) ranking.ImportReport {
	t.Helper()
	importer, f := g.readImport(t, text, adjust...)
	r, err := importer.Import(t.Context(), f)
	must(t, err)
	return r
}

// guests makes everybody of a file whom the group does not have a guest.
func guests(names ...string) func(*ranking.ImportFile) {
	return func(f *ranking.ImportFile) {
		f.People = make(map[string]string)
		for _, name := range names {
			f.People[name] = transfer.Guest
		}
	}
}

// begin makes Alice and Bob players of the club.
func (g *game) begin(t *testing.T) {
	t.Helper()
	for _, p := range []ranking.Origin{g.origin(&alice), g.origin(&bob)} {
		must(t, g.Do(t.Context(), p, ranking.Join{}))
	}
}

// state returns all that a taken back import must leave as it was: the standings, the order of the
// matches, and their history, without ids and numbers.
func (g *game) state(t testing.TB) []string {
	t.Helper()
	return dbValues(t, g, `
		SELECT concat_ws(' ', 'standing', n.number, s.name, s.elo, s.start_elo, s.best_elo, s.played, s.won, s.drawn, s.lost,
		           s.streak, s.longest_streak, s.last_played_at) AS line
		FROM group_players s JOIN seasons n ON n.id = s.season_id
		UNION ALL SELECT concat_ws(' ', 'match', row_number() OVER (ORDER BY coalesce(m.position, m.number::bigint << 32)),
		           m.season_id, m.idempotency_key, m.upset, m.undone_at IS NOT NULL, (
		               SELECT string_agg(concat_ws(' ', p.display_name, h.elo_before, h.elo_after), ', '
		                   ORDER BY p.display_name)
		               FROM elo_history h JOIN players p ON p.id = h.player_id
		               WHERE h.match_id = m.id AND h.superseded_at = 'infinity'))
		FROM matches m ORDER BY line`)
}

func dbValues(t testing.TB, g *game, sql string) []string {
	t.Helper()
	rows, err := g.pool.Query(t.Context(), sql)
	must(t, err)
	var all []string
	for rows.Next() {
		var line string
		must(t, rows.Scan(&line))
		all = append(all, line)
	}
	must(t, rows.Err())
	return all
}

// TestImportEqualsPlainLadder checks that an import into an empty group has the ratings of an
// independent calculation, that a second import of the file changes nothing, and that its undo
// leaves nothing, so that the file can be imported again.
func TestImportEqualsPlainLadder(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.Join{}))
	names := []string{"Ann", "Bea", "Cid", "Dan", "Eva"}
	var text strings.Builder
	var want []plainladder.Match
	text.WriteString("date;a;b;score\n")
	for i := range 300 {
		a, b := names[i%5], names[(i*i+1+i%4)%5]
		if a == b {
			b = names[(i+1)%5]
		}
		day := time.Date(2024, 1, 1+i/3, 0, 0, 0, 0, time.UTC)
		fmt.Fprintf(&text, "%s;%s;%s;%d:%d\n", day.Format(time.DateOnly), a, b, i%7, i%3)
		want = append(want, plainladder.Match{Number: i + 1, A: []string{a}, B: []string{b}, ScoreA: i % 7, ScoreB: i % 3})
	}
	r := g.importing(t, text.String())
	if len(r.Unknown) != 5 || r.Number != 0 || r.Unknown[0].Who != transfer.Guest || r.Unknown[0].Matches == 0 {
		t.Fatalf("before somebody has decided who they are: %+v", r)
	}
	empty := g.state(t)
	r = g.importing(t, text.String(), guests(names...))
	if r.Number != 1 || r.New != 300 || r.Players != 5 {
		t.Fatalf("imported: %+v", r)
	}
	standings := plainladder.Play(nil, want).Standings
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(standings)) {
		s := standings[name]
		lines = append(lines, fmt.Sprint(s.Who, s.Elo, s.Best, s.Played, s.Won, s.Drawn, s.Lost, s.Streak, s.Longest))
	}
	got := dbValues(t, g, `
		SELECT concat(name, concat_ws(' ', elo, best_elo, played, won, drawn, lost, streak, longest_streak))
		FROM group_players WHERE played > 0 ORDER BY name`)
	equal(t, "standings", lines, got)
	imported := g.state(t)
	r = g.importing(t, text.String())
	if r.Number != 0 || r.New != 0 || len(r.Known) != 300 || len(r.Equal) != 300 {
		t.Errorf("imported again: %d, %d new, %d known, %d equal", r.Number, r.New, len(r.Known), len(r.Equal))
	}
	equal(t, "state after the second import", imported, g.state(t))
	undone, err := ranking.UndoImport(t.Context(), g.store, club.ID, 1)
	must(t, err)
	equal(t, "undone", 300, len(undone.Matches))
	equal(t, "state after the undo", empty, g.state(t))
	if _, err := ranking.UndoImport(t.Context(), g.store, club.ID, 1); !errors.Is(err, ranking.ErrNoSuchImport) {
		t.Errorf("undone twice: %v", err)
	}
	g.verifyClean(t)
	r = g.importing(t, text.String(), guests(names...))
	if r.Number != 2 || r.New != 300 || r.Players != 0 {
		t.Errorf("imported after the undo: %+v", r)
	}
	equal(t, "history", imported, g.state(t))
}

// TestImportBetween checks where rows enter the order of recorded matches, that they go to the
// season of their day, that the final table of a finished season changes only if that is allowed,
// and that the ratings of the next season stay.
func TestImportBetween(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, club.ID, "season") // which plays in Berlin on playedDays
	text := "date,winner,loser\n" +
		"2020-01-01,Alice,Bobby\n2026-10-30 08:30,Alice,Ann\n2026-11-24,Ann,Bobby\n2026-11-29 12:00,Bobby,Alice\n" +
		"2026-11-30,Alice,Bobby\n2026-11-30 15:00,Ann,Alice\n"
	second := d.ratings(2)
	r := g.importing(t, text)
	if r.Number != 0 || len(r.Closed) != 1 || r.Closed[0].Number != 1 || r.New != 6 {
		t.Fatalf("into a finished season: %+v", r)
	}
	first, notices := d.ratings(1), g.count(t, "outbox")
	r = g.importing(t, text, func(f *ranking.ImportFile) { f.ClosedSeasons = true })
	if r.Number != 1 || r.New != 6 || r.Later != 10 {
		t.Fatalf("imported: %+v", r)
	}
	var numbers, seasons []int
	for _, m := range d.ordered() {
		numbers, seasons = append(numbers, m.Number), append(seasons, m.Season)
	}
	equal(t, "order", []int{13, 1, 2, 3, 14, 4, 5, 6, 15, 7, 8, 9, 10, 16, 11, 12, 17, 18}, numbers)
	equal(t, "seasons", []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2}, seasons)
	if maps.Equal(first, d.ratings(1)) || maps.Equal(second, d.ratings(2)) {
		t.Error("the ratings are those from before")
	}
	starts := dbValues(t, g, `
		SELECT DISTINCT start_elo::text FROM group_players s JOIN seasons n ON n.id = s.season_id WHERE n.number = 2`)
	equal(t, "ratings with which the second season began", []string{"1500"}, starts)
	_, err := ranking.UndoImport(t.Context(), g.store, club.ID, 1)
	must(t, err)
	equal(t, "ratings after the undo", first, d.ratings(1))
	equal(t, "ratings after the undo", second, d.ratings(2))
	equal(t, "notices", notices, g.count(t, "outbox"))
	g.exec(t, `UPDATE outbox SET state = 'sent', finished_at = now(), supersede_key = NULL`)
	g.exec(t, `INSERT INTO ensured_messages SELECT id, 'season:1', 9, '' FROM chats`)
	g.importing(t, text, func(f *ranking.ImportFile) { f.ClosedSeasons = true })
	equal(t, "notices if the chat has a message about the first season", notices+1, g.count(t, "outbox"))
}

// TestRefusedImport checks that an import with a fault writes nothing, not even its guests, unless
// the faults are to be skipped.
func TestRefusedImport(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	text := "a,b,score,date\nAlice,Ann,3:1,2026-01-01\nAnn,Anna,2:1,2026-01-02\n" +
		"Bob,Ann,x,2026-01-03\nAlice,Bob,1:0,2026-01-04\n"
	people := func(f *ranking.ImportFile) {
		f.People = map[string]string{"Ann": "guest", "Anna": "guest Ann", "Bob": "leave out"}
	}
	contents := g.written(t)
	r := g.importing(t, text, people)
	if r.Number != 0 || len(r.Refused) != 2 || r.Refused[0].Reason != transfer.SamePerson || r.Refused[0].Line != 3 {
		t.Errorf("the report is %+v", r)
	}
	for name, fault := range map[string]string{
		"a name that others have": "guest Bob", "a word of commands": "guest won", "nobody": "?", "several": "guest Zed, Yan",
		"a long username": "@" + strings.Repeat("x", 33),
	} {
		r := g.importing(t, text, func(f *ranking.ImportFile) {
			people(f)
			f.People["Ann"], f.SkipRefused = fault, true
		})
		if r.Number != 0 || len(r.Faults) == 0 {
			t.Errorf("%s: the report is %+v", name, r)
		}
	}
	g.importing(t, text, people, func(f *ranking.ImportFile) { f.SkipRefused, f.DryRun = true, true })
	equal(t, "contents after refusals and a dry run", contents, g.written(t))
	r = g.importing(t, text, people, func(f *ranking.ImportFile) { f.SkipRefused = true })
	if r.Number != 1 || r.New != 1 || r.Players != 1 || !slices.Equal(r.Away, []int{5}) {
		t.Errorf("the report is %+v", r)
	}
}

// written returns all rows of the tables that an import writes.
func (g *game) written(t *testing.T) (all []string) {
	t.Helper()
	for _, table := range []string{
		"groups", "players", "group_players", "matches", "match_players", "elo_history", "imports", "start_ratings",
		"outbox",
	} {
		all = append(all, dbValues(t, g, "SELECT r::text FROM "+table+" r ORDER BY 1")...)
	}
	return all
}

// TestPeopleOfImport checks who the names of a file are: players by name, username and id, known
// and new, guests, and players who count as others or have left the rankings.
func TestPeopleOfImport(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	must(t, g.Do(t.Context(), saying(g.origin(&alice), "guest", "Алёна"), ranking.AddGuest{}))
	must(t, g.Do(t.Context(), saying(g.origin(&alice), "guest", "Bobby"), ranking.AddGuest{}))
	g.exec(t, `INSERT INTO sightings (group_id, player_id, counts_as)
		SELECT 1, guest.id, bob.id FROM players guest, players bob
		WHERE guest.display_name = 'Bobby' AND bob.username = 'bob'`)
	text := "a,b,winner\nALICE,Алена,a\nbob,alice,a\nBobby,Zed,a\nCarl,Dora,b\nBobby,Bob,a\nAlic,Алёна,b\n"
	r := g.importing(t, text)
	got := ""
	for _, p := range r.Unknown {
		got += fmt.Sprintf("%s: %s (%s) %d\n", p.Name, p.Who, p.Similar, p.Matches)
	}
	equal(t, "the names", `ALICE: @alice () 2
Алена: guest Алёна () 2
bob: @bob () 2
Bobby: guest Bobby () 2
Zed: guest () 1
Carl: guest () 1
Dora: guest () 1
Alic:  (@alice (Alice)) 1
`, got)
	r = g.importing(t, text, func(f *ranking.ImportFile) {
		f.SkipRefused = true
		f.People = map[string]string{"zed": "@zed", "Carl": "77", "Dora": "Guest", "Alic": "1"}
	})
	if r.Number != 1 || r.New != 5 || r.Players != 3 || len(r.Refused) != 1 || r.Refused[0].Line != 6 {
		t.Fatalf("the report is %+v", r)
	}
	equal(t, "matches", []string{
		"1 Alice beats Алёна", "2 Bob beats Alice", "3 Bobby for Bob beats zed", "4 Dora beats Carl", "5 Алёна beats Alice",
	}, dbValues(t, g, `
		SELECT m.number || ' ' || string_agg(concat_ws(' for ', n.display_name, p.display_name), ' beats '
		    ORDER BY mp.side = m.winner DESC)
		FROM matches m JOIN match_players mp ON mp.match_id = m.id JOIN players p ON p.id = mp.player_id
		LEFT JOIN players n ON n.id = mp.named_id GROUP BY m.number ORDER BY m.number`))
	equal(t, "players", []string{"Carl 77", "zed zed"}, dbValues(t, g, `
		SELECT concat_ws(' ', display_name, username, telegram_user_id) FROM players
		WHERE display_name IN ('zed', 'Carl') ORDER BY display_name`))
	g.exec(t, `INSERT INTO sightings (group_id, player_id, out_at)
		SELECT 1, id, now() FROM players WHERE username = 'alice'
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET out_at = now()`)
	r = g.importing(t, "a,b,winner\nAlice,Bob,b\n")
	if r.Number != 0 || len(r.Faults) != 1 || r.Faults[0].Code != ranking.PlayerOut {
		t.Errorf("with somebody who is out, the report is %+v", r)
	}
}

// TestImportEntersInPlayingOrder checks that the new players of a file enter the season in the
// order in which they first play, so equal ratings are shown in that order. A refused row does not
// count.
func TestImportEntersInPlayingOrder(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	text, want := "date,a,b,score\n2023-11-01,Zed,Also Zed,1:0\n2023-11-02,Alice,Bob,1:0\n", []string{"Alice", "Bob"}
	for i := range 10 {
		a, b := fmt.Sprint("Ann", i), fmt.Sprint("Bea", i)
		text, want = text+fmt.Sprintf("2023-11-03,%s,%s,1:0\n", a, b), append(want, a, b)
	}
	want = append(want, "Yan", "Zed")
	g.importing(t, text+"2023-11-04,Yan,Zed,1:0\n", guests(want[2:]...), func(f *ranking.ImportFile) {
		f.People["Also Zed"], f.SkipRefused = transfer.Guest+" Zed", true
	})
	equal(t, "the order of the standings", want, texts(t, g, `SELECT name FROM group_players ORDER BY id`))
}

// TestImportUndoProperty checks that an import that is taken back leaves the state as if the group
// had only played: matches before and after it, another import, and undone matches stay.
func TestImportUndoProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		people := []string{"Alice", "Bob", "Ann", "Bea"}
		file := func(label string) string {
			text := "date,a,b,score,id\n"
			for i := range rapid.IntRange(1, 12).Draw(r, label) {
				pair := rapid.Permutation(people).Draw(r, "pair")
				day := rapid.IntRange(1, 28).Draw(r, "day")
				text += fmt.Sprintf("2023-11-%02d,%s,%s,%d:1,%s%d\n", day, pair[0], pair[1], i%4, label, i)
			}
			return text
		}
		one, other := file("one"), file("other")
		plays := rapid.SliceOfN(rapid.IntRange(0, 2), 1, 8).Draw(r, "plays")
		at := rapid.IntRange(0, len(plays)).Draw(r, "at")
		undoes := rapid.IntRange(1, 30).Draw(r, "undoes")
		var states [][]string
		for _, imports := range []bool{false, true} {
			t.Run("", func(t *testing.T) {
				g := newGameOn(pgtest.Borrow(t))
				play := func(results []int) {
					for _, n := range results {
						g.record(t, &alice, alice, bob, n, 1)
					}
				}
				if play(plays[:at]); at == 0 {
					g.begin(t)
				}
				if imports {
					g.importing(t, one, guests("Ann", "Bea"))
					must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(at + undoes)}))
				}
				g.importing(t, other, guests("Ann", "Bea"))
				play(plays[at:])
				if imports {
					_, err := ranking.UndoImport(t.Context(), g.store, club.ID, 1)
					must(t, err)
				}
				g.verifyClean(t)
				states = append(states, withoutKeys(g.state(t)))
			})
		}
		if !slices.Equal(states[0], states[1]) {
			r.Fatalf("the state after the undo is\n%s\nwant\n%s", strings.Join(states[1], "\n"), strings.Join(states[0], "\n"))
		}
	})
}

// withoutKeys removes the keys of matches, which depend on the secret of the group.
func withoutKeys(lines []string) []string {
	for i, line := range lines {
		words := strings.Fields(line)
		words = slices.DeleteFunc(words, func(w string) bool {
			return strings.HasPrefix(w, ranking.ImportKey) || strings.HasPrefix(w, "m:")
		})
		lines[i] = strings.Join(words, " ")
	}
	slices.SortFunc(lines, cmp.Compare)
	return lines
}

// TestAgainOnlyForKnownRows checks that an import that is to take rows again writes nothing unless
// all of them are known only by their cells, and names all others.
func TestAgainOnlyForKnownRows(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	text := "id,date,a,b,score\n,2026-01-01,Alice,Bob,1:0\n,2026-01-01 12:00,Alice,Bob,1:0\n7,2026-01-02,Alice,Bob,1:0\n"
	again := func(lines ...int) func(*ranking.ImportFile) {
		return func(f *ranking.ImportFile) { f.Again = lines }
	}
	if r := g.importing(t, text, again(2)); r.Number != 0 || !slices.Equal(r.NotAgain, []int{2}) {
		t.Errorf("a row that is new: %+v", r)
	}
	g.importing(t, text)
	imported := g.written(t)
	more := text + ",2026-01-03,Bob,Alice,1:0\n"
	if r := g.importing(t, more, again(99, 4, 3, 2, 5)); r.Number != 0 || !slices.Equal(r.NotAgain, []int{3, 4, 5, 99}) {
		t.Errorf("rows of all kinds: %+v", r)
	}
	equal(t, "contents", imported, g.written(t))
	for number, want := range []int{2, 0} {
		r := g.importing(t, more, again(2))
		if r.Number != want || len(r.NotAgain)+len(r.Same) > 0 || r.New != want {
			t.Errorf("run %d: %+v", number+1, r)
		}
	}
}

// TestSameMatches checks that an import lists new rows with the time, the people and the result of
// recorded matches, which it does not know by their keys.
func TestSameMatches(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, club.ID, "base") // Alice against Bobby at 8:00 in Berlin, Bobby against Ann at 9:00
	d.report(t.Context(), &alice, "/match @bobby 3:1 yesterday")
	undo := ranking.UndoMatch{Amendment: matchNumber(12)}
	must(t, g.Do(asAdmin(t), d.at(&alice, d.now), undo))
	text := "date,a,b,score\n" +
		"2026-10-20,Alice,Bobby,5:2\n2026-10-20,Bobby,Alice,2:5\n2026-10-20,Bobby,Alice,5:2\n2026-10-21,Alice,Bobby,5:2\n" +
		"2026-10-20 08:00,Alice,Bobby,5:2\n2026-10-20 08:00:01,Alice,Bobby,5:2\n2026-10-20,Ann,Alice,5:2\n" +
		"2026-11-29,Alice,Bobby,3:1\n2026-11-30,Ann,Bobby,2:5\n2026-11-30 09:00,Bobby,Ann,5:2\n"
	r := g.importing(t, text, func(f *ranking.ImportFile) { f.DryRun = true })
	equal(t, "equal to recorded matches", []int{2, 3, 6, 9, 10, 11}, r.Same)
	if r.New != 10 || len(r.Known) > 0 || r.Number != 0 {
		t.Errorf("the report is %+v", r)
	}
	text = "date,a,b,score\n2026-10-21,Alice,Bobby,5:2\n"
	for range 2 { // then a second row like it
		if r := g.importing(t, text); r.Number == 0 || len(r.Same) > 0 {
			t.Errorf("without such rows, the report is %+v", r)
		}
		text += "2026-10-21,Alice,Bobby,5:2\n"
	}
}

// TestMoveOfImported checks that when an imported match is moved to another ladder, it follows the
// matches that were played before it, even if they have higher numbers.
func TestMoveOfImported(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	d := g.newDayGroup(t, club.ID, "base")
	g.importing(t, "date,a,b,score\n2026-11-30 12:00,Alice,Bobby,3:1\n")
	add := ranking.ChangeLadder{Change: ranking.AddLadder, First: "chess", Name: "padel"}
	must(t, g.Do(asAdmin(t), d.at(&alice, d.now), add))
	d.report(asAdmin(t), &alice, "/match padel @ann 3:1 28.11.")
	move := ranking.MoveMatch{Amendment: matchNumber(13), Name: "padel", Otherwise: ranking.Refusal{Code: "no_ladder"}}
	must(t, g.Do(asAdmin(t), d.at(&alice, d.now), move))
	var numbers []int
	for _, m := range d.ordered() {
		if m.Number > 12 { // the others are in the first ladder
			numbers = append(numbers, m.Number)
		}
	}
	equal(t, "order", []int{14, 13}, numbers)
}

// TestNewPlayerWithoutMatch checks that an import succeeds although somebody new is only in matches
// that are left out.
func TestNewPlayerWithoutMatch(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	r := g.importing(t, "a,b,winner\nAlice,Bob,a\nZed,Yan,a\n", func(f *ranking.ImportFile) {
		f.People = map[string]string{"Zed": transfer.LeaveOut, "Yan": transfer.Guest}
	})
	if r.Number != 1 || r.New != 1 || r.Players != 0 || !slices.Equal(r.Away, []int{3}) {
		t.Errorf("the report is %+v", r)
	}
}

// TestGuestsOfAnUndoneImport checks that guests of an import that was taken back are known when the
// file is imported again, unless an admin has removed them.
func TestGuestsOfAnUndoneImport(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.begin(t)
	const text = "a,b,winner\nAlice,Ann,a\n"
	undo := func(number int) {
		_, err := ranking.UndoImport(t.Context(), g.store, club.ID, number)
		must(t, err)
	}
	g.importing(t, text, guests("Ann"))
	undo(1)
	equal(t, "new matches after the undo", 1, g.importing(t, text).New)
	undo(2)
	g.remove(t, "Ann", false)
	equal(t, "names after the guest is removed", 2, len(g.importing(t, text).Unknown))
}
