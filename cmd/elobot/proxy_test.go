package main_test

import (
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// proxy stands between the bot and its database. While it is stalled it forwards nothing but keeps all connections open, like a network
// that drops all packets.
type proxy struct {
	url     string
	network string
	address string
	held    atomic.Int64 // number of chunks that had to wait
	away    atomic.Bool  // new connections are closed at once
	joined  atomic.Int64 // number of accepted connections
	refused atomic.Int64 // number of sessions that were refused with an error

	mu    sync.Mutex
	codes []string      // of the errors with which new sessions are refused, in turn; none: they begin
	flow  chan struct{} // closed while data flows
	conns []net.Conn
}

func newProxy(t *testing.T, databaseURL string) *proxy {
	t.Helper()
	target, err := pgx.ParseConfig(databaseURL)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	through := url.URL{
		Scheme: "postgres", User: url.UserPassword(target.User, target.Password), Host: listener.Addr().String(),
		Path: "/" + target.Database, RawQuery: "sslmode=disable",
	}
	port := strconv.Itoa(int(target.Port))
	p := &proxy{url: through.String(), network: "tcp", address: net.JoinHostPort(target.Host, port), flow: make(chan struct{})}
	if strings.HasPrefix(target.Host, "/") {
		p.network, p.address = "unix", target.Host+"/.s.PGSQL."+port
	}
	close(p.flow)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			p.joined.Add(1)
			serving.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		p.resume()
		p.mu.Lock()
		for _, c := range p.conns {
			c.Close() //nolint:errcheck // it may be closed already
		}
		p.mu.Unlock()
		serving.Wait()
	})
	return p
}

// stall holds back everything from now on, including the ends of connections.
func (p *proxy) stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flow = make(chan struct{})
}

// resume forwards everything that was held back, and everything that follows.
func (p *proxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flow:
	default:
		close(p.flow)
	}
}

// leave closes all connections and accepts no others, like a crashed server.
func (p *proxy) leave() {
	p.away.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close() //nolint:errcheck // it may be closed already
	}
}

// refuse closes all connections, and refuses new sessions with errors of these codes; without
// codes, it accepts them again.
func (p *proxy) refuse(codes ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes = codes
	for _, c := range p.conns {
		c.Close() //nolint:errcheck // it may be closed already
	}
}

// refuses reports whether a session was refused.
func (p *proxy) refuses(client net.Conn) bool {
	p.mu.Lock()
	codes := p.codes
	p.mu.Unlock()
	if len(codes) == 0 {
		return false
	}
	defer client.Close() //nolint:errcheck // the client may have closed it
	server := pgproto3.NewBackend(client, client)
	if _, err := server.ReceiveStartupMessage(); err == nil {
		n := p.refused.Add(1)
		server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: codes[n%int64(len(codes))], Message: "no"})
		server.Flush() //nolint:errcheck // the client sees the end of the connection
	}
	return true
}

func (p *proxy) serve(client net.Conn) {
	if p.refuses(client) {
		return
	}
	if p.away.Load() {
		client.Close() //nolint:errcheck // the client sees its connection closed
		return
	}
	server, err := net.Dial(p.network, p.address)
	if err != nil {
		client.Close() //nolint:errcheck // the client sees its connection closed
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, client, server)
	if p.away.Load() { // set since the last check
		client.Close() //nolint:errcheck // the client sees its connection closed
		server.Close() //nolint:errcheck // likewise
	}
	p.mu.Unlock()
	var back sync.WaitGroup
	back.Go(func() { p.pass(client, server) })
	p.pass(server, client)
	back.Wait()
}

// pass forwards in one direction until either connection ends, and then closes both.
func (p *proxy) pass(to, from net.Conn) {
	piece := make([]byte, 32<<10)
	for {
		n, readErr := from.Read(piece)
		p.await()
		_, writeErr := to.Write(piece[:n])
		if readErr != nil || writeErr != nil {
			to.Close()   //nolint:errcheck // it may be closed already
			from.Close() //nolint:errcheck // as above
			return
		}
	}
}

func (p *proxy) await() {
	p.mu.Lock()
	flow := p.flow
	p.mu.Unlock()
	select {
	case <-flow:
	default:
		p.held.Add(1)
		<-flow
	}
}
