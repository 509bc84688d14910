package stats

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// SeasonTable shows the standings of a ladder's season, current or ended.
type SeasonTable struct {
	// Title is the group's title, with the ladder's name if the group has several ladders.
	Title  string `json:"title"`
	Number int    `json:"number"`         // the season's number, 0 if the ladder has no such season
	Name   string `json:"name,omitempty"` // empty if the season has none
	// Since is the instant at which the season began, zero for the ladder's first season.
	Since time.Time   `json:"since,omitzero"`
	Until time.Time   `json:"until,omitzero"` // the instant at which the season ends, zero if unknown
	Over  bool        `json:"over,omitempty"`
	Rows  []SeasonRow `json:"rows"`           // players with places come first
	More  int         `json:"more,omitempty"` // the number of players left out, in a chat
	// NoDraws is set if the ladder's rules exclude draws.
	NoDraws bool    `json:"no_draws,omitempty"`
	Played  *Record `json:"played,omitempty"` // the most matches; its In is nil
	// Streak is the most wins in a row, at least MinStreak. Its In is nil.
	Streak *Record `json:"streak,omitempty"`
	// Upset is the victory with the largest rating difference, at least ladder.MinUpset.
	Upset *UpsetBy `json:"upset,omitempty"`
}

var _ = notice.Register[SeasonTable](notice.Kind{Name: "season_table", Purpose: notice.Answer, Alone: true})

// SeasonEnd shows how a season ended. Its content is read when it is sent.
type SeasonEnd struct {
	SeasonTable
	// Corrected is set if the message repeats an earlier one that cannot be edited.
	Corrected bool    `json:"corrected,omitempty"`
	Topics    []int64 `json:"-"` // the topics bound to the ladder
}

var _ = notice.Register[SeasonEnd](notice.Kind{Name: ranking.KindSeason, Purpose: notice.Notification, Alone: true})

// SeasonRow is a player in a SeasonTable.
type SeasonRow struct {
	Name ranking.Name `json:"name"`
	// Place is the player's place, 0 for none. Equal ratings share a place, and the following
	// places are skipped.
	Place int `json:"place,omitempty"`
	Elo   int `json:"elo"`
	// Next is the rating with which the player began the next season if ratings moved halfway back
	// to the start rating. Otherwise it is 0.
	Next  int `json:"next,omitempty"`
	Won   int `json:"won"`
	Drawn int `json:"drawn"`
	Lost  int `json:"lost"`
}

// SeasonRows is the maximum number of rows that a table in a chat shows.
const SeasonRows = 20

// short returns the table as shown in chats, with at most SeasonRows rows.
func (n SeasonTable) short() SeasonTable {
	n.More = max(0, len(n.Rows)-SeasonRows)
	n.Rows = n.Rows[:len(n.Rows)-n.More]
	return n
}

// SeasonStanding is a player's standing in a season.
type SeasonStanding struct {
	Player           ladder.PlayerID
	Elo              int
	Won, Drawn, Lost int
	LongestStreak    int
	Next             int // as in SeasonRow
}

func (s SeasonStanding) played() int { return s.Won + s.Drawn + s.Lost }

// SetStandings sets Rows, Played and Streak from the standings of the season's players, which must
// be ordered by rating, the highest first. Players with at least placeMatches matches have a place.
// If fewer than ladder.MinPlaces players have played that many, all players have a place.
func (n *SeasonTable) SetStandings(all []SeasonStanding, placeMatches int) {
	placed := 0
	for _, s := range all {
		if s.played() >= placeMatches {
			placed++
		}
	}
	hasPlace := func(s SeasonStanding) bool { return placed < ladder.MinPlaces || s.played() >= placeMatches }
	var rows, others []SeasonRow
	for _, s := range all {
		row := SeasonRow{
			Name: ranking.Name{Player: s.Player}, Elo: s.Elo, Next: s.Next, Won: s.Won, Drawn: s.Drawn, Lost: s.Lost,
		}
		switch before := len(rows); {
		case !hasPlace(s):
			others = append(others, row)
			continue
		case before > 0 && rows[before-1].Elo == s.Elo:
			row.Place = rows[before-1].Place
		default:
			row.Place = before + 1
		}
		rows = append(rows, row)
	}
	n.Rows = append(rows, others...)
	for _, s := range all {
		name := ranking.Name{Player: s.Player}
		if n.Played == nil || s.played() > n.Played.Value {
			n.Played = &Record{Name: name, Value: s.played()}
		}
		if s.LongestStreak >= MinStreak && (n.Streak == nil || s.LongestStreak > n.Streak.Value) {
			n.Streak = &Record{Name: name, Value: s.LongestStreak}
		}
	}
}

// HasMedals reports whether the top three get medals, which takes at least ladder.MinPlaces
// players.
func (n SeasonTable) HasMedals() bool { return len(n.Rows) >= ladder.MinPlaces }

// SeasonResult is a player's standing in one of several seasons.
type SeasonResult struct {
	Season       int // the season's number
	Name         string
	Since, Until time.Time // as in SeasonTable
	Over         bool
	PlaceMatches int  // the number of matches a player needs for a place in the season
	Best         int  // the highest rating in the season
	Left         bool // the player has left the group, and the season is current
	SeasonStanding
}

// LastSeason is the Number of a SeasonQuestion that asks for the last season that ended.
const LastSeason = -1

// SeasonCommand is /season, as in "/season", "/season 2" and "/season last". The notice Otherwise
// answers any other form.
type SeasonCommand struct {
	ofNobody
	Otherwise notice.Notice
}

func (c SeasonCommand) meant(said command.Command, _ ranking.Asked) (Question, notice.Notice) {
	words := said.Unquoted()
	switch {
	case len(words) == 0:
		return SeasonQuestion{}, nil
	case len(words) == 1 && strings.EqualFold(words[0], "last"):
		return SeasonQuestion{Number: LastSeason}, nil
	case len(words) == 1:
		typed := strings.TrimPrefix(words[0], "#")
		number, err := strconv.ParseInt(typed, 10, 32)
		if err == nil && number > 0 && strconv.FormatInt(number, 10) == typed {
			return SeasonQuestion{Number: int(number)}, nil
		}
	}
	return nil, c.Otherwise
}

// SeasonQuestion asks for a season of the ladder.
type SeasonQuestion struct {
	ofNobody
	Number int // as in Store.Season
}

func (q SeasonQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	n, err := s.store.Season(ctx, a.Ladder.ID, q.Number)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read a season: %w", err)
	case n.Number == 0 && q.Number == 0: // the group is new
		return SeasonTable{Title: a.Origin.Chat.Title, Number: 1}, nil
	case n.Number == 0:
		return ranking.Refusal{Code: ranking.NoSuchSeason, Number: max(0, q.Number)}, nil
	}
	return n.short(), nil
}

// SeasonEnd returns how a season ended, with the names of its players. object identifies the
// message that shows the end of the season.
func (s *Service) SeasonEnd(ctx context.Context, object string) (SeasonEnd, error) {
	n, in, err := s.store.SeasonEnd(ctx, ranking.SeasonOfObject(object))
	if err != nil {
		return SeasonEnd{}, fmt.Errorf("read how a season ended: %w", err)
	}
	n.SeasonTable = n.short()
	return n, s.fillNames(ctx, in, &n)
}

// AllSeasons shows what players have achieved in all seasons of a ladder.
type AllSeasons struct {
	Title string       `json:"title"` // the group's title
	Rows  []AllTimeRow `json:"rows"`  // most titles first, then most matches
	More  int          `json:"more,omitempty"`
}

var _ = notice.Register[AllSeasons](notice.Kind{Name: "all_time", Purpose: notice.Answer, Alone: true})

// AllTimeRow is a player's record over all seasons. A title is first place in a season that is over
// and has medals.
type AllTimeRow struct {
	Name    ranking.Name `json:"name"`
	Titles  int          `json:"titles,omitempty"`
	Seasons int          `json:"seasons"` // the number of seasons in which the player has played
	Won     int          `json:"won"`
	Drawn   int          `json:"drawn"`
	Lost    int          `json:"lost"`
	Best    int          `json:"best"`    // the highest rating
	BestIn  int          `json:"best_in"` // the number of the first season with the rating Best
}

func (r AllTimeRow) played() int { return r.Won + r.Drawn + r.Lost }

// AllSeasonsOf sums up what players have achieved, and keeps the first SeasonRows rows. results
// must be ordered by season and rating.
func AllSeasonsOf(results []SeasonResult) (n AllSeasons) {
	rows := make(map[ladder.PlayerID]*AllTimeRow)
	for _, r := range results {
		row := rows[r.Player]
		if row == nil {
			row = &AllTimeRow{Name: ranking.Name{Player: r.Player}}
			rows[r.Player] = row
		}
		row.Seasons++
		row.Won, row.Drawn, row.Lost = row.Won+r.Won, row.Drawn+r.Drawn, row.Lost+r.Lost
		if r.Best > row.Best {
			row.Best, row.BestIn = r.Best, r.Season
		}
	}
	for _, t := range SeasonsOf(results) {
		for _, r := range t.Rows {
			if r.Place == 1 && t.Over && t.HasMedals() {
				rows[r.Name.Player].Titles++
			}
		}
	}
	for _, row := range rows {
		n.Rows = append(n.Rows, *row)
	}
	slices.SortFunc(n.Rows, func(a, b AllTimeRow) int {
		return cmp.Or(b.Titles-a.Titles, b.played()-a.played(), b.Best-a.Best, cmp.Compare(a.Name.Player, b.Name.Player))
	})
	n.More = max(0, len(n.Rows)-SeasonRows)
	n.Rows = n.Rows[:len(n.Rows)-n.More]
	return n
}

// SeasonsOf returns the tables of the seasons in results, which must be ordered by season and
// rating. Players who have left are not in the table of the current season.
func SeasonsOf(results []SeasonResult) (all []SeasonTable) {
	for len(results) > 0 {
		first := results[0]
		next := slices.IndexFunc(results, func(r SeasonResult) bool { return r.Season != first.Season })
		if next < 0 {
			next = len(results)
		}
		var standings []SeasonStanding
		for _, r := range results[:next] {
			if !r.Left {
				standings = append(standings, r.SeasonStanding)
			}
		}
		results = results[next:]
		t := SeasonTable{Number: first.Season, Name: first.Name, Since: first.Since, Until: first.Until, Over: first.Over}
		t.SetStandings(standings, first.PlaceMatches)
		all = append(all, t)
	}
	return all
}

// AllTimeCommand is /alltime. It asks an AllTimeQuestion.
type AllTimeCommand struct{ ofNobody }

func (q AllTimeCommand) meant(said command.Command, _ ranking.Asked) (Question, notice.Notice) {
	if word := said.FirstWord(); word != "" {
		return nil, ranking.Unexpected(said, word)
	}
	return AllTimeQuestion{}, nil
}

// AllTimeQuestion asks what players have achieved in all seasons of the ladder.
type AllTimeQuestion struct{ ofNobody }

func (AllTimeQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	results, err := s.store.SeasonResults(ctx, a.Ladder.ID)
	if err != nil {
		return nil, fmt.Errorf("read all seasons: %w", err)
	}
	n := AllSeasonsOf(results)
	n.Title = a.Origin.Chat.Title
	return n, nil
}
