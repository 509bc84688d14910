package ranking_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

var update = flag.Bool("update", false, "update the golden files")

// exported returns the files of an export of the chat's group, by name.
func (g *game) exported(t testing.TB, chat ranking.ExternalChatID) map[string]string {
	t.Helper()
	var out bytes.Buffer
	must(t, g.store.Export(t.Context(), chat, "Ex-Mitglied", &out))
	r, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	must(t, err)
	files := make(map[string]string)
	for _, f := range r.File {
		in, err := f.Open()
		must(t, err)
		text, err := io.ReadAll(in)
		must(t, err)
		files[f.Name] = string(text)
	}
	return files
}

// export returns the export of the chat's group, and its rows, which are the lines after the
// header.
func (g *game) export(t testing.TB, chat ranking.ExternalChatID) (all, rows string) {
	t.Helper()
	all = g.exported(t, chat)[transfer.ExportName]
	return all, all[strings.Index(all, "\n\"chats\""):]
}

// restoreExport restores an export into a group.
func (g *game) restoreExport(t testing.TB, export string, into ranking.ExternalChatID) (*ranking.RestoredGroup, error) {
	t.Helper()
	b, err := transfer.OpenExport(strings.NewReader(export), int64(len(export)), 1<<24)
	if err != nil {
		return nil, err
	}
	return ranking.Restore(t.Context(), g.store, into, b, false)
}

// mustRestore restores an export of the chat's group into a new group of another database, and
// checks that all rows come back: there are as many, and an export of the new group has the same.
// It does so again after the restore was taken back.
func (g *game) mustRestore(t testing.TB, from *game, chat, into ranking.ExternalChatID) {
	t.Helper()
	export, rows := from.export(t, chat)
	must(t, dbtest.Upsert(t.Context(), g.store, ranking.Chat{ID: into, Kind: ranking.Supergroup, Title: "Restored"}, nil))
	const counts = `
		WITH m AS (SELECT m.* FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		           WHERE c.telegram_chat_id = $1),
		     s AS (SELECT s.* FROM seasons s JOIN groups g ON g.id = s.group_id JOIN chats c ON c.id = g.chat_id
		           WHERE c.telegram_chat_id = $1)
		SELECT ARRAY[(SELECT count(*) FROM m), (SELECT count(*) FROM s),
		    (SELECT count(*) FROM match_players WHERE match_id IN (SELECT id FROM m)),
		    (SELECT count(*) FROM match_fixes WHERE match_id IN (SELECT id FROM m)),
		    (SELECT count(*) FROM match_moves WHERE match_id IN (SELECT id FROM m)),
		    (SELECT count(*) FROM elo_history WHERE match_id IN (SELECT id FROM m)),
		    (SELECT count(*) FROM group_players WHERE season_id IN (SELECT id FROM s)),
		    (SELECT count(*) FROM sightings WHERE group_id IN (SELECT group_id FROM s)),
		    (SELECT count(*) FROM players WHERE group_id IN (SELECT group_id FROM s)),
		    (SELECT count(*) FROM timers JOIN s ON key = 't:season:' || s.ladder_id || ':' || s.id WHERE s.halfway IS NULL)]`
	count := func(g *game, chat ranking.ExternalChatID) (all []int) {
		must(t, g.pool.QueryRow(t.Context(), counts, chat).Scan(&all))
		return all
	}
	for range 2 {
		r, err := g.restoreExport(t, export, into)
		must(t, err)
		if _, got := g.export(t, into); got != rows {
			t.Fatalf("the group is not as it was:\n%s", gocmp.Diff(strings.Split(rows, "\n"), strings.Split(got, "\n")))
		}
		equal(t, "numbers of rows", count(from, chat), count(g, into))
		if found := verify(t, g.store); len(found) > 0 {
			t.Fatalf("verify finds %+v", found)
		}
		if r.Number > 0 {
			u, err := ranking.UndoImport(t.Context(), g.store, into, r.Number)
			must(t, err)
			equal(t, "matches that were taken back", r.Matches, len(u.Matches))
		}
	}
}

// newExportedGroup fills the club, in Berlin, with teams, sets, a draw, half points, an early end,
// a stand-in, an undone match, two people with one name, a name like a formula, a finished season
// and a second ladder.
func (g *game) newExportedGroup(t *testing.T) {
	t.Helper()
	g.begin(t)
	text := `date,a1,a2,b1,b2,score,sets,winner
2025-01-01,Alice,,Bob,,3:1,,
2025-01-02 18:30:05,=Ann,Bob,Alice,Bea,,11-7 / 9-11 / 11-2,
2025-01-03,Bob,,=Ann,,2:2,,
2025-01-04,Bob,,Bea,,,6-2 0-0 RET,a
2025-07-04 12:00,Bea,,Alice,,,,b
2025-07-05,Bob,,Alice,,2:0,,
2025-07-06,=Ann,,Alice,,0:7,,
`
	g.exec(t, dbtest.PadelLadders("true")+`
		UPDATE chats SET time_zone = 'Europe/Berlin';
		UPDATE groups SET created_at = '2024-12-31 12:00Z'`)
	g.importing(t, text, guests("=Ann", "Bea"))
	importer, err := ranking.NewImporter(t.Context(), g.store, club.ID, "padel")
	must(t, err)
	_, f := g.readImport(t, "date,winner,loser\n2025-08-01,Bob,Alice\n")
	_, err = importer.Import(t.Context(), f)
	must(t, err)
	must(t, g.Do(asAdmin(t), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(7)}))
	g.exec(t, `
		UPDATE matches SET undone_at = '2025-07-07' WHERE number = 7;
		UPDATE matches SET score_a = 1002, score_b = 1000 WHERE number = 6;
		UPDATE matches SET stand_ins_a = 1 WHERE number = 1;
		INSERT INTO sightings (group_id, player_id, nick) SELECT 1, id, 'Alice' FROM players WHERE display_name = 'Bea'
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET nick = excluded.nick`)
	d := &dayGroup{game: g, t: t, chat: club}
	d.startSeason(time.Date(2025, time.November, 30, 0, 0, 0, 0, time.UTC))
}

// TestExportedFiles checks the files for spreadsheets, as testdata/export.txt has them. The files
// of matches can be imported into another group, which then has the same ratings.
func TestExportedFiles(t *testing.T) {
	t.Parallel()
	const golden = "testdata/export.txt"
	g := newGame(t)
	g.newExportedGroup(t)
	files := g.exported(t, club.ID)
	delete(files, transfer.ExportName)
	var got strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&got, "-- %s --\n%s", name, strings.TrimPrefix(files[name], "\ufeff"))
	}
	if *update {
		must(t, os.WriteFile(golden, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	equal(t, "files", string(want), got.String())

	other := newGame(t)
	must(t, other.Do(t.Context(), other.origin(&alice), ranking.Join{}))
	other.exec(t, dbtest.PadelLadders("true"))
	for ladder, file := range map[string]string{"": "matches.csv", "padel": "matches-2.csv"} {
		importer, err := ranking.NewImporter(t.Context(), other.store, club.ID, ladder)
		must(t, err)
		_, f := other.readImport(t, files[file], func(f *ranking.ImportFile) {
			f.People = map[string]string{"Alice (@alice)": "@alice", "Alice (2)": "guest Bea", "=Ann": "guest", "Bob": "guest"}
		})
		r, err := importer.Import(t.Context(), f)
		must(t, err)
		if r.Number == 0 {
			t.Fatalf("%s: %+v", file, r)
		}
	}
	const ratings = `
		SELECT concat_ws(' ', l.name, s.elo, s.best_elo, s.won, s.drawn, s.lost)
		FROM group_players s JOIN seasons n ON n.id = s.season_id JOIN ladders l ON l.id = n.ladder_id
		WHERE n.number = 1 AND s.played > 0 ORDER BY 1`
	equal(t, "ratings", dbValues(t, g, ratings), dbValues(t, other, ratings))
}

// TestExportOfFormerPlayers checks that an export has nothing of a forgotten person, that its files
// for spreadsheets have words and the number instead, and that a group with former players comes
// back as it was.
func TestExportOfFormerPlayers(t *testing.T) {
	t.Parallel()
	g, other := newGame(t), newGame(t)
	g.newExportedGroup(t)
	must(t, g.store.Forget(t.Context(), ranking.Forgotten{User: bob.ID}))
	for name, text := range g.exported(t, club.ID) {
		isExport := name == transfer.ExportName
		if strings.Contains(strings.ToLower(text), "bob") || !isExport && strings.Contains(text, ranking.Former) {
			t.Errorf("%s has a name that is forgotten: %s", name, text)
		}
		if !isExport && name != "seasons.csv" && name != "undone.csv" && !strings.Contains(text, ",Ex-Mitglied 1,") &&
			!strings.Contains(text, "\nEx-Mitglied 1,") {
			t.Errorf("%s has no former player: %s", name, text)
		}
	}
	export, rows := g.export(t, club.ID)
	into := ranking.Chat{ID: -1009, Kind: ranking.Supergroup, Title: "Restored"}
	must(t, dbtest.Upsert(t.Context(), other.store, into, nil))
	_, err := other.restoreExport(t, export, into.ID)
	must(t, err)
	if _, got := other.export(t, into.ID); got != rows {
		t.Errorf("the group is not as it was:\n%s", gocmp.Diff(strings.Split(rows, "\n"), strings.Split(got, "\n")))
	}
	equal(t, "findings of verify", 0, len(verify(t, other.store)))
}

// TestRestoreIntoItself checks that a restore into the group of the export's chat restores its
// topics, keeps the board, leaves somebody out who wants to be, and gives usernames to whom the
// export gives them.
func TestRestoreIntoItself(t *testing.T) {
	t.Parallel()
	g, other := newGame(t), newGame(t)
	g.newExportedGroup(t)
	g.exec(t, `INSERT INTO topics SELECT 1, 8, id FROM ladders WHERE name = 'padel'`)
	export, rows := g.export(t, club.ID)
	other.begin(t)
	other.exec(t, `
		INSERT INTO boards (chat_id, ladder_id) SELECT c.id, l.id FROM chats c, ladders l;
		UPDATE sightings SET out_at = '2026-01-01' WHERE player_id = (SELECT id FROM players WHERE username = 'bob')`)
	_, err := other.restoreExport(t, export, club.ID)
	must(t, err)
	equal(t, "topics", []string{"8 padel"},
		dbValues(t, other, `SELECT thread_id || ' ' || name FROM topics JOIN ladders ON id = ladder_id`))
	equal(t, "boards", 1, other.count(t, "boards b JOIN ladders l ON l.id = b.ladder_id WHERE is_default"))
	equal(t, "people who are out", []string{"Bob"}, dbValues(t, other, `
		SELECT display_name FROM sightings JOIN players ON id = player_id WHERE out_at IS NOT NULL`))
	other.exec(t, `UPDATE sightings SET out_at = NULL`)
	_, got := other.export(t, club.ID)
	equal(t, "rows", strings.Split(rows, "\n"), strings.Split(got, "\n"))
	_, err = other.restoreExport(t, export, club.ID)
	if !errors.Is(err, ranking.ErrNotEmpty) {
		t.Errorf("restored again: %v", err)
	}
	_, err = ranking.UndoImport(t.Context(), other.store, club.ID, 1)
	must(t, err)
	other.exec(t, `
		UPDATE sightings SET username = NULL WHERE username = 'bob';
		WITH p AS (INSERT INTO players (telegram_user_id, display_name) VALUES (77, 'Bob II') RETURNING id)
		INSERT INTO sightings (group_id, player_id, username) SELECT 1, id, 'bob' FROM p`)
	_, err = other.restoreExport(t, export, club.ID)
	must(t, err)
	equal(t, "who was seen as @bob", []string{"Bob"}, dbValues(t, other, `
		SELECT p.display_name FROM sightings s JOIN players p ON p.id = s.player_id WHERE s.username = 'bob'`))
}

// TestHostileExports checks that an export that was changed is refused with a Fault and nothing
// written, or is restored right.
func TestHostileExports(t *testing.T) {
	t.Parallel()
	g, other := newGame(t), newGame(t)
	g.newExportedGroup(t)
	export, _ := g.export(t, club.ID)
	other.begin(t)
	all := strings.Join(slices.Sorted(slices.Values(other.written(t))), "\n")
	swap := func(old, other string) string {
		t.Helper()
		changed := strings.Replace(export, old, other, 1)
		if changed == export {
			t.Fatalf("there is no %s", old)
		}
		return changed
	}
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	bomb := func() string {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		f, err := w.Create(transfer.ExportName)
		must(t, err)
		_, err = f.Write(bytes.Repeat([]byte("{ "), 1))
		for range 64 {
			_, err = f.Write(bytes.Repeat([]byte(" "), 1<<20))
		}
		must(t, err)
		must(t, w.Close())
		return out.String()
	}
	for name, tc := range map[string]struct { //nolint:paralleltest // they share the group
		text   string
		reason transfer.Reason
	}{
		"empty":                  {"", transfer.NoExport},
		"CSV":                    {"a,b,winner\nAlice,Bob,a\n", transfer.NoExport},
		"a damaged zip":          {"PK\x03\x04", transfer.BadExport},
		"other JSON":             {`{"matches": [{}]}`, transfer.NoExport},
		"no JSON":                {swap(`"ladders": [`, `"ladders": `), transfer.BadExport},
		"truncated":              {export[:len(export)/2], transfer.BadExport},
		"truncated at the end":   {export[:len(export)-3], transfer.BadExport},
		"something follows":      {export + "{}", transfer.BadExport},
		"a bomb":                 {bomb(), transfer.LargeExport},
		"a newer schema":         {swap(`"schema":`, `"schema":1`), transfer.NewerExport},
		"an unknown column":      {swap(`"elo":`, `"Elo":`), transfer.BadExport},
		"an unknown table":       {swap(`"matches": [`, `"games": [`), transfer.BadExport},
		"a table twice":          {swap(`"groups": [`, `"chats": [],"groups": [`), transfer.BadExport},
		"a wrong type":           {swap(`"elo":1`, `"elo":"x1`), transfer.BadExport},
		"a word for a number":    {swap(`"number":3`, `"number":"x"`), transfer.BadExportRow},
		"a list for a number":    {swap(`"number":3`, `"number":`+deep), transfer.BadExportRow},
		"a huge number":          {swap(`"number":3`, `"number":99999999999999999999`), transfer.BadExportRow},
		"a huge match number":    {swap(`"number":3`, `"number":2147483647`), transfer.BadExportRow},
		"a huge last number":     {swap(`"last_match_number":8`, `"last_match_number":2147483647`), transfer.BadExportRow},
		"a number twice":         {swap(`"number":3`, `"number":2`), transfer.BadExportRow},
		"an id twice":            {swap(`{"id":3,"number":3`, `{"id":2,"number":3`), transfer.BadExport},
		"an unknown player":      {swap(`"match_id":1,"player_id":1`, `"match_id":1,"player_id":1000`), transfer.BadExportRow},
		"a negative player":      {swap(`"match_id":1,"player_id":1`, `"match_id":1,"player_id":-1`), transfer.BadExportRow},
		"an unknown match":       {swap(`{"match_id":8,`, `{"match_id":9,`), transfer.BadExportRow},
		"an account twice":       {swap(`"telegram_user_id":2,`, `"telegram_user_id":1,`), transfer.BadExportRow},
		"NUL in a name":          {swap(`"display_name":"Bob"`, `"display_name":"B\u0000b"`), transfer.BadExportRow},
		"a long name":            {swap(`"name":"Bob"`, `"name":"`+strings.Repeat("Bob", 100)+`"`), transfer.BadExportRow},
		"an unknown reason":      {swap(`"reason":"match"`, `"reason":"whim"`), transfer.BadExportRow},
		"an endless time":        {swap(`"played_at":"2025-01-03T`, `"played_at":"infinity","created_at":"2025-01-03T`), transfer.BadExportRow},
		"other ratings":          {swap(`"elo_after":1516`, `"elo_after":1517`), transfer.WrongRatings},
		"another winner":         {swap(`"score_a":3,"score_b":1`, `"score_a":1,"score_b":3`), transfer.WrongRatings},
		"an undone match counts": {swap(`"undone_at":"2025-07-07T00:00:00+00:00",`, ``), transfer.BadExportRow},
		"no match":               {swap(`"match_players": [`, `"match_players": [],"x": [`), transfer.BadExport},
		"no default ladder":      {swap(`"is_default":true`, `"is_default":false`), transfer.WrongSeasons},
		"two default ladders":    {swap(`"is_default":false`, `"is_default":true`), transfer.BadExportRow},
		"a season without end":   {swap(`"ends_at":"2025-11-30T00:00:00+00:00",`, ``), transfer.WrongSeasons},
		"overlapping seasons":    {swap(`"ends_at":"2025-11-30T`, `"ends_at":"2025-12-30T`), transfer.WrongSeasons},
		"a hidden match":         {swap(`"number":3,"ladder_id":1`, `"number":3,"position":-5,"ladder_id":1`), transfer.WrongSeasons},
		"a match at the end":     {swap(`"number":8,"ladder_id":2`, `"number":8,"position":9000000000000000000,"ladder_id":2`), transfer.WrongSeasons},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := other.restoreExport(t, tc.text, club.ID)
			var fault transfer.Fault
			if !errors.As(err, &fault) || fault.Reason != tc.reason {
				t.Errorf("%v, want %s", err, tc.reason)
			}
			if now := strings.Join(slices.Sorted(slices.Values(other.written(t))), "\n"); now != all {
				t.Errorf("something was written:\n%s", gocmp.Diff(all, now))
			}
		})
	}
	r, err := other.restoreExport(t, swap(`"schema":`, `"schema": `), club.ID)
	if err != nil || r.Number != 1 {
		t.Errorf("unchanged: %+v, %v", r, err)
	}
}
