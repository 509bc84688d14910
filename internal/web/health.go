package web

import (
	"context"
	"net/http"
)

// The paths of the health checks.
const (
	HealthPath = "/healthz"
	ReadyPath  = "/readyz"
)

// Readiness reports whether an instance can handle updates, with details for diagnosis. It must not
// contain anything confidential, because anyone may read it.
type Readiness struct {
	Ready   bool   `json:"ready"`
	Problem string `json:"problem,omitempty"` // why it is not ready
	// Leader is set if this instance has the lease. A standby instance is as ready as the leader.
	Leader bool `json:"leader"`
}

// Health adds the health checks: HealthPath always answers 200, and ReadyPath answers 503 unless
// the instance is ready. The server calls ready for each request to ReadyPath, possibly
// concurrently.
func (s *Server) Health(ready func(context.Context) Readiness) {
	s.mux.HandleFunc("GET "+HealthPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte("ok\n")) // the client may be gone
	})
	s.mux.HandleFunc("GET "+ReadyPath, func(w http.ResponseWriter, r *http.Request) {
		state, status := ready(r.Context()), http.StatusOK
		if !state.Ready {
			status = http.StatusServiceUnavailable
		}
		s.answerJSON(w, r, status, state)
	})
}
