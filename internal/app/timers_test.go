package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// fakeTimers keeps timers in memory. fail maps the key of a timer to a function that is called
// instead of firing that timer.
type fakeTimers struct {
	mu     sync.Mutex
	timers []ranking.Timer // in the order in which they are due
	fired  map[string]time.Duration
	begun  time.Time
	fail   map[string]func() error
}

func (f *fakeTimers) add(key string, due time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timers = append(f.timers, ranking.Timer{Key: key, DueAt: f.begun.Add(due)})
}

func (f *fakeTimers) DueTimers(_ context.Context, after ranking.Timer, limit int) (due []ranking.Timer, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.timers {
		isAfter := t.DueAt.After(after.DueAt) || t.DueAt.Equal(after.DueAt) && t.Key > after.Key
		if isAfter && !t.DueAt.After(time.Now()) && len(due) < limit {
			due = append(due, t)
		}
	}
	return due, nil
}

func (f *fakeTimers) FireTimer(_ context.Context, t ranking.Timer) error {
	f.mu.Lock()
	fail := f.fail[t.Key]
	f.mu.Unlock()
	if fail != nil {
		return fail()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timers = slices.DeleteFunc(f.timers, func(o ranking.Timer) bool { return o.Key == t.Key })
	f.fired[t.Key] = time.Since(f.begun)
	return nil
}

// TestTimersFireInTime checks that a timer fires at most a minute late, and at once after downtime.
// Timers that fail or panic are logged once per look and do not delay others, however many there
// are.
func TestTimersFireInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeTimers{fired: make(map[string]time.Duration), begun: time.Now(), fail: make(map[string]func() error)}
		for n := range 3 * timersAtOnce {
			key := fmt.Sprintf("t:bad:%03d", n)
			f.add(key, -time.Hour)
			f.fail[key] = func() error { return errors.New("its own fault") }
		}
		f.fail["t:bad:000"] = func() error { panic("its own fault") }
		f.add("t:past", -time.Minute)
		for n := range 10 {
			f.add(fmt.Sprint("t:", n), time.Duration(n)*17*time.Second)
		}
		var logged strings.Builder
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			timers{f, shortTimers, new(incoming), slog.New(slog.NewTextHandler(&logged, nil))}.run(ctx)
		}()
		time.Sleep(200 * time.Second) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		stop()
		<-ended
		if late := f.fired["t:past"]; late != 0 {
			t.Errorf("a timer that was due before fired after %s", late)
		}
		for n := range 10 {
			at, ok := f.fired[fmt.Sprint("t:", n)]
			if late := at - time.Duration(n)*17*time.Second; !ok || late < 0 || late > time.Minute {
				t.Errorf("timer %d fired: %t, %s late", n, ok, late)
			}
		}
		if looks := strings.Count(logged.String(), "key=t:bad:007 "); looks != 7 ||
			strings.Count(logged.String(), "key=t:bad:000 ") != looks {
			t.Errorf("a bad timer is logged %d times in 7 looks", looks)
		}
	})
}

// TestSeasonsEndAfterAnOutage checks that a season ends at the first look for due timers that comes
// at least a minute after the leader took over and after Telegram's last outage ended. Other timers
// do not wait, and those whose action takes long fire within seconds.
func TestSeasonsEndAfterAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeTimers{fired: make(map[string]time.Duration), begun: time.Now()}
		f.add(ranking.SeasonTimer+"1:1", -time.Hour)
		f.add("t:other", -time.Hour)
		f.add(ranking.LongTimer+"1", 33*time.Second)
		f.add(ranking.SeasonTimer+"2:2", 100*time.Second)
		var messages incoming
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for _, kind := range []timerKind{shortTimers, seasonTimers, longTimers} {
			go timers{f, kind, &messages, slog.New(slog.DiscardHandler)}.run(ctx)
		}
		time.Sleep(95 * time.Second) //nolint:forbidigo // the clock of synctest
		messages.note(arriving, false)
		time.Sleep(70 * time.Second) //nolint:forbidigo // meanwhile, the database works
		messages.note(arriving, true)
		time.Sleep(105 * time.Second) //nolint:forbidigo // the clock of synctest
		stop()
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		want := map[string]time.Duration{"t:other": 0, ranking.LongTimer + "1": 34 * time.Second,
			ranking.SeasonTimer + "1:1": time.Minute, ranking.SeasonTimer + "2:2": 240 * time.Second}
		if !maps.Equal(f.fired, want) {
			t.Errorf("fired %v, want %v", f.fired, want)
		}
	})
}

// TestTimersStopWithoutTheLease checks that run returns when timers cannot be fired because the
// lease is lost.
func TestTimersStopWithoutTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeTimers{begun: time.Now(), fail: make(map[string]func() error)}
		for n := range timersAtOnce {
			key := fmt.Sprint("t:", n)
			f.add(key, 0)
			f.fail[key] = func() error { return fmt.Errorf("fire timer: %w", outbox.ErrLeaseLost) }
		}
		timers{f, shortTimers, new(incoming), slog.New(slog.DiscardHandler)}.run(t.Context())
	})
}
