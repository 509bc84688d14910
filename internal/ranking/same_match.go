package ranking

import (
	"context"
	"fmt"
	"slices"
	"time"

	"elobot/internal/ladder"
)

// PlayedMatch is a recorded match, with the players of both sides sorted by id.
type PlayedMatch struct {
	Key   string
	At    time.Time
	Score ladder.Score
	Sides [2][]ladder.PlayerID
}

// what returns the same text for matches of the same people with the same result, no matter which
// side comes first.
func (m PlayedMatch) what() string {
	if slices.Compare(m.Sides[0], m.Sides[1]) > 0 {
		m.Sides[0], m.Sides[1] = m.Sides[1], m.Sides[0]
		m.Score.A, m.Score.B = m.Score.B, m.Score.A
	}
	return fmt.Sprint(m.Sides, m.Score)
}

// findSame sets the report's Same. matches are in the order of their times. Recorded matches with
// the keys in others are other ones, because the file has them too.
func (p *planned) findSame(ctx context.Context, matches []ImportedMatch, others map[string]bool) error {
	if len(matches) == 0 {
		return nil
	}
	zone := p.snap.Display.Zone()
	day := func(at time.Time) string { return at.In(zone).Format(time.DateOnly) }
	second := func(at time.Time) time.Time { return at.UTC().Truncate(time.Second) } // as exports write times
	first, last := LaterDay(matches[0].PlayedAt.In(zone), 0), second(matches[len(matches)-1].PlayedAt).Add(time.Second)
	recorded, err := p.store.PlayedBetween(ctx, p.snap.Ladder.ID, first, last)
	if err != nil {
		return err
	}
	known := make(map[string]bool, 2*len(recorded))
	for _, m := range recorded {
		if others[m.Key] {
			continue
		}
		known[day(m.At)+m.what()], known[second(m.At).String()+m.what()] = true, true
	}
	for _, m := range matches {
		o := PlayedMatch{Score: m.Score}
		for _, part := range m.Parts {
			o.Sides[part.Side-1] = append(o.Sides[part.Side-1], part.Player)
		}
		slices.Sort(o.Sides[0])
		slices.Sort(o.Sides[1])
		at := second(m.PlayedAt).String()
		if m.isDay {
			at = day(m.PlayedAt)
		}
		if len(known) > 0 && known[at+o.what()] {
			p.report.Same = append(p.report.Same, m.line)
		}
	}
	slices.Sort(p.report.Same)
	return nil
}
