package postgres_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"testing"

	"elobot/internal/ranking"
)

// TestEveryFallbackIsLogged: results that are not written together after all are told of, each time, with how many there
// are and why.
func TestEveryFallbackIsLogged(t *testing.T) {
	t.Parallel()
	w := newTown(t, 3)
	var log bytes.Buffer
	store := w.store.WithLog(slog.New(slog.NewTextHandler(&log, nil)))
	for round := range 2 {
		all := []ranking.Changes{
			w.match(t, 0, fmt.Sprint("a", round)), w.match(t, 1, fmt.Sprint("b", round)), w.match(t, 2, fmt.Sprint("c", round)),
		}
		all[1].Key = "first 1" // which was handled before
		results := w.gather(t, store, all...)
		for i, want := range []error{nil, ranking.ErrHandled, nil} {
			if err := receive(t, results[i]); !errors.Is(err, want) {
				t.Errorf("result %d: %v, want %v", i, err, want)
			}
		}
		said := regexp.MustCompile(`level=WARN msg="failed to write results together, writing each by itself" results=3 error="\S`)
		if n := len(said.FindAllString(log.String(), -1)); n != round+1 {
			t.Errorf("%d fallbacks are logged, want %d:\n%s", n, round+1, log.String())
		}
	}
}
