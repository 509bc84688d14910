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

// Encryption says who can read what a connection carries.
type Encryption struct {
	TLS string // the version, or "" without TLS
	// Exposed means that the connection is not encrypted and leaves both this machine and the networks of its containers.
	Exposed bool
}

// encryptionOf examines a connection as it is, because the URL does not say whether the server has TLS.
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
// does so unless there is an sslmode, and unlike others also after a host has answered with TLS
// that it is a standby.
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

// shared are the addresses that some clusters give their containers, beside the private ones.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// staysInside is true if a connection stays on this machine or in a private network of containers. A private address alone is not
// sufficient: most networks of offices and homes have them too. So the hosts must have names that are given inside such a network only.
func staysInside(hosts []string, local, remote netip.Addr) bool {
	if remote.IsLoopback() || remote == local {
		return true
	}
	outside := func(host string) bool { return !isContainerName(host) }
	return (remote.IsPrivate() || shared.Contains(remote)) && !slices.ContainsFunc(hosts, outside)
}

// isContainerName is true if a host has the name of a container, of a service of Kubernetes, or of the machine around the container.
func isContainerName(host string) bool {
	return !strings.ContainsAny(host, ".:") || strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".svc.cluster.local") ||
		host == "host.docker.internal" || host == "host.containers.internal"
}
