package bot

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/go-telegram/bot/models"

	"elobot/internal/outbox"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// noPhotosSaid is how long the bot does not say again that it may not send photos to a chat.
const noPhotosSaid = time.Hour

// sendChart sends a chart, or replaces the one in the message with the pressed button. The picture is not stored: it is made when its turn
// comes, and until it is, nothing is sent.
func (s *Sender) sendChart(ctx context.Context, m outbox.Message) (outbox.Receipt, error) {
	w := s.words(m)
	n, err := read[stats.Chart](m.Items[0])
	if err != nil {
		return outbox.Receipt{}, telegram.Rejected(err)
	}
	p, err := s.picture(m, n)
	if err != nil {
		return outbox.Receipt{}, err
	}
	ladder, err := ladderLabel(m.Items[0])
	if err != nil {
		return outbox.Receipt{}, telegram.Rejected(err)
	}
	out := chartView.show(p.notice, m.Items[0], w).inLadder(ladder.ID)
	out.replyTo = m.Items[0].ReplyTo
	receipt, err := s.postPicture(ctx, m, out, p)
	if says(err, "wrong file identifier", "wrong remote file identifier", "FILE_REFERENCE") { // Telegram has lost it
		s.pictures.setFile(p.content, "")
		err = &outbox.Failure{Kind: outbox.Unreachable, Err: err}
	}
	if err == nil || !isRetried(err) {
		s.pictures.drop(m.Row.ID)
	}
	switch {
	case !says(err, "not enough rights to send photos", "CHAT_SEND_PHOTOS_FORBIDDEN", "CHAT_SEND_MEDIA_FORBIDDEN"):
		return receipt, err
	case m.Action == outbox.Page:
		return receipt, &outbox.Failure{Kind: outbox.Obsolete, Err: err}
	default:
		return s.sayNoPhotos(ctx, m, w)
	}
}

// isRetried is true if the same picture is soon sent again.
func isRetried(err error) bool {
	var f *outbox.Failure
	return !errors.As(err, &f) && telegram.IsTransient(err)
}

// sayNoPhotos says instead of a chart that the bot may not send photos, but not again and again.
func (s *Sender) sayNoPhotos(ctx context.Context, m outbox.Message, w words) (outbox.Receipt, error) {
	if s.noPhotos.Has(m.ExternalChat) {
		return outbox.Receipt{}, nil
	}
	receipt, err := s.post(ctx, m, outgoing{html: w.noPhotos(NoPhotos{}), replyTo: m.Items[0].ReplyTo})
	if err == nil {
		s.noPhotos.Add(m.ExternalChat, noPhotosSaid)
	}
	return receipt, err
}

// postPicture sends a picture with its caption, or puts them in the place of others.
func (s *Sender) postPicture(ctx context.Context, m outbox.Message, out outgoing, p *picture) (outbox.Receipt, error) {
	if m.Action == outbox.Page && m.Target == 0 {
		return outbox.Receipt{}, &outbox.Failure{Kind: outbox.Obsolete, Err: errNothingToEdit}
	}
	return s.attempt(ctx, m, out, s.params(m, out), func(text parameters) (int64, error) {
		if m.Action == outbox.Page {
			return s.editPhoto(ctx, m.Target, text, p)
		}
		return s.sendPhoto(ctx, text, p)
	})
}

// photoField is the name of the picture in a form.
const photoField = "photo"

// sendPhoto sends a picture as a new message.
func (s *Sender) sendPhoto(ctx context.Context, text parameters, p *picture) (int64, error) {
	text.Photo, text.Caption, text.Text, text.Preview = s.pictures.file(p.content), text.Text, "", nil
	return s.upload(ctx, "sendPhoto", text.Photo != "", text, p)
}

type photoMedia struct {
	Type      string           `json:"type"`
	Media     string           `json:"media"`
	Caption   string           `json:"caption,omitempty"`
	ParseMode models.ParseMode `json:"parse_mode,omitempty"`
}

// editPhoto replaces the picture of a message. "Not modified" is a success.
func (s *Sender) editPhoto(ctx context.Context, id int64, text parameters, p *picture) (int64, error) {
	photo := s.pictures.file(p.content)
	media := photoMedia{Type: "photo", Media: photo, Caption: text.Text, ParseMode: text.ParseMode}
	if photo == "" {
		media.Media = "attach://" + photoField
	}
	_, err := s.upload(ctx, "editMessageMedia", photo != "", parameters{Chat: text.Chat, Edited: id, Media: &media, Keyboard: text.Keyboard}, p)
	if says(err, notModified) {
		err = nil
	}
	return id, err
}

var errNoPicture = errors.New("the file of the picture is not known any more")

// upload makes a request with a picture: by Telegram's file of it if it is known, which the parameters then name. It returns the id of the
// message. A message that Telegram accepted counts as sent even if the result cannot be read; the id is 0 then.
func (s *Sender) upload(ctx context.Context, method string, known bool, params any, p *picture) (int64, error) {
	var result json.RawMessage
	var err error
	switch {
	case known:
		result, err = s.client.Call(ctx, method, params)
	case p.png == nil:
		return 0, &outbox.Failure{Kind: outbox.Unreachable, Err: errNoPicture}
	default:
		result, err = s.client.Upload(ctx, method, params, telegram.File{Field: photoField, Name: "chart.png", Content: p.png})
	}
	if err != nil {
		return 0, err
	}
	var sent struct {
		ID    int64 `json:"message_id"`
		Photo []struct {
			ID string `json:"file_id"`
		} `json:"photo"` // in all sizes, the largest last
	}
	if err := json.Unmarshal(result, &sent); err != nil {
		s.log.WarnContext(ctx, "sent a chart, but failed to read its id", "error", err)
	}
	if n := len(sent.Photo); n > 0 && !known {
		s.pictures.setFile(p.content, sent.Photo[n-1].ID)
	}
	return sent.ID, nil
}
