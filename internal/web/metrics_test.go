package web_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"elobot/internal/outbox"
	"elobot/internal/web"
)

// distinctStats returns stats with a distinct value in each numeric field, and these values by
// field name.
func distinctStats(t *testing.T) (outbox.Stats, map[string]float64) {
	t.Helper()
	var s outbox.Stats
	values := make(map[string]float64)
	var fill func(all reflect.Value)
	fill = func(all reflect.Value) {
		for i := range all.NumField() {
			n := 1000 + len(values)
			switch field := all.Field(i); field.Kind() {
			case reflect.Struct:
				fill(field)
				continue
			case reflect.Int, reflect.Int64:
				field.SetInt(int64(n))
			case reflect.Float64:
				field.SetFloat(float64(n))
			case reflect.Bool, reflect.Slice:
				continue
			default:
				t.Fatalf("no test values for fields of kind %s", field.Kind())
			}
			values[all.Type().Field(i).Name] = float64(n)
		}
	}
	fill(reflect.ValueOf(&s).Elem())
	return s, values
}

// TestEveryMetric checks that each value appears in both formats, and the bot has no other metrics
// without labels.
func TestEveryMetric(t *testing.T) {
	t.Parallel()
	s, values := distinctStats(t)
	url, _, _ := serve(t, func() outbox.Stats { return s })
	text := request(t, "GET", url+"/metrics").body
	body := request(t, "GET", url+"/api/metrics").body

	shown := make(map[string]float64)
	for name, value := range botMetrics(t, text) {
		shown[name] = value
	}
	want := map[string]float64{
		"outbox_dispatching": 0, "outbox_circuit_open": 0,
		"outbox_waiting_items": values["Waiting"], "outbox_enqueued_items_per_second": values["EnqueueRate"], "outbox_dead_items": values["Dead"],
		"outbox_waiting_lanes": values["WaitingLanes"], "outbox_merged_messages_total": values["MergedMessages"],
		"outbox_uncertain_items_total": values["Uncertain"],
		"outbox_requests_in_flight":    values["InFlight"], "outbox_average_wait_seconds": values["AverageWait"],
		"outbox_sent_messages_total": values["Sent"], "outbox_delivered_items_total": values["Delivered"], "outbox_merged_items_total": values["Merged"],
		"outbox_dropped_items_total": values["Dropped"], "outbox_expired_items_total": values["Expired"],
		"outbox_skipped_edits_total": values["Skipped"], "outbox_rate_limited_total": values["RateLimited"],
		"outbox_possible_duplicates_total": values["PossibleDuplicates"],
		"outbox_died_items_total":          values["DeadLetters"],
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("/metrics differs (-want +got):\n%s", diff)
	}
	for name, value := range values {
		if !strings.Contains(text, " "+strconv.FormatFloat(value, 'g', -1, 64)+"\n") {
			t.Errorf("/metrics does not show %s", name)
		}
	}
	s.Largest = []outbox.ChatBacklog{}
	var read outbox.Stats
	if err := json.Unmarshal([]byte(body), &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, read); diff != "" {
		t.Errorf("/api/metrics differs (-want +got):\n%s", diff)
	}
}

// TestFlags checks that a boolean value is 1 only if it is true.
func TestFlags(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]outbox.Stats{
		"outbox_dispatching":  {Dispatching: true},
		"outbox_circuit_open": {CircuitOpen: true},
	} {
		url, _, _ := serve(t, func() outbox.Stats { return s })
		text := request(t, "GET", url+"/metrics").body
		for shown, value := range botMetrics(t, text) {
			if (value == 1) != (shown == name) {
				t.Errorf("with %s alone, %s is %v", name, shown, value)
			}
		}
	}
}

// TestLargestChats checks that only the first 20 chats in Stats.Largest have a series.
func TestLargestChats(t *testing.T) {
	t.Parallel()
	for given, want := range map[int]int{0: 0, 1: 1, 20: 20, 30: 20} {
		var s outbox.Stats
		for i := range given {
			s.Largest = append(s.Largest, outbox.ChatBacklog{Chat: outbox.ChatID(1000 + i), Waiting: 500 - i})
		}
		url, _, _ := serve(t, func() outbox.Stats { return s })
		text := request(t, "GET", url+"/metrics").body
		for i := range given {
			line := fmt.Sprintf("\nelobot_outbox_chat_waiting_items{chat=%q} %d\n", fmt.Sprint(1000+i), 500-i)
			if strings.Contains(text, line) != (i < want) {
				t.Errorf("of %d chats, number %d: %v", given, i+1, i >= want)
			}
		}
		if n := strings.Count(text, "\nelobot_outbox_chat_waiting_items{"); n != want {
			t.Errorf("of %d chats %d are shown, want %d", given, n, want)
		}
	}
}

func TestJSONWithoutChats(t *testing.T) {
	t.Parallel()
	url, _, _ := serve(t, func() outbox.Stats { return outbox.Stats{} })
	if body := request(t, "GET", url+"/api/metrics").body; !strings.Contains(body, `"largest":[]`) ||
		!strings.HasSuffix(body, "}\n") {
		t.Errorf("/api/metrics says\n%s", body)
	}
}

// TestLint checks that names and help texts follow the conventions of Prometheus.
func TestLint(t *testing.T) {
	t.Parallel()
	url, _, _ := serve(t, func() outbox.Stats {
		return outbox.Stats{Largest: []outbox.ChatBacklog{{Chat: 1, Waiting: 1}}}
	})
	text := request(t, "GET", url+"/metrics").body
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, name := range []string{"go_goroutines", "go_memstats_heap_alloc_bytes", "process_start_time_seconds"} {
		if !strings.Contains(text, "\n"+name+" ") {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestDocumented checks that the documentation explains every metric of the bot and every field of
// the JSON, and no others.
func TestDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	url, _, _ := serve(t, func() outbox.Stats {
		return outbox.Stats{Largest: []outbox.ChatBacklog{{Chat: 1, Waiting: 1}}}
	})
	text := request(t, "GET", url+"/metrics").body
	body := request(t, "GET", url+"/api/metrics").body
	var fields map[string]any
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		t.Fatal(err)
	}
	served := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (elobot_\S+)`).FindAllStringSubmatch(text, -1) {
		served[m[1]] = true
	}
	for name := range fields {
		served[name] = true
	}
	explained := make(map[string]bool)
	for _, m := range regexp.MustCompile("(?m)^\\| `(elobot_\\w+)`(?:<br>`(\\w+)`)? \\|").
		FindAllStringSubmatch(string(page), -1) {
		for _, name := range m[1:] {
			if name != "" {
				explained[name] = true
			}
		}
	}
	if diff := cmp.Diff(served, explained); diff != "" {
		t.Errorf("docs/metrics.md differs from the served metrics (-served +explained):\n%s", diff)
	}
}

// botMetrics returns the values of the bot's metrics that have no labels, by their names without
// the prefix "elobot_".
func botMetrics(t *testing.T, text string) map[string]float64 {
	t.Helper()
	found := make(map[string]float64)
	for _, m := range regexp.MustCompile(`(?m)^elobot_(\w+) (\S+)$`).FindAllStringSubmatch(text, -1) {
		value, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		found[m[1]] = value
	}
	return found
}

// TestScrapesAreBounded checks that, while the stats cannot be read, some scrapes wait for a
// bounded time, and the others are refused at once.
func TestScrapesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := make(chan struct{})
		server := web.New(slog.New(slog.DiscardHandler))
		server.Metrics(func() outbox.Stats { <-away; return outbox.Stats{} }, server)
		var scrapes sync.WaitGroup
		var waited atomic.Int32
		scrape := func(want int) {
			begun, w := time.Now(), httptest.NewRecorder()
			server.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, web.MetricsPath, nil))
			took := time.Since(begun)
			if w.Code != want || took >= 10*time.Second {
				t.Errorf("after %v: %d", took, w.Code)
			}
			if took > 0 {
				waited.Add(1)
			}
		}
		for range 20 {
			scrapes.Go(func() { scrape(http.StatusServiceUnavailable) })
		}
		scrapes.Wait()
		if n := waited.Load(); n == 0 || n == 20 {
			t.Errorf("%d of 20 scrapes wait", n)
		}
		close(away)
		synctest.Wait()
		scrape(http.StatusOK)
	})
}
