package intake

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// dates records the dates that the handler got, by update, in seconds since the test began.
type dates struct {
	begun time.Time
	mu    sync.Mutex
	of    map[int64]float64
	twice []int64
}

func newDates(b *bot) *dates {
	d := &dates{begun: time.Now(), of: make(map[int64]float64)}
	b.answer = func(_ context.Context, u Update) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if _, ok := d.of[u.ID]; ok {
			d.twice = append(d.twice, u.ID)
		}
		d.of[u.ID] = u.SentAt.Sub(d.begun).Seconds()
		return nil
	}
	return d
}

// at returns an update in its own lane, sent at the given second. Without a second, the update has
// no date.
func (d *dates) at(id int64, seconds ...float64) Update {
	u := Update{ID: id, Lane: id}
	if len(seconds) > 0 {
		u.SentAt = d.begun.Add(time.Duration(seconds[0] * float64(time.Second)))
	}
	return u
}

func (d *dates) check(t *testing.T, want map[int64]float64) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	got := make(map[int64]float64)
	for id := range want {
		got[id] = d.of[id]
	}
	if diff := cmp.Diff(want, got); diff != "" || len(d.twice) > 0 {
		t.Errorf("dates (-want +got):\n%s\nhandled twice: %d", diff, d.twice)
	}
}

// TestPressesAreDated checks that an update without a date gets the time of its receipt, or the
// date of the next dated update in any lane if that is earlier. It is never dated before the dated
// updates that precede it.
func TestPressesAreDated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		d := newDates(b)
		after(t, 20*time.Second) // the bot was down
		b.come(d.at(1), d.at(2, 4), d.at(3), d.at(4), d.at(5, 7), d.at(6))
		b.start()
		after(t, time.Minute)
		b.come(d.at(7), d.at(8, 90), d.at(9)) // the messenger's clock is ahead
		after(t, 0)
		d.check(t, map[int64]float64{1: 4, 2: 4, 3: 7, 4: 7, 5: 7, 6: 20, 7: 80, 8: 90, 9: 90})
		b.checkConfirmed()
	})
}

// TestPressesAtTheEndOfAFullBatch checks that presses at the end of a full batch are left to the
// next batch, where they get the date of the next dated update.
func TestPressesAtTheEndOfAFullBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		d := newDates(b)
		after(t, 20*time.Second)
		for id := int64(1); id <= 98; id++ {
			b.come(d.at(id, 1))
		}
		b.come(d.at(99), d.at(100), d.at(101), d.at(102, 5))
		for id := int64(103); id <= 299; id++ { // more than a batch without any date
			b.come(d.at(id))
		}
		b.start()
		after(t, time.Minute)
		d.check(t, map[int64]float64{98: 1, 99: 5, 100: 5, 101: 5, 102: 5, 103: 20})
		equal(t, b.count(), 299, "updates handled")
		b.checkConfirmed()
	})
}

// TestPressIsDatedByItsReceipt checks that a press is dated by its receipt, even if it is handled
// only at a later attempt. The webhook does not retry during an outage, so the update itself fails
// there.
func TestPressIsDatedByItsReceipt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failure error
		bring   func(b *bot)
	}{
		"polling": {errAway, func(b *bot) { b.come(Update{ID: 1}) }},
		"webhook": {errOwn, func(b *bot) {
			hook := NewWebhook(secret, readUpdate, b.worker)
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				hook.ServeHTTP(httptest.NewRecorder(), request(context.Background(), http.MethodPost, body(Update{ID: 1})))
			}()
			b.t.Cleanup(func() { <-answered })
		}},
	} {
		inBubble(t, name, func(t *testing.T) {
			b := newBot(t)
			d := newDates(b)
			record := b.answer
			b.answer = func(ctx context.Context, u Update) error {
				if time.Since(d.begun) < 3500*ms {
					return c.failure
				}
				return record(ctx, u)
			}
			b.start()
			after(t, 3*time.Second)
			c.bring(b)
			after(t, time.Minute)
			d.check(t, map[int64]float64{1: 3})
		})
	}
}
