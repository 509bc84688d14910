package botsim_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

func TestContentTypes(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	chat := strconv.FormatInt(group.ID(), 10)
	form := url.Values{"chat_id": {chat}, "text": {"hello"}, "link_preview_options": {`{"is_disabled":true}`}}
	var multi bytes.Buffer
	writer := multipart.NewWriter(&multi)
	for name, values := range form {
		if err := writer.WriteField(name, values[0]); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	jsonBody := `{"chat_id":` + chat + `,"text":"hello","link_preview_options":{"is_disabled":true}}`
	requests := map[string]struct{ method, query, kind, body string }{
		"query, GET":  {http.MethodGet, form.Encode(), "", ""},
		"query, POST": {http.MethodPost, form.Encode(), "", ""},
		"form":        {http.MethodPost, "", "application/x-www-form-urlencoded", form.Encode()},
		"multipart":   {http.MethodPost, "", writer.FormDataContentType(), multi.String()},
		"json":        {http.MethodPost, "", "application/json; charset=utf-8", jsonBody},
		"mixed":       {http.MethodPost, "chat_id=" + chat, "application/json", `{"text":"hello","link_preview_options":"{\"is_disabled\":true}"}`},
	}
	for name, tc := range requests {
		req, err := http.NewRequestWithContext(testContext(t), tc.method, bot.base+"sendmessage?"+tc.query, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		if tc.kind != "" {
			req.Header.Set("Content-Type", tc.kind)
		}
		r, err := bot.do(req)
		if err != nil || !r.OK {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	sent := group.BotMessages()
	if len(sent) != len(requests) {
		t.Fatalf("%d messages, want %d", len(sent), len(requests))
	}
	for _, m := range sent {
		if m.Text != "hello" || !m.NoPreview {
			t.Errorf("message = %+v", m)
		}
	}
	for _, c := range s.CallsOf("sendMessage") {
		if c.Params["text"] != "hello" || c.ChatID != group.ID() || c.Params["link_preview_options"] != `{"is_disabled":true}` {
			t.Errorf("record = %+v", c)
		}
	}
}

// Some clients send calls without parameters as an empty body with a multipart content type.
func TestEmptyMultipartBody(t *testing.T) {
	t.Parallel()
	s, bot, _, _ := scene(t)
	req, err := http.NewRequestWithContext(testContext(t), http.MethodPost, bot.base+"getMe", io.MultiReader())
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "multipart/form-data; boundary=abc")
	r, err := bot.do(req)
	if err != nil || !r.OK || !strings.Contains(string(r.Result), `"username":"elo_bot"`) {
		t.Errorf("getMe = %+v, %v", r, err)
	}
	if s.Bot().Username != "elo_bot" || !s.Bot().IsBot {
		t.Errorf("Bot() = %+v", s.Bot())
	}
}

func TestBadBodies(t *testing.T) {
	t.Parallel()
	_, bot, _, _ := scene(t)
	for kind, body := range map[string]string{
		"application/json":                  `[1]`,
		"application/x-www-form-urlencoded": "a=%zz",
		"multipart/form-data; boundary=abc": "no boundary here",
	} {
		req, err := http.NewRequestWithContext(testContext(t), http.MethodPost, bot.base+"getMe", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		if r, err := bot.do(req); err != nil || r.Status != http.StatusBadRequest || r.ErrorCode != 400 {
			t.Errorf("%s: %+v, %v", kind, r, err)
		}
	}
}

func TestWrongTokenAndUnknownMethod(t *testing.T) {
	t.Parallel()
	s, bot, _, _ := scene(t)
	r := bot.refused(t, "getNothing", nil, http.StatusNotFound, "Not Found")
	if r.Raw != `{"description":"Not Found","error_code":404,"ok":false}` {
		t.Errorf("body = %s", r.Raw)
	}
	good := bot.base
	for path, status := range map[string]int{"/bot1:wrong/": 401, "/botx/": 401, "/other/": 404, "/": 404} {
		bot.base = s.URL() + path
		if r := bot.must(t, "getMe", nil); r.Status != status || r.ErrorCode != status {
			t.Errorf("%s = %d %s, want %d", path, r.Status, r.Raw, status)
		}
	}
	bot.base = s.URL() + "/bot1:wrong/"
	bot.refused(t, "getMe", nil, http.StatusUnauthorized, "Unauthorized")
	bot.base = good
	bot.want(t, "getMe", nil, nil)
}

func TestBotOptions(t *testing.T) {
	t.Parallel()
	s := botsim.Start(t, botsim.WithToken("42:secret"), botsim.WithBotUsername("RankBot"))
	var me struct {
		ID       int64
		IsBot    bool `json:"is_bot"`
		Username string
	}
	newClient(t, s).want(t, "getMe", nil, &me)
	if me.ID != 42 || me.Username != "RankBot" || !me.IsBot {
		t.Errorf("getMe = %+v", me)
	}
	if _, err := botsim.New(botsim.WithToken("no number")); err == nil {
		t.Error("a token without an id was accepted")
	}
}

func TestCallRecord(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t, botsim.WithRecordLimit(10))
	bot.want(t, "getMe", nil, nil)
	for i := range 30 {
		bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": strconv.Itoa(i)}, nil)
	}
	bot.must(t, "sendMessage", fields{"chat_id": 1, "text": "nobody"})
	calls := s.Calls()
	if len(calls) != 10 || s.CallCount("sendMessage") != 31 || s.CallCount("getMe") != 1 {
		t.Fatalf("%d recorded calls, %d sends counted", len(calls), s.CallCount("sendMessage"))
	}
	if len(s.CallsOf("getMe")) != 0 {
		t.Error("the record exceeds its limit")
	}
	last, before := calls[9], calls[8]
	if last.Status != 400 || last.Delivered || !strings.Contains(last.Body, "chat not found") || last.ID != 32 {
		t.Errorf("last call = %+v", last)
	}
	if before.Status != 200 || !before.Delivered || before.MessageID != 30 || before.Params["text"] != "29" || !before.Done {
		t.Errorf("the previous call = %+v", before)
	}
}
