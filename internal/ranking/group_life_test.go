package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// hello is a greeting.
type hello struct{}

func (hello) Kind() string             { return "hello" }
func (hello) Purpose() ranking.Purpose { return ranking.Outcome }

// happened is the origin of something that happens in a chat so long after everything has begun.
func (g *game) happened(chat ranking.Chat, after time.Duration) ranking.Origin {
	o := g.origin(nil)
	o.Key, o.Chat, o.SentAt, o.ReplyTo, o.Thread = "s:"+o.Key, chat, o.SentAt.Add(after), 0, 0
	return o
}

// chatState is what there is to know of the bot's place in a chat.
type chatState struct {
	Language       string
	Active, Parked bool
	Greeted        int64 // seconds after everything has begun, -1 for never
	Hellos         int
}

func (g *game) chat(t *testing.T, chat ranking.Chat) chatState {
	t.Helper()
	all := rows[chatState](t, g, `
		SELECT language, is_active, parked_at IS NOT NULL,
		       coalesce(extract(epoch FROM greeted_at)::bigint - 1700000000, -1),
		       (SELECT count(*) FROM outbox o WHERE o.chat_id = c.id AND o.kind = 'hello')
		FROM chats c WHERE telegram_chat_id = $1`, chat.ID)
	if len(all) != 1 {
		t.Fatalf("there are %d such chats", len(all))
	}
	return all[0]
}

func (g *game) mustBe(t *testing.T, what string, want chatState) {
	t.Helper()
	if diff := cmp.Diff(want, g.chat(t, club)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// speaking returns the club as somebody shows it whose app speaks a language.
func speaking(language string) ranking.Chat {
	c := club
	c.Language = language
	return c
}

func TestBotAdded(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	added := g.happened(speaking("de"), 0)
	for range 2 { // delivered again
		must(t, g.BotAdded(t.Context(), added, hello{}))
		g.mustBe(t, "added", chatState{Language: "de", Active: true, Greeted: 0, Hellos: 1})
	}
	if n := g.count(t, "ladders"); n != 1 {
		t.Errorf("%d ladders", n)
	}
	must(t, g.Greet(t.Context(), g.happened(speaking("fr"), time.Minute), hello{}))
	g.mustBe(t, "started within a minute", chatState{Language: "de", Active: true, Greeted: 0, Hellos: 1})
	must(t, g.Greet(t.Context(), g.happened(speaking("fr"), time.Minute+time.Second), hello{}))
	g.mustBe(t, "started later", chatState{Language: "de", Active: true, Greeted: 61, Hellos: 2})
	must(t, g.Greet(t.Context(), g.happened(speaking("fr"), time.Minute+time.Second), hello{}))
	g.mustBe(t, "started by somebody else at once", chatState{Language: "de", Active: true, Greeted: 61, Hellos: 3})
	must(t, g.Greet(t.Context(), g.happened(speaking("fr"), -time.Minute-time.Second), hello{}))
	g.mustBe(t, "started before, as it is heard of now", chatState{Language: "de", Active: true, Greeted: 61, Hellos: 4})
	must(t, g.BotRemoved(t.Context(), g.happened(club, time.Hour)))
	must(t, g.BotAdded(t.Context(), g.happened(club, time.Hour), hello{}))
	g.mustBe(t, "added by one of no known language", chatState{Language: "en", Active: true, Greeted: 3600, Hellos: 5})
	if n := g.count(t, "players"); n != 0 {
		t.Errorf("%d people are stored", n)
	}
}

// TestStartedBeforeItIsAdded: the two that adding the bot by its link brings come in either order.
func TestStartedBeforeItIsAdded(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, -time.Second, time.Second, time.Minute, -time.Minute} {
		g := newGame(t)
		must(t, g.Greet(t.Context(), g.happened(speaking("fr"), 0), hello{}))
		g.mustBe(t, "started", chatState{Language: "fr", Active: true, Greeted: 0, Hellos: 1})
		must(t, g.BotAdded(t.Context(), g.happened(speaking("de"), after), hello{}))
		g.mustBe(t, fmt.Sprintf("added %v after it", after), chatState{Language: "de", Active: true, Greeted: 0, Hellos: 1})
	}
}

// TestAddedWhereItIs: the bot is said to be added to a group that it is in already. That is an upgrade, and no addition.
func TestAddedWhereItIs(t *testing.T) {
	t.Parallel()
	upgraded := ranking.Chat{ID: -1000100, Kind: ranking.Supergroup, Title: "Club", Language: "fr"}
	for _, after := range []time.Duration{0, time.Second, time.Hour} {
		g := newGame(t)
		must(t, g.BotAdded(t.Context(), g.happened(speaking("de"), 0), hello{}))
		must(t, g.MoveChat(t.Context(), club.ID, upgraded.ID))
		g.exec(t, `UPDATE chats SET parked_at = now()`)
		must(t, g.BotAdded(t.Context(), g.happened(upgraded, after), hello{}))
		want := chatState{Language: "de", Active: true, Greeted: 0, Hellos: 1}
		if diff := cmp.Diff(want, g.chat(t, upgraded)); diff != "" {
			t.Errorf("upgraded after %v (-want +got):\n%s", after, diff)
		}
		if n := g.count(t, "chats WHERE frozen_until IS NOT NULL"); n != 0 {
			t.Error("the bot may write, and does not")
		}
		must(t, g.Greet(t.Context(), g.happened(upgraded, after+2*time.Minute), hello{}))
		if got := g.chat(t, upgraded).Hellos; got != 2 {
			t.Errorf("upgraded after %v, and then started: %d greetings", after, got)
		}
		must(t, g.BotRemoved(t.Context(), g.happened(upgraded, 2*time.Hour)))
		must(t, g.BotAdded(t.Context(), g.happened(upgraded, 2*time.Hour), hello{}))
		want = chatState{Language: "fr", Active: true, Greeted: 7200, Hellos: 3}
		if diff := cmp.Diff(want, g.chat(t, upgraded)); diff != "" {
			t.Errorf("removed and added (-want +got):\n%s", diff)
		}
	}
}

// TestAddedBeforeItMoves: the bot is said to be in the supergroup before anything says which group that was.
func TestAddedBeforeItMoves(t *testing.T) {
	t.Parallel()
	upgraded := ranking.Chat{ID: -1000100, Kind: ranking.Supergroup, Title: "Club", Language: "fr"}
	type outcome struct {
		Language             string
		Hellos, AfterStarted int
	}
	for name, tc := range map[string]struct {
		known, sent bool // the bot was greeted in the older group, and what the newer one is told is under way
		want        outcome
	}{
		"it waits": {true, false, outcome{"de", 1, 2}}, "it was sent": {true, true, outcome{"de", 2, 3}},
		"never greeted": {false, false, outcome{"de", 1, 1}},
	} {
		g := newGame(t)
		if tc.known {
			must(t, g.BotAdded(t.Context(), g.happened(speaking("de"), -time.Hour), hello{}))
		} else {
			must(t, g.Answer(t.Context(), g.happened(speaking("de"), -time.Hour), stats.RankingPage{}))
		}
		must(t, g.BotAdded(t.Context(), g.happened(upgraded, 0), hello{}))
		g.page(t, &alice)
		asked := g.origin(&alice)
		asked.Chat = upgraded
		must(t, g.Answer(t.Context(), asked, stats.RankingPage{}))
		if tc.sent {
			g.exec(t, `UPDATE outbox SET state = 'sending'`)
		}
		answers := g.count(t, "outbox WHERE kind <> 'hello'")
		must(t, g.MoveChat(t.Context(), club.ID, upgraded.ID))
		got := outcome{Language: g.chat(t, upgraded).Language, Hellos: g.chat(t, upgraded).Hellos}
		must(t, g.Greet(t.Context(), g.happened(upgraded, time.Second), hello{}))
		got.AfterStarted = g.chat(t, upgraded).Hellos
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if n := g.count(t, "outbox WHERE kind <> 'hello'"); n != answers {
			t.Errorf("%s: %d answers are left of %d", name, n, answers)
		}
	}
}

// TestStartedAndAddedAtOnce has two instances hear of the two at the same moment.
func TestStartedAndAddedAtOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	other := g.another()
	for n := range 6 {
		chat := ranking.Chat{ID: ranking.ExternalChatID(-1000 - n), Kind: ranking.Group, Title: "Club", Language: "de"}
		started, added := g.happened(chat, 0), g.happened(chat, time.Second)
		if n%2 == 0 { // the chat is known already
			must(t, g.Answer(t.Context(), g.happened(chat, -time.Hour), stats.RankingPage{}))
		}
		greeted := make(chan error, 1)
		go func() { greeted <- g.Greet(t.Context(), started, hello{}) }()
		must(t, other.BotAdded(t.Context(), added, hello{}))
		must(t, <-greeted)
		if got := g.chat(t, chat); got.Hellos != 1 || !got.Active || got.Language != "de" {
			t.Errorf("round %d: the chat is %+v", n, got)
		}
	}
}

func TestLanguageOfAChat(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	private := ranking.Chat{ID: alice1.ID, Kind: ranking.Private, Language: "pt-br"}
	for _, tc := range []struct {
		chat ranking.Chat
		want string
	}{
		{speaking("de"), "de"}, {speaking("fr"), "de"}, {private, "pt-br"},
		{ranking.Chat{ID: -7, Kind: ranking.Supergroup, Title: "No language"}, "en"},
	} {
		must(t, g.Answer(t.Context(), g.happened(tc.chat, 0), stats.RankingPage{}))
		if got := g.chat(t, tc.chat).Language; got != tc.want {
			t.Errorf("%+v speaks %s, want %s", tc.chat, got, tc.want)
		}
	}
}

// alice1 is Alice's private chat.
var alice1 = ranking.Chat{ID: 1, Kind: ranking.Private}

func TestBotRemovedAndBack(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	removed := g.happened(club, 0)
	must(t, g.BotRemoved(t.Context(), removed))
	must(t, g.BotBack(t.Context(), g.happened(club, 0)))
	must(t, g.Renamed(t.Context(), g.happened(club, 0)))
	must(t, g.MemberLeft(t.Context(), g.happened(club, 0), alice))
	if chats, players := g.count(t, "chats"), g.count(t, "players"); chats+players != 0 {
		t.Errorf("%d chats and %d people are known for what nobody knew", chats, players)
	}
	must(t, g.BotAdded(t.Context(), g.happened(club, 10*time.Second), hello{}))
	must(t, g.BotRemoved(t.Context(), removed)) // delivered again, by now of a chat that is known
	g.mustBe(t, "added", chatState{Language: "en", Active: true, Greeted: 10, Hellos: 1})
	must(t, g.BotRemoved(t.Context(), g.happened(club, 9*time.Second)))
	g.mustBe(t, "removed before that, as it is heard of now", chatState{Language: "en", Active: true, Greeted: 10, Hellos: 1})

	redecide := g.happened(club, 20*time.Second)
	must(t, g.BotRemoved(t.Context(), redecide))
	g.mustBe(t, "removed", chatState{Language: "en", Parked: true, Greeted: -1, Hellos: 1})
	must(t, g.BotAdded(t.Context(), g.happened(club, 30*time.Second), hello{}))
	g.mustBe(t, "added again", chatState{Language: "en", Active: true, Greeted: 30, Hellos: 2})
	must(t, g.BotRemoved(t.Context(), redecide))
	g.mustBe(t, "what came before, delivered again", chatState{Language: "en", Active: true, Greeted: 30, Hellos: 2})

	must(t, g.BotRemoved(t.Context(), g.happened(club, 40*time.Second)))
	parked := rows[struct{ At time.Time }](t, g, `SELECT parked_at FROM chats`)[0].At
	must(t, g.BotRemoved(t.Context(), g.happened(club, 50*time.Second)))
	if redecide := rows[struct{ At time.Time }](t, g, `SELECT parked_at FROM chats`)[0].At; !redecide.Equal(parked) {
		t.Errorf("parked at %v, and then at %v", parked, redecide)
	}
	must(t, g.BotBack(t.Context(), g.happened(club, time.Minute)))
	g.mustBe(t, "back", chatState{Language: "en", Active: true, Greeted: -1, Hellos: 2})
	g.record(t, &alice, alice, bob, 3, 1)
	must(t, g.BotRemoved(t.Context(), g.happened(club, 2*time.Minute)))
	must(t, g.Renamed(t.Context(), g.happened(club, time.Minute)))
	must(t, g.MemberLeft(t.Context(), g.happened(club, time.Minute), zoe))
	must(t, g.MemberLeft(t.Context(), g.happened(club, time.Minute), alice))
	g.mustBe(t, "what was before is heard of", chatState{Language: "en", Parked: true, Greeted: -1, Hellos: 2})
	g.page(t, &alice)
	g.mustBe(t, "a command came", chatState{Language: "en", Active: true, Greeted: -1, Hellos: 2})
	g.exec(t, `UPDATE chats SET is_active = false`)
	g.page(t, &alice)
	g.mustBe(t, "a command came though nothing is parked", chatState{Language: "en", Active: true, Greeted: -1, Hellos: 2})
}

// TestRemovedFromTheGroupThatWas: what is said of the id that a group had before is not said of the group.
func TestRemovedFromTheGroupThatWas(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.BotAdded(t.Context(), g.happened(club, 0), hello{}))
	upgraded := ranking.Chat{ID: -1000100, Kind: ranking.Supergroup, Title: "Club"}
	must(t, g.MoveChat(t.Context(), club.ID, upgraded.ID))
	must(t, g.BotRemoved(t.Context(), g.happened(club, time.Hour)))
	if got := g.chat(t, upgraded); !got.Active || got.Parked {
		t.Errorf("the group is %+v", got)
	}
	must(t, g.BotRemoved(t.Context(), g.happened(upgraded, time.Hour)))
	if got := g.chat(t, upgraded); got.Active || !got.Parked {
		t.Errorf("removed, the group is %+v", got)
	}
}

func TestBlocked(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.Answer(t.Context(), g.happened(alice1, 0), stats.RankingPage{}))
	must(t, g.BotRemoved(t.Context(), g.happened(alice1, time.Second)))
	if got := g.chat(t, alice1); got.Active || !got.Parked {
		t.Errorf("blocked, the chat is %+v", got)
	}
	must(t, g.BotBack(t.Context(), g.happened(alice1, time.Minute)))
	if diff := cmp.Diff(chatState{Language: "en", Active: true, Greeted: -1}, g.chat(t, alice1)); diff != "" {
		t.Errorf("unblocked (-want +got):\n%s", diff)
	}
}

func TestRenamed(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.page(t, &alice)
	renamed := club
	renamed.Title = "Club 2"
	once := g.happened(renamed, 0)
	must(t, g.Renamed(t.Context(), once))
	if page := g.page(t, nil); page.Title != "Club" { // which shows the title that came with the command
		t.Errorf("the ranking is called %q", page.Title)
	}
	must(t, g.Renamed(t.Context(), once))
	titles := rows[struct{ Title string }](t, g, `SELECT title FROM chats`)
	if len(titles) != 1 || titles[0].Title != "Club" {
		t.Errorf("after the same came again the chats are %v", titles)
	}
	must(t, g.Renamed(t.Context(), g.happened(renamed, 0)))
	if titles := rows[struct{ Title string }](t, g, `SELECT title FROM chats`); titles[0].Title != "Club 2" {
		t.Errorf("the chat is called %q", titles[0].Title)
	}
	if n := g.count(t, "outbox"); n != 2 {
		t.Errorf("%d things are told, want the two pages", n)
	}
}

// TestWhatHappensIsNotAnswered: when it cannot be kept nobody is asked to try again, and it counts as not handled.
func TestWhatHappensIsNotAnswered(t *testing.T) {
	t.Parallel()
	o := ranking.Origin{Key: "s:1", Chat: club, SentAt: time.Unix(1_700_000_000, 0)}
	for name, happens := range map[string]func(context.Context, *ranking.Service) error{
		"added":   func(ctx context.Context, s *ranking.Service) error { return s.BotAdded(ctx, o, hello{}) },
		"removed": func(ctx context.Context, s *ranking.Service) error { return s.BotRemoved(ctx, o) },
		"left":    func(ctx context.Context, s *ranking.Service) error { return s.MemberLeft(ctx, o, alice) },
	} {
		synctest.Test(t, func(t *testing.T) {
			memory := &easy{}
			store := losing{Store: memory, left: new(atomic.Int64), log: func(bool) {}}
			store.left.Store(4)
			service := ranking.NewService(store, slog.New(slog.DiscardHandler), ranking.Settings{})
			if err := happens(t.Context(), service); !errors.Is(err, ranking.ErrConflict) || len(memory.applied) > 0 {
				t.Errorf("%s: error is %v, applied %+v", name, err, memory.applied)
			}
			if err := happens(t.Context(), service); err != nil || len(memory.applied) != 1 {
				t.Errorf("%s again: error is %v, applied %+v", name, err, memory.applied)
			}
		})
	}
}
