package pgtest

import (
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
	greeting []byte                    // the first bytes that a client receives
	idle     chan *pgconn.HijackedConn // server sessions without a transaction
	done     chan struct{}             // closed at the end of the test

	mu   sync.Mutex
	open []net.Conn // all connections ever opened
}

// TransactionPooler starts a pooler in transaction mode in front of a database, with the given number of server sessions,
// and returns its URL. It requires no password and stops when the test ends.
func TransactionPooler(tb testing.TB, databaseURL string, sessions int) string {
	tb.Helper()
	p := &pooler{idle: make(chan *pgconn.HijackedConn, sessions), done: make(chan struct{})}
	for range sessions {
		session, err := p.connect(databaseURL)
		if err == nil {
			p.greeting, err = greeting(session.ParameterStatuses)
		}
		if err != nil {
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

// connect adds a server session.
func (p *pooler) connect(databaseURL string) (*pgconn.HijackedConn, error) {
	conn, err := pgconn.Connect(context.Background(), databaseURL)
	if err != nil {
		return nil, err
	}
	session, err := conn.Hijack()
	if err != nil {
		return nil, err
	}
	p.keep(session.Conn)
	p.idle <- session
	return session, nil
}

// greeting returns what a client receives first. Like PgBouncer's, it contains a made-up process id.
func greeting(parameters map[string]string) (encoded []byte, err error) {
	messages := []pgproto3.BackendMessage{&pgproto3.AuthenticationOk{}}
	for name, value := range parameters {
		messages = append(messages, &pgproto3.ParameterStatus{Name: name, Value: value})
	}
	messages = append(messages, &pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte("none")},
		&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for _, message := range messages {
		if encoded, err = message.Encode(encoded); err != nil {
			return nil, err
		}
	}
	return encoded, nil
}

// serve serves a client until its connection ends.
func (p *pooler) serve(client net.Conn) error {
	if _, err := pgproto3.NewBackend(client, client).ReceiveStartupMessage(); err != nil {
		return err
	}
	if _, err := client.Write(p.greeting); err != nil {
		return err
	}
	var session *pgconn.HijackedConn // the session of the transaction, nil between transactions
	for {
		request, err := readRequest(client)
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
		if _, err := session.Conn.Write(request); err != nil {
			return err
		}
		answer, status, err := readAnswer(session.Frontend)
		if err != nil {
			return err
		}
		if status == 'I' {
			p.idle <- session
			session = nil
		}
		if _, err := client.Write(answer); err != nil {
			return err
		}
	}
}

// readRequest reads messages up to a simple query or a Sync.
func readRequest(client io.Reader) (messages []byte, err error) {
	for {
		header := make([]byte, 5)
		if _, err := io.ReadFull(client, header); err != nil {
			return nil, err
		}
		body := make([]byte, binary.BigEndian.Uint32(header[1:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return nil, err
		}
		messages = append(append(messages, header...), body...)
		if header[0] == 'Q' || header[0] == 'S' {
			return messages, nil
		}
	}
}

// readAnswer reads messages up to the one that says whether the session is in a transaction. It reads from the frontend and
// not from its connection, because the frontend may already be reading there in the background.
func readAnswer(server *pgproto3.Frontend) (messages []byte, status byte, err error) {
	for {
		message, err := server.Receive()
		if err != nil {
			return nil, 0, err
		}
		if messages, err = message.Encode(messages); err != nil {
			return nil, 0, err
		}
		if ready, ok := message.(*pgproto3.ReadyForQuery); ok {
			return messages, ready.TxStatus, nil
		}
	}
}
