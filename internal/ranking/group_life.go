package ranking

import (
	"context"
	"time"
)

// DefaultLanguage is what is spoken where nobody has shown another language.
const DefaultLanguage = "en"

// greetingGap is how far apart the addition of the bot and its start are when they are not one: whoever adds a bot by its
// link has it started at the same moment.
const greetingGap = time.Minute

// Greet greets a group that has asked for it, unless that asks for the greeting that the addition of the bot has brought.
func (s *Service) Greet(ctx context.Context, o Origin, greeting Notice) error {
	var people participants
	if o.Sender != nil {
		people.add(*o.Sender)
	}
	decide := func(snap Snapshot) (Changes, error) {
		if atOnce(snap.Added, o.SentAt) {
			return Changes{}, nil
		}
		greeted := Greeted{Before: snap.Greeted, At: snap.Greeted}
		if greeted.At.Before(o.SentAt) {
			greeted.At = o.SentAt
		}
		return Changes{Notice: greeting, Greeted: &greeted}, nil
	}
	return s.handle(ctx, o, command{name: "greet", people: people, class: RateQuestion, decide: decide})
}

// BotAdded makes known that the bot has been added to a group. It speaks the language there of whoever has added it, and
// greets the group, unless its start has just done that. Where it is already, as far as one knows, it has not been added:
// the messenger says so too of a group that goes by another id now.
func (s *Service) BotAdded(ctx context.Context, o Origin, greeting Notice) error {
	language := o.Chat.Language
	if language == "" {
		language = DefaultLanguage
	}
	decide := func(snap Snapshot) (Changes, error) {
		greeted, started := !snap.Greeted.IsZero(), snap.Added.IsZero() && atOnce(snap.Greeted, o.SentAt)
		if greeted && !started {
			return Changes{Presence: BotActive}, nil
		}
		c := Changes{
			Presence: BotActive, Language: language,
			Greeted: &Greeted{Before: snap.Greeted, At: snap.Greeted, Added: o.SentAt},
		}
		if !greeted {
			c.Notice, c.Greeted.At = greeting, o.SentAt
		}
		return c, nil
	}
	return s.handle(ctx, o, command{name: "bot added", silent: true, decide: decide})
}

// atOnce tells whether two moments are close enough for the addition of the bot and its start to be one.
func atOnce(a, b time.Time) bool { return a.Sub(b).Abs() <= greetingGap }

// BotBack makes known that the bot may write in a chat, perhaps again. In a chat that nobody knows it means nothing.
func (s *Service) BotBack(ctx context.Context, o Origin) error {
	return s.event(ctx, o, "bot back", func(Snapshot) Changes { return Changes{Presence: BotActive} })
}

// BotRemoved makes known that the bot is not in a chat any more, or may not write to the person. What there is to tell
// waits until it is back. In a chat that nobody knows it means nothing.
func (s *Service) BotRemoved(ctx context.Context, o Origin) error {
	return s.event(ctx, o, "bot removed", func(snap Snapshot) Changes {
		// it may be known late, when the bot has been added again, or be said of an id that the chat does not have any more
		if snap.Greeted.After(o.SentAt) || snap.Chat.ID != o.Chat.ID {
			return Changes{Presence: NoChange}
		}
		return Changes{Presence: BotInactive}
	})
}

// Renamed makes known that a chat is called what the origin says. In a chat that nobody knows it means nothing.
func (s *Service) Renamed(ctx context.Context, o Origin) error {
	// The title is kept with all else that has been seen of the chat. Of the bot it says nothing: it may be known late.
	return s.event(ctx, o, "renamed", func(Snapshot) Changes { return Changes{Presence: NoChange} })
}

// MemberLeft makes known that somebody has left a group: they are not shown in its ranking until they play again, or join.
// Of somebody who has no standing there, and in a chat that nobody knows, it means nothing, and nobody is added for it.
func (s *Service) MemberLeft(ctx context.Context, o Origin, who Person) error {
	return s.handle(ctx, o, command{
		name:       "member left",
		people:     participants{who},
		lastPlayed: true,
		known:      true,
		silent:     true,
		decide: func(snap Snapshot) (Changes, error) {
			standing := snap.People[0].Standing
			if standing == nil || !standing.LeftAt.IsZero() || snap.LastPlayed.After(o.SentAt) {
				return Changes{Presence: NoChange}, nil
			}
			left := *standing
			left.LeftAt = o.SentAt
			return Changes{Presence: NoChange, Standing: &left}, nil
		},
	})
}

// event handles what has happened to a known chat, which concerns nobody in it.
func (s *Service) event(ctx context.Context, o Origin, name string, decide func(Snapshot) Changes) error {
	return s.handle(ctx, o, command{
		name: name, known: true, silent: true,
		decide: func(snap Snapshot) (Changes, error) { return decide(snap), nil },
	})
}
