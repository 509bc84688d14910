package botsim_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
)

func TestSendMessage(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	asked := group.Say(alice, "/match @bob 3:1")
	var sent struct {
		MessageID int              `json:"message_id"`
		From      botsim.User      `json:"from"`
		Chat      map[string]any   `json:"chat"`
		Text      string           `json:"text"`
		Entities  []map[string]any `json:"entities"`
		ReplyTo   map[string]any   `json:"reply_to_message"`
		Markup    map[string]any   `json:"reply_markup"`
	}
	bot.want(t, "sendMessage", fields{
		"chat_id": group.ID(), "text": " <b>Alice</b> &lt;3 &amp; &#128512; ", "parse_mode": "HTML",
		"disable_notification": true, "link_preview_options": fields{"is_disabled": true},
		"reply_parameters": fields{"message_id": asked.ID, "allow_sending_without_reply": true},
		"reply_markup": fields{"inline_keyboard": [][]fields{{
			{"text": "Undo", "callback_data": "undo:1"}, {"text": "Copy", "copy_text": fields{"text": "/undo 1"}},
		}}},
	}, &sent)
	if sent.MessageID != asked.ID+1 || sent.Text != "Alice <3 & 😀" || sent.ReplyTo["message_id"] != float64(asked.ID) {
		t.Errorf("response = %+v", sent)
	}
	if sent.From != s.Bot() || sent.Chat["type"] != "supergroup" || sent.Markup["inline_keyboard"] == nil {
		t.Errorf("response = %+v", sent)
	}
	got, err := group.WaitBot(testContext(t), 1)
	must(t, err)
	want := botsim.Message{
		ID: asked.ID + 1, ChatID: group.ID(), From: s.Bot(), Text: "Alice <3 & 😀",
		HTML: " <b>Alice</b> &lt;3 &amp; &#128512; ", ParseMode: "HTML", ReplyTo: asked.ID, Silent: true, NoPreview: true,
		Entities: []botsim.Entity{{Type: "bold", Offset: 0, Length: 5}},
		Buttons: [][]botsim.Button{{{Text: "Undo", CallbackData: "undo:1"},
			{Text: "Copy", CopyText: botsim.CopyText{Text: "/undo 1"}}}},
		Date: got[0].Date,
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
	if all := group.Messages(); len(all) != 2 || all[0].ID != asked.ID || s.Pending() != 1 {
		t.Errorf("the chat holds %d messages, %d updates pending", len(all), s.Pending())
	}
}

func TestSendMessageRefusals(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	gone := group.Say(alice, "deleted soon")
	group.Delete(gone)
	stranger := s.User("stranger")
	shy := s.Private(s.User("shy")).NotStarted()
	long := strings.Repeat("ж", 4097)
	button := func(b fields) fields { return fields{"inline_keyboard": [][]fields{{b}}} }
	cases := []struct {
		params fields
		status int
		text   string
	}{
		{fields{"text": "x", "chat_id": ""}, 400, "Bad Request: chat_id is empty"},
		{fields{"text": "x", "chat_id": 99}, 400, "Bad Request: chat not found"},
		{fields{"text": "x", "chat_id": "@nobody"}, 400, "Bad Request: chat not found"},
		{fields{"text": "x", "chat_id": stranger.ID}, 403, "Forbidden: bot can't initiate conversation with a user"},
		{fields{"text": "x", "chat_id": shy.ID()}, 403, "Forbidden: bot can't initiate conversation with a user"},
		{fields{"text": ""}, 400, "Bad Request: message text is empty"},
		{fields{"text": " \n "}, 400, "Bad Request: message text is empty"},
		{fields{"text": "<b> </b>", "parse_mode": "HTML"}, 400, "Bad Request: message text is empty"},
		{fields{"text": long}, 400, "Bad Request: message is too long"},
		{fields{"text": "x", "parse_mode": "Sandwich"}, 400, "Bad Request: unsupported parse_mode"},
		{fields{"text": "ж 3 < 4", "parse_mode": "HTML"}, 400, `Bad Request: can't parse entities: Unsupported start tag "" at byte offset 5`},
		{fields{"text": "x", "message_thread_id": 7}, 400, "Bad Request: message thread not found"},
		{fields{"text": "x", "reply_parameters": fields{"message_id": 77}}, 400, "Bad Request: message to be replied not found"},
		{fields{"text": "x", "reply_parameters": fields{"message_id": gone.ID}}, 400, "Bad Request: message to be replied not found"},
		{fields{"text": "x", "reply_markup": button(fields{"text": "a"})}, 400, "Bad Request: can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"},
		{fields{"text": "x", "reply_markup": button(fields{"text": "a", "url": "nowhere"})}, 400, "Bad Request: inline keyboard button URL 'nowhere' is invalid: Wrong HTTP URL"},
		{fields{"text": "x", "entities": []fields{{"type": "bold", "offset": 1, "length": 1}}}, 400, "Bad Request: entity beginning or end is outside of the text"},
	}
	for _, tc := range cases {
		if _, ok := tc.params["chat_id"]; !ok {
			tc.params["chat_id"] = group.ID()
		}
		bot.refused(t, "sendMessage", tc.params, tc.status, tc.text)
	}
	if n := len(group.BotMessages()); n != 0 {
		t.Errorf("%d refused messages were added to the chat", n)
	}
}

func TestSendMessageAcceptsLimits(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	for _, params := range []fields{
		{"text": strings.Repeat("😀", 4096)},
		{"text": "<b>" + strings.Repeat("&lt;", 4096) + "</b>", "parse_mode": "html"},
		{"text": "x", "reply_markup": fields{"inline_keyboard": [][]fields{{{"text": "a", "url": "https://t.me/elo_bot?startgroup=1"}}}}},
		{"text": "x", "reply_parameters": fields{"message_id": 77, "allow_sending_without_reply": true}},
		{"text": "x", "entities": []fields{{"type": "bold", "offset": 0, "length": 1}}},
	} {
		params["chat_id"] = group.ID()
		bot.want(t, "sendMessage", params, nil)
	}
	for _, m := range group.BotMessages() {
		if m.ReplyTo != 0 {
			t.Errorf("got a reply, want none: %+v", m)
		}
	}
	if c := s.Complaints(); len(c) != 0 {
		t.Errorf("complaints: %q", c)
	}
}

func TestHTMLEntities(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	bob := s.User("bob")
	for text, want := range map[string][]botsim.Entity{
		"😀<strong>a</strong>":                        {{Type: "bold", Offset: 2, Length: 1}},
		"<b>a<i>b</i></b>":                           {{Type: "bold", Offset: 0, Length: 2}, {Type: "italic", Offset: 1, Length: 1}},
		"  <u>a</u><ins>b</ins>":                     {{Type: "underline", Offset: 0, Length: 1}, {Type: "underline", Offset: 1, Length: 1}},
		"<s>a</s><strike>b</strike>":                 {{Type: "strikethrough", Offset: 0, Length: 1}, {Type: "strikethrough", Offset: 1, Length: 1}},
		"<del>a</del>":                               {{Type: "strikethrough", Offset: 0, Length: 1}},
		"<code>@alice</code>":                        {{Type: "code", Offset: 0, Length: 6}},
		"<PRE>/match</PRE>":                          {{Type: "pre", Offset: 0, Length: 6}},
		"<tg-spoiler>a</tg-spoiler>":                 {{Type: "spoiler", Offset: 0, Length: 1}},
		`<span class="tg-spoiler">a</span>`:          {{Type: "spoiler", Offset: 0, Length: 1}},
		"<blockquote>a</blockquote>":                 {{Type: "blockquote", Offset: 0, Length: 1}},
		"<blockquote expandable>a</blockquote>":      {{Type: "expandable_blockquote", Offset: 0, Length: 1}},
		`<tg-emoji emoji-id="5">😀</tg-emoji>`:        {{Type: "custom_emoji", Offset: 0, Length: 2, CustomEmojiID: "5"}},
		`<a href="https://a.org/?x=1&amp;y=2">a</a>`: {{Type: "text_link", Offset: 0, Length: 1, URL: "https://a.org/?x=1&y=2"}},
		`<a href='tg://user?id=1002'>Bob</a>`:        {{Type: "text_mention", Offset: 0, Length: 3, User: &bob}},
		"<em>a</em> @alice":                          {{Type: "italic", Offset: 0, Length: 1}, {Type: "mention", Offset: 2, Length: 6}},
	} {
		var sent struct{ Entities []botsim.Entity }
		bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": text, "parse_mode": "HTML"}, &sent)
		if diff := cmp.Diff(want, sent.Entities); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestComplaintsAboutTexts(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	say := func(text string) {
		t.Helper()
		bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": text, "parse_mode": "HTML"}, nil)
	}
	say("Try /match, ask @elo_bot, read https://example.org or <code>@alice bob.com #1a</code>. " +
		"It is 3.1 to St. Pierre, a@b")
	if c := s.Complaints(); len(c) != 0 {
		t.Fatalf("complaints about a harmless text: %q", c)
	}
	say("Rock&roll by @alice, see bob.com or bob@home.org, #topscorer")
	say("&nbsp;x")
	say(`<a href="nowhere">x</a>`)
	got := strings.Join(s.Complaints(), "\n")
	for _, want := range []string{
		`"&roll by @al" does not begin`, `"@alice" in the text became a mention`, `"bob.com" in the text became a url`,
		`"bob@home.org" in the text became a email`, `"#topscorer" in the text became a hashtag`,
		`"&nbsp;x" does not begin`, `link to "nowhere" was dropped`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no complaint contains %s:\n%s", want, got)
		}
	}
	sent := group.BotMessages()
	if text := sent[1].Text; text != "Rock&roll by @alice, see bob.com or bob@home.org, #topscorer" {
		t.Errorf("text = %q", text)
	}
}

func TestEditMessageText(t *testing.T) {
	t.Parallel()
	_, bot, group, alice := scene(t)
	userMessage := group.Say(alice, "mine")
	var sent struct {
		ID int `json:"message_id"`
	}
	bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": "1:0"}, &sent)
	edit := func(id int, text string) fields {
		return fields{"chat_id": group.ID(), "message_id": id, "text": text}
	}
	var edited struct {
		Text string
		Date int64 `json:"edit_date"`
	}
	bot.want(t, "editMessageText", edit(sent.ID, "2:0"), &edited)
	if edited.Text != "2:0" || edited.Date == 0 {
		t.Errorf("response = %+v", edited)
	}
	withButton := edit(sent.ID, "2:0")
	withButton["reply_markup"] = fields{"inline_keyboard": [][]fields{{{"text": "Undo", "callback_data": "u"}}}}
	bot.want(t, "editMessageText", withButton, nil)
	if r := bot.must(t, "editMessageText", withButton); !strings.Contains(r.Description, "message is not modified") {
		t.Errorf("edit with the same buttons = %+v", r)
	}
	bot.want(t, "editMessageText", edit(sent.ID, "2:0"), nil) // an edit without buttons removes them
	m, err := group.WaitEdits(testContext(t), sent.ID, 3)
	if err != nil || m.Text != "2:0" || m.Edits != 3 || m.Buttons != nil {
		t.Errorf("message = %+v, %v", m, err)
	}
	bot.refused(t, "editMessageText", edit(sent.ID, "2:0"), 400, "Bad Request: message is not modified: specified new "+
		"message content and reply markup are exactly the same as a current content and reply markup of the message")
	bot.refused(t, "editMessageText", edit(userMessage.ID, "x"), 400, "Bad Request: message can't be edited")
	bot.refused(t, "editMessageText", edit(99, "x"), 400, "Bad Request: message to edit not found")
	bot.refused(t, "editMessageText", fields{"chat_id": 99, "message_id": 1, "text": "x"}, 400,
		"Bad Request: chat not found")
	group.Delete(m)
	bot.refused(t, "editMessageText", edit(sent.ID, "x"), 400, "Bad Request: message to edit not found")
	if got := group.BotMessages(); len(got) != 1 || !got[0].Deleted {
		t.Errorf("messages = %+v", got)
	}
}

func TestTopics(t *testing.T) {
	t.Parallel()
	s := botsim.Start(t)
	bot, alice := newClient(t, s), s.User("alice")
	forum := s.Forum("Club", alice)
	created := forum.Topic(alice, "Tennis")
	forum.Post(botsim.Post{From: alice, Text: "in the topic", ThreadID: created.ThreadID})
	general := forum.Say(alice, "in General")

	got := bot.updates(t, fields{})
	if got[0].Message["forum_topic_created"] == nil || got[0].Message["message_thread_id"] != float64(created.ID) {
		t.Errorf("creation = %v", got[0].Message)
	}
	root, _ := got[1].Message["reply_to_message"].(map[string]any)
	if got[1].Message["is_topic_message"] != true || root["forum_topic_created"] == nil {
		t.Errorf("ordinary message in a topic = %v", got[1].Message)
	}
	if got[2].Message["message_thread_id"] != nil || got[2].Message["reply_to_message"] != nil {
		t.Errorf("message in General = %v", got[2].Message)
	}
	send := func(more fields) fields {
		more["chat_id"], more["text"] = forum.ID(), "answer"
		return more
	}
	bot.want(t, "sendMessage", send(fields{"message_thread_id": created.ID}), nil)
	bot.want(t, "sendMessage", send(fields{"reply_parameters": fields{"message_id": general.ID}}), nil)
	bot.want(t, "sendMessage", send(fields{"reply_parameters": fields{"message_id": created.ID}}), nil)
	bot.refused(t, "sendMessage", send(fields{"message_thread_id": 1000}), 400, "Bad Request: message thread not found")
	bot.refused(t, "sendMessage", send(fields{"message_thread_id": 1}), 400, "Bad Request: message thread not found")
	bot.refused(t, "sendMessage", send(fields{"message_thread_id": general.ID}), 400,
		"Bad Request: message thread not found")
	var threads []int
	for _, m := range forum.BotMessages() {
		threads = append(threads, m.ThreadID)
	}
	equal(t, "threads", threads, []int{created.ID, 0, created.ID})
	forum.CloseTopic(created.ID)
	bot.refused(t, "sendMessage", send(fields{"message_thread_id": created.ID}), 400, "Bad Request: TOPIC_CLOSED")
	forum.DeleteTopic(created.ID)
	bot.refused(t, "sendMessage", send(fields{"message_thread_id": created.ID}), 400,
		"Bad Request: message thread not found")
	if m, _ := forum.Message(created.ID); !m.Deleted {
		t.Error("a message outlives its topic")
	}
}
