package web

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// rankingPage is a ranking. Once any players have places, it lists the newcomers separately; until
// then, all players are in Placed.
type rankingPage struct {
	stats.WebRanking
	Placed    []rankingRow
	Newcomers []stats.Row
}

// rankingRow is a row with its rendered parts. They are rendered before the template runs, because
// a ranking has many rows, and a template takes some microseconds for each value that it computes
// itself.
type rankingRow struct {
	stats.Row
	Called, Results   string
	Link, Form, Spark template.HTML // of a player whom the board does not name, Link is the name alone
}

func (v *visit) row(r stats.Row, t stats.Trend, noDraws bool) rankingRow {
	if v.Group.Unnamed[r.Name.Player] > 0 {
		t = stats.Trend{}
	}
	return rankingRow{
		Row: r, Link: v.Player(r.Name), Called: v.Name(r.Name), Results: v.Results(r.Won, r.Drawn, r.Lost, noDraws),
		Form: v.Letters(t.Form, 5), Spark: v.spark(t.Ratings),
	}
}

// lastOnTV is the maximum number of recent matches that an unattended screen shows beside the
// ranking.
const lastOnTV = 8

func (b *Board) ranking(ctx context.Context, v *visit) (*page, error) {
	n, err := b.views.WebRanking(ctx, v.Ladder, v.Now)
	if err != nil {
		return nil, err
	}
	p, placed := rankingPage{WebRanking: n}, n.Rows
	if i := slices.IndexFunc(n.Rows, n.IsNew); i >= 0 && !n.Unplaced {
		placed, p.Newcomers = n.Rows[:i], n.Rows[i:]
	}
	for _, r := range placed {
		p.Placed = append(p.Placed, v.row(r, n.Trends[r.Name.Player], n.NoDraws))
	}
	p.Last = slices.DeleteFunc(p.Last, func(m stats.MatchRow) bool { return m.Undone })
	p.Last = p.Last[:min(lastOnTV, len(p.Last))]
	if v.TV {
		return v.html("tv", v.T("web.ranking"), p)
	}
	return v.html("ranking", v.T("web.ranking"), p)
}

// rankingJSON returns the ranking as JSON, for programs.
func (b *Board) rankingJSON(ctx context.Context, v *visit) (*page, error) {
	n, err := b.views.WebRanking(ctx, v.Ladder, v.Now)
	if err != nil {
		return nil, err
	}
	type row struct {
		Place  int    `json:"place,omitempty"`
		Name   string `json:"name"`
		Rating int    `json:"rating"`
		Won    int    `json:"won"`
		Drawn  int    `json:"drawn"`
		Lost   int    `json:"lost"`
		Moved  int    `json:"moved,omitempty"`
	}
	answer := struct {
		Group   string `json:"group"`
		Ladder  string `json:"ladder,omitempty"`
		Players []row  `json:"players"`
	}{v.Group.Title, v.Ladder.Name, []row{}}
	for _, r := range n.Rows {
		answer.Players = append(answer.Players, row{r.Position, v.Name(r.Name), r.Elo, r.Won, r.Drawn, r.Lost, r.Moved})
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("encode a ranking: %w", err)
	}
	return newPage("application/json", append(body, '\n')), nil
}

func (b *Board) player(ctx context.Context, v *visit) (*page, error) {
	player, err := v.player(v.request.PathValue("player"))
	if err != nil {
		return nil, err
	}
	period := stats.Month // or the next longer period in which the player has played
	if v.query.Has("period") {
		if period = stats.Period(v.query.Get("period")); !slices.Contains(stats.Periods(), period) {
			return nil, stats.ErrNotThere
		}
	}
	n, err := b.views.WebPlayer(ctx, v.Ladder.ID, player, period, v.Now)
	if err != nil {
		return nil, err
	}
	return v.html("player", v.Name(n.PlayerStanding.Name), struct {
		stats.WebPlayer
		Periods []stats.Period
	}{n, stats.Periods()})
}

func (b *Board) headToHead(ctx context.Context, v *visit) (*page, error) {
	one, err := v.player(v.request.PathValue("player"))
	if err != nil {
		return nil, err
	}
	other, err := v.player(v.request.PathValue("other"))
	if err != nil {
		return nil, err
	}
	n, err := b.views.WebHeadToHead(ctx, v.Ladder.ID, one, other)
	if err != nil {
		return nil, err
	}
	return v.html("h2h", v.T("h2h.title", "A", v.Name(n.A), "B", v.Name(n.B)), n)
}

// matchesPage is a page of matches, with its filters.
type matchesPage struct {
	stats.HistoryPage
	Player   ladder.PlayerID // 0 for all
	Month    string          // empty for all
	OlderKey int64
	NewerKey int64
}

func (b *Board) matches(ctx context.Context, v *visit) (*page, error) {
	var p matchesPage
	var at stats.Paging
	var err error
	if v.query.Get("player") != "" {
		if p.Player, err = v.player(v.query.Get("player")); err != nil {
			return nil, err
		}
	}
	for name, newer := range map[string]bool{"older": false, "newer": true} {
		if v.query.Get(name) == "" {
			continue
		}
		if at.Key, err = number[int64](v.query.Get(name)); err != nil || at.Key > math.MaxInt32 && p.Player == 0 {
			return nil, stats.ErrNotThere
		}
		at.Newer = newer
	}
	if at.Since, err = v.month(); err != nil {
		return nil, err
	}
	at.Until = ranking.LaterMonth(at.Since, 1)
	p.Month = v.query.Get("month")
	if p.HistoryPage, err = b.views.WebMatches(ctx, v.Ladder.ID, p.Player, at); err != nil {
		return nil, err
	}
	key := func(m stats.MatchRow) int64 {
		if p.Player != 0 {
			return int64(m.Match)
		}
		return int64(m.Number)
	}
	if n := len(p.Rows); n > 0 && p.Older {
		p.OlderKey = key(p.Rows[n-1])
	}
	if len(p.Rows) > 0 && p.Newer {
		p.NewerKey = key(p.Rows[0])
	}
	return v.html("matches", v.T("web.matches"), p)
}

func (b *Board) season(ctx context.Context, v *visit) (*page, error) {
	season, err := number[int](v.request.PathValue("season"))
	if err != nil || season > 1<<30 {
		return nil, stats.ErrNotThere
	}
	n, err := b.views.WebSeason(ctx, v.Ladder.ID, season)
	if err != nil {
		return nil, err
	}
	return v.html("season", v.SeasonName(n), n)
}

func (b *Board) seasons(ctx context.Context, v *visit) (*page, error) {
	all, err := b.views.WebSeasons(ctx, v.Ladder.ID)
	if err != nil {
		return nil, err
	}
	return v.html("seasons", v.T("web.seasons"), all)
}

func (b *Board) records(ctx context.Context, v *visit) (*page, error) {
	month, err := v.month()
	if err != nil {
		return nil, err
	}
	n, err := b.views.WebRecords(ctx, v.Ladder.ID, month, v.Now)
	if err != nil {
		return nil, err
	}
	return v.html("records", v.T("web.records"), struct {
		stats.Records
		Chosen string
	}{n, v.query.Get("month")})
}
