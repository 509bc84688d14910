package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"elobot/internal/botsim"
)

// bridge is the network interface over which containers reach this machine.
const bridge = "docker0"

// telegram is the simulator, which listens only on the loopback interface, and a proxy to it for containers.
type telegram struct {
	*botsim.Server
	url   string
	proxy *http.Server
}

func startTelegram() (*telegram, error) {
	ip, err := bridgeAddress()
	if err != nil {
		return nil, fmt.Errorf("find an address that containers reach: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(ip.String(), "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for the bot: %w", err)
	}
	sim, err := botsim.New()
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	inside, err := url.Parse(sim.URL())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	t := &telegram{
		Server: sim,
		url:    "http://" + listener.Addr().String(),
		proxy:  &http.Server{Handler: httputil.NewSingleHostReverseProxy(inside), ReadHeaderTimeout: time.Minute},
	}
	// Serve returns when close is called. If it fails earlier, the bot's card does not come.
	go func() { _ = t.proxy.Serve(listener) }()
	return t, nil
}

// close stops the proxy and the simulator.
func (t *telegram) close() error {
	err := t.proxy.Close()
	t.Close()
	return err
}

func bridgeAddress() (net.IP, error) {
	link, err := net.InterfaceByName(bridge)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", bridge, err)
	}
	addresses, err := link.Addrs()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", bridge, err)
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.To4() != nil {
			return network.IP, nil
		}
	}
	return nil, errors.New(bridge + " has no IPv4 address")
}
