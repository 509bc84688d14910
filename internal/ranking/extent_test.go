//go:build !soak

package ranking_test

// How much the tests do that could do more and more.
const (
	moveRounds   = 4 // one for each of what may be known of the two chats
	laterMatches = 500
)
