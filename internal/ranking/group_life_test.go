package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// greeting is the notice with which the bot greets a group in these tests.
type greeting struct{}

var _ = notice.Register[greeting](notice.Kind{Name: "hello", Purpose: notice.Outcome})

// eventOrigin returns the origin of an event in a chat. after is counted from the start of the
// test's clock.
func (g *game) eventOrigin(chat ranking.Chat, after time.Duration) ranking.Origin {
	o := g.origin(nil)
	o.Key, o.Chat, o.SentAt, o.ReplyTo, o.Thread = "s:"+o.Key, chat, o.SentAt.Add(after), 0, 0
	return o
}

// chatState is the stored state of the bot in a chat.
type chatState struct {
	Language       string
	Active, Parked bool
	// Greeted is the time of the last greeting, in seconds after the start of the test's clock. It
	// is -1 if the chat was not greeted since the bot was added.
	Greeted int64
	Hellos  int // number of greetings in the outbox
}

func (g *game) chat(t *testing.T, chat ranking.Chat) chatState {
	t.Helper()
	all := rows[chatState](t, g, `
		SELECT language, is_active, parked_at IS NOT NULL,
		       coalesce(extract(epoch FROM greeted_at)::bigint - 1700000000, -1),
		       (SELECT count(*) FROM outbox o WHERE o.chat_id = c.id AND o.kind = 'hello')
		FROM chats c WHERE telegram_chat_id = $1`, chat.ID)
	if len(all) != 1 {
		t.Fatalf("found %d chats", len(all))
	}
	return all[0]
}

func (g *game) mustBe(t *testing.T, what string, want chatState) {
	t.Helper()
	equal(t, what, want, g.chat(t, club))
}

// speaking returns the club as the chat of a message whose sender's app uses the given language.
func speaking(language string) ranking.Chat {
	c := club
	c.Language = language
	return c
}

func TestBotAdded(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	added := g.eventOrigin(speaking("de"), 0)
	for range 2 { // the second is a redelivery
		must(t, g.BotAdded(t.Context(), added, greeting{}))
		g.mustBe(t, "added", chatState{Language: "de", Active: true, Greeted: 0, Hellos: 1})
	}
	g.has(t, 1, "ladders")
	must(t, g.Do(t.Context(), g.eventOrigin(speaking("fr"), time.Minute), ranking.Greet{Greeting: greeting{}}))
	g.mustBe(t, "started within a minute", chatState{Language: "de", Active: true, Greeted: 0, Hellos: 1})
	must(t, g.Do(t.Context(), g.eventOrigin(speaking("fr"), time.Minute+time.Second), ranking.Greet{Greeting: greeting{}}))
	g.mustBe(t, "started later", chatState{Language: "de", Active: true, Greeted: 61, Hellos: 2})
	must(t, g.Do(t.Context(), g.eventOrigin(speaking("fr"), time.Minute+time.Second), ranking.Greet{Greeting: greeting{}}))
	g.mustBe(t, "started by another member at the same time",
		chatState{Language: "de", Active: true, Greeted: 61, Hellos: 3})
	must(t, g.Do(t.Context(), g.eventOrigin(speaking("fr"), -time.Minute-time.Second),
		ranking.Greet{Greeting: greeting{}}))
	g.mustBe(t, "started before, delivered late", chatState{Language: "de", Active: true, Greeted: 61, Hellos: 4})
	must(t, g.BotRemoved(t.Context(), g.eventOrigin(club, time.Hour)))
	must(t, g.BotAdded(t.Context(), g.eventOrigin(club, time.Hour), greeting{}))
	g.mustBe(t, "added by a person of unknown language", chatState{Language: "en", Active: true, Greeted: 3600, Hellos: 5})
	g.has(t, 0, "players")
}

// TestStartedAndAdded checks that the bot greets a group once if someone adds the bot through its
// link, which also sends a /start, and the bot handles the /start first. The two are sent at most a
// minute apart.
func TestStartedAndAdded(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, -time.Second, time.Second, time.Minute, -time.Minute} {
		g := newGame(t)
		must(t, g.Do(t.Context(), g.eventOrigin(speaking("fr"), 0), ranking.Greet{Greeting: greeting{}}))
		g.mustBe(t, "started", chatState{Language: "fr", Active: true, Greeted: 0, Hellos: 1})
		must(t, g.BotAdded(t.Context(), g.eventOrigin(speaking("de"), after), greeting{}))
		g.mustBe(t, fmt.Sprintf("added %v after it", after), chatState{Language: "de", Active: true, Greeted: 0, Hellos: 1})
	}
}

// TestAddedWhereActive checks that the bot does not greet a group again when the group has become a
// supergroup and an update says that the bot was added to it. The bot does greet the group after a
// /start, and after it was removed and added again.
func TestAddedWhereActive(t *testing.T) {
	t.Parallel()
	upgraded := ranking.Chat{ID: -1000100, Kind: ranking.Supergroup, Title: "Club", Language: "fr"}
	for _, after := range []time.Duration{0, time.Second, time.Hour} {
		g := newGame(t)
		must(t, g.BotAdded(t.Context(), g.eventOrigin(speaking("de"), 0), greeting{}))
		must(t, g.MoveChat(t.Context(), club.ID, upgraded.ID))
		g.exec(t, `UPDATE chats SET parked_at = now()`)
		must(t, g.BotAdded(t.Context(), g.eventOrigin(upgraded, after), greeting{}))
		want := chatState{Language: "de", Active: true, Greeted: 0, Hellos: 1}
		equal(t, fmt.Sprintf("upgraded after %v", after), want, g.chat(t, upgraded))
		g.has(t, 0, "chats WHERE frozen_until IS NOT NULL")
		must(t, g.Do(t.Context(), g.eventOrigin(upgraded, after+2*time.Minute), ranking.Greet{Greeting: greeting{}}))
		if got := g.chat(t, upgraded).Hellos; got != 2 {
			t.Errorf("upgraded after %v and started: %d greetings, want 2", after, got)
		}
		must(t, g.BotRemoved(t.Context(), g.eventOrigin(upgraded, 2*time.Hour)))
		must(t, g.BotAdded(t.Context(), g.eventOrigin(upgraded, 2*time.Hour), greeting{}))
		want = chatState{Language: "fr", Active: true, Greeted: 7200, Hellos: 3}
		equal(t, "removed and added", want, g.chat(t, upgraded))
	}
}

// TestAddedBeforeMove checks that the move of a group to a supergroup keeps the language of the old
// group, even if the bot's addition to the supergroup arrives before the move. If the old group was
// greeted, the move also drops the second greeting, unless the bot is already sending it.
func TestAddedBeforeMove(t *testing.T) {
	t.Parallel()
	upgraded := ranking.Chat{ID: -1000100, Kind: ranking.Supergroup, Title: "Club", Language: "fr"}
	type outcome struct {
		Language             string
		Hellos, AfterStarted int
	}
	for name, tc := range map[string]struct {
		// known is set if the old group was greeted, and sent if notices of the supergroup are
		// being sent.
		known, sent bool
		want        outcome
	}{
		"waiting": {true, false, outcome{"de", 1, 2}}, "being sent": {true, true, outcome{"de", 2, 3}},
		"never greeted": {false, false, outcome{"de", 1, 1}},
	} {
		g := newGame(t)
		if tc.known {
			must(t, g.BotAdded(t.Context(), g.eventOrigin(speaking("de"), -time.Hour), greeting{}))
		} else {
			must(t, g.Do(t.Context(), g.eventOrigin(speaking("de"), -time.Hour), ranking.Say{Notice: stats.RankingPage{}}))
		}
		must(t, g.BotAdded(t.Context(), g.eventOrigin(upgraded, 0), greeting{}))
		g.page(t, &alice)
		asked := g.origin(&alice)
		asked.Chat = upgraded
		must(t, g.Do(t.Context(), asked, ranking.Say{Notice: stats.RankingPage{}}))
		if tc.sent {
			g.exec(t, `UPDATE outbox SET state = 'sending'`)
		}
		answers := g.count(t, "outbox WHERE kind <> 'hello'")
		must(t, g.MoveChat(t.Context(), club.ID, upgraded.ID))
		got := outcome{Language: g.chat(t, upgraded).Language, Hellos: g.chat(t, upgraded).Hellos}
		must(t, g.Do(t.Context(), g.eventOrigin(upgraded, time.Second), ranking.Greet{Greeting: greeting{}}))
		got.AfterStarted = g.chat(t, upgraded).Hellos
		equal(t, name, tc.want, got)
		if n := g.count(t, "outbox WHERE kind <> 'hello'"); n != answers {
			t.Errorf("%s: %d of %d answers are left", name, n, answers)
		}
	}
}

func TestLanguageOfAChat(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	private := ranking.Chat{ID: alicePrivate.ID, Kind: ranking.Private, Language: "pt-br"}
	for _, tc := range []struct {
		chat ranking.Chat
		want string
	}{
		{speaking("de"), "de"}, {speaking("fr"), "de"}, {private, "pt-br"},
		{ranking.Chat{ID: -7, Kind: ranking.Supergroup, Title: "No language"}, "en"},
		{ranking.Chat{ID: -7, Kind: ranking.Supergroup, Title: "No language", Language: "de"}, "en"},
	} {
		must(t, g.Do(t.Context(), g.eventOrigin(tc.chat, 0), ranking.Say{Notice: stats.RankingPage{}}))
		if got := g.chat(t, tc.chat).Language; got != tc.want {
			t.Errorf("%+v speaks %s, want %s", tc.chat, got, tc.want)
		}
	}
}

var alicePrivate = ranking.Chat{ID: 1, Kind: ranking.Private}

func TestBotRemovedAndBack(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	removed := g.eventOrigin(club, 0)
	must(t, g.BotRemoved(t.Context(), removed))
	must(t, g.BotBack(t.Context(), g.eventOrigin(club, 0)))
	must(t, g.Renamed(t.Context(), g.eventOrigin(club, 0)))
	must(t, g.MemberLeft(t.Context(), g.eventOrigin(club, 0), alice))
	if chats, players := g.count(t, "chats"), g.count(t, "players"); chats+players != 0 {
		t.Errorf("events in an unknown chat created %d chats and %d players", chats, players)
	}
	must(t, g.BotAdded(t.Context(), g.eventOrigin(club, 10*time.Second), greeting{}))
	must(t, g.BotRemoved(t.Context(), removed)) // a redelivery, now that the chat is known
	g.mustBe(t, "added", chatState{Language: "en", Active: true, Greeted: 10, Hellos: 1})
	must(t, g.BotRemoved(t.Context(), g.eventOrigin(club, 9*time.Second)))
	g.mustBe(t, "removed before that, delivered late", chatState{Language: "en", Active: true, Greeted: 10, Hellos: 1})

	removedLater := g.eventOrigin(club, 20*time.Second)
	must(t, g.BotRemoved(t.Context(), removedLater))
	g.mustBe(t, "removed", chatState{Language: "en", Parked: true, Greeted: -1, Hellos: 1})
	must(t, g.BotAdded(t.Context(), g.eventOrigin(club, 30*time.Second), greeting{}))
	g.mustBe(t, "added again", chatState{Language: "en", Active: true, Greeted: 30, Hellos: 2})
	must(t, g.BotRemoved(t.Context(), removedLater))
	g.mustBe(t, "earlier removal redelivered", chatState{Language: "en", Active: true, Greeted: 30, Hellos: 2})

	must(t, g.BotRemoved(t.Context(), g.eventOrigin(club, 40*time.Second)))
	parked := texts(t, g, `SELECT parked_at::text FROM chats`)
	must(t, g.BotRemoved(t.Context(), g.eventOrigin(club, 50*time.Second)))
	equal(t, "parked", parked, texts(t, g, `SELECT parked_at::text FROM chats`))
	must(t, g.BotBack(t.Context(), g.eventOrigin(club, time.Minute)))
	g.mustBe(t, "back", chatState{Language: "en", Active: true, Greeted: -1, Hellos: 2})
	g.record(t, &alice, alice, bob, 3, 1)
	must(t, g.BotRemoved(t.Context(), g.eventOrigin(club, 2*time.Minute)))
	must(t, g.Renamed(t.Context(), g.eventOrigin(club, time.Minute)))
	must(t, g.MemberLeft(t.Context(), g.eventOrigin(club, time.Minute), zoe))
	must(t, g.MemberLeft(t.Context(), g.eventOrigin(club, time.Minute), alice))
	g.mustBe(t, "earlier events delivered late", chatState{Language: "en", Parked: true, Greeted: -1, Hellos: 2})
	g.page(t, &alice)
	g.mustBe(t, "after a command", chatState{Language: "en", Active: true, Greeted: -1, Hellos: 2})
	g.exec(t, `UPDATE chats SET is_active = false`)
	g.page(t, &alice)
	g.mustBe(t, "after a command without parking", chatState{Language: "en", Active: true, Greeted: -1, Hellos: 2})
}

// TestRemovedFromFormerID checks that the bot's removal from the chat's former id does not affect
// the group.
func TestRemovedFromFormerID(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.BotAdded(t.Context(), g.eventOrigin(club, 0), greeting{}))
	upgraded := ranking.Chat{ID: -1000100, Kind: ranking.Supergroup, Title: "Club"}
	must(t, g.MoveChat(t.Context(), club.ID, upgraded.ID))
	must(t, g.BotRemoved(t.Context(), g.eventOrigin(club, time.Hour)))
	if got := g.chat(t, upgraded); !got.Active || got.Parked {
		t.Errorf("the group is %+v", got)
	}
	must(t, g.BotRemoved(t.Context(), g.eventOrigin(upgraded, time.Hour)))
	if got := g.chat(t, upgraded); got.Active || !got.Parked {
		t.Errorf("removed, the group is %+v", got)
	}
}

func TestBlocked(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.Do(t.Context(), g.eventOrigin(alicePrivate, 0), ranking.Say{Notice: stats.RankingPage{}}))
	must(t, g.BotRemoved(t.Context(), g.eventOrigin(alicePrivate, time.Second)))
	if got := g.chat(t, alicePrivate); got.Active || !got.Parked {
		t.Errorf("blocked, the chat is %+v", got)
	}
	must(t, g.BotBack(t.Context(), g.eventOrigin(alicePrivate, time.Minute)))
	equal(t, "unblocked", chatState{Language: "en", Active: true, Greeted: -1}, g.chat(t, alicePrivate))
}

func TestRenamed(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.page(t, &alice)
	renamed := club
	renamed.Title = "Club 2"
	once := g.eventOrigin(renamed, 0)
	must(t, g.Renamed(t.Context(), once))
	// The command is handled after the event, so the chat has the title from the command.
	if page := g.page(t, nil); page.Title != "Club" {
		t.Errorf("the ranking is called %q", page.Title)
	}
	must(t, g.Renamed(t.Context(), once))
	equal(t, "after a redelivery the chats", []string{"Club"}, texts(t, g, `SELECT title FROM chats`))
	must(t, g.Renamed(t.Context(), g.eventOrigin(renamed, 0)))
	equal(t, "the chats", []string{"Club 2"}, texts(t, g, `SELECT title FROM chats`))
	g.has(t, 2, "outbox")
}

// TestEventsAreNotAnswered checks that after a failed event, the bot does not tell anyone to try
// again, and does not store the event's key.
func TestEventsAreNotAnswered(t *testing.T) {
	t.Parallel()
	o := ranking.Origin{Key: "s:1", Chat: club, SentAt: time.Unix(1_700_000_000, 0)}
	for name, happens := range map[string]func(context.Context, *ranking.Service) error{
		"added":   func(ctx context.Context, s *ranking.Service) error { return s.BotAdded(ctx, o, greeting{}) },
		"removed": func(ctx context.Context, s *ranking.Service) error { return s.BotRemoved(ctx, o) },
		"left":    func(ctx context.Context, s *ranking.Service) error { return s.MemberLeft(ctx, o, alice) },
	} {
		synctest.Test(t, func(t *testing.T) {
			memory := &memoryStore{}
			service := newQuietService(conflicting(memory, 4, func(bool) {}), slog.DiscardHandler)
			if err := happens(t.Context(), service); !errors.Is(err, ranking.ErrConflict) || len(memory.applied) > 0 {
				t.Errorf("%s: error is %v, applied %+v", name, err, memory.applied)
			}
			if err := happens(t.Context(), service); err != nil || len(memory.applied) != 1 {
				t.Errorf("%s again: error is %v, applied %+v", name, err, memory.applied)
			}
		})
	}
}
