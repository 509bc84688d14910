package bot

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// post is a simulator with a group, a sender and the sender's log.
type post struct {
	views  fakeViews
	sim    *botsim.Server
	group  *botsim.Chat
	alice  botsim.User
	sender *Sender
	logged *buffered
}

func newPost(t *testing.T) *post {
	t.Helper()
	sim, client := startSimulator(t)
	p := &post{sim: sim, alice: sim.User("alice"), logged: &buffered{}}
	p.group = sim.Group("Table tennis", p.alice)
	p.sender = NewSender(client, selfOf(sim), slog.New(slog.NewTextHandler(p.logged, nil))).WithViews(&p.views)
	return p
}

func hello(t testing.TB, to int64) outbox.Message {
	t.Helper()
	return messageOf(t, to, ranking.Joined{Name: ranking.Name{Name: "Alice"}, Elo: 1500})
}

func answering(m outbox.Message, to int) outbox.Message {
	m.Items[0].ReplyTo = int64(to)
	m.Row.ReplyTo = int64(to)
	return m
}

func (p *post) mustSend(t *testing.T, what outbox.Message) botsim.Message {
	t.Helper()
	receipt, err := p.sender.Send(testContext(t), what, atOnce)
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	m, ok := p.sim.Chat(what.ExternalChat).Message(int(receipt.MessageID))
	if !ok {
		t.Fatalf("no message %d", receipt.MessageID)
	}
	if c := p.sim.Complaints(); len(c) > 0 {
		t.Errorf("the simulator complains: %q", c)
	}
	return m
}

// params returns the decoded parameters of all sendMessage requests.
func (p *post) params(t *testing.T) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, c := range p.sim.CallsOf("sendMessage") {
		params := map[string]any{}
		for name, value := range c.Params {
			params[name] = value
			var nested map[string]any
			if strings.HasPrefix(value, "{") && json.Unmarshal([]byte(value), &nested) == nil {
				params[name] = nested
			}
		}
		all = append(all, params)
	}
	return all
}

const helloText = "<b>\u2068Alice\u2069</b>, welcome! Your rating is 1500. " +
	"You’ll appear in the ranking after your first match."

func TestSendToAGroup(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	request := p.group.Say(p.alice, "/join")
	m := p.mustSend(t, answering(hello(t, p.group.ID()), request.ID))
	if !m.Silent || !m.NoPreview || m.ReplyTo != request.ID || m.ThreadID != 0 || len(m.Buttons) > 0 {
		t.Errorf("message %+v", m)
	}
	want := []map[string]any{{
		"chat_id": chatText(p.group), "text": helloText, "parse_mode": "HTML", "disable_notification": "true",
		"link_preview_options": map[string]any{"is_disabled": true},
		"reply_parameters":     map[string]any{"message_id": float64(request.ID), "allow_sending_without_reply": true},
	}}
	equal(t, p.params(t), want, "requests")
	equal(t, p.logged.String(), "", "logged")
}

func chatText(c *botsim.Chat) string {
	raw, err := json.Marshal(c.ID())
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func TestSendToAPrivateChat(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	private := p.sim.Private(p.alice)
	greeting := messageOf(t, private.ID(), Greeting{Private: true})
	greeting.Private = true
	m := p.mustSend(t, greeting)
	if m.Silent || !m.NoPreview || m.ReplyTo != 0 {
		t.Errorf("message %+v", m)
	}
	want := [][]botsim.Button{{{Text: "Add me to a group", URL: "https://t.me/elo_bot?startgroup=true"}}}
	equal(t, m.Buttons, want, "buttons")
	for _, param := range []string{"reply_parameters", "message_thread_id"} {
		if v, given := p.params(t)[0][param]; given {
			t.Errorf("%s is %v", param, v)
		}
	}
}

func TestTheButtonIsWhereItHelps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		notice notice.Notice
		want   bool
	}{
		{Greeting{Private: true}, true},
		{Greeting{}, false},
		{Help{Private: true}, true},
		{Help{}, false},
		{Help{Topic: "match", Private: true}, false},
		{GroupOnly{Command: "match"}, true},
		{UnknownCommand{}, false},
		{stats.RankingPage{}, false},
	} {
		p := newPost(t)
		if m := p.mustSend(t, messageOf(t, p.group.ID(), c.notice)); (len(m.Buttons) == 1) != c.want {
			t.Errorf("%T%+v has the buttons %v", c.notice, c.notice, m.Buttons)
		}
	}
}

func TestSendToATopic(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	forum := p.sim.Forum("Club", p.alice)
	topic := forum.Topic(p.alice, "Results")
	request := forum.Post(botsim.Post{From: p.alice, Text: "/join", ThreadID: topic.ID})
	msg := answering(hello(t, forum.ID()), request.ID)
	msg.Thread = int64(topic.ID)
	if m := p.mustSend(t, msg); m.ThreadID != topic.ID || m.ReplyTo != request.ID {
		t.Errorf("message %+v", m)
	}
	if m := p.mustSend(t, hello(t, forum.ID())); m.ThreadID != 0 {
		t.Errorf("message %+v in General", m)
	}
}

func TestADeletedCommandIsAnsweredNevertheless(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	request := p.group.Say(p.alice, "/join")
	p.group.Delete(request)
	if m := p.mustSend(t, answering(hello(t, p.group.ID()), request.ID)); m.ReplyTo != 0 {
		t.Errorf("message %+v", m)
	}
	equal(t, p.sim.CallCount("sendMessage"), 1, "requests")
}

// TestFailures checks that a failed request for a new message leads to the right kind of failure,
// without a second request.
func TestFailures(t *testing.T) {
	t.Parallel()
	reject := func(status int, description string) botsim.Fault {
		return botsim.Fault{Kind: botsim.Reject, Status: status, Description: description}
	}
	for name, c := range map[string]struct {
		fault      botsim.Fault
		kind       outbox.FailureKind
		retryAfter time.Duration
	}{
		"429":                     {botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 35}, outbox.RateLimited, 35 * time.Second},
		"429 of hours":            {botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 73414}, outbox.RateLimited, 73414 * time.Second},
		"429 of a proxy":          {botsim.Fault{Kind: botsim.ServerError, Status: 429}, outbox.RateLimited, 0},
		"blocked":                 {reject(403, "Forbidden: bot was blocked by the user"), outbox.Forbidden, 0},
		"an id":                   {reject(400, "Bad Request: MESSAGE_ID_INVALID"), outbox.Failed, 0},
		"never written to":        {reject(403, "Forbidden: bot can't initiate conversation"), outbox.Forbidden, 0},
		"kicked":                  {reject(403, "Forbidden: bot was kicked from the supergroup chat"), outbox.Forbidden, 0},
		"403 of a proxy":          {botsim.Fault{Kind: botsim.ServerError, Status: 403}, outbox.Unreachable, 0},
		"401 of a proxy":          {botsim.Fault{Kind: botsim.ServerError, Status: 401}, outbox.Unreachable, 0},
		"redirect":                {botsim.Fault{Kind: botsim.ServerError, Status: 302}, outbox.Unreachable, 0},
		"conflict":                {reject(409, "Conflict: terminated by other getUpdates request"), outbox.Failed, 0},
		"a teapot":                {reject(418, "I'm a teapot: chat not found"), outbox.Failed, 0},
		"no of HTTP 200":          {botsim.Fault{Kind: botsim.Reject, Status: 200, Description: "Bad Request: chat not found"}, outbox.Failed, 0},
		"chat not found":          {reject(400, "Bad Request: chat not found"), outbox.Forbidden, 0},
		"CHAT_WRITE_FORBIDDEN":    {reject(400, "Bad Request: CHAT_WRITE_FORBIDDEN"), outbox.Forbidden, 0},
		"CHAT_RESTRICTED":         {reject(400, "Bad Request: CHAT_RESTRICTED"), outbox.Forbidden, 0},
		"no rights to send":       {reject(400, "Bad Request: have no rights to send a message"), outbox.Forbidden, 0},
		"only admins may write":   {reject(400, "Bad Request: need administrator rights in the channel chat"), outbox.Forbidden, 0},
		"group is a supergroup":   {reject(400, "Bad Request: group chat was deactivated"), outbox.Forbidden, 0},
		"not enough rights":       {reject(400, "Bad Request: not enough rights to send text messages to the chat"), outbox.Forbidden, 0},
		"text is empty":           {reject(400, "Bad Request: message text is empty"), outbox.Rejected, 0},
		"text is too long":        {reject(400, "Bad Request: message is too long"), outbox.Rejected, 0},
		"any other 400":           {reject(400, "Bad Request: of tomorrow"), outbox.Failed, 0},
		"logged out":              {reject(400, "Logged out"), outbox.Unreachable, 0},
		"logged out, in words":    {reject(401, "Unauthorized: logged out"), outbox.Unreachable, 0},
		"a button":                {reject(400, "Bad Request: BUTTON_DATA_INVALID"), outbox.Rejected, 0},
		"the buttons":             {reject(400, "Bad Request: REPLY_MARKUP_TOO_LONG"), outbox.Rejected, 0},
		"an entity":               {reject(400, "Bad Request: ENTITY_BOUNDS_INVALID"), outbox.Rejected, 0},
		"too large":               {reject(413, "Request Entity Too Large"), outbox.Rejected, 0},
		"too large for a proxy":   {botsim.Fault{Kind: botsim.ServerError, Status: 413}, outbox.Rejected, 0},
		"404 of a proxy":          {botsim.Fault{Kind: botsim.ServerError, Status: 404}, outbox.Unreachable, 0},
		"504 of a gateway":        {botsim.Fault{Kind: botsim.ServerError, Status: 504}, outbox.Ambiguous, 0},
		"wrong token":             {reject(401, "Unauthorized"), outbox.Unauthorized, 0},
		"no such bot":             {reject(404, "Not Found"), outbox.Unauthorized, 0},
		"HTML 502":                {botsim.Fault{Kind: botsim.ServerError}, outbox.Ambiguous, 0},
		"empty 503":               {botsim.Fault{Kind: botsim.ServerError, Status: 503, Body: " "}, outbox.Unreachable, 0},
		"JSON 500":                {reject(500, "Internal Server Error"), outbox.Unreachable, 0},
		"JSON 504 of a lost chat": {reject(504, "Gateway Timeout: chat not found"), outbox.Unreachable, 0},
		"HTML 400":                {botsim.Fault{Kind: botsim.ServerError, Status: 400}, outbox.Unreachable, 0},
		"HTML 200":                {botsim.Fault{Kind: botsim.WrongAnswer, Body: "<html>"}, outbox.Ambiguous, 0},
		"half a yes":              {botsim.Fault{Kind: botsim.WrongAnswer, Body: `{"ok":true,"result":{"mess`}, outbox.Ambiguous, 0},
		"cut before":              {botsim.Fault{Kind: botsim.CutBefore}, outbox.Ambiguous, 0},
		"cut after":               {botsim.Fault{Kind: botsim.CutAfter}, outbox.Ambiguous, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			p.sim.Fault(c.fault)
			receipt, err := p.sender.Send(testContext(t), hello(t, p.group.ID()), atOnce)
			failure := failureOf(t, err)
			if receipt != (outbox.Receipt{Covered: 1}) || failure.Kind != c.kind || failure.RetryAfter != c.retryAfter {
				t.Errorf("%+v, kind %s, retry after %v: %v", receipt, failure.Kind, failure.RetryAfter, err)
			}
			equal(t, p.sim.CallCount("sendMessage"), 1, "requests")
		})
	}
}

func failureOf(t *testing.T, err error) *outbox.Failure {
	t.Helper()
	var failure *outbox.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("error %v is no failure", err)
	}
	return failure
}

func TestAMigratedChatHasANewID(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	old := p.sim.BasicGroup("g", p.alice)
	moved := old.Migrate()
	board, known := p.board(t, 1500, 0), p.board(t, 1500, 5)
	board.ExternalChat, known.ExternalChat = old.ID(), old.ID()
	for _, m := range []outbox.Message{hello(t, old.ID()), board, known} {
		_, err := p.sender.Send(testContext(t), m, atOnce)
		var api *telegram.APIError
		if !errors.As(err, &api) || api.MigrateTo != moved.ID() {
			t.Errorf("error %v leads to %+v, want %d", err, api, moved.ID())
		}
		if failure := failureOf(t, err); failure.Kind != outbox.Migrated || failure.NewID != moved.ID() {
			t.Errorf("kind %s, new id %d, want %d", failure.Kind, failure.NewID, moved.ID())
		}
	}
}

func TestNothingListens(t *testing.T) {
	t.Parallel()
	for what, address := range map[string]string{
		"no connection": "http://127.0.0.1:1",      // an unused port
		"no such host":  "http://elobot.invalid:1", // reserved, never exists
	} {
		sender := NewSender(newClient(t, address), telegram.Self{ID: 7, Username: "elo_bot"}, slog.New(slog.DiscardHandler))
		_, err := sender.Send(testContext(t), hello(t, -100), atOnce)
		equal(t, failureOf(t, err).Kind, outbox.Unreachable, "%s: failure %v", what, err)
	}
}

// ending is a context that a test ends with an error of its choice.
type ending struct {
	context.Context
	reason error
	done   chan struct{}
}

func (e *ending) Done() <-chan struct{} { return e.done }

func (e *ending) Err() error {
	select {
	case <-e.done:
		return e.reason
	default:
		return nil
	}
}

func TestTheContextEnds(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]error{"timeout": context.DeadlineExceeded, "canceled": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			ctx := &ending{Context: testContext(t), reason: reason, done: make(chan struct{})}
			answered := make(chan struct{})
			p.sim.OnCall(func(botsim.Call) {
				close(ctx.done)
				<-answered
			})
			_, err := p.sender.Send(ctx, hello(t, p.group.ID()), atOnce)
			close(answered)
			if failure := failureOf(t, err); failure.Kind != outbox.Ambiguous || !errors.Is(err, reason) {
				t.Errorf("kind %s: %v", failure.Kind, err)
			}
		})
	}
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		p := newPost(t)
		ctx, cancel := context.WithCancel(testContext(t))
		cancel()
		_, err := p.sender.Send(ctx, hello(t, p.group.ID()), atOnce)
		if failure := failureOf(t, err); failure.Kind != outbox.Unreachable || !errors.Is(err, context.Canceled) {
			t.Errorf("kind %s: %v", failure.Kind, err)
		}
		equal(t, len(p.sim.Calls()), 0, "requests")
	})
}

// TestWhatWasAcceptedIsSent checks that an accepted message is treated as sent, whatever the
// response contains.
func TestWhatWasAcceptedIsSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body   string
		id     int64
		logged bool
	}{
		"a kind of message that nobody knows": {`{"ok":true,"result":{"message_id":77,"date":1,"chat":{"id":1,"type":"x"},"paid_media":{"paid_media":[{"type":"smell"}]}}}`, 77, false},
		"a text where a number should be":     {`{"ok":true,"result":{"message_id":78,"date":"now"}}`, 78, false},
		"an id that is none":                  {`{"ok":true,"result":{"message_id":"78"}}`, 0, true},
		"a word":                              {`{"ok":true,"result":"fine"}`, 0, true},
		"nothing":                             {`{"ok":true,"result":null}`, 0, true},
		"no result":                           {`{"ok":true}`, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			p.sim.Fault(botsim.Fault{Kind: botsim.WrongAnswer, Body: c.body})
			receipt, err := p.sender.Send(testContext(t), hello(t, p.group.ID()), atOnce)
			if err != nil || receipt != (outbox.Receipt{MessageID: c.id, Covered: 1}) {
				t.Errorf("%+v, error %v", receipt, err)
			}
			equal(t, len(p.group.BotMessages()), 1, "messages")
			if logged := p.logged.String() != ""; logged != c.logged {
				t.Errorf("logged: %s", p.logged.String())
			}
		})
	}
}

// TestSimplified checks that a message is sent again without its reply, its topic or its markup if
// Telegram rejects that part. A message that loses its topic is no longer a reply either.
func TestSimplified(t *testing.T) {
	t.Parallel()
	for description, removed := range map[string][]string{
		"Bad Request: message to be replied not found":                                    {"reply_parameters"},
		"Bad Request: replied message not found":                                          {"reply_parameters"},
		"Bad Request: message thread not found":                                           {"message_thread_id", "reply_parameters"},
		"Bad Request: TOPIC_CLOSED":                                                       {"message_thread_id", "reply_parameters"},
		"Bad Request: TOPIC_DELETED":                                                      {"message_thread_id", "reply_parameters"},
		"Bad Request: can't parse entities: Unsupported start tag \"x\" at byte offset 0": {"parse_mode"},
	} {
		t.Run(description, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			forum := p.sim.Forum("Club", p.alice)
			topic := forum.Topic(p.alice, "Results")
			request := forum.Post(botsim.Post{From: p.alice, Text: "/join", ThreadID: topic.ID})
			msg := answering(hello(t, forum.ID()), request.ID)
			msg.Thread = int64(topic.ID)
			p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Description: description, Times: 1})
			p.mustSend(t, msg)
			params := p.params(t)
			if len(params) != 2 {
				t.Fatalf("%d requests", len(params))
			}
			for _, name := range removed {
				if _, was := params[0][name]; !was {
					t.Errorf("there was no %s to be taken out", name)
				}
				delete(params[0], name)
			}
			if removed[0] == "parse_mode" {
				params[0]["text"] = "\u2068Alice\u2069, welcome! Your rating is 1500. " +
					"You’ll appear in the ranking after your first match."
			}
			equal(t, params[1], params[0], "the second request")
			if logged := strings.Contains(p.logged.String(), "level=ERROR"); logged != (removed[0] == "parse_mode") {
				t.Errorf("logged: %s", p.logged.String())
			}
		})
	}
}

// TestSimplifiedOnlyOnce checks that a part is removed from a message only if the message has it,
// and so at most once. Send returns the failure of the last request.
func TestSimplifiedOnlyOnce(t *testing.T) {
	t.Parallel()
	const noReply, noTopic = "Bad Request: message to be replied not found", "Bad Request: message thread not found"
	limited := botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 3}
	refused := botsim.Fault{Kind: botsim.Reject}
	for name, c := range map[string]struct {
		description string
		plain       bool // neither a reply nor in a topic
		then        botsim.Fault
		kind        outbox.FailureKind
		requests    int
	}{
		"no reply":                  {noReply, false, refused, outbox.Failed, 2},
		"no markup":                 {"Bad Request: can't parse entities: once again", false, refused, outbox.Rejected, 2},
		"no topic":                  {noTopic + " and so on", false, refused, outbox.Failed, 2},
		"no reply, then too many":   {noReply, false, limited, outbox.RateLimited, 2},
		"no reply to be taken out":  {noReply, true, refused, outbox.Failed, 1},
		"no topic to be taken out":  {noTopic, true, refused, outbox.Failed, 1},
		"no closed one to take out": {"Bad Request: TOPIC_CLOSED", true, refused, outbox.Failed, 1},
	} {
		p := newPost(t)
		msg := hello(t, p.group.ID())
		if !c.plain {
			msg = answering(msg, 1)
			msg.Thread = 5
		}
		p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Description: c.description, Times: 1})
		if c.then.Kind == botsim.Reject {
			c.then.Description = c.description
		}
		p.sim.Fault(c.then)
		_, err := p.sender.Send(testContext(t), msg, atOnce)
		failure := failureOf(t, err)
		if failure.Kind != c.kind || failure.RetryAfter != time.Duration(c.then.RetryAfter)*time.Second {
			t.Errorf("%s: kind %s: %v", name, failure.Kind, err)
		}
		equal(t, p.sim.CallCount("sendMessage"), c.requests, "%s: requests", name)
	}
}

// TestTheGeneralTopicIsNeverNamed checks that the sender leaves out the id of the General topic, 1,
// because Telegram rejects it. Old rows may contain it.
func TestTheGeneralTopicIsNeverNamed(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	msg := hello(t, p.sim.Forum("Club", p.alice).ID())
	msg.Thread = 1
	p.mustSend(t, msg)
	params := p.params(t)
	if _, named := params[0]["message_thread_id"]; named || len(params) != 1 {
		t.Errorf("%d requests, the first of them %v", len(params), params[0])
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for markup, want := range map[string]string{
		"<b>Alice</b> beat <i>Bob</i>":                "Alice beat Bob",
		"<code>/match @bob 3:1</code>":                "/match @bob 3:1",
		"&lt;b&gt; &amp;amp; &#34;x&#34; &#39;y&#39;": `<b> &amp; "x" 'y'`,
		"3 → 4":                     "3 → 4",
		"":                          "",
		"a <a href='x'\n>b</a><br>": "a b",
		"<<b>a > b < <i>c</i>":      "a > b c",
		"<b>a</b> < b":              "a < b",
		"> a <":                     "> a <",
	} {
		equal(t, plain(markup), want, "plain(%q)", markup)
	}
}
