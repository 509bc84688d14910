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

// metricsHandler serves the stats, and the metrics of the webhook and the process in the format of Prometheus.
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

type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(s *outbox.Stats) float64
}

func gauge(name, help string, value func(s *outbox.Stats) float64) metric {
	return metric{prometheus.NewDesc("elobot_"+name, help, nil, nil), prometheus.GaugeValue, value}
}

func counter(name, help string, value func(s *outbox.Stats) int64) metric {
	return metric{
		prometheus.NewDesc("elobot_"+name+"_total", help, nil, nil), prometheus.CounterValue,
		func(s *outbox.Stats) float64 { return float64(value(s)) },
	}
}

// metrics are all values except the list of chats.
var metrics = []metric{
	gauge("outbox_dispatching", "1 if this instance sends, 0 if it is on standby.",
		func(s *outbox.Stats) float64 { return flag(s.Dispatching) }),
	gauge("outbox_waiting_items", "Items waiting to be sent.",
		func(s *outbox.Stats) float64 { return float64(s.Waiting) }),
	gauge("outbox_enqueued_items_per_second", "Items added per second, over the last minute.",
		func(s *outbox.Stats) float64 { return s.EnqueueRate }),
	gauge("outbox_dead_items", "Current dead letters.",
		func(s *outbox.Stats) float64 { return float64(s.Dead) }),
	gauge("outbox_deferred_items", "Items set aside until a release leads that knows their kind.",
		func(s *outbox.Stats) float64 { return float64(s.Deferred) }),
	gauge("outbox_frozen_chats", "Chats that Telegram asks not to write to for now.",
		func(s *outbox.Stats) float64 { return float64(s.Frozen) }),
	gauge("outbox_parked_chats", "Chats that the bot may not write to and that have waiting items.",
		func(s *outbox.Stats) float64 { return float64(s.Parked) }),
	gauge("outbox_waiting_lanes", "Lanes that may send now and wait for their turn.",
		func(s *outbox.Stats) float64 { return float64(s.WaitingLanes) }),
	gauge("outbox_paused_lanes", "Lanes with something to send that may not send yet: frozen chat, failed request, or rate limit of the chat.",
		func(s *outbox.Stats) float64 { return float64(s.PausedLanes) }),
	gauge("outbox_requests_in_flight", "Requests to Telegram in flight.",
		func(s *outbox.Stats) float64 { return float64(s.InFlight) }),
	gauge("outbox_average_wait_seconds", "Average time that a lane that may send waits for its turn, over about the last 1,000 turns.",
		func(s *outbox.Stats) float64 { return s.AverageWait }),
	gauge("outbox_circuit_open", "1 if all lanes are paused, because many chats are rate limited or most requests fail.",
		func(s *outbox.Stats) float64 { return flag(s.CircuitOpen) }),

	counter("outbox_sent_messages", "Messages sent, including edits and answers to pressed buttons.",
		func(s *outbox.Stats) int64 { return s.Sent }),
	counter("outbox_delivered_items", "Items covered by sent messages.", func(s *outbox.Stats) int64 { return s.Delivered }),
	counter("outbox_merged_items", "Items sent in a message together with others.", func(s *outbox.Stats) int64 { return s.Merged }),
	counter("outbox_merged_messages", "Messages that covered several items.",
		func(s *outbox.Stats) int64 { return s.MergedMessages }),
	counter("outbox_dropped_items", "Results that went into a summary, and answers that expired, because too many items waited.",
		func(s *outbox.Stats) int64 { return s.Dropped }),
	counter("outbox_expired_items", "Items that expired or became obsolete.",
		func(s *outbox.Stats) int64 { return s.Expired }),
	counter("outbox_skipped_edits", "Edits skipped because the message already showed the content.",
		func(s *outbox.Stats) int64 { return s.Skipped }),
	counter("outbox_board_copies", "Copies of boards that were found and unpinned.",
		func(s *outbox.Stats) int64 { return s.BoardCopies }),
	counter("outbox_tables_refused", "Messages sent as text because Telegram refused them as a table.",
		func(s *outbox.Stats) int64 { return s.TablesRefused }),
	counter("outbox_rate_limited", "Times that Telegram asked to wait (429).", func(s *outbox.Stats) int64 { return s.RateLimited }),
	counter("outbox_long_waits", "Times that Telegram asked to wait for more than 10 minutes.",
		func(s *outbox.Stats) int64 { return s.LongWaits }),
	counter("outbox_possible_duplicates", "Items sent again although a previous request may have delivered them.",
		func(s *outbox.Stats) int64 { return s.PossibleDuplicates }),
	counter("outbox_uncertain_items", "Items given up after too many possible duplicates.",
		func(s *outbox.Stats) int64 { return s.Uncertain }),
	counter("outbox_died_items", "Items that became dead letters.", func(s *outbox.Stats) int64 { return s.DeadLetters }),
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
