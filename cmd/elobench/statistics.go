package main

import (
	"math"
	"slices"
	"time"
)

// percentile returns the smallest of the values that p percent of them do not exceed. There must be one, and p must be
// from 0 to 100.
func percentile(values []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// median returns the value in the middle, or what lies between the two in the middle. There must be one.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// perSecond returns how many of n there are in a second.
func perSecond(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }

// megabytes returns a number of bytes as a figure has it.
func megabytes(bytes float64) float64 { return bytes / 1e6 }

// milliseconds returns a time as a figure has it.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
