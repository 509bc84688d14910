//go:build !soak

package ranking_test

// These are the sizes of tests that do more with the soak tag.
const (
	moveRounds   = 4 // once for each combination of known and unknown chats
	laterMatches = 500
)
