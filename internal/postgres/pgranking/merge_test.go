package pgranking_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// al is an unclaimed player. renamed is Alice after she has taken al's username.
var (
	al      = command.Person{Username: "al"}
	renamed = command.Person{ID: alice.ID, Username: "al", Name: "Alice"}
	annex   = ranking.Chat{ID: -200, Kind: ranking.Supergroup, Title: "Annex"}
	attic   = ranking.Chat{ID: -300, Kind: ranking.Supergroup, Title: "Attic"}
)

// in returns the origin of a command that a person sends in a chat.
func in(chat ranking.Chat, key string, sender command.Person) ranking.Origin {
	o := dbtest.By(key, sender)
	o.Chat = chat
	return o
}

// recordIn makes Bob report a match in a chat.
func (w *world) recordIn(t *testing.T, chat ranking.Chat, key string, a, b command.Person, scoreA, scoreB int) {
	t.Helper()
	report := dbtest.Singles(a, b, ladder.Score{A: scoreA, B: scoreB})
	dbtest.Must(t, dbtest.Service(w.Store).Do(t.Context(), in(chat, key, bob), dbtest.Reported(report)))
}

// newMerge returns a world in which Alice and al have standings in the club, and only Alice has one
// in the attic.
func newMerge(t *testing.T) (w *world, from, into ladder.PlayerID) {
	t.Helper()
	w = newWorld(t, alice, bob)
	w.Record(t, "1", al, bob, 3, 1)
	w.Record(t, "2", alice, bob, 3, 1)
	w.Record(t, "3", bob, al, 3, 1)
	w.Record(t, "4", al, alice, 3, 1)
	w.Record(t, "5", bob, alice, 2, 2)
	w.recordIn(t, attic, "7", bob, alice, 3, 1)
	return w, w.ID(t, "al"), w.ID(t, "Alice")
}

// standings selects all standings, without their ids and versions.
const standings = `
	SELECT concat_ws(' ', title, s.name, p.display_name, elo, s.start_elo, best_elo, played, won, drawn, lost, streak)
	FROM group_players s JOIN ladders l ON l.season_id = s.season_id JOIN groups g ON g.id = group_id
	JOIN chats c ON c.id = chat_id JOIN players p ON p.id = player_id
	WHERE s.named_id IS DISTINCT FROM s.player_id ORDER BY 1`

func TestMerge(t *testing.T) {
	t.Parallel()
	w, from, into := newMerge(t)
	w.Undo(t, "u", bob, 3) // so that al has a superseded entry
	dbtest.Exec(t, w.Pool, `UPDATE groups SET web_on = true, web_salt = gen_random_uuid()`)
	w.Wakes.Store(0)
	var shown []ranking.GroupID // on the web
	w.Store.WebChanged = func(g ranking.GroupID) { shown = append(shown, g) }
	w.Answer(t, "m", renamed)
	if merged := dbtest.Values[ranking.GroupID](t, w.Pool, `
		SELECT DISTINCT group_id FROM matches WHERE idempotency_key = '4'`); !slices.Equal(slices.Compact(shown), merged) {
		t.Errorf("the web boards of the groups %d have changed, want %d", shown, merged)
	}
	if wakes := w.Wakes.Load(); wakes != 2 { // for the merge and for the answer
		t.Errorf("committed was called %d times", wakes)
	}
	as := newWorld(t, alice, bob) // in which the two are one player from the beginning
	as.Record(t, "1", alice, bob, 3, 1)
	as.Record(t, "2", alice, bob, 3, 1)
	as.Record(t, "5", bob, alice, 2, 2)
	as.recordIn(t, attic, "7", bob, alice, 3, 1)
	dbtest.Equal(t, "standings, as of one player from the beginning", dbtest.Values[string](t, as.Pool, standings),
		dbtest.Values[string](t, w.Pool, standings))
	for name, check := range map[string]struct {
		sql  string
		want []string
	}{
		"players": {
			`SELECT concat_ws(' ', id = $1, telegram_user_id, username, (SELECT bool_and(counts_as = $2) FROM sightings s WHERE s.player_id = players.id)) FROM players WHERE id IN ($1, $2) ORDER BY 1`,
			[]string{"f 1 al", "t t"},
		},
		"who played in the club": {
			`SELECT m.number || CASE player_id WHEN $1 THEN 'al' WHEN $2 THEN 'Alice' ELSE 'Bob' END FROM match_players
			JOIN matches m ON m.id = match_id JOIN groups g ON g.id = group_id WHERE chat_id = 1 ORDER BY m.number, side`,
			[]string{"1Alice", "1Bob", "2Alice", "2Bob", "3Bob", "3Alice", "4al", "4Alice", "5Bob", "5Alice"},
		},
		"history of al and of what was al's": {
			`SELECT m.idempotency_key || CASE player_id WHEN $1 THEN ' al ' ELSE ' Alice ' END || elo_before || ' ' || elo_after
			|| ' ' || reason || CASE WHEN superseded_at = 'infinity' THEN '' ELSE ' superseded' END FROM elo_history h
			JOIN matches m ON m.id = match_id WHERE player_id IN ($1, $2) AND idempotency_key IN ('1', '3', '4')
			ORDER BY idempotency_key, h.id`,
			[]string{
				"1 Alice 1500 1516 match", "3 Alice 1516 1498 match superseded",
				"4 al 1498 1515 match superseded", "4 Alice 1515 1498 match superseded",
				"4 al 1516 1532 undo superseded", "4 Alice 1515 1499 undo superseded",
			},
		},
		"undone": {
			`SELECT number || ' ' || (undone_by IS NULL) FROM matches
			WHERE undone_at IS NOT NULL AND $1::bigint <> $2::bigint ORDER BY 1`,
			[]string{"3 false", "4 true"},
		},
		"card": {
			`SELECT action || ' ' || (payload->>'undone') || ' ' || coalesce(payload->>'undone_by', 'by nobody') FROM outbox o
			JOIN matches m ON m.id = match_id WHERE number = 4 AND $1::bigint <> $2::bigint`, []string{"send true by nobody"},
		},
		"announced": {
			`SELECT title || ' ' || (payload->>'username') || ' ' || (payload->>'undone') FROM outbox o
			JOIN chats c ON c.id = chat_id
			WHERE o.kind = 'players_merged' AND $1::bigint <> $2::bigint`, []string{"Club al [4]"},
		},
	} {
		dbtest.Equal(t, name, check.want, dbtest.Values[string](t, w.Pool, check.sql, int64(from), int64(into)))
	}
	once := w.Contents(t)
	dbtest.Must(t, askAsRenamed(t.Context(), dbtest.Service(w.Store)))
	dbtest.Equal(t, "merging again changes", once, w.Contents(t))
}

// TestMergeAfterAnotherChange checks that a merge that waits for the lock of the group, and then
// finds that the unclaimed player has been claimed or merged, merges nobody.
func TestMergeAfterAnotherChange(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"claimed": `UPDATE players SET telegram_user_id = 77, group_id = NULL WHERE username = 'al'`,
		"merged": `UPDATE players p SET merged_into = bob.id, username = NULL, group_id = NULL FROM players bob
			WHERE p.username = 'al' AND bob.username = 'bob'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, _ := newMerge(t)
			other := dbtest.Begin(t, w.Pool)
			dbtest.Exec(t, other, group(club).take)
			merging := dbtest.Start(func() error { return askAsRenamed(t.Context(), dbtest.Service(w.Store)) })
			dbtest.Await(t, w.Pool, dbtest.Blocked)
			dbtest.Exec(t, other, sql)
			dbtest.Must(t, other.Commit(t.Context()))
			if err := dbtest.Receive(t, merging); err != nil {
				t.Error(err)
			}
			if dbtest.Value[bool](t, w.Pool, `SELECT EXISTS (SELECT FROM sightings WHERE counts_as IS NOT NULL)`) {
				t.Error("somebody is merged")
			}
		})
	}
}

// askAsRenamed handles a command of Alice that shows that she is al.
func askAsRenamed(ctx context.Context, s *ranking.Service) error {
	return s.Do(ctx, dbtest.By("m", renamed), ranking.Say{Notice: ranking.Refusal{}})
}

// TestMergeIsAllOrNothing checks that neither an abandoned merge nor a merge with stale data
// changes anything.
func TestMergeIsAllOrNothing(t *testing.T) {
	t.Parallel()
	type merge = ranking.RemappedSeason
	for name, tc := range map[string]struct {
		spoil func(*merge) // nil: the merge is abandoned
		want  error
	}{
		"given up":          {nil, nil},
		"undone already":    {func(m *merge) { m.Cards[0].Match = 999 }, ranking.ErrConflict},
		"entry is gone":     {func(m *merge) { m.Rewrite.Superseded[0].ID = 999 }, ranking.ErrConflict},
		"standing is stale": {func(m *merge) { m.Rewrite.Standings[0].Version++ }, ranking.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, _ := newMerge(t)
			before, wakes := w.Contents(t), w.Wakes.Load()
			merges := w.plan(t, func(s *ranking.Service) error { return askAsRenamed(t.Context(), s) })
			err := dbtest.InLock(t.Context(), w.Store, func(l ranking.Locked, _ *ranking.Snapshot) error {
				if tc.spoil == nil {
					return nil
				}
				tc.spoil(&merges.Effect.(*ranking.Remapping).Seasons[0])
				return l.Apply(t.Context(), merges)
			})
			if !errors.Is(err, tc.want) {
				t.Errorf("error is %v", err)
			}
			if diff := cmp.Diff(before, w.Contents(t)); diff != "" || w.Wakes.Load() != wakes {
				t.Errorf("something was written:\n%s", diff)
			}
			dbtest.Exec(t, w.Pool, group(club).take+" NOWAIT")
		})
	}
}

// TestRecordingMeetsTheMerged checks that a command that records a match conflicts if one of the
// match's players was merged since the command's read. If the command then runs again, the match
// counts for the remaining player.
func TestRecordingMeetsTheMerged(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *world){
		"with a standing that is dropped": func(w *world) {
			w.Record(t, "1", al, bob, 3, 1)
			w.Record(t, "2", alice, bob, 3, 1)
		},
		"with a standing that passes on": func(w *world) { w.Record(t, "1", al, bob, 3, 1) },
		"with a new standing":            func(w *world) { w.Upsert(t, dbtest.AsNew(command.Person{Username: "al", Name: "al"})) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob)
			prepare(w)
			into := w.ID(t, "Alice")
			record := func(s *ranking.Service) error {
				return s.Do(t.Context(), in(club, "k", bob), dbtest.Reported(dbtest.Singles(al, bob, ladder.Score{A: 3, B: 1})))
			}
			c := w.plan(t, record)
			w.Answer(t, "m", renamed)
			w.mustConflict(t, dbtest.Start(func() error { return w.Store.Apply(t.Context(), c) }))
			dbtest.Must(t, record(dbtest.Service(w.Store)))
			played := dbtest.Value[bool](t, w.Pool, `
				SELECT EXISTS (SELECT FROM match_players mp JOIN matches m ON m.id = mp.match_id
				WHERE m.idempotency_key = 'k' AND mp.player_id = $1)`, into)
			if !played {
				t.Error("read again, the match is not Alice's")
			}
		})
	}
}

// TestNewStandingWaitsForTheMerge checks that the first match of a player waits for a merge of that
// player, and then conflicts.
func TestNewStandingWaitsForTheMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	w.Upsert(t, dbtest.AsNew(command.Person{Username: "al", Name: "al"}))
	c := w.plan(t, func(s *ranking.Service) error {
		return s.Do(t.Context(), dbtest.By("k", bob), dbtest.Reported(dbtest.Singles(al, bob, ladder.Score{A: 3, B: 1})))
	})
	merges := w.plan(t, func(s *ranking.Service) error { return askAsRenamed(t.Context(), s) })
	var waiting <-chan error
	dbtest.Must(t, dbtest.InLock(t.Context(), w.Store, func(l ranking.Locked, _ *ranking.Snapshot) error {
		waiting = dbtest.Start(func() error { return w.Store.Apply(t.Context(), c) })
		dbtest.Await(t, w.Pool, dbtest.Blocked)
		return l.Apply(t.Context(), merges)
	}))
	w.mustConflict(t, waiting)
}

// TestClaimMeetsTheMerged checks that a player who was merged in the meantime cannot be claimed.
func TestClaimMeetsTheMerged(t *testing.T) {
	t.Parallel()
	w, from, _ := newMerge(t)
	w.Answer(t, "m", renamed)
	claim := ranking.PlayerChange{Player: ranking.Player{ID: from, UserID: 88, Username: "al88", Name: "Al"}}
	w.mustConflict(t, dbtest.Start(func() error { return w.see(t, claim) }))
}

// TestBrokenMergeLocksNobodyOut checks that when two players cannot be merged because a ladder is
// inconsistent, the person's commands still work.
func TestBrokenMergeLocksNobodyOut(t *testing.T) {
	t.Parallel()
	w, _, _ := newMerge(t)
	dbtest.Exec(t, w.Pool, `DELETE FROM elo_history WHERE match_id IN (SELECT id FROM matches WHERE number IN (1, 2))`)
	w.Answer(t, "m", renamed)
	w.mustYield(t, `SELECT payload->>'code' FROM outbox WHERE key = 'm'`, string(ranking.NoDraws))
}
