//go:build !linux

package pgtest

// share starts a server for this process alone. Only Linux has socket names that the kernel frees
// when their owner dies.
func share() (string, error) {
	url, _, err := startServer()
	return url, err
}
