package stats

import (
	"context"
	"fmt"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// PlayerCard tells admins what their group knows of a player, in all its ladders and seasons.
type PlayerCard struct {
	Name ranking.Name `json:"name"`
	// Own is the player's own name, such as the one that Telegram shows, if the group has a nick
	// for the player; otherwise it is empty.
	Own      string `json:"own,omitempty"`
	Username string `json:"username,omitempty"` // without @
	Account  bool   `json:"account,omitempty"`  // a player without an account or a username is a guest
	Out      bool   `json:"out,omitempty"`      // the player does not take part in the rankings
	// Names are the players who count as this one: first the player itself.
	Names []NamedPlayer `json:"names"`
	// Merged are the names of players who were merged into this one without keeping in which
	// matches they were named. Such a merge cannot be split.
	Merged []string `json:"merged,omitempty"`
}

var _ = notice.Register[PlayerCard](notice.Kind{Name: "player_card", Purpose: notice.Answer, Alone: true})

// NamedPlayer is a player, and the number of matches that count in which the player was named.
type NamedPlayer struct {
	Name    ranking.Name `json:"name"`
	Matches int          `json:"matches"`
}

// PlayerView is a page about a player that leads to a change.
type PlayerView string

// ViewNick asks for a nick.
const ViewNick PlayerView = "nick"

// PlayerPage asks admins how to change a player.
type PlayerPage struct {
	View PlayerView   `json:"view"`
	Name ranking.Name `json:"name"`
}

var _ = notice.Register[PlayerPage](notice.Kind{Name: "player_page", Purpose: notice.Answer, Alone: true})

// PlayerCommand is /player, as in "/player @dave". Without a player, the answer is Otherwise.
type PlayerCommand struct {
	ofPeople
	Otherwise notice.Notice
}

func (c PlayerCommand) meant(said command.Command, a ranking.Asked) (Question, notice.Notice) {
	who, unclear := meantPeople(said, a, 1, nil)
	if unclear != nil {
		return nil, unclear
	}
	players, refusal := playersOf(a, who)
	switch {
	case refusal != nil:
		return nil, refusal
	case len(players) == 0 || players[0].ID == 0: // nobody, or a sender who is not a player
		return nil, c.Otherwise
	}
	return PlayerCardQuestion{Player: players[0].ID}, nil
}

// PlayerCardQuestion asks for the card of a player or, with a View, for that page. Only admins may
// ask.
type PlayerCardQuestion struct {
	ofNobody
	Player ladder.PlayerID
	View   PlayerView
}

func (q PlayerCardQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	card, err := s.store.PlayerCard(ctx, a.Ladder.ID, q.Player)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the card of a player: %w", err)
	case len(card.Names) == 0:
		return ranking.Refusal{Code: ranking.UnknownButton}, nil
	case q.View == "":
		return card, nil
	}
	return PlayerPage{View: q.View, Name: card.Name}, nil
}
