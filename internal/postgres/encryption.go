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

// Encryption describes who can read the traffic of a connection.
type Encryption struct {
	TLS string // the version, or "" without TLS
	// Exposed means that the connection is not encrypted and leaves both this machine and the
	// networks of its containers.
	Exposed bool
}

// encryptionOf examines an open connection, because the URL does not tell whether the
// server has TLS.
func encryptionOf(conn *pgx.Conn) Encryption {
	connection := conn.PgConn().Conn()
	if encrypted, ok := connection.(*tls.Conn); ok {
		return Encryption{TLS: tls.VersionName(encrypted.ConnectionState().Version)}
	}
	remote, ok := connection.RemoteAddr().(*net.TCPAddr)
	if !ok { // a socket of this machine
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

// AsksTwice reports whether each connection tries several hosts, each with and without TLS. pgx
// does so unless there is an sslmode. Unlike other clients it tries again without TLS even after a
// host has answered with TLS that it is a standby.
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

// shared are the addresses that some clusters give their containers, in addition to
// the private ones.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// staysInside reports whether a connection stays on this machine or in a private network of
// containers. A private address alone is not sufficient: most office and home networks have them
// too. So the hosts must have names that exist only inside such a network.
func staysInside(hosts []string, local, remote netip.Addr) bool {
	if remote.IsLoopback() || remote == local {
		return true
	}
	outside := func(host string) bool { return !isContainerName(host) }
	return (remote.IsPrivate() || shared.Contains(remote)) && !slices.ContainsFunc(hosts, outside)
}

// isContainerName reports whether a host has the name of a container, of a Kubernetes service, or
// of the machine around the container.
func isContainerName(host string) bool {
	return !strings.ContainsAny(host, ".:") || strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".svc.cluster.local") ||
		host == "host.docker.internal" || host == "host.containers.internal"
}
