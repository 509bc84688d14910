package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// aliveInterval is how often Keep looks whether the server is running. Looking at a container takes a docker command.
	aliveInterval     = time.Second
	containerInterval = 5 * time.Second
	// reviveTimeout is how long Keep begins attempts to start a server again that has ended. An attempt takes as long as it needs.
	reviveTimeout = time.Minute
)

// Keep starts the server again whenever it ends by itself, such as by SIGKILL, until the context ends. It reports the reason each
// time, before the start. The server recovers its data and keeps its port. The error says why it cannot be started again.
func (s *Server) Keep(ctx context.Context, report func(reason error)) error {
	interval := aliveInterval
	if s.PID() == 0 {
		interval = containerInterval
	}
	tick := time.NewTicker(interval)
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

// revive starts the server again if it has ended by itself.
func (s *Server) revive(ctx context.Context, report func(reason error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || s.paused {
		return nil
	}
	reason := s.engine.checkAlive(ctx)
	if reason == nil || ctx.Err() != nil {
		return nil
	}
	report(reason)
	if err := s.resumeWithin(ctx, reviveTimeout); err != nil {
		return fmt.Errorf("start postgres again: %w", errors.Join(reason, err))
	}
	s.log("%s is ready again", s.kind)
	return nil
}

// resumeWithin starts a server that has ended. It tries until the time is over: processes of the old server may still hold its
// memory for a moment.
func (s *Server) resumeWithin(ctx context.Context, timeout time.Duration) error {
	begun := time.Now()
	return pollUntil(ctx, func() (bool, error) {
		err := s.engine.resume(ctx)
		if err != nil && time.Since(begun) < timeout {
			return false, nil
		}
		return err == nil, err
	})
}

// HasData reports whether a server has initialised this folder, see Options.DataDir.
func HasData(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "data"))
	return err == nil
}

// Use returns the URL of the server of Options.DataDir: the running one of another process, or else one that it starts and that
// release stops.
func Use(ctx context.Context, o Options) (address string, release func(context.Context) error, err error) {
	home, err := openFolder(o)
	if err != nil {
		return "", nil, err
	}
	nothing := func(context.Context) error { return nil }
	if !locksWork {
		if address, running := home.answering(ctx); running {
			return address, nothing, nil
		}
	}
	wait, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the server of process %d does not answer", home.ownerProcess()))
	defer cancel()
	running := false
	err = pollUntil(wait, func() (bool, error) {
		err := home.takeCharge()
		if !errors.Is(err, errInUse) {
			return true, err
		}
		// Only now does the port belong to the server. Without a process in charge, anybody may listen there.
		address, running = home.answering(wait)
		return running, nil // otherwise the server is starting or stopping
	})
	if err != nil {
		return "", nil, fmt.Errorf("use data folder %s: %w", home.path, err)
	}
	if running {
		return address, nothing, nil
	}
	server, err := startIn(ctx, o, home)
	if err != nil {
		return "", nil, err
	}
	return server.URL(), server.Stop, nil
}

// Enterable reports whether the server's user can enter the folder, or the nearest parent of it that exists. It matters for
// root, as another user runs the server then.
func Enterable(folder string) (bool, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return false, fmt.Errorf("find data folder: %w", err)
	}
	user, err := chooseIdentity(filepath.Join(path, "data"))
	if err != nil {
		return false, err
	}
	for ; ; path = filepath.Dir(path) {
		if _, err := os.Stat(path); err == nil {
			return user.canEnter(path), nil
		}
		if path == filepath.Dir(path) {
			return false, fmt.Errorf("find a parent of the folder %s", folder)
		}
	}
}
