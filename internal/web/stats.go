package web

import (
	"encoding/json"
	"net/http"

	"elobot/internal/outbox"
)

// serveStats returns a handler that serves the metrics as JSON.
func (s *Server) serveStats(read func() outbox.Stats) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		stats := read()
		if stats.Largest == nil {
			stats.Largest = []outbox.ChatBacklog{} // "[]" instead of "null"
		}
		s.answerJSON(w, r, http.StatusOK, stats)
	}
}

func (s *Server) answerJSON(w http.ResponseWriter, r *http.Request, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		s.log.ErrorContext(r.Context(), "failed to encode an answer as JSON", "error", err)
		http.Error(w, "failed to encode an answer as JSON", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may be gone
}
