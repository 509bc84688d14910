package main_test

import (
	"net"
	"strings"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

// TestStopWhileWaitingForTheDatabase: whoever stops a bot that has not started yet does not wait for its patience, at the end
// of which it would fail.
func TestStopWhileWaitingForTheDatabase(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	nobody := launch(t, environment(sim, "postgres://elobot@127.0.0.1:1/elobot"), "run")
	nobody.await(t, "the database does not answer yet")
	line := newProxy(t, pgtest.New(t))
	line.stall()
	silent := launch(t, environment(sim, line.url), "run")
	eventually(t, "the bot has asked", func() bool { return line.held.Load() > 0 })
	for _, bot := range []*process{nobody, silent} {
		if code, took := bot.stop(t); code != 0 {
			t.Errorf("the bot ended after %v with %d", took, code)
		}
	}
}

// TestNothingBeforeTheDatabase: until the database has answered, the bot neither listens nor asks Telegram for anything.
func TestNothingBeforeTheDatabase(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	line := newProxy(t, pgtest.New(t))
	line.stall()
	address := freeAddress(t)
	listens := func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			err = conn.Close()
		}
		return err == nil
	}
	bot := launch(t, append(environment(sim, line.url), "LISTEN_ADDR="+address), "run")
	eventually(t, "the bot has asked the database", func() bool { return line.held.Load() > 0 })
	if listens() {
		t.Error("the bot listens before the database has answered")
	}
	if calls := sim.Calls(); len(calls) > 0 {
		t.Errorf("the bot calls %s before the database has answered", calls[0].Method)
	}
	line.resume()
	bot.await(t, "msg=ready")
	if !listens() {
		t.Error("the bot does not listen afterwards")
	}
	eventually(t, "the bot polls", func() bool { return len(sim.CallsOf("getUpdates")) > 0 })
}

// freeAddress is an address on this machine that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

// TestTransactionPoolingIsRefused: behind a pooler that elobot cannot work with, it ends at the start, and says in one
// sentence what it needs.
func TestTransactionPoolingIsRefused(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	bot := launch(t, environment(sim, pgtest.TransactionPooler(t, pgtest.New(t), 2)), "run")
	code := bot.wait(t)
	said := strings.TrimSpace(bot.output.String())
	if last := said[strings.LastIndex(said, "\n")+1:]; code != 1 || !strings.Contains(last, "pool_mode = session") {
		t.Errorf("it ends with %d and says\n%s", code, said)
	}
	if n := len(sim.Calls()); n != 0 {
		t.Errorf("Telegram was called %d times", n)
	}
}
