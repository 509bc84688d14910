package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/clock"
)

// TestRemote checks that the estimate advances between answers, and that an answer changes the
// estimate only if the estimate is outside the range that the answer allows.
func TestRemote(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r clock.Remote
		if _, ok := r.Now(); ok {
			t.Error("the time is known before the first answer")
		}
		offset := 0 * time.Second
		shows := func(want time.Duration) {
			t.Helper()
			now, ok := r.Now()
			if got := time.Until(now); !ok || got != want {
				t.Errorf("the clock is %v ahead (known: %t), want %v", got, ok, want)
			}
		}
		// answer dates an answer after the first delay, and delivers it after the second.
		answer := func(before, after time.Duration) {
			begun := time.Now()
			synctest.Wait()
			<-time.After(before)
			date := time.Now().Add(offset)
			<-time.After(after)
			r.Dated(date, begun, 0)
		}
		offset = time.Hour
		answer(0, 0)
		shows(time.Hour)
		<-time.After(24 * time.Hour)
		shows(time.Hour)
		answer(50*time.Second, 0) // dated at the end of a long poll
		answer(0, 50*time.Second) // dated long before it is read
		shows(time.Hour)
		offset = -time.Hour // the remote clock is changed
		answer(0, 10*time.Second)
		shows(-time.Hour)
		answer(0, 0)
		shows(-time.Hour)
	})
}

// TestRemoteOfWholeSeconds checks that, if dates have no fractions of a second, the error is at
// most a second.
func TestRemoteOfWholeSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r clock.Remote
		<-time.After(900 * time.Millisecond)
		for range 10 {
			r.Dated(time.Now().Truncate(time.Second), time.Now(), time.Second)
			<-time.After(1300 * time.Millisecond)
		}
		now, _ := r.Now()
		if off := time.Until(now).Abs(); off > time.Second {
			t.Errorf("the clock is %v off", off)
		}
	})
}
