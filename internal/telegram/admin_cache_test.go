package telegram

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// fakeAdmins is an AdminSource that takes a second to answer.
type fakeAdmins struct {
	mu     sync.Mutex
	admins []ladder.UserID
	err    error
	asked  int
}

func (f *fakeAdmins) Admins(ctx context.Context, _ ranking.ExternalChatID) ([]ladder.UserID, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	admins, err := f.admins, f.err
	f.mu.Unlock()
	pass(time.Second)
	f.mu.Lock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return admins, err
}

func (f *fakeAdmins) set(err error, admins ...ladder.UserID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.admins, f.err = admins, err
}

// cached is a cache in a synctest bubble.
type cached struct {
	*AdminCache
	source *fakeAdmins
	t      *testing.T
}

func testCache(t *testing.T, test func(c *cached)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		source := &fakeAdmins{admins: []ladder.UserID{1}}
		test(&cached{NewAdminCache(source, time.Now), source, t})
		pass(time.Minute) // let lookups in progress end
	})
}

// expect checks the answer of IsAdmin for a user of chat -100, and how many requests it makes. The
// argument what describes the situation.
func (c *cached) expect(what string, user ladder.UserID, want bool, requests int) {
	c.t.Helper()
	before := c.source.asked
	is, err := c.IsAdmin(c.t.Context(), -100, user)
	if err != nil || is != want {
		c.t.Errorf("%s: admin is %t, error %v", what, is, err)
	}
	if n := c.source.asked - before; n != requests {
		c.t.Errorf("%s: %d requests, want %d", what, n, requests)
	}
}

func TestAdminsAreKept(t *testing.T) {
	t.Parallel()
	testCache(t, func(c *cached) {
		c.expect("at first", 1, true, 1)
		c.source.set(nil, 2)
		c.expect("again", 1, true, 0)
		pass(adminsKept - 2*time.Second)
		c.expect("for five minutes", 1, true, 0)
		pass(2 * time.Second)
		c.expect("after five minutes", 1, false, 1)
	})
}

// TestNobodyIsRefusedByAnOldList checks that a new admin is recognized within adminsFresh. During
// that time, users who are not admins cause at most one request.
func TestNobodyIsRefusedByAnOldList(t *testing.T) {
	t.Parallel()
	testCache(t, func(c *cached) {
		c.expect("no admin", 2, false, 1)
		c.source.set(nil, 1, 2)
		c.expect("no admin a second later", 2, false, 0)
		pass(adminsFresh)
		c.expect("an admin in the meantime", 2, true, 1)
		c.expect("not the one", 3, false, 0)
		pass(adminsFresh)
		c.expect("not the one, looked up once more", 3, false, 1)
		c.expect("not the one, again", 4, false, 0)
		c.expect("an admin all the time", 1, true, 0)
	})
}

func TestForgottenAdmins(t *testing.T) {
	t.Parallel()
	testCache(t, func(c *cached) {
		c.expect("at first", 1, true, 1)
		c.source.set(nil)
		c.Forget(-101)
		c.expect("another chat is forgotten", 1, true, 0)
		c.Forget(-100)
		c.expect("forgotten", 1, false, 1)
		c.source.set(nil, 1)
		c.ForgetAll()
		c.expect("all are forgotten", 1, true, 1)
	})
}

// TestForgottenWhileAsking checks that, if Forget or ForgetAll is called during a lookup, the
// result of the lookup is not cached, and later calls to IsAdmin do not wait for it.
func TestForgottenWhileAsking(t *testing.T) {
	t.Parallel()
	testCache(t, func(c *cached) {
		early := make(chan bool)
		go func() {
			is, err := c.IsAdmin(c.t.Context(), -100, 1)
			early <- is && err == nil
		}()
		pass(time.Second / 2)
		c.source.set(nil, 2)
		c.Forget(-100)
		c.expect("after the change", 1, false, 1)
		if !<-early {
			t.Error("the caller from before the change got another answer")
		}
		c.expect("later", 2, true, 0)
	})
	testCache(t, func(c *cached) {
		c.expectWhile(func() { c.source.set(nil, 2); c.Forget(-100) })
		c.expect("no look-up in the meantime", 1, false, 1)
	})
	testCache(t, func(c *cached) {
		c.expectWhile(func() { c.source.set(nil, 2); c.ForgetAll() })
		c.expect("all are forgotten", 1, false, 1)
	})
}

// expectWhile calls happens while a lookup is in progress, and checks that the caller of that
// lookup still gets the old answer.
func (c *cached) expectWhile(happens func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.expect("before the change", 1, true, 1)
	}()
	pass(time.Second / 2)
	happens()
	<-done
}

func TestWhoAsksAtOnceSharesTheRequest(t *testing.T) {
	t.Parallel()
	testCache(t, func(c *cached) {
		shortCtx, cancel := context.WithTimeout(c.t.Context(), time.Second/2)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() { // the first caller, who gives up early
			if _, err := c.IsAdmin(shortCtx, -100, 1); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("who does not wait gets %v", err)
			}
		})
		synctest.Wait()
		for user := range ladder.UserID(10) {
			all.Go(func() {
				if is, err := c.IsAdmin(c.t.Context(), -100, user); err != nil || is != (user == 1) {
					t.Errorf("user %d: admin is %t, error %v", user, is, err)
				}
			})
		}
		all.Wait()
		if c.source.asked != 1 {
			t.Errorf("%d requests", c.source.asked)
		}
	})
}

func TestErrorsAreNotKept(t *testing.T) {
	t.Parallel()
	testCache(t, func(c *cached) {
		broken := errors.New("no answer")
		c.source.set(broken, 1)
		if is, err := c.IsAdmin(c.t.Context(), -100, 1); is || !errors.Is(err, broken) {
			t.Errorf("admin is %t, error %v", is, err)
		}
		c.source.set(nil, 1)
		c.expect("afterwards", 1, true, 1)
		pass(adminsFresh)
		c.source.set(broken)
		if is, err := c.IsAdmin(c.t.Context(), -100, 2); is || !errors.Is(err, broken) {
			t.Errorf("who may be an admin now: %t, error %v", is, err)
		}
		c.expect("who was one before", 1, true, 0)
	})
}

// TestListsAreBounded checks that at most maxAdminLists lists are cached. The least recently used
// list is evicted first.
func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := NewAdminCache(quickAdmins{}, time.Now)
		for chat := range ranking.ExternalChatID(maxAdminLists + 3) {
			if _, err := c.IsAdmin(t.Context(), -1-chat, 1); err != nil {
				t.Fatal(err)
			}
			pass(time.Millisecond)
		}
		if n := c.lists.Len(); n != maxAdminLists {
			t.Errorf("%d lists", n)
		}
		for chat, want := range map[ranking.ExternalChatID]bool{-1: false, -3: false, -4: true, -maxAdminLists - 3: true} {
			if kept := c.lists.Contains(chat); kept != want {
				t.Errorf("the list of chat %d is kept: %t", chat, kept)
			}
		}
	})
}

// quickAdmins is an AdminSource that answers at once.
type quickAdmins struct{}

func (quickAdmins) Admins(context.Context, ranking.ExternalChatID) ([]ladder.UserID, error) {
	return []ladder.UserID{1}, nil
}

// pass advances the clock of the bubble by d.
func pass(d time.Duration) { <-time.After(d) }
