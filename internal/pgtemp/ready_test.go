package pgtemp

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgproto3"
)

// TestPatience: a server that recovers its data may take any time, which is reported, and a silent one may not.
func TestPatience(t *testing.T) {
	t.Parallel()
	for name, recovery := range map[string]time.Duration{"silent": 0, "recovering": 2 * startTimeout} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				config, err := parseURL(serverURL(1, "x"))
				if err != nil {
					t.Fatal(err)
				}
				begun, reports := time.Now(), 0
				config.DialFunc = func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						defer theirs.Close() //nolint:errcheck // the end of the connection is what matters
						server := pgproto3.NewBackend(theirs, theirs)
						if _, err := server.ReceiveStartupMessage(); err != nil || time.Since(begun) > recovery {
							return
						}
						server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: pgerrcode.CannotConnectNow, Message: "recovering"})
						_ = server.Flush() // the client notices
					}()
					return ours, nil
				}
				_, err = waitFor(t.Context(), config, func(context.Context) error { return nil }, func(string, ...any) { reports++ })
				if took := time.Since(begun); took < recovery+startTimeout || took > recovery+2*startTimeout {
					t.Errorf("it waits for %v", took)
				}
				if err == nil || !strings.Contains(err.Error(), "not ready in time") || reports != min(1, int(recovery)) {
					t.Errorf("it ends with %v and %d reports", err, reports)
				}
			})
		})
	}
}
