//go:build race

package bot

// underRace reports whether the race detector is on, which makes everything several times slower.
const underRace = true
