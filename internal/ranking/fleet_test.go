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

// exitTimeout limits how long an instance may take to exit, and how long the database may then be
// away.
const exitTimeout = time.Minute

// fleet runs three instances of the service as processes on one database, and collects their
// events.
type fleet struct {
	t        *testing.T
	g        *game
	seed     uint64
	random   *rand.Rand
	started  time.Time
	launched int
	running  [instances]*process

	failed chan struct{} // closed at the first failure

	mu              sync.Mutex
	requests        map[int64]request            // all started requests, by message
	open            [instances]map[int64]request // unfinished requests
	repeated        int                          // how often requests were repeated because the database was away or slow
	longest         time.Duration                // longest duration of a request
	conflicts       map[int]int                  // number of conflicts by attempt
	lockedConflicts []string                     // log lines of conflicts despite a lock of the group
	failures        []string
}

// process is an instance from the point of view of the test.
type process struct {
	slot  int
	cmd   *exec.Cmd
	stdin io.Writer
	// killed is set before the process is killed, so that its exit does not count as a failure.
	killed atomic.Bool
	ended  chan struct{} // closed once the process has exited and all its output is read
}

func newFleet(t *testing.T, g *game) *fleet {
	t.Helper()
	seed := *contentionSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d: repeat with -contention.seed=%d", seed, seed)
	f := &fleet{
		t: t, g: g, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), started: time.Now(),
		failed: make(chan struct{}), requests: make(map[int64]request), conflicts: make(map[int]int),
	}
	for slot := range f.open {
		f.open[slot] = make(map[int64]request)
	}
	return f
}

// launch starts an instance in a slot. The instance first repeats the open requests of its
// predecessor.
func (f *fleet) launch(slot int) {
	f.t.Helper()
	f.mu.Lock()
	a := assignment{
		URL: f.g.url, Seed: f.seed, First: 1 + 1_000_000*int64(f.launched), Amends: slot == 0,
		Recorded: len(f.requests), Redelivered: slices.Collect(maps.Values(f.open[slot])),
	}
	f.mu.Unlock()
	f.launched++
	if len(a.Redelivered) > clientsEach {
		f.t.Fatalf("%d clients left %d requests open", clientsEach, len(a.Redelivered))
	}
	program, err := os.Executable()
	must(f.t, err)
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
	go f.readOutput(p, stdout, stderr)
	f.t.Cleanup(func() {
		p.killed.Store(true)
		_ = p.cmd.Process.Kill() // it may have exited already
		<-p.ended
	})
	if err := p.send(a); err != nil {
		f.t.Fatalf("send the assignment: %v", err)
	}
}

func (p *process) send(v any) error { return json.NewEncoder(p.stdin).Encode(v) }

// readOutput reads the events and the log of an instance until it exits.
func (f *fleet) readOutput(p *process, stdout, stderr io.Reader) {
	defer close(p.ended)
	var both sync.WaitGroup
	both.Go(func() { f.eachLine(stdout, func(line []byte) error { return f.onEvent(p, line) }) })
	both.Go(func() { f.eachLine(stderr, f.readLog) })
	both.Wait()
	if err := p.cmd.Wait(); err != nil && !p.killed.Load() {
		f.fail("an instance exited: %v", err)
	}
}

func (f *fleet) eachLine(from io.Reader, do func([]byte) error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := do(lines.Bytes()); err != nil {
			f.fail("%v: %s", err, lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		f.fail("read output of an instance: %v", err)
	}
}

func (f *fleet) onEvent(p *process, line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.Error != "" {
		f.fail("an instance failed: %s", e.Error)
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Begin != nil {
		f.requests[e.Begin.Message], f.open[p.slot][e.Begin.Message] = *e.Begin, *e.Begin
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
			f.lockedConflicts = append(f.lockedConflicts, string(line))
		}
	case r.Level != slog.LevelInfo.String() && !strings.Contains(r.Msg, "database does not answer"):
		f.fail("unexpected log of an instance: %s", line)
	}
	return nil
}

func (f *fleet) fail(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.failures) == 0 {
		close(f.failed)
	}
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}

// waitUntil waits until the given time has passed since the start. A failure ends the wait and the
// test.
func (f *fleet) waitUntil(passed time.Duration) {
	f.t.Helper()
	timer := time.NewTimer(time.Until(f.started.Add(passed)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.failed:
		f.mustNotFail()
	}
}

// mustNotFail ends the test if there are failures.
func (f *fleet) mustNotFail() {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.failures); n > 0 {
		f.t.Fatalf("%d failures:\n%s", n, strings.Join(f.failures[:min(n, 30)], "\n"))
	}
}

func (f *fleet) waitForExit(p *process) {
	f.t.Helper()
	timer := time.NewTimer(exitTimeout)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		f.t.Fatal("an instance does not exit")
	}
}

// stopAll has all instances finish their open requests and exit.
func (f *fleet) stopAll() {
	f.t.Helper()
	for _, p := range f.running {
		if err := p.send(stopMessage); err != nil {
			f.fail("stop an instance: %v", err)
		}
	}
	for _, p := range f.running {
		f.waitForExit(p)
	}
	f.mustNotFail()
	for _, left := range f.open {
		if len(left) > 0 {
			f.t.Errorf("unfinished requests: %v", left)
		}
	}
}
