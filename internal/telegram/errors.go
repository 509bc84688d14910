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

// conflictWait is how long to wait when another program polls: an immediate request would only abort its poll, and its next
// one ours.
const conflictWait = 5 * time.Second

// ErrWebhookSet says why polling is impossible, and what to do.
var ErrWebhookSet = errors.New("a webhook is set for this bot, so it cannot poll: remove it with `elobot webhook delete`, " +
	"or set WEBHOOK_URL to receive updates by webhook")

// pollError converts an error of getUpdates for the intake.
func pollError(err error) error {
	var api *APIError
	if !errors.As(err, &api) {
		return err
	}
	e := &intake.SourceError{Err: err, RetryAfter: api.RetryAfter}
	switch own := api.Description != ""; { // the answer is the Bot API's own, not that of a proxy
	case own && (api.Status == http.StatusUnauthorized || api.Status == http.StatusNotFound):
		e.Fatal = true
		e.Err = fmt.Errorf("the token is not valid, ask @BotFather for the right one: %w", err)
	case own && api.Status == http.StatusConflict:
		if strings.Contains(strings.ToLower(api.Description), "webhook") {
			e.Fatal = true
			e.Err = fmt.Errorf("%w: %w", ErrWebhookSet, err)
		} else {
			e.RetryAfter = conflictWait
			e.Err = fmt.Errorf("another program receives this bot's updates, perhaps an instance with another database: %w", err)
		}
	}
	return e
}

// Failure converts the error of a request for the outbox.
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

// Rejected returns the failure of a message that is itself at fault, and was not sent to Telegram.
func Rejected(err error) *outbox.Failure {
	return &outbox.Failure{Class: outbox.Rejected, Err: err}
}

// class classifies the error. An answer without a description is not the Bot API's own.
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
		// A proxy answered, and the request may have reached the Bot API anyway.
		return outbox.Ambiguous
	case !own || e.Status >= 500:
		return outbox.Unreachable
	case e.Says("message to edit not found", "message can't be edited", "query is too old", "query ID is invalid"),
		strings.HasPrefix(e.Method, "editMessage") && e.Says("MESSAGE_ID_INVALID"):
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

// Says reports whether this is a bad request with one of these texts. Telegram offers no other way to distinguish such errors.
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

// IsTransient reports whether the same request may succeed later.
func IsTransient(err error) bool {
	switch Failure(err).Class {
	case outbox.RateLimited, outbox.Unreachable, outbox.Ambiguous, outbox.Failed:
		return true
	default:
		return false
	}
}
