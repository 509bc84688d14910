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
)

// retries lists the times of the attempts at an update, relative to the first, if each attempt
// returns errOwn at once.
var retries = []time.Duration{0, 100 * ms, 300 * ms, 700 * ms, 1500 * ms, 2500 * ms, 3500 * ms, 4500 * ms}

func TestFailingUpdate(t *testing.T) {
	t.Parallel()
	unreadable := fmt.Errorf("decode: %w", ErrUnreadable)
	cases := map[string]struct {
		answer func(try int) error // try: the number of earlier attempts
		tries  []time.Duration
		letter string // prefix of the dead letter's error; empty: no dead letter
	}{
		"always":            {func(int) error { return errOwn }, retries, errOwn.Error()},
		"panics":            {func(int) error { panic("no such player") }, retries, "handler panicked: no such player"},
		"panics unreadable": {func(int) error { panic(ErrUnreadable) }, retries, "handler panicked: update cannot be read"},
		"panics silently":   {func(int) error { panic("") }, retries, "handler panicked: "},
		"no message":        {func(int) error { return errors.New("") }, retries, "error without a message"},
		"once":              {failing(1, errOwn), retries[:2], ""},
		"for long":          {failing(7, errOwn), retries, ""},
		"unreadable":        {func(int) error { return unreadable }, retries[:1], unreadable.Error()},
		"hopeless":          {func(int) error { return errHopeless }, retries[:1], errHopeless.Error()},
		"unreadable at last": {func(try int) error {
			if try == 2 {
				return unreadable
			}
			return errOwn
		}, retries[:3], unreadable.Error()},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			b.answer = func(_ context.Context, u Update) error {
				if u.ID != 5 {
					return nil
				}
				return c.answer(len(b.tries(5)) - 1)
			}
			begun := time.Now()
			failed := Update{ID: 5, Lane: 3, Raw: []byte(`{"update_id":5}`), SentAt: begun}
			b.come(Update{ID: 4, Lane: 3}, failed, Update{ID: 6, Lane: 3}, Update{ID: 7, Lane: 4})
			b.start()
			after(t, 6200*ms)
			equal(t, b.tries(5), c.tries, "attempts")
			equal(t, b.attempts[6][0].Sub(begun), c.tries[len(c.tries)-1], "delay of the update behind")
			letters := b.kept()
			if c.letter == "" {
				equal(t, len(letters), 0, "dead letters in %v", letters)
			} else {
				if len(letters) != 1 || !strings.HasPrefix(letters[0].LastError, c.letter) {
					t.Fatalf("dead letters: %v", letters)
				}
				letters[0].LastError = ""
				want := DeadLetter{Update: failed, Attempts: len(c.tries), FirstSeen: begun}
				equal(t, letters[0], want, "dead letter")
			}
			stacks := 0
			if strings.HasPrefix(c.letter, "handler panicked") {
				stacks = 1
			}
			if got := b.log.with("stack=goroutine"); len(got) != stacks {
				t.Errorf("%d stacks are logged, want %d", len(got), stacks)
			}
			b.checkConfirmed()
		})
	}
}

// failing returns an answer that fails with err the given number of times, and then succeeds.
func failing(times int, err error) func(int) error {
	return func(try int) error {
		if try < times {
			return err
		}
		return nil
	}
}

// TestManyBehindOneThatIsStuck checks that an update that fails or hangs does not delay other
// lanes, even if more updates wait behind it than a poll returns. Of the first 100 updates, those
// in other lanes are handled at once. All others are handled once the stuck update has become a
// dead letter.
func TestManyBehindOneThatIsStuck(t *testing.T) {
	t.Parallel()
	stuck := map[string]func(ctx context.Context) error{
		"fails": func(context.Context) error { return errOwn },
		"hangs": hang,
		"fails late": func(ctx context.Context) error { // and hangs until then
			return errors.Join(pass(ctx, 4*time.Second), errOwn)
		},
	}
	lanes := map[string]int64{"a lane for each": 500, "few lanes": 7, "the same lane": 1}
	for how, answer := range stuck {
		for name, lanes := range lanes {
			inBubble(t, how+", "+name, func(t *testing.T) {
				b := newBot(t)
				b.answer = func(ctx context.Context, u Update) error {
					if u.ID == 1 {
						return answer(ctx)
					}
					return nil
				}
				b.come(updates(1, 501, sequence(0, lanes, 1)...)...)
				b.start()
				synctest.Wait()
				others := 0 // updates among the first 100 that are in lanes other than the stuck one
				for id := int64(1); id < 100; id++ {
					if id%lanes != 0 {
						others++
					}
				}
				equal(t, b.count(), others, "updates handled at once")
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
			})
		}
	}
}

// TestCut checks that an update whose attempts are slow, hang or fail through its own fault is
// persisted within attemptTimeout.
func TestCut(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		answer func(ctx context.Context, try int) error
		tries  []time.Duration
		end    time.Duration
		letter string // empty: it is handled
	}{
		"slow": {func(ctx context.Context, _ int) error { return pass(ctx, attemptTimeout-1) }, []time.Duration{0}, attemptTimeout - 1, ""},
		"slow, then hangs": {func(ctx context.Context, try int) error {
			if try == 0 {
				return errors.Join(pass(ctx, 3*time.Second), errOwn)
			}
			return hang(ctx)
		}, []time.Duration{0, 3100 * ms}, attemptTimeout, context.DeadlineExceeded.Error()},
		"each takes two seconds": {func(ctx context.Context, _ int) error {
			return errors.Join(pass(ctx, 2*time.Second), errOwn)
		}, []time.Duration{0, 2100 * ms, 4300 * ms, 6700 * ms}, 8700 * ms, errOwn.Error()},
		"fails at the very end": {func(ctx context.Context, _ int) error {
			return errors.Join(pass(ctx, attemptTimeout-50*ms), errOwn)
		}, []time.Duration{0}, attemptTimeout - 50*ms, errOwn.Error()},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			b.answer = func(ctx context.Context, u Update) error {
				if u.ID == 1 {
					return c.answer(ctx, len(b.tries(1))-1)
				}
				return nil
			}
			begun := time.Now()
			b.come(Update{ID: 1}, Update{ID: 2})
			b.start()
			after(t, 10*time.Second)
			equal(t, b.tries(1), c.tries, "attempts")
			if end := b.attempts[2][0].Sub(begun); end != c.end {
				t.Errorf("it is persisted after %v, want %v", end, c.end)
			}
			letters := b.kept()
			if c.letter == "" && len(letters) > 0 || c.letter != "" && (len(letters) != 1 || letters[0].LastError != c.letter) {
				t.Errorf("dead letters: %v", letters)
			}
			b.checkConfirmed()
		})
	}
}

func TestDeadLettersFail(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ err, keep error }{
		"fails":                      {errOwn, errAway},
		"unreadable":                 {ErrUnreadable, errAway},
		"fails, not to be kept":      {errOwn, errOwn},
		"unreadable, not to be kept": {ErrUnreadable, errOwn},
		"fails, keeping has to wait": {errOwn, errBusy},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			back := time.Now().Add(time.Minute)
			b.answer = func(context.Context, Update) error { return c.err }
			var tried atomic.Int64
			b.onKeep = func(context.Context) error {
				tried.Add(1)
				if time.Now().Before(back) {
					return c.keep
				}
				return nil
			}
			b.come(Update{ID: 1}, Update{ID: 2, Lane: 2})
			b.start()
			after(t, time.Minute-1)
			equal(t, len(b.unconfirmed()), 2, "unconfirmed updates")
			after(t, 2*time.Second)
			if letters := b.kept(); len(letters) != 2 || letters[0].LastError != c.err.Error() {
				t.Errorf("dead letters: %v", letters)
			}
			if said := b.log.with("failed to store a dead letter"); errors.Is(c.keep, errAway) != (len(said) == 0) {
				t.Errorf("the log says %v", said)
			}
			if n := tried.Load(); n > 2*65 || n < 2*55 {
				t.Errorf("%d attempts to store two dead letters in a minute", n)
			}
			b.checkConfirmed()
		})
	}
}
