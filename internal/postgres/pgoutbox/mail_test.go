package pgoutbox_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres/dbtest"
)

// mail extends dbtest.Mail with methods that only these tests need.
type mail struct{ dbtest.Mail }

func newMail(t *testing.T) mail {
	t.Helper()
	return mail{dbtest.NewMail(t)}
}

func mailIn(pool *pgxpool.Pool) mail { return mail{dbtest.MailIn(pool)} }

func newEmptyMail(t *testing.T) mail {
	t.Helper()
	return mail{dbtest.NewEmptyMail(t)}
}
