package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"elobot/internal/crashpoint"
	"elobot/internal/recent"
)

const (
	// giveUpAfter limits how long an update is retried after it first failed through its own fault,
	// not counting the time of outages and locks. It must be short: in the meantime, the update's
	// lane waits, and a Poller confirms nothing behind the update.
	giveUpAfter = 5 * time.Second
	// attemptTimeout limits an attempt, so that an attempt that hangs becomes a failure. After an
	// attempt that failed through the update's own fault, the next attempt has the same deadline.
	attemptTimeout = 9 * time.Second
	// saveTimeout limits storing a dead letter, and each call to Attempts except End.
	saveTimeout = 3 * time.Second
	// The waits between attempts double from firstRetry to lastRetry, separately after the update's
	// own failures and after others.
	firstRetry = 100 * time.Millisecond
	lastRetry  = time.Second
	// maxRecent is how many persisted updates are remembered at most, each for rememberRecent.
	maxRecent      = 1000
	rememberRecent = time.Minute
)

// Worker handles the updates of a Poller or a Webhook until they are persisted.
type Worker struct {
	handle  Handler
	dead    DeadLetters
	blameOf func(error) Blame
	outage  outage
	careful careful
	now     func() time.Time
	log     *slog.Logger
	// recent holds the ids of updates that were persisted recently. A messenger that missed the
	// confirmation redelivers these updates, but they need not reach the database again.
	recent *recent.Set[int64]
}

// NewWorker returns a worker that passes updates to handle, and stores those that fail for good as
// dead letters. In careful mode it uses attempts. blameOf classifies the errors of all three; it
// may block for up to a second. now is the messenger's clock.
func NewWorker(
	handle Handler, dead DeadLetters, attempts Attempts, blameOf func(error) Blame, now func() time.Time, log *slog.Logger,
) *Worker {
	return &Worker{
		handle: handle, dead: dead, blameOf: blameOf, now: now, log: log,
		outage:  outage{log: log},
		recent:  recent.NewSet[int64](maxRecent),
		careful: careful{attempts: attempts, turn: make(chan struct{}, 1)},
	}
}

// persist retries an update until it has been handled or is a dead letter. It returns an error if
// the context ends first. Unless outlasts is set, it also returns an error if the database is
// unavailable, a lock is in the way, or the dead letter cannot be stored.
func (w *Worker) persist(ctx context.Context, u Update, outlasts bool) error {
	t := &task{Worker: w, update: u, first: time.Now()}
	outageWait, ownWait := firstRetry, firstRetry
	for ctx.Err() == nil && !w.recent.Has(u.ID) {
		begun, err := t.try(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		blame := t.judge(ctx, err)
		t.logFailure(ctx, blame, err)
		switch {
		case blame == Unavailable, blame == Locked, t.reason != nil:
			if !outlasts {
				return err
			}
			pause(ctx, outageWait)
			outageWait = min(2*outageWait, lastRetry)
			t.extend(time.Since(begun))
		case blame == Failed && t.mayRetry(ownWait):
			pause(ctx, ownWait)
			ownWait = min(2*ownWait, lastRetry)
		default:
			t.reason = err
		}
	}
	return ctx.Err()
}

// task is the work on one update until it is persisted. The time of attempts that end with
// Unavailable or Locked does not count toward giving up.
type task struct {
	*Worker
	update Update
	// first is when the update was first seen; after a crash, when the first lost attempt began.
	first    time.Time
	attempts int
	giveUp   time.Time // no attempt begins after it; zero before the update's own first failure
	// deadline limits the attempts; zero: the next attempt has all of attemptTimeout.
	deadline time.Time
	panicked bool
	returned bool  // a recorded attempt has returned, which shows that the update does not crash the process
	silent   bool  // the sender is not notified of the dead letter
	reason   error // why the update becomes a dead letter; nil before that is decided
}

// extend postpones giveUp by d, and gives the next attempt all of attemptTimeout again: the lost
// time was not the update's fault.
func (t *task) extend(d time.Duration) {
	t.deadline = time.Time{}
	if !t.giveUp.IsZero() {
		t.giveUp = t.giveUp.Add(d)
	}
}

// try makes an attempt or, if there is a reason to give up on the update, stores the dead letter.
// begun is when the attempt or the storing began, and err is nil once the update is persisted.
func (t *task) try(ctx context.Context) (begun time.Time, err error) {
	if t.reason != nil {
		return time.Now(), t.deadLetter(ctx)
	}
	t.attempts++
	leave, err := t.enter(ctx)
	begun = time.Now()
	if err == nil {
		err = t.attempt(ctx)
		leave()
	}
	if err == nil {
		crashpoint.At(crashpoint.Handled)
		t.persisted(ctx)
	}
	return begun, err
}

func (t *task) persisted(ctx context.Context) {
	t.outage.noteOther(ctx, t.update.ID)
	t.recent.Add(t.update.ID, rememberRecent)
}

// judge returns the Blame for an error. It also notes in t.outage whether the error shows an outage
// of the database.
func (t *task) judge(ctx context.Context, err error) Blame {
	if errors.Is(err, ErrUnreadable) || errors.Is(err, errCrashes) {
		// neither says anything about the database
		return Permanent
	}
	blame := t.blameOf(err)
	if blame == Unavailable {
		t.outage.noteUnavailable(ctx, t.update.ID, err)
	} else {
		t.outage.noteOther(ctx, t.update.ID)
	}
	return blame
}

// attempt handles the update once. A panic of the handler is a failure.
func (t *task) attempt(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if !t.panicked {
				t.log.ErrorContext(ctx, "handler panicked", "update_id", t.update.ID, "stack", string(debug.Stack()))
			}
			t.panicked = true
			err = fmt.Errorf("handler panicked: %v", p)
		}
	}()
	if t.deadline.IsZero() {
		t.deadline = time.Now().Add(attemptTimeout)
	}
	ctx, cancel := context.WithDeadline(ctx, t.deadline)
	defer cancel()
	crashpoint.AtUpdate(t.update.Raw)
	return t.handle(ctx, t.update)
}

// mayRetry reports whether an update that failed through its own fault has time for another attempt
// after a wait. The first such failure starts the time limit.
func (t *task) mayRetry(wait time.Duration) bool {
	if t.giveUp.IsZero() {
		t.giveUp = time.Now().Add(giveUpAfter)
	}
	next := time.Now().Add(wait)
	return !next.After(t.giveUp) && next.Before(t.deadline)
}

func (t *task) deadLetter(ctx context.Context) error {
	letter := DeadLetter{
		Update:    t.update,
		LastError: cmp.Or(t.reason.Error(), "error without a message"),
		Attempts:  t.attempts,
		FirstSeen: t.first,
		Silent:    t.silent,
	}
	saveCtx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	err := t.dead.Save(saveCtx, letter)
	if err == nil {
		t.persisted(ctx)
		t.log.ErrorContext(ctx, "gave up on an update, stored it as a dead letter", "update_id", t.update.ID,
			"attempts", letter.Attempts, "error", letter.LastError)
	}
	return err
}

// logFailure logs a failed attempt, or a failure to store the dead letter. It leaves out what is
// logged elsewhere: an outage, which is logged for all updates together, and a permanent failure of
// the update, which is logged together with the dead letter.
func (t *task) logFailure(ctx context.Context, blame Blame, err error) {
	switch {
	case blame == Unavailable:
	case t.reason != nil:
		t.log.ErrorContext(ctx, "failed to store a dead letter, retrying", "update_id", t.update.ID, "error", err)
	case blame != Permanent:
		t.log.WarnContext(ctx, "failed to handle update", "update_id", t.update.ID, "attempt", t.attempts, "error", err)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// outageLogEvery is how often the log reports a continuing outage.
const outageLogEvery = time.Minute

// outage tracks whether the database is unavailable, so that the log reports an outage for all
// updates together.
type outage struct {
	log *slog.Logger

	mu     sync.Mutex
	since  time.Time // when the outage began; zero: there is none
	seen   time.Time // when an update last failed with Unavailable
	logged time.Time // when the log last reported the outage
	// update is the id of the update that last failed with Unavailable. For outageLogEvery after
	// that, only this update can end the outage: other updates may not need the database.
	update int64
}

// noteUnavailable records that an update failed with Unavailable. It logs the beginning of an
// outage, and then logs the outage at most once every outageLogEvery.
func (o *outage) noteUnavailable(ctx context.Context, update int64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen, o.update = time.Now(), update
	if o.since.IsZero() {
		o.since, o.logged = o.seen, time.Time{}
	}
	if o.seen.Sub(o.logged) >= outageLogEvery {
		o.logged = o.seen
		o.log.ErrorContext(ctx, "database unavailable, updates have to wait",
			"unavailable_ms", o.seen.Sub(o.since).Milliseconds(), "error", err)
	}
}

// noteOther records that an update had an outcome other than Unavailable. This ends the outage if
// the update is the one that last failed with Unavailable. Once that failure is outageLogEvery old,
// any update ends the outage: the update that failed may have gone to another instance.
func (o *outage) noteOther(ctx context.Context, update int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || o.update != update && time.Since(o.seen) < outageLogEvery {
		return
	}
	o.log.InfoContext(ctx, "database available again, handling updates",
		"unavailable_ms", o.seen.Sub(o.since).Milliseconds())
	o.since = time.Time{}
}

// lanes serializes the updates of each lane. Different lanes run in parallel.
type lanes struct {
	mu   sync.Mutex
	last map[int64]chan struct{} // by lane; closed when its last update and all before it have left
}

func newLanes() *lanes { return &lanes{last: make(map[int64]chan struct{})} }

// join puts an update at the end of a lane. turn is closed once the update is at the front. The
// caller must call leave exactly once, whether or not the update's turn has come.
func (l *lanes) join(lane int64) (turn <-chan struct{}, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, left := l.last[lane], make(chan struct{})
	if before == nil {
		before = make(chan struct{})
		close(before)
	}
	l.last[lane] = left
	pass := func() {
		<-before
		l.mu.Lock()
		defer l.mu.Unlock()
		close(left)
		if l.last[lane] == left {
			delete(l.last, lane)
		}
	}
	return before, func() {
		select {
		case <-before:
			pass()
		default:
			go pass()
		}
	}
}

// awaitTurn waits until the turn comes or the context ends. It returns false if the context has
// ended, even if the turn has come.
func awaitTurn(ctx context.Context, turn <-chan struct{}) bool {
	select {
	case <-turn:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
