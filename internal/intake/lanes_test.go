package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// retries are the moments of the attempts at an update that fails all the time.
var retries = []time.Duration{0, 100 * ms, 300 * ms, 700 * ms, 1500 * ms, 2500 * ms, 3500 * ms, 4500 * ms, 5500 * ms}

func TestLanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const items = 90
		b, free := newBot(t), make(chan struct{})
		b.answer = func(_ context.Context, u Update) error {
			if u.Lane == 0 {
				<-free // this lane is stuck
			}
			return nil
		}
		b.come(updates(1, items, 0, -7, 42)...)
		b.start()
		synctest.Wait()
		if n := b.count(); n != items/3*2 {
			t.Errorf("%d updates of the other lanes are handled, want %d", n, items/3*2)
		}
		close(free)
		synctest.Wait()
		want := map[int64][]int64{0: sequence(1, items, 3), -7: sequence(2, items, 3), 42: sequence(3, items+1, 3)}
		if diff := cmp.Diff(want, b.handled); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		after(t, time.Second)
		b.checkConfirmed()
		b.stop()
	})
}

// A lane that had nothing to do takes up work again, and is forgotten between.
func TestLaneRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.answer = func(ctx context.Context, _ Update) error { return pass(ctx, 10*ms) }
		p := b.start()
		for id := int64(1); id <= 30; id++ {
			b.come(Update{ID: id, Lane: 0})
			after(t, time.Duration(id%4)*5*ms)
		}
		after(t, time.Minute)
		if diff := cmp.Diff(sequence(1, 31, 1), b.handled[0]); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		if len(p.lanes.waiting) != 0 || len(p.queue) != 0 || len(p.inHand) != 0 {
			t.Errorf("kept: %d lanes, %d and %d updates", len(p.lanes.waiting), len(p.queue), len(p.inHand))
		}
		b.checkConfirmed()
		b.stop()
	})
}

func TestFailingUpdate(t *testing.T) {
	t.Parallel()
	unreadable := fmt.Errorf("decode: %w", ErrUnreadable)
	cases := map[string]struct {
		answer func(try int) error // by the number of attempts before
		tries  []time.Duration
		letter string // how its error begins
	}{
		"always":            {func(int) error { return errOwn }, retries, errOwn.Error()},
		"panics":            {func(int) error { panic("no such player") }, retries, "handler panicked: no such player"},
		"panics unreadable": {func(int) error { panic(ErrUnreadable) }, retries, "handler panicked: update cannot be read"},
		"once":              {failing(1, errOwn), retries[:2], ""},
		"for long":          {failing(8, errOwn), retries, ""},
		"unreadable":        {func(int) error { return unreadable }, retries[:1], unreadable.Error()},
		"unreadable at last": {func(try int) error {
			if try == 2 {
				return unreadable
			}
			return errOwn
		}, retries[:3], unreadable.Error()},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBot(t)
				b.answer = func(_ context.Context, u Update) error {
					if u.ID != 5 {
						return nil
					}
					return c.answer(len(b.tries(5)) - 1)
				}
				failed := Update{ID: 5, Lane: 3, Raw: []byte(`{"update_id":5}`)}
				begun := time.Now()
				b.come(Update{ID: 4, Lane: 3}, failed, Update{ID: 6, Lane: 3}, Update{ID: 7, Lane: 4})
				b.start()
				after(t, 6200*ms)
				if diff := cmp.Diff(c.tries, b.tries(5)); diff != "" {
					t.Errorf("attempts (-want +got):\n%s", diff)
				}
				if behind := b.attempts[6][0].Sub(begun); behind != c.tries[len(c.tries)-1] {
					t.Errorf("the update behind has its turn after %v", behind)
				}
				letters := b.kept()
				if c.letter == "" {
					if len(letters) != 0 {
						t.Errorf("dead letters: %v", letters)
					}
				} else {
					if len(letters) != 1 || !strings.HasPrefix(letters[0].LastError, c.letter) {
						t.Fatalf("dead letters: %v", letters)
					}
					letters[0].LastError = ""
					want := DeadLetter{Update: failed, Attempts: len(c.tries), FirstSeen: begun}
					if diff := cmp.Diff(want, letters[0]); diff != "" {
						t.Errorf("dead letter (-want +got):\n%s", diff)
					}
				}
				b.checkConfirmed()
				b.stop()
			})
		})
	}
}

// failing fails so many times.
func failing(times int, err error) func(int) error {
	return func(try int) error {
		if try < times {
			return err
		}
		return nil
	}
}

func TestManyBehindOneThatFails(t *testing.T) {
	t.Parallel()
	for name, lanes := range map[string]int64{"a lane for each": 500, "few lanes": 7, "the same lane": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBot(t)
				b.answer = func(_ context.Context, u Update) error {
					if u.ID == 1 {
						return errOwn
					}
					return nil
				}
				b.come(updates(1, 501, sequence(0, lanes, 1)...)...)
				b.start()
				after(t, 10*time.Second)
				if n := b.count(); n != 500 || len(b.kept()) != 1 {
					t.Errorf("%d updates are handled, %d are dead letters", n, len(b.kept()))
				}
				for id := int64(2); id <= 501; id++ {
					if n := len(b.tries(id)); n != 1 {
						t.Fatalf("update %d is handled %d times", id, n)
					}
				}
				b.checkConfirmed()
				b.stop()
			})
		})
	}
}

func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const known = 150
		b := newBot(t)
		back := time.Now().Add(10 * time.Minute)
		b.answer = func(context.Context, Update) error {
			if time.Now().Before(back) {
				return fmt.Errorf("record match: %w", errAway)
			}
			return nil
		}
		b.onKeep = func(context.Context) error { return errAway }
		b.come(updates(1, known, 0, 1, 2, 3, 4)...)
		b.start()
		after(t, 10*time.Minute-1)
		if len(b.kept()) != 0 || len(b.unconfirmed()) != known {
			t.Errorf("%d dead letters, %d updates are not confirmed", len(b.kept()), len(b.unconfirmed()))
		}
		after(t, 2*time.Second+1)
		if n := b.count(); n != known || len(b.kept()) != 0 {
			t.Errorf("%d updates are handled, %d dead letters", n, len(b.kept()))
		}
		b.checkConfirmed()
		b.stop()
	})
}

// The time in which the database is away does not count against the update.
func TestDatabaseAwayBetweenFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		begun := time.Now()
		b.answer = func(context.Context, Update) error {
			if since := time.Since(begun); since > 4*time.Second && since < time.Minute {
				return errAway
			}
			return errOwn
		}
		b.come(Update{ID: 1})
		b.start()
		after(t, time.Minute+4*time.Second)
		if len(b.kept()) != 0 {
			t.Error("the update is given up too early")
		}
		after(t, 4*time.Second)
		if len(b.kept()) != 1 {
			t.Error("the update is not given up")
		}
		b.checkConfirmed()
		b.stop()
	})
}

func TestDeadLettersFail(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errOwn, ErrUnreadable} {
		t.Run(err.Error(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBot(t)
				back := time.Now().Add(time.Minute)
				b.answer = func(context.Context, Update) error { return err }
				b.onKeep = func(context.Context) error {
					if time.Now().Before(back) {
						return errAway
					}
					return nil
				}
				b.come(Update{ID: 1}, Update{ID: 2, Lane: 2})
				b.start()
				after(t, time.Minute-1)
				if n := len(b.unconfirmed()); n != 2 {
					t.Errorf("%d updates are not confirmed, want 2", n)
				}
				after(t, 2*time.Second)
				if letters := b.kept(); len(letters) != 2 || letters[0].LastError != err.Error() {
					t.Errorf("dead letters: %v", letters)
				}
				b.checkConfirmed()
				b.stop()
			})
		})
	}
}

// A connection that hangs is noticed, be it the handler's or that of the dead letters.
func TestHangingDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		var hungKeep atomic.Bool
		b.answer = func(ctx context.Context, u Update) error {
			if u.ID == 2 {
				return ErrUnreadable
			}
			if len(b.tries(u.ID)) == 1 {
				return errors.Join(errAway, hang(ctx))
			}
			return nil
		}
		b.onKeep = func(ctx context.Context) error {
			if hungKeep.Swap(true) {
				return nil
			}
			return hang(ctx)
		}
		b.come(Update{ID: 1, Lane: 1}, Update{ID: 2, Lane: 2})
		b.start()
		after(t, 12*time.Second)
		if b.count() != 1 || len(b.kept()) != 1 {
			t.Errorf("%d updates are handled, %d are dead letters, want 1 of each", b.count(), len(b.kept()))
		}
		b.checkConfirmed()
		b.stop()
	})
}

// One that hangs for ever is given up like one that fails.
func TestHangingHandler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.answer = func(ctx context.Context, _ Update) error { return hang(ctx) }
		b.come(Update{ID: 1})
		b.start()
		after(t, 2*attemptTimeout+time.Second)
		letters := b.kept()
		if len(letters) != 1 || letters[0].Attempts != 2 || letters[0].LastError != context.DeadlineExceeded.Error() {
			t.Errorf("dead letters: %v", letters)
		}
		b.checkConfirmed()
		b.stop()
	})
}
