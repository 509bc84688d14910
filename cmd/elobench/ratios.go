package main

import "slices"

// ratio is the ratio or difference of two figures of one run.
type ratio struct {
	name   string
	of, to string // names of figures
	better direction
	// over means the difference of the two figures, in their unit, in place of the quotient.
	over bool
}

// comparisons are the ratios that are meaningful on any machine.
var comparisons = []ratio{
	{name: "ratio.recorded", of: "throughput.recorded", to: "baseline.pgbench", better: higher},
	{name: "ratio.delivered", of: "throughput.delivered", to: "baseline.pgbench", better: higher},
	{name: "ratio.webhook.recorded", of: "throughput.webhook.recorded", to: "baseline.pgbench", better: higher},
	{name: "ratio.webhook.delivered", of: "throughput.webhook.delivered", to: "baseline.pgbench", better: higher},
	{name: "ratio.delivered_to_echo", of: "throughput.delivered", to: "baseline.echo", better: higher},
	{name: "ratio.p50", of: "latency.p50", to: "latency.echo.p50", better: lower},
	{name: "ratio.p50_to_durable_echo", of: "latency.p50", to: "latency.durable_echo.p50", better: lower},
	{name: "ratio.p99_over", of: "latency.p99", to: "latency.echo.p99", better: lower, over: true},
	{name: "ratio.contention", of: "contention.three", to: "contention.one", better: higher},
	{name: "ratio.draining", of: "draining.time", to: "draining.least", better: lower},
}

// ratios returns the comparisons of one run for which both figures exist.
func ratios(figures []figure) []figure {
	var found []figure
	for _, r := range comparisons {
		of, haveOf := find(figures, r.of)
		to, haveTo := find(figures, r.to)
		switch {
		case !haveOf || !haveTo:
		case r.over:
			found = append(found, figure{Name: r.name, Value: of.Value - to.Value, Unit: of.Unit, Better: r.better})
		case to.Value != 0:
			found = append(found, figure{Name: r.name, Value: of.Value / to.Value, Unit: "×", Better: r.better})
		}
	}
	return append(found, growthRatios(figures)...)
}

// find returns the figure with that name.
func find(figures []figure, name string) (figure, bool) {
	i := slices.IndexFunc(figures, func(f figure) bool { return f.Name == name })
	if i < 0 {
		return figure{}, false
	}
	return figures[i], true
}
