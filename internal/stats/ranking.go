package stats

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

const (
	// PageRows is the maximum number of rows on a page of a ranking in a chat, and on a page of
	// matches in a chat or on the web.
	PageRows = 10
	// MaxPlaces is the maximum number of top rows in a chat: as many as fit into a message, however
	// long the names are.
	MaxPlaces = 20
)

// RankingCommand is /ranking, as in "/ranking", "/ranking 2", "/ranking all", "/ranking month",
// "/ranking season 2", "/ranking 2025", "/top 3", "/elo @bob" and "/ranking @alice @bob".
type RankingCommand struct{ Season SeasonCommand }

// IsAbout implements ranking.Question.
func (RankingCommand) IsAbout(said command.Command) bool {
	q := command.ParseQuestion(said)
	// as in "/ranking padel" with the name of a game, which means nothing here
	isFiller := q.Who.Name != "" && command.IsFiller(q.Who.Name)
	return said.AboutSeason().Name != command.NameSeason && !isFiller &&
		(q.Who != command.Person{} || q.Span == command.Year)
}

func (r RankingCommand) meant(said command.Command, a ranking.Asked) (Question, notice.Notice) {
	if about := said.AboutSeason(); about.Name == command.NameSeason {
		return r.Season.meant(about, a)
	}
	switch q := command.ParseQuestion(said); {
	case r.IsAbout(said):
		who, unclear := meantPeople(said, a, MaxPlaces, a.Origin.Sender)
		if len(who) > 1 {
			return PresentQuestion{Who: who}, nil
		}
		return PersonQuestion{Who: who}, unclear
	case q.Who != command.Person{}:
		return RankingQuestion{Page: 1}, nil
	case q.Unknown != "":
		return nil, ranking.Unexpected(said, q.Unknown)
	case q.Span != "" && q.Span != command.All:
		return GainQuestion{Span: q.Span}, nil
	case q.Number > 0 && said.Written == NameTop:
		return RankingQuestion{Places: q.Number, All: q.Span == command.All}, nil
	case q.Number > maxPage && q.Span == "":
		return SeasonQuestion{Number: q.Number}, nil
	default:
		return RankingQuestion{Page: max(q.Number, 1), All: q.Span == command.All}, nil
	}
}

// NameTop is the alias of /ranking that takes the number of places to show. For other aliases, as
// in "/leaderboard 2", the number is the number of a page.
const NameTop = "top"

// maxPage is the highest number that means a page in a /ranking without a word such as "all".
// There, a higher number, such as 2025, is the name or the number of a season.
const maxPage = 999

// RankingQuestion asks for a part of the ladder's ranking at the time of the question.
type RankingQuestion struct {
	ofNobody
	Page   int  // number of the page, from 1; the last page if there are fewer
	Places int  // number of top rows to show in place of a page, 0 for a page
	All    bool // include players who have not played for a while
	// Asker is used only if a button was pressed: it is the member who asked for the ranking with
	// that button, 0 for an anonymous admin.
	Asker ladder.UserID
}

// RankingPage shows a page of a ladder's ranking: the players with a place, then the newcomers.
type RankingPage struct {
	Title string `json:"title"` // of the group
	// Page is the number of the page, from 1. It is 0 for the top rows of the ranking.
	Page  int   `json:"page,omitempty"`
	Rows  []Row `json:"rows"`
	Total int   `json:"total"` // number of players on all pages
	// Asker is the member who asked for the ranking, 0 for an anonymous admin.
	Asker ladder.UserID `json:"asker,omitempty"`
	Own   *Row          `json:"own,omitempty"` // the asker's row, if it is not among Rows
	// PlaceMatches is the number of matches a player needs for a place.
	PlaceMatches int `json:"place_matches,omitempty"`
	// Unplaced is set if fewer than ladder.MinPlaces players in the ranking have played
	// PlaceMatches matches. No player has a place then, and newcomers are ranked among the others.
	Unplaced bool `json:"unplaced,omitempty"`
	All      bool `json:"all,omitempty"` // the page includes players who have not played for a while
	// Hidden is the number of players who are hidden because they have not played for a while.
	Hidden int `json:"hidden,omitempty"`
	// HideDays is how many days without a match hide a player, 0 for never.
	HideDays int `json:"hide_days,omitempty"`
	// NoDraws is set if no player in the ranking has drawn a match.
	NoDraws bool `json:"no_draws,omitempty"`
	// Season is the number of the ladder's season, 0 for the first one.
	Season int `json:"season,omitempty"`
	// Since is the beginning of the day whose places the rows are compared with; zero if none of
	// the rows shown has moved.
	Since time.Time `json:"since,omitzero"`
	// Web is the group's web board, nil if it is off.
	Web *ranking.WebBoard `json:"web,omitempty"`
}

var _ = notice.Register[RankingPage](notice.Kind{Name: "ranking_page", Purpose: notice.Answer, Alone: true})

// Bounds returns the range of players that the page shows, counted from 1.
func (p RankingPage) Bounds() (first, last int) {
	first = 1 + max(0, p.Page-1)*PageRows
	return first, first + len(p.Rows) - 1
}

// IsNew reports whether the player of a row is a newcomer, with too few matches for a place.
func (p RankingPage) IsNew(r Row) bool { return r.Played() < p.PlaceMatches }

// HasMoved reports whether any row's place has changed.
func (p RankingPage) HasMoved() bool {
	moved := func(r Row) bool { return r.Moved != 0 }
	return slices.ContainsFunc(p.Rows, moved) || p.Own != nil && moved(*p.Own)
}

// Row is one line of a ranking. Equal ratings share a place.
type Row struct {
	// Position is the place. It is 0 for a newcomer, for an Inactive player, and while there are no
	// places.
	Position int          `json:"position"`
	Name     ranking.Name `json:"name"`
	Elo      int          `json:"elo"`
	Won      int          `json:"won"`
	Drawn    int          `json:"drawn"`
	Lost     int          `json:"lost"`
	// Moved is how many places the player has risen, negative if fallen.
	Moved int  `json:"moved,omitempty"`
	Mine  bool `json:"mine,omitempty"` // the asker's row
	// Inactive is set if the ranking hides the player, who has not played for a while.
	Inactive bool `json:"inactive,omitempty"`
}

// Played returns the number of the player's matches.
func (r Row) Played() int { return r.Won + r.Drawn + r.Lost }

func (q RankingQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	q.Places = min(q.Places, MaxPlaces)
	asker := a.Origin.Sender
	if a.Origin.Button != "" { // any member may press it
		asker = nil
		if q.Asker != 0 {
			asker = &command.Person{ID: q.Asker}
		}
	}
	n, err := s.store.Ranking(ctx, a.Ladder.ID, asker, q, now(a))
	if err != nil {
		return nil, fmt.Errorf("read ranking: %w", err)
	}
	n.Title = a.Origin.Chat.Title
	if asker != nil {
		n.Asker = asker.ID
	}
	return n, nil
}

// PresentQuestion asks for only those rows of the ranking that belong to the people in Who, such as
// the members who are there tonight. Their places are still among all players. The answer is a
// RankingPage whose Page is 0.
type PresentQuestion struct {
	ofPeople
	Who []command.Person
}

func (q PresentQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	players, refusal := playersOf(a, q.Who)
	if refusal != nil {
		return refusal, nil
	}
	n, err := s.store.Ranking(ctx, a.Ladder.ID, nil, RankingQuestion{Places: math.MaxInt32}, now(a))
	if err != nil {
		return nil, fmt.Errorf("read ranking: %w", err)
	}
	isOf := func(p ranking.Player) func(Row) bool { return func(r Row) bool { return r.Name.Player == p.ID } }
	n.Rows = slices.DeleteFunc(n.Rows, func(r Row) bool {
		return !slices.ContainsFunc(players, func(p ranking.Player) bool { return isOf(p)(r) })
	})
	for i, p := range players { // a player whom the ranking does not show gets a row without a place
		// A sender who is not a player has no row. A player who was named twice has one.
		if p.ID == 0 || slices.ContainsFunc(n.Rows, isOf(p)) {
			continue
		}
		_, k := a.Find(q.Who[i])
		standing := k.StandingIn(a.Ladder)
		n.Rows = append(n.Rows, Row{
			Name: ranking.Name{Player: p.ID}, Elo: standing.Elo, Won: standing.Won, Drawn: standing.Drawn, Lost: standing.Lost,
			Inactive: standing.Played > 0 && standing.LeftAt.IsZero(),
		})
	}
	n.Title, n.Total, n.Hidden = a.Origin.Chat.Title, len(n.Rows), 0
	if !n.HasMoved() {
		n.Since = time.Time{}
	}
	own := senderPlayer(a)
	for i := range n.Rows {
		n.Rows[i].Mine = n.Rows[i].Name.Player == own
	}
	return n, nil
}

// now returns the time of a question, in the chat's time zone.
func now(a ranking.Asked) time.Time { return a.Origin.SentAt.In(a.Display.Zone()) }
