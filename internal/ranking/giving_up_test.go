package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// inNamedLadder returns the origin of a command whose first words may name its ladder.
func inNamedLadder(o ranking.Origin, name, args string, mentions ...command.Person) ranking.Origin {
	o = saying(o, name, args, mentions...)
	o.Said.MayNameLadder = true
	return o
}

// conflicting wraps the game's store so that Apply fails with ErrConflict the given number of
// times, and then works.
func (g *game) conflicting(times int64) conflictingStore {
	return conflicting(g.store, times, func(bool) {})
}

// heldStore is a store on which another session seems to hold the lock of the group: each Apply
// that has an effect and does not use a Locked fails. If always is true, each Lock fails too.
type heldStore struct {
	ranking.Store
	always bool
}

func (h heldStore) Lock(ctx context.Context, q ranking.Query) (ranking.Locked, *ranking.Snapshot, error) {
	if h.always {
		return nil, nil, fmt.Errorf("lock: %w", ranking.ErrLocked)
	}
	return h.Store.Lock(ctx, q)
}

func (h heldStore) Apply(ctx context.Context, c ranking.Changes) error {
	if c.Effect != nil {
		return fmt.Errorf("apply: %w", ranking.ErrLocked)
	}
	return h.Store.Apply(ctx, c)
}

// TestGivingUpInNamedLadder checks that if all attempts at a command fail, the refusal names the
// ladder that the command is about, or the default ladder if the bot has read nothing yet. Nothing
// is recorded, not even by a redelivery.
func TestGivingUpInNamedLadder(t *testing.T) {
	t.Parallel()
	report, setting := ranking.Operation(ranking.ReadReport{}), ranking.Operation(ranking.TypedSettings{})
	for name, tc := range map[string]struct {
		command, args string
		mentions      []command.Person
		operation     ranking.Operation
		store         func(*game) ranking.Store
		ladder        string
	}{
		"conflicts": {"match", "padel @ 3:1", []command.Person{bob}, report, func(g *game) ranking.Store { return g.conflicting(4) }, "padel"},
		"conflicts in the default ladder": {
			"match", "@ 3:1", []command.Person{bob}, report, func(g *game) ranking.Store { return g.conflicting(4) }, "chess",
		},
		"conflicts of plain names": {"match", "padel bob 3:1", nil, report, func(g *game) ranking.Store { return g.conflicting(4) }, "padel"},
		"conflicts of a setting":   {"settings", "padel k 24", nil, setting, func(g *game) ranking.Store { return g.conflicting(4) }, "padel"},
		"a lock": {
			"match", "padel @ 3:1", []command.Person{bob}, report, func(g *game) ranking.Store { return heldStore{Store: g.store} }, "padel",
		},
		"a lock of a setting": {"settings", "padel k 24", nil, setting, func(g *game) ranking.Store { return heldStore{g.store, true} }, "padel"},
		"a lock before anything is read": {
			"undo", "padel", nil, ranking.UndoMatch{}, func(g *game) ranking.Store { return heldStore{g.store, true} }, "chess",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newLadders(t)
			service := g.newService(tc.store(g))
			o := inNamedLadder(g.at(&alice, 5), tc.command, tc.args, tc.mentions...)
			before := g.standings(t)
			for range 2 { // the second is a redelivery, which could succeed
				err := ranking.ErrTimeout
				// A busy machine may leave too little time for the answer.
				for try := 0; errors.Is(err, ranking.ErrTimeout) && try < 10; try++ {
					ctx, cancel := context.WithTimeout(asAdmin(t), 3*time.Second)
					err = service.Do(ctx, o, tc.operation)
					cancel()
				}
				must(t, err)
				checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.TooManyAtOnce})
				service = g.Service
			}
			ladders := texts(t, g, `SELECT payload -> 'ladder' ->> 'name' FROM outbox WHERE key = $1`, o.Key)
			equal(t, "the ladders of the answers", []string{tc.ladder}, ladders)
			g.has(t, 1, fmt.Sprintf("handled_commands WHERE key = '%s' AND outcome = 'refused'", o.Key))
			g.has(t, 1, "matches")
			g.has(t, 0, "ladders WHERE k_factor = 24")
			equal(t, "the standings", before, g.standings(t))
		})
	}
}

// TestEditStartsNoWizard checks that an edit that turns a recorded report into an empty /match,
// with or without a ladder, gets no answer and starts no wizard.
func TestEditStartsNoWizard(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"", "padel"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			g := newLadders(t)
			o := inNamedLadder(g.at(&carol, 5), "match", "@ 3:1", bob)
			must(t, g.Do(t.Context(), o, ranking.ReadReport{}))
			if n, ok := g.notice(t, o.Key).(ranking.MatchRecorded); !ok {
				t.Fatalf("the report is answered with %+v", n)
			}
			notices, prompts := g.count(t, "outbox"), g.count(t, "prompts")
			for n := range 2 {
				must(t, g.Do(t.Context(), inNamedLadder(editOf(&carol, o.Key, n+1), "match", args), ranking.ReadReport{}))
			}
			g.has(t, notices, "outbox")
			g.has(t, prompts, "prompts")
			g.has(t, 2, "matches")
		})
	}
}

// countingAdmins knows the admins of chats, and counts the lookups.
type countingAdmins struct {
	of    map[ranking.ExternalChatID][]ladder.UserID
	err   error
	asked map[string]int // number of lookups, by chat and user
}

func (c *countingAdmins) IsAdmin(_ context.Context, chat ranking.ExternalChatID, user ladder.UserID) (bool, error) {
	c.asked[fmt.Sprintf("%d in %d", user, chat)]++
	for _, admin := range c.of[chat] {
		if admin == user {
			return true, c.err
		}
	}
	return false, c.err
}

// TestAdminsAreAskedOnce checks that if it matters whether the sender is an admin, the bot looks it
// up once, even if the command takes several attempts. An anonymous admin needs no lookup.
func TestAdminsAreAskedOnce(t *testing.T) {
	t.Parallel()
	aboutAlice := map[string]int{fmt.Sprintf("%d in %d", alice.ID, club.ID): 1}
	refused := func(code ranking.RefusalCode) func(ranking.Notice) bool {
		return func(n ranking.Notice) bool { r, ok := n.(ranking.Refusal); return ok && r.Code == code }
	}
	isChanged := func(n ranking.Notice) bool { c, ok := n.(ranking.SettingChanged); return ok && c.After == "24" }
	isRecorded := func(n ranking.Notice) bool { _, ok := n.(ranking.MatchRecorded); return ok }
	isUndone := func(n ranking.Notice) bool { _, ok := n.(ranking.MatchUndone); return ok }
	down := errors.New("the messenger is down")
	settings := ranking.TypedSettings{}
	for name, tc := range map[string]struct {
		sender    *command.Person
		args      string
		mentions  []command.Person
		operation ranking.Operation // nil for a press of the newest prompt
		admins    map[ranking.ExternalChatID][]ladder.UserID
		err       error
		want      map[string]int
		isAnswer  func(ranking.Notice) bool
	}{
		"a setting":                {&alice, "k 24", nil, settings, admins(club.ID, alice), nil, aboutAlice, isChanged},
		"a setting of a ladder":    {&alice, "padel k 24", nil, settings, admins(club.ID, alice), nil, aboutAlice, isChanged},
		"an admin of another chat": {&alice, "k 24", nil, settings, admins(club.ID-1, alice), nil, aboutAlice, refused(ranking.AdminsOnly)},
		"another admin":            {&alice, "padel k 24", nil, settings, admins(club.ID, bob), nil, aboutAlice, refused(ranking.AdminsOnly)},
		"nobody knows":             {&alice, "k 24", nil, settings, nil, down, aboutAlice, refused(ranking.AdminsUnknown)},
		"nobody knows in a ladder": {&alice, "padel k 24", nil, settings, nil, down, aboutAlice, refused(ranking.AdminsUnknown)},
		"an anonymous admin":       {nil, "padel k 24", nil, settings, nil, down, nil, isChanged},
		"a report":                 {&alice, "padel @ 3:1", []command.Person{bob}, ranking.ReadReport{}, nil, down, nil, isRecorded},
		"a press":                  {&zoe, "", nil, nil, admins(club.ID, zoe), nil, map[string]int{fmt.Sprintf("%d in %d", zoe.ID, club.ID): 1}, isUndone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newLadders(t)
			asked := countingAdmins{of: tc.admins, err: tc.err, asked: make(map[string]int)}
			o, op := inNamedLadder(g.at(tc.sender, 6), "settings", tc.args, tc.mentions...), tc.operation
			if op == nil {
				op = answerBy(g.ask(t), ranking.Choice(0))
				o = g.press(tc.sender)
			}
			service := ranking.NewService(g.conflicting(3), nil, &asked, slog.New(slog.DiscardHandler),
				ranking.Settings{ResultsPerMinute: -1})
			must(t, service.Do(t.Context(), o, op))
			equal(t, "asked about", tc.want, asked.asked, cmpopts.EquateEmpty())
			if n := g.answer(t, o.Key, "true"); !tc.isAnswer(n) {
				t.Errorf("the answer is %+v", n)
			}
		})
	}
}

func admins(chat ranking.ExternalChatID, admin command.Person) map[ranking.ExternalChatID][]ladder.UserID {
	return map[ranking.ExternalChatID][]ladder.UserID{chat: {admin.ID}}
}

// stalledPrompts is a store on which each read of a prompt times out.
type stalledPrompts struct{ ranking.Store }

func (s stalledPrompts) Read(ctx context.Context, q ranking.Query) (*ranking.Snapshot, error) {
	if q.Prompt != 0 {
		return nil, fmt.Errorf("read: %w", ranking.ErrTimeout)
	}
	return s.Store.Read(ctx, q)
}

// TestBystanderOfStalledWizard checks that if the bot cannot find out in time whom a wizard asks,
// it does not tell the sender of a reply to try again. The sender may be a bystander, whose reply
// is not meant for the bot.
func TestBystanderOfStalledWizard(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.startWizard(t, &alice, &bob)
	service := g.newService(stalledPrompts{g.store})
	o := saying(g.at(&bob, 5), "match", "haha nice")
	notices := g.count(t, "outbox")
	for range 2 {
		if err := service.Do(t.Context(), o,
			ranking.ReplyToWizard{Wizard: g.newestPrompt(t)}); !errors.Is(err, ranking.ErrTimeout) {
			t.Errorf("error is %v, want ErrTimeout", err)
		}
	}
	g.has(t, notices, "outbox")
	g.has(t, 0, fmt.Sprintf("handled_commands WHERE key = '%s'", o.Key))
}
