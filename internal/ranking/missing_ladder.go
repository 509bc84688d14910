package ranking

import (
	"slices"
	"strings"

	"elobot/internal/command"
)

// maxMissing is how many ladders a report that names a missing one is asked about.
const maxMissing = 3

// MissingLadder is what a command names where a ladder would be named, and which ladders it may
// mean: a game that is none of them, or a name with a slip.
type MissingLadder struct {
	Word  string        `json:"word"`
	Maybe []LadderLabel `json:"maybe"` // that which applies first
}

// ladderAt returns the ladder that is named at the beginning of a text, by the longest name or by
// another word for its game, or a missing one, and how many words name it. The name of a player is
// no game, and only a report may have a slip.
func (s *Snapshot) ladderAt(text string, isReport bool) (l *GroupLadder, missing *MissingLadder, words int) {
	isOf := func(is func(command.Person) bool) bool { return slices.ContainsFunc(s.everybody(), is) }
	at := strings.Fields(text)
	for n := len(at); n > 0; n-- {
		name := strings.Join(at[:n], " ")
		if l := findLadder(s.Ladders, name); l != nil {
			return l, nil, n
		}
		game := command.Game(name)
		if game == "" || isOf(func(p command.Person) bool {
			return command.IsNameOf(name, p.Name) || command.IsNameOf(name, p.Username)
		}) {
			continue
		}
		m := MissingLadder{Word: name}
		var ofGame []*GroupLadder
		for i, l := range s.Ladders {
			isOfGame := !l.Archived && command.IsOfGame(l.Name, game)
			if isOfGame {
				ofGame = append(ofGame, &s.Ladders[i])
			}
			if isOfGame || &s.Ladders[i] == s.here() {
				m.Maybe = slices.Insert(m.Maybe, 0, *l.label())
			} else if !l.Archived {
				m.Maybe = append(m.Maybe, *l.label())
			}
		}
		if len(ofGame) == 1 {
			return ofGame[0], nil, n
		}
		if len(m.Maybe) > 0 && m.Maybe[0].Name != "" { // games are fillers where the only ladder has no name
			return nil, &m, n
		}
	}
	for n := len(at); isReport && n > 0; n-- {
		name := strings.Join(at[:n], " ")
		for _, l := range s.Ladders {
			if command.IsSlip(name, l.Name) && !isOf(func(p command.Person) bool { return isNear(p, name) }) {
				return nil, &MissingLadder{name, []LadderLabel{*l.label()}}, n
			}
		}
	}
	return nil, nil, 0
}
