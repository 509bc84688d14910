// Package web is what the bot shows over HTTP: figures for those who look after it, at /metrics for Prometheus and at
// /api/metrics as JSON. It changes nothing, and it asks nobody who they are: where it listens decides who may look.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"elobot/internal/outbox"
)

const (
	readTimeout  = 10 * time.Second // for a request
	writeTimeout = 30 * time.Second // for the whole of its handling
	idleTimeout  = 2 * time.Minute  // longer than anybody leaves between two looks at the figures
	maxHeader    = 16 << 10         // bytes
	// stopWithin is how long a server that stops waits for the requests in hand.
	stopWithin = 2 * time.Second
)

// Server serves what there is to see.
type Server struct {
	addr   string
	server *http.Server
	log    *slog.Logger
}

// NewServer returns a server for an address such as ":8080". It asks for the figures at each request, several of which
// may come at the same time.
func NewServer(addr string, figures func() outbox.Figures, log *slog.Logger) *Server {
	faults := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	mux := http.NewServeMux() // a pattern with GET stands for HEAD too, and has it answer 405 to everything else
	mux.Handle("GET /metrics", metricsHandler(figures, faults))
	mux.Handle("GET /api/metrics", figuresHandler(figures, log))
	return &Server{
		addr: addr,
		server: &http.Server{
			Handler:        mux,
			ReadTimeout:    readTimeout,
			WriteTimeout:   writeTimeout,
			IdleTimeout:    idleTimeout,
			MaxHeaderBytes: maxHeader,
			ErrorLog:       faults,
		},
		log: log,
	}
}

// Run serves until the context ends; then it answers what is in hand, within a bounded time, and returns nil. It can
// run once.
func (s *Server) Run(ctx context.Context) error {
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("serve metrics: %w\nIs the port of LISTEN_ADDR free, and its address one of this machine?", err)
	}
	s.log.InfoContext(ctx, "serving metrics", "addr", listener.Addr().String())

	stopped := make(chan error, 1)
	unwatch := context.AfterFunc(ctx, func() { stopped <- s.stop(ctx) })
	err = s.server.Serve(listener)
	if unwatch() {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return <-stopped
}

// stop waits for the requests in hand, and cuts off those that take too long.
func (s *Server) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.WarnContext(ctx, "cut off requests that were still being answered")
		err = s.server.Close()
	}
	if err != nil {
		return fmt.Errorf("stop serving metrics: %w", err)
	}
	return nil
}
