package botsim_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"
)

// upload posts parameters and files as a form.
func (c *client) upload(t *testing.T, method string, params fields, files map[string][]byte) reply {
	t.Helper()
	kind, body := multipartForm(t, params, files)
	return c.post(t, method, kind, body)
}

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	must(t, png.Encode(&out, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black})))
	return out.Bytes()
}

// sentPhoto is a message with a photo as a bot gets it.
type sentPhoto struct {
	ID    int `json:"message_id"`
	Photo []struct {
		ID     string `json:"file_id"`
		Unique string `json:"file_unique_id"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
		Size   int    `json:"file_size"`
	} `json:"photo"`
	Text     *string          `json:"text"`
	Caption  string           `json:"caption"`
	Entities []map[string]any `json:"caption_entities"`
	ReplyTo  map[string]any   `json:"reply_to_message"`
	Markup   map[string]any   `json:"reply_markup"`
}

func (r reply) photo(t *testing.T) sentPhoto {
	t.Helper()
	var m sentPhoto
	if err := json.Unmarshal(r.Result, &m); err != nil || !r.OK || len(m.Photo) < 2 {
		t.Fatalf("%d %s: %v", r.Status, r.Raw, err)
	}
	return m
}

// A photo comes in several sizes, the largest last, and has a caption instead of a text. It can be replaced by another.
func TestSendPhoto(t *testing.T) {
	t.Parallel()
	s, bot, group, alice := scene(t)
	asked, content := group.Say(alice, "/chart"), picture(t, 640, 400)
	buttons := fields{"inline_keyboard": [][]fields{{{"text": "Month", "callback_data": "m"}}}}
	sent := bot.upload(t, "sendPhoto", fields{
		"chat_id": group.ID(), "caption": "<b>Ratings</b> &lt;3", "parse_mode": "HTML", "disable_notification": true,
		"reply_parameters": fields{"message_id": asked.ID}, "reply_markup": buttons,
	}, map[string][]byte{"photo": content}).photo(t)
	largest := sent.Photo[len(sent.Photo)-1]
	if sent.ID != asked.ID+1 || sent.Caption != "Ratings <3" || sent.Text != nil || len(sent.Entities) != 1 || sent.Markup == nil ||
		sent.ReplyTo["message_id"] != float64(asked.ID) || largest.Width != 640 || largest.Height != 400 || largest.Size != len(content) {
		t.Errorf("sent %+v", sent)
	}
	m, _ := group.Message(sent.ID)
	if m.Photo == nil || !bytes.Equal(m.Photo.Content, content) || m.Text != "Ratings <3" || !m.Silent || len(m.Buttons) != 1 {
		t.Errorf("the chat has %+v", m)
	}
	edit := fields{"chat_id": group.ID(), "message_id": sent.ID, "media": fields{
		"type": "photo", "media": "attach://new", "caption": "<i>New</i>", "parse_mode": "HTML",
	}}
	edited := bot.upload(t, "editMessageMedia", edit, map[string][]byte{"new": picture(t, 320, 200)}).photo(t)
	if edited.ID != sent.ID || edited.Caption != "New" || edited.Photo[len(edited.Photo)-1].ID == largest.ID || edited.Markup != nil {
		t.Errorf("edited to %+v", edited)
	}
	if m, _ := group.Message(sent.ID); m.Edits != 1 || m.Photo.Width != 320 {
		t.Errorf("the chat has %+v", m)
	}
	if c := s.Complaints(); len(c) > 0 {
		t.Errorf("complaints %q", c)
	}
}

func TestSendPhotoRefusals(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	whole := picture(t, 8, 8)
	for name, tc := range map[string]struct {
		content []byte
		caption string
		text    string
	}{
		"empty":          {nil, "", "file must be non-empty"},
		"no picture":     {[]byte("GIF89a"), "", "IMAGE_PROCESS_FAILED"},
		"truncated":      {whole[:len(whole)-13], "", "IMAGE_PROCESS_FAILED"},
		"too many bytes": {slices.Concat(whole, make([]byte, 10<<20)), "", "file is too big for a photo"},
		"too large":      {picture(t, 9000, 1001), "", "PHOTO_INVALID_DIMENSIONS"},
		"too narrow":     {picture(t, 21, 1), "", "PHOTO_INVALID_DIMENSIONS"},
		"long caption":   {whole, strings.Repeat("ж", 1025), "message caption is too long"},
		"wrong caption":  {whole, "<b>", `can't parse entities: Can't find end tag corresponding to start tag "b"`},
	} {
		r := bot.upload(t, "sendPhoto", fields{"chat_id": group.ID(), "caption": tc.caption, "parse_mode": "HTML"}, map[string][]byte{"photo": tc.content})
		if r.Status != 400 || r.Description != "Bad Request: "+tc.text {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	long := "<b>" + strings.Repeat("ж", 1024) + "</b>" // the markup does not count
	sent := bot.upload(t, "sendPhoto", fields{"chat_id": group.ID(), "caption": long, "parse_mode": "HTML"}, map[string][]byte{"photo": picture(t, 20, 1)}).photo(t)
	bot.refused(t, "editMessageText", fields{"chat_id": group.ID(), "message_id": sent.ID, "text": "x"}, 400,
		"Bad Request: there is no text in the message to edit")
	if c := s.Complaints(); len(c) > 0 {
		t.Errorf("complaints %q", c)
	}
	if r := bot.upload(t, "sendPhoto", fields{"chat_id": group.ID()}, map[string][]byte{"photo": whole, "other": whole}); r.OK || len(s.Complaints()) != 1 {
		t.Errorf("a file that nothing refers to: %s, complaints %q", r.Raw, s.Complaints())
	}
	bot.refused(t, "sendPhoto", fields{"chat_id": group.ID(), "photo": "another"}, 400, "Bad Request: wrong file identifier/HTTP URL specified")
	if c := s.Complaints(); len(c) != 2 {
		t.Errorf("a photo that is not uploaded: complaints %q", c)
	}
}

// Where members may not send photos, the bot may not either, unless it is an admin.
func TestPhotoRights(t *testing.T) {
	t.Parallel()
	s, bot, group, _ := scene(t)
	send := func() reply {
		return bot.upload(t, "sendPhoto", fields{"chat_id": group.ID()}, map[string][]byte{"photo": picture(t, 8, 8)})
	}
	group.AllowPhotos(false)
	if r := send(); r.Status != 400 || r.Description != "Bad Request: not enough rights to send photos to the chat" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	bot.want(t, "sendMessage", fields{"chat_id": group.ID(), "text": "A text is fine"}, nil)
	group.Promote(s.Bot())
	send().photo(t)
	group.AllowPhotos(true)
	send().photo(t)
}
