package botsim_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// encodings are the ways to send parameters. Forms hold strings as they are, and anything else as JSON.
var encodings = map[string]func(t *testing.T, params fields) (kind string, body io.Reader){
	"JSON": func(t *testing.T, params fields) (string, io.Reader) {
		return "application/json", bytes.NewReader(encode(t, params))
	},
	"form": func(t *testing.T, params fields) (string, io.Reader) {
		form := url.Values{}
		for name, value := range params {
			form.Set(name, formText(t, value))
		}
		return "application/x-www-form-urlencoded", strings.NewReader(form.Encode())
	},
	"multipart form": func(t *testing.T, params fields) (string, io.Reader) { return multipartForm(t, params, nil) },
	"JSON of strings": func(t *testing.T, params fields) (string, io.Reader) {
		all := fields{}
		for name, value := range params {
			all[name] = formText(t, value)
		}
		return "application/json", bytes.NewReader(encode(t, all))
	},
}

// multipartForm encodes parameters and files.
func multipartForm(t *testing.T, params fields, files map[string][]byte) (kind string, body *bytes.Buffer) {
	t.Helper()
	body = new(bytes.Buffer)
	form := multipart.NewWriter(body)
	for name, value := range params {
		must(t, form.WriteField(name, formText(t, value)))
	}
	for name, content := range files {
		part, err := form.CreateFormFile(name, "picture.png")
		must(t, err)
		_, err = part.Write(content)
		must(t, err)
	}
	must(t, form.Close())
	return form.FormDataContentType(), body
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return raw
}

func formText(t *testing.T, v any) string {
	t.Helper()
	if text, ok := v.(string); ok {
		return text
	}
	return string(encode(t, v))
}

func (c *client) sendAs(t *testing.T, encoding, method string, params fields) reply {
	t.Helper()
	kind, body := encodings[encoding](t, params)
	return c.post(t, method, kind, body)
}

// post sends a body of any content type.
func (c *client) post(t *testing.T, method, kind string, body io.Reader) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(testContext(t), http.MethodPost, c.base+method, body)
	must(t, err)
	req.Header.Set("Content-Type", kind)
	r, err := c.do(req)
	must(t, err)
	return r
}

// message returns the parameters of a good sendMessage and more.
func message(more fields) fields {
	all := fields{"chat_id": -1002000000001, "text": "x"}
	maps.Copy(all, more)
	return all
}

func without(params fields, name string) fields {
	delete(params, name)
	return params
}

func keyboard(button fields) fields {
	return message(fields{"reply_markup": fields{"inline_keyboard": [][]fields{{button}}}})
}

func placeholder(text string) fields {
	return message(fields{"reply_markup": fields{"force_reply": true, "input_field_placeholder": text}})
}

func commands(command, description string) fields {
	return fields{"commands": []fields{{"command": command, "description": description}}}
}

func TestWrongParameters(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("ж", n) }
	for _, tc := range []struct {
		method string
		params fields
		want   string
	}{
		// unknown
		{"getMe", fields{"verbose": true}, `there is no parameter "verbose"`},
		{"sendMessage", message(fields{"parsemode": "HTML"}), `there is no parameter "parsemode"`},
		{"sendMessage", message(fields{"Parse_Mode": "HTML"}), `there is no parameter "Parse_Mode"`},
		{"sendMessage", message(fields{"reply_to_message_id": 7}), `there is no parameter "reply_to_message_id"`},
		{"getUpdates", fields{"chat_id": 5, "offset": "x"}, `there is no parameter "chat_id"`},

		// missing
		{"setWebhook", fields{}, `can't find parameter "url"`},
		{"setMyCommands", fields{}, `can't find parameter "commands"`},
		{"sendMessage", without(message(nil), "chat_id"), "chat_id is empty"},
		{"sendMessage", without(message(nil), "text"), "message text is empty"},
		{"getChat", fields{}, "chat_id is empty"},
		{"getChatAdministrators", fields{}, "chat_id is empty"},
		{"pinChatMessage", fields{"message_id": 5}, "chat_id is empty"},
		{"pinChatMessage", fields{"chat_id": 5}, "message identifier is not specified"},
		{"pinChatMessage", fields{"chat_id": 5, "message_id": ""}, "message identifier is not specified"},
		{"editMessageText", message(nil), "message identifier is not specified"},
		{"editMessageText", fields{"message_id": 5, "text": "x"}, "chat_id is empty"},

		// wrong type
		{"sendMessage", message(fields{"message_thread_id": "x"}), `parameter "message_thread_id" must be of type Integer`},
		{"sendMessage", message(fields{"message_thread_id": 1.5}), `parameter "message_thread_id" must be of type Integer`},
		{"sendMessage", message(fields{"message_thread_id": []int{1}}), `parameter "message_thread_id" must be of type Integer`},
		{"sendMessage", message(fields{"message_thread_id": "9223372036854775808"}), `parameter "message_thread_id" must be of type Integer`},
		{"sendMessage", message(fields{"protect_content": "yes"}), `parameter "protect_content" must be of type Boolean`},
		{"sendMessage", message(fields{"protect_content": 1}), `parameter "protect_content" must be of type Boolean`},
		{"sendMessage", message(fields{"reply_parameters": "{"}), "can't parse reply parameters JSON object"},
		{"sendMessage", message(fields{"reply_parameters": 7}), "can't parse reply parameters JSON object"},
		{"sendMessage", message(fields{"reply_markup": []fields{}}), "can't parse reply markup JSON object"},
		{"sendMessage", message(fields{"entities": fields{}}), "can't parse entities JSON object"},
		{"getUpdates", fields{"allowed_updates": "message"}, "can't parse allowed updates JSON object"},
		{"getUpdates", fields{"allowed_updates": []int{5}}, "can't parse allowed updates JSON object"},

		// out of range
		{"getUpdates", fields{"limit": 0}, "invalid limit specified"},
		{"getUpdates", fields{"limit": 101}, "invalid limit specified"},
		{"getUpdates", fields{"timeout": -1}, "invalid timeout specified"},
		{"setWebhook", fields{"url": "", "max_connections": 0}, "invalid max_connections specified"},
		{"setWebhook", fields{"url": "", "max_connections": 101}, "invalid max_connections specified"},
		{"setWebhook", fields{"url": "", "secret_token": "a b"}, "invalid secret_token specified"},
		{"answerCallbackQuery", fields{"callback_query_id": "5", "text": long(201)}, "MESSAGE_TOO_LONG"},
		{"answerCallbackQuery", fields{"callback_query_id": "5", "cache_time": -1}, "invalid cache_time specified"},
		{"pinChatMessage", fields{"chat_id": 5, "message_id": 0}, "message identifier is not specified"},
		{"editMessageText", message(fields{"message_id": 0}), "message identifier is not specified"},
		{"setMyCommands", fields{"commands": slices.Repeat([]fields{{}}, 101)}, "BOT_COMMANDS_TOO_MUCH"},
		{"setMyCommands", commands("Match", "x"), "BOT_COMMAND_INVALID"},
		{"setMyCommands", commands(strings.Repeat("a", 33), "x"), "BOT_COMMAND_INVALID"},
		{"setMyCommands", commands("match", ""), "BOT_COMMAND_DESCRIPTION_INVALID"},
		{"setMyCommands", commands("match", long(257)), "BOT_COMMAND_DESCRIPTION_INVALID"},
		{"setMyCommands", fields{"commands": []fields{}, "language_code": "deu"}, "invalid language code specified"},
		{"getMyCommands", fields{"language_code": "deu"}, "invalid language code specified"},

		// nested
		{"setMyCommands", fields{"commands": []fields{{"command": "x"}}}, `can't parse BotCommand: Can't find field "description"`},
		{"getMyCommands", fields{"scope": fields{"type": "moon"}}, "can't parse BotCommandScope: Unsupported type specified"},
		{"getMyCommands", fields{"scope": fields{"chat_id": 5}}, "can't parse BotCommandScope: Unsupported type specified"},
		{"getMyCommands", fields{"scope": fields{"type": "default", "chat_id": 5}}, `can't parse BotCommandScopeDefault: There is no field "chat_id"`},
		{"sendMessage", message(fields{"reply_parameters": fields{}}), `can't parse reply parameters: Can't find field "message_id"`},
		{"sendMessage", message(fields{"reply_parameters": fields{"message_id": "7"}}), `can't parse reply parameters: Field "message_id" must be of type Integer`},
		{"sendMessage", message(fields{"link_preview_options": fields{"is_disabled": "true"}}), `can't parse link preview options: Field "is_disabled" must be of type Boolean`},
		{"sendMessage", message(fields{"entities": []any{"bold"}}), "can't parse entities JSON object"},
		{"sendMessage", message(fields{"entities": []fields{{"type": "loud", "offset": 0, "length": 1}}}), "can't parse MessageEntity: Unsupported type specified"},
		{"sendMessage", message(fields{"entities": []fields{{"type": "bold", "offset": -1, "length": 1}}}), "entity beginning or end is outside of the text"},
		{"sendMessage", message(fields{"entities": []fields{{"type": "bold", "offset": 1, "length": -1}}}), "entity beginning or end is outside of the text"},
		{"sendMessage", message(fields{"reply_markup": fields{}}), `can't parse InlineKeyboardMarkup: Can't find field "inline_keyboard"`},
		{"sendMessage", message(fields{"reply_markup": fields{"inline_keyboard": []fields{{}}}}), `can't parse InlineKeyboardMarkup: Field "inline_keyboard" must be of type Array of Array of InlineKeyboardButton`},
		{"sendMessage", message(fields{"reply_markup": fields{"inline_keyboard": [][]fields{}, "selective": true}}), `can't parse InlineKeyboardMarkup: There is no field "selective"`},
		{"sendMessage", message(fields{"reply_markup": fields{"force_reply": "true"}}), `can't parse ForceReply: Field "force_reply" must be of type Boolean`},
		{"sendMessage", placeholder(""), "can't parse ForceReply: Invalid input_field_placeholder specified"},
		{"sendMessage", placeholder(long(65)), "can't parse ForceReply: Invalid input_field_placeholder specified"},
		{"sendMessage", keyboard(fields{"callback_data": "a"}), `can't parse inline keyboard button: Can't find field "text"`},
		{"sendMessage", keyboard(fields{"text": "", "callback_data": "a"}), "BUTTON_TEXT_EMPTY"},
		{"sendMessage", keyboard(fields{"text": "a", "data": "a"}), `can't parse inline keyboard button: There is no field "data"`},
		{"sendMessage", keyboard(fields{"text": "a", "callback_data": 5}), `can't parse inline keyboard button: Field "callback_data" must be of type String`},
		{"sendMessage", keyboard(fields{"text": "a", "callback_data": ""}), "BUTTON_DATA_INVALID"},
		{"sendMessage", keyboard(fields{"text": "a", "callback_data": long(33)}), "BUTTON_DATA_INVALID"},
		{"sendMessage", keyboard(fields{"text": "a", "callback_data": "a", "style": "blue"}), "can't parse inline keyboard button: Invalid style specified"},
		{"sendMessage", keyboard(fields{"text": "a", "copy_text": fields{"text": ""}}), "can't parse CopyTextButton: Invalid text specified"},
		{"sendMessage", keyboard(fields{"text": "a", "copy_text": fields{"text": long(257)}}), "can't parse CopyTextButton: Invalid text specified"},
	} {
		s, bot, group, _ := scene(t)
		for encoding := range encodings {
			r := bot.sendAs(t, encoding, tc.method, tc.params)
			if r.OK || r.Status != 400 || r.ErrorCode != 400 || r.Description != "Bad Request: "+tc.want {
				t.Errorf("%s(%v) as %s = %d %s, want %s", tc.method, tc.params, encoding, r.Status, r.Raw, tc.want)
			}
		}
		equal(t, "complaints", s.Complaints(), []string{tc.method + ": " + tc.want})
		if n := len(group.BotMessages()); n > 0 {
			t.Errorf("%s(%v) sent %d messages", tc.method, tc.params, n)
		}
	}
}

// A form cannot tell a text from anything else, but a JSON body can.
func TestWrongTextsInJSON(t *testing.T) {
	t.Parallel()
	for _, value := range []any{5, true, fields{"html": "x"}, []string{"x"}} {
		s, bot, _, _ := scene(t)
		bot.refused(t, "sendMessage", message(fields{"text": value}), 400, `Bad Request: parameter "text" must be of type String`)
		equal(t, "complaints", s.Complaints(), []string{`sendMessage: parameter "text" must be of type String`})
		if r := bot.sendAs(t, "form", "sendMessage", message(fields{"text": value})); !r.OK {
			t.Errorf("%v in a form: %s", value, r.Raw)
		}
	}
	_, bot, _, _ := scene(t)
	bot.refused(t, "getChat", fields{"chat_id": true}, 400, `Bad Request: parameter "chat_id" must be of type Integer or String`)
}

func TestGoodParameters(t *testing.T) {
	t.Parallel()
	markup := func(of fields) fields { return message(fields{"reply_markup": of}) }
	for _, tc := range []struct {
		method string
		params fields
	}{
		{"getMe", fields{}},
		{"getUpdates", fields{"offset": -1, "limit": 1, "timeout": 0, "allowed_updates": []string{}}},
		{"getUpdates", fields{"limit": 100, "timeout": "", "allowed_updates": []string{"message"}}},
		{"setWebhook", fields{"url": "", "secret_token": strings.Repeat("a", 256), "max_connections": 100}},
		{"sendMessage", message(fields{"chat_id": "-1002000000001", "disable_notification": false, "message_thread_id": 0})},
		{"sendMessage", message(fields{"reply_parameters": "null", "message_effect_id": "", "reply_markup": "", "protect_content": " true "})},
		{"sendMessage", message(fields{"link_preview_options": fields{}, "suggested_post_parameters": fields{"anything": 1}})},
		{"sendMessage", message(fields{"entities": []fields{{"type": "text_mention", "offset": 0, "length": 1, "url": nil, "user": fields{"id": 1001}}}})},
		{"sendMessage", markup(fields{"inline_keyboard": [][]fields{}})},
		{"sendMessage", markup(fields{"remove_keyboard": true})},
		{"sendMessage", markup(fields{"force_reply": true, "selective": true})},
		{"sendMessage", placeholder(strings.Repeat("ж", 64))},
		{"sendMessage", markup(fields{"keyboard": [][]fields{{{"text": "a"}}}, "resize_keyboard": true})},
		{"sendMessage", keyboard(fields{"text": "a", "callback_data": strings.Repeat("ж", 32), "style": "danger"})},
		{"sendMessage", keyboard(fields{"text": "a", "copy_text": fields{"text": strings.Repeat("ж", 256)}})},
		{"sendMessage", keyboard(fields{"text": "a", "switch_inline_query": ""})},
		{"setMyCommands", commands(strings.Repeat("a", 32), strings.Repeat("ж", 256))},
		{"getMyCommands", fields{"language_code": ""}},
	} {
		s, bot, _, _ := scene(t)
		for encoding := range encodings {
			if r := bot.sendAs(t, encoding, tc.method, tc.params); !r.OK {
				t.Errorf("%s(%v) as %s = %s", tc.method, tc.params, encoding, r.Raw)
			}
		}
		equal(t, "complaints", s.Complaints(), nil)
	}
}

// A wrong request is a mistake even if a fault hides what Telegram says about it.
func TestComplaintDespiteFault(t *testing.T) {
	t.Parallel()
	s, bot, _, _ := scene(t)
	s.Fault(botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 3})
	bot.refused(t, "sendMessage", message(fields{"parsemode": "HTML"}), 429, "Too Many Requests: retry after 3")
	equal(t, "complaints", s.Complaints(), []string{`sendMessage: there is no parameter "parsemode"`})
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	for encoding := range encodings {
		params := fields{"chat_id": group.ID(), "text": "hello", "link_preview_options": fields{"is_disabled": true}}
		if r := bot.sendAs(t, encoding, "sendmessage", params); !r.OK {
			t.Errorf("%s: %+v", encoding, r)
		}
	}
	chat := strconv.FormatInt(group.ID(), 10)
	query := url.Values{"chat_id": {chat}, "text": {"hello"}, "link_preview_options": {`{"is_disabled":true}`}}.Encode()
	queries := []struct{ method, query, body string }{
		{http.MethodGet, query, ""}, {http.MethodPost, query, ""},
		{http.MethodPost, "chat_id=" + chat, `{"text":"hello","link_preview_options":"{\"is_disabled\":true}"}`},
	}
	for _, tc := range queries {
		req, err := http.NewRequestWithContext(testContext(t), tc.method, bot.base+"sendmessage?"+tc.query, strings.NewReader(tc.body))
		must(t, err)
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
		if r, err := bot.do(req); err != nil || !r.OK {
			t.Errorf("%+v: %+v, %v", tc, r, err)
		}
	}
	sent := group.BotMessages()
	if len(sent) != len(encodings)+len(queries) {
		t.Fatalf("%d messages", len(sent))
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
	r := bot.post(t, "getMe", "multipart/form-data; boundary=abc", io.MultiReader())
	if !r.OK || !strings.Contains(string(r.Result), `"username":"elo_bot"`) {
		t.Errorf("getMe = %+v", r)
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
		if r := bot.post(t, "getMe", kind, strings.NewReader(body)); r.Status != http.StatusBadRequest || r.ErrorCode != 400 {
			t.Errorf("%s: %+v", kind, r)
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
	if r := bot.must(t, "deleteWebhook", nil); r.Raw != `{"ok":true,"result":true}` {
		t.Errorf("body = %s", r.Raw)
	}
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
