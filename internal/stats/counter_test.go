package stats_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// brokenLadder fails in each step of a ladder.
const brokenLadder = 2

var errBroken = errors.New("broken")

// tallyStore is a store of three ladders, whose places are due and which are to be recounted. It counts the steps of each ladder.
type tallyStore struct {
	surveyed                   atomic.Int64
	counted, placed, recounted [4]int
	marks                      [4]bool
}

func (s *tallyStore) Count(_ context.Context, except ...ranking.LadderID) (bool, error) {
	if s.marks[brokenLadder] && !slices.Contains(except, brokenLadder) {
		return false, errBroken
	}
	for l := range s.marks {
		if s.marks[l] && l != brokenLadder {
			s.marks[l] = false
			s.counted[l]++
		}
	}
	return false, nil
}

func (s *tallyStore) CountNext(_ context.Context, after ranking.LadderID, except ...ranking.LadderID) (ranking.LadderID, error) {
	return s.step(&s.counted, after, except, func(l ranking.LadderID) bool { return s.marks[l] })
}

func (s *tallyStore) Place(_ context.Context, _ time.Time, except ...ranking.LadderID) (stats.PlaceStep, error) {
	l, err := s.step(&s.placed, 0, except, func(l ranking.LadderID) bool { return s.placed[l] == 0 })
	return stats.PlaceStep{Ladder: l, Chat: outbox.ChatID(10 * l)}, err
}

func (s *tallyStore) Recount(_ context.Context, except ...ranking.LadderID) (stats.RecountStep, error) {
	l, err := s.step(&s.recounted, 0, except, func(l ranking.LadderID) bool { return s.recounted[l] == 0 })
	return stats.RecountStep{Ladder: l, Complete: true}, err
}

func (s *tallyStore) step(
	steps *[4]int, after ranking.LadderID, except []ranking.LadderID, due func(ranking.LadderID) bool,
) (ranking.LadderID, error) {
	for l := after + 1; l < 4; l++ {
		if slices.Contains(except, l) || !due(l) {
			continue
		}
		if l == brokenLadder {
			return l, errBroken
		}
		steps[l]++
		s.marks[l] = s.marks[l] && steps != &s.counted
		return l, nil
	}
	return 0, nil
}

func (s *tallyStore) Survey(context.Context) (stats.TallySurvey, error) {
	return stats.TallySurvey{Marks: int(s.surveyed.Add(1))}, nil
}

// TestBrokenLadder: a ladder where a step fails, whichever it is, does not keep others waiting, and is tried again after a minute.
func TestBrokenLadder(t *testing.T) {
	t.Parallel()
	for what, marks := range map[string][4]bool{"marks": {1: true, 2: true, 3: true}, "places": {1: true, 3: true}} {
		synctest.Test(t, func(t *testing.T) {
			s := &tallyStore{marks: marks}
			c := stats.NewCounter(s, time.Now, slog.New(slog.DiscardHandler))
			var chats []outbox.ChatID
			c.WhenPlaced(func(chat outbox.ChatID) { chats = append(chats, chat) })
			if _, err := c.CatchUp(t.Context()); !errors.Is(err, errBroken) {
				t.Errorf("%s: the failure is reported as %v", what, err)
			}
			if more, err := c.CatchUp(t.Context()); more || err != nil {
				t.Errorf("%s: afterwards: %t, %v", what, more, err)
			}
			all := [4]int{1: 1, 3: 1}
			if diff := cmp.Diff([][4]int{all, all, all}, [][4]int{s.counted, s.placed, s.recounted}); diff != "" {
				t.Errorf("%s: steps of ladders (-want +got):\n%s", what, diff)
			}
			if diff := cmp.Diff([]outbox.ChatID{10, 30}, chats); diff != "" {
				t.Errorf("%s: chats with new places (-want +got):\n%s", what, diff)
			}
			time.Sleep(time.Minute) //nolint:forbidigo // the clock of synctest
			if _, err := c.CatchUp(t.Context()); !errors.Is(err, errBroken) {
				t.Errorf("%s: a minute later, the result is %v", what, err)
			}
		})
	}
}

// TestCounterStats: the counter measures while it runs. Afterwards, only what it counts itself is left.
func TestCounterStats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := stats.NewCounter(&tallyStore{marks: [4]bool{2: true}}, time.Now, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			c.Run(ctx)
		}()
		time.Sleep(15 * time.Second) //nolint:forbidigo // the clock of synctest
		if got, want := c.Stats(), (stats.CounterStats{TallySurvey: stats.TallySurvey{Marks: 2}, Failures: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		stop()
		<-ended
		if got, want := c.Stats(), (stats.CounterStats{Failures: 1}); got != want {
			t.Errorf("on standby: %+v, want %+v", got, want)
		}
	})
}
