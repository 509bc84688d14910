package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"elobot/internal/outbox/queuemodel"
)

var errScripted = errors.New("scripted failure")

// Send implements Sender. It makes a request with its scripted outcome.
func (i *instance) Send(ctx context.Context, m Message, begin Begin) (Receipt, error) {
	w := i.w
	if i.isKilled() {
		return Receipt{}, errKilled
	}
	lease := i.currentLease()
	covered := w.db.fits(m, w.capacity)
	f := w.fate(m)
	if !f.notAttempted {
		if err := begin(ctx); err != nil {
			return Receipt{}, err
		}
	}
	i.mu.Lock()
	overlaps := i.frozenCheckAt.Equal(time.Now()) && time.Until(lease.expires) < w.settings.SendTimeout
	i.mu.Unlock()
	if overlaps {
		w.counts.add("a frozen process sent after its lease")
	}
	r := w.model.Begins(lease.epoch, modelLane(m.Lane), rowsOf(m, covered), overlaps)
	var once sync.Once
	ends := func(class FailureKind) { once.Do(func() { w.model.Ends(r, queuemodel.Answer(class), f.wait) }) }
	cut := func() { w.model.Cut(r) }
	if f.notAttempted { // there is no request to cancel
		cut = func() { ends(Unreachable) }
	}
	defer context.AfterFunc(ctx, cut)()
	i.trigger(whenBegun)
	class := i.transmit(ctx, lease, r, f)
	w.countOutcome(m, covered, class, f)
	if class == "" && f.lasts > w.settings.SendTimeout {
		w.counts.add("a request with a longer timeout")
	}
	if i.dispatcher.Stats().CircuitOpen {
		w.counts.add("an open circuit")
	}
	i.trigger(whenAnswered)
	i.waitThaw()
	if i.isKilled() {
		return Receipt{}, errKilled
	}
	ends(class)
	receipt := Receipt{Covered: covered}
	if covered == len(m.Items) && m.Row.ID%2 == 0 {
		receipt.Covered = 0
	}
	switch {
	case class == "":
		receipt.MessageID = m.Target
		if m.Target == 0 {
			receipt.MessageID = 1000 + m.Row.ID
		}
		return receipt, nil
	case class == Failed && f.panics:
		panic(errScripted)
	case class == Failed:
		return receipt, errScripted
	default:
		return receipt, fmt.Errorf("send: %w", &Failure{Kind: class, RetryAfter: f.wait, NewID: f.newID, Err: errScripted})
	}
}

// transmit simulates how a request travels to the messenger and back, and returns the answer. The
// request may arrive at any moment in between, or not at all.
func (i *instance) transmit(ctx context.Context, lease *heldLease, r *queuemodel.Request, f fate) FailureKind {
	w, delivers := i.w, f.class == "" || f.class == Ambiguous && f.delivered
	if i.waitThaw() {
		late := lease.left() < w.settings.SendTimeout
		if late {
			w.model.Excuse(r)
		}
		switch {
		case ctx.Err() == nil:
		case f.notAttempted:
			return Unreachable
		default:
			if late && f.delivered && !i.isKilled() { // transmitted before the timeout was noticed
				w.counts.add("a frozen process sent after its lease")
				w.model.Reaches(r, delivers)
			}
			return Ambiguous
		}
	}
	if f.notAttempted {
		if err := i.wait(ctx, f.lasts); err != nil {
			return Unreachable
		}
		return f.class
	}
	begun, arrival := time.Now(), min(f.lasts, w.settings.SendTimeout)*time.Duration(f.arrives)/100
	if err := i.wait(ctx, arrival); err != nil {
		switch {
		case !f.delivered:
		case i.isKilled(): // already on its way
			go func() {
				_ = sleep(context.Background(), time.Until(begun.Add(max(arrival, w.settings.SendTimeout/2))))
				w.counts.add("a request arrived after the end of its process")
				w.model.Reaches(r, delivers)
			}()
		default:
			w.model.Reaches(r, delivers)
		}
		return Ambiguous
	}
	w.model.Reaches(r, delivers)
	if err := i.wait(ctx, f.lasts-arrival); err != nil {
		return Ambiguous
	}
	if f.hangs > 0 {
		select {
		case <-ctx.Done():
			_ = i.wait(context.Background(), f.hangs)
		case <-i.killed:
		}
	}
	return f.class
}
