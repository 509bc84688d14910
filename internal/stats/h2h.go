package stats

import (
	"context"
	"fmt"
	"slices"

	"elobot/internal/command"
	"elobot/internal/elo"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// HeadToHead is the record of two players against each other. A meeting is a match in which they
// were on opposite sides.
type HeadToHead struct {
	A ranking.Name `json:"a"`
	B ranking.Name `json:"b"`
	// Won, Drawn and Lost count the results of A in meetings without teams. InTeams counts the
	// wins, draws and losses of A in meetings with teams. For and Against, the points of A and B,
	// cover all meetings, as do Half, Gained and Last.
	Won     int           `json:"won,omitempty"`
	Drawn   int           `json:"drawn,omitempty"`
	Lost    int           `json:"lost,omitempty"`
	InTeams [3]int        `json:"in_teams,omitzero"`
	NoDraws bool          `json:"no_draws,omitempty"` // the ladder's rules exclude draws
	For     int           `json:"for,omitempty"`
	Against int           `json:"against,omitempty"`
	Half    bool          `json:"half,omitempty"`   // A and B each have half a point more than For and Against
	Gained  int           `json:"gained,omitempty"` // A's total rating change in the meetings
	Last    []PlayedMatch `json:"last,omitempty"`   // the last meetings, newest first
	// Ratings are the current ratings of A and B. Expected is the expected score of A, in
	// ten-thousandths.
	Ratings  [2]int `json:"ratings"`
	Expected int    `json:"expected"`
	// Stranger is A or B if that player has not joined the ladder, zero if both have.
	Stranger ranking.Name `json:"stranger,omitzero"`
	// Back is the player whose page led to the comparison, 0 for none.
	Back ladder.PlayerID `json:"back,omitempty"`
}

var _ = notice.Register[HeadToHead](notice.Kind{Name: "head_to_head", Purpose: notice.Answer, Alone: true})

// Met returns the number of meetings.
func (n HeadToHead) Met() int {
	return n.Won + n.Drawn + n.Lost + n.InTeams[0] + n.InTeams[1] + n.InTeams[2]
}

// Points returns the points of both players, such as "6½:2½". It returns an empty string if neither
// player has any.
func (n HeadToHead) Points() string {
	if n.For+n.Against == 0 && !n.Half {
		return ""
	}
	half := map[bool]string{true: "½"}[n.Half]
	return fmt.Sprintf("%d%s:%d%s", n.For, half, n.Against, half)
}

// Meet sums up the meetings, which must be complete and ordered by position. It may modify the
// slice.
func (n *HeadToHead) Meet(meetings []ladder.Match) {
	meetings = slices.DeleteFunc(meetings, func(m ladder.Match) bool {
		return !m.Has(n.A.Player) || !m.Has(n.B.Player) // A and B may have been read before a merge
	})
	all := ladder.SummaryOf(n.A.Player, meetings)
	var teams ladder.Summary
	for i := range meetings {
		if m := &meetings[i]; isOfTeams(m) {
			teams.Add(m, *m.PartOf(n.A.Player))
		}
	}
	n.Won, n.Drawn, n.Lost = all.Won-teams.Won, all.Drawn-teams.Drawn, all.Lost-teams.Lost
	n.InTeams = [3]int{teams.Won, teams.Drawn, teams.Lost}
	n.For, n.Against, n.Half, n.Gained = all.For/2, all.Against/2, all.For%2 != 0, all.Gained
	n.Last = lastMatches(meetings, n.A.Player, LastMatches)
	for i := range n.Last {
		n.Last[i].Against = nil // the context shows the opponent
	}
}

// HeadToHeadCommand is /h2h. It asks a HeadToHeadQuestion about the two people named, or about the
// sender and the only person named.
type HeadToHeadCommand struct{ ofPeople }

func (HeadToHeadCommand) meant(said command.Command, a ranking.Asked) (Question, notice.Notice) {
	people, unclear := meantPeople(said, a, 2, nil)
	switch {
	case unclear != nil:
		return nil, unclear
	case len(people) == 0:
		return nil, UnclearPeople{Reason: NobodyNamed, Command: said.Name}
	case len(people) == 1 && said.Sender == command.Person{}:
		return nil, UnclearPeople{Reason: NameBoth, Command: said.Name}
	case len(people) == 1:
		people = []command.Person{said.Sender, people[0]}
	}
	return HeadToHeadQuestion{Two: people}, nil
}

// HeadToHeadQuestion asks for the record of two people against each other.
type HeadToHeadQuestion struct {
	ofPeople
	Two []command.Person
}

func (q HeadToHeadQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	players, refusal := playersOf(a, q.Two)
	if refusal != nil {
		return refusal, nil
	}
	return s.headToHead(ctx, a.Ladder, players[0].ID, players[1].ID, 0)
}

// AgainstSenderQuestion asks for the record of two players against each other: the person who
// pressed a button on the page of Player, and Player. It is refused if that person is not a player.
type AgainstSenderQuestion struct {
	ofNobody
	Player ladder.PlayerID
}

func (q AgainstSenderQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	sender := senderPlayer(a)
	if sender == 0 {
		return ranking.Refusal{Code: ranking.NotPlayed}, nil
	}
	return s.headToHead(ctx, a.Ladder, sender, q.Player, q.Player)
}

// headToHead returns the record of two players against each other, with the given Back. The id 0
// stands for a sender who is not a player. In that case, or if both ids are of the same player,
// headToHead returns a notice that says so.
func (s *Service) headToHead(ctx context.Context, l ranking.Ladder, a, b, back ladder.PlayerID) (notice.Notice, error) {
	if a == 0 || b == 0 {
		return PlayerStanding{}, nil
	}
	n, meetings, err := s.store.HeadToHead(ctx, l.ID, a, b)
	if err != nil {
		return nil, fmt.Errorf("read the meetings of two players: %w", err)
	}
	if n.A.Player == n.B.Player { // possibly merged since the button was sent
		return UnclearPeople{Reason: SamePersonTwo, Command: "h2h"}, nil
	}
	n.Meet(meetings)
	n.Back = back
	n.Expected = int(10_000*elo.Expected(float64(n.Ratings[0]), float64(n.Ratings[1])) + 0.5)
	return n, nil
}
