package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var longAgo = time.Unix(946_684_800, 0)

// attempts are Attempts in memory, by update.
type attempts struct {
	mu   sync.Mutex
	lost map[int64]int
	err  error // of Begin
}

func (a *attempts) Lost(_ context.Context, update int64) (int, time.Time, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost[update], longAgo, nil
}

func (a *attempts) Begin(_ context.Context, update int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.lost[update]++
	}
	return a.err
}

func (a *attempts) End(_ context.Context, update int64, done bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lost[update]--; done || a.lost[update] == 0 {
		delete(a.lost, update)
	}
	return nil
}

func (a *attempts) of(update int64) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost[update]
}

// startAfterCrash runs a poller whose predecessor has crashed.
func (b *bot) startAfterCrash(a *attempts) {
	b.worker.SetAttempts(a)
	p := NewPoller(b.messenger, b.worker)
	p.AfterCrash()
	b.run(p)
}

// TestAfterCrashOneAtATime: the updates that were in progress are handled one at a time, each recorded first, and suspects
// come last. Later updates are handled in parallel, and not recorded.
func TestAfterCrashOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, a := newBot(t), &attempts{lost: map[int64]int{2: 3}}
		var mu sync.Mutex
		var order []int64
		careful := true
		b.answer = func(ctx context.Context, u Update) error {
			mu.Lock()
			defer mu.Unlock()
			if careful && (b.inHand() != 1 || a.of(u.ID) == 0) {
				t.Errorf("update %d is one of %d in progress, and recorded %d times", u.ID, b.inHand(), a.of(u.ID))
			}
			if !careful && a.of(u.ID) != 0 {
				t.Errorf("update %d is recorded", u.ID)
			}
			order = append(order, u.ID)
			mu.Unlock()
			defer mu.Lock()
			return pass(ctx, 300*ms)
		}
		b.come(updates(1, 6, 1, 2, 3)...)
		b.startAfterCrash(a)
		after(t, 10*time.Second)
		slices.Sort(order[:4])
		if want := []int64{1, 3, 4, 6, 2, 5}; !slices.Equal(order, want) {
			t.Errorf("handled: %v, want %v", order, want)
		}
		if len(a.lost) != 0 {
			t.Errorf("attempts that have not returned: %v", a.lost)
		}
		if said := b.log.with("handling updates one at a time"); len(said) != 1 || !strings.Contains(said[0].text, "reason=the last process that polled did not stop cleanly") {
			t.Errorf("the log says %v", said)
		}
		mu.Lock()
		careful = false
		mu.Unlock()
		b.come(updates(7, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)...)
		after(t, 400*ms)
		if n := b.inHand(); n != 10 {
			t.Errorf("%d updates are handled in parallel, want 10", n)
		}
		after(t, time.Second)
		b.checkConfirmed()
	})
}

// TestOneAloneAfterCrash: a messenger that was asked just before the crash returns a single update. Those behind it were in
// progress as well; if there are none, careful mode ends at once.
func TestOneAloneAfterCrash(t *testing.T) {
	t.Parallel()
	for inHand := 1; inHand <= 3; inHand++ {
		inBubble(t, fmt.Sprint(inHand), func(t *testing.T) {
			b, a := newBot(t), &attempts{lost: make(map[int64]int)}
			b.show = 1
			b.onUpdates = func(context.Context) error {
				if len(b.asked()) > 1 {
					b.show = 100
				}
				return nil
			}
			b.answer = func(ctx context.Context, u Update) error {
				if b.inHand() != 1 || a.of(u.ID) == 0 {
					t.Errorf("update %d is one of %d in progress, and recorded %d times", u.ID, b.inHand(), a.of(u.ID))
				}
				return pass(ctx, 300*ms)
			}
			b.come(updates(1, inHand, 1, 2, 3)...)
			b.startAfterCrash(a)
			after(t, 3*time.Second)
			b.checkConfirmed()
			if b.worker.Careful() {
				t.Error("careful mode is still on")
			}
		})
	}
}

// TestUpdateThatEndsTheProcess: after eight attempts that did not return, the update becomes a dead letter without another
// attempt. If that crashed the process as well, nobody is notified.
func TestUpdateThatEndsTheProcess(t *testing.T) {
	t.Parallel()
	for lost, silent := range map[int]bool{8: false, 9: true, 12: true} {
		inBubble(t, fmt.Sprint(lost), func(t *testing.T) {
			b, a := newBot(t), &attempts{lost: map[int64]int{1: lost}}
			b.onKeep = func(context.Context) error {
				if n := a.of(1); n != lost+1 {
					t.Errorf("%d attempts are recorded when it is stored, want %d", n, lost+1)
				}
				return nil
			}
			b.come(updates(1, 2, 1)...)
			b.startAfterCrash(a)
			after(t, 10*time.Second)
			letters := b.kept()
			if len(letters) != 1 || letters[0].Update.ID != 1 || letters[0].Attempts != lost || letters[0].Silent != silent ||
				!letters[0].FirstSeen.Equal(longAgo) || !strings.Contains(letters[0].LastError, "the process ended") {
				t.Errorf("dead letters: %+v", letters)
			}
			if n := len(b.tries(1)); n != 0 {
				t.Errorf("it was tried %d times", n)
			}
			if len(b.handled[1]) != 1 {
				t.Errorf("the update behind it was not handled")
			}
			b.checkConfirmed()
		})
	}
}

// TestFailureIsNoCrash: attempts that return do not count, however they end.
func TestFailureIsNoCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, a := newBot(t), &attempts{lost: map[int64]int{1: 5}}
		b.answer = func(_ context.Context, u Update) error { return failing(6, errOwn)(len(b.tries(u.ID)) - 1) }
		b.come(updates(1, 2, 1, 2)...)
		b.startAfterCrash(a)
		after(t, 20*time.Second)
		if n := b.count(); n != 2 || len(b.kept()) != 0 || len(a.lost) != 0 {
			t.Errorf("%d updates were handled, dead letters %v, attempts that have not returned %v", n, b.kept(), a.lost)
		}
	})
}

// TestDatabaseAwayAfterCrash: an update that cannot be recorded is not handled, and waits as in any outage.
func TestDatabaseAwayAfterCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, a := newBot(t), &attempts{lost: make(map[int64]int), err: errAway}
		b.come(updates(1, 3, 1, 2, 3)...)
		b.startAfterCrash(a)
		after(t, time.Minute)
		if n := b.count(); n != 0 || len(b.kept()) != 0 {
			t.Errorf("%d updates were handled, dead letters %v", n, b.kept())
		}
		a.mu.Lock()
		a.err = nil
		a.mu.Unlock()
		after(t, 5*time.Second)
		b.checkConfirmed()
	})
}

// TestCarefulUntilDone: a poller that stops before the suspects are persisted leaves them to the next one of the process.
func TestCarefulUntilDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, a := newBot(t), &attempts{lost: make(map[int64]int)}
		b.answer = func(ctx context.Context, u Update) error {
			if a.of(u.ID) != 1 {
				t.Errorf("update %d is recorded %d times", u.ID, a.of(u.ID))
			}
			return pass(ctx, 5*time.Second)
		}
		b.come(updates(1, 2, 1, 2)...)
		b.startAfterCrash(a)
		after(t, time.Second)
		b.stop() // cuts it off
		b.start()
		after(t, 30*time.Second)
		b.checkConfirmed()
	})
}

// TestHeldAfterCrash: an update of class Locked does not block the others once an attempt at it has returned.
func TestHeldAfterCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, a := newBot(t), &attempts{lost: make(map[int64]int)}
		b.answer = func(ctx context.Context, u Update) error {
			if u.ID == 1 && len(b.tries(1)) < 10 {
				return errors.Join(pass(ctx, 7*time.Second), errBusy)
			}
			return pass(ctx, 100*ms)
		}
		b.come(updates(1, 40, 1, 2, 3, 4)...)
		b.startAfterCrash(a)
		after(t, 20*time.Second) // if the busy one goes first, it takes 7 s, and 30 others take 3 s
		if n := b.count(); n != 30 {
			t.Errorf("%d updates are handled while one waits, want 30", n)
		}
		after(t, 2*time.Minute)
		b.checkConfirmed()
	})
}

// TestStopWhileCareful: a poller that stops before it received any updates leaves careful mode on.
func TestStopWhileCareful(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, a := newBot(t), &attempts{lost: make(map[int64]int)}
		b.startAfterCrash(a)
		after(t, time.Second)
		b.stop()
		if !b.worker.Careful() {
			t.Error("careful mode is off, though no updates were received")
		}
	})
}

// TestAttemptsThatCannotBeNoted: an error of Begin that is no outage says nothing about the update.
func TestAttemptsThatCannotBeNoted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, a := newBot(t), &attempts{lost: make(map[int64]int), err: errors.New("permission denied")}
		b.come(updates(1, 3, 1, 2, 3)...)
		b.startAfterCrash(a)
		after(t, 5*time.Second)
		if n := b.count(); n != 3 || len(b.kept()) != 0 {
			t.Errorf("%d updates were handled, dead letters %v", n, b.kept())
		}
	})
}
