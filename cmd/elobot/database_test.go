package main_test

import (
	"net"
	"strings"
	"testing"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
)

// TestWebhookWaitsForTheDatabase checks that, until the database answers, a bot with a webhook
// neither calls Telegram nor listens for its deliveries, because it could not store them.
func TestWebhookWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	proxy := dbtest.NewProxy(t, pgtest.New(t))
	proxy.Stall()
	address := freeAddress(t)
	listens := func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			err = conn.Close()
		}
		return err == nil
	}
	bot := launch(t, append(environment(sim, proxy.URL), "LISTEN_ADDR="+address,
		"WEBHOOK_URL=https://elo.example.org/telegram", "WEBHOOK_SECRET="+webhookSecret), "run")
	eventually(t, "the bot has connected to the database", func() bool { return proxy.Held.Load() > 0 })
	if listens() {
		t.Error("the bot listens before the database has answered")
	}
	if calls := sim.Calls(); len(calls) > 0 {
		t.Errorf("the bot calls %s before the database has answered", calls[0].Method)
	}
	proxy.Resume()
	bot.await(t, "msg=ready")
	if !listens() {
		t.Error("the bot does not listen afterwards")
	}
	eventually(t, "the bot sets its webhook", func() bool { return len(sim.CallsOf("setWebhook")) > 0 })
}

// freeAddress returns a local address that no process listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, listener.Close())
	return listener.Addr().String()
}

// TestTransactionPoolingIsRefused checks that, behind a pooler in transaction mode, the bot exits
// during its start, and its last line of output tells the operator to use session mode.
func TestTransactionPoolingIsRefused(t *testing.T) {
	t.Parallel()
	sim := startTelegram(t)
	bot := launch(t, environment(sim, pgtest.Pooled(t, 2)), "run")
	code := bot.wait(t)
	output := strings.TrimSpace(bot.output.String())
	if last := output[strings.LastIndex(output, "\n")+1:]; code != 3 || !strings.Contains(last, "pool_mode = session") {
		t.Errorf("it ends with %d:\n%s", code, output)
	}
	equal(t, len(sim.Calls()), 0, "requests")
}
