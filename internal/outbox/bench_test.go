package outbox

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"
)

const benchmarkedChats = 10_000

// BenchmarkPace is one request of a group that is always at its limits.
func BenchmarkPace(b *testing.B) {
	b.ReportAllocs()
	p := pace{windows: MessengerLimits().Group}
	now := time.Unix(0, 0)
	for b.Loop() {
		now = p.next(now, 0)
		p.add(now)
	}
}

// BenchmarkPaceNext asks only.
func BenchmarkPaceNext(b *testing.B) {
	b.ReportAllocs()
	p := pace{windows: MessengerLimits().Total}
	now := time.Unix(0, 0)
	for range 60 {
		p.add(now)
	}
	for b.Loop() {
		p.next(now, 10)
	}
}

// readyLanes returns a tenure in which many lanes are ready.
func readyLanes() (*tenure, time.Time) {
	d := NewDispatcher(nil, nil, slog.New(slog.DiscardHandler), Settings{Limits: MessengerLimits()})
	t, now := newTenure(d, hold(1)), time.Now()
	for c := range ChatID(benchmarkedChats) {
		l := t.lane(Lane{Chat: c}, now.Add(-time.Duration(c%977)*time.Millisecond))
		l.level = int(c % 3)
		t.schedule(l, now)
	}
	return t, now
}

// BenchmarkSchedule is one turn among 10,000 lanes that are ready: the first one goes, and gets in line again.
func BenchmarkSchedule(b *testing.B) {
	b.ReportAllocs()
	t, now := readyLanes()
	for b.Loop() {
		l := t.ready.first()
		t.dequeue(l)
		now = now.Add(time.Millisecond)
		l.since = now
		t.schedule(l, now)
	}
}

// BenchmarkDiscover is one poll that finds 10,000 lanes which are known.
func BenchmarkDiscover(b *testing.B) {
	b.ReportAllocs()
	t, now := readyLanes()
	var backlogs []Backlog
	for c := range ChatID(benchmarkedChats) {
		backlogs = append(backlogs, Backlog{
			Lane: Lane{Chat: c}, To: -int64(c), Purpose: Outcome, Age: time.Duration(c%977) * time.Millisecond,
		})
	}
	for b.Loop() {
		now = now.Add(time.Second)
		t.discover(backlogs, now)
	}
}

// BenchmarkDispatcher tells 10,000 chats something, one after the other.
func BenchmarkDispatcher(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		store := newMemory()
		for c := range ChatID(benchmarkedChats) {
			store.add(c)
		}
		var told atomic.Int32
		done := make(chan struct{})
		sender := senderFunc(func(context.Context, Message) (Receipt, error) {
			if told.Add(1) == benchmarkedChats {
				close(done)
			}
			return Receipt{MessageID: 1}, nil
		})
		ctx, stop := context.WithCancel(b.Context())
		d := NewDispatcher(store, sender, slog.New(slog.DiscardHandler), Settings{PollEvery: seldom.PollEvery})
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx, hold(1)) }()
		<-done
		stop()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		if n := store.open(); n != 0 {
			b.Fatalf("%d items are open", n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkedChats, "ns/item")
}
