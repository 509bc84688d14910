package app

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestDatabaseHints checks that the hint tells the operator what to check, as far as the server
// reveals the cause.
func TestDatabaseHints(t *testing.T) {
	t.Parallel()
	refused := func(code string) error { return fmt.Errorf("connect to the database: %w", &pgconn.PgError{Code: code}) }
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"nobody there":     {errors.New("connection refused"), "Is PostgreSQL running"},
		"a wrong password": {refused("28P01"), "PostgreSQL is running, but the user or the password"},
		"no such role":     {refused("28000"), "PostgreSQL is running, but does not let the user"},
		"an unknown CA": {fmt.Errorf("connect to the database: %w", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}),
			"PostgreSQL is running, but its certificate cannot be verified"},
		"no such database":  {refused("3D000"), "PostgreSQL is running, but has no such database"},
		"a full server":     {refused("53300"), "PostgreSQL is running, but all connections that it allows are taken"},
		"a misspelled name": {refused("42704"), "PostgreSQL is running, but refuses the connection"},
		"no TLS":            {errors.New("tls error: server refused TLS connection"), "PostgreSQL is running, but does not encrypt"},
		"no TLS, which is not needed, and a wrong password": {errors.Join(errors.New("tls error: server refused TLS connection"), refused("28P01")),
			"PostgreSQL is running, but the user or the password"},
	} {
		c := DatabaseConfig{DatabaseURL: "postgres://elobot@localhost/elobot"}
		if err := c.withHint(tc.err); !errors.Is(err, tc.err) || !strings.Contains(err.Error(), "\n"+tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
