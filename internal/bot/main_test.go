package bot

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/rapidtest"
	"elobot/internal/telegram"
)

// testToken is the simulator's token in all tests, and secretHalf is its secret part.
const (
	testToken  = "7000000001:AAsimulated_bot_token_opens_nothing"
	secretHalf = "AAsimulated_bot_token_opens_nothing"
)

func TestMain(m *testing.M) {
	rapidtest.Same(50)
	dbtest.Main(m)
}

// buffered is a buffer for concurrent use.
type buffered struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (b *buffered) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.Write(p)
}

func (b *buffered) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data.String()
}

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// atOnce lets each request of a sender begin at once.
func atOnce(context.Context) error { return nil }

// newClient returns a client for the server at serverURL, with the simulator's token.
func newClient(t testing.TB, serverURL string) *telegram.Client {
	t.Helper()
	c, err := telegram.NewClient(testToken, serverURL)
	if err != nil {
		t.Fatalf("make client: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

func startSimulator(t testing.TB, opts ...botsim.Option) (*botsim.Server, *telegram.Client) {
	t.Helper()
	sim := botsim.Start(t, append([]botsim.Option{botsim.WithToken(testToken)}, opts...)...)
	return sim, newClient(t, sim.URL())
}

func selfOf(sim *botsim.Server) telegram.Self {
	return telegram.Self{ID: sim.Bot().ID, Username: sim.Bot().Username}
}

// equal compares got with want. The format and args describe got.
func equal[T any](t fatalizer, got, want T, format string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fmt.Sprintf(format, args...), diff)
	}
}

func must(t fatalizer, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}
