package ranking

import (
	"context"
	"time"

	"elobot/internal/command"
)

// DefaultLanguage is the language that a new chat gets if the language of the sender is unknown.
const DefaultLanguage = "en"

// greetingGap is the maximum time between the addition of the bot and a /start for the two to count
// as one event. When a person adds the bot through its link, the messenger sends a /start at about
// the same time.
const greetingGap = time.Minute

// Greet answers /start in a group with the Greeting. If the bot was added at about the same time,
// and the addition was handled first, Greet does nothing, because the group has already been
// greeted.
type Greet struct{ Greeting Notice }

func (g Greet) plan(_ *Service, c *call) *call {
	decide := func(snap *Snapshot) Decision {
		if simultaneous(snap.Added, c.SentAt) {
			return Decision{}
		}
		greeted := Greeted{Before: snap.Greeted, At: snap.Greeted}
		if greeted.At.Before(c.SentAt) {
			greeted.At = c.SentAt
		}
		return Decision{Notice: g.Greeting, Effect: &greeted}
	}
	return c.with(job{name: "greet", bucket: RateQuestion, operation: event{people: senderOf(c.Origin), fn: decide}})
}

// BotAdded handles the addition of the bot to a group. Unless an admin has chosen a language, the
// group gets the language of the person who added the bot, or DefaultLanguage if that is unknown.
// The bot greets the group, unless it has just answered /start there. If the bot greeted the group
// earlier and has been there since, BotAdded only records that the bot may write there, because the
// messenger also reports an addition when a group gets a new id.
func (s *Service) BotAdded(ctx context.Context, o Origin, greeting Notice) error {
	language := o.Chat.Language
	if language == "" {
		language = DefaultLanguage
	}
	decide := func(snap *Snapshot) Decision {
		greeted, started := !snap.Greeted.IsZero(), snap.Added.IsZero() && simultaneous(snap.Greeted, o.SentAt)
		if greeted && !started {
			return Decision{Presence: BotActive}
		}
		added := &Greeted{Before: snap.Greeted, At: snap.Greeted, Added: o.SentAt, Language: language}
		if greeted {
			return Decision{Presence: BotActive, Effect: added}
		}
		added.At = o.SentAt
		return Decision{Presence: BotActive, Effect: added, Notice: greeting}
	}
	return s.run(ctx, &call{
		Origin: o, job: job{name: "bot added", silent: true, unlogged: true, operation: event{fn: decide}},
	})
}

func simultaneous(a, b time.Time) bool { return a.Sub(b).Abs() <= greetingGap }

// BotBack records that the bot is in a chat and may write there. It does nothing if the chat is not
// stored.
func (s *Service) BotBack(ctx context.Context, o Origin) error {
	return s.event(ctx, o, "bot back", func(*Snapshot) Decision { return Decision{Presence: BotActive} })
}

// BotRemoved records that the bot is no longer in a group, or that a person has blocked it. Notices
// wait until the bot is back. BotRemoved does nothing if the chat is not stored or the update is
// outdated.
func (s *Service) BotRemoved(ctx context.Context, o Origin) error {
	return s.event(ctx, o, "bot removed", func(snap *Snapshot) Decision {
		// Ignore an outdated update: it is from before the last greeting, or from before the chat
		// got its current id.
		if snap.Greeted.After(o.SentAt) || snap.Chat.ID != o.Chat.ID {
			return Decision{Presence: NoChange}
		}
		return Decision{Presence: BotInactive}
	})
}

// Renamed records the chat's title from the origin. It does nothing if the chat is not stored.
func (s *Service) Renamed(ctx context.Context, o Origin) error {
	// The update may be late, so it does not prove that the bot is still in the chat.
	return s.event(ctx, o, "renamed", func(*Snapshot) Decision { return Decision{Presence: NoChange} })
}

// MembersSeen records the names and sightings of the origin's VisibleUsers. It adds no players, and
// does nothing if the chat is not stored.
func (s *Service) MembersSeen(ctx context.Context, o Origin) error {
	return s.event(ctx, o, "members seen", func(*Snapshot) Decision { return Decision{Presence: NoChange} })
}

// MemberLeft records that a person left a group. The group's rankings hide the player until the
// person plays again or sends /join. MemberLeft never creates a player, and does nothing if the
// chat is not stored.
func (s *Service) MemberLeft(ctx context.Context, o Origin, who command.Person) error {
	return s.event(ctx, o, "member left", func(snap *Snapshot) Decision {
		d := Decision{Presence: NoChange}
		// A person who counts as another player has no standing of their own to hide.
		if k := snap.People[0]; k.Player != nil && k.Named == nil {
			d.Effect = &Left{Group: snap.Group, Player: k.Player.ID, At: o.SentAt}
		}
		return d
	}, who)
}

// event handles an update that concerns the given people and is not a command. It does nothing if
// the chat is not stored.
func (s *Service) event(
	ctx context.Context, o Origin, name string, decide func(*Snapshot) Decision, people ...command.Person,
) error {
	return s.run(ctx, &call{Origin: o, job: job{
		name: name, knownChatOnly: true, silent: true, unlogged: true,
		operation: event{people: people, fn: decide},
	}})
}
