package intake

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

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
		p := b.start()
		synctest.Wait()
		equal(t, b.count(), items/3*2, "updates of other lanes handled")
		close(free)
		synctest.Wait()
		want := map[int64][]int64{0: sequence(1, items, 3), -7: sequence(2, items, 3), 42: sequence(3, items+1, 3)}
		equal(t, b.handled, want, "order")
		after(t, time.Second)
		b.checkConfirmed()
		if len(p.lanes.last) != 0 || len(p.queue) != 0 {
			t.Errorf("kept: %d lanes, %d updates", len(p.lanes.last), len(p.queue))
		}
	})
}
