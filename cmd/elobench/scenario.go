package main

import (
	"context"
	"time"
)

// scenario is a set of measurements, each in its own file.
type scenario struct {
	name        string // also the first part of the names of its figures
	description string // short, for progress messages
	// run measures once. It leaves nothing running. With an error it also returns the available figures.
	run func(ctx context.Context, env *environment) ([]figure, error)
}

// scenarios returns all scenarios in the order in which they run.
func scenarios() []scenario {
	return []scenario{throughput(), baseline(), latency(), contention(), draining(), growth(), views(), memory(), start(), size()}
}

// figure is a measured value.
type figure struct {
	Name   string    `json:"name"` // scenario.name, the same in every run
	Value  float64   `json:"value"`
	Unit   string    `json:"unit"`
	Better direction `json:"better"`
	// Values are the values of all runs, in order. Value is their median.
	Values []float64 `json:"values,omitempty"`
}

// direction says whether a higher or a lower value is better.
type direction string

const (
	higher direction = "higher"
	lower  direction = "lower"
)

// sizes are the sizes of all measurements.
type sizes struct {
	groups, people int // people in each group, at least two
	results        int // results waiting at the start, more than groups
	clients        int // pgbench clients
	pgbench        seconds
	rate           int // results per second in latency
	latency        seconds
	contended      int // results of one group in contention, per number of instances
	// drained is the number of groups in draining, and answers the number of answers to each of them.
	drained, answers int
	bulk             []int         // matches in each database of growth, ascending
	rounds           int           // rounds of growth
	clubs            []int         // matches in each ladder of views, ascending
	viewed           int           // how often each view is measured
	chats            int           // active chats in memory
	waiting          int           // notices in memory, over all these chats
	steady           time.Duration // how long the memory is sampled
	starts           int
	image            bool // whether to build and measure the image
}

// seconds is a whole number of seconds, as pgbench requires.
type seconds int

var (
	fullSizes = sizes{
		groups: 200, people: 20, results: 20_000, clients: 32, pgbench: 20, rate: 50, latency: 60,
		contended: 3_000, drained: 200, answers: 10,
		bulk: []int{1e3, 1e5, 1e6}, rounds: 3, clubs: []int{1e3, 1e5, 1e6}, viewed: 500,
		chats: 10_000, waiting: 100_000, steady: 12 * time.Second, starts: 10, image: true,
	}
	shortSizes = sizes{
		groups: 40, people: 20, results: 3_000, clients: 32, pgbench: 5, rate: 50, latency: 5,
		contended: 500, drained: 30, answers: 10,
		bulk: []int{1e3, 1e4}, rounds: 1, clubs: []int{1e3, 1e4}, viewed: 100,
		chats: 1_000, waiting: 10_000, steady: 3 * time.Second, starts: 5,
	}
	// hugeBulk takes up to an hour and 20 GB.
	hugeBulk = []int{1e7}
)
