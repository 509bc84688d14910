package stats

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// PlayerCard shows admins what their group knows of a player, in all its ladders and seasons.
type PlayerCard struct {
	Name ranking.Name `json:"name"`
	// Own is the player's own name, such as the name in Telegram. It is empty unless the group has
	// a nick for the player.
	Own      string `json:"own,omitempty"`
	Username string `json:"username,omitempty"` // without @
	// Account is set if the player has an account. A player with neither an account nor a username
	// is a guest.
	Account bool `json:"account,omitempty"`
	Out     bool `json:"out,omitempty"`     // the player does not take part in the rankings
	Ignored bool `json:"ignored,omitempty"` // reports and presses of the player are refused
	// Names are the players who count as this one, starting with the player itself.
	Names []NamedPlayer `json:"names"`
	// Merged are the names of players who were merged into this one without a record of the matches
	// in which they were named. Such a merge cannot be split.
	Merged []string `json:"merged,omitempty"`
}

var _ = notice.Register[PlayerCard](notice.Kind{Name: "player_card", Purpose: notice.Answer, Alone: true})

// NamedPlayer is a player, with the number of matches in which the player was named. Undone matches
// are left out.
type NamedPlayer struct {
	Name    ranking.Name `json:"name"`
	Matches int          `json:"matches"`
}

// PlayerView is a page about a player that leads to a change.
type PlayerView string

const (
	ViewNick     PlayerView = "nick"     // asks for a nick, and has no choices
	ViewMerge    PlayerView = "merge"    // asks which other player is the same person
	ViewAccounts PlayerView = "accounts" // asks which other account belongs to the same person
	ViewSplit    PlayerView = "split"    // asks which merged player is a different person
)

// PlayerPage asks admins for a player's nick, or for the other player of a merge or split.
type PlayerPage struct {
	View    PlayerView     `json:"view"`
	Name    ranking.Name   `json:"name"`
	Account bool           `json:"account,omitempty"`
	Choices []ranking.Name `json:"choices,omitempty"`
}

var _ = notice.Register[PlayerPage](notice.Kind{Name: "player_page", Purpose: notice.Answer, Alone: true})

// PlayerCommand is /player, as in "/player @dave", and "/player @dave @davee", which offers to
// merge the two. Without a player, the answer is Otherwise.
type PlayerCommand struct {
	ofPeople
	Otherwise notice.Notice
}

func (c PlayerCommand) meant(said command.Command, a ranking.Asked) (Question, notice.Notice) {
	who, unclear := meantPeople(said, a, 2, nil)
	if unclear != nil {
		return nil, unclear
	}
	players, refusal := playersOf(a, who)
	switch {
	case refusal != nil:
		return nil, refusal
	case len(players) == 0 || players[0].ID == 0: // nobody, or a sender who is not a player
		return nil, c.Otherwise
	case len(players) == 1 || players[0].ID == players[1].ID:
		return PlayerCardQuestion{Player: players[0].ID}, nil
	}
	q := PlayerCardQuestion{Player: players[0].ID, Other: players[1].ID, View: ViewMerge}
	if players[0].UserID != 0 && players[1].UserID != 0 {
		q.View = ViewAccounts
	}
	return q, nil
}

// PlayerCardQuestion asks for the card of a player or, with a View, for that page. Only admins may
// ask.
type PlayerCardQuestion struct {
	ofNobody
	Player ladder.PlayerID
	View   PlayerView
	Other  ladder.PlayerID // the only choice, 0 for no limit
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
	n := PlayerPage{View: q.View, Name: card.Name, Account: card.Account}
	switch {
	case q.Other != 0:
		n.Choices = []ranking.Name{{Player: q.Other}}
	case q.View == ViewNick:
	case q.View == ViewSplit:
		for _, named := range card.Names[1:] {
			n.Choices = append(n.Choices, named.Name)
		}
	default:
		n.Choices = card.candidates(a, q.View == ViewAccounts)
	}
	return n, nil
}

// candidates returns up to PageRows players who may be the same person: first those with a similar
// name, then those who have played the least in the season. If c is the card of an account,
// accounts selects either only accounts or only players without one.
func (c PlayerCard) candidates(a ranking.Asked, accounts bool) (all []ranking.Name) {
	people := a.EverybodyThere()
	var alike []command.Person
	if i := slices.IndexFunc(people, func(p command.Person) bool { return p.Player == c.Name.Player }); i >= 0 {
		names := command.NewNames(people)
		for word := range strings.FieldsSeq(people[i].Name + " " + people[i].Shown + " " + people[i].Username) {
			alike = append(alike, names.Like(word)...)
		}
	}
	played := make(map[ladder.PlayerID]int)
	for i, k := range a.Everybody {
		if k.Named != nil || k.Player.ID == c.Name.Player || c.Account && k.IsAccount() != accounts {
			continue
		}
		all = append(all, ranking.Name{Player: k.Player.ID})
		switch {
		case slices.ContainsFunc(alike, people[i].IsSame):
			played[k.Player.ID] = -1 // before all others
		case k.Standing != nil:
			played[k.Player.ID] = k.Standing.Played
		}
	}
	slices.SortStableFunc(all, func(x, y ranking.Name) int { return cmp.Compare(played[x.Player], played[y.Player]) })
	return all[:min(len(all), PageRows)]
}
