//go:build !soak

package main

// chosenScenarios are enough to see that bots are built, launched, measured, verified and profiled. All take too long for
// every run of the tests.
func chosenScenarios() []scenario { return []scenario{throughput(), draining(), start()} }
