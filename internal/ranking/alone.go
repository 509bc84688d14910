package ranking

// IsAlone reports whether a notice is always a message of its own, because it has buttons or needs more than a line. Such a
// notice has a method Alone that returns true. All others are merged with what waits in the same chat.
func IsAlone(n Notice) bool {
	a, ok := n.(interface{ Alone() bool })
	return ok && a.Alone()
}
