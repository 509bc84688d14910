package pgranking_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgoutbox"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

func TestNoAmendmentScansATable(t *testing.T) {
	t.Parallel()
	var rec dbtest.Recorder
	pool, plain := dbtest.NewYears(t, &rec)
	store, queue := pgranking.NewStore(pool, dbtest.Ignore), pgoutbox.NewStore(pool)
	club := ranking.Chat{ID: -150, Kind: ranking.Group, Title: "Club 150"}
	person := func(claimed bool) (p command.Person) {
		err := plain.QueryRow(t.Context(), `
			SELECT coalesce(telegram_user_id, 0), username, display_name FROM players p
			JOIN match_players mp ON mp.player_id = p.id JOIN matches m ON m.id = mp.match_id
			WHERE m.ladder_id = 150 AND m.number > 30 AND (telegram_user_id IS NOT NULL) = $1 LIMIT 1`, claimed).
			Scan(&p.ID, &p.Username, &p.Name)
		dbtest.Must(t, err)
		return p
	}
	known, unclaimed := person(true), person(false)
	find := func(name string, number int, sender *command.Person, ref ranking.MatchRef) dbtest.Explained {
		return dbtest.Explained{Name: name, Run: func(ctx context.Context) error {
			last := ref == ranking.MatchRef{}
			snap, err := store.Read(ctx, ranking.Query{
				Chat: club, Sender: sender, Needs: ranking.Needs{Match: &ref, LastCounted: last},
			})
			if got := snap.Matches; len(got) != 1 || number != 0 && got[0].Number != number || last != (snap.Counted != nil) {
				t.Errorf("%s finds %+v, and %+v that counts", name, got, snap.Counted)
			}
			return err
		}, Want: -1}
	}
	s := dbtest.Service(store)
	pressed := func(key string) ranking.Origin {
		o := in(club, key, known)
		o.Button, o.Pressed = key, 4712
		return o
	}
	dbtest.MustNotScan(t, plain, &rec, []dbtest.Explained{
		find("match by number", 40, nil, ranking.MatchRef{Number: 40}),
		find("match by message", 40, nil, ranking.MatchRef{Message: 40, Key: "none"}),
		find("match by key", 45, nil, ranking.MatchRef{Message: 45_000, Key: "m:-150:45"}),
		find("last match, and last match that counts", 0, &known, ranking.MatchRef{}),
		{Name: "history", Run: func(ctx context.Context) error {
			got, err := store.MatchHistory(ctx, 150, ladder.PositionOf(41))
			if len(got.Matches) != 10 || len(got.Standings) != 11 {
				t.Errorf("the history has %d matches of %d players", len(got.Matches), len(got.Standings))
			}
			return err
		}, Want: 2},
		{Name: "the place of a match of another day", Run: func(ctx context.Context) error {
			dbtest.Exec(t, plain, `
				UPDATE matches SET played_at = now() + interval '1 day' WHERE ladder_id = 150 AND number > 40`)
			gap, err := store.Gap(ctx, 150, time.Now())
			if gap.Before != ladder.PositionOf(40) || gap.After != ladder.PositionOf(41) ||
				gap.Later != 10 || len(gap.Taken) != 0 {
				t.Errorf("the gap is %+v", gap)
			}
			return err
		}, Want: 1},
		// The player has another name in the group.
		{Name: "answer", Run: func(ctx context.Context) error {
			return s.Do(ctx, in(club, "answer", known), ranking.Say{Notice: ranking.Refusal{}})
		}, Want: 3 + 6 + 1},
		{Name: "ask", Run: func(ctx context.Context) error {
			return s.Do(dbtest.AsAdmin(ctx), in(club, "ask", known), ranking.UndoMatch{Amendment: dbtest.Number(40)})
		}, Want: 2 + 4 + 3 + 1 + 1},
		{Name: "delivery of a prompt", Run: func(ctx context.Context) error {
			item := outbox.Item{ID: newestPrompt(t, plain), Attempts: 1, Kind: "undo_prompt"}
			dbtest.Exec(t, plain, `UPDATE outbox SET state = 'sending', attempts = 1 WHERE id = $1`, item.ID)
			m := outbox.Message{
				Lane: dbtest.Chat(150), ExternalChat: -150, Action: outbox.Send, Items: []outbox.Item{item}, Row: item,
			}
			_, err := queue.Advance(ctx, 1, []outbox.Result{dbtest.SentAs(m, 4712)}, nil, dbtest.Bounds)
			if !dbtest.Value[bool](t, plain, `SELECT EXISTS (SELECT FROM prompts WHERE telegram_message_id = 4712)`) {
				t.Error("the message is not recorded")
			}
			return err
		}, Want: 3 + 2},
		{Name: "undo", Run: func(ctx context.Context) error { // of a card that has been sent
			key := dbtest.Value[string](t, plain, `SELECT idempotency_key FROM matches WHERE ladder_id = 150 AND number = 40`)
			return s.Do(dbtest.AsAdmin(ctx), pressed("undo"), ranking.PromptAnswer{
				Prompt: ranking.PromptRef{ID: ranking.PromptID(newestPrompt(t, plain)), Tag: ranking.TagOf(key)},
				Option: ranking.Choice(0),
			})
		}, Want: -1},
		{Name: "timer", Run: func(ctx context.Context) error {
			dbtest.Exec(t, plain, `UPDATE timers SET due_at = now() WHERE key = 't:prompt:7'`)
			due, err := s.DueTimers(ctx, ranking.Timer{}, 100)
			if err != nil || len(due) != 1 {
				t.Errorf("%d timers are due: %v", len(due), err)
				return err
			}
			return s.FireTimer(ctx, due[0])
		}, Want: -1},
		find("last undone", 40, &known, ranking.MatchRef{LastUndone: true}),
		{Name: "restore", Run: func(ctx context.Context) error { // without the number
			return s.Do(dbtest.AsAdmin(ctx), in(club, "restore", known), ranking.RestoreMatch{Amendment: dbtest.Number(0)})
		}, Want: 2 + 5 + 2 + 8 + 1 + 1},
		{Name: "fix", Run: func(ctx context.Context) error {
			return s.Do(dbtest.AsAdmin(ctx), in(club, "fix", known),
				ranking.FixMatch{Amendment: dbtest.Number(41), Scores: []ladder.Score{{A: 1, B: 3}}})
		}, Want: 2 + 4 + 2 + 9 + 1 + 1},
		{Name: "card that waits", Run: func(ctx context.Context) error {
			id := dbtest.Value[ladder.MatchID](t, plain, `SELECT id FROM matches WHERE ladder_id = 150 AND number = 40`)
			return store.ChangeCard(ctx, "card", 150, ranking.Card{Match: id})
		}, Want: 1},
		{Name: "merge", Run: func(ctx context.Context) error {
			p := known
			p.Username = unclaimed.Username
			err := s.Do(ctx, in(club, "merge", p), ranking.Say{Notice: ranking.Refusal{}})
			if n := dbtest.Value[int](t, plain, `SELECT count(*) FROM sightings WHERE counts_as IS NOT NULL`); n != 1 {
				t.Errorf("%d players are merged", n)
			}
			return err
		}, Want: -1},
		{Name: "callback_answer", Run: func(ctx context.Context) error {
			return store.Apply(ctx, ranking.Changes{
				Key: "callback_answer", Chat: 150, Button: "press", Decision: ranking.Decision{CallbackAnswer: ranking.Refusal{}},
			})
		}, Want: 3},
		{Name: "take of an edit", Run: func(ctx context.Context) error {
			dbtest.Exec(t, plain, `UPDATE outbox SET state = 'dead', finished_at = now()
				WHERE chat_id = 150 AND state = 'planned' AND action <> 'edit'`)
			turns, err := queue.Advance(ctx, 1, nil, []outbox.Lane{dbtest.Chat(150)}, dbtest.Bounds)
			if m := turns[0].Message; m == nil || m.Target != 40 {
				t.Errorf("took %+v", m)
			}
			return err
		}, Want: 3 + 2},
		{Name: "finish of a card", Run: func(ctx context.Context) error {
			id := dbtest.Value[int64](t, plain, `INSERT INTO outbox (chat_id, kind, payload, state, match_id)
				VALUES (150, 'match_recorded', '{}', 'sending', 1) RETURNING id`)
			item := outbox.Item{ID: id}
			m := outbox.Message{
				Lane: dbtest.Chat(150), ExternalChat: -150, Action: outbox.Send, Items: []outbox.Item{item}, Row: item,
			}
			_, err := queue.Advance(ctx, 1, []outbox.Result{dbtest.SentAs(m, 4711)}, nil, dbtest.Bounds)
			if !dbtest.Value[bool](t, plain, `SELECT EXISTS (SELECT FROM match_messages WHERE telegram_message_id = 4711)`) {
				t.Error("the message is not recorded")
			}
			return err
		}, Want: 3 + 1},
	})
}

func newestPrompt(t *testing.T, pool *pgxpool.Pool) int64 {
	t.Helper()
	return dbtest.Value[int64](t, pool, `SELECT max(id) FROM prompts`)
}

// TestRewriteTakesFewStatements checks that rewriting 999 entries takes as many statements as
// rewriting one.
func TestRewriteTakesFewStatements(t *testing.T) {
	t.Parallel()
	const players, matches = 50, 1_000
	var rec dbtest.Recorder
	pool := dbtest.Open(t, pgtest.New(t), func(c *pgxpool.Config) { c.ConnConfig.Tracer = &rec })
	dbtest.Exec(t, pool, `
		INSERT INTO chats (telegram_chat_id, kind) VALUES (-7, 'group');
		INSERT INTO groups (chat_id, last_match_number) VALUES (1, 1000);
		`+dbtest.DefaultLadders+`
		INSERT INTO players (group_id, username, display_name) SELECT 1, 'user' || n, 'User' FROM generate_series(1, 50) n;
		INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo)
		    SELECT 1, id, 'User ' || id, 1500, 1500, 1600 FROM players;
		INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    SELECT 1, 1, 1, n, 3, 1, 32, now(), 'm' || n FROM generate_series(1, 1000) n;
		INSERT INTO match_players SELECT id, 1 + number % 50, 1, 1 FROM matches;
		INSERT INTO elo_history
		    (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
		    SELECT match_id, player_id, 1500, 1500, 32, 1500, 0, 0, 'match' FROM match_players;`)
	store := pgranking.NewStore(pool, dbtest.Ignore)
	c, err := store.MatchHistory(t.Context(), 1, ladder.PositionOf(1))
	dbtest.Must(t, err)
	if len(c.Matches) != matches || len(c.Standings) != players {
		t.Fatalf("the history has %d matches of %d players", len(c.Matches), len(c.Standings))
	}
	// rewrite changes an entry of each match and each of the standings, and returns how many
	// statements that took.
	rewrite := func(matches []ladder.Match, standings []ladder.RankedPlayer) int {
		w := ladder.Rewrite{Reason: ladder.ByRepair}
		for _, m := range matches {
			e := *m.Parts[0].Entry
			w.Superseded = append(w.Superseded, ladder.OldEntry{ID: e.ID, Match: m.ID, Player: m.Parts[0].Player})
			e.After++
			w.Entries = append(w.Entries, ladder.NewEntry{Match: m.ID, Player: m.Parts[0].Player, Entry: e})
		}
		for _, s := range standings {
			s.Elo++
			w.Standings = append(w.Standings, s.Standing)
		}
		locked, _, err := store.Lock(t.Context(), ranking.Query{Chat: ranking.Chat{ID: -7, Kind: ranking.Group}})
		dbtest.Must(t, err)
		defer locked.Release(t.Context())
		rec.Take()
		dbtest.Must(t, locked.Rewrite(t.Context(), w))
		return len(rec.Take())
	}
	one := rewrite(c.Matches[:1], c.Standings[:1])
	all := rewrite(c.Matches[1:], c.Standings[1:])
	if one != all || one != 3+1 { // entries superseded and appended, standings, commit
		t.Errorf("%d statements for one entry, %d for all others, want 4", one, all)
	}
	const appended = `SELECT count(*) FROM elo_history WHERE reason = 'repair' AND elo_after = 1501`
	if got := dbtest.Value[int](t, pool, appended); got != matches {
		t.Errorf("%d entries were appended", got)
	}
}
