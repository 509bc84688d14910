package stats

import (
	"context"
	"fmt"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

const (
	// MaxCharted is the maximum number of players that a chart highlights.
	MaxCharted = 4
	// ChartedMatches is the maximum number of a ladder's last matches that a chart covers.
	ChartedMatches = 20_000
)

// Period is a span of time that ends now. Periods are stored, so their meaning must not change.
type Period string

// The periods, shortest first.
const (
	Month       Period = "month"
	ThreeMonths Period = "three_months"
	Year        Period = "year"
	AllTime     Period = "all"
)

// Periods returns all periods, shortest first.
func Periods() []Period { return []Period{Month, ThreeMonths, Year, AllTime} }

// start returns the beginning of the period, zero for all time.
func (p Period) start(now time.Time) time.Time {
	switch p {
	case Month:
		return now.AddDate(0, -1, 0)
	case ThreeMonths:
		return now.AddDate(0, -3, 0)
	case Year:
		return now.AddDate(-1, 0, 0)
	default:
		return time.Time{}
	}
}

// Chart describes a chart. The ratings are read when the chart is sent.
type Chart struct {
	Ladder  ladder.ID      `json:"of_ladder"`
	Players []ranking.Name `json:"players"` // the highlighted players, at most MaxCharted
	// Period is the requested period. If no highlighted player has played in it, the chart shows
	// the next longer period in which a highlighted player has, or all time.
	Period  Period `json:"period"`
	ByMatch bool   `json:"by_match,omitempty"`
	Title   string `json:"title,omitempty"` // as in SeasonTable; read when the chart is sent
}

var _ = notice.Register[Chart](notice.Kind{Name: "chart", Purpose: notice.Answer, Alone: true})

// IDs returns the ids of the highlighted players.
func (n Chart) IDs() []ladder.PlayerID {
	ids := make([]ladder.PlayerID, len(n.Players))
	for i, name := range n.Players {
		ids[i] = name.Player
	}
	return ids
}

// chartOf returns a chart that highlights players of a ladder, for a period. A player who is listed
// twice is highlighted once.
func chartOf(l ranking.Ladder, period Period, players []ladder.PlayerID) Chart {
	n := Chart{Ladder: l.ID, Period: period}
	for _, p := range players {
		if name := (ranking.Name{Player: p}); !slices.Contains(n.Players, name) {
			n.Players = append(n.Players, name)
		}
	}
	return n
}

// Rating is a point on the curve of a player. It is the rating after a match, or before the first
// match on the curve or of a season. On a level line, it is the current rating.
type Rating struct {
	At    time.Time // when the match was played
	Match int       // the match's number in the group; one less for a rating before a match
	Elo   int
}

// Ratings holds the ratings of a chart. For a player with matches on the chart, the first rating is
// the rating before the first of these matches.
type Ratings struct {
	Title   string     // the group's title
	Period  Period     // the period that the ratings cover
	Players [][]Rating // ratings of the highlighted players, in the players' order
	// Elos are the current ratings of the highlighted players, nil for a player who has not played
	// in the season.
	Elos    []*int
	Others  [][]Rating // ratings of all other players
	Seasons []SeasonStart
}

// SeasonStart marks where a season begins among the matches of a chart. A player's first rating in
// the season is the rating before the player's first match there.
type SeasonStart struct {
	Number int
	At     time.Time // when the season began
	Match  int       // the number of the season's first match on the chart
}

// levelLines adds a level line for each highlighted player who has a current rating but no match on
// the chart: a single rating at the beginning of the chart. It does nothing if no player has a
// match on the chart.
func (r Ratings) levelLines() {
	var firsts []Rating
	for _, points := range slices.Concat(r.Players, r.Others) {
		firsts = append(firsts, points[:min(len(points), 1)]...)
	}
	if len(firsts) == 0 {
		return
	}
	at := slices.MinFunc(firsts, func(a, b Rating) int { return a.At.Compare(b.At) }).At
	match := slices.MinFunc(firsts, func(a, b Rating) int { return a.Match - b.Match }).Match
	for i, elo := range r.Elos {
		if len(r.Players[i]) == 0 && elo != nil {
			r.Players[i] = []Rating{{At: at, Match: match, Elo: *elo}}
		}
	}
}

// ChartCommand is /chart, as in "/chart", "/chart year", "/chart @bob" and "/chart @bob @carol".
type ChartCommand struct{ ofPeople }

func (ChartCommand) meant(said command.Command, a ranking.Asked) (Question, notice.Notice) {
	q := ChartQuestion{Period: Month}
	if rest, span := said.CutSpan(); slices.Contains(Periods(), Period(span)) {
		q.Period, said = Period(span), rest
	}
	var unclear notice.Notice
	q.Who, unclear = meantPeople(said, a, MaxCharted, nil)
	return q, unclear
}

// ChartQuestion asks for the chart of the people in Who, or of the first players of the ranking if
// Who is empty.
type ChartQuestion struct {
	ofPeople
	Who    []command.Person
	Period Period
}

func (q ChartQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	players, refusal := playersOf(a, q.Who)
	switch {
	case refusal != nil:
		return refusal, nil
	case len(players) == 0:
		return s.chartOfFirst(ctx, a, q.Period)
	}
	ids := make([]ladder.PlayerID, len(players))
	for i, p := range players {
		ids[i] = p.ID
	}
	return s.chart(ctx, a.Ladder, q.Period, ids)
}

// PlayerChartQuestion asks for the chart of a player for the last month.
type PlayerChartQuestion struct {
	ofNobody
	Player ladder.PlayerID
}

func (q PlayerChartQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	return s.chart(ctx, a.Ladder, Month, []ladder.PlayerID{q.Player})
}

// SameChartQuestion asks for Chart, which repeats an earlier chart with another period or axis.
type SameChartQuestion struct {
	ofNobody
	Chart
}

//nolint:unparam // it is a Question
func (q SameChartQuestion) answer(_ context.Context, _ *Service, a ranking.Asked) (notice.Notice, error) {
	q.Chart.Ladder = a.Ladder.ID
	return q.Chart, nil
}

// chart returns the chart of players, or a notice if one of them has not played in the ladder. The
// id 0 stands for a sender who is not a player, and the notice is then about the sender. Otherwise
// it is about the first player who has not played.
func (s *Service) chart(
	ctx context.Context, l ranking.Ladder, period Period, players []ladder.PlayerID,
) (notice.Notice, error) {
	if slices.Contains(players, 0) {
		return PlayerStanding{}, nil
	}
	played, err := s.store.HavePlayed(ctx, l.ID, players)
	if err != nil {
		return nil, fmt.Errorf("read who has played: %w", err)
	}
	if i := slices.Index(played, false); i >= 0 {
		return PlayerStanding{Other: true, Name: ranking.Name{Player: players[i]}}, nil
	}
	return chartOf(l, period, players), nil
}

// chartOfFirst returns the chart of the first players of the ranking. A sender who has played but
// is not among them is added, in place of the last player if there are MaxCharted. If the ranking
// hides all players as inactive, the chart shows them anyway. If the ranking has no players,
// chartOfFirst returns the empty ranking.
func (s *Service) chartOfFirst(ctx context.Context, a ranking.Asked, period Period) (notice.Notice, error) {
	o, l := a.Origin, a.Ladder
	page, err := s.store.Ranking(ctx, l.ID, o.Sender, RankingQuestion{Places: MaxCharted}, o.SentAt)
	if err == nil && len(page.Rows) == 0 {
		page, err = s.store.Ranking(ctx, l.ID, o.Sender, RankingQuestion{Places: MaxCharted, All: true}, o.SentAt)
	}
	if err != nil {
		return nil, fmt.Errorf("read ranking: %w", err)
	}
	if len(page.Rows) == 0 {
		page.Title = o.Chat.Title
		return page, nil
	}
	var players []ladder.PlayerID
	for _, r := range page.Rows {
		players = append(players, r.Name.Player)
	}
	if own := page.Own; own != nil && own.Played() > 0 {
		players = append(players[:min(len(players), MaxCharted-1)], own.Name.Player)
	}
	return chartOf(l, period, players), nil
}

// Ratings returns the ratings of a chart, for the period described at Chart.Period. If any player
// has a match on the chart, a highlighted player with a current rating but no match there gets one
// rating, for a level line.
func (s *Service) Ratings(ctx context.Context, n Chart, now time.Time) (Ratings, error) {
	var r Ratings
	for _, period := range Periods()[max(0, slices.Index(Periods(), n.Period)):] {
		var err error
		if r, err = s.store.Ratings(ctx, n.Ladder, n.IDs(), period.start(now)); err != nil {
			return Ratings{}, fmt.Errorf("read the ratings of a chart: %w", err)
		}
		r.Period = period
		if slices.ContainsFunc(r.Players, func(points []Rating) bool { return len(points) > 0 }) {
			break
		}
	}
	r.levelLines()
	return r, nil
}
