package pgtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// pooler gives each transaction of its clients the server session that has been idle the longest, as PgBouncer does with
// pool_mode=transaction and server_round_robin=1. If a client disconnects during a transaction, its session is lost.
type pooler struct {
	greeting []byte        // the first bytes that a client receives
	idle     chan net.Conn // server sessions without a transaction
	done     chan struct{} // closed at the end of the test

	mu   sync.Mutex
	open []net.Conn // all connections ever opened
}

// TransactionPooler starts a pooler in transaction mode in front of a database, with the given number of server sessions,
// and returns its URL. It requires no password and stops when the test ends.
func TransactionPooler(tb testing.TB, databaseURL string, sessions int) string {
	tb.Helper()
	p := &pooler{idle: make(chan net.Conn, sessions), done: make(chan struct{})}
	for range sessions {
		if err := p.connect(databaseURL); err != nil {
			tb.Fatalf("start a pooler: %v", err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("start a pooler: %v", err)
	}
	address, err := url.Parse(databaseURL)
	if err != nil {
		tb.Fatalf("start a pooler: %v", err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			p.keep(client)
			serving.Go(func() {
				defer client.Close() //nolint:errcheck // the client may have closed it
				p.serve(client)      //nolint:errcheck // the client sees the end of the connection
			})
		}
	})
	tb.Cleanup(func() {
		if err := listener.Close(); err != nil {
			tb.Errorf("stop the pooler: %v", err)
		}
		close(p.done)
		p.mu.Lock()
		for _, conn := range p.open {
			conn.Close() //nolint:errcheck // it may be closed already
		}
		p.mu.Unlock()
		serving.Wait()
	})
	address.Host, address.RawQuery = listener.Addr().String(), "sslmode=disable"
	return address.String()
}

func (p *pooler) keep(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, conn)
}

// connect adds a server session. Like PgBouncer's, the greeting for clients contains a made-up process id.
func (p *pooler) connect(databaseURL string) error {
	conn, err := pgconn.Connect(context.Background(), databaseURL)
	if err != nil {
		return err
	}
	session, err := conn.Hijack()
	if err != nil {
		return err
	}
	p.keep(session.Conn)
	p.idle <- session.Conn
	greeting := []pgproto3.BackendMessage{&pgproto3.AuthenticationOk{}}
	for name, value := range session.ParameterStatuses {
		greeting = append(greeting, &pgproto3.ParameterStatus{Name: name, Value: value})
	}
	greeting = append(greeting, &pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte("none")},
		&pgproto3.ReadyForQuery{TxStatus: 'I'})
	p.greeting = nil
	for _, message := range greeting {
		if p.greeting, err = message.Encode(p.greeting); err != nil {
			return err
		}
	}
	return nil
}

// serve serves a client until its connection ends.
func (p *pooler) serve(client net.Conn) error {
	if _, err := pgproto3.NewBackend(client, client).ReceiveStartupMessage(); err != nil {
		return err
	}
	if _, err := client.Write(p.greeting); err != nil {
		return err
	}
	var session net.Conn // the session of the transaction, nil between transactions
	for {
		request, _, err := readUntil(client, 'Q', 'S') // a simple query, or messages up to a Sync
		if err != nil {
			return err
		}
		if session == nil {
			select {
			case session = <-p.idle:
			case <-p.done:
				return nil
			}
		}
		if _, err := session.Write(request); err != nil {
			return err
		}
		answer, status, err := readUntil(session, 'Z')
		if err != nil {
			return err
		}
		if string(status) == "I" {
			p.idle <- session
			session = nil
		}
		if _, err := client.Write(answer); err != nil {
			return err
		}
	}
}

// readUntil reads messages up to one of the given kinds. It returns all messages and the body of the last one.
func readUntil(from io.Reader, kinds ...byte) (messages, body []byte, err error) {
	for {
		header := make([]byte, 5)
		if _, err := io.ReadFull(from, header); err != nil {
			return nil, nil, err
		}
		body := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return nil, nil, err
		}
		messages = append(append(messages, header...), body...)
		if bytes.IndexByte(kinds, header[0]) >= 0 {
			return messages, body, nil
		}
	}
}
