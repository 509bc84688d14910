package intake

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	// secretHeader is where Telegram puts the secret that was given to it with the webhook's address.
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
	// maxBody is how many bytes an update may have. The largest ones have some ten thousand.
	maxBody = 1 << 20
	// warnEvery is how often the log says that requests come which are refused for the same reason.
	warnEvery = time.Minute
)

// Webhook takes updates as HTTP requests. It answers 200 only when it is done with the update, so that the messenger
// repeats everything else. The updates of a lane are handled one after the other, in the order in which their requests
// came.
type Webhook struct {
	secret [sha256.Size]byte
	closed bool // there is no secret
	read   func(raw []byte) (Update, error)
	worker *Worker
	lanes  *lanes
	inHand chan struct{}

	withoutSecret, withoutUpdate refusals
}

// refusals are requests that are refused for one reason.
type refusals struct {
	mu     sync.Mutex
	n      int       // since the log spoke of them
	warned time.Time // when it did
}

// add counts a refusal, and returns how many there are to be told of, 0 if it is not yet time to.
func (r *refusals) add() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	if !r.warned.IsZero() && time.Since(r.warned) < warnEvery {
		return 0
	}
	n, r.n, r.warned = r.n, 0, time.Now()
	return n
}

// NewWebhook returns a webhook that hands updates to the worker. It admits requests with the secret; if that is empty,
// none. read makes an update of what came, which is JSON, and returns an error if there is no update id in it.
func NewWebhook(secret string, read func(raw []byte) (Update, error), worker *Worker) *Webhook {
	return &Webhook{
		secret: sha256.Sum256([]byte(secret)),
		closed: secret == "",
		read:   read,
		worker: worker,
		lanes:  newLanes(),
		inHand: make(chan struct{}, maxInHand),
	}
}

// ServeHTTP answers
//   - 405 to anything but POST,
//   - 401 without the secret,
//   - 413 and 400 to what is too large, or no update,
//   - 200 when the update has been handled or lies among the dead letters,
//   - 503 when it has to come again: the database is away, or there are too many at the same time.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := h.take(w, r)
	switch status {
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
}

// take brings the update of a request to its end and returns the answer.
func (h *Webhook) take(w http.ResponseWriter, r *http.Request) int {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	if !h.admits(r) {
		if n := h.withoutSecret.add(); n > 0 {
			h.worker.log.WarnContext(r.Context(), "webhook requests without the right secret are refused", "requests", n)
		}
		return http.StatusUnauthorized
	}
	select {
	case h.inHand <- struct{}{}:
		defer func() { <-h.inHand }()
	default:
		return http.StatusServiceUnavailable
	}
	u, status := h.update(w, r)
	if status != http.StatusOK {
		return status
	}
	// Whoever has gone away sees no answer. It must not be 200 all the same: there may be somebody in between.
	ticket := h.lanes.join(u.Lane)
	defer ticket.leave()
	if !ticket.wait(r.Context()) || h.worker.begin(u).run(r.Context()) != nil {
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// admits says whether the request has the secret. How long that takes does not tell anything about it.
func (h *Webhook) admits(r *http.Request) bool {
	given := sha256.Sum256([]byte(r.Header.Get(secretHeader)))
	return subtle.ConstantTimeCompare(given[:], h.secret[:]) == 1 && !h.closed
}

// update reads the update of a request, or returns what to answer instead of 200.
func (h *Webhook) update(w http.ResponseWriter, r *http.Request) (Update, int) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return Update{}, http.StatusRequestEntityTooLarge
	case err != nil: // it was cut off, and there is nobody left to see the answer, as a rule
		return Update{}, http.StatusBadRequest
	}
	u, err := h.readUpdate(raw)
	if err != nil {
		if n := h.withoutUpdate.add(); n > 0 {
			h.worker.log.WarnContext(r.Context(), "webhook requests without an update id are refused", "requests", n, "error", err)
		}
		return Update{}, http.StatusBadRequest
	}
	return u, http.StatusOK
}

// errNoJSON says of a body that it is not JSON.
var errNoJSON = errors.New("the body is not JSON")

func (h *Webhook) readUpdate(raw []byte) (Update, error) {
	if !json.Valid(raw) {
		return Update{}, errNoJSON
	}
	return h.read(raw)
}
