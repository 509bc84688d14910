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
	ID    int   `json:"message_id"`
	Photo []any `json:"photo"` // the sizes of the photo
}

func (r reply) photo(t *testing.T) sentPhoto {
	t.Helper()
	var m sentPhoto
	if err := json.Unmarshal(r.Result, &m); err != nil || !r.OK || len(m.Photo) < 2 {
		t.Fatalf("%d %s: %v", r.Status, r.Raw, err)
	}
	return m
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
		r := bot.upload(t, "sendPhoto",
			fields{"chat_id": group.ID(), "caption": tc.caption, "parse_mode": "HTML"}, map[string][]byte{"photo": tc.content})
		if r.Status != 400 || r.Description != "Bad Request: "+tc.text {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
		}
	}
	long := "<b>" + strings.Repeat("ж", 1024) + "</b>" // the markup does not count
	sent := bot.upload(t, "sendPhoto", fields{"chat_id": group.ID(), "caption": long, "parse_mode": "HTML"},
		map[string][]byte{"photo": picture(t, 20, 1)}).photo(t)
	bot.refused(t, "editMessageText", fields{"chat_id": group.ID(), "message_id": sent.ID, "text": "x"}, 400,
		"Bad Request: there is no text in the message to edit")
	if c := s.Complaints(); len(c) > 0 {
		t.Errorf("complaints %q", c)
	}
	if r := bot.upload(t, "sendPhoto", fields{"chat_id": group.ID()},
		map[string][]byte{"photo": whole, "other": whole}); r.OK || len(s.Complaints()) != 1 {
		t.Errorf("a file that nothing refers to: %s, complaints %q", r.Raw, s.Complaints())
	}
	bot.refused(t, "sendPhoto", fields{"chat_id": group.ID(), "photo": "another"}, 400,
		"Bad Request: wrong file identifier/HTTP URL specified")
	if c := s.Complaints(); len(c) != 2 {
		t.Errorf("a photo that is not uploaded: complaints %q", c)
	}
}

// TestPhotoRights checks that, in a group whose members may not send photos, the bot may send them
// only as an admin.
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
