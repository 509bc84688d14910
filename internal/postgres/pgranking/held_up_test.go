package pgranking_test

import (
	"context"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// locks maps what another session has locked to the statement that locks it.
var locks = map[string]string{
	"chats":            `SELECT FROM chats FOR UPDATE`,
	"groups":           `SELECT FROM groups FOR UPDATE`,
	"ladders":          `SELECT FROM ladders FOR UPDATE`,
	"players":          `SELECT FROM players FOR UPDATE`,
	"group_players":    `SELECT FROM group_players FOR UPDATE`,
	"handled_commands": `LOCK TABLE handled_commands IN EXCLUSIVE MODE`,
	"matches":          `LOCK TABLE matches IN EXCLUSIVE MODE`,
	"outbox":           `LOCK TABLE outbox IN EXCLUSIVE MODE`,
	"everything":       `LOCK TABLE chats, groups, ladders, players, group_players, handled_commands, matches, outbox`,
}

// TestLockedIsNobodysFault checks that a command that waits too long for another session's locks is
// answered, or fails with an error that calls for a retry. It is handled exactly once when the
// locks are free.
func TestLockedIsNobodysFault(t *testing.T) {
	t.Parallel()
	for held, lock := range locks {
		t.Run(held, func(t *testing.T) {
			t.Parallel()
			pool := dbtest.ShortWait(t, pgtest.Borrow(t)).Pool
			store := pgranking.NewStore(pool, dbtest.Ignore)
			for _, c := range everyKind(dbtest.Answering(store, stats.NewService(pgstats.NewStore(pool, pool)))) {
				if c.before != nil {
					if err := c.before(t.Context()); err != nil {
						t.Fatalf("before %s: %v", c.name, err)
					}
				}
				holder := dbtest.Begin(t, pool)
				dbtest.Exec(t, holder, lock)
				ctx, cancel := context.WithTimeout(t.Context(), 450*time.Millisecond)
				err := c.run(ctx)
				cancel()
				if err != nil && !store.RetryLater(err) {
					t.Errorf("%s fails with %v", c.name, err)
				}
				dbtest.Must(t, holder.Rollback(t.Context()))
				if err := c.run(t.Context()); err != nil {
					t.Errorf("%s fails when nothing is locked: %v", c.name, err)
				}
				const trace = `
					SELECT (SELECT count(*) FROM handled_commands WHERE key = $1) * 10
					     + (SELECT count(*) FROM outbox WHERE key = $1 AND action = 'send')`
				if n := dbtest.Value[int](t, pool, trace, c.name); n != 11 && !c.silent {
					t.Errorf("%s leaves %d keys and answers, want one of each", c.name, n)
				}
			}
		})
	}
}

// action is a command for a service. Its name is also its key.
type action struct {
	name        string
	before, run func(context.Context) error
	silent      bool // set if the command gets no answer
}

// everyKind returns commands of the main kinds, in an order in which they can run.
func everyKind(s *ranking.Service) []action {
	origin := func(key string, sender *command.Person) ranking.Origin {
		return ranking.Origin{Key: key, Chat: club, Sender: sender, SentAt: time.Now()}
	}
	against := func(p command.Person) command.Match {
		return command.Match{A: []command.Person{alice}, B: []command.Person{p}, Scores: []ladder.Score{{A: 3, B: 1}}}
	}
	record := func(key string, r command.Match) func(context.Context) error {
		return func(ctx context.Context) error { return s.Do(ctx, origin(key, &alice), dbtest.Reported(r)) }
	}
	unclaimed := command.Person{Username: "zoe"}
	named := zoe
	named.Username = "zoe"
	upgraded := club
	upgraded.ID = -1000
	return []action{
		{name: "record", before: record("before", aliceBeatsBob), run: record("record", aliceBeatsBob)},
		{name: "newcomer", run: record("newcomer", against(carol))},
		{name: "undo", run: func(ctx context.Context) error {
			return s.Do(dbtest.AsAdmin(ctx), origin("undo", &alice), ranking.UndoMatch{Amendment: dbtest.Number(1)})
		}},
		{name: "ranking", run: func(ctx context.Context) error {
			return s.Do(ctx, origin("ranking", &bob), ranking.Ask{Question: stats.RankingQuestion{Page: 1}})
		}},
		{name: "merge", before: func(ctx context.Context) error {
			if err := s.Do(ctx, origin("join", &zoe), ranking.Join{}); err != nil {
				return err
			}
			return record("unclaimed", against(unclaimed))(ctx)
		}, run: func(ctx context.Context) error { return s.Do(ctx, origin("merge", &named), ranking.Join{}) }},
		{name: "removed", silent: true, run: func(ctx context.Context) error { return s.BotRemoved(ctx, origin("removed", nil)) }},
		{name: "move", silent: true, before: func(ctx context.Context) error {
			o := origin("newer", &alice)
			o.Chat = upgraded
			return s.Do(ctx, o, dbtest.Reported(aliceBeatsBob))
		}, run: func(ctx context.Context) error { return s.MoveChat(ctx, club.ID, upgraded.ID) }},
	}
}
