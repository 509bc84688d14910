package telegram

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"elobot/internal/botsim"
)

// testToken is the simulator's token in all tests; secretHalf is its secret part.
const (
	testToken  = "7000000001:AAsimulated_bot_token_opens_nothing"
	secretHalf = "AAsimulated_bot_token_opens_nothing"
)

// TestMain fails if a goroutine leaks, or if anything is written to the standard log, where
// libraries write by default.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(quietly{m})
}

type quietly struct{ *testing.M }

func (q quietly) Run() int {
	var written buffered
	log.SetOutput(&written)
	code := q.M.Run()
	if text := written.String(); text != "" {
		fmt.Fprintf(os.Stderr, "written to the standard log:\n%s", strings.ReplaceAll(text, secretHalf, "THE SECRET"))
		return max(code, 1)
	}
	return code
}

// buffered is a buffer that is safe for concurrent use.
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

// newClient returns a client of a server, with the simulator's token.
func newClient(t testing.TB, serverURL string) *Client {
	t.Helper()
	c, err := NewClient(testToken, serverURL)
	if err != nil {
		t.Fatalf("make client: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

func startSimulator(t testing.TB, opts ...botsim.Option) (*botsim.Server, *Client) {
	t.Helper()
	sim := botsim.Start(t, append([]botsim.Option{botsim.WithToken(testToken)}, opts...)...)
	return sim, newClient(t, sim.URL())
}

// receive waits for a value. It ends the test if none comes in time.
func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-testContext(t).Done():
		t.Fatal("nothing came")
		panic("unreachable")
	}
}
