package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rounding is what a pause may be off by because it is computed in floating point.
const rounding = time.Microsecond

// A chat that has to wait does not delay another by a nanosecond.
func TestRateLimitHoldsOneChat(t *testing.T) {
	t.Parallel()
	cases := []struct{ asked, least time.Duration }{
		{0, time.Second},
		{300 * time.Millisecond, time.Second},
		{-time.Second, time.Second},
		{5 * time.Second, 5 * time.Second},
		{time.Hour, time.Hour},
	}
	for _, c := range cases {
		t.Run(c.asked.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const slow, quick, items = ChatID(1), ChatID(2), 60
				wellAfter := takes(100 * time.Millisecond)
				store, sender := newMemory(), newMessenger(t, func(ctx context.Context, item Item) error {
					if item.Chat == slow && item.Attempts == 1 && item.ID == 1 {
						return rateLimited(c.asked)
					}
					return wellAfter(ctx, item)
				})
				store.add(slow, slow)
				store.add(repeat(quick, items)...)
				begun := time.Now()
				p := dispatch(t, store, sender, Settings{Parallel: 2})
				after(t, 2*c.least)
				after(t, 10*time.Second)
				to := sender.to(slow)
				if diff := cmp.Diff([]int64{1, 1, 2}, sender.ids(slow)); diff != "" {
					t.Fatalf("requests (-want +got):\n%s", diff)
				}
				between(t, "pause", to[1].begun.Sub(to[0].begun), c.least, c.least+c.least/10+rounding)
				for i, r := range sender.to(quick) {
					if want := time.Duration(i) * 100 * time.Millisecond; r.begun.Sub(begun) != want {
						t.Fatalf("request %d for the other chat after %v, want %v", i, r.begun.Sub(begun), want)
					}
				}
				if n := store.count(rowSent); n != items+2 {
					t.Errorf("%d items are sent, want %d", n, items+2)
				}
				p.stop()
			})
		})
	}
}

// Chats that were stopped together come back one by one.
func TestRateLimitSpreads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats, asked = 300, 10 * time.Second
		store, sender := newMemory(), newMessenger(t, func(_ context.Context, item Item) error {
			if item.Attempts == 1 {
				return rateLimited(asked)
			}
			return nil
		})
		for c := range ChatID(chats) {
			store.add(c)
		}
		begun := time.Now()
		p := dispatch(t, store, sender, Settings{Parallel: chats})
		after(t, time.Minute)
		moments := make(map[time.Duration]bool)
		for c := range ChatID(chats) {
			to := sender.to(c)
			if len(to) != 2 {
				t.Fatalf("%d requests for chat %d, want 2", len(to), c)
			}
			pause := to[1].begun.Sub(begun)
			between(t, "pause", pause, asked, asked+asked/10+rounding)
			moments[pause] = true
		}
		if len(moments) < 10 { // those whose time is over before that of all lanes come back together
			t.Errorf("%d chats come back at %d moments", chats, len(moments))
		}
		p.stop()
	})
}

func TestRateLimitOutlivesDispatcher(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chat, asked = ChatID(1), time.Minute
		store, sender := newMemory(), newMessenger(t, inTurn(map[int64][]error{1: {rateLimited(asked)}}))
		store.add(chat)
		for range 6 {
			p := dispatch(t, store, sender, Settings{})
			p.Wake(chat)
			after(t, 9*time.Second)
			p.stop()
		}
		if diff := cmp.Diff([]int64{1}, sender.ids(chat)); diff != "" {
			t.Errorf("requests within the pause (-want +got):\n%s", diff)
		}
		p := dispatch(t, store, sender, Settings{})
		after(t, 13*time.Second+rounding)
		to := sender.to(chat)
		if len(to) != 2 {
			t.Fatalf("%d requests, want 2", len(to))
		}
		between(t, "pause", to[1].begun.Sub(to[0].begun), asked, asked+asked/10+time.Second+rounding)
		p.stop()
	})
}

// checkBackoff checks the times of tries against the waits between them.
func checkBackoff(t *testing.T, tries []time.Time) {
	t.Helper()
	base := 500 * time.Millisecond
	for i := range len(tries) - 1 {
		between(t, fmt.Sprintf("wait %d", i), tries[i+1].Sub(tries[i]), base*7/10-rounding, base*13/10+rounding)
		base = min(2*base, 20*time.Second)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for _, class := range []Class{Unreachable, Ambiguous, Unauthorized, "of a new kind"} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const chat = ChatID(3)
				errs := make([]error, 80)
				for i := range errs {
					errs[i] = fail(class)
				}
				store, sender := newMemory(), newMessenger(t, inTurn(map[int64][]error{1: errs, 3: errs[:4]}))
				store.add(chat, chat, chat)
				p := dispatch(t, store, sender, Settings{})
				after(t, time.Hour)
				var first, third []time.Time
				for _, r := range sender.to(chat) {
					switch r.id {
					case 1:
						first = append(first, r.begun)
					case 3:
						third = append(third, r.begun)
					}
				}
				if len(first) != len(errs)+1 || len(third) != 5 {
					t.Fatalf("%d and %d requests, want %d and 5", len(first), len(third), len(errs)+1)
				}
				checkBackoff(t, first)
				checkBackoff(t, third) // it begins anew after a success
				p.stop()
			})
		})
	}
}

// When the messenger comes back, chats do not come back together.
func TestBackoffSpreads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats = 200
		store, sender := newMemory(), newMessenger(t, func(_ context.Context, item Item) error {
			if item.Attempts == 1 {
				return fail(Unreachable)
			}
			return nil
		})
		for c := range ChatID(chats) {
			store.add(c)
		}
		p := dispatch(t, store, sender, Settings{})
		after(t, 5*time.Second)
		waits := make(map[time.Duration]bool)
		for c := range ChatID(chats) {
			to := sender.to(c)
			waits[to[1].begun.Sub(to[0].begun)] = true
		}
		if len(waits) < 20 {
			t.Errorf("%d chats come back at %d moments", chats, len(waits))
		}
		p.stop()
	})
}

func TestBackoffWhenTakeFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chat = ChatID(3)
		store, sender := newMemory(), newMessenger(t, nil)
		var tries []time.Time
		store.onTake = func(context.Context, ChatID) error {
			if tries = append(tries, time.Now()); len(tries) < 12 {
				return errAway
			}
			return nil
		}
		store.add(chat)
		p := dispatch(t, store, sender, Settings{})
		after(t, 10*time.Minute)
		if store.open() != 0 {
			t.Fatal("the item is not sent")
		}
		checkBackoff(t, tries[:12])
		p.stop()
	})
}

// Without a valid token nothing is sent and nothing is lost.
func TestUnauthorizedKeepsEverything(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats, items = 3, 4
		valid := time.Now().Add(time.Hour)
		store, sender := newMemory(), newMessenger(t, func(context.Context, Item) error {
			if time.Now().Before(valid) {
				return fail(Unauthorized)
			}
			return nil
		})
		for range items {
			store.add(0, 1, 2)
		}
		p := dispatch(t, store, sender, Settings{})
		after(t, time.Hour-1)
		if n := store.open(); n != chats*items {
			t.Errorf("%d items wait, want %d", n, chats*items)
		}
		after(t, 26*time.Second+rounding)
		synctest.Wait()
		for id := int64(1); id <= chats*items; id++ {
			if r := store.row(id); r.state != rowSent || r.item.PerhapsSent != 0 {
				t.Errorf("item %d is %s, perhaps sent %d times", id, r.state, r.item.PerhapsSent)
			}
		}
		p.stop()
	})
}

func TestGoneParksChat(t *testing.T) {
	t.Parallel()
	for _, woken := range []bool{true, false} {
		t.Run(fmt.Sprintf("woken %t", woken), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const chat = ChatID(5)
				store, sender := newMemory(), newMessenger(t, inTurn(map[int64][]error{2: {fail(Gone)}}))
				store.add(chat, chat, chat, 6)
				p := dispatch(t, store, sender, Settings{})
				for range 60 {
					after(t, time.Minute)
					p.Wake(chat)
				}
				synctest.Wait()
				if diff := cmp.Diff([]int64{1, 2}, sender.ids(chat)); diff != "" {
					t.Errorf("requests while parked (-want +got):\n%s", diff)
				}
				if len(p.lanes) != 0 {
					t.Errorf("%d lanes are kept for parked chats", len(p.lanes))
				}
				after(t, 300*time.Millisecond) // off the poll
				store.unpark(chat)
				if woken {
					p.Wake(chat)
				} else {
					after(t, time.Second)
				}
				synctest.Wait()
				if diff := cmp.Diff([]int64{1, 2, 2, 3}, sender.ids(chat)); diff != "" {
					t.Errorf("requests in the end (-want +got):\n%s", diff)
				}
				if n := store.count(rowSent); n != 4 {
					t.Errorf("%d items are sent, want 4", n)
				}
				p.stop()
			})
		})
	}
}

// The lane goes on at once behind a dead letter, and behind what has become pointless.
func TestWhatEndsDoesNotDelay(t *testing.T) {
	t.Parallel()
	for class, end := range map[Class]rowState{Rejected: rowDead, Pointless: rowExpired} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const chat, items = ChatID(5), 30
				store, sender := newMemory(), newMessenger(t, func(_ context.Context, item Item) error {
					if item.ID < items {
						return &Failure{Class: class, Err: errors.New("can't parse entities")}
					}
					return nil
				})
				store.add(repeat(chat, items)...)
				begun := time.Now()
				p := dispatch(t, store, sender, Settings{})
				synctest.Wait()
				if time.Since(begun) != 0 || store.count(end) != items-1 || store.count(rowSent) != 1 {
					t.Errorf("after %v %d ended, %d sent", time.Since(begun), store.count(end), store.count(rowSent))
				}
				if r := store.row(1); r.lastError != "can't parse entities" {
					t.Errorf("the error of the first is %q", r.lastError)
				}
				p.stop()
			})
		})
	}
}

// One that hangs is cut off, and what waits for its place goes on.
func TestHangingSender(t *testing.T) {
	t.Parallel()
	for timeout, settings := range map[time.Duration]Settings{
		5 * time.Second:        {Parallel: 1},
		700 * time.Millisecond: {Parallel: 1, SendTimeout: 700 * time.Millisecond},
	} {
		t.Run(timeout.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, sender := newMemory(), newMessenger(t, func(ctx context.Context, item Item) error {
					if item.Chat == 1 && item.Attempts == 1 {
						return &Failure{Class: Ambiguous, Err: hang(ctx)}
					}
					return nil
				})
				store.add(1)
				begun := time.Now()
				p := dispatch(t, store, sender, settings)
				synctest.Wait()
				store.add(2)
				p.Wake(2)
				after(t, time.Minute)
				if got := sender.to(2)[0].begun.Sub(begun); got != timeout {
					t.Errorf("the other chat has its turn after %v, want %v", got, timeout)
				}
				if r := store.row(1); r.state != rowSent || r.item.PerhapsSent != 1 {
					t.Errorf("the item is %s, perhaps sent %d times, want sent, 1", r.state, r.item.PerhapsSent)
				}
				p.stop()
			})
		})
	}
}

// A connection that hangs keeps nobody for long from sending.
func TestHangingStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sender := newMemory(), newMessenger(t, nil)
		var waiting, take, finish atomic.Bool
		once := func(ctx context.Context, hung *atomic.Bool) error {
			if hung.Swap(true) {
				return nil
			}
			return hang(ctx)
		}
		store.onWaiting = func(ctx context.Context) error { return once(ctx, &waiting) }
		store.onTake = func(ctx context.Context, _ ChatID) error { return once(ctx, &take) }
		store.onFinish = func(ctx context.Context, _ Result) error { return once(ctx, &finish) }
		store.add(1)
		p := dispatch(t, store, sender, Settings{Parallel: 1})
		after(t, 30*time.Second)
		if r := store.row(1); r.state != rowSent || len(sender.to(1)) != 1 {
			t.Errorf("the item is %s after %d requests, want sent after 1", r.state, len(sender.to(1)))
		}
		p.stop()
	})
}

// What was sent is not sent again because it cannot be written down.
func TestFinishFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chat = ChatID(1)
		store, sender := newMemory(), newMessenger(t, inTurn(map[int64][]error{3: {fail(Rejected)}}))
		back := time.Now().Add(10 * time.Minute)
		var tries []time.Time
		store.onFinish = func(_ context.Context, r Result) error {
			if r.Item.ID == 1 {
				tries = append(tries, time.Now())
			}
			if time.Now().Before(back) {
				return errAway
			}
			return nil
		}
		store.add(chat, chat, chat)
		p := dispatch(t, store, sender, Settings{})
		for range 10 {
			after(t, time.Minute-1)
			p.Wake(chat)
			if diff := cmp.Diff([]int64{1}, sender.ids(chat)); diff != "" {
				t.Fatalf("requests while the database is away (-want +got):\n%s", diff)
			}
		}
		after(t, 27*time.Second)
		checkBackoff(t, tries)
		if diff := cmp.Diff([]int64{1, 2, 3}, sender.ids(chat)); diff != "" {
			t.Errorf("requests in the end (-want +got):\n%s", diff)
		}
		if r := store.row(1); r.state != rowSent || r.messageID != messageID(1) || r.item.PerhapsSent != 0 {
			t.Errorf("the item is %s as %d, perhaps sent %d times", r.state, r.messageID, r.item.PerhapsSent)
		}
		p.stop()
	})
}
