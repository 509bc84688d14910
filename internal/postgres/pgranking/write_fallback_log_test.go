package pgranking_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"testing"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// TestEveryFallbackIsLogged: each time results cannot be written together, the log has their number
// and the reason.
func TestEveryFallbackIsLogged(t *testing.T) {
	t.Parallel()
	w := newTown(t, 3)
	var log bytes.Buffer
	w.Store.Log = slog.New(slog.NewTextHandler(&log, nil))
	for round := range 2 {
		all := []ranking.Changes{
			w.match(t, 0, fmt.Sprint("a", round)), w.match(t, 1, fmt.Sprint("b", round)), w.match(t, 2, fmt.Sprint("c", round)),
		}
		all[1].Key, recorded(&all[1]).Key = "first 1", "first 1" // handled before
		results := w.gather(t, w.Store, all...)
		for i, want := range []error{nil, ranking.ErrHandled, nil} {
			if err := dbtest.Receive(t, results[i]); !errors.Is(err, want) {
				t.Errorf("result %d: %v, want %v", i, err, want)
			}
		}
		logged := regexp.MustCompile(
			`level=WARN msg="failed to write results together, writing each by itself" results=3 error="\S`)
		if n := len(logged.FindAllString(log.String(), -1)); n != round+1 {
			t.Errorf("%d fallbacks are logged, want %d:\n%s", n, round+1, log.String())
		}
	}
}
