package postgres_test

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// instance is a running notifier and the events that it receives.
type instance struct {
	*postgres.Notifier
	pool  *pgxpool.Pool
	lanes chan outbox.Lane
	chats chan ranking.ExternalChatID
	began chan struct{}
	stop  func() // ends Run, and checks that it returns quickly
}

func awaitListeners(t *testing.T, pool *pgxpool.Pool, n int) {
	t.Helper()
	dbtest.Await(t, pool, `SELECT (
		SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN%' AND state = 'idle') = $1`, n)
}

func newInstance(t *testing.T, pool *pgxpool.Pool, log *slog.Logger) *instance {
	t.Helper()
	i := &instance{
		pool: pool, lanes: make(chan outbox.Lane, 30_000),
		chats: make(chan ranking.ExternalChatID, 100), began: make(chan struct{}, 100),
	}
	i.Notifier = postgres.NewNotifier(pool, postgres.Events{
		Wake:          func(l outbox.Lane) { i.lanes <- l },
		AdminsChanged: func(chat ranking.ExternalChatID) { i.chats <- chat },
		Began:         func() { i.began <- struct{}{} },
	}, log)
	i.stop = running(t, i.Notifier)
	return i
}

// noEvents ignores the events that occur in these tests.
var noEvents = postgres.Events{
	Wake: func(outbox.Lane) {}, AdminsChanged: func(ranking.ExternalChatID) {}, Began: func() {},
}

// running runs a notifier until stop is called or the test ends.
func running(t *testing.T, n *postgres.Notifier) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := dbtest.Start(func() error { return n.Run(ctx) })
	stop = sync.OnceFunc(func() {
		begun := time.Now()
		cancel()
		if err := dbtest.Receive(t, ended); err != nil {
			t.Errorf("Run ends with %v", err)
		}
		// Run does not wait for the next notification.
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("Run ends after %v", took)
		}
	})
	t.Cleanup(stop)
	return stop
}

// twoInstances returns two instances that listen on the same database.
func twoInstances(t *testing.T) (a, b *instance) {
	t.Helper()
	url := pgtest.Borrow(t).URL
	a = newInstance(t, dbtest.Open(t, url), slog.New(slog.DiscardHandler))
	b = newInstance(t, dbtest.Open(t, url), slog.New(slog.DiscardHandler))
	awaitListeners(t, a.pool, 2)
	return a, b
}

// received waits until an instance has received n different lanes, and returns them ordered by
// chat.
func (i *instance) received(t *testing.T, n int) []outbox.Lane {
	t.Helper()
	all := make(map[outbox.Lane]bool)
	for len(all) < n {
		all[dbtest.Receive(t, i.lanes)] = true
	}
	var lanes []outbox.Lane
	for l := range all {
		lanes = append(lanes, l)
	}
	slices.SortFunc(lanes, func(a, b outbox.Lane) int { return int(a.Chat - b.Chat) })
	return lanes
}

// TestNotify checks that both instances receive what either of them publishes. Invalid payloads
// cause no events.
func TestNotify(t *testing.T) {
	t.Parallel()
	a, b := twoInstances(t)
	if n := b.pool.Stat().TotalConns(); n != 0 {
		t.Errorf("listening takes %d connections of the pool", n)
	}
	a.Wake(dbtest.Chat(12))
	a.Wake(dbtest.Answers(13))
	b.AdminsChanged(-1001)
	a.AdminsChanged(1002)
	for name, i := range map[string]*instance{"a": a, "b": b} {
		dbtest.Equal(t, "lanes received by "+name, []outbox.Lane{dbtest.Chat(12), dbtest.Answers(13)}, i.received(t, 2))
		chats := []ranking.ExternalChatID{dbtest.Receive(t, i.chats), dbtest.Receive(t, i.chats)}
		slices.Sort(chats)
		dbtest.Equal(t, "chats received by "+name, []ranking.ExternalChatID{-1001, 1002}, chats)
	}
	dbtest.Exec(t, a.pool, `SELECT pg_notify(channel, payload)
		FROM unnest('{elobot_outbox,elobot_admins}'::text[]) AS c (channel),
		     unnest(ARRAY['', 'rubbish', 't,-', '99999999999999999999', repeat('x', 7999)]) AS p (payload)`)
	a.Wake(dbtest.Chat(1))
	a.received(t, 1)
	if n := len(a.lanes) + len(a.chats); n != 0 {
		t.Errorf("invalid payloads cause %d events", n)
	}
}

// TestLanePayload checks that a lane of each kind survives the round trip through its payload. An
// invalid payload is not read as a lane.
func TestLanePayload(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]outbox.Lane{
		"7": dbtest.Chat(7), "7t": dbtest.Answers(7), "7p": dbtest.Pages(7), "7b": {Chat: 7, Kind: outbox.Boards},
		"9223372036854775807": dbtest.Chat(math.MaxInt64),
	} {
		if got, ok := postgres.ReadLane(payload); !ok || got != want || postgres.LanePayload(want) != payload {
			t.Errorf("%s is read as %v (%v), and %v written as %s", payload, got, ok, want, postgres.LanePayload(want))
		}
	}
	for _, payload := range []string{
		"", "t", "7tp", "7tt", "7x", "-1", "0", "0t", "1.5", " 7", "7,8", "9223372036854775808",
	} {
		if got, ok := postgres.ReadLane(payload); ok {
			t.Errorf("%q is read as %v", payload, got)
		}
	}
}

// TestNotifyBatches checks that all notifications that are requested while no connection is free
// are published in one or two statements.
func TestNotifyBatches(t *testing.T) {
	t.Parallel()
	url := pgtest.Borrow(t).URL
	var rec dbtest.Recorder
	pool := dbtest.Open(t, url, func(c *pgxpool.Config) {
		c.MaxConns = 1
		c.ConnConfig.Tracer = &rec
	})
	other := newInstance(t, dbtest.Open(t, url), slog.New(slog.DiscardHandler))
	n := postgres.NewNotifier(pool, noEvents, slog.New(slog.DiscardHandler))
	running(t, n)
	awaitListeners(t, other.pool, 2)
	conn, err := pool.Acquire(t.Context())
	dbtest.Must(t, err)
	rec.Take()
	const lanes = 3000
	for c := range outbox.ChatID(lanes) {
		n.Wake(dbtest.Chat(c + 1))
		n.Wake(dbtest.Chat(1))
	}
	conn.Release()
	other.received(t, lanes)
	if statements := len(rec.Take()); statements > 2 {
		t.Errorf("published in %d statements", statements)
	}
}

// TestNotifyAtTheStop checks that notifications that are pending when the context ends are still
// published.
func TestNotifyAtTheStop(t *testing.T) {
	t.Parallel()
	url := pgtest.Borrow(t).URL
	other := newInstance(t, dbtest.Open(t, url), slog.New(slog.DiscardHandler))
	awaitListeners(t, other.pool, 1)
	n := postgres.NewNotifier(dbtest.Open(t, url), noEvents, slog.New(slog.DiscardHandler))
	n.Wake(dbtest.Chat(7))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	dbtest.Must(t, n.Run(ctx))
	other.received(t, 1)
}

// TestNotifyReconnects checks that the notifier replaces a lost connection, and logs the loss and
// the recovery once each.
func TestNotifyReconnects(t *testing.T) {
	t.Parallel()
	url := pgtest.Borrow(t).URL
	records := make(chan slog.Level, 100)
	i := newInstance(t, dbtest.Open(t, url), slog.New(levels(records)))
	awaitListeners(t, i.pool, 1)
	i.Wake(dbtest.Chat(1))
	i.received(t, 1)
	for range 2 {
		dbtest.Exec(t, i.pool, `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
			WHERE datname = current_database() AND query LIKE 'LISTEN%'`)
		if level := dbtest.Receive(t, records); level != slog.LevelWarn {
			t.Errorf("the first log record has level %v", level)
		}
		if level := dbtest.Receive(t, records); level != slog.LevelInfo {
			t.Errorf("the second log record has level %v", level)
		}
		i.Wake(dbtest.Chat(2))
		i.Wake(dbtest.Chat(3))
		i.received(t, 2)
	}
	i.stop()
	if len(records) != 0 {
		t.Errorf("%d more log records", len(records))
	}
	if n := len(i.began); n != 3 {
		t.Errorf("Began was called %d times, want 3", n)
	}
}

// TestListeningSessionEnds checks that the listening session ends at the pool's MaxConnLifetime,
// and is replaced without a log record.
func TestListeningSessionEnds(t *testing.T) {
	t.Parallel()
	url := pgtest.Borrow(t).URL
	records := make(chan slog.Level, 100)
	i := newInstance(t, dbtest.Open(t, url, func(c *pgxpool.Config) {
		c.MaxConnLifetime = 50 * time.Millisecond
	}), slog.New(levels(records)))
	for range 3 {
		dbtest.Receive(t, i.began)
	}
	i.stop()
	if len(records) != 0 {
		t.Errorf("%d log records", len(records))
	}
}

// levels is a log handler that sends each record's level to the channel.
type levels chan slog.Level

func (l levels) Enabled(context.Context, slog.Level) bool      { return true }
func (l levels) Handle(_ context.Context, r slog.Record) error { l <- r.Level; return nil }
func (l levels) WithAttrs([]slog.Attr) slog.Handler            { return l }
func (l levels) WithGroup(string) slog.Handler                 { return l }

// TestNotifyWithoutDatabase checks that notifications that could not be published are published
// when the database is back. The log reports the loss and the recovery once each. Run ends quickly
// even without the database.
func TestNotifyWithoutDatabase(t *testing.T) {
	t.Parallel()
	url := pgtest.Borrow(t).URL
	p := dbtest.NewProxy(t, url)
	other := newInstance(t, dbtest.Open(t, url), slog.New(slog.DiscardHandler))
	records := make(chan slog.Level, 100)
	i := newInstance(t, dbtest.Open(t, p.URL), slog.New(levels(records)))
	awaitListeners(t, other.pool, 2)
	p.Leave()
	if level := dbtest.Receive(t, records); level != slog.LevelWarn {
		t.Errorf("the first log record has level %v", level)
	}
	i.Wake(dbtest.Chat(7))
	i.AdminsChanged(-1001)
	awaitListeners(t, other.pool, 1)
	for tick, deadline := time.Tick(time.Millisecond), time.After(dbtest.MaxWait); i.pool.Stat().NewConnsCount() == 0; {
		select { // until it has tried to publish
		case <-tick:
		case <-deadline:
			t.Fatal("the notifier does not try to publish")
		}
	}
	p.Away.Store(false)
	other.received(t, 1)
	if c := dbtest.Receive(t, other.chats); c != -1001 {
		t.Errorf("chat %d was received", c)
	}
	if level := dbtest.Receive(t, records); level != slog.LevelInfo || len(records) != 0 {
		t.Errorf("the second log record has level %v, and there are %d more", level, len(records))
	}
	p.Leave()
	dbtest.Receive(t, records)
	i.Wake(dbtest.Chat(8))
	i.stop()
}

// TestNotificationAfterSilence checks that, if no notification arrives, next checks the connection,
// which keeps listening. If the server is gone, next returns an error.
func TestNotificationAfterSilence(t *testing.T) {
	t.Parallel()
	p := dbtest.NewProxy(t, pgtest.Empty(t))
	conn, err := pgx.Connect(t.Context(), p.URL)
	dbtest.Must(t, err)
	defer conn.Close(context.Background()) //nolint:errcheck // it is broken
	dbtest.Exec(t, conn, `LISTEN x`)
	for range 3 {
		before := p.Syncs.Load()
		if notification, err := postgres.NextNotification(t.Context(), conn, 10*time.Millisecond); notification != nil ||
			err != nil {
			t.Fatalf("in silence: %v, %v", notification, err)
		}
		if p.Syncs.Load() == before {
			t.Error("the connection is not checked")
		}
	}
	dbtest.Exec(t, conn, `NOTIFY x, 'y'`)
	if notification, err := postgres.NextNotification(t.Context(), conn, dbtest.MaxWait); err != nil ||
		notification.Payload != "y" {
		t.Errorf("afterwards: %v, %v", notification, err)
	}
	p.OnMessage(func(byte, []byte) bool { return true }) // the server is out of reach from here on
	if notification, err := postgres.NextNotification(t.Context(), conn, 10*time.Millisecond); err == nil {
		t.Errorf("without a server: %v", notification)
	}
}
