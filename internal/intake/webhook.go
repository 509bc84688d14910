package intake

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

const (
	// secretHeader carries the secret that was registered with the webhook's address.
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
	// maxBody limits the size of an update in bytes. The largest updates are about 10,000 bytes
	// long.
	maxBody = 1 << 20
	// warnEvery is the shortest time between two log lines about requests refused for the same
	// reason: anyone on the internet may send many.
	warnEvery = time.Minute
)

// Webhook receives updates as HTTP requests. It responds with 200 only after the update has been
// persisted, so that the messenger redelivers everything else. The updates of a lane are handled
// one after the other, in the order of arrival.
type Webhook struct {
	secret     string // if it is empty, every request is refused
	read       Reader
	worker     *Worker
	lanes      *lanes
	inProgress chan struct{}

	unauthorized, unreadable rate.Sometimes // limit how often the log reports a refusal
}

// NewWebhook returns a webhook that passes updates to the worker. It admits only requests with the
// secret; if the secret is empty, it admits none. read decodes the bodies.
func NewWebhook(secret string, read Reader, worker *Worker) *Webhook {
	return &Webhook{
		secret:     secret,
		read:       read,
		worker:     worker,
		lanes:      newLanes(),
		inProgress: make(chan struct{}, maxInProgress),

		unauthorized: rate.Sometimes{Interval: warnEvery},
		unreadable:   rate.Sometimes{Interval: warnEvery},
	}
}

// ServeHTTP responds with
//   - 405 if the method is not POST,
//   - 401 without the right secret,
//   - 413 if the body is too large, 400 if it is cut off or not an update,
//   - 200 when the update has been handled or is a dead letter,
//   - 503 when it must be redelivered, because the database is unavailable, a lock is in the way,
//     its dead letter cannot be stored, the client has disconnected, or too many requests are in
//     progress.
func (hook *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := hook.take(w, r)
	switch status {
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
}

// take reads the update in the request, has the worker persist it, and returns the response status.
// It stops at the first step that fails.
func (hook *Webhook) take(w http.ResponseWriter, r *http.Request) int {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	if !hook.admits(r) {
		return hook.refuse(r.Context(), &hook.unauthorized, http.StatusUnauthorized, errWrongSecret)
	}
	select {
	case hook.inProgress <- struct{}{}:
		defer func() { <-hook.inProgress }()
	default:
		return http.StatusServiceUnavailable
	}
	u, status := hook.update(w, r)
	if status != http.StatusOK {
		return status
	}
	// If the client has disconnected, the context has ended and the update may not have been
	// persisted. Even then the status must be right, because a proxy may pass it on.
	turn, leave := hook.lanes.join(u.Lane)
	defer leave()
	if !awaitTurn(r.Context(), turn) || hook.worker.persist(r.Context(), u, false) != nil {
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// admits reports whether the request has the right secret. If the webhook's secret is empty, no
// request has it. The comparison takes constant time.
func (hook *Webhook) admits(r *http.Request) bool {
	given, want := sha256.Sum256([]byte(r.Header.Get(secretHeader))), sha256.Sum256([]byte(hook.secret))
	return subtle.ConstantTimeCompare(given[:], want[:]) == 1 && hook.secret != ""
}

// update reads the update in the request. It returns the status 200 or, if it can read no update,
// the status of the response.
func (hook *Webhook) update(w http.ResponseWriter, r *http.Request) (Update, int) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return Update{}, http.StatusRequestEntityTooLarge
	} else if err != nil {
		// the body was cut off; usually the client is gone
		return Update{}, http.StatusBadRequest
	}
	u, err := hook.read(raw)
	if err != nil {
		return Update{}, hook.refuse(r.Context(), &hook.unreadable, http.StatusBadRequest, err)
	}
	if u.SentAt.IsZero() { // requests have no order from which to infer the date
		u.SentAt = hook.worker.now()
	}
	return u, http.StatusOK
}

var errWrongSecret = errors.New("missing or wrong secret")

// refuse logs the reason why a request is refused, but only as often as sometimes allows. It
// returns the status.
func (hook *Webhook) refuse(ctx context.Context, sometimes *rate.Sometimes, status int, reason error) int {
	sometimes.Do(func() {
		hook.worker.log.WarnContext(ctx, "webhook request refused, further ones are logged once a minute",
			"status", status, "error", reason)
	})
	return status
}
