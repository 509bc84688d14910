package bot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-telegram/bot/models"

	"elobot/internal/chart"
	"elobot/internal/outbox"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// maxDrawings is how many charts are drawn at the same time: each takes a core, and memory for its ratings and its pixels.
const maxDrawings = 2

// sendChart sends a chart, or replaces the one in the message with the pressed button. The picture is not stored: it is drawn when its turn
// comes, from what is true then.
func (s *Sender) sendChart(ctx context.Context, m outbox.Message) (outbox.Receipt, error) {
	w := s.words(m)
	n, ladder, err := read[stats.Chart](m.Items[0])
	if err != nil {
		return outbox.Receipt{}, telegram.Rejected(err)
	}
	w.nameNameless(&n)
	picture, err := s.drawChart(ctx, &n, w, m.Dark)
	if err != nil {
		return outbox.Receipt{}, err
	}
	out := chartView.show(n, m.Items[0], w).inLadder(ladder.ID)
	out.replyTo = m.Items[0].ReplyTo
	receipt, err := s.postPhoto(ctx, m, out, telegram.File{Field: "photo", Name: "chart.png", Content: picture})
	switch {
	case !says(err, "not enough rights to send photos", "CHAT_SEND_PHOTOS_FORBIDDEN", "CHAT_SEND_MEDIA_FORBIDDEN"):
		return receipt, err
	case m.Action == outbox.Page:
		return receipt, &outbox.Failure{Kind: outbox.Obsolete, Err: err}
	default:
		return s.post(ctx, m, outgoing{html: w.noPhotos(NoPhotos{}), replyTo: out.replyTo})
	}
}

// drawChart returns the picture of a chart as PNG, and sets the title and the period of what it shows. A failure to read is no attempt to
// send.
func (s *Sender) drawChart(ctx context.Context, n *stats.Chart, w words, dark bool) (picture []byte, err error) {
	defer func() {
		if p := recover(); p != nil { // of the drawing, which would fail again while everything else of the chat waits
			err = telegram.Rejected(fmt.Errorf("drawing a chart panicked: %v", p))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, viewTimeout)
	defer cancel()
	if err := s.drawings.Acquire(ctx, 1); err != nil {
		return nil, &outbox.Failure{Kind: outbox.Unreachable, Err: fmt.Errorf("wait for other charts: %w", err)}
	}
	defer s.drawings.Release(1)
	r, err := s.views.Ratings(ctx, *n, s.client.Now())
	if err != nil {
		return nil, &outbox.Failure{Kind: outbox.Unreachable, Err: fmt.Errorf("read the ratings of a chart: %w", err)}
	}
	n.Title, n.Period = r.Title, r.Period
	c := w.chartOf(*n, r)
	c.Dark = dark
	if picture, err = s.draw(c); err != nil {
		return nil, telegram.Rejected(err)
	}
	return picture, nil
}

// chartOf returns what a picture shows.
func (w words) chartOf(n stats.Chart, r stats.Ratings) chart.Chart {
	c := chart.Chart{ByMatch: n.ByMatch, Date: w.chartDay(timeShown(r))}
	for i, points := range r.Players {
		c.Highlighted = append(c.Highlighted, chart.Line{Name: drawnName(n.Players[i]), Points: w.pointsOf(points)})
	}
	for _, points := range r.Others {
		c.Others = append(c.Others, w.pointsOf(points))
	}
	for _, s := range r.Seasons {
		c.Seasons = append(c.Seasons, chart.Season{Starts: s.At, Match: s.Match, Label: capitalised(w.seasonName(s.Number, ""))})
	}
	return c
}

func (w words) pointsOf(ratings []stats.Rating) []chart.Point {
	points := make([]chart.Point, len(ratings))
	for i, r := range ratings {
		r.At = w.local(r.At)
		points[i] = chart.Point(r)
	}
	return points
}

// timeShown returns how much time a chart shows.
func timeShown(r stats.Ratings) time.Duration {
	var first, last time.Time
	for _, points := range slices.Concat(r.Players, r.Others) {
		if len(points) == 0 {
			continue
		}
		from, to := points[0].At, points[len(points)-1].At
		if first.IsZero() || from.Before(first) {
			first = from
		}
		if to.After(last) {
			last = to
		}
	}
	return last.Sub(first)
}

// postPhoto sends a picture with its caption, or puts them in the place of others.
func (s *Sender) postPhoto(ctx context.Context, m outbox.Message, out outgoing, photo telegram.File) (outbox.Receipt, error) {
	if m.Action == outbox.Page && m.Target == 0 {
		return outbox.Receipt{}, &outbox.Failure{Kind: outbox.Obsolete, Err: errNothingToEdit}
	}
	return s.attempt(ctx, m, out, s.params(m, out), func(text parameters) (int64, error) {
		if m.Action == outbox.Page {
			return m.Target, s.editPhoto(ctx, m.Target, text, photo)
		}
		text.Caption, text.Text, text.Preview = text.Text, "", nil
		result, err := s.client.Upload(ctx, "sendPhoto", text, photo)
		if err != nil {
			return 0, err
		}
		return s.sentID(ctx, result), nil
	})
}

type photoMedia struct {
	Type      string           `json:"type"`
	Media     string           `json:"media"`
	Caption   string           `json:"caption,omitempty"`
	ParseMode models.ParseMode `json:"parse_mode,omitempty"`
}

// editPhoto replaces the picture of a message. "Not modified" is a success.
func (s *Sender) editPhoto(ctx context.Context, id int64, text parameters, photo telegram.File) error {
	media := photoMedia{Type: "photo", Media: "attach://" + photo.Field, Caption: text.Text, ParseMode: text.ParseMode}
	edit := parameters{Chat: text.Chat, Edited: id, Media: &media, Keyboard: text.Keyboard}
	_, err := s.client.Upload(ctx, "editMessageMedia", edit, photo)
	if says(err, notModified) {
		return nil
	}
	return err
}
