package web

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"elobot/internal/outbox"
)

// statsHandler serves the metrics as JSON.
func statsHandler(read func() outbox.Stats, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := read()
		if s.Largest == nil {
			s.Largest = []outbox.ChatBacklog{} // "[]" instead of "null"
		}
		body, err := json.Marshal(s)
		if err != nil {
			log.ErrorContext(r.Context(), "failed to encode metrics as JSON", "error", err)
			http.Error(w, "failed to encode metrics as JSON", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(append(body, '\n')) // the client may be gone
	})
}
