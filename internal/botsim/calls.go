package botsim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Call is one request of the bot and the response to it.
type Call struct {
	ID        int64 // 1, 2, 3 … in order of arrival
	Method    string
	ChatID    int64             // 0 if the request has no chat id
	Params    map[string]string // nested values are JSON text; read-only
	At        time.Time
	Done      bool   // false while the request is in progress
	Status    int    // HTTP status of the response; 0 while in progress or if the connection was cut
	Delivered bool   // the call took effect, even if the client got an error
	MessageID int    // the message sent, edited, pinned or unpinned; 0 if there is none
	Shown     int    // number of updates that getUpdates returned, even if the client got an error
	Fault     string // name of the injected fault, if any
	Body      string // beginning of the response
}

const maxExcerpt = 400

// callRecord keeps the calls in the order of their arrival. The server's lock guards it.
type callRecord struct {
	limit  int
	calls  []*Call
	count  int64
	byName map[string]int64 // number of finished calls by method, including those no longer in calls
}

func (r *callRecord) add(c *Call) {
	r.count++
	c.ID = r.count
	r.calls = appendBounded(r.calls, c, r.limit)
}

// appendBounded appends v and drops old entries, but keeps at least the last limit entries. It
// drops entries in batches of about half the limit, so that an append takes amortized constant
// time. A limit of 0 keeps everything.
func appendBounded[T any](record []T, v T, limit int) []T {
	record = append(record, v)
	if limit > 0 && len(record) > limit+limit/2 {
		record = slices.Delete(record, 0, len(record)-limit)
	}
	return record
}

// lastOf returns the last limit entries of a record, or all of them if limit is 0.
func lastOf[T any](record []T, limit int) []T {
	if limit > 0 && len(record) > limit {
		return record[len(record)-limit:]
	}
	return record
}

// Calls returns the recorded calls in the order of their arrival, including those in progress.
// WithRecordLimit limits their number.
func (s *Server) Calls() []Call { return s.callsWhere(func(*Call) bool { return true }) }

// CallsOf is like Calls, for the calls of one method.
func (s *Server) CallsOf(method string) []Call {
	return s.callsWhere(func(c *Call) bool { return c.Method == method })
}

func (s *Server) callsWhere(want func(*Call) bool) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Call
	for _, c := range lastOf(s.record.calls, s.record.limit) {
		if want(c) {
			found = append(found, *c)
		}
	}
	return found
}

// CallCount returns how many calls of a method are finished, including those dropped from the
// record. It takes constant time.
func (s *Server) CallCount(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.record.byName[method])
}

// WaitConfirmed waits until the queue has no unconfirmed updates. It fails if ctx ends or the
// server is closed first.
func (s *Server) WaitConfirmed(ctx context.Context) error {
	err := s.wait(ctx, &s.confirmed, func() bool { return len(s.queue.Waiting()) == 0 })
	if err != nil {
		return fmt.Errorf("wait for %d updates to be confirmed: %w", s.Pending(), err)
	}
	return nil
}

// finish completes the record of a call. It must run before the client gets its response.
func (s *Server) finish(c *Call, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Status = a.status
	c.Body = string(a.body[:min(len(a.body), maxExcerpt)])
	c.Done = true
	if s.record.byName == nil {
		s.record.byName = map[string]int64{}
	}
	s.record.byName[c.Method]++
}

// snapshot copies a call for a hook.
func (s *Server) snapshot(c *Call) Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied := *c
	copied.Params = maps.Clone(c.Params)
	return copied
}

// hookList holds the functions to call on one kind of event.
type hookList[T any] struct {
	next  int
	hooks map[int]func(T)
}

// OnCall calls f for every request until remove is called. It calls f before the request has any
// effect and before a fault is chosen, so f may add a fault for this very call. f runs in the
// request's own goroutine and may block that goroutine. f must not call Close.
func (s *Server) OnCall(f func(Call)) (remove func()) { return addHook(s, &s.onCall, f) }

// AfterEffect is like OnCall, but it calls f after the request took effect, was refused, or was
// stopped by a fault, and before the response is written.
func (s *Server) AfterEffect(f func(Call)) (remove func()) { return addHook(s, &s.afterEffect, f) }

func addHook[T any](s *Server, l *hookList[T], f func(T)) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.hooks == nil {
		l.hooks = map[int]func(T){}
	}
	id := l.next
	l.next++
	l.hooks[id] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(l.hooks, id)
	}
}

// run calls each hook in l with a copy of c. The caller must not hold the lock.
func (s *Server) run(l *hookList[Call], c *Call) {
	for _, f := range hooksOf(s, l) {
		f(s.snapshot(c))
	}
}

// hooksOf returns the hooks in the order in which they were added.
func hooksOf[T any](s *Server, l *hookList[T]) []func(T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hooks := make([]func(T), 0, len(l.hooks))
	for _, id := range slices.Sorted(maps.Keys(l.hooks)) {
		hooks = append(hooks, l.hooks[id])
	}
	return hooks
}
