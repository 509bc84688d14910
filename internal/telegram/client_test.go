package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
	"elobot/internal/intake"
)

func ids(updates []intake.Update) []int64 {
	var all []int64
	for _, u := range updates {
		all = append(all, u.ID)
	}
	return all
}

func mustUpdates(t *testing.T, c *Client, offset int64) []intake.Update {
	t.Helper()
	updates, err := c.Updates(testContext(t), offset, 0, readUpdate)
	if err != nil {
		t.Fatalf("updates from %d: %v", offset, err)
	}
	return updates
}

func TestUpdatesStayUntilConfirmed(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	alice := sim.User("alice")
	group, other := sim.Group("g", alice), sim.Private(alice)
	group.Say(alice, "one")
	other.Say(alice, "two")
	group.Say(alice, "three")

	first := mustUpdates(t, client, 0)
	if len(first) != 3 {
		t.Fatalf("%d updates", len(first))
	}
	for i, want := range []struct {
		lane int64
		text string
	}{{group.ID(), "one"}, {other.ID(), "two"}, {group.ID(), "three"}} {
		u := first[i]
		var raw struct {
			ID      int64 `json:"update_id"`
			Message struct {
				Text string `json:"text"`
			} `json:"message"`
		}
		if err := json.Unmarshal(u.Raw, &raw); err != nil {
			t.Fatalf("read %s: %v", u.Raw, err)
		}
		if raw.ID != u.ID || u.Lane != want.lane || raw.Message.Text != want.text {
			t.Errorf("update %d: %+v of lane %d, want %+v", i, raw, u.Lane, want)
		}
	}
	if sim.Pending() != 3 {
		t.Errorf("offset 0 has left %d of 3", sim.Pending())
	}
	if got := ids(mustUpdates(t, client, first[1].ID)); !slices.Equal(got, ids(first)[1:]) {
		t.Errorf("from the second on: %v of %v", got, ids(first))
	}
	if sim.Pending() != 2 {
		t.Errorf("%d updates are not confirmed, want 2", sim.Pending())
	}
	if err := client.Confirm(testContext(t), first[2].ID); err != nil {
		t.Fatalf("confirm: %v", err)
	}
	if sim.Pending() != 1 {
		t.Errorf("%d updates are not confirmed, want 1", sim.Pending())
	}
	if err := client.Confirm(testContext(t), first[2].ID+1); err != nil {
		t.Fatalf("confirm: %v", err)
	}
	if sim.Pending() != 0 {
		t.Errorf("%d updates are not confirmed, want 0", sim.Pending())
	}
}

func TestRequestsForUpdates(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	alice := sim.User("alice")
	group := sim.Group("g", alice)
	for range 120 {
		group.Say(alice, "hello")
	}
	got, err := client.Updates(testContext(t), 0, 50*time.Second, readUpdate)
	if err != nil {
		t.Fatalf("updates: %v", err)
	}
	if len(got) != 100 {
		t.Errorf("%d updates at once", len(got))
	}
	mustUpdates(t, client, 42)
	if err := client.Confirm(testContext(t), 43); err != nil {
		t.Fatalf("confirm: %v", err)
	}
	var params []map[string]string
	for _, c := range sim.CallsOf("getUpdates") {
		params = append(params, c.Params)
	}
	const allowed = `["message","edited_message","callback_query","my_chat_member","chat_member"]`
	want := []map[string]string{
		{"limit": "100", "timeout": "50", "allowed_updates": allowed},
		{"limit": "100", "timeout": "0", "allowed_updates": allowed, "offset": "42"},
		{"limit": "1", "timeout": "0", "allowed_updates": allowed, "offset": "43"},
	}
	if diff := cmp.Diff(want, params); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if c := sim.Complaints(); len(c) > 0 {
		t.Errorf("the simulator complains: %q", c)
	}
}

// polling starts a long poll and returns when its request has arrived. The channel gets the error
// of the poll.
func polling(ctx context.Context, t *testing.T, sim *botsim.Server, client *Client) <-chan error {
	t.Helper()
	arrived := make(chan struct{})
	var once sync.Once
	t.Cleanup(sim.OnCall(func(botsim.Call) { once.Do(func() { close(arrived) }) }))
	ended := make(chan error, 1)
	go func() {
		updates, err := client.Updates(ctx, 0, 50*time.Second, readUpdate)
		if err == nil && len(updates) != 1 {
			err = fmt.Errorf("%d updates", len(updates))
		}
		ended <- err
	}()
	receive(t, arrived)
	return ended
}

func TestLongPollEndsWithAnUpdate(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	alice := sim.User("alice")
	ended := polling(testContext(t), t, sim, client)
	sim.Group("g", alice).Say(alice, "hello")
	if err := receive(t, ended); err != nil {
		t.Errorf("the long poll ended with %v", err)
	}
}

func TestLongPollEndsWithItsContext(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	ctx, cancel := context.WithCancel(testContext(t))
	ended := polling(ctx, t, sim, client)
	cancel()
	if err := receive(t, ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the long poll ended with %v", err)
	}
}

func TestLongPollIsThrownOutByAnother(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	ended := polling(testContext(t), t, sim, client)
	ctx := testContext(t)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		mustUpdates(t, client, 0)
		select {
		case err := <-ended:
			var source *intake.SourceError
			if !errors.As(err, &source) || source.Fatal || source.RetryAfter != 5*time.Second {
				t.Errorf("the long poll ended with %+v", err)
			}
			return
		case <-tick.C: // the poll may not be waiting yet
		case <-ctx.Done():
			t.Fatal("the long poll goes on")
		}
	}
}

func TestErrorsOfUpdates(t *testing.T) {
	t.Parallel()
	const webhook = "Conflict: can't use getUpdates method while webhook is active; " +
		"use deleteWebhook to delete the webhook first"
	for name, c := range map[string]struct {
		fault      botsim.Fault
		fatal      bool
		retryAfter time.Duration
		says       string // empty: no SourceError, so it counts as transient
	}{
		"wrong token":     {botsim.Fault{Kind: botsim.Reject, Status: 401, Description: "Unauthorized"}, true, 0, "@BotFather"},
		"no such bot":     {botsim.Fault{Kind: botsim.Reject, Status: 404, Description: "Not Found"}, true, 0, "@BotFather"},
		"another poller":  {botsim.Fault{Kind: botsim.Reject, Status: 409, Description: "Conflict: terminated by other getUpdates request"}, false, 5 * time.Second, "another program"},
		"a webhook":       {botsim.Fault{Kind: botsim.Reject, Status: 409, Description: webhook}, true, 0, "`elobot webhook delete`"},
		"404 of a proxy":  {botsim.Fault{Kind: botsim.ServerError, Status: 404}, false, 0, "404"},
		"too many":        {botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 7}, false, 7 * time.Second, "429"},
		"HTML 502":        {botsim.Fault{Kind: botsim.ServerError}, false, 0, "502"},
		"JSON 500":        {botsim.Fault{Kind: botsim.Reject, Status: 500, Description: "Internal Server Error"}, false, 0, "500"},
		"something else":  {botsim.Fault{Kind: botsim.Reject, Status: 400, Description: "Bad Request: no"}, false, 0, "no"},
		"nonsense":        {botsim.Fault{Kind: botsim.WrongAnswer, Body: "hello"}, false, 0, "getUpdates"},
		"not ok":          {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":false}`}, false, 0, "getUpdates"},
		"wrong parameter": {botsim.Fault{Kind: botsim.WrongAnswer, Status: 429, Body: `{"ok":false,"description":"slow","parameters":{"retry_after":"x"}}`}, false, 0, "slow"},
		"cut before":      {botsim.Fault{Kind: botsim.CutBefore}, false, 0, ""},
		"cut after":       {botsim.Fault{Kind: botsim.CutAfter}, false, 0, ""},
		"no list":         {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true,"result":{}}`}, false, 0, ""},
		"no result":       {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true}`}, false, 0, ""},
		"no id in one":    {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true,"result":["x"]}`}, false, 0, ""},
		"an id too high":  {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true,"result":[{"update_id":1e40}]}`}, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, client := startSimulator(t)
			sim.Fault(c.fault)
			_, err := client.Updates(testContext(t), 0, 0, readUpdate)
			if c.says == "" {
				var source *intake.SourceError
				if err == nil || errors.As(err, &source) {
					t.Errorf("error %v", err)
				}
				return
			}
			checkSourceError(t, err, c.fatal, c.retryAfter, c.says)
			checkSourceError(t, client.Confirm(testContext(t), 1), c.fatal, c.retryAfter, c.says)
		})
	}
}

func checkSourceError(t *testing.T, err error, fatal bool, retryAfter time.Duration, says string) {
	t.Helper()
	var source *intake.SourceError
	if !errors.As(err, &source) {
		t.Fatalf("error %v", err)
	}
	if source.Fatal != fatal || source.RetryAfter != retryAfter || !strings.Contains(err.Error(), says) {
		t.Errorf("fatal %t, retry after %v: %v", source.Fatal, source.RetryAfter, err)
	}
	var api *APIError
	if !errors.As(err, &api) || api.Method != "getUpdates" {
		t.Errorf("the answer is lost: %+v", api)
	}
}

// TestAnUpdateThatCannotBeReadIsPassedOn checks that an update with unreadable content is passed on
// with its id, and does not affect its neighbors.
func TestAnUpdateThatCannotBeReadIsPassedOn(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	alice := sim.User("alice")
	group := sim.Group("g", alice)
	group.Say(alice, "before")
	raws := []string{
		`{"message":"text"}`, `{"message":{"chat":{"id":"many"}}}`, `{"message":[],"more":1}`, `{"message":{"chat":7}}`, `{"of_the_future":{}}`,
		`{"callback_query":7}`, `{"callback_query":{"message":"text"}}`, `{"callback_query":{"id":"1","inline_message_id":"x"}}`,
	}
	for _, raw := range raws {
		sim.Update(json.RawMessage(raw))
	}
	group.Say(alice, "after")
	updates := mustUpdates(t, client, 0)
	if len(updates) != len(raws)+2 {
		t.Fatalf("%d updates", len(updates))
	}
	for i, u := range updates {
		if u.ID != updates[0].ID+int64(i) {
			t.Errorf("update %d has the id %d, the first one %d", i, u.ID, updates[0].ID)
		}
		if inner := 0 < i && i <= len(raws); (u.Lane == 0) != inner {
			t.Errorf("update %d is of lane %d", i, u.Lane)
		}
	}
}

func TestGetMe(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t, botsim.WithBotUsername("Chess_Bot"))
	got, err := client.GetMe(testContext(t))
	if err != nil || got != (Self{ID: 7000000001, Username: "Chess_Bot", JoinsGroups: true, ReadsAll: true}) {
		t.Errorf("account %+v, error %v", got, err)
	}
	sim.Fault(botsim.Fault{Kind: botsim.Reject, Status: 401, Description: "Unauthorized"})
	_, err = client.GetMe(testContext(t))
	var api *APIError
	if !errors.As(err, &api) || api.Status != http.StatusUnauthorized || api.Method != "getMe" {
		t.Errorf("error %v", err)
	}
}

func TestTransientErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault botsim.Fault
		want  bool
	}{
		"HTML 502":    {botsim.Fault{Kind: botsim.ServerError}, true},
		"too many":    {botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 1}, true},
		"cut":         {botsim.Fault{Kind: botsim.CutBefore}, true},
		"logged out":  {botsim.Fault{Kind: botsim.Reject, Status: 400, Description: "Logged out"}, true},
		"any 400":     {botsim.Fault{Kind: botsim.Reject, Status: 400, Description: "Bad Request: of tomorrow"}, false},
		"wrong token": {botsim.Fault{Kind: botsim.Reject, Status: 401, Description: "Unauthorized"}, false},
		"no such bot": {botsim.Fault{Kind: botsim.Reject, Status: 404, Description: "Not Found"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim, client := startSimulator(t)
			sim.Fault(c.fault)
			_, err := client.GetMe(testContext(t))
			if err == nil || IsTransient(err) != c.want {
				t.Errorf("passing is %t: %v", IsTransient(err), err)
			}
		})
	}
	t.Run("nothing listens", func(t *testing.T) {
		t.Parallel()
		if _, err := newClient(t, nobody).GetMe(testContext(t)); err == nil || !IsTransient(err) {
			t.Errorf("error %v", err)
		}
	})
}

var testMenus = []Menu{
	{GroupMembers, "", []models.BotCommand{{Command: "match", Description: "Report a match"}}},
	{PrivateChats, "de", []models.BotCommand{{Command: "help", Description: "Show help"}}},
}

func TestPublishMenu(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	publish := func(wantGets, wantSets int) {
		t.Helper()
		gets, sets := sim.CallCount("getMyCommands"), sim.CallCount("setMyCommands")
		if err := client.PublishMenus(testContext(t), testMenus...); err != nil {
			t.Fatalf("publish menu: %v", err)
		}
		gets, sets = sim.CallCount("getMyCommands")-gets, sim.CallCount("setMyCommands")-sets
		if gets != wantGets || sets != wantSets {
			t.Errorf("%d menus read and %d set, want %d and %d", gets, sets, wantGets, wantSets)
		}
	}
	publish(2, 2)
	publish(2, 0)
	if n := len(sim.CallsOf("deleteMyCommands")); n > 0 {
		t.Errorf("%d menus deleted", n)
	}
	// Another program has changed the menu for groups.
	other := menuParams{Commands: []models.BotCommand{{Command: "match", Description: "Something else"}}}
	other.Scope.Type = GroupMembers
	if err := client.Call(testContext(t), "setMyCommands", other, nil); err != nil {
		t.Fatalf("set menu: %v", err)
	}
	publish(2, 1)
	last := sim.CallsOf("setMyCommands")[3]
	if !strings.Contains(last.Params["scope"], "all_group_chats") {
		t.Errorf("the menu for %s was set", last.Params["scope"])
	}
	publish(2, 0)
	if c := sim.Complaints(); len(c) > 0 {
		t.Errorf("the simulator complains: %q", c)
	}
}

func TestPublishMenuFails(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"getMyCommands", "setMyCommands"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			sim, client := startSimulator(t)
			sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: method, Status: 400, Description: "Bad Request: no"})
			err := client.PublishMenus(testContext(t), testMenus...)
			var api *APIError
			if !errors.As(err, &api) || api.Method != method {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestNewClientRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ token, url string }{
		"an empty token":         {"", DefaultURL},
		"a blank token":          {" ", DefaultURL},
		"a broken address":       {testToken, "http://[::1"},
		"a bad port":             {testToken, "http://localhost:abc"},
		"a token that breaks it": {testToken + "%zz", DefaultURL},
		"a token with a newline": {testToken + "\n", DefaultURL},
	} {
		client, err := NewClient(c.token, c.url)
		if err == nil {
			client.Close()
			t.Errorf("%s is accepted", name)
			continue
		}
		checkNoSecret(t, name, err)
	}
}

func TestServerURLMayEndInASlash(t *testing.T) {
	t.Parallel()
	sim, _ := startSimulator(t)
	client := newClient(t, sim.URL()+"//")
	if _, err := client.GetMe(testContext(t)); err != nil {
		t.Errorf("ask for the account: %v", err)
	}
	mustUpdates(t, client, 0)
}
