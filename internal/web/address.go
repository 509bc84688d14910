package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of trusted proxies, whose X-Forwarded-For headers count.
type Proxies []netip.Prefix

// ReadProxies parses addresses and networks separated by commas. An empty text stands for none.
func ReadProxies(text string) (all Proxies, err error) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" && text == "" {
			break
		}
		network, err := netip.ParsePrefix(part)
		if address, bad := netip.ParseAddr(part); bad == nil {
			network, err = address.Prefix(address.BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("read a network: %w", err)
		}
		all = append(all, network)
	}
	return all, nil
}

func (p Proxies) trust(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(a) })
}

// client returns the address that a request comes from. Starting at the peer, client goes back one
// hop at a time, as long as the current hop is a trusted proxy and the hop before can be read. If
// not even the peer's address can be read, client returns the zero address. For IPv6 it returns the
// first address of the /56 network, because one household may have the whole network.
func (p Proxies) client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := peer.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trust(at); i-- {
		before, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		at = before.Unmap()
	}
	if network, err := at.Prefix(56); at.Is6() && err == nil {
		return network.Addr()
	}
	return at.WithZone("")
}
