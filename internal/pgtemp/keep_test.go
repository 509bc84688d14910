//go:build unix

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeepGivesUp: a server that cannot be started again is an error, with the reason of its end.
func TestKeepGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reason, broken := errors.New("the disk is full"), errors.New("no space for a lock file")
		server := &Server{started: started{engine: brokenEngine{reason, broken}}, log: func(string, ...any) {}}
		begun, reports := time.Now(), 0
		err := server.Keep(t.Context(), func(error) { reports++ })
		if !errors.Is(err, reason) || !errors.Is(err, broken) || reports != 1 {
			t.Errorf("Keep: %v, %d reports", err, reports)
		}
		if took := time.Since(begun); took < reviveTimeout {
			t.Errorf("it gives up after %v", took)
		}
	})
}

// brokenEngine is a server that has ended and cannot be started again.
type brokenEngine struct{ ended, broken error }

func (brokenEngine) pid() int                           { return 0 }
func (brokenEngine) pause(context.Context, bool) error  { return nil }
func (e brokenEngine) resume(context.Context) error     { return e.broken }
func (brokenEngine) stop(context.Context) error         { return nil }
func (e brokenEngine) checkAlive(context.Context) error { return e.ended }

func TestEnterable(t *testing.T) {
	t.Parallel()
	open, closed := publicFolder(t), publicFolder(t)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{open: true, closed: os.Geteuid() != 0} {
		for _, path := range []string{folder, filepath.Join(folder, "not", "yet there")} {
			if got, err := Enterable(path); err != nil || got != want {
				t.Errorf("%s: %v, %v", path, got, err)
			}
		}
	}
}

// TestUseTrustsNoPort: without a running server, whoever listens on its last port gets no password and is not used.
func TestUseTrustsNoPort(t *testing.T) {
	t.Parallel()
	for name, locked := range map[string]bool{"stopped": false, "starting": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := &folder{path: publicFolder(t)}
			impostor, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			heard := make(chan string, 1)
			go func() { heard <- askForPassword(impostor) }()
			if err := errors.Join(mark(home.path), os.WriteFile(filepath.Join(home.path, "password"), []byte("secret\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := home.write("port", strconv.Itoa(impostor.Addr().(*net.TCPAddr).Port)); err != nil {
				t.Fatal(err)
			}
			if locked {
				other := &folder{path: home.path}
				if err := other.lockNow(); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := other.leave(); err != nil {
						t.Error(err)
					}
				})
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			// There are no programs to start another server with.
			_, _, err = Use(ctx, Options{DataDir: home.path, Sources: []Source{"none"}})
			if err == nil {
				t.Error("an impostor is used")
			}
			if err := impostor.Close(); err != nil {
				t.Error(err)
			}
			if got := <-heard; strings.Contains(got, "secret") {
				t.Errorf("the password was sent: %q", got)
			}
		})
	}
}

// TestReusedProcessID: a process that has the id of the last one in charge by chance is not in charge. A server that is ending is
// waited for.
func TestReusedProcessID(t *testing.T) {
	t.Parallel()
	home := &folder{path: publicFolder(t)}
	for content, locked := range map[string]bool{"1": false, "0": true} {
		if err := os.WriteFile(home.file("lock"), []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var ending *os.File
		if locked {
			var err error
			if ending, err = lockFile(home.file("lock")); err != nil {
				t.Fatal(err)
			}
		}
		waited := false
		err := home.takeCharge(t.Context(), Options{Log: func(string) {
			waited = true
			if err := unlockFile(ending); err != nil {
				t.Error(err)
			}
		}})
		if err != nil || waited != locked || home.owner() != os.Getpid() {
			t.Errorf("process %d is in charge: %v, waited %v", home.owner(), err, waited)
		}
		other := &folder{path: home.path}
		if err := other.takeCharge(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "is using it") {
			t.Errorf("a second one in charge: %v", err)
		}
		if err := home.leave(); err != nil {
			t.Error(err)
		}
	}
}

// askForPassword asks the first client for its password in clear text, and returns what it says.
func askForPassword(listener net.Listener) string {
	conn, err := listener.Accept()
	if err != nil {
		return ""
	}
	var answer []byte
	_, err = conn.Read(make([]byte, 1024)) // the startup message
	if err == nil {
		_, err = conn.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 3})
	}
	if err == nil {
		answer, err = io.ReadAll(conn)
	}
	return fmt.Sprintf("%s (%v)", answer, errors.Join(err, conn.Close()))
}

// TestPasswordIsNotReplaced: the data can be used with its password only, so none is made for data that is there.
func TestPasswordIsNotReplaced(t *testing.T) {
	t.Parallel()
	home := &folder{path: publicFolder(t)}
	first, err := home.password()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := home.password(); again != first || err != nil {
		t.Errorf("%q, %v, want %q", again, err, first)
	}
	if err := os.Mkdir(home.data(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home.data(), "PG_VERSION"), []byte("17\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := home.password(); again != first || err != nil {
		t.Errorf("with data: %q, %v, want %q", again, err, first)
	}
	for what, mend := range map[string]func(string) error{
		"empty":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"missing": os.Remove,
	} {
		if err := mend(filepath.Join(home.path, "password")); err != nil {
			t.Fatal(err)
		}
		if got, err := home.password(); err == nil {
			t.Errorf("the password is %s, and %q is made", what, got)
		}
		if err := os.WriteFile(filepath.Join(home.path, "password"), []byte(first), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
