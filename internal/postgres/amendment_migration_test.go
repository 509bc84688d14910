package postgres_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/migrations"
)

// firstStep returns only the first of the real migrations.
func firstStep(t *testing.T) fstest.MapFS {
	t.Helper()
	files := make(fstest.MapFS)
	names, err := fs.Glob(migrations.FS, "000001_*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

// old is a player's standing in a ladder, calculated match by match.
type old struct {
	start, elo, best, streak int
	won, drawn, lost         int
}

// move adds a match with the outcome 1, 0 or -1.
func (o *old) move(outcome, change int) {
	o.elo += change
	o.best = max(o.best, o.elo)
	switch {
	case outcome == 0:
		o.drawn, o.streak = o.drawn+1, 0
	case outcome > 0:
		o.won, o.streak = o.won+1, max(o.streak, 0)+1
	default:
		o.lost, o.streak = o.lost+1, min(o.streak, 0)-1
	}
}

// entry is what an entry of the history contains about the standing before its match.
type entry struct {
	Ladder, Number, Player, Best, Streak int
}

// oldMatches fills a database of the first version with three ladders in two groups, in which five people play each
// other. It returns the expected entries of the history.
func oldMatches(t *testing.T, pool *pgxpool.Pool) (want []entry) {
	t.Helper()
	dbtest.Exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'group'), (-200, 'group');
		INSERT INTO groups (chat_id, last_match_number) VALUES (1, 400), (2, 200);
		INSERT INTO ladders (group_id, is_default) VALUES (1, true), (1, false), (2, true);
		INSERT INTO players (username, display_name) SELECT 'user' || n, 'User' FROM generate_series(1, 6) n;
		INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo)
		    VALUES (1, 6, 'Has only joined', 1500, 1500, 1500)`)
	starts := []int{1500, 1500, 0, 1000, 2500}
	standings := make(map[[2]int]*old) // by ladder and player
	for ladder := 1; ladder <= 3; ladder++ {
		for i, start := range starts {
			standings[[2]int{ladder, i + 1}] = &old{start: start, elo: start, best: start}
		}
	}
	random := rand.New(rand.NewPCG(2, 2))
	played := 0
	var all pgx.Batch
	play := func(group, ladder, number int) {
		players := []int{1 + random.IntN(5), 1 + random.IntN(5)}
		outcome := []int{1, 1, 0, -1, -1}[random.IntN(5)]
		change := outcome * random.IntN(40)
		switch {
		case number <= 20: // a peak that is never reached again
			players, outcome, change = []int{1, 5}, 1, 100
		case players[0] == players[1]:
			players[1] = 1 + players[0]%5
		}
		a, b := standings[[2]int{ladder, players[0]}], standings[[2]int{ladder, players[1]}]
		if outcome == 0 {
			change = random.IntN(11) - 5
		}
		change = max(-a.elo, min(change, b.elo))
		played++
		all.Queue(`INSERT INTO matches
			(group_id, ladder_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
			VALUES ($1, $2, $3, $4, 1, 32, now(), $5)`, group, ladder, number, 1+outcome, fmt.Sprintf("m:%d", played))
		for i, o := range []*old{a, b} {
			want = append(want, entry{ladder, number, players[i], o.best, o.streak})
			before, sign := o.elo, 1-2*i
			o.move(sign*outcome, sign*change)
			all.Queue(`
				WITH part AS (INSERT INTO match_players VALUES ($1, $2, $3))
				INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, reason)
				VALUES ($1, $2, $4, $5, 'match')`, played, players[i], i+1, before, o.elo)
		}
	}
	for number := 1; number <= 400; number++ {
		play(1, 1+random.IntN(2), number)
		if number%2 == 0 {
			play(2, 3, number/2)
		}
	}
	for key, o := range standings {
		all.Queue(`
			INSERT INTO group_players (ladder_id, player_id, name, elo, start_elo, best_elo, played, won, drawn, lost, streak)
			VALUES ($1, $2, 'User', $3, $4, $5, $6, $7, $8, $9, $10)`,
			key[0], key[1], o.elo, o.start, o.best, o.won+o.drawn+o.lost, o.won, o.drawn, o.lost, o.streak)
	}
	if err := pool.SendBatch(t.Context(), &all).Close(); err != nil {
		t.Fatal(err)
	}
	return want
}

// TestAmendmentStepFillsTheHistory: the second step calculates what the first version has not stored.
func TestAmendmentStepFillsTheHistory(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.Empty(t))
	dbtest.Migrate(t, pool, firstStep(t))
	want := oldMatches(t, pool)
	before := dbtest.Values[string](t, pool, `SELECT (to_jsonb(s) - 'left_at')::text FROM group_players s ORDER BY id`)
	dbtest.Migrate(t, pool, migrations.FS)
	var got []entry
	for _, numbers := range dbtest.Values[[]int](t, pool, `
		SELECT ARRAY[m.ladder_id, m.number, h.player_id, h.best_before, h.streak_before]
		FROM elo_history h JOIN matches m ON m.id = h.match_id ORDER BY h.id`) {
		got = append(got, entry{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("standings before each match (-want +got):\n%s", diff)
	}
	after := dbtest.Values[string](t, pool, `SELECT (to_jsonb(s) - 'left_at')::text FROM group_players s ORDER BY id`)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the standings have changed (-before +after):\n%s", diff)
	}
	// the matches cover the difficult cases
	for name, has := range map[string]func(entry) bool{
		"a run of wins":      func(e entry) bool { return e.Streak >= 4 },
		"a run of losses":    func(e entry) bool { return e.Streak <= -4 },
		"the end of a run":   func(e entry) bool { return e.Streak == 0 && e.Number > 100 },
		"the peak of them":   func(e entry) bool { return e.Player == 1 && e.Number > 190 && e.Best > 2000 },
		"a start at nothing": func(e entry) bool { return e.Player == 3 && e.Best == 0 },
	} {
		if !slices.ContainsFunc(want, has) {
			t.Errorf("the matches do not include %s", name)
		}
	}
}

// TestAmendmentStepGoesDown reverts the second step, and applies it again, in a database with all the data that the
// step is for.
func TestAmendmentStepGoesDown(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	all := everythingAmended(t, w)
	const standings = `SELECT (to_jsonb(s) - 'left_at')::text FROM group_players s ORDER BY id` // a later step adds left_at
	const current = `SELECT (match_id, player_id, elo_before, elo_after, best_before, streak_before)::text
		FROM elo_history WHERE superseded_at IS NULL ORDER BY 1`
	wantStandings, wantCurrent := dbtest.Values[string](t, w.Pool, standings), dbtest.Values[string](t, w.Pool, current)

	downs, err := fs.Glob(migrations.FS, "*.down.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Backward(downs[1:]) {
		down, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, w.Pool, string(down))
	}
	dbtest.Exec(t, w.Pool, `UPDATE schema_migrations SET version = 1`)
	first := dbtest.Open(t, pgtest.Empty(t))
	dbtest.Migrate(t, first, firstStep(t))
	if diff := cmp.Diff(schema(t, first), schema(t, w.Pool)); diff != "" {
		t.Errorf("the step is not reverted (-first +after down):\n%s", diff)
	}
	if diff := cmp.Diff(wantStandings, dbtest.Values[string](t, w.Pool, standings)); diff != "" {
		t.Errorf("standings after the way down (-before +after):\n%s", diff)
	}
	if got := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM matches`); got != all {
		t.Errorf("%d matches are left of %d", got, all)
	}

	w.Pool.Reset() // the columns have changed
	dbtest.Migrate(t, w.Pool, migrations.FS)
	if diff := cmp.Diff(wantStandings, dbtest.Values[string](t, w.Pool, standings)); diff != "" {
		t.Errorf("standings after down and up (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(wantCurrent, dbtest.Values[string](t, w.Pool, current)); diff != "" {
		t.Errorf("history after down and up (-before +after):\n%s", diff)
	}
	w.Undo(t, "down and up", dbtest.Alice, 1)
}

// everythingAmended fills the world with matches that are undone and fixed, with players who are merged, with
// messages that are edited and with callback answers. It returns the number of matches.
func everythingAmended(t *testing.T, w *dbtest.World) (matches int) {
	t.Helper()
	al := ranking.Person{Username: "al"}
	w.Record(t, "m1", dbtest.Alice, dbtest.Bob, 3, 1)
	w.Record(t, "m2", al, dbtest.Bob, 3, 1)
	w.Record(t, "m3", dbtest.Bob, dbtest.Alice, 1, 1)
	w.Record(t, "m4", al, dbtest.Alice, 3, 1)
	w.Record(t, "m5", dbtest.Bob, dbtest.Carol, 3, 1)
	w.Record(t, "m6", dbtest.Alice, dbtest.Carol, 3, 1)
	w.Undo(t, "u5", dbtest.Bob, 5)
	w.Fix(t, "f6", dbtest.Alice, 6, ranking.Score{A: 11, B: 7}, ranking.Score{A: 9, B: 11}, ranking.Score{A: 11, B: 5})
	renamed := dbtest.Alice
	renamed.Username = "al"
	w.Answer(t, "merge", renamed)
	if got := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM players WHERE merged_into IS NOT NULL`); got != 1 {
		t.Fatalf("%d players are merged", got)
	}
	queue := w.Mail(t)
	for range 3 {
		message := queue.MustAdvance(t, outbox.Bounds{Merge: 1, MaxWaiting: 1000}, nil, dbtest.Chat(1))[0].Message
		queue.Finish(t, dbtest.SentAs(*message, 70+message.Row.ID))
	}
	w.Undo(t, "u2", dbtest.Bob, 2)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO outbox (chat_id, kind, payload, action, callback_query_id, state, finished_at)
		VALUES (1, 'refusal', '{}', 'toast', 'press', 'expired', now()), (1, 'refusal', '{}', 'toast', 'press', 'planned', NULL)`)
	for table, want := range map[string]int{
		"match_fixes": 1, "match_messages": 3, "matches WHERE undone_at IS NOT NULL": 3,
		"outbox WHERE action = 'edit'": 1, "outbox WHERE state = 'expired'": 1,
	} {
		if got := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM `+table); got != want {
			t.Fatalf("there are %d of %s, want %d", got, table, want)
		}
	}
	return 6
}

// TestAmendmentStepKnowsOldCards: the second step finds the messages that show existing matches.
func TestAmendmentStepKnowsOldCards(t *testing.T) {
	t.Parallel()
	pool := dbtest.Open(t, pgtest.Empty(t))
	dbtest.Migrate(t, pool, firstStep(t))
	dbtest.Exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-200, 'group'), (-100, 'group');
		INSERT INTO groups (chat_id, last_match_number) VALUES (2, 3), (1, 1);
		INSERT INTO ladders (group_id, is_default) VALUES (1, true), (2, true);
		INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    VALUES (1, 1, 1, 3, 1, 32, now(), 'a'), (1, 1, 2, 3, 1, 32, now(), 'b'), (1, 1, 3, 3, 1, 32, now(), 'c'),
		           (2, 2, 1, 3, 1, 32, now(), 'd');
		INSERT INTO outbox (chat_id, kind, payload, state, telegram_message_id, finished_at) VALUES
		    (2, 'match_recorded', '{"number": 1}', 'sent', 71, now()), (2, 'match_recorded', '{"number": 2}', 'sent', 0, now()),
		    (2, 'match_recorded', '{"number": 3}', 'planned', NULL, NULL), (1, 'match_recorded', '{"number": 1}', 'sent', 81, now()),
		    (1, 'refusal', '{"number": 1}', 'sent', 82, now())`)
	dbtest.Migrate(t, pool, migrations.FS)
	cards := dbtest.Values[string](t, pool, `SELECT concat_ws(' ', telegram_chat_id, telegram_message_id, match_id) FROM match_messages ORDER BY 1`)
	if diff := cmp.Diff([]string{"-100 71 1", "-200 81 4"}, cards); diff != "" {
		t.Errorf("messages that show matches (-want +got):\n%s", diff)
	}
	matches := dbtest.Values[string](t, pool, `SELECT coalesce(match_id::text, '') FROM outbox ORDER BY id`)
	if diff := cmp.Diff([]string{"1", "2", "3", "4", ""}, matches); diff != "" {
		t.Errorf("matches of the notices (-want +got):\n%s", diff)
	}
}
