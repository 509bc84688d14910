package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"image"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"elobot/internal/catalog"
	"elobot/internal/chart"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

//go:embed pages
var pageFiles embed.FS

// templates returns the page templates, each combined with the layout. They are parsed only when a
// page is first shown, because a process without a web board, such as a health check, has no use
// for them.
var templates = sync.OnceValue(func() map[string]*template.Template {
	all := make(map[string]*template.Template)
	layout := template.Must(template.ParseFS(pageFiles, "pages/layout.html"))
	for _, name := range []string{"ranking", "tv", "player", "h2h", "matches", "season", "seasons", "records"} {
		all[name] = template.Must(template.Must(layout.Clone()).ParseFS(pageFiles, "pages/"+name+".html"))
	}
	return all
})

// visit is a request for a page of an existing board. Its methods provide the page's texts and
// addresses. Addresses of pages are relative, so no page contains the token.
type visit struct {
	catalog.Language
	Group   *stats.WebGroup
	Ladder  ranking.LadderLabel
	TV      bool // an unattended screen
	Now     time.Time
	Up      string // the relative path to the board
	Title   string
	Data    any
	request *http.Request
	query   url.Values
}

// visit parses a request. below is the request's path below the board's path. visit fails with
// stats.ErrNotThere if the group does not have the ladder in the query.
func (b *Board) visit(g *stats.WebGroup, r *http.Request, below string, query url.Values) (*visit, error) {
	zone := ranking.Display{TimeZone: g.TimeZone}.Zone()
	v := &visit{
		Language: catalog.For(g.Language), Group: g, TV: query.Has("tv"), Now: b.now().In(zone), request: r, query: query,
		Up: "./" + strings.Repeat("../", strings.Count(below, "/")), Ladder: g.Ladders[0],
	}
	if !query.Has("ladder") {
		return v, nil
	}
	for _, l := range g.Ladders {
		if strconv.FormatInt(int64(l.ID), 10) == query.Get("ladder") {
			v.Ladder = l
			return v, nil
		}
	}
	return nil, stats.ErrNotThere
}

func (v *visit) html(name, title string, data any) (*page, error) {
	v.Title, v.Data = title, data
	var out bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&out, "layout.html", v); err != nil {
		return nil, fmt.Errorf("render the page %s: %w", name, err)
	}
	return newPage("text/html; charset=utf-8", out.Bytes()), nil
}

// number parses a non-negative number in the path or the query, in the form of strconv.FormatInt.
// It fails with stats.ErrNotThere for any other text.
func number[N ~int | ~int64](text string) (N, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, stats.ErrNotThere
	}
	return N(n), nil
}

// player parses the id of a player. It fails with stats.ErrNotThere if the text is no number, or if
// the board does not name the player.
func (v *visit) player(text string) (ladder.PlayerID, error) {
	player, err := number[ladder.PlayerID](text)
	if v.Group.Unnamed[player] > 0 {
		return 0, stats.ErrNotThere
	}
	return player, err
}

// month returns the first instant of the month in the query, or the zero time for none. It fails
// with stats.ErrNotThere if the month is invalid or its year is not from 1970 to 9000.
func (v *visit) month() (time.Time, error) {
	if v.query.Get("month") == "" {
		return time.Time{}, nil
	}
	at, err := time.ParseInLocation("2006-01", v.query.Get("month"), v.Now.Location())
	if err != nil || at.Year() < 1970 || at.Year() > 9000 {
		return at, stats.ErrNotThere
	}
	// Use the second day, because in some zones the first one begins at 1:00.
	return ranking.MonthOf(at.AddDate(0, 0, 1), v.Now.Location()), nil
}

// Asset returns the address of the file with this name, or "" if there is none.
func (v *visit) Asset(name string) string {
	for address := range assets() {
		if strings.HasSuffix(address, "-"+name) {
			return address
		}
	}
	return ""
}

// URL returns the address of a page below the board for the same ladder. pairs are the names and
// values of parameters. Parameters with an empty value or 0 are omitted.
func (v *visit) URL(page string, pairs ...any) string { return v.of(v.Ladder, page, pairs) }

// InLadder returns the address of a page about the ladder l: the matches, the records or the
// seasons if the current page shows the same for its ladder, otherwise the ranking.
func (v *visit) InLadder(l ranking.LadderLabel) string {
	page := path.Base(v.request.URL.Path)
	if !slices.Contains([]string{"matches", "records", "seasons"}, page) {
		page = ""
	}
	return v.of(l, page, nil)
}

func (v *visit) of(l ranking.LadderLabel, page string, pairs []any) string {
	query := make(url.Values)
	pairs = append(pairs, "ladder", v.parameter(l))
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := fmt.Sprint(pairs[i+1]); value != "" && value != "0" {
			query.Set(fmt.Sprint(pairs[i]), value)
		}
	}
	if len(query) == 0 {
		return v.Up + page
	}
	return v.Up + page + "?" + query.Encode()
}

// Is reports whether a page is the current page, for navigation.
func (v *visit) Is(page string) bool {
	if page == "" {
		return strings.HasSuffix(v.request.URL.Path, "/")
	}
	return path.Base(v.request.URL.Path) == page
}

// T returns the text with the given id in the board's language. pairs are the names and values of
// the text's arguments.
func (v *visit) T(id string, pairs ...any) string { return v.Text(id, argsOf(pairs)) }

// N is like T, but returns the text in the plural form for a count.
func (v *visit) N(id string, count int, pairs ...any) string {
	return v.Plural(id, count, argsOf(pairs))
}

func argsOf(pairs []any) catalog.Args {
	with := make(catalog.Args)
	for i := 0; i+1 < len(pairs); i += 2 {
		with[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return with
}

// Day formats the day of a time in the group's time zone.
func (v *visit) Day(at time.Time) string { return v.Date(at.In(v.Now.Location())) }

// Stamp formats a time for machines, as RFC 3339 in the group's time zone.
func (v *visit) Stamp(at time.Time) string { return at.In(v.Now.Location()).Format(time.RFC3339) }

// Name returns the name of a player, or a general text for a player whom the board does not name,
// and for a nameless or former one. The distinguishing mark, if there is one, follows in
// parentheses.
func (v *visit) Name(n ranking.Name) string {
	switch number := v.Group.Unnamed[n.Player]; number {
	case 0:
		n = n.InPlaceOfNone(v.T("names.nameless"), v.T("names.former"))
	case 1:
		n = ranking.Name{Name: v.T("web.unnamed")}
	default:
		n = ranking.Name{Name: v.T("web.unnamed"), Mark: strconv.Itoa(number)}
	}
	if n.Mark != "" {
		return n.Name + " (" + n.Mark + ")"
	}
	return n.Name
}

// Player returns the name of a player with a link to the player's page.
func (v *visit) Player(n ranking.Name) template.HTML {
	return v.Link(fmt.Sprint("player/", n.Player), n)
}

// Link returns the names of players with a link to a page about them. There is no link if the board
// does not name all of them.
func (v *visit) Link(page string, names ...ranking.Name) template.HTML {
	shown, isNamed := make([]string, len(names)), true
	for i, n := range names {
		shown[i] = "<bdi>" + template.HTMLEscapeString(v.Name(n)) + "</bdi>"
		isNamed = isNamed && v.Group.Unnamed[n.Player] == 0
	}
	text := strings.Join(shown, " – ")
	if isNamed {
		text = fmt.Sprintf(`<a href="%s">%s</a>`, template.HTMLEscapeString(v.URL(page)), text)
	}
	return template.HTML(text)
}

// Names returns the names of a side's players, joined by "&".
func (v *visit) Names(all []ranking.Name) string {
	shown := make([]string, len(all))
	for i, n := range all {
		shown[i] = v.Name(n)
	}
	return strings.Join(shown, " & ")
}

// NamesLadder reports whether to show the ladder's name beside the group's name. As in the chat, it
// is shown if the ladder has a name that differs from the group's in more than case.
func (v *visit) NamesLadder() bool {
	return v.Ladder.Name != "" && !strings.EqualFold(v.Ladder.Name, v.Group.Title)
}

// LadderName returns the name of a ladder, or a general name if its group has not named it.
func (v *visit) LadderName(l ranking.LadderLabel) string {
	if l.Name == "" {
		return v.T("web.ranking")
	}
	return l.Name
}

// Results returns the numbers of wins, draws and losses. It leaves out the draws if noDraws is set
// and there are none.
func (v *visit) Results(won, drawn, lost int, noDraws bool) string {
	if noDraws && drawn == 0 {
		return fmt.Sprintf("%d–%d", won, lost)
	}
	return fmt.Sprintf("%d–%d–%d", won, drawn, lost)
}

// Signed formats a rating change with its sign, which is + for 0.
func (v *visit) Signed(n int) string {
	if n < 0 {
		return fmt.Sprintf("−%d", -n)
	}
	return fmt.Sprintf("+%d", n)
}

// Score formats a score, the first side first. Without points, it states only whether that side
// won, lost or drew.
func (v *visit) Score(s [2]int) string {
	score := ladder.Score{A: s[0], B: s[1]}
	switch {
	case score.HasPoints():
		return score.String()
	case s[0] > s[1]:
		return v.T("score.won")
	case s[0] < s[1]:
		return v.T("score.lost")
	default:
		return v.T("score.drew")
	}
}

// Letters returns the last results in form, at most the given number, each as a letter with a CSS
// class.
func (v *visit) Letters(form string, most int) template.HTML {
	var out strings.Builder
	for _, r := range form[max(0, len(form)-most):] {
		name := map[rune]string{'w': "won", 'd': "drawn", 'l': "lost"}[r]
		fmt.Fprintf(&out, `<span class="%s">%s</span>`, name, template.HTMLEscapeString(v.T("me.letter."+name)))
	}
	return template.HTML(out.String())
}

// spark returns the sparkline of a row. It is empty if there are no ratings.
func (v *visit) spark(ratings []stats.Rating) template.HTML {
	if len(ratings) == 0 {
		return ""
	}
	c := chart.NewSparkline(v.points(ratings), image.Rect(1, 2, 79, 22))
	text := template.HTMLEscapeString(v.T("web.curve", "First", c.First.Elo, "Best", c.Best.Elo, "Now", c.Now.Elo))
	return template.HTML(fmt.Sprintf(
		`<svg class="spark" viewBox="0 0 80 24" width="80" height="24" role="img" aria-label="%s">`+
			`<path d="%s"/><circle cx="%d" cy="%d" r="2.5"/></svg>`, text, c.Path, c.Now.X, c.Now.Y))
}

// Curve returns a player's curve, with the seasons that begin in it; nil without ratings.
func (v *visit) Curve(ratings []stats.Rating, starts []stats.SeasonStart) *chart.Curve {
	if len(ratings) == 0 {
		return nil
	}
	var seasons []chart.Season
	for _, s := range starts {
		if !s.At.After(ratings[0].At) || s.At.After(ratings[len(ratings)-1].At) {
			continue // a season of the ladder that begins outside of the curve
		}
		label := capitalized(v.T("season.number", "Number", s.Number))
		seasons = append(seasons, chart.Season{Starts: s.At, Match: s.Match, Label: label})
	}
	curve := chart.NewCurve(v.points(ratings), seasons, image.Rect(50, 10, 670, 210),
		v.day(ratings[len(ratings)-1].At.Sub(ratings[0].At)))
	return &curve
}

func (v *visit) points(ratings []stats.Rating) []chart.Point {
	points := make([]chart.Point, len(ratings))
	for i, r := range ratings {
		r.At = r.At.In(v.Now.Location())
		points[i] = chart.Point(r)
	}
	return points
}

// day returns a function that formats the dates below a curve. If the curve shows a span of more
// than 300 days, dates are formatted as months, and otherwise as days.
func (v *visit) day(shown time.Duration) func(time.Time) string {
	return func(at time.Time) string {
		month := []rune(v.T("date.months." + strings.ToLower(at.Month().String())))
		id := "chart.day"
		if shown > 300*24*time.Hour {
			id = "chart.month"
		}
		return v.T(id, "Day", at.Day(), "Month", string(month[:min(3, len(month))]), "Year", at.Year())
	}
}

// Span formats the first and the last day of a season. It omits the first day of a ladder's first
// season. Instead of the last day of a current season, it states that the season is not over.
func (v *visit) Span(s stats.SeasonTable) string {
	// A season that ends at midnight does not include the day that begins then.
	from, last := "", v.Day(s.Until.Add(-time.Second))
	if !s.Since.IsZero() {
		from = v.Day(s.Since) + " – "
	}
	switch {
	case !s.Over:
		return capitalized(from + v.T("web.goes_on"))
	case s.Since.IsZero():
		return capitalized(v.T("season.until", "Date", last))
	default:
		return from + last
	}
}

// SeasonName returns a text with the number of a season and, if it has one, its name.
func (v *visit) SeasonName(s stats.SeasonTable) string {
	if s.Name != "" {
		return capitalized(v.T("season.named", "Number", s.Number, "Name", s.Name))
	}
	return capitalized(v.T("season.number", "Number", s.Number))
}

func capitalized(text string) string {
	runes := []rune(text)
	return strings.ToUpper(string(runes[:1])) + string(runes[1:])
}

// Percent formats a share in ten-thousandths as a whole percentage.
func (v *visit) Percent(share int) string { return v.T("number.percent", "Number", (share+50)/100) }

// Hidden returns the value of the parameter "ladder" for a hidden form field. It is empty for the
// default ladder.
func (v *visit) Hidden() string { return v.parameter(v.Ladder) }

// parameter returns the value of the parameter "ladder" in addresses. It is empty for the default
// ladder.
func (v *visit) parameter(l ranking.LadderLabel) string {
	if l.ID == v.Group.Ladders[0].ID {
		return ""
	}
	return strconv.FormatInt(int64(l.ID), 10)
}

// part is the data of a fragment that several pages share.
type part struct {
	Visit     *visit
	NoDraws   bool
	Rows      []stats.Row
	Pairings  []stats.Pairing
	Player    ladder.PlayerID
	Opponents bool // the Pairings are with opponents of the Player
	Matches   []stats.MatchRow
	Changes   bool // the Matches have rating changes
	Names     []ranking.Name
	Streak    *stats.Record
	Upset     *stats.UpsetBy
	Played    *stats.Record // the most matches
}

// With returns rows of a ranking as a part.
func (v *visit) With(rows []stats.Row, noDraws bool) part {
	return part{Visit: v, Rows: rows, NoDraws: noDraws}
}

// Pairs returns a player's records as a part: against opponents if opponents is set, otherwise with
// partners. of is the player's standing.
func (v *visit) Pairs(all []stats.Pairing, of stats.PlayerStanding, opponents bool) part {
	return part{Visit: v, Pairings: all, Player: of.Name.Player, NoDraws: of.NoDraws, Opponents: opponents}
}

// List returns matches as a part.
func (v *visit) List(all []stats.MatchRow) part {
	changes := slices.ContainsFunc(all, func(m stats.MatchRow) bool { return m.Change != nil })
	return part{Visit: v, Matches: all, Changes: changes}
}

// Feats returns the highlights of a season, a month or all time as a part.
func (v *visit) Feats(streak *stats.Record, upset *stats.UpsetBy, played *stats.Record) part {
	return part{Visit: v, Streak: streak, Upset: upset, Played: played}
}

// Side returns the players of a side as a part.
func (v *visit) Side(names []ranking.Name) part { return part{Visit: v, Names: names} }
