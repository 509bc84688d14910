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
)

// encodings maps each way to encode parameters to a function that returns the body and its content
// type, kind. A form holds strings as they are, and all other values as JSON.
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

// multipartForm encodes parameters and files as a multipart form. kind is the content type of body.
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

// post calls a method with a body of the content type kind.
func (c *client) post(t *testing.T, method, kind string, body io.Reader) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(testContext(t), http.MethodPost, c.base+method, body)
	must(t, err)
	req.Header.Set("Content-Type", kind)
	r, err := c.do(req)
	must(t, err)
	return r
}

// message returns the parameters of a valid call of sendMessage, changed and extended by the
// parameters in more.
func message(more fields) fields {
	all := fields{"chat_id": int64(-1002000000001), "text": "x"}
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
		{"sendMessage", message(fields{"reply_to_message_id": 7}), `there is no parameter "reply_to_message_id"`},

		// missing
		{"setWebhook", fields{}, `can't find parameter "url"`},
		{"sendMessage", without(message(nil), "chat_id"), "chat_id is empty"},
		{"sendMessage", without(message(nil), "text"), "message text is empty"},
		{"pinChatMessage", fields{"chat_id": 5}, "message identifier is not specified"},
		{"editMessageText", message(nil), "message identifier is not specified"},

		// wrong type
		{"sendMessage", message(fields{"message_thread_id": "x"}), `parameter "message_thread_id" must be of type Integer`},
		{"sendMessage", message(fields{"message_thread_id": "9223372036854775808"}), `parameter "message_thread_id" must be of type Integer`},
		{"sendMessage", message(fields{"protect_content": "yes"}), `parameter "protect_content" must be of type Boolean`},
		{"sendMessage", message(fields{"reply_parameters": 7}), "can't parse reply parameters JSON object"},
		{"getUpdates", fields{"allowed_updates": []int{5}}, "can't parse allowed updates JSON object"},

		// out of range
		{"getUpdates", fields{"limit": 0}, "invalid limit specified"},
		{"getUpdates", fields{"limit": 101}, "invalid limit specified"},
		{"setWebhook", fields{"url": "", "max_connections": 0}, "invalid max_connections specified"},
		{"setWebhook", fields{"url": "", "max_connections": 101}, "invalid max_connections specified"},
		{"answerCallbackQuery", fields{"callback_query_id": "5", "text": long(201)}, "MESSAGE_TOO_LONG"},
		{"setMyCommands", fields{"commands": slices.Repeat([]fields{{}}, 101)}, "BOT_COMMANDS_TOO_MUCH"},
		{"setMyCommands", commands("Match", "x"), "BOT_COMMAND_INVALID"},
		{"setMyCommands", commands(strings.Repeat("a", 33), "x"), "BOT_COMMAND_INVALID"},
		{"setMyCommands", commands("match", ""), "BOT_COMMAND_DESCRIPTION_INVALID"},
		{"setMyCommands", commands("match", long(257)), "BOT_COMMAND_DESCRIPTION_INVALID"},
		{"setMyCommands", fields{"commands": []fields{}, "language_code": "deu"}, "invalid language code specified"},

		// nested
		{"setMyCommands", fields{"commands": []fields{{"command": "x"}}}, `can't parse BotCommand: Can't find field "description"`},
		{"getMyCommands", fields{"scope": fields{"type": "moon"}}, "can't parse BotCommandScope: Unsupported type specified"},
		{"sendMessage", message(fields{"reply_parameters": fields{"message_id": "7"}}), `can't parse reply parameters: Field "message_id" must be of type Integer`},
		{"sendMessage", message(fields{"entities": []fields{{"type": "loud", "offset": 0, "length": 1}}}), "can't parse MessageEntity: Unsupported type specified"},
		{"sendMessage", message(fields{"reply_markup": fields{"inline_keyboard": []fields{{}}}}), `can't parse InlineKeyboardMarkup: Field "inline_keyboard" must be of type Array of Array of InlineKeyboardButton`},
		{"sendMessage", placeholder(""), "can't parse ForceReply: Invalid input_field_placeholder specified"},
		{"sendMessage", placeholder(long(65)), "can't parse ForceReply: Invalid input_field_placeholder specified"},
		{"sendMessage", keyboard(fields{"text": "", "callback_data": "a"}), "BUTTON_TEXT_EMPTY"},
		{"sendMessage", keyboard(fields{"text": "a", "data": "a"}), `can't parse inline keyboard button: There is no field "data"`},
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

func TestGoodParameters(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		method string
		params fields
	}{
		{"getUpdates", fields{"offset": -1, "limit": 1, "timeout": 0, "allowed_updates": []string{}}},
		{"getUpdates", fields{"limit": 100, "timeout": "", "allowed_updates": []string{"message"}}},
		{"setWebhook", fields{"url": "", "secret_token": strings.Repeat("a", 256), "max_connections": 100}},
		{"sendMessage", placeholder(strings.Repeat("ж", 64))},
		{"sendMessage", keyboard(fields{"text": "a", "callback_data": strings.Repeat("ж", 32), "style": "danger"})},
		{"sendMessage", keyboard(fields{"text": "a", "copy_text": fields{"text": strings.Repeat("ж", 256)}})},
		{"setMyCommands", commands(strings.Repeat("a", 32), strings.Repeat("ж", 256))},
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

// TestQueries checks that parameters may be in the query string, even if the request has a body.
func TestQueries(t *testing.T) {
	t.Parallel()
	_, bot, group, _ := scene(t)
	chat := strconv.FormatInt(group.ID(), 10)
	query := url.Values{"chat_id": {chat}, "text": {"hello"}, "link_preview_options": {`{"is_disabled":true}`}}.Encode()
	queries := []struct{ method, query, body string }{
		{http.MethodGet, query, ""}, {http.MethodPost, query, ""},
		{http.MethodPost, "chat_id=" + chat, `{"text":"hello","link_preview_options":"{\"is_disabled\":true}"}`},
	}
	for _, tc := range queries {
		req, err := http.NewRequestWithContext(testContext(t), tc.method,
			bot.base+"sendmessage?"+tc.query, strings.NewReader(tc.body))
		must(t, err)
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
		if r, err := bot.do(req); err != nil || !r.OK {
			t.Errorf("%+v: %+v, %v", tc, r, err)
		}
	}
	sent := group.BotMessages()
	if len(sent) != len(queries) {
		t.Fatalf("%d messages", len(sent))
	}
	for _, m := range sent {
		if m.Text != "hello" || !m.NoPreview {
			t.Errorf("message = %+v", m)
		}
	}
}

func TestWrongTokenAndUnknownMethod(t *testing.T) {
	t.Parallel()
	s, bot, _, _ := scene(t)
	bot.refused(t, "getNothing", nil, http.StatusNotFound, "Not Found")
	bot.base = s.URL() + "/bot1:wrong/"
	bot.refused(t, "getMe", nil, http.StatusUnauthorized, "Unauthorized")
}
