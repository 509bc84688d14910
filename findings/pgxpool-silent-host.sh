#!/bin/sh
# github.com/jackc/pgx/v5 v5.12.0: a statement that is given up because its server falls silent keeps its place in the
# pool for 15 seconds more. pgconn closes such a session in the background: it sends a request to cancel the statement
# over a second connection, waits for its end, and then reads what the first one still sends, 15 seconds in all. pgxpool
# counts the session until that is over (CleanupDone). With as many sessions in use as the pool has places, a process
# that has found a server that answers cannot begin a session there for that long.
#
# Seen: with pool_max_conns=1 and a statement given up after 0.1 s, the next session of the pool begins after 15.0 s.
#
# What helps: a DialFunc whose connections cap SetDeadline, and that limits the connection of the cancel request.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >go.mod <<'MOD'
module finding

go 1.26
MOD
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
)

// serve lets a session begin, and is silent after that. It never answers a request to cancel a statement.
func serve(conn net.Conn) {
	server := pgproto3.NewBackend(conn, conn)
	message, err := server.ReceiveStartupMessage()
	if _, ok := message.(*pgproto3.StartupMessage); err != nil || !ok {
		return
	}
	server.Send(&pgproto3.AuthenticationOk{})
	server.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{1, 2, 3, 4}})
	server.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	_ = server.Flush()
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	var open []net.Conn // kept from being closed
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open = append(open, conn)
			go serve(conn)
		}
	}()
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://u@"+listener.Addr().String()+"/d?sslmode=disable&pool_max_conns=1&connect_timeout=1")
	if err != nil {
		panic(err)
	}
	limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, err = pool.Exec(limited, "SELECT 1")
	fmt.Println("the statement ends with:", err)
	begun := time.Now()
	if _, err := pool.Acquire(ctx); err != nil {
		panic(err)
	}
	took := time.Since(begun)
	fmt.Printf("the next session begins after %.1f s\n", took.Seconds())
	if took < 14*time.Second {
		fmt.Println("the place in the pool is free sooner than with v5.12.0")
		os.Exit(1)
	}
}
GO
go get github.com/jackc/pgx/v5@v5.12.0 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
