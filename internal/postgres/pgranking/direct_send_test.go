package pgranking_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgoutbox"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// desk is a sender whose requests last until the test lets them end.
type desk struct {
	begun chan outbox.Message
	end   chan struct{}
}

func (d *desk) Send(ctx context.Context, m outbox.Message, begin outbox.Begin) (outbox.Receipt, error) {
	if err := begin(ctx); err != nil {
		return outbox.Receipt{}, err
	}
	select {
	case d.begun <- m:
	case <-ctx.Done():
		return outbox.Receipt{}, ctx.Err()
	}
	select {
	case <-d.end:
		return outbox.Receipt{MessageID: m.Row.ID + 1000}, nil
	case <-ctx.Done():
		return outbox.Receipt{}, ctx.Err()
	}
}

// newDesk starts a dispatcher in the world, and returns a store that sends answers directly through it.
func (w *world) newDesk(t *testing.T, lease *postgres.Lease) (*pgranking.Store, *desk) {
	t.Helper()
	d := &desk{begun: make(chan outbox.Message), end: make(chan struct{})}
	dispatcher := outbox.NewDispatcher(pgoutbox.NewStore(w.Pool), d, slog.New(slog.DiscardHandler), outbox.Settings{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := dbtest.Start(func() error { return dispatcher.Run(ctx, lease) })
	t.Cleanup(func() {
		cancel()
		if err := dbtest.Receive(t, ended); err != nil && !errors.Is(err, outbox.ErrLeaseLost) {
			t.Error(err)
		}
	})
	store := pgranking.NewStore(w.Pool, func(l outbox.Lane) { dispatcher.Wake(l) }).WithSendSlots(
		func(ctx context.Context, l outbox.Lane) *outbox.SendSlot { return dispatcher.Reserve(ctx, l) })
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for slot := (*outbox.SendSlot)(nil); slot == nil; { // until the dispatcher runs
		dbtest.Receive(t, tick.C)
		if slot = dispatcher.Reserve(t.Context(), outbox.Lane{Chat: 99}); slot != nil {
			slot.Release()
		}
	}
	return store, d
}

// TestDirectSend: a message that is taken in the transaction that inserts it is the same as one taken from the queue.
func TestDirectSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	_, lease := w.AsLeader(t)
	store, desk := w.newDesk(t, lease)
	for name, under := range map[string]*pgranking.Store{"leader": store.WithLease(lease), "webhook": store} {
		var messages []outbox.Message
		for _, key := range []string{name + " 1", name + " 2"} {
			c := dbtest.Match(w.Read(t, alice, bob), key)
			c.ReplyTo, c.Thread, c.Addressee, c.SentAt = 7, 8, ranking.Name{Name: "Alice"}, time.Now()
			dbtest.Must(t, under.Apply(t.Context(), c))
			state := dbtest.Value[string](t, w.Pool, `SELECT state || ' ' || attempts FROM outbox WHERE key = $1`, key)
			want := "sending 1"
			if len(messages) > 0 {
				want = "planned 0" // the lane is busy
			}
			if state != want {
				t.Errorf("%s is %s, want %s", key, state, want)
			}
			if len(messages) == 0 {
				messages = append(messages, dbtest.Receive(t, desk.begun))
			}
		}
		desk.end <- struct{}{}
		messages = append(messages, dbtest.Receive(t, desk.begun))
		desk.end <- struct{}{}
		numbers := cmpopts.IgnoreFields(outbox.Item{}, "ID", "Key", "Payload")
		if diff := cmp.Diff(messages[1], messages[0], numbers); diff != "" {
			t.Errorf("%s: sent directly, the message differs (-queue +direct):\n%s", name, diff)
		}
		if m := messages[0]; m.Row.Key != name+" 1" || string(m.Row.Payload) != w.payload(t, name+" 1") {
			t.Errorf("the payload is %s", m.Row.Payload)
		}
		dbtest.Await(t, w.Pool, `SELECT count(*) = 2 FROM outbox WHERE state = 'sent' AND possible_duplicates = 0 AND key LIKE '`+name+`%'`)
	}
}

func (w *world) payload(t *testing.T, key string) string {
	t.Helper()
	return dbtest.Value[string](t, w.Pool, `SELECT payload::text FROM outbox WHERE key = $1`, key)
}

// TestNoDirectSend: a notice that may not be sent now, or is not the first of its lane, waits although there was a
// slot.
func TestNoDirectSend(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before string
		change func(*ranking.Changes)
		want   string
	}{
		"taken":  {`SELECT`, func(*ranking.Changes) {}, "sending 1"},
		"frozen": {`UPDATE chats SET frozen_until = now() + interval '1 hour'`, func(*ranking.Changes) {}, "planned 0"},
		"behind another one": {
			`INSERT INTO outbox (chat_id, kind, payload, not_before) SELECT id, 'k', '{}', now() + interval '1 hour' FROM chats`,
			func(*ranking.Changes) {}, "planned 0",
		},
		"too late": {`SELECT`, func(c *ranking.Changes) { c.SentAt = time.Now().Add(-25 * time.Hour) }, "planned 0"},
		"absent":   {`SELECT`, func(c *ranking.Changes) { c.Presence = ranking.BotInactive }, "planned 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob)
			_, lease := w.AsLeader(t)
			store, desk := w.newDesk(t, lease)
			// a trigger reads the row in the transaction, because the dispatcher sees the lane right after it
			dbtest.Exec(t, w.Pool, `CREATE TABLE seen (what text)`)
			t.Cleanup(func() { w.Pool.Exec(context.Background(), `DROP TABLE seen`) }) //nolint:errcheck // only for the next test
			dbtest.Define(t, w.Pool, "see", `
				CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
				BEGIN
				    INSERT INTO seen SELECT state || ' ' || attempts FROM outbox WHERE id = NEW.id;
				    RETURN NULL;
				END $$;
				CREATE CONSTRAINT TRIGGER see AFTER INSERT ON outbox DEFERRABLE INITIALLY DEFERRED
				FOR EACH ROW WHEN (NEW.kind = 'refusal') EXECUTE FUNCTION see()`)
			dbtest.Exec(t, w.Pool, tc.before)
			snap := w.Read(t, alice, bob)
			c := ranking.Changes{Key: name, Chat: snap.ChatID, SentAt: time.Now(), Notice: ranking.Refusal{Code: ranking.NoDraws}}
			tc.change(&c)
			dbtest.Must(t, store.Apply(t.Context(), c))
			if got := dbtest.Value[string](t, w.Pool, `SELECT what FROM seen`); got != tc.want {
				t.Errorf("the notice was committed as %s, want %s", got, tc.want)
			}
			if name == "taken" {
				dbtest.Receive(t, desk.begun)
				desk.end <- struct{}{}
			}
		})
	}
}

// TestDirectSendUnderLostLease: a command that depends on no lease is recorded, although its slot has become useless.
func TestDirectSendUnderLostLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, alice, bob)
	_, lease := w.AsLeader(t)
	store, _ := w.newDesk(t, lease)
	snap := w.Read(t, alice, bob)
	dbtest.Exec(t, w.Pool, `UPDATE leases SET epoch = epoch + 1`)
	dbtest.Must(t, store.Apply(t.Context(), dbtest.Match(snap, "1")))
	if got := dbtest.Value[string](t, w.Pool, `SELECT state || ' ' || attempts FROM outbox`); got != "planned 0" {
		t.Errorf("the notice is %s", got)
	}
}
