package telegram

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// isAdmin reports whether a chat's list of admins has the user.
func isAdmin(t *testing.T, c *Client, chat int64, user botsim.User) (bool, error) {
	t.Helper()
	admins, err := c.Admins(testContext(t), ranking.ExternalChatID(chat))
	return slices.Contains(admins, ladder.UserID(user.ID)), err
}

func TestAdmins(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	creator, admin, member, stranger := sim.User("creator"), sim.User("admin"), sim.User("member"), sim.User("stranger")
	group := sim.Group("g", creator, admin, member)
	group.Promote(admin)
	check := func(what string, user botsim.User, want bool) {
		t.Helper()
		if got, err := isAdmin(t, client, group.ID(), user); err != nil || got != want {
			t.Errorf("%s: %t, error %v", what, got, err)
		}
	}
	check("the creator", creator, true)
	check("an admin", admin, true)
	check("a member", member, false)
	check("a stranger", stranger, false)
	check("nobody", botsim.User{}, false)
	group.Demote(admin)
	check("one who was an admin", admin, false)
	group.Promote(sim.Bot())
	check("a member where the bot is an admin", member, false)
	group.Kick()
	check("the creator of a group without the bot", creator, false)

	for what, chat := range map[string]int64{
		"a private chat": sim.Private(creator).ID(), "an unknown chat": -1009999999999,
	} {
		if got, err := isAdmin(t, client, chat, creator); err != nil || got {
			t.Errorf("%s: %t, error %v", what, got, err)
		}
	}
	old := sim.BasicGroup("b", creator)
	old.Migrate()
	if got, err := isAdmin(t, client, old.ID(), creator); err != nil || got {
		t.Errorf("a group that has another id now: %t, error %v", got, err)
	}
	if c := sim.Complaints(); len(c) > 0 {
		t.Errorf("the simulator complains: %q", c)
	}
}

// TestUnknownThingsInAListOfAdmins checks that unused fields may have any type, and that only
// members with the status creator or administrator count as admins.
func TestUnknownThingsInAListOfAdmins(t *testing.T) {
	t.Parallel()
	const list = `{"ok":true,"result":[{"status":"overlord","user":{"id":1}},` +
		`{"status":"member","user":{"id":2}},{"user":{"id":3}},` +
		`{"status":"administrator","user":{"id":4,"first_name":[],"is_bot":"no"},"can_edit_tags":"perhaps","custom_title":5},` +
		`{"status":"creator","user":{"id":5},"is_anonymous":{}}]}`
	sim, client := startSimulator(t)
	sim.Fault(botsim.Fault{Kind: botsim.WrongAnswer, Body: list})
	for id, want := range map[int64]bool{1: false, 2: false, 3: false, 4: true, 5: true, 6: false} {
		if got, err := isAdmin(t, client, -100, botsim.User{ID: id}); err != nil || got != want {
			t.Errorf("user %d: %t, error %v", id, got, err)
		}
	}
}

func TestFailuresOfIsAdmin(t *testing.T) {
	t.Parallel()
	reject := func(status int, description string) botsim.Fault {
		return botsim.Fault{Kind: botsim.Reject, Status: status, Description: description}
	}
	for name, c := range map[string]struct {
		fault  botsim.Fault
		failed bool
	}{
		"400":             {reject(400, "Bad Request: member list is inaccessible"), false},
		"403":             {reject(403, "Forbidden: bot was kicked from the supergroup chat"), false},
		"429":             {botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 5}, true},
		"429 of a proxy":  {botsim.Fault{Kind: botsim.ServerError, Status: 429}, true},
		"404 of a proxy":  {botsim.Fault{Kind: botsim.ServerError, Status: 404}, true},
		"wrong token":     {reject(401, "Unauthorized"), true},
		"JSON 500":        {reject(500, "Internal Server Error"), true},
		"HTML 502":        {botsim.Fault{Kind: botsim.ServerError}, true},
		"cut before":      {botsim.Fault{Kind: botsim.CutBefore}, true},
		"cut after":       {botsim.Fault{Kind: botsim.CutAfter}, true},
		"no list":         {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true,"result":{}}`}, true},
		"no result":       {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true}`}, true},
		"an odd user id":  {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true,"result":[{"status":"creator","user":{"id":"x"}}]}`}, true},
		"half an answer":  {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true,"result":[{"sta`}, true},
		"an empty answer": {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true,"result":[]}`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, client := startSimulator(t)
			alice := sim.User("alice")
			group := sim.Group("g", alice)
			sim.Fault(c.fault)
			admin, err := isAdmin(t, client, group.ID(), alice)
			if admin || (err != nil) != c.failed {
				t.Errorf("admin is %t, error %v", admin, err)
			}
			if n := sim.CallCount("getChatAdministrators"); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
	t.Run("nothing listens", func(t *testing.T) {
		t.Parallel()
		if admin, err := isAdmin(t, newClient(t, nobody), -100, botsim.User{ID: 1}); admin || err == nil {
			t.Errorf("admin is %t, error %v", admin, err)
		}
	})
}

// TestIsAdminDoesNotWaitForLong checks that, if the server does not answer, Admins waits for at
// least a second, and then fails with a timeout.
func TestIsAdminDoesNotWaitForLong(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	alice := sim.User("alice")
	group := sim.Group("g", alice)
	answered := make(chan struct{})
	sim.OnCall(func(botsim.Call) { <-answered })
	begun := time.Now()
	admin, err := isAdmin(t, client, group.ID(), alice)
	waited := time.Since(begun)
	close(answered)
	var connection *ConnectionError
	if admin || !errors.As(err, &connection) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("admin is %t, error %v", admin, err)
	}
	if waited < time.Second {
		t.Errorf("it took %v", waited)
	}
}
