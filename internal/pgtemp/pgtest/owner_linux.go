package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ownerVariable makes a test binary the owner of a server instead of a run of its tests. It holds the process id of the
// go command whose tests use the server.
const ownerVariable = "ELOBOT_PGTEST_OWNER"

// idleTime is how long a server without users waits for the next one while the run goes on: go test may be compiling.
const idleTime = 30 * time.Second

func init() { //nolint:gochecknoinits // only here is it before whatever a package's TestMain does
	text := os.Getenv(ownerVariable)
	if text == "" {
		return
	}
	if err := own(text); err != nil {
		fmt.Fprintln(os.Stderr, "own a server:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// owner owns a server while it has users.
type owner struct {
	listener net.Listener
	run      int // the process whose tests use the server
	// joined and left are told of users. The end of the owner is when nobody hears them any more.
	joined, left chan struct{}
	dead         chan error // the server does not listen any more
	words        words
}

func newOwner(listener net.Listener, run int) *owner {
	o := &owner{listener: listener, run: run, joined: make(chan struct{}), left: make(chan struct{}), dead: make(chan error)}
	o.words.changed = make(chan struct{})
	return o
}

func own(run string) error {
	pid, err := strconv.Atoi(run)
	if err != nil {
		return err
	}
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return err
	}
	o := newOwner(listener, pid)
	go o.accept()
	go func() {
		url, err := startServer(context.Background(), func(msg string) { o.words.add(wordLog, msg) })
		if err != nil {
			o.words.add(wordFailed, err.Error())
			return
		}
		o.words.add(wordURL, url)
	}()
	// The server's watcher ends it with this process.
	return o.await()
}

// await returns when nobody uses the server any more.
func (o *owner) await() error {
	users, idleSince := 0, time.Now()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-o.joined:
			users++
		case <-o.left:
			users--
			idleSince = time.Now()
		case err := <-o.dead:
			return err
		case <-tick.C:
			if users == 0 && (errors.Is(syscall.Kill(o.run, 0), syscall.ESRCH) || time.Since(idleSince) > idleTime) {
				return nil
			}
		}
	}
}

func (o *owner) accept() {
	for {
		conn, err := o.listener.Accept()
		if err != nil {
			o.dead <- err
			return
		}
		go o.attend(conn.(*net.UnixConn))
	}
}

// attend answers a user and waits for its end. Before the answer the user is counted, so that the owner does not end
// between the two.
func (o *owner) attend(conn *net.UnixConn) {
	defer conn.Close() //nolint:errcheck // nobody is at the other end any more
	if fromThisUser(conn) != nil {
		return
	}
	o.joined <- struct{}{}
	if err := o.answer(conn); err != nil {
		o.dead <- err
		return
	}
	_, _ = io.Copy(io.Discard, conn) // the user says nothing, and the end is the end however it comes
	o.left <- struct{}{}
}

// answer tells a user everything up to the answer. It returns an error when the server has died.
func (o *owner) answer(conn *net.UnixConn) error {
	for told := 0; ; {
		lines, changed := o.words.from(told)
		for _, line := range lines {
			if address, ready := strings.CutPrefix(line, wordURL+" "); ready && refuses(address) {
				return errors.New("the server has died")
			}
			if _, err := io.WriteString(conn, line+"\n"); err != nil {
				return nil //nolint:nilerr // the user has gone
			}
			if !strings.HasPrefix(line, wordLog+" ") {
				return nil
			}
		}
		told += len(lines)
		<-changed
	}
}

// refuses tells whether nobody listens where the server should. A server that is busy does not refuse.
func refuses(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil {
		return true
	}
	conn, err := net.Dial("tcp", parsed.Host)
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	_ = conn.Close()
	return false
}

// words are what is told to every user, in order.
type words struct {
	mu      sync.Mutex
	lines   []string
	changed chan struct{} // closed when there are more lines
}

func (w *words) add(word, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, word+" "+strings.ReplaceAll(text, "\n", "; "))
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *words) from(i int) (lines []string, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines[i:], w.changed
}
