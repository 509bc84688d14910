package pgranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/ranking"
)

// slowStore is a resultStore that takes the time took, or slightly longer, to write a result. It
// fails to write results together.
type slowStore struct {
	took time.Duration

	mu      sync.Mutex
	written []ranking.GroupID
	writing int
	most    int // the largest number of results written at the same time
}

func (s *slowStore) write(_ context.Context, c ranking.Changes) error {
	s.mu.Lock()
	s.writing++
	s.most = max(s.most, s.writing)
	s.mu.Unlock()
	matches, _ := c.Effect.(ranking.NewMatches)
	group := matches[0].Group
	// Each result takes a different time, which makes the order certain.
	<-time.After(s.took + time.Duration(group))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing--
	s.written = append(s.written, group)
	return nil
}

func (s *slowStore) writeResults([]*waitingResult) error { return errAlone }

// TestAloneOneByOne checks that if results cannot be written together, each gets a slot of its own,
// in the order in which they came. A result that takes longer than slotTimeout loses its slot to
// the next.
func TestAloneOneByOne(t *testing.T) {
	t.Parallel()
	const results = 7
	for name, tc := range map[string]struct {
		took time.Duration
		most int
	}{
		"quick": {slotTimeout - time.Millisecond, resultSlots},
		"slow":  {2*slotTimeout - time.Millisecond, 2 * resultSlots},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, writer := &slowStore{took: tc.took}, new(resultWriter)
				for i := range results {
					m := &ranking.NewMatch{Key: fmt.Sprint(i), Group: ranking.GroupID(i)}
					c := ranking.Changes{Key: m.Key, Decision: ranking.Decision{Effect: ranking.NewMatches{m}}}
					go func() {
						if err := writer.write(t.Context(), store, c, m); err != nil {
							t.Error(err)
						}
					}()
					synctest.Wait()
				}
				<-time.After(results * tc.took)
				synctest.Wait()
				if len(store.written) != results || !slices.IsSorted(store.written) || store.most != tc.most {
					t.Errorf("written: %v, %d at once, want %d", store.written, store.most, tc.most)
				}
				if writer.slots != 0 {
					t.Errorf("%d slots are still taken", writer.slots)
				}
			})
		})
	}
}

// TestGivenUpWhileWaiting checks that a result whose caller gives up while it waits for a slot is
// not written, even after writing it together with others has failed.
func TestGivenUpWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, writer := &slowStore{took: slotTimeout / 2}, new(resultWriter)
		ctx, giveUp := context.WithTimeout(t.Context(), store.took*3/2)
		defer giveUp()
		outcomes := make([]error, 6)
		for i := range outcomes {
			m := &ranking.NewMatch{Group: ranking.GroupID(i)}
			go func() {
				outcomes[i] = writer.write(ctx, store,
					ranking.Changes{Decision: ranking.Decision{Effect: ranking.NewMatches{m}}}, m)
			}()
			synctest.Wait()
		}
		<-time.After(time.Second)
		synctest.Wait()
		for i, err := range outcomes {
			if written := i < 2*resultSlots; written != (err == nil) || !written && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("result %d: %v", i, err)
			}
		}
		if len(store.written) != 2*resultSlots || writer.slots != 0 {
			t.Errorf("written: %v; %d slots are still taken", store.written, writer.slots)
		}
	})
}
