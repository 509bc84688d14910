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

// telegram is the simulator, which listens on the loopback interface alone, and a door to it for containers.
type telegram struct {
	*botsim.Server
	url  string
	door *http.Server
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
		door:   &http.Server{Handler: httputil.NewSingleHostReverseProxy(inside), ReadHeaderTimeout: time.Minute},
	}
	// Serve returns when close is called; should it ever return before, then the bot's card does not come.
	go func() { _ = t.door.Serve(listener) }()
	return t, nil
}

// close cuts the bot off.
func (t *telegram) close() error {
	err := t.door.Close()
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
