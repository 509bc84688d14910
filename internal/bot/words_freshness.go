package bot

import "elobot/internal/stats"

// freshness says that the figures of a view are not current, or nothing.
func (w words) freshness(f stats.Freshness) string {
	switch {
	case f.Recounting:
		return w.Text("tally.recounting", nil)
	case !f.AsOf.IsZero():
		return w.Text("tally.as_of", args{"Time": f.AsOf.UTC().Format("15:04")})
	default:
		return ""
	}
}
