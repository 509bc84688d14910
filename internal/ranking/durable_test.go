package ranking_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"elobot/internal/ranking"
)

// undurableStore is a store whose commits are not durable while failure is not nil.
type undurableStore struct {
	ranking.Store
	failure error
}

func (s *undurableStore) EnsureDurable(ctx context.Context) error {
	if s.failure != nil {
		return s.failure
	}
	return s.Store.EnsureDurable(ctx)
}

// TestHandledBefore checks that the redelivery of a command, or an edit of its message, fails until
// the first handling is durable, no matter how the service notices that the command was handled
// before.
func TestHandledBefore(t *testing.T) {
	t.Parallel()
	o, report := from(&alice, "m:1"), singles(alice, bob, 3, 1)
	record := func(t *testing.T, store ranking.Store) error {
		t.Helper()
		return newQuietService(store, slog.DiscardHandler).RecordMatch(t.Context(), o, report)
	}
	for name, again := range map[string]func(*testing.T, ranking.Store) error{
		"read": record,
		"while it is written": func(t *testing.T, store ranking.Store) error {
			t.Helper()
			unread := &overtakenApply{Store: store, do: func() { must(t, record(t, store)) }}
			return newQuietService(unread, slog.DiscardHandler).RecordMatch(t.Context(), o, report)
		},
		"offer of a fix": func(t *testing.T, store ranking.Store) error {
			t.Helper()
			edit := o
			edit.Key, edit.Message = "e:1", o.Key
			return newQuietService(store, slog.DiscardHandler).RecordMatch(t.Context(), edit, report)
		},
		"reply to a wizard": func(t *testing.T, store ranking.Store) error {
			t.Helper()
			return newQuietService(store, slog.DiscardHandler).Do(t.Context(), o,
				ranking.ReplyToWizard{Wizard: ranking.PromptRef{ID: 1}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &undurableStore{Store: newGame(t).store, failure: errors.New("not on the standby")}
			if name != "while it is written" {
				must(t, record(t, store))
			}
			if err := again(t, store); !errors.Is(err, store.failure) {
				t.Errorf("the error is %v, want %v", err, store.failure)
			}
			store.failure = nil
			must(t, record(t, store))
		})
	}
}
