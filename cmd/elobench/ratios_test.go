package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRatios(t *testing.T) {
	t.Parallel()
	got := ratios([]figure{
		{Name: "throughput.recorded", Value: 1500, Unit: "results/s", Better: higher},
		{Name: "throughput.delivered", Value: 0, Unit: "results/s", Better: higher},
		{Name: "baseline.pgbench", Value: 2000, Unit: "transactions/s", Better: higher},
		{Name: "baseline.echo", Value: 0, Unit: "messages/s", Better: higher}, // no ratio to zero
		{Name: "latency.p50", Value: 1.5, Unit: "ms", Better: lower},
		{Name: "latency.echo.p50", Value: 0.5, Unit: "ms", Better: lower},
		{Name: "latency.durable_echo.p50", Value: 1, Unit: "ms", Better: lower},
		{Name: "latency.p99", Value: 4, Unit: "ms", Better: lower},
		{Name: "latency.echo.p99", Value: 1.5, Unit: "ms", Better: lower},
		{Name: "contention.one", Value: 500, Unit: "results/s", Better: higher},
		{Name: "contention.three", Value: 400, Unit: "results/s", Better: higher},
		{Name: "draining.time", Value: 82.5, Unit: "s", Better: lower},
		{Name: "draining.least", Value: 66, Unit: "s", Better: lower},
	})
	want := []figure{
		{Name: "ratio.recorded", Value: 0.75, Unit: "×", Better: higher},
		{Name: "ratio.delivered", Value: 0, Unit: "×", Better: higher},
		{Name: "ratio.p50", Value: 3, Unit: "×", Better: lower},
		{Name: "ratio.p50_to_durable_echo", Value: 1.5, Unit: "×", Better: lower},
		{Name: "ratio.p99_over", Value: 2.5, Unit: "ms", Better: lower},
		{Name: "ratio.contention", Value: 0.8, Unit: "×", Better: higher},
		{Name: "ratio.draining", Value: 1.25, Unit: "×", Better: lower},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
