package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sethvargo/go-retry"
)

// Waits after failures that pass: they double from firstBackoff to maxBackoff, give or take 30 %.
const (
	firstBackoff  = 500 * time.Millisecond
	maxBackoff    = 20 * time.Second
	backoffJitter = 30
)

const (
	// askTimeout bounds what is asked of the store, so that a connection that hangs is noticed.
	askTimeout = 10 * time.Second
	// finishTimeout is how long writing down a result may take, also when the dispatcher is being stopped.
	finishTimeout = time.Second
)

// lane is the queue of one chat as the dispatcher sees it: not the items, only whether there may be any and when the
// next one may go. While it is running, only its step touches it, but for again.
type lane struct {
	chat      ChatID
	state     state
	again     bool // woken while it was running
	outcome   outcome
	notBefore time.Time
	backoff   retry.Backoff // how long to wait after the next failure; nil: there was none lately
	unwritten *Result       // what came of an item and could not be written down yet

	// What the messenger has said to the last request: that the chat has to wait so long, or anything else.
	limited  time.Duration
	answered bool
}

type state int

const (
	ready state = iota
	running
	waiting // for notBefore
)

// outcome is what a lane wants after a step.
type outcome int

const (
	idle outcome = iota // nothing to be sent
	more                // go on when it is its turn
	wait                // go on at notBefore
)

// step sends the oldest item of the lane, or writes down what came of the last one if that is still to be done.
func (d *Dispatcher) step(ctx context.Context, l *lane) {
	if l.unwritten == nil {
		item, err := d.take(ctx, l.chat)
		switch {
		case err != nil:
			d.log.ErrorContext(ctx, "cannot take a notice to be sent", "lane", l.chat, "error", err)
			l.failed()
			return
		case item == nil:
			l.outcome, l.backoff = idle, nil
			return
		}
		l.unwritten = d.send(ctx, *item)
		l.hear(l.unwritten)
	}
	r := l.unwritten
	if err := d.finish(ctx, *r); err != nil {
		d.log.ErrorContext(ctx, "cannot write down what came of a notice", "lane", l.chat, "item", r.Item.ID, "error", err)
		l.failed()
		return
	}
	l.unwritten = nil
	l.proceed(r)
}

// hear takes note of what the messenger has said to a request. What is only said about the way to it says nothing.
func (l *lane) hear(r *Result) {
	switch {
	case r.Failure == nil:
		l.answered = true
	case r.Failure.Class == RateLimited:
		l.limited = r.Pause
	default:
		l.answered = r.Failure.Class == Gone || r.Failure.Class == Rejected || r.Failure.Class == Pointless
	}
}

// proceed decides what the lane does after a result that has been written down.
func (l *lane) proceed(r *Result) {
	switch {
	case r.Failure == nil || r.Failure.Class == Rejected || r.Failure.Class == Pointless:
		l.outcome, l.backoff = more, nil
	case r.Failure.Class == Gone:
		l.outcome, l.backoff = idle, nil
	case r.Failure.Class == RateLimited:
		l.outcome, l.notBefore = wait, time.Now().Add(r.Pause)
	default:
		l.failed()
	}
}

// failed makes the lane wait, longer each time.
func (l *lane) failed() {
	if l.backoff == nil {
		l.backoff = retry.WithJitterPercent(backoffJitter,
			retry.WithCappedDuration(maxBackoff, retry.NewExponential(firstBackoff)))
	}
	pause, _ := l.backoff.Next() // it never says stop
	l.outcome, l.notBefore = wait, time.Now().Add(pause)
}

func (d *Dispatcher) take(ctx context.Context, chat ChatID) (*Item, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return d.store.Take(ctx, chat)
}

// finish writes down a result. What has happened has happened, also when the dispatcher is being stopped.
func (d *Dispatcher) finish(ctx context.Context, r Result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	return d.store.Finish(ctx, r)
}

// send sends an item and says in the log what came of it.
func (d *Dispatcher) send(ctx context.Context, item Item) *Result {
	begun := time.Now()
	id, err := d.request(ctx, item)
	r := &Result{Item: item, MessageID: id}
	log := d.log.With("chat_id", item.To, "item", item.ID, "kind", item.Kind, "attempt", item.Attempts,
		"duration_ms", time.Since(begun).Milliseconds())
	if item.PerhapsSent > 0 {
		log = log.With("perhaps_sent", item.PerhapsSent)
	}
	if err == nil {
		log.DebugContext(ctx, "notice sent", "message_id", id)
		return r
	}
	if !errors.As(err, &r.Failure) {
		r.Failure = &Failure{Class: Rejected, Err: err}
	}
	log = log.With("class", r.Failure.Class, "error", r.Failure.Err)
	switch r.Failure.Class {
	case RateLimited:
		// a little later than asked, so that chats that were stopped together do not come back together
		r.Pause = time.Duration(float64(max(time.Second, r.Failure.RetryAfter)) * (1 + 0.1*rand.Float64()))
		log.WarnContext(ctx, "the messenger asks to wait", "retry_after_ms", r.Failure.RetryAfter.Milliseconds())
	case Rejected:
		log.ErrorContext(ctx, "notice was refused and becomes a dead letter")
	case Pointless:
		log.DebugContext(ctx, "there is no point in the notice any more")
	case Unauthorized:
		log.ErrorContext(ctx, "the bot's token is not valid: nothing can be sent until it is")
	case Gone:
		log.WarnContext(ctx, "the bot may not write to the chat: its notices wait until it is heard of again")
	default:
		log.WarnContext(ctx, "notice was not sent, trying again")
	}
	return r
}

// request makes one request. A sender that panics has refused the item.
func (d *Dispatcher) request(ctx context.Context, item Item) (id int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Failure{Class: Rejected, Err: fmt.Errorf("sender panicked: %v", p)}
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, d.settings.SendTimeout)
	defer cancel()
	return d.sender.Send(ctx, item)
}
