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

// ownerVariable makes a test binary own a server instead of running its tests. Its value is the process id of the go
// command whose tests use the server.
const ownerVariable = "ELOBOT_PGTEST_OWNER"

// idleTime is how long a server without users waits for the next one while the run continues: go test may be compiling.
const idleTime = 30 * time.Second

func init() { //nolint:gochecknoinits // must run before a package's TestMain
	text := os.Getenv(ownerVariable)
	if text == "" {
		return
	}
	if err := runOwner(text); err != nil {
		fmt.Fprintln(os.Stderr, "own a server:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// owner owns a server while it has users.
type owner struct {
	listener net.Listener
	run      int // the process whose tests use the server
	// joined and left receive a value for each user. Nothing receives from them after await returns.
	joined, left chan struct{}
	dead         chan error // receives the error when the server or the listener fails
	messages     messages
}

func newOwner(listener net.Listener, run int) *owner {
	o := &owner{listener: listener, run: run, joined: make(chan struct{}), left: make(chan struct{}), dead: make(chan error)}
	o.messages.changed = make(chan struct{})
	return o
}

func runOwner(run string) error {
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
		url, err := startServer(context.Background(), func(msg string) { o.messages.add(wordLog, msg) })
		if err != nil {
			o.messages.add(wordFailed, err.Error())
			return
		}
		o.messages.add(wordURL, url)
	}()
	// The server's watcher stops the server when this process ends.
	return o.await()
}

// await returns when the server has no users and the run has ended, or after idleTime without users.
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
		go o.handleUser(conn.(*net.UnixConn))
	}
}

// handleUser answers a user and waits until it disconnects. It counts the user before the answer, so that the owner does not
// end in between.
func (o *owner) handleUser(conn *net.UnixConn) {
	defer conn.Close() //nolint:errcheck // the user has disconnected
	if checkSameUser(conn) != nil {
		return
	}
	o.joined <- struct{}{}
	if err := o.answer(conn); err != nil {
		o.dead <- err
		return
	}
	_, _ = io.Copy(io.Discard, conn) // the user sends nothing; any error means that it has gone
	o.left <- struct{}{}
}

// answer sends a user all messages up to the URL or the failure. It returns an error if the server has died.
func (o *owner) answer(conn *net.UnixConn) error {
	for sent := 0; ; {
		lines, changed := o.messages.from(sent)
		for _, line := range lines {
			if address, ready := strings.CutPrefix(line, wordURL+" "); ready && refusesConnections(address) {
				return errors.New("the server has died")
			}
			if _, err := io.WriteString(conn, line+"\n"); err != nil {
				return nil //nolint:nilerr // the user has gone
			}
			if !strings.HasPrefix(line, wordLog+" ") {
				return nil
			}
		}
		sent += len(lines)
		<-changed
	}
}

// refusesConnections reports whether no process listens on the server's address. A busy server does not refuse.
func refusesConnections(address string) bool {
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

// messages is the list of lines to send to every user, in order.
type messages struct {
	mu      sync.Mutex
	lines   []string
	changed chan struct{} // closed when a line is added
}

func (w *messages) add(word, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, word+" "+strings.ReplaceAll(text, "\n", "; "))
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *messages) from(i int) (lines []string, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines[i:], w.changed
}
