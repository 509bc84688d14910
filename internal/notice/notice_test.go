package notice_test

import (
	"slices"
	"testing"
	"time"

	"elobot/internal/notice"
)

type (
	first  struct{ Late bool }
	second struct{}
)

func (f first) Fleeting() bool { return f.Late }

var _ = notice.Register[first](notice.Kind{Name: "first", Purpose: notice.Outcome, Alone: true})

func TestKindOf(t *testing.T) {
	t.Parallel()
	want := notice.Kind{Name: "first", Purpose: notice.Outcome, Alone: true}
	if got := notice.KindOf(first{}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want.Purpose = notice.Answer
	if got := notice.KindOf(first{Late: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := notice.Names(); !slices.Equal(got, []string{"first"}) {
		t.Errorf("got %q", got)
	}
}

// TestMisuse checks that programming errors cause a panic.
func TestMisuse(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(){
		"unregistered type": func() { notice.KindOf(second{}) },
		"nil":               func() { notice.KindOf(nil) },
		"name twice":        func() { notice.Register[second](notice.Kind{Name: "first"}) },
		"type twice":        func() { notice.Register[first](notice.Kind{Name: "second"}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			misuse()
		})
	}
}

func TestLifetime(t *testing.T) {
	t.Parallel()
	for purpose, want := range map[notice.Purpose]time.Duration{
		notice.Outcome: 24 * time.Hour, notice.Answer: 10 * time.Minute, notice.Notification: 24 * time.Hour,
	} {
		if got := purpose.Lifetime(); got != want {
			t.Errorf("%s: got %v, want %v", purpose, got, want)
		}
	}
}
