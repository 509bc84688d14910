package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// TestCountTrips checks that a client's messages are forwarded unchanged, and each Sync and each
// simple query counts as a round trip.
func TestCountTrips(t *testing.T) {
	t.Parallel()
	var sent []byte
	var err error
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "S"}},
		&pgproto3.Query{String: "SELECT 'S'"},
		&pgproto3.Parse{Query: "SELECT $1"}, &pgproto3.Bind{}, &pgproto3.Execute{},
		&pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{},
		&pgproto3.Terminate{},
	} {
		if sent, err = m.Encode(sent); err != nil {
			t.Fatal(err)
		}
	}
	var trips tripCounter
	var got bytes.Buffer
	if err := trips.copyMessages(bufio.NewWriter(&got), bufio.NewReader(bytes.NewReader(sent))); !errors.Is(err, io.EOF) {
		t.Errorf("copyMessages = %v, want the end", err)
	}
	if !bytes.Equal(got.Bytes(), sent) {
		t.Errorf("forwarded %q, want %q", got.Bytes(), sent)
	}
	if trips.n.Load() != 2 {
		t.Errorf("counted %d round trips, want 2", trips.n.Load())
	}
}
