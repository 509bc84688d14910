//go:build soak

package ranking_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// endWithin bounds the end of an instance that is to end.
const endWithin = time.Minute

// fleet is three instances of the service on one database, and what they have told.
type fleet struct {
	t        *testing.T
	g        *game
	seed     uint64
	random   *rand.Rand
	begun    time.Time
	launched int
	running  [instances]*process

	failure chan struct{} // closed when something has gone wrong

	mu         sync.Mutex
	orders     map[int64]order            // all that were begun, by message
	open       [instances]map[int64]order // those that have not ended
	repeated   int                        // how often an order was given once more because the database was away
	longest    time.Duration              // that an order took
	conflicts  map[int]int                // by attempt
	late       []string                   // what was logged of those that held the group already
	complaints []string
}

// process is an instance from outside.
type process struct {
	slot  int
	cmd   *exec.Cmd
	stdin io.Writer
	// killed is set when it is to be killed.
	killed atomic.Bool
	ended  chan struct{} // closed when all that it has told has been heard
}

func newFleet(t *testing.T, g *game) *fleet {
	t.Helper()
	seed := *contentionSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d: repeat with -contention.seed=%d", seed, seed)
	f := &fleet{
		t: t, g: g, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), begun: time.Now(),
		failure: make(chan struct{}), orders: make(map[int64]order), conflicts: make(map[int]int),
	}
	for slot := range f.open {
		f.open[slot] = make(map[int64]order)
	}
	return f
}

// launch starts an instance, which begins with what an earlier one in its place has left open.
func (f *fleet) launch(slot int) {
	f.t.Helper()
	f.mu.Lock()
	a := assignment{
		URL: f.g.url, Seed: f.seed, First: 1 + 1_000_000*int64(f.launched), TakesBack: slot == 0,
		Recorded: len(f.orders), Redelivered: slices.Collect(maps.Values(f.open[slot])),
	}
	f.mu.Unlock()
	f.launched++
	if len(a.Redelivered) > clientsEach {
		f.t.Fatalf("%d clients have left %d orders open", clientsEach, len(a.Redelivered))
	}
	program, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	p := &process{slot: slot, cmd: exec.Command(program), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), instanceVariable+"=1", "GOCOVERDIR="+f.t.TempDir())
	var failed [4]error
	var stdout, stderr io.Reader
	p.stdin, failed[0] = p.cmd.StdinPipe()
	stdout, failed[1] = p.cmd.StdoutPipe()
	stderr, failed[2] = p.cmd.StderrPipe()
	failed[3] = p.cmd.Start()
	if err := errors.Join(failed[:]...); err != nil {
		f.t.Fatalf("start an instance: %v", err)
	}
	f.running[slot] = p
	go f.listen(p, stdout, stderr)
	f.t.Cleanup(func() {
		p.killed.Store(true)
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
	})
	if err := p.tell(a); err != nil {
		f.t.Fatalf("tell an instance what to do: %v", err)
	}
}

// tell tells an instance something.
func (p *process) tell(v any) error { return json.NewEncoder(p.stdin).Encode(v) }

// listen takes note of what an instance tells and logs, to its end.
func (f *fleet) listen(p *process, stdout, stderr io.Reader) {
	defer close(p.ended)
	var both sync.WaitGroup
	both.Go(func() { f.eachLine(stdout, func(line []byte) error { return f.hear(p, line) }) })
	both.Go(func() { f.eachLine(stderr, f.readLog) })
	both.Wait()
	if err := p.cmd.Wait(); err != nil && !p.killed.Load() {
		f.complain("an instance has ended: %v", err)
	}
}

func (f *fleet) eachLine(from io.Reader, do func([]byte) error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := do(lines.Bytes()); err != nil {
			f.complain("%v: %s", err, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		f.complain("listen to an instance: %v", err)
	}
}

func (f *fleet) hear(p *process, line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.Error != "" {
		f.complain("an instance fails: %s", e.Error)
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Begin != nil {
		f.orders[e.Begin.Message], f.open[p.slot][e.Begin.Message] = *e.Begin, *e.Begin
		return nil
	}
	delete(f.open[p.slot], e.End)
	f.repeated += e.Tries - 1
	f.longest = max(f.longest, e.Took)
	return nil
}

func (f *fleet) readLog(line []byte) error {
	var r struct {
		Msg     string
		Level   string
		Attempt int
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	switch {
	case r.Msg == "conflict with another transaction":
		f.mu.Lock()
		defer f.mu.Unlock()
		f.conflicts[r.Attempt]++
		if r.Attempt > 1 {
			f.late = append(f.late, string(line))
		}
	case r.Level != slog.LevelInfo.String() && !strings.Contains(r.Msg, "database does not answer"):
		f.complain("an instance logs: %s", line)
	}
	return nil
}

func (f *fleet) complain(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.complaints) == 0 {
		close(f.failure)
	}
	f.complaints = append(f.complaints, fmt.Sprintf(format, args...))
}

// waitUntil waits until so much time has passed since the beginning, or something has gone wrong.
func (f *fleet) waitUntil(passed time.Duration) {
	f.t.Helper()
	timer := time.NewTimer(time.Until(f.begun.Add(passed)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.failure:
		f.mustBeQuiet()
	}
}

// mustBeQuiet ends the test when something has gone wrong.
func (f *fleet) mustBeQuiet() {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.complaints); n > 0 {
		f.t.Fatalf("%d complaints:\n%s", n, strings.Join(f.complaints[:min(n, 30)], "\n"))
	}
}

// awaitEnd waits until an instance has ended.
func (f *fleet) awaitEnd(p *process) {
	f.t.Helper()
	timer := time.NewTimer(endWithin)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		f.t.Fatal("an instance does not end")
	}
}

// dismiss has all instances end what they have begun, and themselves.
func (f *fleet) dismiss() {
	f.t.Helper()
	for _, p := range f.running {
		if err := p.tell(stopWord); err != nil {
			f.complain("dismiss an instance: %v", err)
		}
	}
	for _, p := range f.running {
		f.awaitEnd(p)
	}
	f.mustBeQuiet()
	for _, left := range f.open {
		if len(left) > 0 {
			f.t.Errorf("begun and not ended: %v", left)
		}
	}
}
