package pgtest

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// TransactionPooler starts a pooler in front of a database and returns its URL. It requires no password and stops when the test ends.
//
// It gives each transaction of its clients the server session that has been idle the longest, as PgBouncer does with
// pool_mode=transaction and server_round_robin=1. If a client disconnects during a transaction, its session is lost.
func TransactionPooler(tb testing.TB, databaseURL string, sessions int) string {
	tb.Helper()
	idle := make(chan *pgconn.HijackedConn, sessions) // server sessions without a transaction
	var serving sync.WaitGroup
	tb.Cleanup(serving.Wait)
	for range sessions {
		conn, err := pgconn.Connect(tb.Context(), databaseURL)
		if err != nil {
			tb.Fatalf("start a pooler: %v", err)
		}
		session, err := conn.Hijack()
		if err != nil {
			tb.Fatalf("start a pooler: %v", err)
		}
		tb.Cleanup(func() { session.Conn.Close() }) //nolint:errcheck // it may be closed already
		idle <- session
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("start a pooler: %v", err)
	}
	address, err := url.Parse(databaseURL)
	if err != nil {
		tb.Fatalf("start a pooler: %v", err)
	}
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			context.AfterFunc(tb.Context(), func() { client.Close() }) //nolint:errcheck // it may be closed already
			serving.Go(func() {
				defer client.Close()                        //nolint:errcheck // the client may have closed it
				_ = servePooled(tb.Context(), client, idle) // the client sees the end of the connection
			})
		}
	})
	tb.Cleanup(func() {
		if err := listener.Close(); err != nil {
			tb.Errorf("stop the pooler: %v", err)
		}
	})
	address.Host, address.RawQuery = listener.Addr().String(), "sslmode=disable"
	return address.String()
}

// servePooled serves a client until its connection ends.
func servePooled(ctx context.Context, conn net.Conn, idle chan *pgconn.HijackedConn) error {
	client := pgproto3.NewBackend(conn, conn)
	if _, err := client.ReceiveStartupMessage(); err != nil {
		return err
	}
	// Like PgBouncer's, the greeting contains a made-up process id.
	client.Send(&pgproto3.AuthenticationOk{})
	client.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
	client.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
	client.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte("none")})
	client.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	var session *pgconn.HijackedConn // the session of the transaction, nil between transactions
	for {
		if err := client.Flush(); err != nil {
			return err
		}
		request, err := client.Receive()
		if err != nil {
			return err
		}
		if _, ends := request.(*pgproto3.Terminate); ends {
			return nil
		}
		if session == nil {
			select {
			case session = <-idle:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		status, err := pass(request, client, session.Frontend)
		if err != nil {
			return err
		}
		if status == 'I' {
			idle <- session
			session = nil
		}
	}
}

// pass passes a client's messages up to a simple query or a Sync to the server, and all answers to the client. It returns whether the
// session is in a transaction.
func pass(request pgproto3.FrontendMessage, client *pgproto3.Backend, server *pgproto3.Frontend) (status byte, err error) {
	for last := false; !last; {
		server.Send(request)
		switch request.(type) {
		case *pgproto3.Query, *pgproto3.Sync:
			last = true
		default:
			if request, err = client.Receive(); err != nil {
				return 0, err
			}
		}
	}
	if err := server.Flush(); err != nil {
		return 0, err
	}
	for {
		answer, err := server.Receive()
		if err != nil {
			return 0, err
		}
		client.Send(answer)
		if ready, ok := answer.(*pgproto3.ReadyForQuery); ok {
			return ready.TxStatus, nil
		}
	}
}
