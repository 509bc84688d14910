package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

var (
	errNoAddress = errors.New("DATABASE_URL is not the address of a PostgreSQL database: " +
		"it must look like postgres://user:password@host:5432/database, " +
		"with special characters in the password written as %XX")
	errUnescaped = errors.New("DATABASE_URL has an @ where none can be: " +
		"in user and password, write / as %2F, ? as %3F, # as %23, @ as %40, : as %3A and % as %25; " +
		"in all other places, write @ as %40")
	errTLSSettings = errors.New("the TLS settings in DATABASE_URL or in a PG… variable cannot be used: " +
		"sslmode must be a valid mode, and sslrootcert, sslcert and sslkey must name readable files with valid contents")
	errNoService = errors.New("the service in DATABASE_URL or PGSERVICE was not found: " +
		"the file in servicefile or PGSERVICEFILE must exist and define it")
)

// parameterName matches the names of PostgreSQL's own parameters, and most names of custom ones.
var parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// ParseURL parses the URL of a database. Its errors tell operators what to change, and contain no
// part of the URL.
func ParseURL(url string) (*pgxpool.Config, error) {
	if isUnescaped(url) {
		return nil, errUnescaped
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, withoutURL(err)
	}
	for name := range config.ConnConfig.RuntimeParams {
		if !parameterName.MatchString(name) { // the start of a malformed URL, up to its first =
			return nil, errNoAddress
		}
	}
	return config, nil
}

// isUnescaped reports whether a URL may contain an unescaped @, /, ? or # in its user or password.
// pgx might then take a part of the user or password as a host name, and look it up.
func isUnescaped(url string) bool {
	scheme, rest, _ := strings.Cut(url, "://")
	if scheme != "postgres" && scheme != "postgresql" {
		return false
	}
	before, after, _ := strings.Cut(rest, "@")
	return strings.Contains(after, "@") || strings.Contains(rest, "@") && strings.ContainsAny(before, "/?#")
}

// withoutURL replaces a pgx error, which may quote the URL, with an error that tells operators what
// to check.
func withoutURL(err error) error {
	failed := func(step string) bool { // only the text of a pgx error tells which step failed
		parse, ok := errors.AsType[*pgconn.ParseConfigError](err)
		return ok && parse.Unwrap() != nil &&
			strings.HasSuffix(parse.Error(), ": "+step+" ("+parse.Unwrap().Error()+")")
	}
	switch {
	case failed("failed to configure TLS"):
		return errTLSSettings
	case failed("failed to read service"):
		return errNoService
	default:
		return errNoAddress
	}
}

// Address returns a text that tells operators which database is meant: the host and port, or the
// folder of the server's socket, followed by the name of the database. The text contains neither
// the user nor the password, so it may be shown.
func Address(config *pgx.ConnConfig) string {
	if network, _ := pgconn.NetworkAddress(config.Host, config.Port); network == "unix" {
		return fmt.Sprintf("%s, database %s", config.Host, config.Database)
	}
	return net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))) + "/" + config.Database
}

// hidden replaces the user in errors.
const hidden = "…"

// discreet is a tracer that removes the user from each connection error before any other code sees
// the error.
type discreet struct{ multitracer.Tracer }

// TraceConnectEnd implements pgx.ConnectTracer. The error may also contain the server's own
// message, from which sessionWatch.watch removes the user.
func (*discreet) TraceConnectEnd(_ context.Context, end pgx.TraceConnectEndData) {
	if failed, ok := errors.AsType[*pgconn.ConnectError](end.Err); ok {
		failed.Config = &pgconn.Config{User: hidden, Database: failed.Config.Database}
	}
}
