// Package pgtemp starts a PostgreSQL server that ends together with this process, even if the
// process is killed. The server is either temporary and leaves no data behind, for the demo, the
// benchmark and the tests, or it keeps its data in a folder, for hosts without a server.
//
// The package finds, starts, stops and cleans up servers. It knows nothing about elobot's tables
// and migrations.
//
// Start uses the first source that works: the PostgreSQL programs on the machine, a container, or
// programs that it fetches from an archive or from the packages of Debian or Ubuntu and keeps in a
// cache folder.
package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Source is a way to get a server.
type Source string

// The sources, in the order in which Start tries them.
const (
	// Programs runs the PostgreSQL programs on the machine, whether installed or fetched earlier.
	Programs Source = "programs"
	// Docker runs a container with the docker command.
	Docker Source = "docker"
	// Archive fetches the programs in an archive and runs them.
	Archive Source = "archive"
	// Packages fetches the programs with apt-get, unpacks them without installing anything, and
	// runs them.
	Packages Source = "packages"
)

// Options configures a server. The zero value means a temporary server.
type Options struct {
	// DataDir is the folder that keeps the data and the superuser's password. Start creates and
	// initializes it on first use, and refuses a folder with foreign files. Only one process at a
	// time can run a server on it. If this process is root, an unprivileged user must be able to
	// reach the folder. Empty means a temporary folder that is removed when the server stops.
	DataDir string
	// Settings are extra server settings, such as fsync=off.
	Settings map[string]string
	// Log receives progress messages for users, including why a source failed. It may be nil.
	Log func(msg string)
	// Sources lists the sources to try, in this order. Empty means all of them.
	Sources []Source

	// programFolders are patterns of folders to search after PATH. nil means the default.
	programFolders []string
	// cache is the folder for fetched programs. Empty means the default.
	cache string
	// archive replaces the archive for this system.
	archive *archive
}

// archive describes an archive of PostgreSQL's programs and all libraries that they need.
type archive struct {
	address string
	sum     string // SHA-256
	timeout time.Duration
}

func (o Options) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// engine is a server that was started from one of the sources.
type engine interface {
	// pid returns the process id of the server, or 0 if it is not running as a process of this
	// machine.
	pid() int
	// pause stops the server, as Server.Pause does. resume restarts it on the same port with the
	// same data.
	pause(ctx context.Context, immediate bool) error
	resume(ctx context.Context) error
	stop(ctx context.Context) error
	// checkAlive returns an error with the reason unless the server is running.
	checkAlive() error
}

// Server is a PostgreSQL server that ends together with this process.
type Server struct {
	home *folder
	log  func(format string, args ...any)

	// These fields are set anew for each source that is tried.
	engine engine
	url    string
	kind   string

	mu      sync.Mutex
	stopped bool
}

// Start starts a server and returns when it answers queries. If a source fails, Start tries the
// next one, unless ctx has ended or a server failed to start on existing data. If all sources fail,
// the error says what to install, and why each source failed.
func Start(ctx context.Context, o Options) (*Server, error) {
	home, err := openFolder(o)
	if err != nil {
		return nil, err
	}
	err = home.takeCharge(ctx, o, func(pid int) (bool, error) {
		return false, fmt.Errorf("process %d is using it: stop that one first", pid)
	})
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", home.path, err)
	}
	return startIn(ctx, o, home)
}

// Use returns the URL of the server of Options.DataDir. If another process runs it, release does
// nothing. Otherwise Use starts the server and release stops it.
func Use(ctx context.Context, o Options) (address string, release func(context.Context) error, err error) {
	home, err := openFolder(o)
	if err != nil {
		return "", nil, err
	}
	running := false
	err = home.takeCharge(ctx, o, func(int) (bool, error) {
		// A process is in charge, so the recorded port should be its server's. Without a process in
		// charge, any program might listen there.
		if address, err = home.recordedURL(); err == nil {
			_, askErr := askVersion(ctx, address, time.Second)
			running = askErr == nil
		}
		return running, nil // if nothing answers, the server is starting or stopping
	})
	if err != nil {
		return "", nil, fmt.Errorf("use data folder %s: %w", home.path, err)
	}
	if running {
		return address, func(context.Context) error { return nil }, nil
	}
	server, err := startIn(ctx, o, home)
	if err != nil {
		return "", nil, err
	}
	return server.URL(), server.Stop, nil
}

// startIn starts a server in a folder that this process is in charge of. On failure it gives up the
// folder.
func startIn(ctx context.Context, o Options, home *folder) (*Server, error) {
	s := &Server{home: home, log: o.log}
	if err := s.startAnyWay(ctx, o); err != nil {
		return nil, errors.Join(err, home.leave())
	}
	o.log("%s is ready", s.kind)
	return s, nil
}

// errNotStarted means that a source had PostgreSQL, but the server did not start.
var errNotStarted = errors.New("the server did not start")

func (s *Server) startAnyWay(ctx context.Context, o Options) error {
	sources := o.Sources
	if len(sources) == 0 {
		sources = []Source{Programs, Docker, Archive, Packages}
	}
	var reasons []string
	for _, source := range sources {
		start := func() error { return s.startPrograms(ctx, o, source) }
		if source == Docker {
			start = func() error { return s.startDocker(ctx, o) }
		}
		err := start()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("start postgres: %w", errors.Join(context.Cause(ctx), err))
		}
		// The data or its disk may be at fault, so do not try other programs on it.
		if errors.Is(err, errNotStarted) && HasData(s.home.path) && s.home.named() {
			return fmt.Errorf("start PostgreSQL on the data in %s: %w", s.home.data(), err)
		}
		reason := fmt.Sprintf("%s: %s", source, strings.ReplaceAll(err.Error(), "\n", "; "))
		o.log("%s", reason)
		reasons = append(reasons, reason)
	}
	what, major, version := "PostgreSQL 15 or newer", "", "17"
	if found, err := s.home.dataVersion(); err == nil && found != "" {
		what, major, version = "PostgreSQL "+found+", which alone can read the data in "+s.home.data(), "-"+found, found
	}
	if !s.home.named() {
		what += " or start Docker"
	}
	return fmt.Errorf("no PostgreSQL could be started: install %s (Debian or Ubuntu: apt install postgresql%s; macOS: "+
		"brew install postgresql@%s), and try again (%s)", what, major, version, strings.Join(reasons, "; "))
}

// URL returns the superuser's URL of the database "postgres" on loopback.
func (s *Server) URL() string { return s.url }

// Kind describes the server and its source for users, such as "PostgreSQL 15.18 from
// /usr/lib/postgresql/15/bin".
func (s *Server) Kind() string { return s.kind }

// PID returns the process id of the server, or 0 if it runs in a container, is paused or was
// stopped.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return 0
	}
	return s.engine.pid()
}

// Pause stops the server until Resume. An immediate pause is like a crash: the server recovers its
// data on Resume. Otherwise the server rolls back open transactions and shuts down cleanly. Pause
// fails for a server in a container.
func (s *Server) Pause(ctx context.Context, immediate bool) error {
	return s.unlessStopped("pause", func() error { return s.engine.pause(ctx, immediate) })
}

// Resume starts a paused server on the same port with the same data, and returns when it answers
// queries.
func (s *Server) Resume(ctx context.Context) error {
	return s.unlessStopped("resume", func() error { return s.engine.resume(ctx) })
}

func (s *Server) unlessStopped(what string, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return fmt.Errorf("%s postgres: the server was stopped", what)
	}
	if err := do(); err != nil {
		return fmt.Errorf("%s postgres: %w", what, err)
	}
	return nil
}

// stopTimeout limits each step of stopping a server before a more forceful one follows.
const stopTimeout = 10 * time.Second

// Stop stops the server and removes all temporary files. It escalates to more forceful means within
// a bounded time, even if ctx is already done. A second call does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped = true
	err := s.engine.stop(ctx)
	if err == nil {
		err = s.home.leave()
	}
	if err != nil {
		return fmt.Errorf("stop postgres: %w", err)
	}
	return nil
}

const (
	// aliveInterval is how often Keep checks that the server is running.
	aliveInterval = time.Second
	// reviveTimeout is how long Keep repeats failed attempts to restart the server. A single
	// attempt may take longer.
	reviveTimeout = time.Minute
)

// Keep restarts the server whenever it ends unexpectedly, such as by SIGKILL, until the context
// ends. It calls report with the reason before each restart. The server recovers its data and keeps
// its port. Keep returns nil when the context ends, or an error if it cannot restart the server.
// The server must not be paused while Keep runs.
func (s *Server) Keep(ctx context.Context, report func(reason error)) error {
	tick := time.NewTicker(aliveInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.revive(ctx, report); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// revive restarts the server if it has ended unexpectedly.
func (s *Server) revive(ctx context.Context, report func(reason error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	reason := s.engine.checkAlive()
	if reason == nil || ctx.Err() != nil {
		return nil
	}
	report(reason)
	begun := time.Now()
	err := pollUntil(ctx, func() (bool, error) {
		err := s.engine.resume(ctx)
		if err != nil && time.Since(begun) < reviveTimeout {
			return false, nil // processes of the old server may still hold its memory
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("start postgres again: %w", errors.Join(reason, err))
	}
	s.log("%s is ready again", s.kind)
	return nil
}

// arguments returns the settings as arguments for a server, after defaults that they override.
func (o Options) arguments() []string {
	args := []string{"-c", "shared_buffers=32MB"}
	for name, value := range o.Settings {
		args = append(args, "-c", name+"="+value)
	}
	return args
}

// pollUntil calls done every 10 ms until done returns true or an error. If ctx ends first,
// pollUntil returns the cause.
func pollUntil(ctx context.Context, done func() (bool, error)) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// lastLines returns the last four lines of a program's output, joined into one line for an error.
func lastLines(output string) string {
	lines := strings.FieldsFunc(output, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines[max(0, len(lines)-4):], " / ")
}
