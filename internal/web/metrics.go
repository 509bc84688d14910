package web

import (
	"log"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"elobot/internal/outbox"
)

// maxChatSeries limits how many chats have a metric of their own, because each is a separate series
// in Prometheus.
const maxChatSeries = 20

const (
	// metricsTimeout is how long a scrape may take, less than Prometheus waits by default.
	metricsTimeout = 5 * time.Second
	// maxScrapes is the maximum number of scrapes in progress at the same time.
	maxScrapes = 10
)

// metricsHandler serves the stats, the counts of webhook requests, and the metrics of the process
// in the Prometheus format.
func metricsHandler(
	stats func() outbox.Stats, webhookRequests prometheus.Collector, errorLog *log.Logger,
) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collector{stats},
		webhookRequests,
	)
	opts := promhttp.HandlerOpts{ErrorLog: errorLog, Timeout: metricsTimeout, MaxRequestsInFlight: maxScrapes}
	return promhttp.HandlerFor(registry, opts)
}

func newWebhookRequests() *prometheus.CounterVec {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "elobot_webhook_requests_total", Help: "Requests to the webhook, by the status of the response.",
	}, []string{"code"})
	for _, code := range []string{"200", "400", "401", "405", "413", "503"} {
		requests.WithLabelValues(code) // so that Prometheus sees the first request as an increase
	}
	return requests
}

type metric struct {
	field int // index of a field of outbox.Stats
	desc  *prometheus.Desc
	kind  prometheus.ValueType
}

// metrics describes all values of outbox.Stats except the list of chats.
var metrics = describe(reflect.TypeFor[outbox.Stats]())

// describe returns the metrics that the tags of a struct's fields define.
func describe(stats reflect.Type) (all []metric) {
	for i := range stats.NumField() {
		tags := stats.Field(i).Tag
		name := tags.Get("metric")
		if name == "" {
			continue
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(name, "_total") {
			kind = prometheus.CounterValue
		}
		all = append(all, metric{i, prometheus.NewDesc("elobot_"+name, tags.Get("help"), nil, nil), kind})
	}
	return all
}

var chatWaiting = prometheus.NewDesc("elobot_outbox_chat_waiting_items",
	"Items waiting to be sent to a chat, for the 20 chats with the most.", []string{"chat"}, nil)

// collector reads all values together for each scrape.
type collector struct {
	stats func() outbox.Stats
}

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- chatWaiting
	for _, m := range metrics {
		ch <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	s := c.stats()
	values := reflect.ValueOf(s)
	for _, m := range metrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, numberOf(values.Field(m.field)))
	}
	for _, chat := range s.Largest[:min(len(s.Largest), maxChatSeries)] {
		ch <- prometheus.MustNewConstMetric(chatWaiting, prometheus.GaugeValue, float64(chat.Waiting),
			strconv.FormatInt(int64(chat.Chat), 10))
	}
}

// numberOf returns a number as a float. A boolean becomes 1 for true and 0 for false.
func numberOf(v reflect.Value) float64 {
	switch {
	case v.CanFloat():
		return v.Float()
	case v.CanInt():
		return float64(v.Int())
	case v.Bool():
		return 1
	default:
		return 0
	}
}
