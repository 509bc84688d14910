package ranking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sethvargo/go-retry"
)

// How often a command that conflicts with others is tried again, and how long it waits first: 100, 200 and 400 ms.
const (
	maxRetries = 3
	firstWait  = 100 * time.Millisecond
)

// Service handles the commands of all groups. Each of its methods ends with the command's effect, its key and its
// answer committed together, or with an error and nothing changed; called again with the same key it changes nothing
// and succeeds.
type Service struct {
	store Store
	log   *slog.Logger
}

// NewService returns a service that keeps everything in the store.
func NewService(store Store, log *slog.Logger) *Service {
	return &Service{store: store, log: log}
}

// Answer answers a command that changes nothing else.
func (s *Service) Answer(ctx context.Context, o Origin, n Notice) error {
	var people cast
	if o.Sender != nil {
		people.add(*o.Sender) // any command claims the player that was only named so far
	}
	return s.handle(ctx, o, command{name: "answer", people: people, decide: func(Snapshot) Changes {
		return Changes{Notice: n}
	}})
}

// command is the part of a command's handling that differs from kind to kind.
type command struct {
	name   string
	people cast
	needed int // the first so many people are added when they are not known
	top    int // how many rows of the ranking it shows
	// decide turns what there is into what shall change. It may run several times.
	decide func(Snapshot) Changes
	// refuse, if set, is asked before anybody is added.
	refuse func(Snapshot) Notice
}

// handle takes a command through reading, deciding and applying, and again from the start when it conflicts with
// another transaction.
func (s *Service) handle(ctx context.Context, o Origin, c command) error {
	attempt := 0
	backoff := retry.WithMaxRetries(maxRetries, retry.NewExponential(firstWait))
	err := retry.Do(ctx, backoff, func(ctx context.Context) error {
		attempt++
		err := s.attempt(ctx, o, c, attempt)
		if errors.Is(err, ErrConflict) {
			s.log.WarnContext(ctx, "conflict with another transaction", "command", c.name, "attempt", attempt,
				"key", o.Key, "chat_id", o.Chat.ID, "error", err)
			return retry.RetryableError(err)
		}
		return err
	})
	if errors.Is(err, ErrConflict) {
		// Giving up is an outcome like any other: with the key written, a redelivery cannot record what the user has
		// sent once more in the meantime.
		err = s.once(ctx, s.store, o, command{decide: func(Snapshot) Changes {
			return Changes{Notice: Refusal{Code: TooManyAtOnce}}
		}})
	}
	if err != nil && !errors.Is(err, ErrHandled) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// attempt runs the command once. From the second time on it holds the group, so that it cannot lose again and again.
func (s *Service) attempt(ctx context.Context, o Origin, c command, attempt int) error {
	if attempt == 1 {
		return s.once(ctx, s.store, o, c)
	}
	return s.store.Exclusively(ctx, o.Chat.ID, func(ctx context.Context, store Store) error {
		return s.once(ctx, store, o, c)
	})
}

func (s *Service) once(ctx context.Context, store Store, o Origin, c command) error {
	q := Query{Key: o.Key, Chat: o.Chat, People: c.people, Top: c.top}
	snap, err := store.Read(ctx, q)
	if err != nil {
		return err
	}
	if snap.Handled {
		return ErrHandled
	}
	decide := c.decide
	if c.refuse != nil {
		if n := c.refuse(snap); n != nil {
			decide = func(Snapshot) Changes { return Changes{Notice: n} }
			c.needed = 0
		}
	}
	if news := news(snap, q, c.needed); snap.ChatID == 0 || snap.Chat != o.Chat || len(news) > 0 {
		if err := store.Introduce(ctx, o.Chat, news); err != nil {
			return err
		}
		if snap, err = store.Read(ctx, q); err != nil {
			return err
		}
	}
	for i, k := range snap.People[:c.needed] {
		if k.Player == nil {
			return fmt.Errorf("%w: person %d is gone again", ErrConflict, i+1)
		}
	}
	changes := decide(snap)
	changes.Key, changes.Chat = o.Key, snap.ChatID
	changes.ReplyTo, changes.Thread = o.ReplyTo, o.Thread
	return store.Apply(ctx, changes)
}

// news returns what the command has shown of its people that is not known yet.
func news(snap Snapshot, q Query, needed int) []PlayerChange {
	var changes []PlayerChange
	for i, p := range q.People {
		changes = append(changes, sightings(p, snap.People[i], i < needed)...)
	}
	return changes
}
