// Package webhook implements Telegram's side of a webhook: which addresses Telegram accepts, how it
// sends an update there, and how long it waits before it sends the update again. The package does
// not choose the next update.
package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	maxConnections = 100
	maxRetryDelay  = time.Minute
	maxRetryAfter  = 3600    // seconds
	maxResponse    = 1 << 20 // bytes of a response that are read
)

// NewClient returns a client that follows no redirects and uses no proxy.
func NewClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: maxConnections, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// RetryDelay returns how long Telegram waits after the given attempt has failed without a
// Retry-After. Attempts count from 1.
func RetryDelay(attempt int) time.Duration {
	if attempt <= 1 {
		return 0
	}
	return min(time.Second<<min(attempt-1, 10), maxRetryDelay)
}

// Post sends an update once, to the URL in the settings. It returns the status of the response, or
// 0 if there was none. Unless it gets a complete 2xx response, it returns an error, whose text is
// for last_error_message in getWebhookInfo. retryAfter is the Retry-After of a complete response
// with another status, at most an hour, or 0.
func Post(
	ctx context.Context, client *http.Client, to Settings, update []byte,
) (status int, retryAfter time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(update))
	if err != nil {
		return 0, 0, fmt.Errorf("create request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "") // Telegram sends no User-Agent
	if to.Secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", to.Secret)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, 0, errors.New(describeFailure(err))
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxResponse)); err != nil {
		return resp.StatusCode, 0, errors.New(describeFailure(err))
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return resp.StatusCode, 0, nil
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil {
		seconds = 0 // Telegram understands only seconds
	}
	return resp.StatusCode, time.Duration(min(max(seconds, 0), maxRetryAfter)) * time.Second,
		fmt.Errorf("Wrong response from the webhook: %s", resp.Status) //nolint:staticcheck // Telegram's wording
}

// describeFailure describes why there was no complete response, in Telegram's wording for common
// causes.
func describeFailure(err error) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "Read timeout expired"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "Connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "Connection reset by peer"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "Connection closed"
	}
	return err.Error()
}

// Settings holds the parameters of setWebhook that determine how updates are delivered.
type Settings struct {
	URL, Secret string
	Connections int // maximum number of concurrent deliveries
}

var ports = []string{"", "443", "80", "88", "8443"}

// Check returns an error, in Telegram's words, if the URL is malformed or has a scheme or a port
// that Telegram does not accept. It adds a missing scheme. Unlike Telegram, it accepts http and any
// port if the host is localhost or a loopback address.
func (w *Settings) Check() error {
	if !strings.Contains(w.URL, "://") {
		w.URL = "https://" + w.URL
	}
	u, err := url.Parse(w.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("invalid webhook URL specified")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.Hostname() == "localhost", err == nil && ip.IsLoopback():
	case u.Scheme == "http":
		return errors.New("bad webhook: An HTTPS URL must be provided for webhook")
	case !slices.Contains(ports, u.Port()):
		return errors.New("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
	}
	return nil
}
