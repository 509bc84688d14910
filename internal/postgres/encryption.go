package postgres

import (
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Encryption tells whether a connection is encrypted, and whether others may read its traffic.
type Encryption struct {
	TLS string // the version of TLS; empty without TLS
	// Exposed means that the connection is not encrypted and does not seem to stay on this machine
	// or in a network of containers.
	Exposed bool
}

// encryptionOf returns the encryption of an open connection. It does not rely on the URL, which may
// leave the choice of TLS to the server.
func encryptionOf(conn *pgx.Conn) Encryption {
	connection := conn.PgConn().Conn()
	if encrypted, ok := connection.(*tls.Conn); ok {
		return Encryption{TLS: tls.VersionName(encrypted.ConnectionState().Version)}
	}
	remote, ok := connection.RemoteAddr().(*net.TCPAddr)
	if !ok { // a Unix socket, so the connection stays on this machine
		return Encryption{}
	}
	local := ipOf(connection.LocalAddr())
	config := conn.Config()
	hosts := []string{config.Host}
	for _, other := range config.Fallbacks {
		hosts = append(hosts, other.Host)
	}
	return Encryption{Exposed: !staysInside(hosts, local, ipOf(remote))}
}

// AsksTwice reports whether connections try several hosts, and the first of them both with and
// without TLS. pgx does so unless sslmode rules out one of the two, or the host is a socket. Unlike
// other clients, pgx tries a host again without TLS even if the host has answered over TLS that it
// is a standby.
func AsksTwice(config *pgx.ConnConfig) bool {
	first := func(f *pgconn.FallbackConfig) bool { return f.Host == config.Host && f.Port == config.Port }
	other := func(f *pgconn.FallbackConfig) bool { return !first(f) }
	return slices.ContainsFunc(config.Fallbacks, first) && slices.ContainsFunc(config.Fallbacks, other)
}

func ipOf(address net.Addr) netip.Addr {
	if tcp, ok := address.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// shared is the shared address space of RFC 6598. Some clusters use it for their containers, in
// addition to private addresses.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// staysInside reports whether a connection seems to stay on this machine or in a private network of
// containers. A private address alone is not sufficient, because office and home networks use
// private addresses too. So all host names must also look like names that exist only inside a
// network of containers.
func staysInside(hosts []string, local, remote netip.Addr) bool {
	if remote.IsLoopback() || remote == local {
		return true
	}
	outside := func(host string) bool { return !isContainerName(host) }
	return (remote.IsPrivate() || shared.Contains(remote)) && !slices.ContainsFunc(hosts, outside)
}

// isContainerName reports whether a host name looks like the name of a container, a Kubernetes
// service, or the machine that runs the containers.
func isContainerName(host string) bool {
	return !strings.ContainsAny(host, ".:") || strings.HasSuffix(host, ".svc") ||
		strings.HasSuffix(host, ".svc.cluster.local") ||
		host == "host.docker.internal" || host == "host.containers.internal"
}
