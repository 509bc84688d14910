//go:build soak

package main_test

import (
	"flag"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/postgres/dbtest"
)

var faultFor = flag.Duration("fault.for", 15*time.Second, "how long each fault of TestFaultsPass lasts")

// outage is the fixture of a fault between the bot and Telegram or the database.
type outage struct {
	t     *testing.T
	sim   *botsim.Server
	pool  *pgxpool.Pool // not through the proxy
	proxy *dbtest.Proxy
	env   []string
	bot   *process
}

func (o *outage) start() { o.bot = launch(o.t, o.env, "run") }

// reject makes Telegram refuse all calls, or those of one method. The returned function ends the
// fault.
func (o *outage) reject(status int, description, method string) (end func()) {
	return o.sim.Fault(botsim.Fault{Kind: botsim.Reject, Status: status, Description: description, Method: method})
}

// outages are faults that pass by themselves. Each returns the function that ends it.
var outages = map[string]func(o *outage) (end func()){
	"refused sessions": func(o *outage) func() {
		o.proxy.Refuse("28P01", "28000", "XX000", "3D000")
		return func() { o.proxy.Refuse() }
	},
	"newer release": func(o *outage) func() {
		execute(o.t, o.pool, upgradeSchema+";"+upgradeVersion)
		return func() {
			if code := o.bot.wait(o.t); code != 3 {
				o.t.Errorf("the older release ends with %d", code)
			}
			execute(o.t, o.pool, downgradeSchema)
			o.start()
		}
	},
	"unknown answer": func(o *outage) func() {
		return o.reject(http.StatusBadRequest, "Bad Request: something nobody knows in 12345", "sendMessage")
	},
	"logged out":   func(o *outage) func() { return o.reject(http.StatusBadRequest, "Logged out", "") },
	"unauthorized": func(o *outage) func() { return o.reject(http.StatusUnauthorized, "Unauthorized", "") },
	"not found":    func(o *outage) func() { return o.reject(http.StatusNotFound, "Not Found", "") },
}

// TestFaultsPass: in ten groups, 500 results are reported during each fault. Within two minutes of
// its end, all are answered. The bot does not give up on any, lose any, or answer any twice.
func TestFaultsPass(t *testing.T) {
	t.Parallel()
	const groups, results = 10, 50
	for name, begin := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := startTelegram(t)
			url, pool := database(t)
			proxy := dbtest.NewProxy(t, url)
			o := &outage{t: t, sim: sim, pool: pool, proxy: proxy, env: plainEnvironment(sim, proxy.URL)}
			o.start()
			alice := sim.User("alice")
			var chats []*botsim.Chat
			for i := range groups {
				chats = append(chats, sim.Group(fmt.Sprint("Group ", i+1), alice, sim.User("bob")))
			}
			report := func(n int) {
				for _, chat := range chats {
					chat.Say(alice, fmt.Sprintf("/match @bob %d:%d", 1+n%9, n%9/2))
				}
			}
			report(0)
			for _, chat := range chats {
				awaitAnswers(t, chat, 1)
			}
			end := begin(o)
			tick := time.NewTicker(*faultFor / results)
			defer tick.Stop()
			for n := range results {
				<-tick.C
				report(n + 1)
			}
			end()
			ended := time.Now()
			told := func() (n int) {
				for _, chat := range chats {
					named, _ := deliveredResults(t, chat.BotMessages())
					n += len(named)
				}
				return n
			}
			eventually(t, "all results are told", func() bool { return told() == groups*(results+1) })
			t.Logf("everything was told %v after the end", time.Since(ended).Round(100*time.Millisecond))
			if n := count(t, pool, `SELECT count(*) FROM matches`); n != groups*(results+1) {
				t.Errorf("%d matches are recorded, want %d", n, groups*(results+1))
			}
			checkNoDeadLetters(t, pool)
			verifyClean(t, url)
		})
	}
}
