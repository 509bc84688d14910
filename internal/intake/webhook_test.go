package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const secret = "a secret"

// readUpdate reads {"id": …, "lane": …}, in which the id is required, and ignores the rest.
func readUpdate(raw []byte) (Update, error) {
	var in struct{ ID, Lane int64 }
	if err := json.Unmarshal(raw, &in); err != nil {
		return Update{}, err
	}
	if in.ID == 0 {
		return Update{}, errors.New("no id")
	}
	return Update{ID: in.ID, Lane: in.Lane, Raw: raw}, nil
}

func body(u Update) string { return fmt.Sprintf(`{"id": %d, "lane": %d}`, u.ID, u.Lane) }

func request(ctx context.Context, method, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, method, "/webhook", strings.NewReader(body))
	r.Header.Set(secretHeader, secret)
	return r
}

// posts sends updates to a webhook, and holds the answers by the id of the update.
type posts struct {
	hook *Webhook
	all  sync.WaitGroup

	mu      sync.Mutex
	answers map[int64]*httptest.ResponseRecorder
	took    map[int64]time.Duration
}

func newPosts(b *bot) *posts {
	return &posts{
		hook:    NewWebhook(secret, readUpdate, b.worker),
		answers: make(map[int64]*httptest.ResponseRecorder), took: make(map[int64]time.Duration),
	}
}

// post sends updates one after the other without waiting for the answers.
func (p *posts) post(ctx context.Context, updates ...Update) {
	for _, u := range updates {
		begun := time.Now()
		p.all.Go(func() {
			w := httptest.NewRecorder()
			p.hook.ServeHTTP(w, request(ctx, http.MethodPost, body(u)))
			p.mu.Lock()
			defer p.mu.Unlock()
			p.answers[u.ID], p.took[u.ID] = w, time.Since(begun)
		})
		synctest.Wait() // keeps them in this order
	}
}

// statuses returns the statuses of the answers so far, by update.
func (p *posts) statuses() map[int64]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	statuses := make(map[int64]int)
	for id, w := range p.answers {
		statuses[id] = w.Code
	}
	return statuses
}

func TestWebhookLanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.answer = func(ctx context.Context, u Update) error { return pass(ctx, time.Duration(10-u.ID)*100*ms) }
		p := newPosts(b)
		p.post(t.Context(), updates(1, 9, 1, 2, 3)...)
		after(t, 900*ms-1)
		if got := p.statuses(); len(got) != 2 || got[2] != 200 || got[3] != 200 {
			t.Errorf("answers: %v", got)
		}
		p.all.Wait()
		want := map[int64][]int64{1: {1, 4, 7}, 2: {2, 5, 8}, 3: {3, 6, 9}}
		equal(t, b.handled, want, "order")
		for id, w := range p.answers {
			if w.Code != 200 || w.Body.Len() > 0 {
				t.Errorf("answer to %d: %d %q", id, w.Code, w.Body)
			}
		}
		if len(p.hook.lanes.last) != 0 || len(p.hook.inProgress) != 0 {
			t.Errorf("kept: %d lanes, %d requests", len(p.hook.lanes.last), len(p.hook.inProgress))
		}
	})
}

func TestWebhookFailingUpdate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		answer func(ctx context.Context, try int) error
		keep   error
		status int
		took   time.Duration
		letter string
	}{
		"fails": {func(context.Context, int) error { return errOwn }, nil, 200, 4500 * ms, errOwn.Error()},
		"fails once": {
			func(_ context.Context, try int) error { return failing(1, errOwn)(try) },
			nil, 200, 100 * ms, "",
		},
		"hangs": {
			func(ctx context.Context, _ int) error { return hang(ctx) },
			nil, 200, attemptTimeout, "context deadline exceeded",
		},
		"panics":        {func(context.Context, int) error { panic("oh") }, nil, 200, 4500 * ms, "handler panicked: oh"},
		"unreadable":    {func(context.Context, int) error { return ErrUnreadable }, nil, 200, 0, ErrUnreadable.Error()},
		"has to wait":   {func(context.Context, int) error { return errBusy }, nil, 503, 0, ""},
		"hopeless":      {func(context.Context, int) error { return errHopeless }, nil, 200, 0, errHopeless.Error()},
		"database away": {func(context.Context, int) error { return errAway }, nil, 503, 0, ""},
		"away, then there": {
			func(_ context.Context, try int) error { return failing(1, errAway)(try) },
			nil, 503, 0, "",
		},
		"fails, then away": {
			func(_ context.Context, try int) error { return []error{errOwn, errOwn, errAway}[try] },
			nil, 503, 300 * ms, "",
		},
		"not to be kept": {func(context.Context, int) error { return errOwn }, errOwn, 503, 4500 * ms, ""},
		"kept by nobody": {func(context.Context, int) error { return ErrUnreadable }, errAway, 503, 0, ""},
		"hangs in database": {
			func(ctx context.Context, _ int) error { return errors.Join(errAway, hang(ctx)) },
			nil, 503, attemptTimeout, "",
		},
	}
	for name, c := range cases {
		inBubble(t, name, func(t *testing.T) {
			b, begun := newBot(t), time.Now()
			b.answer = func(ctx context.Context, u Update) error {
				if u.ID == 1 {
					return c.answer(ctx, len(b.tries(1))-1)
				}
				return nil
			}
			b.onKeep = func(context.Context) error { return c.keep }
			p := newPosts(b)
			p.post(t.Context(), Update{ID: 1, Lane: 5}, Update{ID: 2, Lane: 5}, Update{ID: 3, Lane: 6})
			p.all.Wait()
			equal(t, p.statuses(), map[int64]int{1: c.status, 2: 200, 3: 200}, "answers")
			if retry := p.answers[1].Header().Get("Retry-After"); (retry == "1") != (c.status == 503) {
				t.Errorf("Retry-After: %q", retry)
			}
			if p.took[1] != c.took || p.took[2] != c.took || p.took[3] != 0 {
				t.Errorf("answers after %v, want %v, %v and 0", p.took, c.took, c.took)
			}
			var letter string
			if letters := b.kept(); len(letters) == 1 {
				letter = letters[0].LastError
				want := Update{ID: 1, Lane: 5, Raw: json.RawMessage(body(Update{ID: 1, Lane: 5})), SentAt: begun}
				equal(t, letters[0].Update, want, "dead letter")
			}
			if letter != c.letter || len(b.kept()) > 1 {
				t.Errorf("dead letters: %v, want %q", b.kept(), c.letter)
			}
		})
	}
}

// TestWebhookDatabaseAway checks that, during an outage, updates that need the database get 503,
// and the others are handled. When an update comes again after the outage, it gets 200. The log
// reports the outage once a minute.
func TestWebhookDatabaseAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		begun := time.Now()
		b.answer = func(_ context.Context, u Update) error {
			switch {
			case u.Lane == 6:
				return ErrUnreadable // becomes a dead letter
			case time.Since(begun) < 10*time.Minute && u.Lane < 6:
				return errAway
			}
			return nil
		}
		b.onKeep = func(context.Context) error {
			if time.Since(begun) < 10*time.Minute {
				return errAway
			}
			return nil
		}
		p := newPosts(b)
		for time.Since(begun) < 10*time.Minute {
			// The last two do not need the database.
			p.post(t.Context(), updates(1, 8, 1, 2, 3, 4, 5, 6, 7, 8)...)
			after(t, 2*time.Second)
		}
		if got := p.statuses(); got[1] != 503 || got[6] != 503 || got[7] != 200 {
			t.Errorf("answers: %v", got)
		}
		p.post(t.Context(), updates(1, 8, 1, 2, 3, 4, 5, 6, 7, 8)...)
		if got := p.statuses(); got[1] != 200 || got[6] != 200 {
			t.Errorf("answers: %v", got)
		}
		b.checkOutages(begun, 10, 10*time.Minute)
		equal(t, len(b.kept()), 1, "dead letters")
	})
}

// TestWebhookClientLeaves checks that a client that disconnects frees its lane, and its update is
// not confirmed.
func TestWebhookClientLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBot(t)
		b.answer = func(ctx context.Context, u Update) error {
			if u.ID == 1 {
				return errors.Join(pass(ctx, 2*time.Second), errOwn)
			}
			return nil
		}
		p := newPosts(b)
		first, leaveFirst := context.WithCancel(t.Context())
		second, leaveSecond := context.WithCancel(t.Context())
		p.post(first, Update{ID: 1})
		p.post(second, Update{ID: 2})
		p.post(t.Context(), Update{ID: 3})
		after(t, time.Second)
		leaveSecond()
		synctest.Wait()
		equal(t, len(p.hook.inProgress), 2, "requests in progress")
		leaveFirst()
		synctest.Wait()
		if got := p.statuses(); got[1] == 200 || got[2] == 200 || got[3] != 200 {
			t.Errorf("answers: %v", got)
		}
		if len(b.kept()) != 0 || len(b.tries(1)) != 1 || len(b.tries(2)) != 0 {
			t.Errorf("dead letters: %v, %d and %d attempts", b.kept(), len(b.tries(1)), len(b.tries(2)))
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		p.post(gone, Update{ID: 4}) // its client has disconnected, although its turn comes at once
		b.onKeep = func(ctx context.Context) error { return hang(ctx) }
		storing, cancel := context.WithCancel(t.Context())
		b.answer = func(context.Context, Update) error { return ErrUnreadable }
		p.post(storing, Update{ID: 5})
		cancel()
		p.all.Wait()
		if got := p.statuses(); got[4] == 200 || got[5] == 200 || len(b.tries(4)) != 0 {
			t.Errorf("answers: %v", got)
		}
		if got := b.log.with("failed to store"); len(got) != 0 {
			t.Errorf("log: %v", got)
		}
	})
}

func TestWebhookIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, free := newBot(t), make(chan struct{})
		b.answer = func(context.Context, Update) error { <-free; return nil }
		p := newPosts(b)
		p.post(t.Context(), updates(1, maxInProgress+1, sequence(0, 20, 1)...)...)
		if got := p.statuses(); len(got) != 1 || got[maxInProgress+1] != 503 {
			t.Errorf("answers: %v", got)
		}
		w := httptest.NewRecorder()
		p.hook.ServeHTTP(w, request(t.Context(), "POST", strings.Repeat(" ", 10)))
		if w.Code != 503 || w.Header().Get("Retry-After") != "1" {
			t.Errorf("answer %d with %v", w.Code, w.Header())
		}
		close(free)
		p.all.Wait()
		p.post(t.Context(), Update{ID: maxInProgress + 1})
		for id, status := range p.statuses() {
			equal(t, status, 200, "answer to %d", id)
		}
		equal(t, b.count(), maxInProgress+1, "updates handled")
	})
}
