package pgranking_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func TestApplyMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	dbtest.Exec(t, w.Pool, `UPDATE chats SET is_active = false, parked_at = now()`)
	snap := w.Read(t, alice, bob)
	c := dbtest.Match(snap, "m:-100:7")
	c.Addressee = ranking.Name{Name: "Alice"}
	m := recorded(&c)
	m.RatingRules = ladder.RatingRules{K: 24, Provisional: ladder.Provisional{K: 48, Matches: 10}, Margin: true}
	m.Players[0].K, m.Players[1].K = 48, 24
	dbtest.Must(t, w.Store.Apply(t.Context(), c))
	if got := w.Wakes.Load(); got != 1 {
		t.Errorf("committed was called %d times", got)
	}
	a, b := w.ID(t, "Alice"), w.ID(t, "Bob")
	for sql, want := range map[string]string{
		`SELECT number || ' ' || score_a || ':' || score_b || ' K' || k_factor || ' ' ||
			provisional_k_factor || ' ' || provisional_matches || ' ' || margin_of_victory || ' ' || (reported_by = $1) || ' ' ||
			(played_at = to_timestamp(1700000000)) || ' ' || idempotency_key || ' ' || (undone_at IS NULL)
			FROM matches WHERE $2::bigint > 0`: "1 3:1 K24 48 10 true true true m:-100:7 true",
		`SELECT string_agg((CASE player_id WHEN $1 THEN 'a' WHEN $2 THEN 'b' END) || side, ' ' ORDER BY side)
			FROM match_players`: "a1 b2",
		`SELECT string_agg((CASE player_id WHEN $1 THEN 'a' WHEN $2 THEN 'b' END) || elo_before || ' ' || elo_after || ' K' || k_factor || ' ' || reason,
			', ' ORDER BY elo_after DESC) FROM elo_history`: "a1500 1516 K48 match, b1500 1484 K24 match",
		`SELECT string_agg((CASE player_id WHEN $1 THEN 'a' WHEN $2 THEN 'b' END) || elo || ' ' || best_elo || ' ' || start_elo
			|| ' ' || played || won || drawn || lost || ' ' || streak || ' ' || name || ' v' || version, ', ' ORDER BY elo DESC)
			FROM group_players`: "a1516 1516 1500 1100 1 Alice v1, b1484 1500 1500 1001 -1 Bob v1",
		`SELECT kind || ' ' || state || ' ' || reply_to || ' ' || thread_id || ' ' || (payload->>'number') || ' ' || key || ' ' || purpose
			|| ' ' || addressee FROM outbox
			WHERE $1::bigint + $2::bigint > 0`: "match_recorded planned 7 8 1 m:-100:7 outcome Alice",
		`SELECT last_match_number || ' ' || (SELECT parked_at IS NULL FROM chats) || ' ' || (SELECT key FROM handled_commands)
			FROM groups WHERE $1::bigint + $2::bigint > 0`: "1 true m:-100:7",
	} {
		if got := dbtest.Value[string](t, w.Pool, sql, int64(a), int64(b)); got != want {
			t.Errorf("%s\nyields %q, want %q", sql, got, want)
		}
	}
	w.Play(t, "2", bob, alice)
	var n ranking.MatchRecorded
	payload := dbtest.Value[[]byte](t, w.Pool, `SELECT payload FROM outbox ORDER BY id DESC LIMIT 1`)
	if err := json.Unmarshal(payload, &n); err != nil || n.Number != 2 || n.Sides[0].Score != 3 {
		t.Errorf("the second notice is %s (%v)", payload, err)
	}
}

func TestApplyNoticeAndJoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice)
	snap := w.Read(t, alice)
	c := ranking.Changes{Key: "1", Chat: snap.ChatID, Decision: ranking.Decision{Notice: stats.RankingPage{}},
		Addressee: ranking.Name{Name: "Alice"}}
	dbtest.Must(t, w.Store.Apply(t.Context(), c))
	if err := w.Store.Apply(t.Context(), c); !errors.Is(err, ranking.ErrHandled) {
		t.Errorf("applied twice: %v", err)
	}
	join := ranking.Changes{Key: "2", Chat: snap.ChatID, Decision: ranking.Decision{
		Notice: ranking.Joined{}, Effect: &ranking.NewStanding{Season: snap.Ladder.Season.ID, Standing: ladder.Standing{
			Player: snap.People[0].Player.ID, Name: "Alice", Elo: 1500, StartElo: 1500, BestElo: 1500,
		}},
	}}
	dbtest.Must(t, w.Store.Apply(t.Context(), join))
	join.Key = "3"
	if err := w.Store.Apply(t.Context(), join); !errors.Is(err, ranking.ErrConflict) {
		t.Errorf("joined twice: %v", err)
	}
	got := dbtest.Values[string](t, w.Pool, `
		SELECT concat_ws(' ', kind, key, purpose, coalesce(reply_to, 0), coalesce(thread_id, 0), nullif(addressee, ''))
		FROM outbox ORDER BY id`)
	dbtest.Equal(t, "outbox", []string{"ranking_page 1 answer 0 0 Alice", "joined 2 outcome 0 0"}, got)
	if got := w.Wakes.Load(); got != 2+4 { // 4 for all lanes of the command that was already handled
		t.Errorf("committed was called %d times", got)
	}
}

// TestCommandInAParkedChat checks that after a command, a parked chat waits no longer than ten
// minutes from the time when it was parked. In a chat that the bot had left, a command ends the
// parking.
func TestCommandInAParkedChat(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		parked, until string // how long ago the chat was parked, and how much longer it stays parked
		inactive      bool
		// want lists when the chat was parked and until when, in seconds from now, and how many
		// refusals are stored.
		want string
	}{
		"not parked":            {"", "", false, "0"},
		"just parked":           {"10 seconds", "590 seconds", false, "-10 590 2"},
		"just parked for long":  {"10 seconds", "6 hours", false, "-10 590 2"},
		"tried, not answered":   {"10 seconds", "50 seconds", false, "-10 50 2"},
		"parked a while ago":    {"20 minutes", "6 hours", false, "-1200 -600 2"},
		"tried a while ago":     {"20 minutes", "-10 minutes", false, "-1200 -600 2"},
		"left":                  {"1 hour", "", true, "0"},
		"parked, and then left": {"1 hour", "5 hours", true, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice)
			dbtest.Exec(t, w.Pool, `
				UPDATE chats SET parked_at = now() - nullif($1, '')::interval, parked_until = now() + nullif($2, '')::interval,
				    parkings = CASE WHEN $1 <> '' THEN 2 ELSE 0 END, is_active = NOT $3`, tc.parked, tc.until, tc.inactive)
			dbtest.Must(t, w.Store.Apply(t.Context(),
				ranking.Changes{Key: "1", Chat: 1, Decision: ranking.Decision{Notice: ranking.Joined{}}}))
			got := dbtest.Value[string](t, w.Pool, `
				SELECT concat_ws(' ', round(extract(epoch FROM parked_at - now()), -1),
				       round(extract(epoch FROM parked_until - now()), -1), parkings)
				FROM chats WHERE is_active`)
			if got != tc.want {
				t.Errorf("the chat is parked %q, want %q", got, tc.want)
			}
		})
	}
}

// TestApplyIsAllOrNothing checks that when any statement of the batch fails, nothing is written,
// whether or not the connection has prepared the statements before.
func TestApplyIsAllOrNothing(t *testing.T) {
	t.Parallel()
	constraint := func(name string) func(error) bool {
		return func(err error) bool {
			var pg *pgconn.PgError
			return errors.As(err, &pg) && pg.ConstraintName == name
		}
	}
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	for name, tc := range map[string]struct {
		sql     string
		spoil   func(*ranking.Changes)
		want    func(error) bool
		refused string // the event that a trigger refuses, on the table in the case's name
	}{
		"no group":     {"", func(c *ranking.Changes) { recorded(c).Group = 99 }, is(ranking.ErrConflict), ""},
		"key is there": {`INSERT INTO handled_commands VALUES ('k')`, nil, is(ranking.ErrHandled), ""},
		"message is there": {
			`INSERT INTO handled_commands VALUES ('m')`,
			func(c *ranking.Changes) { c.Message, c.Trigger, recorded(c).Key = "m", ranking.ByEdit, "m" },
			is(ranking.ErrConflict), "",
		},
		"key of a match":    {`UPDATE matches SET idempotency_key = 'k'`, nil, is(ranking.ErrHandled), ""},
		"first is stale":    {`UPDATE group_players SET version = 9 WHERE name = 'Alice'`, nil, is(ranking.ErrConflict), ""},
		"second is stale":   {`UPDATE group_players SET version = 9 WHERE name = 'Bob'`, nil, is(ranking.ErrConflict), ""},
		"standing is gone":  {"", func(c *ranking.Changes) { recorded(c).Players[1].After.ID = 99 }, is(ranking.ErrConflict), ""},
		"standing is there": {"", func(c *ranking.Changes) { recorded(c).Players[1].After.ID = 0 }, is(ranking.ErrConflict), ""},
		"bad rating":        {"", func(c *ranking.Changes) { recorded(c).Players[1].After.Elo = -1 }, constraint("group_players_elo_check"), ""},
		"bad score":         {"", func(c *ranking.Changes) { recorded(c).A = 1000 }, constraint("matches_score_check"), ""},
		"other's ladder":    {"", func(c *ranking.Changes) { recorded(c).Ladder = 99 }, constraint("matches_season_id_fkey"), ""},
		"bad side":          {"", func(c *ranking.Changes) { recorded(c).Players[1].Side = 3 }, constraint("match_players_side_check"), ""},
		"bad history":       {"", func(c *ranking.Changes) { recorded(c).Players[0].Before.Elo = -1 }, constraint("elo_history_elo_check"), ""},
		"no chat":           {"", func(c *ranking.Changes) { c.Chat = 99 }, constraint("outbox_chat_id_fkey"), ""},
		"groups":            {"", nil, constraint("refused"), "UPDATE"},
		"handled_commands":  {"", nil, constraint("refused"), "INSERT"},
		"group_players":     {"", nil, constraint("refused"), "UPDATE"},
		"matches":           {"", nil, constraint("refused"), "INSERT"},
		"match_players":     {"", nil, constraint("refused"), "INSERT"},
		"elo_history":       {"", nil, constraint("refused"), "INSERT"},
		"outbox":            {"", nil, constraint("refused"), "INSERT"},
		"chats":             {"", nil, constraint("refused"), "UPDATE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob)
			w.Play(t, "1", alice, bob)
			c := dbtest.Match(w.Read(t, alice, bob), "k")
			if tc.spoil != nil {
				tc.spoil(&c)
			}
			dbtest.Exec(t, w.Pool, `UPDATE chats SET is_active = false`)
			dbtest.Exec(t, w.Pool, tc.sql)
			if tc.refused != "" {
				refuse(t, w.Pool, name, tc.refused)
			}
			before, wakes := w.Contents(t), w.Wakes.Load()
			forget(t, w.Pool)
			for _, temperature := range []string{"cold", "warm"} {
				if err := w.Store.Apply(t.Context(), c); !tc.want(err) {
					t.Errorf("%s: error is %v", temperature, err)
				}
			}
			dbtest.Equal(t, "something was written", before, w.Contents(t))
			if w.Wakes.Load() != wakes && !tc.want(ranking.ErrHandled) {
				t.Error("woken for a commit that did not happen")
			}
		})
	}
}

// TestApplyEdit checks that an edit takes effect unless its message has taken effect. A refusal or
// a prompt does not count as an effect. The edit waits while the message is being handled.
func TestApplyEdit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		outcome ranking.CommandOutcome // of the message
		commit  bool
		want    error
	}{
		"refused": {ranking.OutcomeRefused, true, nil}, "recorded": {ranking.OutcomeRecorded, true, ranking.ErrConflict},
		"asked": {ranking.OutcomeAsked, true, nil}, "rolled back": {ranking.OutcomeRecorded, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob)
			edit := dbtest.Match(w.Read(t, alice, bob), "e")
			edit.Message, edit.Trigger, recorded(&edit).Key = "m", ranking.ByEdit, "m"
			message := dbtest.Begin(t, w.Pool)
			dbtest.Exec(t, message, `INSERT INTO handled_commands (key, outcome) VALUES ('m', $1)`, tc.outcome)
			result := dbtest.Start(func() error { return w.Store.Apply(t.Context(), edit) })
			dbtest.Await(t, w.Pool, dbtest.Blocked)
			end := message.Rollback
			if tc.commit {
				end = message.Commit
			}
			dbtest.Must(t, end(t.Context()))
			if err := dbtest.Receive(t, result); !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
			snap, err := w.Store.Read(t.Context(), ranking.Query{Key: "another edit", Message: "m", Chat: club})
			if err != nil || !snap.Handled {
				t.Errorf("after that, the next edit is handled too (%v)", err)
			}
			applied := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM matches`) == 1
			stored := dbtest.Value[string](t, w.Pool, `SELECT trigger || ' ' || outcome FROM handled_commands WHERE key = 'm'`)
			if applied != (tc.want == nil) || applied && stored != "edit recorded" {
				t.Errorf("the match was recorded: %t; the message is stored as %s", applied, stored)
			}
		})
	}
}

// TestApplySameKeyAtOnce checks that a command delivered to several instances at the same time
// takes effect once.
func TestApplySameKeyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Play(t, "1", alice, bob)
	c := dbtest.Match(w.Read(t, alice, bob), "2")
	results := make(chan error, 4)
	for range 4 {
		go func() { results <- w.Store.Apply(t.Context(), c) }()
	}
	applied := 0
	for range 4 {
		switch err := dbtest.Receive(t, results); {
		case err == nil:
			applied++
		case !errors.Is(err, ranking.ErrHandled):
			t.Errorf("error is %v", err)
		}
	}
	if got := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM matches`); applied != 1 || got != 2 {
		t.Errorf("%d were applied, there are %d matches", applied, got)
	}
}

// forget makes the idle connections of the pool forget their prepared statements.
func forget(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for _, conn := range pool.AcquireAllIdle(t.Context()) {
		if err := conn.Conn().DeallocateAll(t.Context()); err != nil {
			t.Error(err)
		}
		conn.Release()
	}
}
