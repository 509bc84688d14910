package bot

import (
	"slices"
	"strings"
	"time"

	"elobot/internal/chart"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// The axes of a chart in button data.
const (
	axisDate  = "d"
	axisMatch = "m"
)

// chartData returns the data of a button that shows a chart, as in 1g:month:d:1a,1b, or an empty
// string if the data is too long.
func chartData(n stats.Chart) string {
	axis := axisDate
	if n.ByMatch {
		axis = axisMatch
	}
	return callbackData(chartCode, strings.Join([]string{string(n.Period), axis, showIDs(n.IDs())}, ":"))
}

// parseChart reads the arguments written by chartData. ok is false for any other arguments.
func parseChart(args string) (q stats.SameChartQuestion, ok bool) {
	period, rest, _ := strings.Cut(args, ":")
	axis, ids, _ := strings.Cut(rest, ":")
	q.Period, q.ByMatch = stats.Period(period), axis == axisMatch
	players, ok := parseIDs(ids)
	for _, p := range players {
		q.Players = append(q.Players, ranking.Name{Player: p})
	}
	known := ok && slices.Contains(stats.Periods(), q.Period) && len(q.Players) <= stats.MaxCharted
	return q, known && chartData(q.Chart) == callbackData(chartCode, args)
}

// ChartOf returns the chart that a button with this data shows. ok is false for other buttons.
func ChartOf(data string) (n stats.Chart, ok bool) {
	args, isChart := argsOf(chartCode, data)
	q, ok := parseChart(args)
	return q.Chart, isChart && ok
}

var chartView = shows(view[stats.Chart]{text: words.chart, buttons: chartButtons})

// chart returns the caption of a chart. It lists the names of the players whom the picture labels
// with a letter.
func (w words) chart(n stats.Chart) string {
	lines := []string{w.titleOf("chart.title", n.Title), "<i>" + w.Text("chart.period."+string(n.Period), nil) + "</i>"}
	for i, label := range chart.Labels(namesAs(n.Players, drawnName)) {
		if label.Lettered {
			lines = append(lines, label.Text+": "+showName(n.Players[i]))
		}
	}
	return strings.Join(lines, "\n")
}

// NoPhotos replaces a picture that the bot may not send to the chat. It exists only while the
// message is being sent, and is never stored.
type NoPhotos struct{}

var _ = notice.Register[NoPhotos](notice.Kind{Name: "no_photos", Purpose: notice.Answer})

var _ = shows(view[NoPhotos]{text: words.noPhotos, line: words.noPhotos})

func (w words) noPhotos(NoPhotos) string { return w.Text("chart.no_photos", nil) }

// drawnName returns a name as plain text, with the mark, if any, that distinguishes players of the
// same name.
func drawnName(n ranking.Name) string { return cleanName(n.Name) + brackets(cleanName(n.Mark)) }

// chartButtons returns the buttons for all periods and for both axes. The buttons for the current
// period and axis are marked.
func chartButtons(n stats.Chart, _ outbox.Item, w words) [][]button {
	var rows [3][]button // four periods do not fit in one row
	add := func(row int, label string, shown stats.Chart) {
		chosen := shown.Period == n.Period && shown.ByMatch == n.ByMatch
		rows[row] = append(rows[row], button{text: choice(w.Text("button."+label, nil), chosen), data: chartData(shown)})
	}
	for i, period := range stats.Periods() {
		shown := n
		shown.Period = period
		add(i/2, "chart_"+string(period), shown)
	}
	byDate, byMatch := n, n
	byDate.ByMatch, byMatch.ByMatch = false, true
	add(2, "chart_by_date", byDate)
	add(2, "chart_by_match", byMatch)
	return rows[:]
}

// longChart is the span above which dates below a chart show the month and the year, not the day.
const longChart = 300 * 24 * time.Hour

// chartDay returns the function that formats the dates below a chart. shown is the time span of the
// chart. There is little room, so names of months are cut to at most three letters.
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
