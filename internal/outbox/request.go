package outbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"elobot/internal/crashpoint"
)

const (
	// longWait is a pause that somebody should know about.
	longWait = 10 * time.Minute
	// longestWait bounds what a messenger can ask for. Telegram's own server allows no more.
	longestWait = 14 * 24 * time.Hour
	// hangFor is how long after its timeout a sender that does not heed it is waited for.
	hangFor = time.Second
)

var (
	errLeaseEnds = errors.New("the lease may end before the request does")
	errStopped   = errors.New("the dispatcher is being stopped")
	errHangs     = errors.New("the sender does not come back")
)

// send makes the request for a message, unless there is no need for it or no time, and tells in the log what came of it. The
// request may take as long as the timeout.
func (t *term) send(ctx context.Context, l *lane, m Message, timeout time.Duration) result {
	r := result{lane: l, Result: Result{Message: m}}
	begun, log := time.Now(), t.logOf(m)
	if t.withheld(ctx, log, &r) {
		return r
	}
	log.DebugContext(ctx, "sending notice", "result", "sending")
	crashpoint.At(crashpoint.Requesting)
	receipt, err := t.request(ctx, m, timeout)
	crashpoint.At(crashpoint.Requested)
	covered := r.note(receipt, err)
	r.slow = time.Since(begun) >= t.settings.SendTimeout
	if r.Failure != nil && r.Failure.Class == Migrated {
		t.move(ctx, m, r.Failure)
	}
	log = log.With("fingerprint", r.Fingerprint, "duration_ms", time.Since(begun).Milliseconds())
	if r.Failure == nil {
		log.DebugContext(ctx, "notice sent", "message_id", r.MessageID, "covered", covered, "result", "sent")
	} else {
		logFailure(ctx, log, r.Failure)
	}
	return r
}

// logOf returns a log that says of each record which message it is about.
func (t *term) logOf(m Message) *slog.Logger {
	log := t.log.With("chat_id", m.To, "operation_id", m.Row.ID, "kind", m.Row.Kind, "action", m.Action, "key", m.Row.Key,
		"items", m.Count, "attempt", m.Row.Attempts)
	if m.Row.PossibleDuplicates > 0 {
		log = log.With("possible_duplicates", m.Row.PossibleDuplicates)
	}
	return log
}

// withheld says whether no request is made for a message, and then puts down what comes of it instead: what is there says it
// already, it was perhaps sent too often, or there is no time for it.
func (t *term) withheld(ctx context.Context, log *slog.Logger, r *result) bool {
	m := r.Message
	switch {
	case m.Target != 0 && m.Known != "" && m.Row.PossibleDuplicates == 0 && m.Known == m.fingerprint(len(m.Items)):
		r.Fingerprint, r.MessageID = m.Known, m.Target
		log.DebugContext(ctx, "nothing to be sent", "fingerprint", r.Fingerprint, "result", "skipped")
		return true
	case m.isUsedUp():
		r.Failure = &Failure{Class: Uncertain, Err: errCopies}
		log.ErrorContext(ctx, "notice was perhaps sent too often and is given up", "result", r.Failure.Class)
		return true
	case ctx.Err() != nil:
		r.Failure = &Failure{Class: Unreachable, Err: errStopped}
	case !t.mayBegin():
		r.Failure = &Failure{Class: Unreachable, Err: errLeaseEnds}
	default:
		return false
	}
	log.WarnContext(ctx, "notice was not sent", "result", r.Failure.Class, "error", r.Failure.Err)
	return true
}

// note puts down what has come of a request, and returns how many items it was about.
func (r *result) note(receipt Receipt, err error) (covered int) {
	r.Receipt = receipt
	covered = len(r.Message.Items)
	if receipt.Covered > 0 {
		covered = min(covered, receipt.Covered)
	}
	r.Fingerprint = r.Message.fingerprint(covered)
	if err != nil && !errors.As(err, &r.Failure) {
		r.Failure = &Failure{Class: Failed, Err: err}
	}
	r.attempted = r.Failure == nil || !r.Failure.NotAttempted
	return covered
}

// logFailure tells why a request has failed, as loud as somebody has to know of it.
func logFailure(ctx context.Context, log *slog.Logger, f *Failure) {
	log = log.With("result", f.Class, "error", f.Err)
	switch f.Class {
	case RateLimited:
		log = log.With("retry_after_ms", f.RetryAfter.Milliseconds())
		if f.RetryAfter > longWait {
			log.WarnContext(ctx, "the messenger asks to wait for a very long time")
			break
		}
		log.WarnContext(ctx, "the messenger asks to wait")
	case Rejected:
		log.ErrorContext(ctx, "notice was refused and becomes a dead letter")
	case Obsolete:
		log.DebugContext(ctx, "there is no point in the notice any more")
	case Unauthorized:
		log.ErrorContext(ctx, "the bot's token is not valid: nothing can be sent until it is")
	case Forbidden:
		log.WarnContext(ctx, "the bot may not write to the chat: its notices wait until it is heard of again")
	case Migrated:
		log.InfoContext(ctx, "the chat has another id now", "new_chat_id", f.NewID)
	default:
		log.WarnContext(ctx, "notice was not sent, trying again")
	}
}

// move has the chat of a message go by its new id. If that fails, the messenger will say so again.
func (t *term) move(ctx context.Context, m Message, f *Failure) {
	if t.settings.Moved == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			f.Err = fmt.Errorf("moving the chat to its new id panicked: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, t.settings.SendTimeout)
	defer cancel()
	if err := t.settings.Moved(ctx, m.To, f.NewID); err != nil {
		f.Err = fmt.Errorf("move the chat to its new id: %w", err)
	}
}

// request makes one request. It is cut off after the timeout, and before the lease ends if nobody renews that. A sender
// that panics, or does not come back in time, has failed as others fail.
func (t *term) request(ctx context.Context, m Message, timeout time.Duration) (Receipt, error) {
	type answer struct {
		receipt Receipt
		err     error
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answers := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a = answer{err: &Failure{Class: Failed, Err: fmt.Errorf("sender panicked: %v", p)}}
			}
			answers <- a
		}()
		a.receipt, a.err = t.sender.Send(ctx, m)
	}()
	if timeout > t.settings.SendTimeout {
		t.workers.Go(func() { t.endBeforeLease(ctx, cancel) })
	}
	select {
	case a := <-answers:
		return a.receipt, a.err
	case <-ctx.Done():
	}
	hangs := time.NewTimer(hangFor)
	defer hangs.Stop()
	select {
	case a := <-answers:
		return a.receipt, a.err
	case <-hangs.C:
		return Receipt{}, &Failure{Class: Ambiguous, Err: errHangs}
	}
}

// hear goes on with a lane whose request has ended: it says how long the lane has to wait, and has that written down.
func (t *term) onResult(r result, now time.Time) {
	l, m := r.lane, r.Message
	t.release(l)
	l.slow = false
	l.level, l.pace.windows = t.settings.level(m.To, m.Private, m.Purpose), t.settings.Limits.of(m.Private)
	if r.attempted && !l.CallbackAnswers {
		t.pace.add(now)
		l.pace.add(now)
	}
	switch f := r.Failure; {
	case f == nil || f.ends() || f.Class == Forbidden:
		l.backoff = nil
	case errors.Is(f.Err, errStopped): // who dispatches next need not wait
	case f.Class == RateLimited && f.RetryAfter > 0:
		// a little later than asked, so that chats that were stopped together do not come back together
		r.Pause = time.Duration(float64(min(max(time.Second, f.RetryAfter), longestWait)) * (1 + 0.1*rand.Float64()))
	case f.Class == RateLimited:
		r.Pause = max(time.Second, l.nextBackoff())
	case f.Class == Ambiguous && !l.CallbackAnswers: // those are told in vain soon
		l.slow = r.slow
		r.Pause = m.unknownPause(t.settings.SendTimeout)
	default:
		r.Pause = l.nextBackoff()
		r.Dead = f.Class == Failed && r.Message.Row.Failures+1 >= t.settings.MaxFailures
	}
	if r.attempted && !l.CallbackAnswers {
		t.judge(l.Chat, r.Result, now)
	}
	t.meter.heard(r)
	t.results = append(t.results, r)
}

// judge learns from what came of a request whether all lanes have to stand still, or may go on.
func (t *term) judge(chat ChatID, r Result, now time.Time) {
	class := Class("")
	if r.Failure != nil {
		class = r.Failure.Class
	}
	switch class {
	case RateLimited:
		if pause := t.breaker.limited(chat, r.Pause, now); pause > 0 {
			t.log.Warn("the messenger turns many chats away: all of them wait", "pause_ms", pause.Milliseconds())
		}
	case Unreachable, Ambiguous, Unauthorized:
		if pause := t.breaker.failed(chat, now); pause > 0 {
			t.log.Warn("most requests to the messenger fail: one lane tries, the others wait", "pause_ms", pause.Milliseconds())
		}
	default:
		if t.breaker.passed(chat, now) {
			t.log.Info("the messenger takes requests again")
		}
	}
}

// fingerprint tells what the first items of a message say from everything else, as far as the store can know: words may
// change with a release, which is no reason to say everything again.
func (m Message) fingerprint(covered int) string {
	h := sha256.New()
	var length [8]byte
	write := func(parts ...string) {
		for _, part := range parts {
			binary.BigEndian.PutUint64(length[:], uint64(len(part)))
			_, _ = h.Write(length[:]) // a hash takes everything
			_, _ = h.Write([]byte(part))
		}
	}
	write(m.Language)
	for _, item := range m.Items[:covered] {
		write(item.Kind, string(item.Payload), item.Addressee)
	}
	if unnamed := m.Count - len(m.Items); unnamed > 0 {
		write(fmt.Sprint(unnamed))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
