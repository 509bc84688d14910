package ranking

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"elobot/internal/ladder"
)

// Timer is an action that is due at a certain time. The action takes effect only once, because its
// transaction deletes the timer.
type Timer struct {
	Key   string // "t:", the kind, and ids; also the Key of the action's Origin
	Chat  ExternalChatID
	DueAt time.Time // by the store's clock
}

// PromptTimer is the prefix of the key of the timer that ends a prompt. The prompt's id follows.
const PromptTimer = "t:prompt:"

// Timer returns the key of the timer that ends the prompt.
func (id PromptID) Timer() string { return PromptTimer + strconv.FormatInt(int64(id), 10) }

// DueTimers returns up to limit timers that are due, ordered by time and key. It returns only
// timers that follow the given one in this order.
func (s *Service) DueTimers(ctx context.Context, after Timer, limit int) ([]Timer, error) {
	due, err := s.store.DueTimers(ctx, after, limit)
	if err != nil {
		return nil, fmt.Errorf("find due timers: %w", err)
	}
	return due, nil
}

// ErrUnknownTimer means that this release does not know the kind of a timer, because a newer
// release has set the timer. The timer waits until the leader runs a release that knows its kind.
var ErrUnknownTimer = errors.New("unknown timer")

// FireTimer carries out a timer's action. It does nothing if the timer is gone or no longer due,
// and fails with ErrUnknownTimer if this release does not know the timer's kind.
func (s *Service) FireTimer(ctx context.Context, t Timer) error {
	o := Origin{Key: t.Key, Chat: Chat{ID: t.Chat}, Trigger: ByTimer}
	j := job{name: "timer", knownChatOnly: true, silent: true, locks: true}
	var prompt PromptID
	var season ladder.SeasonID
	_, _ = fmt.Sscanf(t.Key, PromptTimer+"%d", &prompt)
	_, _ = fmt.Sscanf(t.Key, SeasonTimer+"%d:%d", &o.Ladder, &season)
	switch t.Key {
	case prompt.Timer():
		j.operation = expiredPrompt{id: prompt}
	case SeasonUntil{Ladder: o.Ladder, Season: season}.Timer():
		j.operation, j.keyless = seasonTimer{season: season, at: t.DueAt}, true
	default:
		if long := longOperation(t); long != nil {
			return s.run(ctx, long.plan(s, &call{Origin: o, wants: long}))
		}
		return fmt.Errorf("%w: %s", ErrUnknownTimer, t.Key)
	}
	return s.run(ctx, &call{Origin: o, job: j})
}

// expiredPrompt ends a prompt that was not answered in time.
type expiredPrompt struct {
	plain
	id PromptID
}

func (e expiredPrompt) needs() Needs { return Needs{Prompt: e.id, Timer: true} }

func (e expiredPrompt) decide(snap *Snapshot) (Decision, need, error) {
	p, d := snap.Prompt, Decision{Presence: NoChange}
	switch {
	case !snap.Due:
		return Decision{dropped: true}, nil, nil
	case p == nil || p.Closed:
		return d, nil, nil
	}
	d.Closes = &ClosedPrompt{ID: p.ID, As: PromptExpired}
	if p.Message != 0 {
		d.Page, d.PageMessageID = p.dropped(), p.Message
	}
	return d, nil, nil
}
