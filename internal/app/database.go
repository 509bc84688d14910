package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
	"elobot/migrations"
)

// With calls do with the database, and returns its error. The bot need not be running: With starts
// the bot's own database if necessary. It returns a *ConfigError if the configuration has faults,
// and another error if the database cannot be opened or does not have the schema of this release.
func (c DatabaseConfig) With(ctx context.Context, do func(*pgxpool.Pool) error) error {
	if faults := c.Faults(); len(faults) > 0 {
		return &ConfigError{faults}
	}
	with := func(url, _ string) error {
		pool, err := postgres.Open(ctx, url, databaseTimeout, slog.New(slog.NewTextHandler(os.Stderr, nil)))
		if err != nil {
			return c.withHint(err)
		}
		defer postgres.Close(pool)
		if err := postgres.CheckSchema(ctx, pool, migrations.FS); err != nil {
			return err
		}
		return do(pool)
	}
	if c.own() {
		return c.WithOwn(ctx, with)
	}
	return with(c.DatabaseURL, "")
}

// withHint adds advice for the operator to an error from opening the database, unless its text
// already says what to do.
func (c DatabaseConfig) withHint(err error) error {
	switch {
	case errors.Is(err, postgres.ErrTransactionPooling):
		return err
	case c.own():
		return fmt.Errorf("%w\nThis is the bot's own database: does the log in its folder say why?", err)
	}
	hint := "Is PostgreSQL running, and are host, user, password and database in DATABASE_URL correct?"
	if unverified := (*tls.CertificateVerificationError)(nil); errors.As(err, &unverified) {
		hint = "PostgreSQL is running, but its certificate cannot be verified: " +
			"is it for the host in DATABASE_URL, and does sslrootcert name the file with its CA?"
	}
	// pgx has no error value for a server without TLS.
	if strings.Contains(err.Error(), "server refused TLS connection") {
		hint = "PostgreSQL is running, but does not encrypt connections: " +
			"turn on ssl there, or choose another sslmode in DATABASE_URL."
	}
	if refusal := (*pgconn.PgError)(nil); errors.As(err, &refusal) {
		hint = "PostgreSQL is running, but refuses the connection: is everything in DATABASE_URL correct?"
		switch refusal.Code {
		case pgerrcode.InvalidPassword:
			hint = "PostgreSQL is running, but the user or the password in DATABASE_URL is wrong."
		case pgerrcode.InvalidAuthorizationSpecification:
			hint = "PostgreSQL is running, but does not let the user in DATABASE_URL in: " +
				"is there such a role, and does pg_hba.conf allow it from here?"
		case pgerrcode.InvalidCatalogName:
			hint = "PostgreSQL is running, but has no such database: create it, or correct its name in DATABASE_URL."
		case pgerrcode.TooManyConnections:
			hint = "PostgreSQL is running, but all connections that it allows are taken: " +
				"raise max_connections there, lower pool_max_conns in DATABASE_URL, or close those of other programs."
		}
	}
	return fmt.Errorf("%w\n%s", err, hint)
}
