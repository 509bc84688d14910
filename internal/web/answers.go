package web

import (
	"maps"
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// statusCounts counts webhook requests by the status of the response.
type statusCounts struct {
	mu     sync.Mutex
	counts map[int]int64
}

// newStatusCounts starts with all possible statuses at 0, so that each metric exists before its first request.
func newStatusCounts() *statusCounts {
	return &statusCounts{counts: map[int]int64{
		http.StatusOK: 0, http.StatusBadRequest: 0, http.StatusUnauthorized: 0, http.StatusMethodNotAllowed: 0,
		http.StatusRequestEntityTooLarge: 0, http.StatusServiceUnavailable: 0,
	}}
}

func (a *statusCounts) serve(h http.Handler, w http.ResponseWriter, r *http.Request) {
	sw := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	h.ServeHTTP(sw, r)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[sw.status]++
}

func (a *statusCounts) byStatus() map[int]int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.counts)
}

var webhookRequests = prometheus.NewDesc("elobot_webhook_requests_total",
	"Requests to the webhook, by the status of the response.", []string{"status"}, nil)

// Describe implements prometheus.Collector.
func (a *statusCounts) Describe(ch chan<- *prometheus.Desc) { ch <- webhookRequests }

// Collect implements prometheus.Collector.
func (a *statusCounts) Collect(ch chan<- prometheus.Metric) {
	for status, n := range a.byStatus() {
		ch <- prometheus.MustNewConstMetric(webhookRequests, prometheus.CounterValue, float64(n), strconv.Itoa(status))
	}
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
