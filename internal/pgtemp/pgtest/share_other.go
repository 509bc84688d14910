//go:build !linux

package pgtest

// share starts a server for this process alone. Sharing a server requires abstract socket names,
// which only Linux has.
func share() (string, error) {
	url, _, err := startServer()
	return url, err
}
