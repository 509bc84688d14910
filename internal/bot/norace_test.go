//go:build !race

package bot

const underRace = false
