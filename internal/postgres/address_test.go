package postgres_test

import (
	"bytes"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
)

// TestAddress checks that the address consists of host, port and database, or of the socket's
// folder and the database. It contains no user or password.
func TestAddress(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://elobot:hush@db.example.org/elobot":                 "db.example.org:5432/elobot",
		"postgres://elobot:hush@[::1]:5433/elobot":                     "[::1]:5433/elobot",
		"postgres://elobot:hush@/elobot?host=/var/run/postgresql":      "/var/run/postgresql, database elobot",
		"postgres://elobot:hush@%2Fvar%2Frun%2Fpostgresql:5433/elobot": "/var/run/postgresql, database elobot",
		"host=/tmp user=elobot password=hush dbname=elobot":            "/tmp, database elobot",
	} {
		config, err := postgres.ParseURL(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got := postgres.Address(config.ConnConfig); got != want {
			t.Errorf("%s is called %q, want %q", url, got, want)
		}
	}
}

// secret generates a user or password to be put into an address unescaped. Its letters and digits
// rarely occur in error messages, so a match means a leak.
var secret = rapid.StringMatching(`[QZJK79]{1,3}([/?#@%: &='\\][QZJK79]{0,3}){0,3}`)

// checkSecret checks that text contains no three consecutive characters of a secret, unless they
// are all special characters.
func checkSecret(t *rapid.T, text string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		for i := range max(0, len(s)-2) {
			if part := s[i : i+3]; strings.ContainsAny(part, "QZJK79") && strings.Contains(text, part) {
				t.Errorf("the text has %q of %q:\n%s", part, s, text)
			}
		}
	}
}

// TestNoPartOfTheUserIsShown checks that, whatever special characters the user and the password
// contain, the URL leads to no host but the intended one, and no address, error or log line shows a
// recognizable part of the user or the password. That holds whether the server refuses the session
// or cannot be reached.
func TestNoPartOfTheUserIsShown(t *testing.T) {
	t.Parallel()
	server, err := url.Parse(pgtest.ByTCP(t, pgtest.Empty(t)))
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(server.Host)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		user, password := secret.Draw(r, "user"), secret.Draw(r, "password")
		at := rapid.SampledFrom([]string{port, "1"}).Draw(r, "port")
		address := rapid.SampledFrom([]string{
			"postgres://USER:PASSWORD@HOST:PORT/elobot", "postgresql://USER:PASSWORD@HOST:PORT/elobot?sslmode=disable",
			"postgres://HOST:PORT/elobot?user=USER&password=PASSWORD", "postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/elobot",
			"host=HOST port=PORT dbname=elobot user=USER password=PASSWORD", "host=HOST port=PORT user='USER' password='PASSWORD'",
			"postgres//USER:PASSWORD@HOST:PORT/elobot?sslmode=disable", `"postgres://USER:PASSWORD@HOST:PORT/elobot?sslmode=disable"`,
		}).Draw(r, "address")
		address = strings.NewReplacer("USER", user, "PASSWORD", password, "HOST", host, "PORT", at).Replace(address)

		config, err := postgres.ParseURL(address)
		if err != nil {
			checkSecret(r, err.Error(), user, password)
			return
		}
		hosts := []string{config.ConnConfig.Host}
		for _, f := range config.ConnConfig.Fallbacks {
			hosts = append(hosts, f.Host)
		}
		for _, h := range hosts {
			if h != host {
				r.Errorf("%s leads to the host %q", address, h)
			}
		}
		// The port may happen to contain a part of the password.
		withoutPort := func(text string) string { return strings.ReplaceAll(text, ":"+port, "") }
		checkSecret(r, withoutPort(postgres.Address(config.ConnConfig)), user, password)
		var log bytes.Buffer
		pool, err := postgres.Open(t.Context(), address, time.Nanosecond, slog.New(slog.NewTextHandler(&log, nil)))
		if err == nil {
			pool.Close()
			r.Fatalf("%s leads into the database", address)
		}
		checkSecret(r, withoutPort(err.Error()+log.String()), user, password)
	})
}
