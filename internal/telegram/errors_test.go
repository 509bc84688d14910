package telegram

import (
	"context"
	"errors"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// TestErrorsSayWhatToDo checks that an error that an operator can act on says what to do. Each
// error has the method, and the status or Telegram's own words, but not the URL of the request.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	getMe := func(ctx context.Context, c *Client) error { _, err := c.GetMe(ctx); return err }
	getWebhook := func(ctx context.Context, c *Client) error { _, err := c.Webhook(ctx, Webhook{}); return err }
	setWebhook := func(ctx context.Context, c *Client) error { return c.SetWebhook(ctx, Webhook{}) }
	reject := func(status int, description string) botsim.Fault {
		return botsim.Fault{Kind: botsim.Reject, Status: status, Description: description}
	}
	const badWebhook = "Bad Request: bad webhook: "
	for name, tc := range map[string]struct {
		fault botsim.Fault
		do    func(context.Context, *Client) error
		is    error
		want  string
	}{
		"revoked":         {reject(401, "Unauthorized"), getMe, ErrTokenRefused, ErrTokenRefused.Error() + " (getMe: 401 Unauthorized)"},
		"revoked later":   {reject(401, "Unauthorized"), getWebhook, ErrTokenRefused, ErrTokenRefused.Error() + " (getWebhookInfo: 401 Unauthorized)"},
		"unknown":         {reject(404, "Not Found"), getMe, ErrTokenRefused, ErrTokenRefused.Error() + " (getMe: 404 Not Found)"},
		"logged out":      {reject(400, "Logged out"), getMe, nil, "the bot is logged out of SERVER, as in a move between Bot API servers, which takes up to ten minutes: wait, and check TELEGRAM_API_URL (getMe: 400 Logged out)"},
		"a proxy":         {botsim.Fault{Kind: botsim.ServerError}, getMe, nil, "SERVER does not answer: check the network, and TELEGRAM_API_URL if it is set (getMe: HTTP status 502)"},
		"too many":        {botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 1}, getMe, nil, "getMe: 429 Too Many Requests: retry after 1"},
		"a bad webhook":   {reject(400, badWebhook+"An HTTPS URL must be provided for webhook"), setWebhook, ErrWebhookRefused, ErrWebhookRefused.Error() + " (setWebhook: 400 " + badWebhook + "An HTTPS URL must be provided for webhook)"},
		"an unknown host": {reject(400, badWebhook+"Failed to resolve host: Name or service not known"), setWebhook, nil, "the host in WEBHOOK_URL is not found by Telegram: check the name, or wait until it is known (setWebhook: 400 " + badWebhook + "Failed to resolve host: Name or service not known)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, client := startSimulator(t)
			sim.Fault(tc.fault)
			err := tc.do(testContext(t), client)
			if err == nil || err.Error() != strings.ReplaceAll(tc.want, "SERVER", sim.URL()) {
				t.Errorf("error %v\nwant  %s", err, tc.want)
			}
			for _, kind := range []error{ErrTokenRefused, ErrWebhookRefused} {
				if is, want := errors.Is(err, kind), errors.Is(tc.is, kind); is != want {
					t.Errorf("that it is %q is %t, want %t", kind, is, want)
				}
			}
		})
	}
}

// TestServerWithToken checks that, if the operator sets a server address that contains the token,
// errors do not show the token.
func TestServerWithToken(t *testing.T) {
	t.Parallel()
	client, err := NewClient("123:hush", "http://127.0.0.1:1/bot123:hush")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.GetMe(testContext(t)); err == nil ||
		!strings.HasPrefix(err.Error(), "http://127.0.0.1:1 does not answer") || strings.Contains(err.Error(), "hush") {
		t.Errorf("the error is %v", err)
	}
}
