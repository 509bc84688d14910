package web

import (
	"log"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"elobot/internal/outbox"
)

// largestChats bounds the chats that have a metric of their own: each of them is a series that Prometheus keeps.
const largestChats = 20

// metricsHandler answers with the figures, and with those of the webhook and of the process, as Prometheus reads them.
func metricsHandler(stats func() outbox.Stats, webhook *answers, faults *log.Logger) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collector{stats},
		webhook,
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorLog: faults})
}

// metric is one figure as Prometheus knows it.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(f *outbox.Stats) float64
}

func gauge(name, help string, value func(f *outbox.Stats) float64) metric {
	return metric{prometheus.NewDesc("elobot_outbox_"+name, help, nil, nil), prometheus.GaugeValue, value}
}

func counter(name, help string, value func(f *outbox.Stats) int64) metric {
	return metric{
		prometheus.NewDesc("elobot_outbox_"+name+"_total", help, nil, nil), prometheus.CounterValue,
		func(f *outbox.Stats) float64 { return float64(value(f)) },
	}
}

// metrics are all figures but the list of chats.
var metrics = []metric{
	gauge("dispatching", "1 if this instance sends, 0 if it stands by.",
		func(f *outbox.Stats) float64 { return flag(f.Dispatching) }),
	gauge("waiting_items", "Items that wait to be sent.",
		func(f *outbox.Stats) float64 { return float64(f.Waiting) }),
	gauge("enqueued_items_per_second", "Items added per second, over the last minute.",
		func(f *outbox.Stats) float64 { return f.EnqueueRate }),
	gauge("dead_items", "Items that are dead letters now.",
		func(f *outbox.Stats) float64 { return float64(f.Dead) }),
	gauge("frozen_chats", "Chats that Telegram asks to leave alone for now.",
		func(f *outbox.Stats) float64 { return float64(f.Frozen) }),
	gauge("parked_chats", "Chats that the bot may not write to, and in which something waits.",
		func(f *outbox.Stats) float64 { return float64(f.Parked) }),
	gauge("waiting_lanes", "Lanes that could send now and wait for their turn.",
		func(f *outbox.Stats) float64 { return float64(f.WaitingLanes) }),
	gauge("paused_lanes", "Lanes with something to send that may not send yet: their chat is frozen, a request has failed, or their own limit is used up.",
		func(f *outbox.Stats) float64 { return float64(f.PausedLanes) }),
	gauge("requests_in_flight", "Requests to send that are under way.",
		func(f *outbox.Stats) float64 { return float64(f.InFlight) }),
	gauge("average_wait_seconds", "How long a lane that could send waited for its turn, on average over the last 1,000 turns.",
		func(f *outbox.Stats) float64 { return f.AverageWait }),
	gauge("circuit_open", "1 if all lanes wait, because Telegram turned many chats away or most requests fail.",
		func(f *outbox.Stats) float64 { return flag(f.CircuitOpen) }),

	counter("sent_messages", "Messages that were sent, edits and answers to pressed buttons included.",
		func(f *outbox.Stats) int64 { return f.Sent }),
	counter("delivered_items", "Items that were told by messages.", func(f *outbox.Stats) int64 { return f.Delivered }),
	counter("merged_items", "Items that were told together with others.", func(f *outbox.Stats) int64 { return f.Merged }),
	counter("merged_messages", "Messages that told several items.",
		func(f *outbox.Stats) int64 { return f.MergedMessages }),
	counter("dropped_items", "Items that were told by their number only, or not at all, because too many waited.",
		func(f *outbox.Stats) int64 { return f.Dropped }),
	counter("expired_items", "Items that ended because they came too late, or had no point any more.",
		func(f *outbox.Stats) int64 { return f.Expired }),
	counter("skipped_edits", "Edits that were needless because the message said it already.",
		func(f *outbox.Stats) int64 { return f.Skipped }),
	counter("rate_limited", "Times that Telegram asked to wait (429).", func(f *outbox.Stats) int64 { return f.Limited }),
	counter("long_waits", "Times that Telegram asked to wait for more than 10 minutes.",
		func(f *outbox.Stats) int64 { return f.LongWaits }),
	counter("possible_duplicates", "Items that were sent once more because they had perhaps been sent.",
		func(f *outbox.Stats) int64 { return f.PossibleDuplicates }),
	counter("uncertain_items", "Items that were perhaps sent so often that they are not sent again.",
		func(f *outbox.Stats) int64 { return f.Uncertain }),
	counter("died_items", "Items that became dead letters.", func(f *outbox.Stats) int64 { return f.Died }),
}

var chatWaiting = prometheus.NewDesc("elobot_outbox_chat_waiting_items",
	"Items that wait to be sent to a chat, for the 20 chats in which most wait.", []string{"chat_id"}, nil)

// collector takes the figures at each look, all at one moment.
type collector struct {
	stats func() outbox.Stats
}

// Describe implements prometheus.Collector.
func (c collector) Describe(descs chan<- *prometheus.Desc) {
	descs <- chatWaiting
	for _, m := range metrics {
		descs <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(found chan<- prometheus.Metric) {
	f := c.stats()
	for _, m := range metrics {
		found <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(&f))
	}
	for _, chat := range f.Largest[:min(len(f.Largest), largestChats)] {
		found <- prometheus.MustNewConstMetric(chatWaiting, prometheus.GaugeValue, float64(chat.Waiting),
			strconv.FormatInt(chat.To, 10))
	}
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
