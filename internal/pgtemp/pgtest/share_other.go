//go:build !linux

package pgtest

import "context"

// share starts a server for this process alone. Only Linux has socket names that the kernel frees when their owner dies.
func share(log func(msg string)) (server, error) {
	url, err := startServer(context.Background(), log)
	return server{url: url}, err
}
