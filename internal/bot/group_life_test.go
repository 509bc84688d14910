package bot

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/intake"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
)

// memberJSON returns an update of the given kind: the membership of user 1002 in a chat changes
// from the status old to the status now.
func memberJSON(kind, chat, old, now string) string {
	return fmt.Sprintf(
		`{"update_id":1,%q:{"chat":%s,"date":100,"from":{"id":1001,"first_name":"Alice","language_code":"de"},`+
			`"old_chat_member":%s,"new_chat_member":%s}}`, kind, chat, memberOf(old), memberOf(now))
}

func memberOf(status string) string {
	extra := ""
	switch status {
	case "restricted in":
		status, extra = "restricted", `,"is_member":true`
	case "restricted out":
		status, extra = "restricted", `,"is_member":false`
	}
	return fmt.Sprintf(`{"status":%q%s,"user":{"id":1002,"first_name":"Bob","username":"bob"}}`, status, extra)
}

const (
	someGroup      = `{"id":-100,"type":"group","title":"Chess"}`
	someSupergroup = `{"id":-1001,"type":"supergroup","title":"Chess"}`
	somePrivate    = `{"id":1001,"type":"private"}`
	someChannel    = `{"id":-1001,"type":"channel","title":"News"}`
)

// handleRaw passes an update to a router. It returns the service calls, and the chats that the
// router passed to the function of WhenMembersChange.
func handleRaw(t *testing.T, raw string) (calls []call, forgotten []ranking.ExternalChatID) {
	t.Helper()
	rankings := &fakeRankings{}
	router := newRouter(rankings)
	router.WhenMembersChange(func(chat ranking.ExternalChatID) {
		if len(rankings.calls) > 0 {
			t.Error("the chat is forgotten too late")
		}
		forgotten = append(forgotten, chat)
	})
	if err := router.Handle(t.Context(), decoded(intake.Update{ID: 1, Raw: json.RawMessage(raw)})); err != nil {
		t.Fatalf("handle %s: %v", raw, err)
	}
	return rankings.calls, forgotten
}

func TestMembers(t *testing.T) {
	t.Parallel()
	const greeted, left, seen = "added greeting {}", "left Bob@bob#1002", "seen Bob@bob#1002"
	for _, tc := range []struct{ kind, chat, old, now, want string }{
		{"my_chat_member", someGroup, "left", "member", greeted},
		{"my_chat_member", someSupergroup, "kicked", "administrator", greeted},
		{"my_chat_member", someSupergroup, "left", "restricted in", greeted},
		{"my_chat_member", someSupergroup, "restricted out", "member", greeted},
		{"my_chat_member", someSupergroup, "", "member", greeted},
		{"my_chat_member", someSupergroup, "member", "administrator", "back"},
		{"my_chat_member", someSupergroup, "administrator", "member", "back"},
		{"my_chat_member", someSupergroup, "member", "restricted in", "back"},
		{"my_chat_member", someSupergroup, "restricted in", "member", "back"},
		{"my_chat_member", someGroup, "member", "left", "removed"},
		{"my_chat_member", someSupergroup, "administrator", "kicked", "removed"},
		{"my_chat_member", someSupergroup, "member", "restricted out", "removed"},
		{"my_chat_member", someSupergroup, "kicked", "left", "removed"},
		{"my_chat_member", someSupergroup, "member", "exiled", ignored},
		{"my_chat_member", someSupergroup, "member", "", ignored},
		{"my_chat_member", somePrivate, "member", "kicked", "removed"},
		{"my_chat_member", somePrivate, "kicked", "member", "back"},
		{"my_chat_member", someChannel, "left", "administrator", ignored},
		{"my_chat_member", someChannel, "administrator", "left", ignored},
		{"my_chat_member", `{"id":0,"type":"group"}`, "left", "member", ignored},

		{"chat_member", someGroup, "member", "left", left},
		{"chat_member", someSupergroup, "administrator", "kicked", left},
		{"chat_member", someSupergroup, "member", "restricted out", left},
		{"chat_member", someSupergroup, "restricted in", "left", left},
		{"chat_member", someSupergroup, "", "left", left},
		{"chat_member", someSupergroup, "kicked", "left", ignored},
		{"chat_member", someSupergroup, "left", "kicked", ignored},
		{"chat_member", someSupergroup, "restricted out", "left", ignored},
		{"chat_member", someSupergroup, "left", "member", seen},
		{"chat_member", someSupergroup, "member", "administrator", seen},
		{"chat_member", someSupergroup, "member", "restricted in", seen},
		{"chat_member", someSupergroup, "member", "exiled", ignored},
		{"chat_member", someChannel, "member", "left", ignored},
		{"chat_member", somePrivate, "member", "left", ignored},
	} {
		raw := memberJSON(tc.kind, tc.chat, tc.old, tc.now)
		calls, forgotten := handleRaw(t, raw)
		var got []string
		for _, c := range calls {
			got = append(got, c.String())
		}
		equal(t, got, none(tc.want), "%s in %s, %s to %s", tc.kind, tc.chat, tc.old, tc.now)
		if want := tc.chat != `{"id":0,"type":"group"}`; (len(forgotten) == 1) != want {
			t.Errorf("%s in %s, %s to %s: forgotten are %v", tc.kind, tc.chat, tc.old, tc.now, forgotten)
		}
	}
}

// TestMembersWhoAreNone checks that the router makes no call if the member is a bot, if a needed
// field is missing, or if a service message is in a chat that is not a group.
func TestMembersWhoAreNone(t *testing.T) {
	t.Parallel()
	for _, user := range []string{`{"id":7,"is_bot":true,"first_name":"Helper"}`, `{"id":0}`, `null`} {
		for _, raw := range []string{
			`{"chat_member":{"chat":` + someGroup + `,"date":100,"new_chat_member":{"status":"left","user":` + user + `}}}`,
			`{"chat_member":{"chat":` + someGroup + `,"date":100,"new_chat_member":{"status":"member","user":` + user + `}}}`,
			`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,"new_chat_members":[` + user + `]}}`,
			`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,"left_chat_member":` + user + `}}`,
		} {
			if calls, _ := handleRaw(t, raw); len(calls) > 0 {
				t.Errorf("%s: %v", raw, calls)
			}
		}
	}
	for _, raw := range []string{
		`{"message":{"message_id":5,"chat":` + someChannel + `,"date":100,"new_chat_title":"News 2"}}`,
		`{"message":{"message_id":5,"chat":` + somePrivate + `,"date":100,"left_chat_member":{"id":1002,"first_name":"Bob"}}}`,
		`{"message":{"message_id":0,"chat":` + someGroup + `,"date":100,"new_chat_title":"Chess 2"}}`,
		`{"my_chat_member":{}}`, `{"chat_member":{"chat":` + someGroup + `}}`,
	} {
		if calls, _ := handleRaw(t, raw); len(calls) > 0 {
			t.Errorf("%s: %v", raw, calls)
		}
	}
}

// TestPeopleWhoAreShown checks that the origin of a message lists the people whose user ids the
// message reveals: the author of the message that it replies to, the people in its text mentions,
// and new members.
func TestPeopleWhoAreShown(t *testing.T) {
	t.Parallel()
	const from, bob, carol = `"from":{"id":1,"first_name":"Alice"}`, `{"id":2,"first_name":"Bob","username":"bob"}`,
		`{"id":3,"first_name":"Carol"}`
	const mention = `"entities":[{"type":"bot_command","offset":0,"length":3},` +
		`{"type":"text_mention","offset":4,"length":5,"user":` + carol + `}]`
	for name, tc := range map[string]struct{ raw, want string }{
		"reply":        {`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,` + from + `,"text":"/me","entities":[{"type":"bot_command","offset":0,"length":3}],"reply_to_message":{"message_id":4,"chat":` + someGroup + `,"from":` + bob + `}}}`, "Bob@bob#2"},
		"text mention": {`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,` + from + `,"text":"/me Carol",` + mention + `}}`, "Carol#3"},
		"both":         {`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,` + from + `,"text":"/me Carol",` + mention + `,"reply_to_message":{"message_id":4,"chat":` + someGroup + `,"from":` + bob + `}}}`, "Bob@bob#2+Carol#3"},
		"joined":       {`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,"new_chat_members":[` + bob + `,` + carol + `]}}`, "Bob@bob#2+Carol#3"},
	} {
		calls, _ := handleRaw(t, tc.raw)
		if len(calls) != 1 || team(calls[0].origin.VisibleUsers) != tc.want {
			t.Errorf("%s: %v show %+v, want %s", name, calls, calls[0].origin.VisibleUsers, tc.want)
		}
	}
}

func TestOriginOfGroupLife(t *testing.T) {
	t.Parallel()
	origin := func(raw string) ranking.Origin {
		t.Helper()
		calls, _ := handleRaw(t, raw)
		if len(calls) != 1 {
			t.Fatalf("calls of %s: %v", raw, calls)
		}
		return calls[0].origin
	}
	group := ranking.Chat{ID: -100, Kind: ranking.Group, Title: "Chess"}
	german := group
	german.Language = "de"
	renamed := group
	renamed.Title = "Chess <2>"
	at := time.Unix(100, 0).UTC()
	added := origin(memberJSON("my_chat_member", someGroup, "left", "member"))
	for what, tc := range map[string]struct{ got, want ranking.Origin }{
		"added": {added, ranking.Origin{Key: added.Key, Chat: german, SentAt: at}},
		"renamed": {
			origin(`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,"new_chat_title":"Chess \u202e\n <2>"}}`),
			ranking.Origin{Key: "m:-100:5", Chat: renamed, SentAt: at},
		},
		"left": {
			origin(`{"message":{"message_id":5,"chat":` + someGroup + `,"date":100,` +
				`"left_chat_member":{"id":1002,"first_name":"Bob"}}}`),
			ranking.Origin{Key: "m:-100:5", Chat: group, SentAt: at},
		},
	} {
		equal(t, tc.got, tc.want, "%s", what)
	}
	if again := origin(memberJSON("my_chat_member", someGroup, "left", "member")); again.Key != added.Key {
		t.Errorf("the same change has the keys %q and %q", added.Key, again.Key)
	}
	keys := map[string]string{added.Key: "added"}
	for what, raw := range map[string]string{
		"in another group": memberJSON("my_chat_member", someSupergroup, "left", "member"),
		"after a ban":      memberJSON("my_chat_member", someGroup, "kicked", "member"),
		"as an admin":      memberJSON("my_chat_member", someGroup, "left", "administrator"),
		"restricted":       memberJSON("my_chat_member", someGroup, "left", "restricted in"),
		"removed":          memberJSON("my_chat_member", someGroup, "left", "restricted out"),
		"a member removed": memberJSON("my_chat_member", someGroup, "member", "restricted out"),
		"somebody else":    memberJSON("chat_member", someGroup, "member", "restricted out"),
		"later": `{"my_chat_member":{"chat":` + someGroup + `,"date":101,"old_chat_member":` + memberOf("left") +
			`,"new_chat_member":` + memberOf("member") + `}}`,
		"another bot": `{"my_chat_member":{"chat":` + someGroup + `,"date":100,"old_chat_member":{"status":"left"},` +
			`"new_chat_member":{"status":"member","user":{"id":1003}}}}`,
	} {
		key := origin(raw).Key
		if other, taken := keys[key]; taken {
			t.Errorf("%s has the same key as %s", what, other)
		}
		keys[key] = what
	}
}

func TestLanguageTag(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"en": "en", "de": "de", "pt-br": "pt-br", "pt-BR": "pt-br", "zh-Hans-CN": "zh-hans-cn", "yue": "yue", "es-419": "es-419", "en_US": "en-us",
		"": "", "e": "", "e1": "", "-": "", "en-": "", "-en": "", "en--us": "", "en us": "",
		"<b>": "", "en-😀": "", "ру": "",
		"abcdefghi": "", "en-abcdefghi": "", "en-x-" + strings.Repeat("a", 8) + "-bbbbbbbb-cccccccc-dddd": "",
	} {
		equal(t, languageTag(code), want, "%q", code)
	}
}

// TestGroupLifeThroughTheSimulator checks that the router understands what Telegram sends when a
// group changes, in the order in which Telegram sends it.
func TestGroupLifeThroughTheSimulator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fetch() // from now on, Telegram knows the allowed updates
	w.group.Kick()
	w.expect("kicked", "removed")
	w.group.AddBot(w.bob)
	added := w.expect("added", "added greeting {}")[0]
	if c := added.origin.Chat; int64(c.ID) != w.group.ID() || c.Language != "en" || added.origin.SentAt != worldTime {
		t.Errorf("origin %+v", added.origin)
	}
	w.group.Leave(w.carol)
	w.expect("left, where the bot is no admin", "left Carol@carol#1003")
	w.group.Promote(w.sim.Bot())
	w.expect("promoted", "back")
	w.group.Leave(w.bob)
	w.expect("left, where the bot is an admin", "left Bob@bob#1002", "left Bob@bob#1002")
	private := w.sim.Private(w.alice)
	private.Kick()
	w.expect("blocked", "removed")
	private.AddBot(w.alice)
	w.expect("unblocked", "back")
	if c := w.sim.Complaints(); len(c) > 0 {
		t.Errorf("the simulator complains: %q", c)
	}
}

// TestAdminsAreAskedAnew checks that a promotion or a demotion drops the chat's cached admins.
func TestAdminsAreAskedAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cache := telegram.NewAdminCache(w.client, time.Now)
	w.router = NewRouter(w.rankings, selfOf(w.sim))
	w.router.WhenMembersChange(cache.Forget)
	w.fetch()
	w.group.Promote(w.sim.Bot())
	w.expect("the bot is an admin", "back")
	is := func(who botsim.User) bool {
		t.Helper()
		admin, err := cache.IsAdmin(testContext(t), ranking.ExternalChatID(w.group.ID()), ladder.UserID(who.ID))
		must(t, err)
		return admin
	}
	if is(w.bob) {
		t.Error("Bob is an admin already")
	}
	w.group.Promote(w.bob)
	w.expect("promoted", fmt.Sprintf("seen Bob@bob#%d", w.bob.ID))
	if !is(w.bob) {
		t.Error("Bob is no admin yet")
	}
	w.group.Demote(w.bob)
	w.expect("demoted", fmt.Sprintf("seen Bob@bob#%d", w.bob.ID))
	if is(w.bob) {
		t.Error("Bob is an admin still")
	}
	before := w.sim.CallCount("getChatAdministrators")
	if !is(w.alice) || is(w.bob) || w.sim.CallCount("getChatAdministrators") != before {
		t.Error("the creator is no admin, or was requested again")
	}
}
