package main

import (
	"context"
	"time"
)

// scenario is something that is measured, each in a file of its own.
type scenario struct {
	name        string // also the first word of the names of its figures
	description string // in a few words, for whoever watches
	// run measures once. It leaves nothing running, and returns with an error whatever it has found nevertheless.
	run func(ctx context.Context, env *environment) ([]figure, error)
}

// scenarios are all that there is, in the order in which they run.
func scenarios() []scenario {
	return []scenario{throughput(), baseline(), latency(), contention(), draining(), growth(), memory(), start(), size()}
}

// figure is a number that was measured.
type figure struct {
	Name   string    `json:"name"` // scenario.what, the same in every run
	Value  float64   `json:"value"`
	Unit   string    `json:"unit"`
	Better direction `json:"better"`
	// Values are those of all runs, in their order; Value is their median.
	Values []float64 `json:"values,omitempty"`
}

// direction says which of two values is the better one.
type direction string

const (
	higher direction = "higher"
	lower  direction = "lower"
)

// sizes are how much is measured.
type sizes struct {
	groups, people int // people in each group, at least two
	results        int // that wait at the beginning, more than there are groups
	clients        int // of pgbench
	pgbench        seconds
	rate           int // results a second where latency is measured
	latency        seconds
	contended      int // results of one group, for each number of instances
	// answers go to each of the groups that are drained.
	drained, answers int
	bulk             []int         // matches in each of the databases where growth is measured, ascending
	rounds           int           // through these databases
	chats            int           // that the bot has had to do with when its memory is measured
	waiting          int           // notices, some in each of these chats, when it is measured again
	steady           time.Duration // for which the memory is watched
	starts           int
	image            bool // is built, to be weighed
}

// seconds are a whole number of seconds, as pgbench wants them.
type seconds int

var (
	fullSizes = sizes{
		groups: 200, people: 20, results: 20_000, clients: 32, pgbench: 20, rate: 50, latency: 60,
		contended: 3_000, drained: 200, answers: 10,
		bulk: []int{1e3, 1e5, 1e6}, rounds: 3,
		chats: 10_000, waiting: 100_000, steady: 12 * time.Second, starts: 10, image: true,
	}
	shortSizes = sizes{
		groups: 40, people: 20, results: 3_000, clients: 32, pgbench: 5, rate: 50, latency: 5,
		contended: 500, drained: 30, answers: 10,
		bulk: []int{1e3, 1e4}, rounds: 1,
		chats: 1_000, waiting: 10_000, steady: 3 * time.Second, starts: 5,
	}
	// hugeBulk takes up to an hour and 20 GB.
	hugeBulk = []int{1e7}
)
