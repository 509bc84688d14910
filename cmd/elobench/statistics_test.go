package main

import (
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	t.Parallel()
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[len(hundred)-1-i] = time.Duration(i + 1) // not in order
	}
	for _, tc := range []struct {
		values []time.Duration
		p      float64
		want   time.Duration
	}{
		{hundred, 0, 1},
		{hundred, 50, 50},
		{hundred, 95, 95},
		{hundred, 99, 99},
		{hundred, 99.5, 100},
		{hundred, 100, 100},
		{[]time.Duration{7}, 50, 7},
		{[]time.Duration{7}, 99, 7},
		{[]time.Duration{3, 1, 2}, 50, 2},
		{[]time.Duration{4, 1, 3, 2}, 50, 2},
		{[]time.Duration{4, 1, 3, 2}, 51, 3},
	} {
		if got := percentile(tc.values, tc.p); got != tc.want {
			t.Errorf("p%g of %d values = %d, want %d", tc.p, len(tc.values), got, tc.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("percentile changed the order of the values")
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{3, 1}, 2},
		{[]float64{9, 1, 2}, 2},
		{[]float64{9, 1, 2, 4}, 3},
	} {
		if got := median(tc.values); got != tc.want {
			t.Errorf("median of %v = %v, want %v", tc.values, got, tc.want)
		}
	}
}

func TestPerSecond(t *testing.T) {
	t.Parallel()
	if got := perSecond(3000, 1500*time.Millisecond); got != 2000 {
		t.Errorf("3000 in 1.5 s = %v per second", got)
	}
	if got := milliseconds(2500 * time.Microsecond); got != 2.5 {
		t.Errorf("2500 µs = %v ms", got)
	}
}
