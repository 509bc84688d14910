// Package pgtemp starts a PostgreSQL server for the demo, the benchmark and the tests, and sees to it that nothing of
// it stays behind, even when this process is killed.
//
// It owns how a server is found, started, stopped and cleaned up. It knows nothing of elobot: no tables, no
// migrations. It is not meant for production, where the operator provides the database.
//
// A server comes from the first way that works: the PostgreSQL programs on the machine, a container, or programs that
// are fetched and kept in a cache folder, from an archive or from the packages of Debian or Ubuntu.
package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Way is where a server can come from.
type Way string

// The ways, in the order in which Start tries them.
const (
	// Programs runs the PostgreSQL programs that are on the machine, installed or fetched before.
	Programs Way = "programs"
	// Docker runs a container by the docker command.
	Docker Way = "docker"
	// Archive fetches the programs in an archive and runs them.
	Archive Way = "archive"
	// Packages fetches the programs by apt-get, unpacks them without installing anything, and runs them.
	Packages Way = "packages"
)

// Options say what kind of server is wanted. The zero value is a temporary one.
type Options struct {
	// DataDir names a folder that keeps the data, made and initialised on first use. It holds the data folder and
	// the superuser's password, and serves one process at a time. As root it must lie where an unprivileged user
	// can reach it. Empty means a temporary folder that is removed at the end.
	DataDir string
	// InMemory keeps a temporary server's data in memory, if the system has a folder for that with enough room. Making
	// a database then takes a fifth of the processor time.
	InMemory bool
	// Settings are extra server settings, such as fsync=off.
	Settings map[string]string
	// Log is told what is being done, in words for a human. It may be nil.
	Log func(msg string)
	// Ways limits where the server may come from. Empty means all ways, in their order.
	Ways []Way

	// programFolders are patterns of folders that are searched after PATH; nil means the usual ones.
	programFolders []string
	// cache is where fetched programs are kept; empty means the usual place.
	cache string
	// repository is where archives are fetched from, and patience how long each step of that may take until something
	// comes; empty means the usual ones.
	repository string
	patience   time.Duration
}

func (o Options) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// engine is a running server in one of the ways.
type engine interface {
	// pid is the process id of the server, 0 when it is not a process of this machine.
	pid() int
	// pause ends the server, which resume starts again on the same port with the same data.
	pause(ctx context.Context, immediate bool) error
	resume(ctx context.Context) error
	stop(ctx context.Context) error
}

// started is what a way hands over once its server answers queries.
type started struct {
	engine  engine
	url     string
	version string
	kind    string
}

// Server is a running PostgreSQL server.
type Server struct {
	started
	mu      sync.Mutex
	stopped bool
}

// Start starts a server and returns when it answers queries. A way that fails leads to the next; when none is left,
// the error is one sentence that says what to install and why each way failed.
func Start(ctx context.Context, o Options) (*Server, error) {
	home, err := openFolder(o.DataDir)
	if err != nil {
		return nil, err
	}
	s, err := startAnyWay(ctx, o, home)
	if err != nil {
		return nil, errors.Join(err, home.close())
	}
	// The lock on a named folder stays with the server's watcher from here on, see folder.
	if err := home.close(); err != nil {
		return nil, errors.Join(err, s.engine.stop(context.WithoutCancel(ctx)))
	}
	return &Server{started: s}, nil
}

func startAnyWay(ctx context.Context, o Options, home *folder) (started, error) {
	start := map[Way]func(context.Context, Options, *folder) (started, error){
		Programs: startFrom(installed),
		Docker:   startDocker,
		Archive:  startFrom(fromArchive),
		Packages: startFrom(fromPackages),
	}
	ways := o.Ways
	if len(ways) == 0 {
		ways = []Way{Programs, Docker, Archive, Packages}
	}
	var reasons []string
	for _, way := range ways {
		begin, known := start[way]
		if !known {
			return started{}, fmt.Errorf("start postgres: there is no way called %q", way)
		}
		s, err := begin(ctx, o, home)
		if err == nil {
			o.log("%s is ready", s.kind)
			return s, nil
		}
		if ctx.Err() != nil {
			return started{}, fmt.Errorf("start postgres: %w", errors.Join(context.Cause(ctx), err))
		}
		reason := fmt.Sprintf("%s: %s", way, strings.ReplaceAll(err.Error(), "\n", "; "))
		o.log("%s", reason)
		reasons = append(reasons, reason)
	}
	return started{}, fmt.Errorf("no PostgreSQL could be started: install PostgreSQL 15 or newer "+
		"(Debian or Ubuntu: apt install postgresql; macOS: brew install postgresql@17) or start Docker, "+
		"and try again (%s)", strings.Join(reasons, "; "))
}

// URL is the superuser's URL of the database "postgres" on loopback.
func (s *Server) URL() string { return s.url }

// Version is the server's version, such as "17.2".
func (s *Server) Version() string { return s.version }

// Kind says for a human what is running and where it came from, such as "PostgreSQL 15.18 from
// /usr/lib/postgresql/15/bin".
func (s *Server) Kind() string { return s.kind }

// PID is the process id of the server, or 0 when it runs in a container.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return 0
	}
	return s.engine.pid()
}

// Restart is Pause and Resume.
func (s *Server) Restart(ctx context.Context, immediate bool) error {
	if err := s.Pause(ctx, immediate); err != nil {
		return err
	}
	return s.Resume(ctx)
}

// Pause stops the server until Resume. An immediate pause ends it as a crash does, so that the data has to be recovered;
// the other waits for transactions to be rolled back and written.
func (s *Server) Pause(ctx context.Context, immediate bool) error {
	return s.unlessStopped("pause", func() error { return s.engine.pause(ctx, immediate) })
}

// Resume starts a server that is paused, on the same port with the same data, and returns when it answers queries.
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

// Stop ends the server and removes everything temporary. It tries more and more forceful means within a bounded time,
// even if ctx is done already, and does nothing when called again.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped = true
	if err := s.engine.stop(ctx); err != nil {
		return fmt.Errorf("stop postgres: %w", err)
	}
	return nil
}
