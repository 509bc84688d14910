package app

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestDatabaseIsAskedOnce checks that health checks at the same time, and shortly afterward, share
// one answer of the database. The fake clock stands still while the checks wait for each other.
func TestDatabaseIsAskedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r readiness
		asked, refused := 0, errors.New("refused")
		answers := make(chan error)
		ask := func(context.Context) error {
			asked++
			return <-answers
		}
		var requests sync.WaitGroup
		for range 10 {
			requests.Go(func() {
				if err := r.database(t.Context(), ask); !errors.Is(err, refused) {
					t.Errorf("the answer is %v", err)
				}
			})
		}
		answers <- refused
		requests.Wait()
		time.Sleep(readinessValid - time.Millisecond) //nolint:forbidigo // the clock of synctest
		if err := r.database(t.Context(), ask); !errors.Is(err, refused) || asked != 1 {
			t.Errorf("the answer is %v after %d questions", err, asked)
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // the clock of synctest
		go func() { answers <- nil }()
		if err := r.database(t.Context(), ask); err != nil || asked != 2 {
			t.Errorf("later, the answer is %v after %d questions", err, asked)
		}
	})
}

// TestSilentDatabase checks that a request waits readinessTimeout for a silent database, even if
// the request is canceled, because other requests share the answer.
func TestSilentDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r readiness
		silent := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		begun := time.Now()
		if err := r.database(gone, silent); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the answer is %v", err)
		}
		if waited := time.Since(begun); waited != readinessTimeout {
			t.Errorf("the request waited for %s", waited)
		}
	})
}
