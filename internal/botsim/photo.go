package botsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"

	"elobot/internal/botsim/parameters"
)

// Telegram's limits for photos.
const (
	maxCaption    = 1024 // characters, after the markup has been parsed
	maxPhotoBytes = 10 << 20
	maxPhotoSides = 10_000 // width plus height
	maxPhotoRatio = 20     // of the longer to the shorter side
)

func (s *Server) sendPhoto(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &message{}
	explicit, err := s.readPhoto(r, m, "photo", r.params["photo"], r.params)
	if err != nil {
		return nil, err
	}
	if m.Buttons, err = readKeyboard(r.params); err != nil {
		return nil, err
	}
	return s.send(r, m, explicit)
}

// editMessageMedia replaces the photo of a message, its caption and its buttons.
func (s *Server) editMessageMedia(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var fields map[string]any
	if _, err := r.params.Object("media", &fields); err != nil {
		return nil, err
	}
	media, err := textsOf(fields)
	if err != nil {
		return nil, err
	}
	if media["type"] != "photo" {
		s.complaints.add("editMessageMedia: " + media["type"] + " is not simulated")
		return nil, badRequest("unsupported type specified")
	}
	edited := &message{}
	explicit, err := s.readPhoto(r, edited, "", media["media"], media)
	if err != nil {
		return nil, err
	}
	if edited.Buttons, err = readKeyboard(r.params); err != nil {
		return nil, err
	}
	return s.replace(r, edited, explicit)
}

// textsOf returns the fields of an object in the form of request parameters.
func textsOf(fields map[string]any) (parameters.Values, error) {
	texts := parameters.Values{}
	for name, value := range fields {
		if text, ok := value.(string); ok {
			texts[name] = text
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode field %s: %w", name, err)
		}
		texts[name] = string(raw)
	}
	return texts, nil
}

// readPhoto sets the photo and the caption of a message. parameter and value identify the photo
// among the files of the request, and p has the caption. readPhoto returns the entities that the
// bot marked in the caption.
func (s *Server) readPhoto(r *request, m *message, parameter, value string, p parameters.Values) ([]Entity, error) {
	content, ok := r.files.Find(parameter, value)
	if !ok {
		s.complaints.add(r.call.Method + ": the file is missing, and photos that are not uploaded are not simulated")
		return nil, badRequest("wrong file identifier/HTTP URL specified")
	}
	var err error
	if m.Photo, err = newPhoto(content); err != nil {
		return nil, err
	}
	explicit, err := s.readCaption(r, m, p)
	if err != nil {
		return nil, err
	}
	s.photos++
	m.Photo.FileID = fmt.Sprintf("AgACAgQAAxkDAAI%06d", s.photos)
	return explicit, nil
}

// newPhoto reads an uploaded photo. Telegram also reads other formats, but only PNG is simulated.
func newPhoto(content []byte) (*Photo, error) {
	if len(content) == 0 {
		return nil, badRequest("file must be non-empty")
	}
	if len(content) > maxPhotoBytes {
		return nil, badRequest("file is too big for a photo")
	}
	size, err := png.DecodeConfig(bytes.NewReader(content))
	if err != nil || !bytes.Contains(content[max(0, len(content)-12):], []byte("IEND")) {
		return nil, badRequest("IMAGE_PROCESS_FAILED")
	}
	width, height := size.Width, size.Height
	if width+height > maxPhotoSides || max(width, height) > maxPhotoRatio*min(width, height) {
		return nil, badRequest("PHOTO_INVALID_DIMENSIONS")
	}
	return &Photo{Width: width, Height: height, Content: content}, nil
}

// wire encodes a photo in two sizes, the larger last as in Telegram.
func (p *Photo) wire() []wirePhoto {
	small := wirePhoto{p.FileID + "s", "u" + p.FileID + "s",
		max(1, p.Width/4), max(1, p.Height/4), max(1, len(p.Content)/8)}
	return []wirePhoto{small, {p.FileID, "u" + p.FileID, p.Width, p.Height, len(p.Content)}}
}

// mayPhoto reports whether the bot may send photos to the chat.
func (c *Chat) mayPhoto() bool {
	return c.kind == kindPrivate || c.isAdmin(c.s.bot.ID) || !c.noPhotos
}

// AllowPhotos sets whether members of a group may send photos. Admins always may. The bot gets no
// update.
func (c *Chat) AllowPhotos(allowed bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.noPhotos = !allowed
}
