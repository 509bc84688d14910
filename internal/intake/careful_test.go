package intake

import (
	"cmp"
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

// The log lines at the beginning and the end of careful mode.
const (
	carefulLine  = "INFO handling updates one at a time reason="
	parallelLine = "INFO handling updates in parallel again"
)

// attempts implements Attempts in memory.
type attempts struct {
	mu           sync.Mutex
	lost         map[int64]int
	begin, ended error // errors of Begin and End
}

func (a *attempts) Lost(_ context.Context, update int64) (int, time.Time, error) {
	return a.of(update), longAgo, nil
}

func (a *attempts) Begin(_ context.Context, update int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.begin == nil {
		a.lost[update]++
	}
	return a.begin
}

func (a *attempts) End(ctx context.Context, update int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := cmp.Or(a.ended, ctx.Err())
	if err == nil {
		delete(a.lost, update)
	}
	return err
}

func (a *attempts) Open(context.Context) (bool, error) { return a.count() > 0, nil }

func (a *attempts) of(update int64) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost[update]
}

func (a *attempts) set(update int64, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lost[update] = n; n == 0 {
		delete(a.lost, update)
	}
}

// count returns the number of updates with attempts that have not returned.
func (a *attempts) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.lost)
}

func (b *bot) startCarefully() {
	b.worker.BeCareful("a crash")
	b.start()
}

// checkOneAtATime checks that the update is the only one being handled, and that its attempt is
// recorded.
func (b *bot) checkOneAtATime(u Update) {
	b.t.Helper()
	if b.inHand() != 1 || b.lost.of(u.ID) == 0 {
		b.t.Errorf("update %d is one of %d in progress, and recorded %d times", u.ID, b.inHand(), b.lost.of(u.ID))
	}
}

// checkLog checks that the log reports the beginning of careful mode once for each of the reasons,
// and its end if and only if ended is set.
func (b *bot) checkLog(ended bool, reasons ...string) {
	b.t.Helper()
	said := b.log.with(carefulLine)
	for i, e := range said {
		if i >= len(reasons) || e.text != carefulLine+reasons[i] {
			b.t.Errorf("line %d of the log is %q, want the reasons %q", i, e.text, reasons)
		}
	}
	if len(said) != len(reasons) || (len(b.log.with(parallelLine)) == 1) != ended {
		b.t.Errorf("the log says %v and %v", said, b.log.with(parallelLine))
	}
}

// TestCareful checks that, in careful mode, updates are handled one at a time, and each is recorded
// first. An update with lost attempts lets the others go first. The first update after two minutes
// ends the mode. Later updates are handled in parallel and not recorded.
func TestCareful(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.lost.set(2, 3)
		var mu sync.Mutex
		var order []int64
		b.answer = func(ctx context.Context, u Update) error {
			if u.ID < 100 {
				b.checkOneAtATime(u)
			} else if b.lost.of(u.ID) != 0 {
				t.Errorf("update %d is recorded", u.ID)
			}
			mu.Lock()
			order = append(order, u.ID)
			mu.Unlock()
			return pass(ctx, 300*ms)
		}
		b.come(updates(1, 6, 1, 2, 3)...)
		b.startCarefully()
		after(t, 10*time.Second)
		slices.Sort(order[:4])
		if want := []int64{1, 3, 4, 6, 2, 5}; !slices.Equal(order, want) {
			t.Errorf("handled: %v, want %v", order, want)
		}
		equal(t, b.lost.count(), 0, "attempts that have not returned")
		after(t, carefulFor-12*time.Second)
		b.come(updates(7, 3, 1, 2, 3)...)
		after(t, time.Second)
		b.checkLog(false, "a crash")
		after(t, time.Second)
		b.come(Update{ID: 10, Lane: 1}) // the last update that is handled alone
		after(t, time.Second)
		b.checkLog(true, "a crash")
		b.come(updates(100, 20, sequence(1, 11, 1)...)...)
		after(t, 200*ms)
		equal(t, b.inHand(), 10, "updates handled in parallel")
		after(t, time.Second)
		b.checkConfirmed()
	})
}

// TestCarefulWhileAttemptsAreOpen checks that careful mode lasts while an attempt at any update is
// open, and outlives the poller. After another call of BeCareful, the mode lasts at least
// carefulFor again.
func TestCarefulWhileAttemptsAreOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.lost.set(99, 1) // another instance has crashed
		b.answer = func(ctx context.Context, u Update) error {
			b.checkOneAtATime(u)
			return pass(ctx, 100*ms)
		}
		b.startCarefully()
		after(t, carefulFor)
		for from := int64(1); from < 9; from += 4 {
			b.come(updates(from, 4, 1, 2)...)
			after(t, time.Second)
			b.checkLog(false, "a crash")
			b.stop()
			b.start()
		}
		b.worker.BeCareful("a crash")
		b.lost.set(99, 0)
		after(t, carefulFor-time.Second)
		b.come(updates(9, 4, 1, 2)...)
		after(t, time.Second)
		b.checkLog(false, "a crash", "a crash")
		b.come(Update{ID: 13, Lane: 1})
		after(t, time.Second)
		b.checkLog(true, "a crash", "a crash")
		b.checkConfirmed()
	})
}

// TestUpdateThatEndsTheProcess checks that, after eight attempts that did not return, the update
// becomes a dead letter without another attempt. If storing the dead letter has crashed the process
// as well, the sender is not notified.
func TestUpdateThatEndsTheProcess(t *testing.T) {
	t.Parallel()
	for lost, silent := range map[int]bool{8: false, 9: true, 12: true} {
		inBubble(t, fmt.Sprint(lost), func(t *testing.T) {
			b := newBot(t)
			b.lost.set(1, lost)
			b.onKeep = func(context.Context) error {
				equal(t, b.lost.of(1), lost+1, "attempts when it is stored")
				return nil
			}
			b.come(updates(1, 2, 1)...)
			b.startCarefully()
			after(t, 10*time.Second)
			letters := b.kept()
			if len(letters) != 1 || letters[0].Update.ID != 1 || letters[0].Attempts != lost || letters[0].Silent != silent ||
				!letters[0].FirstSeen.Equal(longAgo) || !strings.Contains(letters[0].LastError, "the process ended") {
				t.Errorf("dead letters: %+v", letters)
			}
			equal(t, len(b.tries(1)), 0, "attempts")
			equal(t, len(b.handled[1]), 1, "attempts at the update behind it")
			b.checkConfirmed()
		})
	}
}

// TestFailureIsNoCrash checks that an attempt that fails does not count as lost, and clears the
// record of earlier lost attempts.
func TestFailureIsNoCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.lost.set(1, 7)
		b.answer = func(_ context.Context, u Update) error { return failing(6, errOwn)(len(b.tries(u.ID)) - 1) }
		b.come(updates(1, 2, 1, 2)...)
		b.startCarefully()
		after(t, 20*time.Second)
		if n := b.count(); n != 2 || len(b.kept()) != 0 || b.lost.count() != 0 {
			t.Errorf("%d updates were handled, dead letters %v, attempts at %d have not returned", n, b.kept(), b.lost.count())
		}
	})
}

// TestAwayWhileCareful checks that, if an attempt cannot be recorded because of an outage, the
// update is not handled until the outage ends.
func TestAwayWhileCareful(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.lost.begin = errAway
		b.come(updates(1, 3, 1, 2, 3)...)
		b.startCarefully()
		after(t, time.Minute)
		if n := b.count(); n != 0 || len(b.kept()) != 0 {
			t.Errorf("%d updates were handled, dead letters %v", n, b.kept())
		}
		b.lost.mu.Lock()
		b.lost.begin = nil
		b.lost.mu.Unlock()
		after(t, 5*time.Second)
		b.checkConfirmed()
	})
}

// TestCarefulStop checks that an attempt that a clean stop interrupts is not lost.
func TestCarefulStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.answer = func(ctx context.Context, u Update) error {
			b.checkOneAtATime(u)
			return pass(ctx, 5*time.Second)
		}
		b.come(updates(1, 2, 1, 2)...)
		b.startCarefully()
		after(t, time.Second)
		b.stop()
		equal(t, b.lost.count(), 0, "lost attempts")
		b.start()
		after(t, 30*time.Second)
		b.checkConfirmed()
	})
}

// TestLockedWhileCareful checks that an update that waits for a lock does not block the others once
// an attempt at it has returned.
func TestLockedWhileCareful(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.answer = func(ctx context.Context, u Update) error {
			if u.ID == 1 && len(b.tries(1)) < 10 {
				return errors.Join(pass(ctx, 7*time.Second), errBusy)
			}
			return pass(ctx, 100*ms)
		}
		b.come(updates(1, 40, 1, 2, 3, 4)...)
		b.startCarefully()
		after(t, 20*time.Second) // if the busy update goes first, it takes 7 s, and 30 others take 3 s
		equal(t, b.count(), 30, "updates handled while one waits")
		after(t, 2*time.Minute)
		b.checkConfirmed()
	})
}

// TestAttemptsThatCannotBeRecorded checks that, if Begin or End fails because the permission is
// missing, the update is still handled.
func TestAttemptsThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	denied := errors.New("permission denied")
	for name, a := range map[string]struct{ begin, ended error }{"begin": {begin: denied}, "end": {ended: denied}} {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			b.lost.begin, b.lost.ended = a.begin, a.ended
			b.come(updates(1, 3, 1, 2, 3)...)
			b.startCarefully()
			after(t, 5*time.Second)
			if n := b.count(); n != 3 || len(b.kept()) != 0 {
				t.Errorf("%d updates were handled, dead letters %v", n, b.kept())
			}
			equal(t, len(b.log.with("failed to record")), 3, "logged failures")
			b.checkConfirmed()
		})
	}
}

// TestCarefulWebhook checks that the webhook also handles updates one at a time, and gives up on an
// update with too many lost attempts.
func TestCarefulWebhook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.answer = func(ctx context.Context, u Update) error {
			b.checkOneAtATime(u)
			return pass(ctx, 100*ms)
		}
		b.lost.set(1, maxCrashes)
		b.worker.BeCareful("a start")
		p := newPosts(b)
		p.post(t.Context(), updates(1, 5, 1, 2, 3, 4, 5)...)
		p.all.Wait()
		for id, status := range p.statuses() {
			equal(t, status, 200, "answer to %d", id)
		}
		if n := b.count(); n != 4 || len(b.kept()) != 1 {
			t.Errorf("%d updates are handled, dead letters %v", n, b.kept())
		}
	})
}
