package app

import (
	"errors"
	"slices"

	"elobot/internal/postgres"
	"elobot/internal/telegram"
)

// IsPermanent reports whether an error is known to recur at every start until the operator changes
// something. An error that may be temporary is not permanent: a database that refuses the password
// may be in the middle of a restore, or may ask another server, which is down, to check passwords.
func IsPermanent(err error) bool {
	if other := (*otherBotError)(nil); errors.As(err, &other) {
		return true
	}
	return slices.ContainsFunc([]error{
		telegram.ErrTokenRefused, telegram.ErrWebhookSet, telegram.ErrWebhookRefused,
		postgres.ErrTooOld, postgres.ErrTooNew, postgres.ErrTransactionPooling,
		errForbiddenPort,
	}, func(known error) bool { return errors.Is(err, known) })
}
