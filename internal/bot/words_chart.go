package bot

import (
	"strings"
	"time"

	"elobot/internal/chart"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// chart returns the caption of a chart. It names those who have a number in the picture.
func (w words) chart(n stats.Chart) string {
	title := w.Text("chart.title", nil)
	if n.Title != "" {
		title = w.Text("chart.title_of", args{"Title": showText(n.Title)})
	}
	lines := []string{title, "<i>" + w.Text("chart.period."+string(n.Period), nil) + "</i>"}
	names := make([]string, len(n.Players))
	for i, name := range n.Players {
		names[i] = drawnName(name)
	}
	for i, label := range chart.Labels(names) {
		if label.Numbered {
			lines = append(lines, label.Text+" "+showName(n.Players[i]))
		}
	}
	return strings.Join(lines, "\n")
}

func (w words) noPhotos(NoPhotos) string { return w.Text("chart.no_photos", nil) }

// drawnName is a name in a picture, with the mark that distinguishes players of the same name.
func drawnName(n ranking.Name) string {
	name := cleanName(n.Name)
	if n.Mark != "" {
		name += " (" + cleanName(n.Mark) + ")"
	}
	return name
}

// chartButtons returns the buttons that show a chart of another period, or along another axis.
func chartButtons(n stats.Chart, w words) [][]button {
	var rows [2][]button
	add := func(row int, label string, shown stats.Chart) {
		if data := chartData(shown); data != "" {
			chosen := shown.Period == n.Period && shown.ByMatch == n.ByMatch
			rows[row] = append(rows[row], button{text: choice(w.Text("button."+label, nil), chosen), data: data})
		}
	}
	for _, period := range stats.Periods() {
		shown := n
		shown.Period = period
		add(0, "chart_"+string(period), shown)
	}
	for _, byMatch := range []bool{false, true} {
		shown, label := n, "chart_by_date"
		if shown.ByMatch = byMatch; byMatch {
			label = "chart_by_match"
		}
		add(1, label, shown)
	}
	if rows[0] == nil {
		return nil
	}
	return rows[:]
}

// longChart is from when on the days below a chart have years.
const longChart = 300 * 24 * time.Hour

// chartDay returns how days are written below a chart, which shows so much time: there is little room.
func (w words) chartDay(shown time.Duration) func(time.Time) string {
	return func(at time.Time) string {
		month := []rune(w.Text("date.months."+strings.ToLower(at.Month().String()), nil))
		with := args{"Day": at.Day(), "Month": string(month[:min(3, len(month))]), "Year": at.Year()}
		if shown > longChart {
			return w.Text("chart.month", with)
		}
		return w.Text("chart.day", with)
	}
}
