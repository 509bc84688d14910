package web

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"elobot/internal/outbox"
)

// figuresHandler answers with the figures as JSON.
func statsHandler(stats func() outbox.Stats, webhook *answers, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := stats()
		if f.Largest == nil {
			f.Largest = []outbox.ChatBacklog{} // an empty list, whoever reads it
		}
		body, err := json.Marshal(struct {
			outbox.Stats
			Webhook map[int]int64 `json:"webhook_requests"` // by the status of the answer
		}{f, webhook.byStatus()})
		if err != nil {
			log.ErrorContext(r.Context(), "cannot write the figures as JSON", "error", err)
			http.Error(w, "the figures cannot be written as JSON", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(append(body, '\n')) // who has gone away needs no answer
	})
}
