// Package web is what the bot serves over HTTP: figures for those who look after it, at /metrics for Prometheus and at
// /api/metrics as JSON, and the webhook that Telegram delivers updates to. The figures change nothing, and they ask
// nobody who they are: where they are served decides who may look.
package web

import (
	"context"
	"errors"
	"fmt"
	"log"
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

// The paths of the figures.
const (
	MetricsPath = "/metrics"
	StatsPath   = "/api/metrics"
)

// Server serves what there is to see, and takes what is delivered.
type Server struct {
	listener net.Listener // nil: nowhere
	mux      *http.ServeMux
	hookPath string
	hook     http.Handler // nil: none
	answers  *answers     // of the webhook
	faults   *log.Logger
	log      *slog.Logger
}

// Listen returns a server that listens at an address such as ":8080", and answers once it runs. Without an address it
// listens nowhere.
func Listen(ctx context.Context, addr string, log *slog.Logger) (*Server, error) {
	s := &Server{mux: http.NewServeMux(), answers: newAnswers(), faults: slog.NewLogLogger(log.Handler(), slog.LevelWarn), log: log}
	if addr == "" {
		return s, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w\nIs the port of LISTEN_ADDR or PORT free, and the address one of this machine?", err)
	}
	s.listener = listener
	return s, nil
}

// Figures serves the figures. It asks for them at each request, several of which may come at the same time.
func (s *Server) Stats(stats func() outbox.Stats) {
	// a pattern with GET stands for HEAD too, and has the server answer 405 to everything else
	s.mux.Handle("GET "+MetricsPath, metricsHandler(stats, s.answers, s.faults))
	s.mux.Handle("GET "+StatsPath, statsHandler(stats, s.answers, s.log))
}

// Webhook has the handler take what is delivered to a path.
func (s *Server) Webhook(path string, h http.Handler) {
	s.hookPath, s.hook = path, h
}

// ServeHTTP implements http.Handler. The path of the webhook is taken as it is; as a pattern it would be read, and
// whatever does not look tidy be redirected.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.hook != nil && r.URL.Path == s.hookPath {
		s.answers.count(s.hook, w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Addr returns where a server listens that has an address.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends a server that was not run. To one that was it does nothing.
func (s *Server) Close() {
	if s.listener != nil {
		_ = s.listener.Close() // nobody has come by it
	}
}

// Run serves until the context ends; then it answers what is in hand, within a bounded time, and returns nil. It can
// run once.
func (s *Server) Run(ctx context.Context) error {
	if s.listener == nil {
		<-ctx.Done()
		return nil
	}
	server := &http.Server{
		Handler:        s,
		ReadTimeout:    readTimeout,
		WriteTimeout:   writeTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       s.faults,
	}
	s.log.InfoContext(ctx, "serving", "addr", s.Addr())
	stopped := make(chan error, 1)
	unwatch := context.AfterFunc(ctx, func() { stopped <- s.stop(ctx, server) })
	err := server.Serve(s.listener)
	if unwatch() {
		return fmt.Errorf("serve: %w", err)
	}
	return <-stopped
}

// stop waits for the requests in hand, and cuts off those that take too long.
func (s *Server) stop(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.WarnContext(ctx, "cut off requests that were still being answered")
		err = server.Close()
	}
	if err != nil {
		return fmt.Errorf("stop serving: %w", err)
	}
	return nil
}
