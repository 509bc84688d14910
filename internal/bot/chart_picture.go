package bot

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"elobot/internal/chart"
	"elobot/internal/outbox"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

const (
	// maxDrawings is how many pictures are drawn at the same time.
	maxDrawings = 2
	// ratingsTimeout limits the read of what a chart shows. No request waits for it.
	ratingsTimeout = 10 * time.Second
	// pictureKept is how long a picture waits to be sent before it is dropped, and drawn again when its turn comes.
	pictureKept = time.Minute
	// fileKept is how long the same picture is not uploaded again.
	fileKept = time.Minute
)

// pictures draws charts in the background, so that nobody waits for that: neither another chat, nor a send slot. It keeps a picture until
// it is sent, and Telegram's file of it for a little longer. Its methods can be called concurrently.
type pictures struct {
	slots chan struct{}   // has as many tokens as pictures are being drawn
	ctx   context.Context //nolint:containedctx // what pictures are made under, until close
	stop  context.CancelFunc
	runs  sync.WaitGroup
	now   func() time.Time
	draw  func(chart.Chart) ([]byte, error)

	mu    sync.Mutex
	made  map[int64]*picture // by the id of the row in the outbox
	files map[content]file
}

// content identifies what a picture shows.
type content [sha256.Size]byte

// file is Telegram's file of a picture.
type file struct {
	id    string
	until time.Time
}

// picture is a chart on its way. All fields but ready are set when ready is closed.
type picture struct {
	ready   chan struct{}
	notice  stats.Chart // what it shows
	content content
	png     []byte // nil if Telegram has a file of it
	err     error
	until   time.Time // zero while it is being made
}

func newPictures() *pictures {
	// one core is for everything else
	slots := min(maxDrawings, max(1, runtime.GOMAXPROCS(0)-1))
	ctx, stop := context.WithCancel(context.Background())
	return &pictures{
		slots: make(chan struct{}, slots), ctx: ctx, stop: stop, now: time.Now, draw: chart.Draw,
		made: make(map[int64]*picture), files: make(map[content]file),
	}
}

// close ends the making of pictures, and waits until none is being made. After that, none becomes ready any more.
func (c *pictures) close() {
	c.mu.Lock()
	c.stop()
	c.mu.Unlock()
	c.runs.Wait()
}

// of returns the picture for a row. If there is none yet, drawInto begins to make it.
func (c *pictures) of(row int64, drawInto func(context.Context, *picture) error) *picture {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetOld()
	p := c.made[row]
	if p == nil {
		p = &picture{ready: make(chan struct{})}
		c.made[row] = p
		if c.ctx.Err() == nil {
			c.runs.Go(func() { c.run(p, drawInto) })
		}
	}
	return p
}

// run makes a picture when a slot is free.
func (c *pictures) run(p *picture, drawInto func(context.Context, *picture) error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-c.ctx.Done(): // nothing is read any more
	}
	defer func() {
		if cause := recover(); cause != nil {
			p.err = telegram.Rejected(fmt.Errorf("drawing a chart panicked: %v", cause))
		}
		c.mu.Lock()
		p.until = c.now().Add(pictureKept)
		c.mu.Unlock()
		close(p.ready)
	}()
	p.err = drawInto(c.ctx, p)
}

// forgetOld drops pictures whose rows are not sent for long, and files that may be outdated.
func (c *pictures) forgetOld() {
	now := c.now()
	for row, p := range c.made {
		if !p.until.IsZero() && now.After(p.until) {
			delete(c.made, row)
		}
	}
	for key, f := range c.files {
		if now.After(f.until) {
			delete(c.files, key)
		}
	}
}

// drop forgets the picture for a row.
func (c *pictures) drop(row int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.made, row)
}

// file returns the id of Telegram's file of a picture, or an empty string.
func (c *pictures) file(of content) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgetOld()
	return c.files[of].id
}

// setFile notes Telegram's file of a picture; an empty id if it has none any more.
func (c *pictures) setFile(of content, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.files, of); id != "" {
		c.files[of] = file{id, c.now().Add(fileKept)}
	}
}

var (
	errDrawing = errors.New("the picture is being drawn")
	errNotRead = errors.New("the ratings of a chart cannot be read")
)

// picture returns the picture of a chart, or a failure as long as it is not ready. It is made from what is true when it is drawn.
func (s *Sender) picture(m outbox.Message, n stats.Chart) (*picture, error) {
	p := s.pictures.of(m.Row.ID, func(ctx context.Context, p *picture) error { return s.draw(ctx, m, n, p) })
	select {
	case <-p.ready:
	default:
		return nil, &outbox.Failure{Kind: outbox.NotReady, Ready: p.ready, Err: errDrawing}
	}
	if p.err != nil {
		s.pictures.drop(m.Row.ID)
	}
	return p, p.err
}

// draw makes a picture. If Telegram has a file of the same one, there is no need to.
func (s *Sender) draw(ctx context.Context, m outbox.Message, n stats.Chart, p *picture) error {
	ctx, cancel := context.WithTimeout(ctx, ratingsTimeout)
	defer cancel()
	r, err := s.views.Ratings(ctx, n, s.client.Now())
	if err != nil {
		return &outbox.Failure{Kind: outbox.Unreachable, Err: fmt.Errorf("%w: %w", errNotRead, err)}
	}
	n.Title, n.Period = r.Title, r.Period
	p.notice = n
	w := s.words(m)
	c := w.chartOf(n, r)
	c.Dark = m.Dark
	p.content = contentOf(c, m.Language, m.TimeZone)
	if s.pictures.file(p.content) != "" {
		return nil
	}
	c.Date = w.chartDay(timeShown(r))
	if p.png, err = s.pictures.draw(c); err != nil {
		return telegram.Rejected(err)
	}
	return nil
}

// chartOf returns what a picture shows, apart from the language.
func (w words) chartOf(n stats.Chart, r stats.Ratings) chart.Chart {
	c := chart.Chart{ByMatch: n.ByMatch}
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

// contentOf identifies a picture.
func contentOf(c chart.Chart, language, zone string) (id content) {
	h := sha256.New()
	add := func(points []chart.Point) {
		encoded := binary.AppendUvarint(nil, uint64(len(points)))
		for _, p := range points {
			for _, n := range []int64{p.At.UnixMicro(), int64(p.Match), int64(p.Elo)} {
				encoded = binary.AppendVarint(encoded, n)
			}
		}
		_, _ = h.Write(encoded) // a hash never fails
	}
	_, _ = fmt.Fprintln(h, language, zone, c.Dark, c.ByMatch, len(c.Highlighted), c.Seasons)
	for _, line := range c.Highlighted {
		_, _ = fmt.Fprintf(h, "%q", line.Name)
		add(line.Points)
	}
	for _, points := range c.Others {
		add(points)
	}
	h.Sum(id[:0])
	return id
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
