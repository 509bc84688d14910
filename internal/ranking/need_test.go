package ranking

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestNeedsAreMetOnce checks that a need that comes up again is an error, because it would come up
// forever. Only the end of a season may be needed twice for each ladder, because two of its seasons
// may end in one attempt.
func TestNeedsAreMetOnce(t *testing.T) {
	t.Parallel()
	var met metNeeds
	ends := func(l Ladder) need { return seasonEnd{ladder: l} }
	for i, step := range []struct {
		need    need
		isError bool
	}{
		{wholeGroup{}, false}, {inLadder{ladder: 5}, false}, {inLadder{ladder: 5, season: 7}, false}, {upsetOf{}, false},
		{ends(Ladder{ID: 5}), false}, {ends(Ladder{ID: 6}), false}, {ends(Ladder{ID: 5}), false},
		{ends(Ladder{ID: 5}), true}, {inLadder{ladder: 5}, true}, {wholeGroup{}, true}, {upsetOf{}, true},
	} {
		if err := met.add(step.need); (err != nil) != step.isError {
			t.Errorf("step %d, %s: %v", i, step.need.what(), err)
		}
	}
}

// countedStore is a store without people or answers. It fails when it is read too often.
type countedStore struct {
	Store
	reads int
}

func (c *countedStore) Read(context.Context, Query) (*Snapshot, error) {
	if c.reads++; c.reads > 10 {
		return nil, errors.New("read too often")
	}
	return new(Snapshot), nil
}

func (c *countedStore) Answer(ctx context.Context, _ Question, _ Asked) (Notice, error) {
	_, err := c.Read(ctx, Query{})
	return nil, err
}

// insatiable is an operation that always has the same need.
type insatiable struct {
	plain
	lacks need
}

func (i insatiable) plan(_ *Service, c *call) *call {
	return c.with(job{name: "never get enough", keyless: true, operation: i})
}

func (i insatiable) decide(*Snapshot) (Decision, need, error) { return Decision{}, i.lacks, nil }

// TestNeedIsNotMetForEver checks that a command fails, instead of reading forever, if it still has
// a need after that need was met.
func TestNeedIsNotMetForEver(t *testing.T) {
	t.Parallel()
	for _, lacks := range []need{wholeGroup{}, inLadder{ladder: 5}, ladderNamed{}, foundPrompt{}, answerTo{}} {
		t.Run(lacks.what(), func(t *testing.T) {
			t.Parallel()
			store := &countedStore{}
			s := NewService(store, store, nil, slog.New(slog.DiscardHandler), Settings{})
			err := s.Do(t.Context(), Origin{Key: "m:1"}, insatiable{lacks: lacks})
			if err == nil || !strings.Contains(err.Error(), "needs "+lacks.what()+" again") {
				t.Errorf("after %d reads the error is %v", store.reads, err)
			}
		})
	}
}
