package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"
)

const benchmarkItems = 10_000 // to send

// benchmarkLanes are the numbers of lanes.
var benchmarkLanes = []int{100, 10_000}

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

// BenchmarkPaceNext only queries the pace.
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

// readyLanes returns a term with this many ready lanes.
func readyLanes(count int) (*term, time.Time) {
	d := NewDispatcher(nil, nil, slog.New(slog.DiscardHandler), Settings{Limits: MessengerLimits()})
	t, now := newTerm(d, newLease(1)), time.Now()
	for c := range ChatID(count) {
		l := t.lane(Lane{Chat: c}, now.Add(-time.Duration(c%977)*time.Millisecond))
		l.level = int(c % 3)
		t.schedule(l, now)
	}
	return t, now
}

// BenchmarkSchedule is one turn among ready lanes: the first one is taken and scheduled again.
func BenchmarkSchedule(b *testing.B) {
	for _, count := range benchmarkLanes {
		b.Run(fmt.Sprintf("lanes=%d", count), func(b *testing.B) {
			b.ReportAllocs()
			t, now := readyLanes(count)
			for b.Loop() {
				l := t.ready.first()
				t.dequeue(l)
				now = now.Add(time.Millisecond)
				l.since = now
				t.schedule(l, now)
			}
		})
	}
}

// BenchmarkPoll is one poll that returns only lanes in memory.
func BenchmarkPoll(b *testing.B) {
	for _, count := range benchmarkLanes {
		b.Run(fmt.Sprintf("lanes=%d", count), func(b *testing.B) {
			b.ReportAllocs()
			t, now := readyLanes(count)
			var backlogs []Backlog
			for c := range ChatID(count) {
				backlogs = append(backlogs, Backlog{
					Lane: Lane{Chat: c}, To: -int64(c), Purpose: Outcome, Age: time.Duration(c%977) * time.Millisecond,
				})
			}
			for b.Loop() {
				now = now.Add(time.Second)
				t.onPolled(backlogs, now)
			}
		})
	}
}

// BenchmarkPromoteDue lets all lanes wait until a given time and then makes all of them ready.
func BenchmarkPromoteDue(b *testing.B) {
	for _, count := range benchmarkLanes {
		b.Run(fmt.Sprintf("lanes=%d", count), func(b *testing.B) {
			b.ReportAllocs()
			t, now := readyLanes(count)
			for b.Loop() {
				until := now.Add(time.Second)
				for _, l := range t.lanes {
					t.dequeue(l)
					l.notBefore = until
					t.schedule(l, now)
				}
				now = until
				t.promoteDue(now)
				if t.pausedCount != 0 || len(t.ready) != count {
					b.Fatalf("%d lanes wait, %d are ready", t.pausedCount, len(t.ready))
				}
			}
		})
	}
}

// BenchmarkStartReady gives out all send slots and calculates when there is more to do.
func BenchmarkStartReady(b *testing.B) {
	for _, count := range benchmarkLanes {
		b.Run(fmt.Sprintf("lanes=%d", count), func(b *testing.B) {
			b.ReportAllocs()
			t, now := readyLanes(count)
			for b.Loop() {
				t.startReady(now)
				if len(t.takes) == 0 || !t.next(now).After(now) {
					b.Fatalf("%d lanes have a slot", len(t.takes))
				}
				now = now.Add(time.Millisecond)
				for _, l := range t.takes {
					t.release(l, now)
					l.since = now
					t.schedule(l, now)
				}
				t.takes = t.takes[:0]
			}
		})
	}
}

// BenchmarkDispatcher sends 10,000 items, one to each chat, or many to a few chats, which are merged.
func BenchmarkDispatcher(b *testing.B) {
	for _, chats := range []int{benchmarkItems / 100, benchmarkItems} {
		b.Run(fmt.Sprintf("chats=%d", chats), func(b *testing.B) { dispatchAll(b, chats) })
	}
}

func dispatchAll(b *testing.B, chats int) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		store := newMemory()
		for i := range benchmarkItems {
			store.add(ChatID(i % chats))
		}
		var covered atomic.Int32
		done := make(chan struct{})
		sender := senderFunc(func(_ context.Context, m Message) (Receipt, error) {
			if covered.Add(int32(len(m.Items))) == benchmarkItems {
				close(done)
			}
			return Receipt{MessageID: 1}, nil
		})
		ctx, stop := context.WithCancel(b.Context())
		d := NewDispatcher(store, sender, slog.New(slog.DiscardHandler), Settings{PollEvery: noPolls.PollEvery})
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx, newLease(1)) }()
		<-done
		stop()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		if n := store.open(); n != 0 {
			b.Fatalf("%d items are open", n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkItems, "ns/item")
}
