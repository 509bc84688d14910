package botsim_test

import (
	"fmt"
	"sync"
	"testing"

	"elobot/internal/botsim"
)

func TestSubscribersSeeEverythingInOrder(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	fast, cancelFast := s.Subscribe()
	slow, cancelSlow := s.Subscribe() // reads nothing until all messages are sent
	const n = 200
	for i := range n {
		group.Say(alice, fmt.Sprint("q", i))
		bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": fmt.Sprint("a", i)}, nil)
	}
	for _, messages := range []<-chan botsim.Message{fast, slow} {
		for i := range n {
			q, a := receive(t, messages), receive(t, messages)
			if q.Text != fmt.Sprint("q", i) || a.Text != fmt.Sprint("a", i) {
				t.Fatalf("message %d = %q, %q", i, q.Text, a.Text)
			}
		}
	}
	cancelFast()
	cancelFast()
	if _, open := <-fast; open {
		t.Error("got a message after cancel")
	}
	s.Close()
	if _, open := <-slow; open {
		t.Error("got a message after Close")
	}
	cancelSlow()
	if late, _ := s.Subscribe(); late != nil {
		if _, open := <-late; open {
			t.Error("got a message from a closed server")
		}
	}
}

func TestConcurrentChats(t *testing.T) {
	t.Parallel()
	s := botsim.Start(t)
	bot := newClient(t, s)
	const chats, messages = 20, 25
	var wg sync.WaitGroup
	for i := range chats {
		user := s.User(fmt.Sprintf("user%d", i))
		chat := s.Group(fmt.Sprint(i), user)
		wg.Go(func() {
			for j := range messages {
				chat.Say(user, fmt.Sprint(j))
			}
		})
		wg.Go(func() {
			for j := range messages {
				if r, err := sendText(t, bot, chat, fmt.Sprint(j)); err != nil || !r.OK {
					t.Errorf("send: %+v, %v", r, err)
					return
				}
			}
		})
		wg.Go(func() {
			sent, err := chat.WaitBot(testContext(t), messages)
			if err != nil {
				t.Error(err)
				return
			}
			for j, m := range sent {
				if m.Text != fmt.Sprint(j) {
					t.Errorf("message %d is %q", j, m.Text)
				}
			}
		})
		wg.Go(func() { s.Calls(); s.Complaints(); s.Pending(); chat.Messages() })
	}
	seen := map[int64]bool{}
	for offset := int64(0); len(seen) < chats*messages; {
		for _, u := range bot.updates(t, fields{"offset": offset, "timeout": 5}) {
			if seen[u.ID] {
				t.Errorf("got update %d again after it was confirmed", u.ID)
			}
			seen[u.ID] = true
			offset = u.ID + 1
		}
	}
	wg.Wait()
	if n := s.CallCount("sendMessage"); n != chats*messages {
		t.Errorf("%d recorded sends, want %d", n, chats*messages)
	}
}

func TestCloseInterruptsLongPollsAndIsIdempotent(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	arrived := polls(t, s)
	got := bot.later(testContext(t), "getUpdates", fields{"timeout": 50})
	receive(t, arrived)
	s.Close()
	s.Close()
	if r := receive(t, got); r.Status != 0 {
		t.Errorf("the long poll got a response: %+v", r)
	}
	if _, err := bot.send(testContext(t), "getMe", nil); err == nil {
		t.Error("a closed server responds")
	}
	group.Say(alice, "still harmless")
	if len(group.Messages()) != 1 {
		t.Error("a closed server's chats cannot be read")
	}
}

func TestStartFailsTheTestOnError(t *testing.T) {
	t.Parallel()
	f := &fakeTB{}
	botsim.Start(f, botsim.WithToken("x"))
	if !f.failed {
		t.Error("Start did not fail")
	}
}

type fakeTB struct{ failed bool }

func (f *fakeTB) Helper()               {}
func (f *fakeTB) Cleanup(func())        {}
func (f *fakeTB) Fatalf(string, ...any) { f.failed = true }
