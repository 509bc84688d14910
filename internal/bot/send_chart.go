package bot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"elobot/internal/chart"
	"elobot/internal/outbox"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// maxDrawings is the maximum number of charts drawn concurrently. Each occupies a CPU core, and
// memory for its ratings and pixels.
const maxDrawings = 2

// sendChart sends a chart. After a press of a button below a chart, it instead replaces that chart.
// If the chat refuses photos, sendChart sends a text, or leaves the chart as it is. The picture is
// drawn when it is sent, from the ratings at that time, and is never stored.
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
	receipt, err := s.deliver(ctx, draft{
		message: m, out: out, edited: m.Target,
		files:   []telegram.File{{Field: fieldPhoto, Name: "chart.png", Content: picture}},
		instead: &outgoing{html: w.noPhotos(NoPhotos{}), replyTo: out.replyTo},
	})
	if m.Action == outbox.Page && refusesFiles(err) {
		err = &outbox.Failure{Kind: outbox.Obsolete, Err: err}
	}
	return receipt, err
}

// drawChart draws a chart as PNG, and sets n's title and period to what the picture shows. If the
// ratings cannot be read, or other charts take too long, the error is an [outbox.Failure] of the
// kind Unreachable, so the outbox sends the message again later.
func (s *Sender) drawChart(ctx context.Context, n *stats.Chart, w words, dark bool) (picture []byte, err error) {
	defer func() {
		// A panic while drawing would recur and block the chat's lane.
		if p := recover(); p != nil {
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

func (w words) chartOf(n stats.Chart, r stats.Ratings) chart.Chart {
	c := chart.Chart{ByMatch: n.ByMatch, Date: w.chartDay(timeShown(r))}
	for i, points := range r.Players {
		c.Highlighted = append(c.Highlighted, chart.Line{Name: drawnName(n.Players[i]), Points: w.pointsOf(points)})
	}
	for _, points := range r.Others {
		c.Others = append(c.Others, w.pointsOf(points))
	}
	for _, s := range r.Seasons {
		c.Seasons = append(c.Seasons,
			chart.Season{Starts: s.At, Match: s.Match, Label: capitalized(w.seasonName(s.Number, ""))})
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

func timeShown(r stats.Ratings) time.Duration {
	all := slices.Concat(slices.Concat(r.Players, r.Others)...)
	if len(all) == 0 {
		return 0
	}
	byTime := func(a, b stats.Rating) int { return a.At.Compare(b.At) }
	return slices.MaxFunc(all, byTime).At.Sub(slices.MinFunc(all, byTime).At)
}
