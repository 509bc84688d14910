// Package web is the bot's HTTP server: health checks at /healthz and /readyz, metrics at /metrics
// for Prometheus and at /api/metrics as JSON, the webhook that receives updates from Telegram, and
// the web boards of groups. Health checks and metrics are read-only and need no authentication.
// Health checks reveal nothing confidential, but metrics belong on an address of their own.
package web

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"elobot/internal/outbox"
)

const (
	readTimeout  = 10 * time.Second // to read a request
	writeTimeout = 30 * time.Second // to handle a request and write the response
	idleTimeout  = 2 * time.Minute  // longer than usual scrape intervals
	maxHeader    = 16 << 10         // bytes
	// stopWithin is how long a stopping server waits for requests in flight.
	stopWithin = 2 * time.Second
)

// The paths of the metrics.
const (
	MetricsPath = "/metrics"
	StatsPath   = "/api/metrics"
)

// Server serves the health checks, metrics, webhook and web boards that have been added to it.
type Server struct {
	listener        net.Listener // nil if the server does not listen
	mux             *http.ServeMux
	metrics         bool
	webhookPath     string
	webhook         http.Handler // nil for none
	webhookRequests *prometheus.CounterVec
	board           atomic.Pointer[Board]
	hasBoard        bool
	errorLog        *log.Logger
	log             *slog.Logger
}

// New returns a server that does not listen yet.
func New(log *slog.Logger) *Server {
	return &Server{
		mux: http.NewServeMux(), webhookRequests: newWebhookRequests(),
		errorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), log: log,
	}
}

// Listen listens at an address such as ":8080", or not at all if the address is empty. Call it
// before Run, which serves.
func (s *Server) Listen(ctx context.Context, addr string) (err error) {
	if addr == "" {
		return nil
	}
	if s.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", addr); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return nil
}

// Metrics adds the metrics: the stats, the metrics of the process, and the counts of requests to
// the webhook of the given server, which may be s itself. Concurrent requests call stats
// concurrently.
func (s *Server) Metrics(stats func() outbox.Stats, webhook *Server) {
	s.metrics = true
	// A GET pattern also matches HEAD. Other methods get 405.
	s.mux.Handle("GET "+MetricsPath, metricsHandler(stats, webhook.webhookRequests, s.errorLog))
	s.mux.Handle("GET "+StatsPath, s.serveStats(stats))
}

// Webhook sets the handler for the webhook's path. Call it before Run.
func (s *Server) Webhook(path string, h http.Handler) {
	s.webhookPath, s.webhook = path, promhttp.InstrumentHandlerCounter(s.webhookRequests, h)
}

// ExpectBoard announces web boards. Until Board adds them, requests for them get a 503. Call it
// before Run.
func (s *Server) ExpectBoard() { s.hasBoard = true }

// Board adds the announced web boards.
func (s *Server) Board(b *Board) { s.board.Store(b) }

// ServeHTTP implements http.Handler. It compares the webhook's path literally, because a mux would
// interpret the path as a pattern, and redirect paths that are not clean.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.webhook != nil && r.URL.Path == s.webhookPath {
		s.webhook.ServeHTTP(w, r)
		return
	}
	if s.hasBoard && strings.HasPrefix(r.URL.Path, BoardPath) {
		if b := s.board.Load(); b != nil {
			b.ServeHTTP(w, r)
			return
		}
		setHeaders(w.Header())
		refuse(w, http.StatusServiceUnavailable)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Addr returns the address that the server listens on. The server must be listening.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close closes a server that was never run. After Run it has no effect.
func (s *Server) Close() {
	if s.listener != nil {
		_ = s.listener.Close() // no error matters: it was never used, or Run has closed it
	}
}

// Run serves until the context ends. It then waits up to stopWithin for requests in flight, and
// cuts off those that take longer. It returns an error only if serving or stopping fails. If the
// server does not listen, Run only waits until the context ends. Run can be called once.
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
		ErrorLog:       s.errorLog,
	}
	log := s.log
	if s.metrics {
		log = log.With("metrics", true)
	}
	log.InfoContext(ctx, "serving", "addr", s.Addr())
	stopped := make(chan error, 1)
	cancelStop := context.AfterFunc(ctx, func() { stopped <- s.stop(ctx, server) })
	err := server.Serve(s.listener)
	if cancelStop() {
		return fmt.Errorf("serve: %w", err)
	}
	return <-stopped
}

// stop disconnects the viewers of boards, waits for other requests in flight, and cuts off those
// that take too long.
func (s *Server) stop(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	if b := s.board.Load(); b != nil {
		b.Close() // otherwise Shutdown would wait for the viewers
	}
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.WarnContext(ctx, "cut off requests that were still in flight")
		err = server.Close()
	}
	if err != nil {
		return fmt.Errorf("stop serving: %w", err)
	}
	return nil
}
