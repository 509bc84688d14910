package botsim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// sentDocument is a message with a document as a bot gets it.
type sentDocument struct {
	ID       int `json:"message_id"`
	Document struct {
		ID   string `json:"file_id"`
		Name string `json:"file_name"`
		MIME string `json:"mime_type"`
		Size int    `json:"file_size"`
	} `json:"document"`
	Text    string        `json:"text"`
	Caption string        `json:"caption"`
	ReplyTo *sentDocument `json:"reply_to_message"`
}

func decode[T any](t *testing.T, from any) (v T) {
	t.Helper()
	must(t, json.Unmarshal(encode(t, from), &v))
	return v
}

// download gets a file, and returns the status and the body of the response.
func (c *client) download(t *testing.T, path string) (int, string) {
	t.Helper()
	address := strings.Replace(c.base, "/bot", "/file/bot", 1) + path
	req, err := http.NewRequestWithContext(testContext(t), http.MethodGet, address, http.NoBody)
	must(t, err)
	resp, err := c.http.Do(req)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(body)
}

// TestDownloads checks that the bot can download a document that a user has sent, for an hour after
// getFile.
func TestDownloads(t *testing.T) {
	t.Parallel()
	now := newClock()
	s, bot, group, alice := scene(t, botsim.WithClock(now.Now))
	file := botsim.Document{Name: "results.csv", MIME: "text/csv", Content: []byte("winner,loser\n")}
	question := group.Say(alice, "where?")
	group.SendDocument(alice, question, file, "here, @bob")
	group.Reply(s.User("bob"), group.Messages()[1], "thanks")
	got := bot.updates(t, nil)
	m := decode[sentDocument](t, got[1].Message)
	d := m.Document
	if d.Name != file.Name || d.MIME != file.MIME || d.Size != len(file.Content) ||
		m.Caption != "here, @bob" || m.Text != "" || m.ReplyTo == nil || m.ReplyTo.ID != question.ID {
		t.Errorf("got %+v", m)
	}
	if reply := decode[sentDocument](t, got[2].Message); reply.ReplyTo == nil || reply.ReplyTo.Document != d {
		t.Errorf("the replied-to message: %+v", reply.ReplyTo)
	}
	var found struct {
		Path string `json:"file_path"`
		Size int    `json:"file_size"`
	}
	bot.want(t, "getFile", fields{"file_id": d.ID}, &found)
	status, body := bot.download(t, found.Path)
	if status != 200 || body != string(file.Content) || found.Size != len(body) {
		t.Errorf("%d %q", status, body)
	}
	s.Fault(botsim.Fault{Kind: botsim.ServerError, Method: botsim.Download, Times: 1})
	for _, want := range []int{502, 200} {
		if status, _ := bot.download(t, found.Path); status != want {
			t.Errorf("got %d, want %d", status, want)
		}
	}
	if status, _ := bot.download(t, "documents/other"); status != 404 {
		t.Errorf("an unknown path: %d", status)
	}
	now.advance(61 * time.Minute)
	if status, _ := bot.download(t, found.Path); status != 404 {
		t.Errorf("an old path: %d", status)
	}
	bot.refused(t, "getFile", fields{"file_id": "x"}, 400,
		"Bad Request: wrong file_id or the file is temporarily unavailable")
	large := group.SendDocument(alice, botsim.Message{}, botsim.Document{Content: make([]byte, 20<<20+1)}, "")
	bot.refused(t, "getFile", fields{"file_id": large.Document.FileID}, 400, "Bad Request: file is too big")
	if len(s.CallsOf(botsim.Download)) != 5 || len(s.Complaints()) > 0 {
		t.Errorf("calls %v, complaints %q", s.CallsOf(botsim.Download), s.Complaints())
	}
	bot.base = strings.Replace(bot.base, s.Token(), "1:wrong", 1)
	if status, _ := bot.download(t, found.Path); status != 401 {
		t.Errorf("a wrong token: %d", status)
	}
}

// TestPrivacyMode checks which messages of a group the bot sees in privacy mode.
func TestPrivacyMode(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t, botsim.WithPrivacyMode())
	bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": "which file?"}, nil)
	question, file := group.BotMessages()[0], botsim.Document{Name: "x.csv", Content: []byte("x")}
	say := func() {
		group.Say(alice, "chatter")
		group.SendDocument(alice, botsim.Message{}, file, "")
		group.Say(alice, "/ranking@other_bot")
	}
	say()
	group.Reply(alice, question, "this one")
	group.SendDocument(alice, question, file, "")
	group.SendDocument(alice, botsim.Message{}, file, "/settings")
	group.Say(alice, "/ranking@elo_bot")
	s.Private(alice).Say(alice, "hello")
	got := bot.updates(t, nil)
	if len(got) != 5 {
		t.Fatalf("got %d updates: %q", len(got), texts(got))
	}
	group.Promote(s.Bot())
	say()
	if got := bot.updates(t, fields{"offset": got[4].ID + 1}); len(got) != 1+3 {
		t.Errorf("got %d updates of an admin", len(got))
	}
}

func TestSendDocument(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	send := func(content []byte, caption string) reply {
		return bot.upload(t, "sendDocument",
			fields{"chat_id": group.ID(), "caption": caption, "parse_mode": "HTML"}, map[string][]byte{"document": content})
	}
	for name, tc := range map[string]struct {
		content []byte
		caption string
		status  int
		text    string
	}{
		"empty":        {nil, "", 400, "Bad Request: file must be non-empty"},
		"too large":    {make([]byte, 50<<20+1), "", 413, "Request Entity Too Large"},
		"long caption": {[]byte("x"), strings.Repeat("ж", 1025), 400, "Bad Request: message caption is too long"},
	} {
		if r := send(tc.content, tc.caption); r.Status != tc.status || r.Description != tc.text {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	sent := decode[sentDocument](t, send([]byte("content"), "<b>Here</b>").Result)
	if sent.Document.Name != "picture.png" || sent.Document.Size != 7 || sent.Caption != "Here" {
		t.Errorf("got %+v", sent)
	}
	if m := group.BotMessages()[0]; string(m.Document.Content) != "content" || m.HTML != "<b>Here</b>" {
		t.Errorf("got %+v", m)
	}
	bot.refused(t, "editMessageText", fields{"chat_id": group.ID(), "message_id": sent.ID, "text": "x"}, 400,
		"Bad Request: there is no text in the message to edit")
	group.AllowDocuments(false)
	if r := send([]byte("x"), ""); r.Description != "Bad Request: not enough rights to send documents to the chat" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	group.Promote(s.Bot())
	if r := send([]byte("x"), ""); !r.OK {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	if c := s.Complaints(); len(c) > 0 {
		t.Errorf("complaints %q", c)
	}
	bot.refused(t, "sendDocument", fields{"chat_id": group.ID(), "document": "another"}, 400,
		"Bad Request: wrong file identifier/HTTP URL specified")
	if c := s.Complaints(); len(c) != 1 {
		t.Errorf("a document that is not uploaded: complaints %q", c)
	}
}

// TestPressOpensBot checks which URLs may answer a press.
func TestPressOpensBot(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	id := s.Press(alice, group.Say(alice, "x"), "data")
	for _, address := range []string{
		"https://example.com", "https://t.me/other_bot?start=x", "https://t.me/elo_bot?start=", "https://t.me/elo_bot",
	} {
		bot.refused(t, "answerCallbackQuery", fields{"callback_query_id": id, "url": address}, 400,
			"Bad Request: URL_INVALID")
	}
	bot.want(t, "answerCallbackQuery",
		fields{"callback_query_id": id, "url": "https://t.me/elo_bot?start=export"}, nil)
}
