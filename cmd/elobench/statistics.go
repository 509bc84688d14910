package main

import (
	"math"
	"slices"
	"time"
)

// percentile returns the smallest value that at least p percent of the values do not exceed. values must not be empty, and p
// must be from 0 to 100.
func percentile(values []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// median returns the middle value, or the mean of the two middle values. values must not be empty.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// perSecond returns the rate of n events in the given time.
func perSecond(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }

// megabytes converts bytes to MB.
func megabytes(bytes float64) float64 { return bytes / 1e6 }

// milliseconds converts a duration to milliseconds.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
