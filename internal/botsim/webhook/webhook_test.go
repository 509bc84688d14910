package webhook_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"elobot/internal/botsim/webhook"
)

func TestRetryDelays(t *testing.T) {
	t.Parallel()
	var got []int
	for attempt := 1; attempt <= 9; attempt++ {
		got = append(got, int(webhook.RetryDelay(attempt)/time.Second))
	}
	if want := []int{0, 2, 4, 8, 16, 32, 60, 60, 60}; !slices.Equal(got, want) {
		t.Errorf("seconds = %v, want %v", got, want)
	}
	if d := webhook.RetryDelay(100_000); d != time.Minute {
		t.Errorf("delay after many attempts = %s", d)
	}
}

func TestReadTimeout(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // without this, the server does not notice that the client disconnects
		<-r.Context().Done()
	}))
	defer server.Close()
	client := webhook.NewClient()
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	status, _, err := webhook.Post(ctx, client, webhook.Settings{URL: server.URL}, []byte("{}"))
	if status != 0 || err == nil || err.Error() != "Read timeout expired" {
		t.Errorf("status %d, error %v", status, err)
	}
}
