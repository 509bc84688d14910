package dbtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
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

// Proxy forwards the messages between clients and a server. It can count messages, hold them back,
// add notices, refuse sessions and close connections.
type Proxy struct {
	URL  string      // the database's URL through the proxy
	Away atomic.Bool // new connections are closed at once
	// Syncs counts the messages after which a client waits for an answer: Sync and simple queries.
	Syncs   atomic.Int64
	Held    atomic.Int64 // messages and ends of connections that Stall has held back
	Refused atomic.Int64 // sessions that were refused with an error

	target *pgx.ConnConfig
	mu     sync.Mutex
	watch  func(kind byte, body []byte) (cut bool)
	notice []byte        // encoded; nil for none
	codes  []string      // codes of the errors that refuse new sessions, in turn; empty for none
	flow   chan struct{} // closed while data flows
	conns  []net.Conn    // connections that Cut closes; some may be closed already
}

// NewProxy starts a proxy to the server of a database. The proxy stops when the test ends.
func NewProxy(t *testing.T, databaseURL string) *Proxy {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	Must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Must(t, err)
	address := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: listener.Addr().String(),
		Path: "/" + config.Database, RawQuery: "sslmode=disable",
	}
	p := &Proxy{URL: address.String(), target: config, flow: make(chan struct{})}
	close(p.flow)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			serving.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		p.Resume()
		p.Cut()
		serving.Wait()
	})
	return p
}

// OnMessage makes the proxy call watch for each message of a client, except the startup message,
// before the message is forwarded. If watch returns true, the connection is closed instead.
func (p *Proxy) OnMessage(watch func(kind byte, body []byte) (cut bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch = watch
}

// Add makes the proxy add the notice to the end of each answer of the server. A nil notice adds
// nothing.
func (p *Proxy) Add(t *testing.T, notice *pgproto3.NoticeResponse) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notice = nil
	if notice == nil {
		return
	}
	var err error
	if p.notice, err = notice.Encode(nil); err != nil {
		t.Fatal(err)
	}
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close() //nolint:errcheck // it may be closed already
	}
}

// Leave closes all connections and, until Away is reset, all new ones, like a crashed server.
func (p *Proxy) Leave() {
	p.Away.Store(true)
	p.Cut()
}

// Refuse closes all connections, and makes the proxy refuse new sessions with errors that have the
// given codes in turn. Without codes, the proxy accepts new sessions again.
func (p *Proxy) Refuse(codes ...string) {
	p.mu.Lock()
	p.codes = codes
	p.mu.Unlock()
	p.Cut()
}

// Stall holds back everything from now on, including the ends of connections, like a network that
// drops all packets.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flow = make(chan struct{})
}

// Resume forwards everything that was held back, and everything that follows.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flow:
	default:
		close(p.flow)
	}
}

// await waits while the proxy is stalled.
func (p *Proxy) await() {
	p.mu.Lock()
	flow := p.flow
	p.mu.Unlock()
	select {
	case <-flow:
	default:
		p.Held.Add(1)
		<-flow
	}
}

// keep records the connections of a session for Cut. It reports whether the session may begin.
func (p *Proxy) keep(client, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, client, server)
	return !p.Away.Load() && len(p.codes) == 0
}

// refuse refuses a session with an error, unless Refuse has set no codes. It reports whether it has
// refused the session.
func (p *Proxy) refuse(client net.Conn) bool {
	p.mu.Lock()
	codes := p.codes
	p.mu.Unlock()
	if len(codes) == 0 {
		return false
	}
	server := pgproto3.NewBackend(client, client)
	if _, err := server.ReceiveStartupMessage(); err == nil {
		n := p.Refused.Add(1)
		server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: codes[n%int64(len(codes))], Message: "no"})
		server.Flush() //nolint:errcheck // the client sees the end of the connection
	}
	return true
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close() //nolint:errcheck // the client may have closed it
	if p.refuse(client) || p.Away.Load() {
		return
	}
	network, address := "tcp", net.JoinHostPort(p.target.Host, strconv.Itoa(int(p.target.Port)))
	if strings.HasPrefix(p.target.Host, "/") {
		network, address = "unix", p.target.Host+"/.s.PGSQL."+strconv.Itoa(int(p.target.Port))
	}
	server, err := net.Dial(network, address)
	if err != nil {
		return // the client sees its connection closed
	}
	defer server.Close() //nolint:errcheck // as above
	if !p.keep(client, server) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		p.answer(server, client) //nolint:errcheck // ends with either connection
		p.await()
		client.Close() //nolint:errcheck // as above
	})
	p.forward(client, server) //nolint:errcheck // as above
	p.await()
	server.Close() //nolint:errcheck // as above
	back.Wait()
}

var errCut = errors.New("cut")

// forward forwards the messages of a client: first the startup message, which has no type, then all
// others.
func (p *Proxy) forward(client io.Reader, server io.Writer) error {
	for header := make([]byte, 4); ; header = make([]byte, 5) {
		if _, err := io.ReadFull(client, header); err != nil {
			return err
		}
		typed := len(header) - 4
		body := make([]byte, binary.BigEndian.Uint32(header[typed:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return err
		}
		if typed == 1 {
			if header[0] == 'S' || header[0] == 'Q' {
				p.Syncs.Add(1)
			}
			p.mu.Lock()
			watch := p.watch
			p.mu.Unlock()
			if watch != nil && watch(header[0], body) {
				return errCut
			}
		}
		p.await()
		if _, err := server.Write(append(header, body...)); err != nil {
			return err
		}
	}
}

// answer forwards the messages of the server, and adds the notice to the end of each answer.
func (p *Proxy) answer(server io.Reader, client io.Writer) error {
	for header := make([]byte, 5); ; {
		if _, err := io.ReadFull(server, header); err != nil {
			return err
		}
		message := make([]byte, binary.BigEndian.Uint32(header[1:])+1)
		if _, err := io.ReadFull(server, message[copy(message, header):]); err != nil {
			return err
		}
		if header[0] == 'Z' { // ReadyForQuery, the end of an answer
			p.mu.Lock()
			// The notice and the end go out in a single write, as they would from a server.
			message = append(bytes.Clone(p.notice), message...)
			p.mu.Unlock()
		}
		p.await()
		if _, err := client.Write(message); err != nil {
			return err
		}
	}
}

// ClosedPort returns a database URL with a local port on which nothing listens.
func ClosedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Must(t, err)
	defer listener.Close() //nolint:errcheck // the port is not used
	return "postgres://elobot:x@" + listener.Addr().String() + "/elobot?sslmode=disable"
}
