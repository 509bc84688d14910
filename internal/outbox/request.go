package outbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"elobot/internal/crashpoint"
)

const (
	// longestWait caps Failure.RetryAfter.
	longestWait = 14 * 24 * time.Hour
	// longestPreparation is how long a sender may prepare the first request for a message. It may
	// have to read all matches of a group.
	longestPreparation = 30 * time.Second
	// hangGrace is how long to wait for a sender to return after its context was canceled.
	hangGrace = time.Second
)

var (
	errLeaseEnds = errors.New("the lease may end before the request")
	errStopped   = errors.New("the dispatcher is stopping")
	errHangs     = errors.New("the sender does not return")
)

// send makes the requests for a message, unless skipRequest decides against them.
func (t *term) send(ctx context.Context, l *lane, m Message) result {
	r := result{lane: l, Result: Result{Message: m, Fingerprint: m.fingerprint(len(m.Items))}, begun: time.Now()}
	if t.skipRequest(ctx, &r) {
		return r
	}
	t.log.LogAttrs(ctx, slog.LevelDebug, "sending notice", attributes(m), slog.String("result", "sending"))
	made := requests{term: t, lane: l, message: m, timeout: m.timeout(t.settings)}
	crashpoint.At(crashpoint.Requesting)
	receipt, err := t.request(ctx, &made)
	crashpoint.At(crashpoint.Requested)
	r.setOutcome(receipt, err)
	r.requests = made.count()
	if r.Failure != nil && r.Failure.Kind == Migrated {
		t.reportNewID(ctx, m, r.Failure)
	}
	return r
}

// attributes returns the log attributes of m. They appear inline, because their group has no name.
func attributes(m Message) slog.Attr {
	attrs := []slog.Attr{
		slog.Int64("chat_id", m.ExternalChat), slog.Int64("operation_id", m.Row.ID), slog.String("kind", m.Row.Kind),
		slog.String("action", string(m.Action)), slog.String("key", m.Row.Key), slog.Int("items", len(m.Items)),
		slog.Int("attempt", m.Row.Attempts),
	}
	if m.Row.PossibleDuplicates > 0 {
		attrs = append(attrs, slog.Int("possible_duplicates", m.Row.PossibleDuplicates))
	}
	return slog.GroupAttrs("", attrs...)
}

// skipRequest reports whether to make no request for a message, and if so, sets the result. It
// skips the request if the content is certainly shown already, if there are too many possible
// duplicates, or if the dispatcher stops or may lose its lease too soon.
func (t *term) skipRequest(ctx context.Context, r *result) bool {
	m := r.Message
	switch {
	case m.Target != 0 && m.Row.PossibleDuplicates == 0 && m.KnownFingerprint == r.Fingerprint:
		r.MessageID, r.Skipped = m.Target, true
	case m.isExhausted():
		r.Failure = &Failure{Kind: Uncertain, Err: errTooManyPossibleDuplicates}
	case ctx.Err() != nil:
		r.Failure = &Failure{Kind: Unreachable, Err: errStopped}
	default:
		err := t.whyNot(m.timeout(t.settings))
		if err == nil {
			return false
		}
		r.Failure = &Failure{Kind: Unreachable, Err: err}
	}
	return true
}

// whyNot returns the reason why no request with this timeout may begin now, or nil if one may.
func (t *term) whyNot(timeout time.Duration) error {
	switch {
	case t.stopping.Load():
		return errStopped
	case !t.mayBegin(timeout):
		return errLeaseEnds
	default:
		return nil
	}
}

func (r *result) setOutcome(receipt Receipt, err error) {
	r.Receipt = receipt
	r.Fingerprint = cmp.Or(receipt.Fingerprint, r.Message.fingerprint(r.coveredItems()))
	if err != nil && !errors.As(err, &r.Failure) {
		r.Failure = &Failure{Kind: Failed, Err: err}
	}
}

func (t *term) logOutcome(r result, now time.Time) {
	all := slog.GroupAttrs("", attributes(r.Message), slog.String("fingerprint", r.Fingerprint),
		slog.Int64("duration_ms", now.Sub(r.begun).Milliseconds()))
	switch {
	case r.Failure != nil:
		logFailure(t.log.With(all), r.Result)
	case r.Skipped:
		t.log.Debug("content already shown, nothing to send", all, slog.String("result", "skipped"))
	default:
		t.log.Debug("notice sent",
			all, slog.Int64("message_id", r.MessageID), slog.Int("covered", r.coveredItems()), slog.String("result", "sent"))
	}
}

func logFailure(log *slog.Logger, r Result) {
	f := r.Failure
	log = log.With("result", f.Kind, "error", f.Err)
	switch f.Kind {
	case RateLimited:
		log.Warn("rate limited by the messenger", "retry_after_ms", f.RetryAfter.Milliseconds())
	case Rejected:
		log.Error("notice rejected, moved to dead letters")
	case Uncertain:
		log.Error("too many possible duplicates, notice given up")
	case Obsolete:
		log.Debug("notice is obsolete")
	case Unsupported:
		log.Debug("notice set aside")
	case Unauthorized:
		log.Error("bot token is invalid, nothing can be sent")
	case Forbidden:
		log.Warn("bot may not write to the chat, chat parked")
	case Migrated:
		log.Info("chat has a new id", "new_chat_id", f.NewID)
	default:
		if r.Dead {
			log.Error("notice failed too often, moved to dead letters")
		} else {
			log.Warn("failed to send notice, retrying")
		}
	}
}

// reportNewID calls Settings.ChatMigrated, and stores its error or panic in the failure. After an
// error, the messenger reports the new id again at the next request.
func (t *term) reportNewID(ctx context.Context, m Message, f *Failure) {
	if t.settings.ChatMigrated == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			f.Err = fmt.Errorf("moving the chat to its new id panicked: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, t.settings.SendTimeout)
	defer cancel()
	if err := t.settings.ChatMigrated(ctx, m.ExternalChat, f.NewID); err != nil {
		f.Err = fmt.Errorf("move the chat to its new id: %w", err)
	}
}

// request runs the sender for a message. It cancels the sender's context when a request takes
// longer than the timeout, or the preparation of the first one longer than longestPreparation. For
// a callback answer, both share the timeout. A panic of the sender is a failure,
// and so is a sender that does not return within hangGrace of the cancellation.
func (t *term) request(ctx context.Context, made *requests) (Receipt, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	preparation := longestPreparation
	if made.lane.Kind == CallbackAnswers {
		preparation = made.timeout
	}
	made.timer = time.AfterFunc(preparation, func() { cancel(context.DeadlineExceeded) })
	defer made.timer.Stop()
	var receipt Receipt
	var err error
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		defer func() {
			if p := recover(); p != nil {
				err = &Failure{Kind: Failed, Err: fmt.Errorf("sender panicked: %v", p)}
			}
		}()
		receipt, err = t.sender.Send(ctx, made.message, made.begin)
	}()
	select {
	case <-returned:
		return receipt, err
	case <-ctx.Done():
	}
	select {
	case <-returned:
		return receipt, err
	case <-time.After(hangGrace):
	}
	if made.count() == 0 {
		return Receipt{}, &Failure{Kind: Unreachable, Err: errHangs}
	}
	return Receipt{}, &Failure{Kind: Ambiguous, Err: errHangs}
}

// onResult processes the outcome of a message: it sets the pause of the lane, updates limits,
// circuit and measurements, and queues the result to be persisted.
func (t *term) onResult(r result, now time.Time) {
	l, m := r.lane, r.Message
	t.judge(&r, now)
	l.level = t.settings.level(l.Lane, m.ExternalChat, m.Private, m.Purpose)
	l.chat.setLimits(t.settings.Limits.forChat(m.Private))
	if r.requests > l.counted && l.Kind != CallbackAnswers {
		t.countRequest(l, now)
	}
	l.counted = 0
	t.dropExtra(l)
	if r.Failure == nil {
		t.touch(l.Lane)
	}
	t.release(l, now)
	l.repeats = r.Failure != nil && !r.Failure.LeavesLane() &&
		(r.Failure.Kind == Ambiguous || m.Row.PossibleDuplicates > 0)
	switch f := r.Failure; {
	case f == nil || f.LeavesLane() || f.Kind == Forbidden:
		l.backoff = nil
	case r.outage:
		// the circuit sets the pause; the lane's own backoff continues when failures count again
	case errors.Is(f.Err, errStopped), errors.Is(f.Err, errLeaseEnds):
		// the messenger is not at fault, and the lane checks the lease again
	case f.Kind == RateLimited && f.RetryAfter > 0:
		// spread the retries of chats that were rate limited at the same time
		r.Pause = time.Duration(float64(min(max(time.Second, f.RetryAfter), longestWait)) * (1 + 0.1*rand.Float64()))
	case f.Kind == RateLimited:
		r.Pause = max(time.Second, nextPause(&l.backoff))
	case f.Kind == Ambiguous && l.Kind != CallbackAnswers:
		// answers to buttons expire too soon for such a pause
		r.Pause = m.ambiguousPause(t.settings.SendTimeout)
	default:
		r.Pause = nextPause(&l.backoff)
	}
	if r.requests > 0 && l.Kind != CallbackAnswers {
		t.updateBreaker(&r, now)
	}
	// by the next attempt, more items may wait than at the last poll
	l.summarize = l.summarize || r.Pause > 0
	if f := r.Failure; f != nil && f.Kind == Unsupported && !t.unsupportedLogged {
		t.unsupportedLogged = true
		t.log.Warn("notices of a newer release are set aside until it leads", "kind", m.Row.Kind)
	}
	if !r.begun.IsZero() {
		t.logOutcome(r, now)
	}
	t.stats.finished(r)
	t.results = append(t.results, r)
}

// judge decides what a failure for an unknown reason means. In an outage it becomes Unreachable and
// does not count against the item. Otherwise it counts, and the item becomes a dead letter after
// Settings.MaxFailures such failures.
func (t *term) judge(r *result, now time.Time) {
	f, l, item := r.Failure, r.lane, r.Message.Row
	if f == nil || f.Kind != Failed {
		return
	}
	if f.Refusal != "" && l.Kind != CallbackAnswers {
		if l.refused != item.ID {
			l.refused, l.refusedAt = item.ID, now
		}
		if t.refusals.isOutage(l, f.Refusal, now) {
			r.outage, r.Failure = true, &Failure{Kind: Unreachable, Err: f.Err}
			return
		}
	}
	r.Dead = item.Failures+1 >= t.settings.MaxFailures
}

func (t *term) countRequest(l *lane, now time.Time) {
	t.pace.add(now)
	l.requested(now)
}

// updateBreaker opens or closes the circuit depending on the outcome of a request, and sets the
// pause of a failure that is part of an outage.
func (t *term) updateBreaker(r *result, now time.Time) {
	chat, kind := r.lane.Chat, FailureKind("")
	if r.Failure != nil {
		kind = r.Failure.Kind
	} else if !r.Skipped {
		t.refusals.accepted(r.begun)
	}
	switch kind {
	case RateLimited:
		if pause := t.breaker.rateLimited(chat, r.Pause, now); pause > 0 {
			t.log.Warn("many chats are rate limited, circuit opened", "pause_ms", pause.Milliseconds())
		}
	case Unreachable, Ambiguous, Unauthorized:
		pause := t.breaker.failed(chat, r.outage, now)
		if r.outage {
			r.Pause = max(firstBackoff, pause)
		}
		if pause > 0 {
			t.log.Warn("requests to the messenger fail in several chats, circuit opened", "pause_ms", pause.Milliseconds())
		}
	default:
		if t.breaker.answered(now) {
			t.log.Info("messenger answers again, circuit closed")
		}
	}
}

// fingerprint returns a hash of the content of the first covered items. It hashes the stored data,
// not the rendered text: a new release that changes texts must not edit every message again.
func (m Message) fingerprint(covered int) string {
	h := sha256.New()
	var length [8]byte
	write := func(parts ...string) {
		for _, part := range parts {
			binary.BigEndian.PutUint64(length[:], uint64(len(part)))
			_, _ = h.Write(length[:]) // a hash never fails
			_, _ = h.Write([]byte(part))
		}
	}
	write(m.Language)
	if m.Tables {
		write("tables")
	}
	if m.Dark {
		write("dark")
	}
	write(m.TimeZone)
	for _, item := range m.Items[:covered] {
		write(item.Kind, string(item.Payload), item.Addressee)
		for _, id := range slices.Sorted(maps.Keys(item.Names)) {
			write(item.Names[id].Name, item.Names[id].Mark)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
