package outbox

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// latency is the duration of the request for an item: between 50 and 200 ms, always the same for the same key.
func latency(key string) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return 50*time.Millisecond + time.Duration(h.Sum64()%150)*time.Millisecond
}

// The messenger is down for ten minutes while items keep coming: none becomes a dead letter, none is reordered,
// everything that has not expired is sent afterwards, and the messenger is not flooded with requests during the outage.
func TestMessengerOutageOfTenMinutes(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]func(ctx context.Context) error{
		"no connection": func(context.Context) error { return failure(Unreachable) },
		"no answer":     func(ctx context.Context) error { return &Failure{Class: Ambiguous, Err: hang(ctx)} },
	} {
		inBubble(t, name, func(t *testing.T) {
			const chats, lasts = 200, 10 * time.Minute
			random := rand.New(rand.NewPCG(4, 2))
			outageStart := time.Now().Add(time.Minute)
			outageEnd := outageStart.Add(lasts)
			store, book := newMemory(), newLogbook()
			sender := newMessenger(t, func(ctx context.Context, m Message) error {
				if now := time.Now(); now.Before(outageStart) || !now.Before(outageEnd) {
					return answersAfter(latency(m.Row.Key))(ctx, m)
				}
				return outage(ctx)
			})
			for c := range ChatID(chats) {
				store.private[c] = c%3 == 0
			}
			p := run(t, NewDispatcher(store, sender, slog.New(book), Settings{Limits: MessengerLimits()}), newLease(1))
			for n := 0; time.Now().Before(outageEnd.Add(-time.Second)); n++ {
				r := row{chat: ChatID(random.IntN(chats)), Item: Item{Key: fmt.Sprint(n)}}
				switch random.IntN(10) {
				case 0:
					r.action, r.expires = CallbackAnswer, time.Now().Add(15*time.Second)
				case 1, 2, 3:
					r.purpose, r.expires = Answer, time.Now().Add(5*time.Minute)
				default:
					r.expires = time.Now().Add(24 * time.Hour)
				}
				store.put(r)
				if r.action == CallbackAnswer {
					p.WakeCallbackAnswers(r.chat)
				} else {
					p.Wake(r.chat)
				}
				advance(t, time.Duration(random.IntN(1000))*time.Millisecond)
			}
			waiting := store.open()
			advance(t, 3*time.Minute)
			if n := store.open() + store.count(rowDead); n != 0 {
				t.Errorf("%d items are open or dead", n)
			}
			sent, last := checkSent(t, store, sender)
			probes, callbackAnswers := 0, 0
			for _, r := range sender.all() {
				if !r.begun.Before(outageStart) && r.begun.Before(outageEnd) {
					if r.message.Action == CallbackAnswer {
						callbackAnswers++
					} else {
						probes++
					}
				}
			}
			if probes > 32+2+int(lasts/(14*time.Second))+10 {
				t.Errorf("%d requests during the outage, without answers to buttons", probes)
			}
			f := p.Stats()
			t.Logf("%d items in %d chats, %d of them waiting at the end of the outage; %d requests during the outage, and %d answers to buttons",
				len(store.rows), chats, waiting, probes, callbackAnswers)
			t.Logf("%d messages in total, the last one %v after the outage; %d expired, 0 dead; average wait %.1f s",
				sent, last.Sub(outageEnd).Round(time.Millisecond), store.count(rowExpired), f.AverageWait)
			opened := book.lines("most requests to the messenger fail, circuit opened")
			if n := len(opened); n == 0 || n > probes {
				t.Errorf("the log reports %d outages", n)
			}
		})
	}
}

// checkSent checks that each chat received everything that has not expired, in order, and nothing expired. It returns
// the number of successful requests, and when the last one started.
func checkSent(t *testing.T, store *memory, sender *messenger) (n int, last time.Time) {
	t.Helper()
	newest, attempted := make(map[Lane]int64), make(map[Lane]int64)
	sent := make(map[int64]bool)
	for _, r := range sender.all() {
		lane := r.message.Lane
		if r.ids[0] < attempted[lane] || r.ids[0] <= newest[lane] || !slices.IsSorted(r.ids) {
			t.Errorf("in lane %+v items %v are attempted after item %d, and %d was sent", lane, r.ids, attempted[lane], newest[lane])
		}
		attempted[lane] = r.ids[0]
		if r.err != nil {
			continue
		}
		n, last, newest[lane] = n+1, r.begun, r.ids[len(r.ids)-1]
		for _, id := range r.ids {
			sent[id] = true
			if row := store.row(id); !r.begun.Before(row.expires) {
				t.Errorf("item %d is sent %v after it expired", id, r.begun.Sub(row.expires))
			}
		}
	}
	for _, r := range store.rows {
		switch {
		case r.state == rowSent && sent[r.ID]:
		case r.state == rowExpired && !sent[r.ID] && !r.finished.Before(r.expires):
		default:
			t.Errorf("item %d is %s at %v, it expires at %v; sent: %t", r.ID, r.state, r.finished, r.expires, sent[r.ID])
		}
	}
	return n, last
}

// arrival is an item that is added at a given time.
type arrival struct {
	at   time.Duration
	chat ChatID
	key  string
}

// arrivals returns random items at the given rate for chats from first on.
func arrivals(random *rand.Rand, first ChatID, chats int, perSecond float64, within time.Duration) []arrival {
	var all []arrival
	for at := time.Duration(0); at < within; {
		at += time.Duration(random.ExpFloat64() / perSecond * float64(time.Second))
		chat := first + ChatID(random.IntN(chats))
		all = append(all, arrival{at, chat, fmt.Sprint(chat, at)})
	}
	return all
}

// bursts returns random bursts of items for chats from first on: this many items at once, each minute.
func bursts(random *rand.Rand, first ChatID, chats, items int, within time.Duration) []arrival {
	var all []arrival
	for at := time.Duration(0); at < within; at += time.Minute {
		for i := range items {
			chat := first + ChatID(random.IntN(chats))
			all = append(all, arrival{at, chat, fmt.Sprint(chat, at, i)})
		}
	}
	return all
}

// waits plays what comes, and returns how long each item of the chats has waited for its request, shortest first.
// Chat 0 is frozen at its first request, for an hour.
func waits(t *testing.T, all []arrival) []time.Duration {
	t.Helper()
	slices.SortStableFunc(all, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	store := newMemory()
	sender := newMessenger(t, func(ctx context.Context, m Message) error {
		if err := answersAfter(latency(m.Row.Key))(ctx, m); err != nil || m.Lane.Chat != 0 {
			return err
		}
		return rateLimited(time.Hour)
	})
	for c := range ChatID(1000) {
		store.private[c] = c%2 == 1
	}
	p := dispatch(t, store, sender, Settings{Limits: MessengerLimits(), Bounds: Bounds{Merge: 64}})
	synctest.Wait()
	begun := time.Now()
	for _, a := range all {
		if wait := a.at - time.Since(begun); wait > 0 {
			advance(t, wait)
		}
		store.put(row{chat: a.chat, Item: Item{Key: a.key}})
		p.Wake(a.chat)
	}
	advance(t, time.Minute)
	p.stop()
	var waits []time.Duration
	for _, r := range sender.all() {
		if r.chat == 0 {
			continue
		}
		for _, id := range r.ids {
			waits = append(waits, r.begun.Sub(store.row(id).created))
		}
	}
	slices.Sort(waits)
	return waits
}

// A chat that is frozen for an hour, with ever more items, delays none of 500 other chats.
func TestFrozenChatDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	const chats = 500
	random := rand.New(rand.NewPCG(1, 2))
	others := slices.Concat(arrivals(random, 1, chats, 1, time.Hour), bursts(random, 1, chats, 100, time.Hour))
	frozen := arrivals(random, 0, 1, 0.2, time.Hour)
	percentile := func(waits []time.Duration, p float64) time.Duration {
		return waits[int(float64(len(waits)-1)*p)]
	}
	var with, without []time.Duration
	synctest.Test(t, func(t *testing.T) { without = waits(t, slices.Clone(others)) })
	synctest.Test(t, func(t *testing.T) { with = waits(t, slices.Concat(others, frozen)) })
	if len(with) != len(others) || len(without) != len(others) {
		t.Fatalf("of %d items %d are sent with the frozen chat, %d without it", len(others), len(with), len(without))
	}
	for _, p := range []float64{0.5, 0.9, 0.99, 0.999} {
		a, b := percentile(without, p), percentile(with, p)
		t.Logf("p%g of the wait of %d items in %d chats: %v without the frozen chat, %v with it",
			100*p, len(others), chats, a, b)
		if noise := a/20 + 10*time.Millisecond; b > a+noise {
			t.Errorf("p%g: %v with the frozen chat, %v without it", 100*p, b, a)
		}
	}
}
