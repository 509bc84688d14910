//go:build crashpoints && unix

package crashpoint

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// visits counts the visits to the point of the current plan. Its lock is held while the plan is
// carried out, so that no other goroutine passes a point.
var visits struct {
	sync.Mutex
	plan string
	n    int
	done chan struct{} // closed when the plan has been carried out, here or by another process
}

// At visits a point. If the plan is for this visit, At carries out the plan. If the plan is to
// [Meet] at a later visit to this point, At waits until that plan has been carried out.
func At(p Point) {
	visits.Lock()
	defer visits.Unlock()
	path := os.Getenv(Variable)
	plan, err := os.ReadFile(path)
	if err != nil {
		return // there is no plan
	}
	if visits.plan != string(plan) {
		visits.plan, visits.n, visits.done = string(plan), 0, make(chan struct{})
	}
	var visit int
	var action string
	if _, err := fmt.Sscan(string(plan), &visit, &action); err != nil {
		panic(fmt.Sprintf("invalid plan %q: %v", plan, err))
	}
	if string(plan) != Plan(p, visit, action) {
		return
	}
	if visits.n++; visits.n != visit {
		if action == Meet {
			await(visits.done)
		}
		return
	}
	visits.plan = ""
	defer close(visits.done)
	if os.Rename(path, fmt.Sprintf("%s.%d", path, os.Getpid())) != nil {
		return // another process was faster
	}
	switch action {
	case End:
		end()
	case Stop:
		stop()
	case Meet:
		awaitPlan(path)
	}
}

// await waits until the plan has been carried out. Meanwhile, it unlocks visits, so that other
// goroutines can reach points.
func await(done <-chan struct{}) {
	visits.Unlock()
	defer visits.Lock()
	<-done
}

func awaitPlan(path string) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		<-tick.C
	}
}

// stop stops the process until it gets SIGCONT. The calling goroutine does not continue before
// SIGCONT, even if another thread handles SIGSTOP first.
func stop() {
	goOn := make(chan os.Signal, 1)
	signal.Notify(goOn, syscall.SIGCONT)
	defer signal.Stop(goOn)
	send(syscall.SIGSTOP)
	<-goOn
}

func end() {
	send(syscall.SIGKILL)
	select {}
}

// AtUpdate kills the process if the update raw contains the [Poison].
func AtUpdate(raw []byte) {
	if bytes.Contains(raw, []byte(Poison)) {
		end()
	}
}

func send(s syscall.Signal) {
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		panic(err)
	}
}
