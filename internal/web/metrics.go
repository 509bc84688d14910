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

// maxChatSeries limits how many chats have a metric of their own: each is a separate series in Prometheus.
const maxChatSeries = 20

// metricsHandler serves the metrics of the outbox, the webhook and the process in the format of Prometheus.
func metricsHandler(stats func() outbox.Stats, webhook *statusCounts, errorLog *log.Logger) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collector{stats},
		webhook,
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorLog: errorLog})
}

// metric is one value as Prometheus knows it.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(s *outbox.Stats) float64
}

func gauge(name, help string, value func(s *outbox.Stats) float64) metric {
	return metric{prometheus.NewDesc("elobot_outbox_"+name, help, nil, nil), prometheus.GaugeValue, value}
}

func counter(name, help string, value func(s *outbox.Stats) int64) metric {
	return metric{
		prometheus.NewDesc("elobot_outbox_"+name+"_total", help, nil, nil), prometheus.CounterValue,
		func(s *outbox.Stats) float64 { return float64(value(s)) },
	}
}

// metrics are all values except the list of chats.
var metrics = []metric{
	gauge("dispatching", "1 if this instance sends, 0 if it is on standby.",
		func(s *outbox.Stats) float64 { return flag(s.Dispatching) }),
	gauge("waiting_items", "Items waiting to be sent.",
		func(s *outbox.Stats) float64 { return float64(s.Waiting) }),
	gauge("enqueued_items_per_second", "Items added per second, over the last minute.",
		func(s *outbox.Stats) float64 { return s.EnqueueRate }),
	gauge("dead_items", "Current dead letters.",
		func(s *outbox.Stats) float64 { return float64(s.Dead) }),
	gauge("deferred_items", "Items set aside until a release leads that knows their kind.",
		func(s *outbox.Stats) float64 { return float64(s.Deferred) }),
	gauge("frozen_chats", "Chats that Telegram asks not to write to for now.",
		func(s *outbox.Stats) float64 { return float64(s.Frozen) }),
	gauge("parked_chats", "Chats that the bot may not write to and that have waiting items.",
		func(s *outbox.Stats) float64 { return float64(s.Parked) }),
	gauge("waiting_lanes", "Lanes that may send now and wait for their turn.",
		func(s *outbox.Stats) float64 { return float64(s.WaitingLanes) }),
	gauge("paused_lanes", "Lanes with something to send that may not send yet: frozen chat, failed request, or rate limit of the chat.",
		func(s *outbox.Stats) float64 { return float64(s.PausedLanes) }),
	gauge("requests_in_flight", "Requests to Telegram in flight.",
		func(s *outbox.Stats) float64 { return float64(s.InFlight) }),
	gauge("average_wait_seconds", "Average time that a lane that may send waits for its turn, over the last 1,000 turns.",
		func(s *outbox.Stats) float64 { return s.AverageWait }),
	gauge("circuit_open", "1 if all lanes are paused, because many chats are rate limited or most requests fail.",
		func(s *outbox.Stats) float64 { return flag(s.CircuitOpen) }),

	counter("sent_messages", "Messages sent, including edits and answers to pressed buttons.",
		func(s *outbox.Stats) int64 { return s.Sent }),
	counter("delivered_items", "Items covered by sent messages.", func(s *outbox.Stats) int64 { return s.Delivered }),
	counter("merged_items", "Items sent in a message together with others.", func(s *outbox.Stats) int64 { return s.Merged }),
	counter("merged_messages", "Messages that covered several items.",
		func(s *outbox.Stats) int64 { return s.MergedMessages }),
	counter("dropped_items", "Items mentioned only as a number, or not at all, because too many waited.",
		func(s *outbox.Stats) int64 { return s.Dropped }),
	counter("expired_items", "Items that expired or became obsolete.",
		func(s *outbox.Stats) int64 { return s.Expired }),
	counter("skipped_edits", "Edits skipped because the message already showed the content.",
		func(s *outbox.Stats) int64 { return s.Skipped }),
	counter("board_copies", "Copies of boards that were found and unpinned.",
		func(s *outbox.Stats) int64 { return s.BoardCopies }),
	counter("tables_refused", "Messages sent as text because Telegram refused them as a table.",
		func(s *outbox.Stats) int64 { return s.TablesRefused }),
	counter("reactions", "Results whose reply had to wait, acknowledged by a reaction.", func(s *outbox.Stats) int64 { return s.Reactions }),
	counter("reactions_refused", "Reactions that Telegram refused.", func(s *outbox.Stats) int64 { return s.ReactionsRefused }),
	counter("rate_limited", "Times that Telegram asked to wait (429).", func(s *outbox.Stats) int64 { return s.RateLimited }),
	counter("long_waits", "Times that Telegram asked to wait for more than 10 minutes.",
		func(s *outbox.Stats) int64 { return s.LongWaits }),
	counter("possible_duplicates", "Items sent again although a previous request may have delivered them.",
		func(s *outbox.Stats) int64 { return s.PossibleDuplicates }),
	counter("uncertain_items", "Items given up after too many possible duplicates.",
		func(s *outbox.Stats) int64 { return s.Uncertain }),
	counter("died_items", "Items that became dead letters.", func(s *outbox.Stats) int64 { return s.DeadLetters }),
}

var chatWaiting = prometheus.NewDesc("elobot_outbox_chat_waiting_items",
	"Items waiting to be sent to a chat, for the 20 chats with the most.", []string{"chat"}, nil)

// collector reads all values at once for each scrape.
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
	for _, m := range metrics {
		ch <- prometheus.MustNewConstMetric(m.desc, m.kind, m.value(&s))
	}
	for _, chat := range s.Largest[:min(len(s.Largest), maxChatSeries)] {
		ch <- prometheus.MustNewConstMetric(chatWaiting, prometheus.GaugeValue, float64(chat.Waiting),
			strconv.FormatInt(int64(chat.Chat), 10))
	}
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
