package ranking

import "testing"

// TestNeedsAreMetOnce: a command that needs the same thing again would do so for ever. Two seasons of
// a ladder may end in one attempt.
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
