package stats

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

const (
	// MinMatches is how many matches two players need against each other to count as best or worst
	// opponents or as rivals, and in one team to count as best partners.
	MinMatches = 5
	// FormMatches is how many of the last matches are in a player's form.
	FormMatches = 10
	// LastMatches is how many of the last matches an answer lists.
	LastMatches = 5
)

// PlayerStanding shows a player's standing and history in the current season of a ladder, to that
// player or to another member.
type PlayerStanding struct {
	Name     ranking.Name `json:"name,omitzero"`      // zero for a person without a standing
	Position int          `json:"position,omitempty"` // 0 for a player without a place
	Total    int          `json:"total,omitempty"`    // number of players with a place
	// PlaceMatches is the number of matches a player needs for a place.
	PlaceMatches int  `json:"place_matches,omitempty"`
	Elo          int  `json:"elo,omitempty"`
	Best         int  `json:"best,omitempty"`
	Won          int  `json:"won,omitempty"`
	Drawn        int  `json:"drawn,omitempty"`
	Lost         int  `json:"lost,omitempty"`
	NoDraws      bool `json:"no_draws,omitempty"` // the ladder's rules exclude draws
	// Streak is the number of wins in a row, or of losses in a row as a negative number.
	Streak int `json:"streak,omitempty"`
	// Left is set if the player has left the group or its rankings, which then hide the player.
	Left bool `json:"left,omitempty"`
	// Inactive is set if the ranking hides the player because the last match is too long ago.
	Inactive bool `json:"inactive,omitempty"`
	// Other is set if the standing is shown to another member. Name is then never zero.
	Other bool `json:"other,omitempty"`
	// Season is the season of this standing; nil if the ladder has only one.
	Season *PlayerSeason `json:"season,omitempty"`

	// Form has the last results as the letters w, d and l, oldest first.
	Form   string        `json:"form,omitempty"`
	Last   []PlayedMatch `json:"last,omitempty"` // the last matches, newest first
	BestIn *MatchRef     `json:"best_in,omitempty"`
	Upset  *Upset        `json:"upset,omitempty"`
	Most   *Pairing      `json:"most,omitempty"` // the most frequent opponent
	// Favorite is the opponent against whom results exceed expectations the most.
	Favorite *Pairing `json:"favorite,omitempty"`
	// Hardest is the opponent against whom results fall short of expectations the most.
	Hardest *Pairing `json:"hardest,omitempty"`
	// Partner is the teammate with whom results exceed expectations the most.
	Partner *Pairing `json:"partner,omitempty"`
}

var _ = notice.Register[PlayerStanding](notice.Kind{Name: "my_standing", Purpose: notice.Answer, Alone: true})

// PlayerSeason is the ladder's current season, with what a player has achieved in all seasons.
type PlayerSeason struct {
	Number int       `json:"number"`
	Name   string    `json:"name,omitempty"`
	Since  time.Time `json:"since"`
	// Last is the number of the last season in which the player has played, 0 for none.
	Last   int `json:"last,omitempty"`
	Best   int `json:"best,omitempty"`    // the highest rating in any season
	BestIn int `json:"best_in,omitempty"` // the number of the first season with the rating Best
}

// Played returns the number of the player's matches.
func (n PlayerStanding) Played() int { return n.Won + n.Drawn + n.Lost }

// MatchRef refers to a match.
type MatchRef struct {
	Number int       `json:"number"`
	At     time.Time `json:"at"` // in UTC
}

// PlayedMatch is a match from the point of view of one of its players.
type PlayedMatch struct {
	MatchRef
	Against []ranking.Name `json:"against,omitempty"`
	Score   [2]int         `json:"score"` // the player's side first
	Change  int            `json:"change"`
	Teams   bool           `json:"teams,omitempty"` // a side has more than one player or stand-in
}

// Upset is a victory over a side rated higher by ladder.MinUpset or more.
type Upset struct {
	MatchRef
	By     int            `json:"by"` // the rating difference
	Beaten []ranking.Name `json:"beaten"`
}

// Pairing is a player's record against, or together with, another player.
type Pairing struct {
	With   ranking.Name `json:"with"`
	Played int          `json:"played"`
	Won    int          `json:"won,omitempty"`
	Drawn  int          `json:"drawn,omitempty"`
	Lost   int          `json:"lost,omitempty"`
}

// PlayerHistory is a player's standing without the parts derived from matches, and the matches,
// ordered by position.
type PlayerHistory struct {
	Standing PlayerStanding
	StartElo int
	Matches  []ladder.Match
}

// View returns the standing, completed with the parts derived from the matches.
func (h PlayerHistory) View() PlayerStanding {
	n, player := h.Standing, h.Standing.Name.Player
	// If the standing was read before the player's first match or before a merge, the player may be
	// in none of the matches. SummaryOf and lastMatches skip such matches.
	s := ladder.SummaryOf(player, h.Matches)
	last := lastMatches(h.Matches, player, FormMatches)
	for _, m := range last {
		n.Form = string(letter(m.Score)) + n.Form
	}
	n.Last = last[:min(LastMatches, len(last))]
	if s.Best.Value == n.Best && n.Best > h.StartElo {
		n.BestIn = new(refOf(s.Best.In))
	}
	n.Upset = upsetOf(s.Upset, player)
	n.Most = first(s.Opponents, func(t *ladder.Tally) float64 { return float64(t.Played) })
	n.Favorite = first(s.Opponents, surplusPerMatch)
	n.Hardest = first(s.Opponents, func(t *ladder.Tally) float64 { return -surplusPerMatch(t) })
	n.Partner = first(s.Partners, surplusPerMatch)
	return n
}

// letter returns the letter that stands for a score in a player's form: w, d or l.
func letter(score [2]int) byte {
	switch {
	case score[0] > score[1]:
		return 'w'
	case score[0] < score[1]:
		return 'l'
	default:
		return 'd'
	}
}

// surplusPerMatch returns by how much a player's average score exceeds expectations, in
// ten-thousandths of a win. It returns 0 for too few matches.
func surplusPerMatch(t *ladder.Tally) float64 {
	if t.Played < MinMatches {
		return 0
	}
	return float64(t.Surplus) / float64(t.Played)
}

// first returns the pairing with the highest positive value, nil if there is none. Ties go to the
// player with the smallest id.
func first(tallies map[ladder.PlayerID]*ladder.Tally, value func(*ladder.Tally) float64) (best *Pairing) {
	highest := 0.0
	for _, other := range slices.Sorted(maps.Keys(tallies)) {
		if v := value(tallies[other]); v > highest {
			best, highest = new(pairingOf(other, tallies[other])), v
		}
	}
	return best
}

func pairingOf(other ladder.PlayerID, t *ladder.Tally) Pairing {
	return Pairing{With: ranking.Name{Player: other}, Played: t.Played, Won: t.Won, Drawn: t.Drawn, Lost: t.Lost}
}

// PersonCommand is /stats in a group. It asks a PersonQuestion.
type PersonCommand struct{ ofPeople }

func (PersonCommand) meant(said command.Command, a ranking.Asked) (Question, notice.Notice) {
	who, unclear := meantPeople(said, a, 1, a.Origin.Sender)
	return PersonQuestion{Who: who}, unclear
}

// PersonQuestion asks for the standing and history of a person in the group, who may be the sender.
// Without a person, it is refused.
type PersonQuestion struct {
	ofPeople
	Who []command.Person // at most one
}

func (q PersonQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	players, refusal := playersOf(a, q.Who)
	switch {
	case refusal != nil:
		return refusal, nil
	case len(players) == 0:
		return ranking.Refusal{Code: ranking.NobodyToShow}, nil
	case players[0].ID == 0: // the sender, who is not a player
		return PlayerStanding{}, nil
	}
	return s.player(ctx, a, players[0].ID)
}

// PlayerQuestion asks for the standing and the history of a player.
type PlayerQuestion struct {
	ofNobody
	Player ladder.PlayerID
}

func (q PlayerQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	return s.player(ctx, a, q.Player)
}

func (s *Service) player(ctx context.Context, a ranking.Asked, player ladder.PlayerID) (notice.Notice, error) {
	history, err := s.store.Player(ctx, a.Ladder.ID, player, a.Origin.SentAt)
	if err != nil {
		return nil, fmt.Errorf("read the history of a player: %w", err)
	}
	n := history.View()
	if player != senderPlayer(a) {
		n.Other, n.Name = true, ranking.Name{Player: player}
	}
	return n, nil
}

// senderPlayer returns the player who asks, 0 for an anonymous admin or a person who is not a
// player.
func senderPlayer(a ranking.Asked) ladder.PlayerID {
	if a.Origin.Sender == nil {
		return 0
	}
	if _, k := a.Find(*a.Origin.Sender); k.IsPlayer() {
		return k.Player.ID
	}
	return 0
}

// StandingsQuestion asks for the sender's standings in all groups.
type StandingsQuestion struct{ ofNobody }

func (StandingsQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	if a.Origin.Sender == nil {
		return ranking.Refusal{Code: ranking.NobodyToShow}, nil
	}
	n, err := s.store.Standings(ctx, *a.Origin.Sender, MaxGroups, a.Origin.SentAt)
	if err != nil {
		return nil, fmt.Errorf("read standings: %w", err)
	}
	return n, nil
}
