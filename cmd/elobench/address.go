package main

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// freeAddress returns an unused address of this machine. Another process may take it at any time.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return "", errors.Join(fmt.Errorf("release the port %s", address), err)
	}
	return address, nil
}
