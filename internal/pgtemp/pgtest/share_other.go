//go:build !linux

package pgtest

import "context"

// share starts a server for this process alone: a name that the kernel frees when its owner dies is what other systems
// lack.
func share(log func(msg string)) (server, error) {
	url, err := startServer(context.Background(), log)
	return server{url: url}, err
}
