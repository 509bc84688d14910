package pgoutbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgoutbox"
	"elobot/migrations"
)

// readers is a Sender that records the messages that chat members can read. It holds back the
// answer to one request until the test releases it.
type readers struct {
	slow   int           // number of the request whose answer is held back
	begun  chan struct{} // closed when that request has begun
	answer chan struct{} // closed to release the answer

	mu   sync.Mutex
	read []string // keys of the messages
}

func (r *readers) Send(ctx context.Context, m outbox.Message, begin outbox.Begin) (outbox.Receipt, error) {
	if err := begin(ctx); err != nil {
		return outbox.Receipt{}, err
	}
	r.mu.Lock()
	r.read = append(r.read, m.Row.Key)
	n := len(r.read)
	r.mu.Unlock()
	if n == r.slow {
		close(r.begun)
		<-r.answer
	}
	return outbox.Receipt{MessageID: int64(n)}, nil
}

// copies returns how often each key was read, and checks that the first copies came in order.
func (r *readers) copies(t *testing.T) map[string]int {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	copies := make(map[string]int)
	var first []string
	for _, key := range r.read {
		if copies[key]++; copies[key] == 1 {
			first = append(first, key)
		}
	}
	if !slices.IsSorted(first) {
		t.Errorf("the results came in the order %v", first)
	}
	return copies
}

// TestServerCrash checks that every match stays recorded and is delivered in order, although a
// crash of the server may undo writes of the dispatcher, which do not wait until they are durable.
// Each crash causes at most one extra copy of each message.
func TestServerCrash(t *testing.T) {
	t.Parallel()
	// The server's WAL writer flushes so rarely that a crash can undo asynchronous commits.
	server, err := pgtemp.Start(t.Context(), pgtemp.Options{Settings: map[string]string{
		"fsync": "on", "synchronous_commit": "on", "wal_writer_delay": "10s",
	}})
	dbtest.Must(t, err)
	t.Cleanup(func() { dbtest.Must(t, server.Stop(context.Background())) })
	dispatching := dbtest.Open(t, server.URL())
	dbtest.Must(t, postgres.Migrate(t.Context(), dispatching, migrations.FS, slog.New(slog.DiscardHandler)))
	pool := dbtest.Open(t, server.URL())
	w := dbtest.NewWorldIn(t, &pgtest.Database{URL: server.URL(), Pool: pool}, dbtest.Alice, dbtest.Bob)
	_, lease := w.AsLeader(t)
	const results = 30
	record := func(i int) { w.Record(t, fmt.Sprintf("%02d", i), dbtest.Alice, dbtest.Bob, i%10, 10) }
	for i := range results - 1 {
		record(i)
	}

	people := &readers{slow: results / 2, begun: make(chan struct{}), answer: make(chan struct{})}
	dispatcher := outbox.NewDispatcher(pgoutbox.NewStore(dispatching), people, slog.New(slog.DiscardHandler),
		outbox.Settings{Bounds: outbox.Bounds{Merge: 1}})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := dbtest.Start(func() error { return dispatcher.Run(ctx, lease) })
	crashed := func(times int) {
		t.Helper()
		dbtest.Must(t, errors.Join(server.Pause(t.Context(), true), server.Resume(t.Context())))
		pool.Reset()
		if times == 1 {
			close(people.answer)
		}
		dbtest.Await(t, pool, `SELECT NOT EXISTS (SELECT FROM outbox WHERE state <> 'sent')`)
		copies := people.copies(t)
		for key, n := range copies {
			if n > 1+times {
				t.Errorf("after %d crashes, the result %s was told %d times", times, key, n)
			}
		}
		recorded := dbtest.Value[int](t, pool, `
			SELECT count(*) FROM matches m JOIN handled_commands c ON c.key = m.idempotency_key`)
		if len(copies) != results || recorded != results {
			t.Errorf("of %d results, %d are recorded and %d were told", results, recorded, len(copies))
		}
	}
	dbtest.Receive(t, people.begun)
	record(results - 1)
	crashed(1) // right after the commit of a match, and during a request
	crashed(2) // after the last message
	stop()
	dbtest.Must(t, dbtest.Receive(t, ended))
	t.Logf("%d messages about %d results", len(people.read), results)
}
