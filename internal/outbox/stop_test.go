package outbox

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStopDrainsWhatIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, takes(100*time.Millisecond))
		store.add(repeat(1, 20)...)
		store.add(2, 2, 2)
		p := dispatch(t, store, sender, seldom)
		after(t, 50*time.Millisecond)
		store.add(3)
		p.Wake(3) // together with the end
		if took := p.stop(); took != 1950*time.Millisecond {
			t.Errorf("stopping takes %v, want 1.95s", took)
		}
		if n := store.open(); n != 0 {
			t.Errorf("%d items are left, want 0", n)
		}
	})
}

// What has to wait for its time is left to the next dispatcher.
func TestStopLeavesWhatWaits(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"rate limited": rateLimited(time.Second),
		"unreachable":  fail(Unreachable),
		"unauthorized": fail(Unauthorized),
		"gone":         fail(Gone),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, sender := newMemory(), newMessenger(t, inTurn(map[int64][]error{1: {err}, 4: {err}}))
				store.add(1, 1, 1)
				p := dispatch(t, store, sender, seldom)
				synctest.Wait()
				store.add(2, 2) // meets the failure when the dispatcher stops already
				p.Wake(2)
				if took := p.stop(); took != 0 {
					t.Errorf("stopping takes %v", took)
				}
				if diff := cmp.Diff([][]int64{{1}, {4}}, [][]int64{sender.ids(1), sender.ids(2)}); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				if n := store.count(rowPlanned); n != 5 {
					t.Errorf("%d items wait, want 5", n)
				}
				store.unpark(1)
				store.unpark(2)
				next := dispatch(t, store, sender, Settings{})
				after(t, 5*time.Second)
				if diff := cmp.Diff([][]int64{{1, 1, 2, 3}, {4, 4, 5}}, [][]int64{sender.ids(1), sender.ids(2)}); diff != "" {
					t.Errorf("requests in the end (-want +got):\n%s", diff)
				}
				next.stop()
			})
		})
	}
}

// There is more to be sent than time to send it, or somebody hangs.
func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	hangFinish := func(ctx context.Context, _ Result) error { return hang(ctx) }
	hangTake := func(ctx context.Context, _ ChatID) error { return hang(ctx) }
	hangSend := func(ctx context.Context, _ Item) error { return &Failure{Class: Ambiguous, Err: hang(ctx)} }
	cases := map[string]struct {
		settings Settings
		answer   func(context.Context, Item) error
		set      func(store *memory)
		most     time.Duration // from the call for the end to the end
	}{
		"much to do":               {Settings{}, takes(30 * time.Millisecond), func(*memory) {}, 3 * time.Second},
		"much to do in no time":    {Settings{}, nil, func(*memory) {}, 3 * time.Second},
		"much to do, little time":  {Settings{DrainFor: time.Millisecond}, takes(30 * time.Millisecond), func(*memory) {}, time.Millisecond},
		"sender hangs":             {Settings{}, hangSend, func(*memory) {}, 3 * time.Second},
		"sender hangs, one by one": {Settings{Parallel: 1}, hangSend, func(*memory) {}, 3 * time.Second},
		"take hangs":               {Settings{}, nil, func(s *memory) { s.onTake = hangTake }, 3 * time.Second},
		"waiting hangs":            {Settings{}, nil, func(s *memory) { s.onWaiting = hang }, 3 * time.Second},
		"finish hangs":             {Settings{}, nil, func(s *memory) { s.onFinish = hangFinish }, 5 * time.Second},
		"finish hangs, one by one": {Settings{Parallel: 1}, nil, func(s *memory) { s.onFinish = hangFinish }, 5 * time.Second},
		"all hangs":                {Settings{}, hangSend, func(s *memory) { s.onFinish, s.onWaiting = hangFinish, hang }, 5 * time.Second},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const chats, items = 50, 400
				store, sender := newMemory(), newMessenger(t, c.answer)
				c.set(store)
				for chat := range ChatID(chats) {
					store.add(repeat(chat, items/chats)...)
				}
				store.add(repeat(chats, 500)...)
				p := dispatch(t, store, sender, c.settings)
				for chat := range ChatID(chats + 1) {
					p.Wake(chat)
				}
				after(t, 10*time.Millisecond)
				between(t, "stopping", p.stop(), 0, c.most)
				if n := store.open() + store.count(rowSent); n != items+500 {
					t.Errorf("of %d items %d are left or sent", items+500, n)
				}
				before := len(sender.requests)
				after(t, time.Hour)
				if n := len(sender.requests); n != before {
					t.Errorf("%d requests after the end", n-before)
				}
			})
		})
	}
}

// A result that cannot be written down when the dispatcher stops is counted as perhaps sent by the next one.
func TestStopWhileFinishFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		away := true
		store.onFinish = func(context.Context, Result) error {
			if away {
				return errAway
			}
			return nil
		}
		store.add(1, 1)
		p := dispatch(t, store, sender, Settings{})
		after(t, 10*time.Second)
		p.stop()
		away = false
		next := dispatch(t, store, sender, Settings{})
		after(t, time.Second)
		if diff := cmp.Diff([]int64{1, 1, 2}, sender.ids(1)); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		if r := store.row(1); r.state != rowSent || r.item.PerhapsSent != 1 {
			t.Errorf("the item is %s, perhaps sent %d times, want sent, 1", r.state, r.item.PerhapsSent)
		}
		next.stop()
	})
}

// The call for the end comes before the beginning.
func TestStopBeforeStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.onWaiting = hang
		p := dispatch(t, store, sender, Settings{})
		if took := p.stop(); took != 0 {
			t.Errorf("stopping takes %v", took)
		}
	})
}

// A wake that comes together with the end is still followed.
func TestStopFollowsWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		store.add(1, 1, 2)
		d := NewDispatcher(store, sender, slog.New(slog.DiscardHandler), Settings{})
		d.Wake(1, 2)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.Run(ctx); err != nil {
			t.Errorf("Run ends with %v", err)
		}
		if n := store.open(); n != 0 {
			t.Errorf("%d items are left, want 0", n)
		}
	})
}

// A request that ends well just when it is cut off is written down.
func TestStopWritesDownTheLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, func(ctx context.Context, _ Item) error {
			<-ctx.Done()
			return nil
		})
		store.add(1)
		p := dispatch(t, store, sender, Settings{DrainFor: time.Second})
		synctest.Wait()
		if took := p.stop(); took != time.Second {
			t.Errorf("stopping takes %v, want 1s", took)
		}
		if r := store.row(1); r.state != rowSent || r.messageID != messageID(1) {
			t.Errorf("the item is %s as message %d, want sent", r.state, r.messageID)
		}
	})
}
