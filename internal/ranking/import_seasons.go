package ranking

import (
	"context"
	"time"
)

// divide divides the ladder into seasons, if the file asks for that. times are those of the new
// matches, in order. It fails with ErrNotEmpty if the ladder has matches or several seasons.
func (p *planned) divide(ctx context.Context, times []time.Time) error {
	end := func(at time.Time) time.Time {
		return endOfSeason(at, Rules{SeasonMonths: p.file.SeasonMonths}, p.snap.Display)
	}
	switch {
	case p.file.SeasonMonths == 0 || len(times) == 0:
		return nil
	case len(p.before.Ordered) > 0 || len(p.before.Seasons) > 1:
		return ErrNotEmpty
	case p.snap.Ladder.Season.endsBefore(p.file.At):
		return ErrSeasonOver
	}
	var ends []time.Time
	for _, at := range times {
		if at = end(at); at.Before(end(p.file.At)) && (len(ends) == 0 || at.After(ends[len(ends)-1])) {
			ends = append(ends, at)
		}
	}
	if err := p.store.Divide(ctx, p.snap.ChatID, p.snap.Ladder, ends); err != nil {
		return err
	}
	now, err := p.store.BeforeImport(ctx, p.snap.Ladder.ID)
	p.before.Seasons, p.report.Seasons = now.Seasons, len(ends)
	return err
}
