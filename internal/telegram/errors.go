package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"elobot/internal/intake"
	"elobot/internal/outbox"
)

// conflictWait is how long to wait before polling again if another program polls for the same bot.
// Without the wait, the two programs would keep aborting each other's polls.
const conflictWait = 5 * time.Second

// ErrTokenRefused means that Telegram knows no bot with this token. Its text tells the operator
// what to do.
var ErrTokenRefused = errors.New("the token is refused by Telegram, perhaps because it was revoked: " +
	"copy it from @BotFather into TELEGRAM_BOT_TOKEN, and check TELEGRAM_API_URL if it is set")

// explain adds advice for the operator to the usual errors of a method that needs only a valid
// token.
func (c *Client) explain(err error) error {
	api, isAnswer := errors.AsType[*APIError](err)
	switch kind := Failure(err).Kind; {
	case kind == outbox.Unauthorized:
		return fmt.Errorf("%w (%w)", ErrTokenRefused, err)
	case isAnswer && api.loggedOut():
		return fmt.Errorf("the bot is logged out of %s, as in a move between Bot API servers, "+
			"which takes up to ten minutes: wait, and check TELEGRAM_API_URL (%w)", c.server, err)
	case kind == outbox.Unreachable, kind == outbox.Ambiguous:
		return fmt.Errorf("%s does not answer: check the network, and TELEGRAM_API_URL if it is set (%w)", c.server, err)
	default:
		return err
	}
}

// ErrWebhookRefused means that Telegram does not accept the configured webhook. Its text tells the
// operator what to do.
var ErrWebhookRefused = errors.New("the webhook is refused by Telegram: " +
	"WEBHOOK_URL must be the bot's public address, at port 443, 80, 88 or 8443, with a certificate that others trust")

// webhookError adds advice for the operator to an error of setWebhook.
func webhookError(err error) error {
	api, isAnswer := errors.AsType[*APIError](err)
	switch {
	case !isAnswer || !RefusesContent(err):
		return err
	case api.Says("resolve host", "name resolution"): // may be temporary
		return fmt.Errorf(
			"the host in WEBHOOK_URL is not found by Telegram: check the name, or wait until it is known (%w)", err)
	default:
		return fmt.Errorf("%w (%w)", ErrWebhookRefused, err)
	}
}

// ErrWebhookSet means that the bot cannot poll, because it has a webhook. Its text tells the
// operator what to do.
var ErrWebhookSet = errors.New("a webhook is set for this bot, so it cannot poll: " +
	"remove it with `elobot webhook delete`, or set WEBHOOK_URL to receive updates by webhook")

// pollError converts an error answer to getUpdates into an *intake.SourceError. It returns any
// other error unchanged.
func pollError(err error) error {
	api, isAnswer := errors.AsType[*APIError](err)
	if !isAnswer {
		return err
	}
	e := &intake.SourceError{Err: err, RetryAfter: api.RetryAfter, Fatal: errors.Is(err, ErrTokenRefused)}
	if api.Description != "" && api.Status == http.StatusConflict {
		// the answer is the Bot API's own, not a proxy's
		if strings.Contains(strings.ToLower(api.Description), "webhook") {
			e.Fatal = true
			e.Err = fmt.Errorf("%w (%w)", ErrWebhookSet, err)
		} else {
			e.RetryAfter = conflictWait
			e.Err = fmt.Errorf("another program receives this bot's updates, perhaps an instance with another database: %w", err)
		}
	}
	return e
}

// Failure converts the error of a request into a Failure for the outbox. If err already wraps an
// *outbox.Failure, Failure returns that one.
func Failure(err error) *outbox.Failure {
	if own, ok := errors.AsType[*outbox.Failure](err); ok {
		return own
	}
	f := &outbox.Failure{Kind: outbox.Failed, Err: err}
	if api, ok := errors.AsType[*APIError](err); ok {
		f.Kind, f.RetryAfter, f.NewID, f.Refusal = api.kind(), api.RetryAfter, api.MigrateTo, api.Description
	} else if connection, ok := errors.AsType[*ConnectionError](err); ok {
		f.Kind = outbox.Unreachable
		if connection.Connected {
			f.Kind = outbox.Ambiguous
		}
	}
	return f
}

// RefusesContent reports whether Telegram seems to have refused the content of a request, so that
// it may accept simpler content.
func RefusesContent(err error) bool {
	api, isAnswer := errors.AsType[*APIError](err)
	kind := Failure(err).Kind
	return kind == outbox.Rejected || kind == outbox.Failed && isAnswer && api.Status == http.StatusBadRequest
}

// Rejected returns the failure of a message that cannot be sent because of an error in the message
// itself. No request was made.
func Rejected(err error) *outbox.Failure {
	return &outbox.Failure{Kind: outbox.Rejected, Err: err}
}

// kind classifies the error. An answer without a description is not the Bot API's own.
func (e *APIError) kind() outbox.FailureKind {
	switch own := e.Description != ""; {
	case e.Status == http.StatusTooManyRequests:
		return outbox.RateLimited
	case e.MigrateTo != 0:
		return outbox.Migrated
	case e.loggedOut():
		return outbox.Unreachable
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
	case e.Says(contentFaults...):
		return outbox.Rejected
	default:
		return outbox.Failed
	}
}

// contentFaults lists parts of the error descriptions for requests that Telegram can never accept,
// whatever the state of the chat and of Telegram.
var contentFaults = []string{
	"message is too long", "caption is too long", "MESSAGE_TOO_LONG", "MEDIA_CAPTION_TOO_LONG",
	"text is empty", "text must be non-empty", "MESSAGE_EMPTY", "encoded in UTF-8",
	"can't parse", "unsupported parse_mode", "ENTITY_", "ENTITIES_TOO_LONG", "entity beginning or end", "entity URL",
	"rich message has too many", "table has too many", "unsupported markup",
	"inline keyboard button", "object expected as reply markup", "BUTTON_", "REPLY_MARKUP_",
	"file must be non-empty", "file is too big", "wrong file identifier", "wrong type of the web page content",
	"unsupported type specified", "IMAGE_PROCESS_FAILED", "PHOTO_INVALID_DIMENSIONS", "PHOTO_EXT_INVALID",
	"there is no text in the message to edit",
}

// loggedOut reports whether the bot is logged out of this server, as in a move to another server.
func (e *APIError) loggedOut() bool {
	return strings.Contains(strings.ToLower(e.Description), "logged out")
}

// Says reports whether this is a bad request whose description contains one of these texts.
// Telegram offers no other way to tell such errors apart.
func (e *APIError) Says(texts ...string) bool {
	says := func(text string) bool { return strings.Contains(e.Description, text) }
	return e.Status == http.StatusBadRequest && slices.ContainsFunc(texts, says)
}

// IsTransient reports whether the cause of a failed request may pass by itself.
func IsTransient(err error) bool {
	switch Failure(err).Kind {
	case outbox.RateLimited, outbox.Unreachable, outbox.Ambiguous:
		return true
	case outbox.Failed:
		return !RefusesContent(err)
	default:
		return false
	}
}
