//go:build soak && unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
	"elobot/migrations"
)

// confirmed is an operation whose success must be durable, because the bot then confirms an update
// to the messenger or acts as the leader.
type confirmed struct {
	name   string
	run    func(ctx context.Context, pool *pgxpool.Pool) error
	stored string // SQL condition that holds when its effect is stored
}

// TestStandbyCutOff checks that, if the synchronous standby is cut off and the waits for it are
// canceled, operations succeed only if their effects are on the standby. After its promotion, the
// standby has everything that succeeded.
func TestStandbyCutOff(t *testing.T) {
	t.Parallel()
	servers := dbtest.StartPair(t)
	pool, observer := openAsBot(t, servers.Primary.URL()), dbtest.Open(t, servers.Primary.URL())
	dbtest.Migrate(t, pool, migrations.FS)
	signal := func(function string) func(func()) {
		return func(func()) {
			dbtest.Values[bool](t, observer, `SELECT `+function+`(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
		}
	}
	ways := []struct {
		name string
		end  func(cancel func())
		all  []confirmed
	}{
		{name: "context", end: func(cancel func()) { cancel() }},
		{name: "statement", end: signal("pg_cancel_backend")},
		{name: "session", end: signal("pg_terminate_backend")},
	}
	for i := range ways {
		ways[i].all = prepare(t, pool, i+1)
	}
	dbtest.Must(t, servers.Standby.Pause(t.Context(), true))
	succeeded := make(map[string]int) // at which attempt
	for _, way := range ways {
		for _, c := range way.all {
			for attempt := 1; attempt <= 2 && succeeded[way.name+" "+c.name] == 0; attempt++ {
				if err := cutShort(t, observer, way.end, func(ctx context.Context) error { return c.run(ctx, pool) }); err == nil {
					succeeded[way.name+" "+c.name] = attempt
				}
			}
			if !dbtest.Value[bool](t, observer, `SELECT `+c.stored) {
				t.Errorf("%s: %s cannot be found on the primary", way.name, c.name)
			}
		}
	}
	dbtest.Must(t, servers.Primary.Pause(t.Context(), true))
	dbtest.Must(t, servers.Standby.Resume(t.Context()))
	promoted := openAsBot(t, servers.Standby.URL())
	if err := pgranking.NewStore(promoted, dbtest.Ignore).EnsureDurable(t.Context()); !postgres.Unavailable(err) {
		t.Errorf("a standby answers that its commits are durable: %v", err)
	}
	servers.Promote(t)
	for _, way := range ways {
		for _, c := range way.all {
			stored := `SELECT ` + c.stored
			if attempt := succeeded[way.name+" "+c.name]; attempt > 0 && !dbtest.Value[bool](t, promoted, stored) {
				t.Errorf("%s: %s succeeded at attempt %d, and is lost", way.name, c.name, attempt)
			}
			if err := c.run(t.Context(), promoted); err != nil || !dbtest.Value[bool](t, promoted, stored) {
				t.Errorf("%s: %s on the promoted standby: %v", way.name, c.name, err)
			}
		}
	}
	if n := dbtest.Value[int](t, promoted, `SELECT count(*) FROM matches`); n != 2*len(ways) {
		t.Errorf("there are %d matches, want %d", n, 2*len(ways))
	}
}

// prepare stores a group with the id -n and a match in it, and returns the operations to try there.
func prepare(t *testing.T, pool *pgxpool.Pool, n int) []confirmed {
	t.Helper()
	group, key := ranking.Chat{ID: ranking.ExternalChatID(-n), Kind: ranking.Group, Title: "Club"},
		fmt.Sprint("m:", n, ":")
	by := func(number int) ranking.Origin {
		o := dbtest.By(fmt.Sprint(key, number), dbtest.Alice)
		o.Chat = group
		return o
	}
	on := func(pool *pgxpool.Pool) *ranking.Service {
		return dbtest.Service(pgranking.NewStore(pool, dbtest.Ignore))
	}
	record := func(number int) func(context.Context, *pgxpool.Pool) error {
		return func(ctx context.Context, pool *pgxpool.Pool) error {
			return on(pool).Do(ctx, by(number),
				dbtest.Reported(dbtest.Singles(dbtest.Alice, dbtest.Bob, ladder.Score{A: 3, B: 1})))
		}
	}
	dbtest.Must(t, record(1)(t.Context(), pool))
	handled := `EXISTS (SELECT FROM handled_commands WHERE key = '` + key + `%d')`
	return []confirmed{
		{"a result", record(2), fmt.Sprintf(handled, 2)},
		{"an undo", func(ctx context.Context, pool *pgxpool.Pool) error {
			return on(pool).Do(ctx, by(3), ranking.UndoMatch{Amendment: dbtest.Number(1)})
		}, fmt.Sprintf(handled, 3)},
		{"a move", func(ctx context.Context, pool *pgxpool.Pool) error {
			return on(pool).MoveChat(ctx, group.ID, group.ID-1000)
		}, fmt.Sprintf(`EXISTS (SELECT FROM chats WHERE telegram_chat_id = %d)`, group.ID-1000)},
		{"a lease", func(ctx context.Context, pool *pgxpool.Pool) error {
			acquired, err := postgres.NewLease(pool, key, "a", time.Hour).Acquire(ctx)
			if err == nil && !acquired {
				err = errors.New("it was not to be had")
			}
			return err
		}, `EXISTS (SELECT FROM leases WHERE name = '` + key + `')`},
	}
}

// cutShort runs an operation and returns its error. Whenever the operation waits for the standby,
// cutShort calls end, which cancels the wait.
func cutShort(t *testing.T, observer *pgxpool.Pool, end func(cancel func()), run func(context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), dbtest.MaxWait)
	defer cancel()
	result := dbtest.Start(func() error { return run(ctx) })
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-result:
			// A client may have given up without telling the server. Canceling the waits that
			// remain makes such commits visible.
			dbtest.Await(t, observer, `
				SELECT count(pg_cancel_backend(pid)) = 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
			return err
		case <-tick.C:
		}
		if dbtest.Value[bool](t, observer, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')`) {
			end(cancel)
		}
	}
}
