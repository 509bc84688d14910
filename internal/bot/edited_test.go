package bot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
	"elobot/internal/command"
	"elobot/internal/ranking"
)

// posted posts a message to the group, and returns it after the router has handled it. before is
// how old the message is.
func (w *world) posted(p botsim.Post, before time.Duration) botsim.Message {
	w.t.Helper()
	p.Date = worldTime.Add(-before)
	m := w.group.Post(p)
	w.handle()
	return m
}

// TestEditedMatch checks that an edited /match reaches the service as a command, because the
// service decides whether it is a correction.
func TestEditedMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.posted(botsim.Post{From: w.alice, Text: "/match @bob 3:1"}, 300*time.Second)
	w.group.Edit(m, "/match @bob 11:7 9:11 11:5")
	edited := w.expect("an edit", "match Alice@alice#1001 @bob 11:7 9:11 11:5")[0]
	message := fmt.Sprintf("m:%d:%d", w.group.ID(), m.ID)
	want := ranking.Origin{
		Logged: ranking.Logged{Update: edited.origin.Update, Command: "match"}, Place: ranking.Place{ReplyTo: int64(m.ID)},
		Key:     fmt.Sprintf("e:%d:%d:%d:87ba7f82", w.group.ID(), m.ID, worldTime.Unix()),
		Trigger: ranking.ByEdit, Message: message,
		Chat: ranking.Chat{ID: ranking.ExternalChatID(w.group.ID()), Kind: ranking.Supergroup,
			Title: "Table tennis", Language: "en"},
		Sender: &command.Person{ID: 1001, Username: "alice", Name: "Alice"}, SentAt: worldTime,
	}
	if diff := cmp.Diff(want, edited.origin, unsaid); diff != "" {
		t.Errorf("origin (-want +got):\n%s", diff)
	}
	opponent := w.posted(botsim.Post{From: w.bob, Text: "well played"}, time.Minute)
	reply := w.posted(botsim.Post{From: w.alice, Text: "/match 3:1", ReplyTo: opponent.ID}, time.Minute)
	w.group.Edit(reply, "/match 3:2")
	w.expect("an edit of a reply", "match Alice@alice#1001 Bob@bob#1002 3:2")
	admin := w.group.SayAnonymously("/match @alice @bob 3:1")
	w.handle()
	w.group.Edit(admin, "/match @alice @bob 3:2")
	if c := w.expect("an edit of an anonymous admin", "match @alice @bob 3:2")[0]; c.origin.Sender != nil {
		t.Errorf("the sender is %+v", c.origin.Sender)
	}
}

// TestEditedCommands checks that an edit that turns a message into a command is handled like a new
// command, but its origin names the message and the edit.
func TestEditedCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/match @bob 3":  `answer wrong_form {"command":"match","reason":"incomplete_score","detail":"3"}`,
		"/match @bob":    "score Alice@alice#1001 @bob",
		"/match help":    `answer help {"topic":"match"}`,
		"/undo":          "undo last",
		"/undo 9":        "undo #9",
		"/fix 3:2":       "fix last 3:2",
		"/ranking":       "ranking",
		"/TOP@elo_bot":   "ranking",
		"/join":          "join",
		"/start":         "greet greeting {}",
		"/matc@elo_bot":  `answer unknown_command {"meant":"match"}`,
		"/matc @bob 3:1": `answer unknown_command {"meant":"match @bob 3:1"}`,
		"/mat @bob 3:1":  ignored,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m := w.posted(botsim.Post{From: w.alice, Text: "hello"}, 300*time.Second)
			w.group.Edit(m, text)
			for _, c := range w.expect(text, none(want)...) {
				if c.origin.Message != fmt.Sprintf("m:%d:%d", w.group.ID(), m.ID) || c.origin.Trigger != ranking.ByEdit {
					t.Errorf("origin %+v", c.origin)
				}
			}
		})
	}
	w := newWorld(t)
	private := w.sim.Private(w.alice)
	m := private.Say(w.alice, "/matc")
	w.handle()
	for text, want := range map[string]string{"/match @bob 3:2": `answer group_only {"command":"match"}`,
		"/help": `answer help {"private":true}`} {
		private.Edit(m, text)
		w.expect("in a private chat", want)
	}
}

// TestKeysOfEdits checks that edits within the same second are the same command if their texts are
// equal, and different commands otherwise.
func TestKeysOfEdits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.posted(botsim.Post{From: w.alice, Text: "/undo"}, time.Second)
	var keys []string
	for _, text := range []string{"/undo 9", "/undo 99", "/undo 9"} {
		w.group.Edit(m, text)
		keys = append(keys, w.handle()[0].origin.Key)
	}
	if keys[0] == keys[1] || keys[0] != keys[2] {
		t.Errorf("the keys are %q", keys)
	}
}

// TestEditsThatAreIgnored checks that an edit is ignored if it is too late, not by a person, not a
// command for this bot, or without an id or a date.
func TestEditsThatAreIgnored(t *testing.T) {
	t.Parallel()
	for what, tc := range map[string]struct {
		post   botsim.Post
		before time.Duration
		text   string
	}{
		"too late":       {botsim.Post{}, 301 * time.Second, "/match @bob 3:2"},
		"of another bot": {botsim.Post{}, time.Second, "/match@other_bot @bob 3:2"},
		"no command":     {botsim.Post{}, time.Second, "we have played 3:2"},
		"of a bot":       {botsim.Post{From: botsim.User{ID: 77, IsBot: true, FirstName: "B"}}, time.Second, "/match @bob 3:2"},
		"forwarded":      {botsim.Post{Extra: map[string]any{"forward_origin": json.RawMessage(`{"type":"hidden_user"}`)}}, time.Second, "/match @bob 3:2"},
		"via a bot":      {botsim.Post{Extra: map[string]any{"via_bot": map[string]any{"id": 78}}}, time.Second, "/match @bob 3:2"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tc.post.From.ID == 0 {
				tc.post.From = w.alice
			}
			tc.post.Text = "/match @bob"
			m := w.posted(tc.post, tc.before)
			w.group.Edit(m, tc.text)
			w.expect(what)
		})
	}
	w := newWorld(t)
	const rest = `"text":"/match @bob 3:1","chat":{"id":-5,"type":"group"},"from":{"id":1001,"first_name":"Alice"},
		"entities":[{"type":"bot_command","offset":0,"length":6},{"type":"mention","offset":7,"length":4}]}}`
	w.sim.Update(json.RawMessage(`{"edited_message":{"date":5,"edit_date":6,` + rest))
	w.expect("without an id")
	w.sim.Update(json.RawMessage(`{"edited_message":{"message_id":7,` + rest))
	w.expect("without dates")
	w.sim.Update(json.RawMessage(`{"edited_message":{"message_id":7,"date":5,` + rest))
	w.expect("without the date of the edit")
}

// TestPressOfAnOffer checks that a press of the button that accepts a correction fixes the match
// with the scores in the button's data. Malformed data is rejected, and so are presses of another
// offer's button and presses in a private chat.
func TestPressOfAnOffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	offer := w.below(w.group, "1f:42:0:Aa0_-zZ9,3:2")
	w.sim.Press(w.bob, offer, "1f:42:0:Aa0_-zZ9,3:2")
	c := w.expect("a press", fmt.Sprintf("fix #42 Aa0_-zZ9 3:2 in %d", offer.ID))[0]
	if c.take.Changes == nil || *c.take.Changes != 0 {
		t.Errorf("changes %v", c.take.Changes)
	}
	w.sim.Press(w.bob, offer, "1f:42:2:Aa0_-zZ9,11:7,9:11,11:5")
	w.expect("a press of another offer's button", unknownButton)
	for _, scores := range []string{
		"", "3", "3:", ":2", "3:2:1", "3:02", "+3:2", "-3:2", "3:1000", "3:65538", "3:2,", "3:2,,3:2", " 3:2", "3:2 ", "42:3:2", "3：2", "３:2",
		strings.Repeat("1:1,", 8) + "1:1000",
	} {
		data := "1f:42:0:Aa0_-zZ9," + scores
		w.sim.Press(w.alice, w.below(w.group, data), data)
		w.expect(fmt.Sprintf("%q", data), unknownButton)
	}
	for _, data := range []string{
		"1f:", "1f:3:2", "1f:0,3:2", "1f:42:0", "1f:42:0,3:2", "1f:42:0:Aa0_-zZ9", "1f:0:0:Aa0_-zZ9,3:2", "1f:42:00:Aa0_-zZ9,3:2", "Fix:42:0:Aa0_-zZ9,3:2",
	} {
		w.sim.Press(w.bob, w.below(w.group, data), data)
		w.expect(data, unknownButton)
	}
	private := w.sim.Private(w.alice)
	w.sim.Press(w.alice, w.below(private, "1f:42:0:Aa0_-zZ9,3:2"), "1f:42:0:Aa0_-zZ9,3:2")
	w.expect("in a private chat", unknownButton)
}

// TestFixData checks that the data of an offer reads back unchanged, even with the scores of seven
// sets, in either order. The data is empty if the scores do not fit.
func TestFixData(t *testing.T) {
	t.Parallel()
	card := cardButton{number: 999_999, changes: 9, tag: "Aa0_-zZ9"}
	sets := []ranking.SetScore{{11, 7}, {9, 11}, {11, 5}, {13, 11}, {11, 13}, {12, 10}, {11, 13}}
	for want, data := range map[string]string{
		"3:1":                                    fixData(card, [2]int{3, 1}, nil, false),
		"1:3":                                    fixData(card, [2]int{3, 1}, nil, true),
		"11:7,9:11,11:5,13:11,11:13,12:10,11:13": fixData(card, [2]int{4, 3}, sets, false),
		"7:11,11:9,5:11,11:13,13:11,10:12,13:11": fixData(card, [2]int{4, 3}, sets, true),
	} {
		args, _ := argsOf(fixCode, data)
		head, list, _ := strings.Cut(args, ",")
		got, ok := parseCardArgs(head)
		if _, isList := scoreArgs(list); !ok || !isList || got != card || list != want {
			t.Errorf("%q gives %+v, %s", data, got, list)
		}
	}
	if sets[0] != (ranking.SetScore{11, 7}) {
		t.Error("the sets of the offer are changed")
	}
	equal(t, fixData(card, [2]int{}, slices.Repeat(sets, 2), false), "", "data of a button")
}

// TestResultsThatCannotBeRead checks that a malformed report or amendment reaches the service with
// the name of its command. Reports without a score are not malformed.
func TestResultsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, want := range map[string]string{
		"/match @bob": "", "/match @bob 3": "match", "/match x": "match", "/undo x": "undo", "/fix x": "fix",
		"/match @bob 3:1": "", "/undo": "", "/fix": "", "/fix 3:2": "",
		"/match help": "", "/help match": "", "/ranking": "", "/join": "",
	} {
		w.group.Say(w.alice, text)
		equal(t, w.handle()[0].malformed, want, "%s: malformed", text)
	}
	w.sim.Private(w.alice).Say(w.alice, "/match @bob")
	equal(t, w.handle()[0].malformed, "", "malformed in a private chat")
}

// TestAgain checks that an update that the bot handles again at the request of an operator reaches
// the service with Retried set.
func TestAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.group.Say(w.alice, "/match @bob 3:1")
	w.group.Edit(m, "/match @bob 3:2")
	w.sim.Press(w.bob, w.card(w.group, 0), "1u:42:0:Aa0_-zZ9")
	updates := w.fetch()
	for i, redelivered := range []bool{false, true} {
		for _, u := range updates {
			u.Retried = redelivered
			must(t, w.router.Handle(testContext(t), u))
		}
		calls := w.rankings.calls
		if len(calls) != 3*(i+1) {
			t.Fatalf("%d calls", len(calls))
		}
		for _, c := range calls[3*i:] {
			equal(t, c.origin.Retried, redelivered, "%s: redelivered", c)
		}
	}
}
