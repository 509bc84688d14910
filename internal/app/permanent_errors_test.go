package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"

	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/telegram"
)

// TestPermanent checks that IsPermanent returns true for errors that a restart cannot fix, even if
// they are wrapped, and false for errors that may be temporary.
func TestPermanent(t *testing.T) {
	t.Parallel()
	listening := func(errno syscall.Errno) error {
		return listenError("LISTEN_ADDR or PORT", &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", errno)})
	}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"a revoked token":             {fmt.Errorf("receive updates: %w", &intake.SourceError{Fatal: true, Err: telegram.ErrTokenRefused}), true},
		"a webhook that is set":       {telegram.ErrWebhookSet, true},
		"a webhook that is refused":   {fmt.Errorf("%w (no)", telegram.ErrWebhookRefused), true},
		"another bot's database":      {errors.Join(&otherBotError{owner: 7}, nil), true},
		"a database too old":          {postgres.ErrTooOld, true},
		"a database too new":          {postgres.ErrTooNew, true},
		"a pooler":                    {fmt.Errorf("connect to the database: %w", postgres.ErrTransactionPooling), true},
		"a port below 1024":           {listening(syscall.EACCES), true},
		"a port in use":               {listening(syscall.EADDRINUSE), false},
		"an address that may come":    {listening(syscall.EADDRNOTAVAIL), false},
		"a wrong password":            {fmt.Errorf("connect: %w", &pgconn.PgError{Code: pgerrcode.InvalidPassword}), false},
		"no such database":            {fmt.Errorf("connect: %w", &pgconn.PgError{Code: pgerrcode.InvalidCatalogName}), false},
		"a server that does not come": {context.DeadlineExceeded, false},
		"a lease that was lost":       {outbox.ErrLeaseLost, false},
		"an answer of Telegram":       {&telegram.APIError{Method: "getMe", Status: 500, Description: "Internal Server Error"}, false},
		"nothing":                     {nil, false},
	} {
		if got := IsPermanent(tc.err); got != tc.want {
			t.Errorf("%s: permanent is %t: %v", name, got, tc.err)
		}
	}
}
