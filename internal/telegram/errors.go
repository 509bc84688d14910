package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"elobot/internal/intake"
	"elobot/internal/outbox"
)

// anotherPoller is how long to wait when somebody else takes the updates: asking at once would only throw them out, and
// they us.
const anotherPoller = 5 * time.Second

// ErrWebhookSet says why nobody can poll, and what to do.
var ErrWebhookSet = errors.New("a webhook is set for this bot, so nobody can poll: `elobot webhook delete` removes it, " +
	"and with WEBHOOK_URL the bot takes what is delivered")

// pollError says what an error of getUpdates means to the intake.
func pollError(err error) error {
	var api *APIError
	if !errors.As(err, &api) {
		return err
	}
	e := &intake.SourceError{Err: err, RetryAfter: api.RetryAfter}
	switch own := api.Description != ""; { // and not the answer of something between
	case own && (api.Status == http.StatusUnauthorized || api.Status == http.StatusNotFound):
		e.Fatal = true
		e.Err = fmt.Errorf("the token is not valid, ask @BotFather for the right one: %w", err)
	case own && api.Status == http.StatusConflict:
		if strings.Contains(strings.ToLower(api.Description), "webhook") {
			e.Fatal = true
			e.Err = fmt.Errorf("%w: %w", ErrWebhookSet, err)
		} else {
			e.RetryAfter = anotherPoller
			e.Err = fmt.Errorf("another program takes this bot's updates, perhaps an instance with another database: %w", err)
		}
	}
	return e
}

// Failure says what an error of a send means to the outbox.
func Failure(err error) *outbox.Failure {
	var own *outbox.Failure
	if errors.As(err, &own) {
		return own
	}
	f := &outbox.Failure{Class: outbox.Failed, Err: err}
	var api *APIError
	var connection *ConnectionError
	switch {
	case errors.As(err, &connection):
		f.Class = outbox.Unreachable
		if connection.Connected {
			f.Class = outbox.Ambiguous
		}
	case errors.As(err, &api):
		f.Class, f.RetryAfter, f.NewID = api.class(), api.RetryAfter, api.MigrateTo
	}
	return f
}

// Rejected says that what is to be told is at fault itself, before Telegram was asked.
func Rejected(err error) *outbox.Failure {
	return &outbox.Failure{Class: outbox.Rejected, NotAttempted: true, Err: err}
}

// class sorts the answers that say no. An answer without a description is not the Bot API's own.
func (e *APIError) class() outbox.Class {
	switch own := e.Description != ""; {
	case e.Status == http.StatusTooManyRequests:
		return outbox.RateLimited
	case e.MigrateTo != 0:
		return outbox.Migrated
	case own && (e.Status == http.StatusUnauthorized || e.Status == http.StatusNotFound):
		return outbox.Unauthorized
	case e.Status == http.StatusRequestEntityTooLarge:
		return outbox.Rejected
	case !own && (e.Status < 300 || e.Status >= 500 && e.Status != http.StatusServiceUnavailable):
		// Something on the way has answered, and the request may have gone further than its answer came back.
		return outbox.Ambiguous
	case !own || e.Status >= 500:
		return outbox.Unreachable
	case e.Says("message to edit not found", "message can't be edited", "query is too old", "query ID is invalid"),
		e.Method == "editMessageText" && e.Says("MESSAGE_ID_INVALID"):
		return outbox.Obsolete
	case e.Status == http.StatusForbidden,
		e.Says("chat not found", "CHAT_WRITE_FORBIDDEN", "CHAT_RESTRICTED", "not enough rights", "have no rights to send",
			"need administrator rights", "group chat was deactivated"):
		return outbox.Forbidden
	case e.Status == http.StatusBadRequest:
		return outbox.Rejected
	default:
		return outbox.Failed
	}
}

// Says tells whether it is a bad request with one of these texts, which are all that Telegram tells such cases by.
func (e *APIError) Says(texts ...string) bool {
	if e.Status != http.StatusBadRequest {
		return false
	}
	for _, text := range texts {
		if strings.Contains(e.Description, text) {
			return true
		}
	}
	return false
}

// Passing says whether a request that failed may succeed later as it is.
func IsTransient(err error) bool {
	switch Failure(err).Class {
	case outbox.RateLimited, outbox.Unreachable, outbox.Ambiguous, outbox.Failed:
		return true
	default:
		return false
	}
}
