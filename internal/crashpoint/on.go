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

// visits are those to the point of the plan that was read last. While the process ends or stands still, nobody else gets past
// a point.
var visits struct {
	sync.Mutex
	plan string
	n    int
	met  chan struct{} // closed when it has been carried out
}

// At ends or stops the process if that is what it shall do at this visit.
func At(p Point) {
	visits.Lock()
	defer visits.Unlock()
	path := os.Getenv(Variable)
	plan, err := os.ReadFile(path)
	if err != nil {
		return // there is none
	}
	if visits.plan != string(plan) {
		visits.plan, visits.n, visits.met = string(plan), 0, make(chan struct{})
	}
	var visit int
	var what string
	if _, err := fmt.Sscan(string(plan), &visit, &what); err != nil {
		panic(fmt.Sprintf("the plan %q: %v", plan, err))
	}
	if string(plan) != Plan(p, visit, what) {
		return
	}
	if visits.n++; visits.n != visit {
		if what == Meet {
			await(visits.met)
		}
		return
	}
	visits.plan = ""
	defer close(visits.met)
	if os.Rename(path, fmt.Sprintf("%s.%d", path, os.Getpid())) != nil {
		return // another process was faster
	}
	switch what {
	case End:
		end()
	case Stop:
		stop()
	case Meet:
		awaitPlan(path)
	}
}

// await lets others come to points until those who meet go on.
func await(met <-chan struct{}) {
	visits.Unlock()
	defer visits.Lock()
	<-met
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

// stop has the process stand still until somebody has it go on. This goroutine goes no further even if another thread is
// the first to heed the signal.
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

// AtUpdate ends the process if there is poison in an update.
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
