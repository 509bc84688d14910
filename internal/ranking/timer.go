package ranking

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Timer is something that happens by itself at a certain time. It happens once: the same transaction deletes the timer.
type Timer struct {
	Key   string // the idempotency key of what happens; it begins with t: and says what that is
	Chat  ExternalChatID
	DueAt time.Time // by the store's clock
}

// promptTimer is the beginning of the key of the timer that ends a prompt. The prompt's id follows.
const promptTimer = "t:prompt:"

// Timer returns the key of the timer that ends the prompt.
func (id PromptID) Timer() string { return promptTimer + strconv.FormatInt(int64(id), 10) }

// DueTimers returns up to limit timers that are due, in the order of their times and keys, beginning after the given one.
func (s *Service) DueTimers(ctx context.Context, after Timer, limit int) ([]Timer, error) {
	due, err := s.store.DueTimers(ctx, after, limit)
	if err != nil {
		return nil, fmt.Errorf("find due timers: %w", err)
	}
	return due, nil
}

// ErrUnknownTimer means that a newer release has set the timer. It waits for a leader of that release.
var ErrUnknownTimer = errors.New("unknown timer")

// FireTimer does what a timer is for. It does nothing if the timer is gone or no longer due.
func (s *Service) FireTimer(ctx context.Context, t Timer) error {
	text, isPrompt := strings.CutPrefix(t.Key, promptTimer)
	id, err := strconv.ParseInt(text, 10, 64)
	if !isPrompt || err != nil {
		return fmt.Errorf("%w: %s", ErrUnknownTimer, t.Key)
	}
	o := Origin{Key: t.Key, Chat: Chat{ID: t.Chat}, Trigger: ByTimer}
	c := command{name: "timer", outcome: new(CommandOutcome)}
	started := time.Now()
	err = s.retryOnConflict(ctx, t.Chat, func(ctx context.Context, _ int) error {
		return s.store.WithGroupLock(ctx, t.Chat, func(ctx context.Context, store Store) error {
			return fireTimer(ctx, store, o, c, PromptID(id))
		})
	}, "command", c.name, "key", t.Key, "chat_id", t.Chat)
	return s.finish(ctx, o, c, err, started)
}

func fireTimer(ctx context.Context, store Store, o Origin, c command, id PromptID) error {
	due, err := store.IsDue(ctx, o.Key)
	if err != nil || !due {
		return err
	}
	snap, err := store.Read(ctx, c.query(o))
	if err != nil {
		return err
	}
	expiry := &expiredPrompt{}
	if expiry.prompt, err = store.FindPrompt(ctx, o.Chat.ID, id); err != nil {
		return err
	}
	c.operation = expiry
	return decideAndApply(ctx, store, o, c, snap)
}

// expiredPrompt ends a prompt that nobody has answered in time.
type expiredPrompt struct {
	plain
	prompt *Prompt // nil if it does not exist
}

func (e *expiredPrompt) decide(context.Context, Snapshot) (Changes, error) {
	p, changes := e.prompt, Changes{Presence: NoChange, Fires: true}
	if p == nil || p.Closed {
		return changes, nil
	}
	changes.Closes = &ClosedPrompt{ID: p.ID, As: PromptExpired}
	if p.Message != 0 {
		changes.Page, changes.Edits = p.dropped(), p.Message
	}
	return changes, nil
}
