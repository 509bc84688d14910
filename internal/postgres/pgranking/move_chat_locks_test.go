package pgranking_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func TestMoveLockOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.recordIn(t, dbtest.Upgraded, "1", bob, carol, 3, 1)
	w.Record(t, "2", alice, bob, 3, 1)
	ladder := func(chat ranking.Chat) lock {
		return lock{"the ladder of " + chat.Title, fmt.Sprintf(`SELECT FROM ladders WHERE group_id = (
			SELECT g.id FROM groups g JOIN chats c ON c.id = g.chat_id WHERE telegram_chat_id = %d) FOR KEY SHARE`, chat.ID)}
	}
	notice := func(chat ranking.Chat) lock {
		return lock{"what waits in " + chat.Title, fmt.Sprintf(`SELECT FROM outbox WHERE chat_id = (
			SELECT id FROM chats WHERE telegram_chat_id = %d) FOR UPDATE`, chat.ID)}
	}
	chat := func(chat ranking.Chat) lock {
		return lock{chat.Title + " itself",
			fmt.Sprintf(`SELECT FROM chats WHERE telegram_chat_id = %d FOR KEY SHARE`, chat.ID)}
	}
	move := func() error {
		_, err := w.Store.Move(t.Context(), club.ID, dbtest.Upgraded.ID)
		return err
	}
	w.mustLockInOrder(t, move, group(club), group(dbtest.Upgraded), ladder(club), ladder(dbtest.Upgraded),
		notice(dbtest.Upgraded), notice(club), chat(club), chat(dbtest.Upgraded))
	// The move waits for no lock of a standing.
	holder := dbtest.Begin(t, w.Pool)
	dbtest.Exec(t, holder, `SELECT FROM group_players FOR NO KEY UPDATE`)
	w.move(t)
}

// TestMoveMeetsUpsert checks that when a move and an upsert of the same chat id meet, the later one
// waits, and no chat is stored under another chat's earlier id.
func TestMoveMeetsUpsert(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		known, introduced ranking.Chat
	}{
		"of the old id of a known chat": {club, ranking.Chat{ID: club.ID, Kind: club.Kind, Title: "Renamed"}},
		"of an unknown old id":          {dbtest.Upgraded, club},
		"of the new id":                 {club, dbtest.Upgraded},
	} {
		t.Run(name+", second", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dbtest.Exec(t, w.Pool, `DELETE FROM ladders; DELETE FROM groups; DELETE FROM chats`)
			introduce := func(chat ranking.Chat) error { return dbtest.Upsert(t.Context(), w.Store, chat, nil) }
			dbtest.Must(t, introduce(tc.known))
			gate := w.holdAliases(t)
			moving := dbtest.Start(func() error {
				return dbtest.Service(w.Store).MoveChat(t.Context(), club.ID, dbtest.Upgraded.ID)
			})
			dbtest.Await(t, w.Pool, dbtest.Blocked)
			introducing := dbtest.Start(func() error { return introduce(tc.introduced) })
			dbtest.Await(t, w.Pool, twoBlocked)
			gate()
			if err := dbtest.Receive(t, moving); err != nil {
				t.Error(err)
			}
			if err := dbtest.Receive(t, introducing); err != nil && !errors.Is(err, ranking.ErrConflict) {
				t.Errorf("error is %v", err)
			}
			if err := introduce(tc.introduced); err != nil {
				t.Error(err)
			}
			w.mustBeOneChat(t)
		})
		t.Run(name+", first", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dbtest.Exec(t, w.Pool, `DELETE FROM ladders; DELETE FROM groups; DELETE FROM chats`)
			dbtest.Must(t, dbtest.Upsert(t.Context(), w.Store, tc.known, nil))
			tx := dbtest.Begin(t, w.Pool)
			dbtest.Exec(t, tx, `
				INSERT INTO chats (telegram_chat_id, kind) VALUES ($1, 'group')
				ON CONFLICT (telegram_chat_id) DO UPDATE SET kind = excluded.kind`, tc.introduced.ID)
			dbtest.Exec(t, tx, `
				INSERT INTO groups (chat_id) SELECT id FROM chats WHERE telegram_chat_id = $1
				ON CONFLICT DO NOTHING`, tc.introduced.ID)
			dbtest.Exec(t, tx, dbtest.DefaultLadders)
			moving := dbtest.Start(func() error {
				return dbtest.Service(w.Store).MoveChat(t.Context(), club.ID, dbtest.Upgraded.ID)
			})
			dbtest.Await(t, w.Pool, dbtest.Blocked)
			dbtest.Must(t, tx.Commit(t.Context()))
			if err := dbtest.Receive(t, moving); err != nil {
				t.Error(err)
			}
			w.mustBeOneChat(t)
		})
	}
}

const twoBlocked = `SELECT count(*) = 2 FROM pg_stat_activity
	WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`

// holdAliases makes moves wait at their last statement until the returned function is called.
func (w *world) holdAliases(t *testing.T) (release func()) {
	t.Helper()
	dbtest.Define(t, w.Pool, "wait", `
		CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
		    AS 'BEGIN PERFORM pg_advisory_xact_lock(4242); RETURN NEW; END';
		CREATE TRIGGER wait BEFORE INSERT ON chat_aliases FOR EACH ROW EXECUTE FUNCTION wait()`)
	holder := dbtest.Begin(t, w.Pool)
	dbtest.Exec(t, holder, `SELECT pg_advisory_xact_lock(4242)`)
	return func() {
		t.Helper()
		dbtest.Must(t, holder.Rollback(t.Context()))
	}
}

// mustBeOneChat checks that the club and the supergroup are one chat with one group.
func (w *world) mustBeOneChat(t *testing.T) {
	t.Helper()
	got := dbtest.Values[string](t, w.Pool, `
		SELECT c.telegram_chat_id || ' ' || a.telegram_chat_id || ' ' || (SELECT count(*) FROM groups)
		FROM chats c LEFT JOIN chat_aliases a ON a.chat_id = c.id`)
	if len(got) != 1 || got[0] != "-1000100 -100 1" {
		t.Errorf("the chats are %v", got)
	}
}

// TestMoveMeetsCommands checks that when two chats are merged between a command's read and write,
// the command gets a conflict, and its retry takes effect in the combined chat. An undo locks the
// group before it reads, so for an undo the chats are merged before the lock.
func TestMoveMeetsCommands(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*ranking.Service, ranking.Origin) error{
		"match": func(s *ranking.Service, o ranking.Origin) error {
			return s.Do(context.Background(), o, dbtest.Reported(dbtest.Singles(bob, carol, ladder.Score{A: 3, B: 1})))
		},
		"join": func(s *ranking.Service, o ranking.Origin) error {
			return s.Do(context.Background(), o, ranking.Join{})
		},
		"ranking": func(s *ranking.Service, o ranking.Origin) error {
			return s.Do(context.Background(), o, ranking.Ask{Question: stats.RankingQuestion{Page: 1}})
		},
		"undo": func(s *ranking.Service, o ranking.Origin) error {
			return s.Do(context.Background(), o,
				ranking.UndoMatch{Amendment: ranking.Amendment{Match: ranking.MatchRef{Number: 1}}})
		},
		"rules": func(s *ranking.Service, o ranking.Origin) error {
			o.Button, o.Pressed = o.Key, 55
			k, _ := ranking.FindSetting("k")
			return s.Do(dbtest.AsAdmin(context.Background()), o, ranking.ChangeSetting{Setting: k, Value: "16"})
		},
	} {
		for gone, chat := range map[string]ranking.Chat{"the newer goes": dbtest.Upgraded, "the older goes": club} {
			t.Run(name+", "+gone, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, alice, bob)
				for _, c := range []ranking.Chat{club, dbtest.Upgraded} {
					w.recordIn(t, c, fmt.Sprint(c.ID, " 1"), bob, carol, 3, 1)
					if c != chat {
						w.recordIn(t, c, fmt.Sprint(c.ID, " 2"), bob, carol, 3, 1)
					}
				}
				left := dbtest.Value[int](t, w.Pool, `SELECT id FROM groups WHERE last_match_number = 1`)
				store := &late{Store: w.Store, then: func() { w.move(t) }}
				dbtest.Must(t, do(dbtest.Answering(store, stats.NewService(pgstats.NewStore(w.Pool, w.Pool))),
					in(chat, "3", map[bool]command.Person{true: bob, false: zoe}[name == "undo"])))
				got := dbtest.Value[string](t, w.Pool, `
					SELECT concat_ws(' ', payload->>'code', payload->>'number',
					       (SELECT k_factor FROM ladders JOIN groups g ON g.id = group_id WHERE g.chat_id = o.chat_id))
					FROM outbox o WHERE kind <> 'group_detached' ORDER BY id DESC LIMIT 1`)
				want := map[string]string{"match": "3 32", "join": "32", "ranking": "32", "undo": "1 32", "rules": "16"}[name]
				if got != want {
					t.Errorf("answered with %s, want %s", got, want)
				}
				w.mustYield(t, fmt.Sprintf(`
					SELECT concat_ws(' ', last_match_number, k_factor,
					       (SELECT count(*) FROM group_players WHERE season_id = l.season_id), former_chat_id IS NOT NULL)
					FROM groups g JOIN ladders l ON l.group_id = g.id WHERE g.id = %d`, left), "1 32 2 t")
				w.mustVerify(t)
			})
		}
	}
}

// late is a store that runs a function before its first write or lock.
type late struct {
	ranking.Store
	done atomic.Bool
	then func()
}

func (l *late) Apply(ctx context.Context, c ranking.Changes) error {
	if l.done.CompareAndSwap(false, true) {
		l.then()
	}
	return l.Store.Apply(ctx, c)
}

func (l *late) Lock(ctx context.Context, q ranking.Query) (ranking.Locked, *ranking.Snapshot, error) {
	if l.done.CompareAndSwap(false, true) {
		l.then()
	}
	return l.Store.Lock(ctx, q)
}

// TestLockAfterMove checks that a command gets a conflict if a merge of chats has detached the
// group while the command waited for the group's lock. Its retry locks the group that remains.
func TestLockAfterMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Record(t, "1", alice, bob, 3, 1)
	w.recordIn(t, dbtest.Upgraded, "2", bob, carol, 3, 1)
	gate := w.holdAliases(t)
	moving := dbtest.Start(func() error {
		return dbtest.Service(w.Store).MoveChat(t.Context(), club.ID, dbtest.Upgraded.ID)
	})
	dbtest.Await(t, w.Pool, dbtest.Blocked)
	take := func() error {
		locked, snap, err := w.Store.Lock(t.Context(), ranking.Query{Chat: dbtest.Upgraded})
		if err != nil {
			return err
		}
		defer locked.Release(t.Context())
		if _, err := w.Pool.Exec(t.Context(), group(dbtest.Upgraded).take+` NOWAIT`); err == nil || snap.Group != 1 {
			t.Errorf("not locked, group %d", snap.Group)
		}
		return nil
	}
	taking := dbtest.Start(take)
	dbtest.Await(t, w.Pool, twoBlocked)
	gate()
	dbtest.Must(t, dbtest.Receive(t, moving))
	if err := dbtest.Receive(t, taking); !errors.Is(err, ranking.ErrConflict) {
		t.Errorf("error is %v, want a conflict", err)
	}
	dbtest.Must(t, take())
}
