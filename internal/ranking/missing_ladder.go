package ranking

import (
	"slices"
	"strings"

	"elobot/internal/command"
)

// maxMissing is the maximum number of ladders to choose from when a report names a missing ladder.
const maxMissing = 3

// MissingLadder is an unknown name at a position where a ladder's name may stand. It is a
// misspelled name, or a game for which the group has either no ladder or several, not counting
// archived ladders.
type MissingLadder struct {
	Word  string        `json:"word"`
	Maybe []LadderLabel `json:"maybe"` // the ladders that Word may mean, likeliest first
}

// ladderAt returns the ladder whose name a text begins with, or the missing ladder, and how many
// words that name has. It prefers the longest name. The name of a game means the ladder for that
// game, if only one such ladder is not archived. A name of a player in Everybody is never taken for
// a game or a misspelled ladder. Misspelled ladders are recognized only in reports, and only if no
// other name is found.
func (s *Snapshot) ladderAt(text string, isReport bool) (l *GroupLadder, missing *MissingLadder, words int) {
	isOf := func(is func(command.Person) bool) bool { return slices.ContainsFunc(s.everybody(), is) }
	at := strings.Fields(text)
	for n := len(at); n > 0; n-- {
		name := strings.Join(at[:n], " ")
		if l := findLadder(s.Ladders, name); l != nil {
			return l, nil, n
		}
		game := command.Game(name)
		if game == "" || isOf(func(p command.Person) bool { return p.IsCalled(name) }) {
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
		// If the group's only ladder has no name, the name of a game means nothing.
		if len(m.Maybe) > 0 && m.Maybe[0].Name != "" {
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
