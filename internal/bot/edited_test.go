package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
	"elobot/internal/ranking"
)

// posted returns a handled message of the group that was sent so long ago.
func (w *world) posted(p botsim.Post, before time.Duration) botsim.Message {
	w.t.Helper()
	p.Date = worldTime.Add(-before)
	m := w.group.Post(p)
	w.handle()
	return m
}

// TestEditedMatch: an edited /match is passed on as a command. The service decides whether it is a correction.
func TestEditedMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.posted(botsim.Post{From: w.alice, Text: "/match @bob 3:1"}, 300*time.Second)
	w.group.Edit(m, "/match @bob 11:7 9:11 11:5")
	edited := w.expect("an edit", "match Alice@alice#1001 @bob 11:7 9:11 11:5")[0]
	message := fmt.Sprintf("m:%d:%d", w.group.ID(), m.ID)
	want := ranking.Origin{
		Key: fmt.Sprintf("e:%d:%d:%d:87ba7f82", w.group.ID(), m.ID, worldTime.Unix()), Trigger: ranking.ByEdit, Message: message,
		Update: edited.origin.Update, Command: "match",
		Chat:   ranking.Chat{ID: ranking.ExternalChatID(w.group.ID()), Kind: ranking.Supergroup, Title: "Table tennis", Language: "en"},
		Sender: &ranking.Person{ID: 1001, Username: "alice", Name: "Alice"}, SentAt: worldTime, ReplyTo: int64(m.ID),
		Mentioned: []ranking.Person{{Username: "bob"}},
	}
	if diff := cmp.Diff(want, edited.origin); diff != "" {
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

// TestEditedCommands: whatever a message was, the command that it becomes is passed on.
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
	for text, want := range map[string]string{"/match @bob 3:2": `answer group_only {"command":"match"}`, "/help": `answer help {"private":true}`} {
		private.Edit(m, text)
		w.expect("in a private chat", want)
	}
}

// TestKeysOfEdits: edits of the same second are different commands if their texts differ.
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

// TestEditsThatAreIgnored: only people edit commands, and only for a while.
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

// TestEditsHaveTheLaneOfTheirChat: edits are handled after the messages that they correct.
func TestEditsHaveTheLaneOfTheirChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.group.Edit(w.group.Say(w.alice, "/match @bob 3:1"), "/match @bob 3:2")
	for _, u := range w.fetch() {
		if u.Lane != w.group.ID() {
			t.Errorf("%s has the lane %d", u.Raw, u.Lane)
		}
	}
}

func TestPressOfAnOffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.posted(botsim.Post{From: w.alice, Text: "/match @bob 3:1"}, 0)
	offer := w.replyBelow(w.group, m.ID, "1f:0,3:2")
	meant := fmt.Sprintf("message %d or m:%d:%[1]d", m.ID, w.group.ID())
	id := w.sim.Press(w.bob, offer, "1f:0,3:2")
	c := w.expect("a press", fmt.Sprintf("fix %s 3:2 in %d", meant, offer.ID))[0]
	if o := c.origin; o.Key != "c:"+id || o.Button != id || o.Sender.ID != 1002 || o.ReplyTo != int64(offer.ID) {
		t.Errorf("origin %+v", o)
	}
	if admin, err := c.take.IsAdmin(testContext(t)); err != nil || admin {
		t.Errorf("admin is %t, error %v", admin, err)
	}
	sets := w.replyBelow(w.group, m.ID, "1f:2,11:7,9:11,11:5")
	w.sim.Press(w.bob, sets, "1f:2,11:7,9:11,11:5")
	w.expect("a press for sets", fmt.Sprintf("fix %s 11:7 9:11 11:5 in %d", meant, sets.ID))
	w.sim.Press(w.bob, offer, "1f:2,11:7,9:11,11:5")
	w.expect("a press of another offer's button", unknownButton)
	for _, data := range []string{
		"1f:", "1f:0,3", "1f:0,3:", "1f:0,:2", "1f:0,3:2:1", "1f:0,3:02", "1f:0,+3:2", "1f:0,-3:2", "1f:0,3:1000", "1f:0,3:65538",
		"1f:0,3:2,", "1f:0,3:2,,3:2", "1f:0, 3:2", "1f:0,3:2 ", "Fix:0,3:2", "1f:0,42:3:2", "1f:0,3：2", "1f:0,３:2", "/fix 3:2", "1f:3:2",
		"1f:0", "1f:0,", "1f:,3:2", "1f:-1,3:2", "1f:00,3:2", "1f:2147483648,3:2", "1f:0," + strings.Repeat("1:1,", 15) + "1:1",
	} {
		w.sim.Press(w.alice, w.replyBelow(w.group, m.ID, data), data)
		w.expect(fmt.Sprintf("%q", data), unknownButton)
	}
	w.sim.Press(w.bob, w.below(w.group, "1f:0,3:2"), "1f:0,3:2")
	w.expect("below what answers nothing", unknownButton)
	w.group.Delete(m)
	forum := w.sim.Forum("Club", w.alice)
	topic := forum.Topic(w.alice, "Results")
	w.fetch()
	w.sim.Press(w.alice, w.card(forum, topic.ID), "1f:0,3:2")
	w.expect("in a topic, below what answers nothing", unknownButton)
	private := w.sim.Private(w.alice)
	request := private.Say(w.alice, "/match @bob 3:1")
	w.fetch()
	w.sim.Press(w.alice, w.replyBelow(private, request.ID, "1f:0,3:2"), "1f:0,3:2")
	w.expect("in a private chat", unknownButton)
}

// TestPressOfAWinnerOffer: the button says which match it means, and the scores in the order of its card.
func TestPressOfAWinnerOffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sets := []ranking.SetScore{{11, 7}, {9, 11}, {11, 5}, {13, 11}, {11, 13}, {12, 10}, {11, 13}}
	for want, n := range map[string]ranking.WinnerOffer{
		"1:3":                                    {Number: 42, Tag: "Aa0_-zZ9", Changes: 1, Sides: aliceAndBob(3, 1, 16)},
		"7:11 11:9 5:11 11:13 13:11 10:12 13:11": {Number: 999_999, Tag: "Aa0_-zZ9", Changes: 9, Sides: aliceAndBob(4, 3, 16), Sets: sets},
	} {
		offer := w.below(w.group, winnerData(n))
		w.sim.Press(w.bob, offer, winnerData(n))
		c := w.expect(want, fmt.Sprintf("fix #%d Aa0_-zZ9 %s in %d", n.Number, want, offer.ID))[0]
		if c.take.Changes == nil || *c.take.Changes != n.Changes {
			t.Errorf("%s: changes %v", want, c.take.Changes)
		}
		w.sim.Press(w.bob, w.below(w.group, "1f:0,3:2"), winnerData(n))
		w.expect("below another message", unknownButton)
	}
	for _, data := range []string{"1r:42:0,3:1", "1r:42:0:Aa0_-zZ9", "1r:42:0:Aa0_-zZ9,", "1r:0:0:Aa0_-zZ9,3:1", "1r:42:0:Aa0_-zZ9,3:1000"} {
		w.sim.Press(w.bob, w.below(w.group, data), data)
		w.expect(data, unknownButton)
	}
}

func TestFixData(t *testing.T) {
	t.Parallel()
	for _, n := range []ranking.FixOffer{
		{}, {Score: [2]int{3, 2}, Changes: 12}, {Score: [2]int{999, 999}}, {Score: [2]int{1, 0}, Sets: []ranking.SetScore{{11, 7}, {9, 9}}},
		{Sets: slices.Repeat([]ranking.SetScore{{1, 1}}, 15)},
	} {
		want := []ranking.Score{{A: n.Score[0], B: n.Score[1]}}
		if len(n.Sets) > 0 {
			want = nil
			for _, s := range n.Sets {
				want = append(want, ranking.Score{A: s[0], B: s[1]})
			}
		}
		data := fixData(n)
		args, _ := argsOf(fixCode, data)
		changes, got, ok := fixArgs(args)
		if !ok || len(data) > maxData || changes != n.Changes || !slices.Equal(got, want) {
			t.Errorf("%q gives %d, %v, %t", data, changes, got, ok)
		}
	}
	if data := fixData(ranking.FixOffer{Sets: slices.Repeat([]ranking.SetScore{{1, 1}}, 16)}); data != "" {
		t.Errorf("a button has the data %q", data)
	}
}

// TestOfferNeedsWhatItAnswers: without the command that it replies to, the button does not say which match is meant.
func TestOfferNeedsWhatItAnswers(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	offer := messageOf(t, p.group.ID(), ranking.FixOffer{Number: 1, Score: [2]int{3, 2}})
	if sent := p.mustSend(t, offer); len(sent.Buttons) > 0 {
		t.Errorf("an answer to nothing has the buttons %+v", sent.Buttons)
	}
	request := p.group.Say(p.sim.User("alice"), "/match @bob 3:2")
	offer.Items[0].ReplyTo = int64(request.ID)
	want := [][]botsim.Button{{{Text: "Fix to 3:2", CallbackData: "1f:0,3:2"}}}
	sent := p.mustSend(t, offer)
	if diff := cmp.Diff(want, sent.Buttons); diff != "" || sent.ReplyTo != request.ID {
		t.Errorf("in reply to %d, buttons (-want +got):\n%s", sent.ReplyTo, diff)
	}
}

// TestResultsThatCannotBeRead: malformed results are marked as such.
func TestResultsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, want := range map[string]string{
		"/match @bob": "", "/match @bob 3": "match", "/match x": "match", "/undo x": "undo", "/fix": "fix", "/fix x": "fix",
		"/match @bob 3:1": "", "/undo": "", "/fix 3:2": "", "/match help": "", "/help match": "", "/ranking": "", "/join": "",
	} {
		w.group.Say(w.alice, text)
		if got := w.handle()[0].origin.Malformed; got != want {
			t.Errorf("%s: malformed is %q, want %q", text, got, want)
		}
	}
	w.sim.Private(w.alice).Say(w.alice, "/match @bob")
	if got := w.handle()[0].origin.Malformed; got != "" {
		t.Errorf("in a private chat: malformed is %q", got)
	}
}

// TestAgain: a redelivered update is marked as such.
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
			if err := w.router.Handle(testContext(t), u); err != nil {
				t.Fatal(err)
			}
		}
		calls := w.rankings.calls
		if len(calls) != 3*(i+1) {
			t.Fatalf("%d calls", len(calls))
		}
		for _, c := range calls[3*i:] {
			if c.origin.Retried != redelivered {
				t.Errorf("%s: Redelivered is %t", c, c.origin.Retried)
			}
		}
	}
}

func TestErrorsOfTheServiceForEditsAreReturned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.group.Say(w.alice, "/match @bob 3:1")
	w.handle()
	w.rankings.err = errors.New("the database is away")
	w.group.Edit(m, "/match @bob 3:2")
	if err := w.router.Handle(testContext(t), w.fetch()[0]); !errors.Is(err, w.rankings.err) {
		t.Errorf("error %v", err)
	}
}
