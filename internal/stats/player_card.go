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

// The pages.
const (
	ViewNick     PlayerView = "nick"     // asks for a nick, and has no choices
	ViewMerge    PlayerView = "merge"    // asks who is the same person
	ViewAccounts PlayerView = "accounts" // asks which other account belongs to the same person
	ViewSplit    PlayerView = "split"    // asks who is another person
)

// PlayerPage asks admins for a player's nick, or to choose another player, whom a change of the
// player concerns too.
type PlayerPage struct {
	View    PlayerView     `json:"view"`
	Name    ranking.Name   `json:"name"`
	Account bool           `json:"account,omitempty"`
	Choices []ranking.Name `json:"choices,omitempty"` // at most PageRows
	Number  int            `json:"number,omitempty"`  // of the page, from 0
	More    bool           `json:"more,omitempty"`    // there are more choices
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
	Number int             // as in PlayerPage
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
	var choices []ladder.PlayerID
	switch {
	case q.Other != 0:
		choices = []ladder.PlayerID{q.Other}
	case q.View == ViewNick:
	case q.View == ViewSplit:
		for _, n := range card.Names[1:] {
			choices = append(choices, n.Name.Player)
		}
	default:
		choices = card.candidates(a, q.View == ViewAccounts)
	}
	page := choices[min(q.Number*PageRows, len(choices)):]
	shown := page[:min(len(page), PageRows)]
	n := PlayerPage{View: q.View, Name: card.Name, Account: card.Account, Number: q.Number, More: len(page) > len(shown)}
	for _, player := range shown {
		n.Choices = append(n.Choices, ranking.Name{Player: player})
	}
	return n, nil
}

// candidates returns the players who may be the same person, first those with a similar name, then
// those who have played the least in the season. For an account, accounts selects either only
// accounts or only others.
func (c PlayerCard) candidates(a ranking.Asked, accounts bool) (all []ladder.PlayerID) {
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
		all = append(all, k.Player.ID)
		switch {
		case slices.ContainsFunc(alike, people[i].IsSame):
			played[k.Player.ID] = -1 // before all others
		case k.Standing != nil:
			played[k.Player.ID] = k.Standing.Played
		}
	}
	slices.SortStableFunc(all, func(x, y ladder.PlayerID) int { return cmp.Compare(played[x], played[y]) })
	return all
}
