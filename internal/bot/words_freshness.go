package bot

import (
	"time"

	"elobot/internal/stats"
)

// freshness says that the figures of a view are not current, or nothing.
func (w words) freshness(f stats.Freshness) string {
	switch {
	case f.Recounting:
		return w.Text("tally.recounting", nil)
	case !f.AsOf.IsZero():
		return w.asOf("tally.as_of", f.AsOf)
	default:
		return ""
	}
}

// nothing returns the first and the last paragraph of a view that has nothing to show. It says so below the title, unless matches are
// still to be counted.
func (w words) nothing(title, id string, f stats.Freshness) (first, last []string) {
	if f == (stats.Freshness{}) {
		return []string{title, w.Text(id, nil)}, nil
	}
	return []string{title}, remark(w.Text("tally.recounting", nil))
}

// asOf puts a moment into a text.
func (w words) asOf(id string, at time.Time) string {
	return w.Text(id, args{"Date": w.Date(at), "Time": at.UTC().Format("15:04")})
}
