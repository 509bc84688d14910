//go:build race

package bot

// underRace reports whether the race detector is on, under which everything takes several times as
// long.
const underRace = true
