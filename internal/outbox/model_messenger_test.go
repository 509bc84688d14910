package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"elobot/internal/outbox/queuemodel"
)

var errAnswer = errors.New("as drawn")

// Send lets a request meet its fate.
func (i *instance) Send(ctx context.Context, m Message) (Receipt, error) {
	w := i.w
	if i.isGone() {
		return Receipt{}, errGone
	}
	lease := i.current()
	told := w.db.fits(m, w.capacity)
	f := w.fate(m)
	i.mu.Lock()
	overlaps := i.checked.Equal(time.Now()) && time.Until(lease.expires) < w.settings.SendTimeout
	i.mu.Unlock()
	if overlaps {
		w.counts.add("a frozen process sent after its lease")
	}
	r := w.model.Begins(lease.epoch, judged(m.Lane), w.db.rowsOf(m, told), overlaps)
	defer context.AfterFunc(ctx, func() { w.model.Cut(r) })()
	i.spring(whenBegun)
	class := i.travel(ctx, lease, r, f)
	w.cover(m, told, class, f)
	if class == "" && f.lasts > w.settings.SendTimeout {
		w.counts.add("a request that took longer")
	}
	if i.dispatcher.Stats().CircuitOpen {
		w.counts.add("all lanes stood still")
	}
	i.spring(whenTold)
	i.stand()
	if i.isGone() {
		return Receipt{}, errGone
	}
	w.model.Ends(r, queuemodel.Answer(class), f.wait)
	receipt := Receipt{Covered: told}
	if told == len(m.Items) && (m.Count > told || m.Row.ID%2 == 0) {
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
		panic(errAnswer)
	case class == Failed:
		return receipt, errAnswer
	default:
		return receipt, fmt.Errorf("send: %w", &Failure{
			Class: class, RetryAfter: f.wait, NewID: f.newID, NotAttempted: f.unasked && class == f.class, Err: errAnswer,
		})
	}
}

// travel takes a request to the messenger and the answer back. It arrives, if at all, at some moment between.
func (i *instance) travel(ctx context.Context, lease *rented, r *queuemodel.Request, f fate) Class {
	w, delivers := i.w, f.class == "" || f.class == Ambiguous && f.delivered
	if i.stand() {
		late := lease.left() < w.settings.SendTimeout
		if late {
			w.model.Excuse(r)
		}
		if ctx.Err() != nil {
			if late && f.delivered && !i.isGone() { // it was written before anybody looked at the clock
				w.counts.add("a frozen process sent after its lease")
				w.model.Reaches(r, delivers)
			}
			return Ambiguous
		}
	}
	if f.unasked {
		if err := i.wait(ctx, f.lasts); err != nil {
			return Unreachable
		}
		return f.class
	}
	begun, reach := time.Now(), min(f.lasts, w.settings.SendTimeout)*time.Duration(f.arrives)/100
	if err := i.wait(ctx, reach); err != nil {
		switch {
		case !f.delivered:
		case i.isGone(): // it is on its way all the same
			go func() {
				_ = pass(context.Background(), time.Until(begun.Add(max(reach, w.settings.SendTimeout/2))))
				w.counts.add("a request arrived after the end of its process")
				w.model.Reaches(r, delivers)
			}()
		default:
			w.model.Reaches(r, delivers)
		}
		return Ambiguous
	}
	w.model.Reaches(r, delivers)
	if err := i.wait(ctx, f.lasts-reach); err != nil {
		return Ambiguous
	}
	if f.hangs > 0 {
		select {
		case <-ctx.Done():
			_ = i.wait(context.Background(), f.hangs)
		case <-i.gone:
		}
	}
	return f.class
}
