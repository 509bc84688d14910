//go:build soak

package main

func chosenScenarios() []scenario { return scenarios() }
