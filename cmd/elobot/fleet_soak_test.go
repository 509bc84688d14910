//go:build soak

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

var fleetKills = flag.Int("fleet.kills", 8, "how often TestFleetKilledAgainAndAgain kills an instance, one each second")

const fleetSize = 3

// fleet is several webhook instances behind a load balancer that takes them in turn. The load
// balancer makes no health checks, so while one of three instances is down, every third delivery
// fails.
type fleet struct {
	*crash
	url       string // of the load balancer
	instances [fleetSize]instance
	turn      atomic.Uint64
	failed    atomic.Int64 // deliveries answered with 502
}

// instance is a slot behind the load balancer.
type instance struct {
	mu      sync.Mutex
	process *process
	url     string          // empty unless it listens
	inHand  map[string]bool // keys of the commands being delivered
	// forwarded is called before the next delivery is forwarded, and answered before its response
	// is passed on. If answered returns true, the response is lost. Both may be nil.
	forwarded func()
	answered  func() (lost bool)
}

// TestFleetKilledAgainAndAgain: one of several instances is killed every second. Every result is
// recorded once, and answered in order.
func TestFleetKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	f := &fleet{crash: startCrash(t, crashGroups)}
	balancer := httptest.NewServer(f)
	t.Cleanup(balancer.Close)
	f.url = balancer.URL
	for i := range f.instances {
		f.launch(i)
		awaitWebhooks(t, f.sim, 1) // instances that start at the same time may all set it
	}

	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	const steps = 20 // spread the results over a second
	pace := time.NewTicker(time.Second / steps)
	defer pace.Stop()
	for n := range *fleetKills * steps {
		for f.played() < *crashMatches*(n+1)/(*fleetKills*steps) {
			f.report()
		}
		if n%steps == steps-1 {
			<-tick.C
			f.killOne(n / steps)
		} else {
			<-pace.C
		}
	}
	f.check()
	verifyClean(t, f.crash.url)
	if n := len(f.sim.CallsOf("setWebhook")); n != 1 {
		t.Errorf("the webhook was set %d times, want once", n)
	}
	f.logWindows("%d kills during %d matches, %d of %d deliveries failed, the lease was acquired %d times", *fleetKills, *crashMatches,
		f.failed.Load(), len(f.sim.Deliveries()), count(t, f.pool, `SELECT epoch FROM leases`))
}

// launch starts an instance in a slot. The load balancer uses it as soon as it listens.
func (f *fleet) launch(i int) {
	env := append(crashEnvironment(environment(f.sim, f.crash.url)),
		"WEBHOOK_URL="+f.url+"/telegram", "WEBHOOK_SECRET="+webhookSecret, "LISTEN_ADDR=127.0.0.1:0")
	p := launch(f.t, env, "run")
	at := &f.instances[i]
	at.mu.Lock()
	at.process, at.inHand = p, make(map[string]bool)
	at.mu.Unlock()
	eventually(f.t, "the instance serves", func() bool {
		found := servingAt.FindStringSubmatch(p.output.String())
		if found == nil {
			return false
		}
		at.mu.Lock()
		defer at.mu.Unlock()
		at.url = "http://" + found[1]
		return true
	})
}

// ServeHTTP is the load balancer.
func (f *fleet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // Telegram has disconnected
	}
	status, err := f.instances[f.turn.Add(1)%fleetSize].forward(r, body)
	if err != nil {
		f.failed.Add(1)
		status = http.StatusBadGateway
	}
	w.WriteHeader(status)
}

// forward forwards a delivery to the instance.
func (at *instance) forward(r *http.Request, body []byte) (status int, err error) {
	var update struct {
		Message struct {
			ID   int                `json:"message_id"`
			Chat struct{ ID int64 } `json:"chat"`
		} `json:"message"`
	}
	if err := json.Unmarshal(body, &update); err != nil {
		return 0, err
	}
	key := fmt.Sprintf("m:%d:%d", update.Message.Chat.ID, update.Message.ID)
	at.mu.Lock()
	url, inHand, forwarded := at.url, at.inHand, at.forwarded
	if url != "" {
		inHand[key] = true
		at.forwarded = nil
	}
	at.mu.Unlock()
	if url == "" {
		return 0, fmt.Errorf("the instance does not listen")
	}
	defer func() {
		at.mu.Lock()
		defer at.mu.Unlock()
		delete(inHand, key)
	}()
	if forwarded != nil {
		forwarded()
	}
	request, err := http.NewRequestWithContext(r.Context(), r.Method, url+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header = r.Header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	at.mu.Lock()
	answered := at.answered
	at.answered = nil
	at.mu.Unlock()
	if answered != nil && answered() {
		return 0, fmt.Errorf("the answer is lost")
	}
	return response.StatusCode, response.Body.Close()
}

// aim sets the hooks of the next delivery.
func (at *instance) aim(forwarded func(), answered func() bool) {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.forwarded, at.answered = forwarded, answered
}

// kill kills the instance, and returns the time and the keys of the commands being delivered.
func (at *instance) kill() (inHand []string, when time.Time) {
	at.mu.Lock()
	defer at.mu.Unlock()
	_ = at.process.cmd.Process.Kill() // it is still running
	at.url, at.forwarded, at.answered = "", nil, nil
	for key := range at.inHand {
		inHand = append(inHand, key)
	}
	return inHand, time.Now()
}

// killOne kills an instance at one of four kinds of moments, which take turns, and starts another
// one in its slot.
func (f *fleet) killOne(n int) {
	i := f.random.IntN(fleetSize)
	moment, killed := make(chan struct{}, 1), make(chan struct{})
	strike := func() {
		select {
		case moment <- struct{}{}:
		default:
		}
	}
	switch at := &f.instances[i]; n % 4 {
	case 0: // any time
		strike()
	case 1: // a delivery is on its way
		after := time.Duration(f.random.IntN(3000)) * time.Microsecond
		at.aim(func() { time.AfterFunc(after, strike) }, nil)
	case 2: // a delivery is answered, but the response has not reached Telegram
		at.aim(nil, func() bool {
			strike()
			<-killed
			return true
		})
	default: // a message of the leader has arrived, but the response to the request has not
		i = f.leader(i)
		defer f.sim.AfterEffect(func(call botsim.Call) {
			if call.Method == "sendMessage" {
				strike()
			}
		})()
	}
	timeout := time.NewTimer(300 * time.Millisecond)
	defer timeout.Stop()
	select {
	case <-moment:
	case <-timeout.C: // the instance is idle
	}
	inHand, when := f.instances[i].kill()
	close(killed)
	<-f.instances[i].process.ended
	if f.unmarked() {
		f.beforeMark++
	}
	f.classifyInHand(inHand, when)
	f.launch(i)
}

// leader returns the index of the instance that has the lease, or the value of otherwise if none
// has it.
func (f *fleet) leader(otherwise int) int {
	holders := collect(f.t, f.pool, pgx.RowTo[string], `SELECT split_part(holder, '/', 2) FROM leases WHERE expires_at > clock_timestamp()`)
	for i := range f.instances {
		if slices.Contains(holders, strconv.Itoa(f.instances[i].process.cmd.Process.Pid)) {
			return i
		}
	}
	return otherwise
}

// classifyInHand counts how many of the commands in hand had committed when the instance was
// killed.
func (f *fleet) classifyInHand(inHand []string, when time.Time) {
	ctx, cancel := context.WithTimeout(f.t.Context(), 10*time.Second)
	defer cancel()
	for _, key := range inHand {
		var committed bool
		err := f.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM handled_commands WHERE key = $1 AND handled_at <= $2)`, key, when).Scan(&committed)
		switch {
		case err != nil:
			f.t.Fatal(err)
		case committed:
			f.beforeAcknowledgment++
		default:
			f.beforeCommit++
		}
	}
}
