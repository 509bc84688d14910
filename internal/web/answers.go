package web

import (
	"maps"
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// answers counts the requests that come to the webhook, by the status that they are answered with.
type answers struct {
	mu     sync.Mutex
	counts map[int]int64
}

// newAnswers returns the answers that there can be, so that each is there to be looked at before it is given first.
func newAnswers() *answers {
	return &answers{counts: map[int]int64{
		http.StatusOK: 0, http.StatusBadRequest: 0, http.StatusUnauthorized: 0, http.StatusMethodNotAllowed: 0,
		http.StatusRequestEntityTooLarge: 0, http.StatusServiceUnavailable: 0,
	}}
}

// count has a request answered, and counts it.
func (a *answers) count(h http.Handler, w http.ResponseWriter, r *http.Request) {
	answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	h.ServeHTTP(answer, r)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[answer.status]++
}

// byStatus returns how many requests were answered with each status.
func (a *answers) byStatus() map[int]int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.counts)
}

var webhookRequests = prometheus.NewDesc("elobot_webhook_requests_total",
	"Requests to the webhook, by the status that they were answered with.", []string{"status"}, nil)

// Describe implements prometheus.Collector.
func (a *answers) Describe(descs chan<- *prometheus.Desc) { descs <- webhookRequests }

// Collect implements prometheus.Collector.
func (a *answers) Collect(found chan<- prometheus.Metric) {
	for status, n := range a.byStatus() {
		found <- prometheus.MustNewConstMetric(webhookRequests, prometheus.CounterValue, float64(n), strconv.Itoa(status))
	}
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the writer that http.ResponseController looks for.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
