package stats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// ErrNotThere means that a group does not have what was asked for.
var ErrNotThere = errors.New("the group has no such thing")

// webRows is the maximum number of rows that a web board reads from a ranking: once without
// inactive players and, if there are any, once with them.
const webRows = 1000

const (
	// trendMatches is how many of a ladder's last matches a Trend considers. Reading more would
	// make the page too slow.
	trendMatches = 300
	trendRatings = 20 // the maximum number of ratings in a Trend
)

// WebGroup is a group with a web board.
type WebGroup struct {
	ranking.WebBoard
	Title    string
	Language string // an IETF tag
	TimeZone string
	Ladders  []ranking.LadderLabel // the default one first
	// Unnamed numbers the players who do not want to be on the web, from 1 on. Every id that stands
	// for such a player has the player's number.
	Unnamed map[ladder.PlayerID]int
}

// WebGroup returns a group that has a web board. It fails with ErrNotThere for any other group.
func (s *Service) WebGroup(ctx context.Context, group ranking.GroupID) (*WebGroup, error) {
	g, err := s.store.WebGroup(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("read a group: %w", err)
	}
	if g == nil {
		return nil, ErrNotThere
	}
	return g, nil
}

// WebRanking is a ranking with all its players, up to the limit webRows. The active players are in
// the RankingPage.
type WebRanking struct {
	RankingPage
	Paused []Row                     // players who have not played for a while
	Last   []MatchRow                // the last matches, the newest first
	Trends map[ladder.PlayerID]Trend `json:"-"`
}

// Trend shows a player's latest results in the current season, as far as they are among the
// ladder's last trendMatches matches.
type Trend struct {
	Form    string // the last results as letters w, d and l, oldest first
	Ratings []Rating
}

// WebRanking returns the ranking of a ladder. now is in the chat's time zone.
func (s *Service) WebRanking(ctx context.Context, l ranking.LadderLabel, now time.Time) (n WebRanking, err error) {
	reads, readCtx := errgroup.WithContext(ctx)
	reads.Go(func() error { return s.readRows(readCtx, l.ID, now, &n) })
	reads.Go(func() error {
		last, err := s.history(readCtx, l.ID, 0, Paging{})
		if err != nil {
			return err
		}
		n.Last = last.Rows
		matches, err := s.store.LatestMatches(readCtx, l.ID, trendMatches)
		if err != nil {
			return fmt.Errorf("read how players have done: %w", err)
		}
		n.Trends = trendsOf(matches)
		return nil
	})
	if err := reads.Wait(); err != nil {
		return WebRanking{}, err
	}
	return n, s.fillNames(ctx, l.ID, &n)
}

// readRows reads the active and the inactive players of a ranking into n.
func (s *Service) readRows(ctx context.Context, in ladder.ID, now time.Time, n *WebRanking) (err error) {
	if n.RankingPage, err = s.store.Ranking(ctx, in, nil, RankingQuestion{Places: webRows}, now); err != nil {
		return fmt.Errorf("read a ranking: %w", err)
	}
	if n.Hidden == 0 {
		return nil
	}
	all, err := s.store.Ranking(ctx, in, nil, RankingQuestion{Places: webRows, All: true}, now)
	if err != nil {
		return fmt.Errorf("read who has not played for long: %w", err)
	}
	plays := make(map[ladder.PlayerID]bool)
	for _, r := range n.Rows {
		plays[r.Name.Player] = true
	}
	n.Paused = slices.DeleteFunc(all.Rows, func(r Row) bool { return plays[r.Name.Player] })
	return nil
}

// trendsOf returns the trends of all players in matches, which are ordered by position.
func trendsOf(matches []ladder.Match) map[ladder.PlayerID]Trend {
	all := make(map[ladder.PlayerID]Trend)
	for _, m := range matches {
		for _, p := range m.Parts {
			t := all[p.Player]
			if t.Form += string(letter(scoreFor(&m, p.Side))); len(t.Form) > FormMatches {
				t.Form = t.Form[1:]
			}
			if len(t.Ratings) == 0 {
				t.Ratings = append(t.Ratings, Rating{At: m.PlayedAt, Match: m.Position.Number() - 1, Elo: p.Entry.Before})
			}
			t.Ratings = append(t.Ratings, Rating{At: m.PlayedAt, Match: m.Position.Number(), Elo: p.Entry.After})
			t.Ratings = t.Ratings[max(0, len(t.Ratings)-trendRatings):]
			all[p.Player] = t
		}
	}
	return all
}

// WebPlayer is the content of a player's page on a web board.
type WebPlayer struct {
	PlayerStanding
	Opponents []Pairing // the most frequent opponent first
	Partners  []Pairing
	Matches   []MatchRow // the last matches, the newest first
	Period    Period     // the period that Curve covers
	Curve     []Rating   `json:"-"`
	Seasons   []SeasonStart
}

// WebPlayer returns the content of the page of a player in a ladder, with the ratings of a period,
// or of the next longer period in which the player has played. It fails with ErrNotThere if the
// player has not played in the ladder.
func (s *Service) WebPlayer(
	ctx context.Context, in ladder.ID, player ladder.PlayerID, p Period, now time.Time,
) (n WebPlayer, err error) {
	if err := s.havePlayed(ctx, in, player); err != nil {
		return n, err
	}
	h, err := s.store.Player(ctx, in, player, now)
	if err != nil {
		return n, fmt.Errorf("read the history of a player: %w", err)
	}
	n.PlayerStanding = h.View()
	summary := ladder.SummaryOf(n.Name.Player, h.Matches)
	n.Opponents, n.Partners = pairings(summary.Opponents), pairings(summary.Partners)
	n.Name.Player = cmp.Or(n.Name.Player, player)
	history, err := s.history(ctx, in, player, Paging{})
	if err != nil {
		return n, err
	}
	n.Matches = history.Rows
	r, err := s.Ratings(ctx, Chart{Ladder: in, Players: []ranking.Name{{Player: player}}, Period: p}, now)
	if err != nil {
		return n, err
	}
	n.Period, n.Curve, n.Seasons = r.Period, r.Players[0], r.Seasons
	return n, s.fillNames(ctx, in, &n)
}

// havePlayed fails with ErrNotThere unless all players have played in a ladder.
func (s *Service) havePlayed(ctx context.Context, in ladder.ID, players ...ladder.PlayerID) error {
	played, err := s.store.HavePlayed(ctx, in, players)
	if err != nil {
		return fmt.Errorf("read who has played: %w", err)
	}
	if slices.Contains(played, false) {
		return ErrNotThere
	}
	return nil
}

// pairings returns a player's records with others, most matches first.
func pairings(all map[ladder.PlayerID]*ladder.Tally) (sorted []Pairing) {
	for other, t := range all {
		sorted = append(sorted, pairingOf(other, t))
	}
	slices.SortFunc(sorted, func(a, b Pairing) int {
		return cmp.Or(b.Played-a.Played, cmp.Compare(a.With.Player, b.With.Player))
	})
	return sorted
}

// WebHeadToHead returns the record of two players of a ladder against each other. It fails with
// ErrNotThere if either of them has not played there, or if both are the same player.
func (s *Service) WebHeadToHead(ctx context.Context, in ladder.ID, a, b ladder.PlayerID) (HeadToHead, error) {
	if err := s.havePlayed(ctx, in, a, b); err != nil {
		return HeadToHead{}, err
	}
	answer, err := s.headToHead(ctx, ranking.Ladder{ID: in}, a, b, 0)
	if err != nil {
		return HeadToHead{}, err
	}
	n, ok := answer.(HeadToHead)
	if !ok { // both are the same player
		return HeadToHead{}, ErrNotThere
	}
	return n, s.fillNames(ctx, in, &n)
}

// WebMatches returns a page of a player's matches in a ladder, or of all its matches for player 0.
// It fails with ErrNotThere if the player has not played there.
func (s *Service) WebMatches(
	ctx context.Context, in ladder.ID, player ladder.PlayerID, at Paging,
) (n HistoryPage, err error) {
	if player != 0 {
		if err := s.havePlayed(ctx, in, player); err != nil {
			return n, err
		}
	}
	if n, err = s.history(ctx, in, player, at); err != nil {
		return n, err
	}
	n.Name.Player = cmp.Or(n.Name.Player, player)
	return n, s.fillNames(ctx, in, &n)
}

// WebSeason returns a season of a ladder, the current one for number 0. It fails with ErrNotThere
// if there is no such season.
func (s *Service) WebSeason(ctx context.Context, in ladder.ID, number int) (SeasonTable, error) {
	n, err := s.store.Season(ctx, in, number)
	if err != nil {
		return n, fmt.Errorf("read a season: %w", err)
	}
	if n.Number == 0 {
		return n, ErrNotThere
	}
	return n, s.fillNames(ctx, in, &n)
}

// WebSeasons returns the seasons of a ladder in which at least one player has played, the last one
// first.
func (s *Service) WebSeasons(ctx context.Context, in ladder.ID) ([]SeasonTable, error) {
	results, err := s.store.SeasonResults(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("read all seasons: %w", err)
	}
	all := SeasonsOf(results)
	slices.Reverse(all)
	return all, s.fillNames(ctx, in, &all)
}

// WebRecords returns the records of a ladder, for the month that begins at month, or for all time
// if month is zero.
func (s *Service) WebRecords(ctx context.Context, in ladder.ID, month, now time.Time) (Records, error) {
	n, err := s.records(ctx, in, month, now)
	if err != nil {
		return n, err
	}
	return n, s.fillNames(ctx, in, &n)
}

// fillNames sets the names of the players in an answer.
func (s *Service) fillNames(ctx context.Context, in ladder.ID, answer any) error {
	names, err := s.store.Names(ctx, in, answer)
	if err != nil {
		return fmt.Errorf("read names: %w", err)
	}
	ranking.FillNames(answer, func(player ladder.PlayerID) (ranking.Name, bool) {
		name, ok := names[player]
		return name, ok
	})
	return nil
}
