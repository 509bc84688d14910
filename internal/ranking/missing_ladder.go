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

// refusal says which ladders there are.
func (m MissingLadder) refusal() Refusal {
	names := make([]string, len(m.Maybe))
	for i, l := range m.Maybe {
		names[i] = l.Name
	}
	return Refusal{Code: NoSuchLadder, Name: m.Word, Ladders: strings.Join(names, ", ")}
}

// ladderAt returns the ladder that is named at the beginning of a text, by the longest name or by
// another word for its game, or a missing one, and how many words name it. The name of a player is
// no game, and only a report may have a slip.
func (s Snapshot) ladderAt(text string, isReport bool) (l *GroupLadder, missing *MissingLadder, words int) {
	isOf := func(is func(Person) bool) bool { return slices.ContainsFunc(s.everybody(), is) }
	at := strings.Fields(text)
	for n := len(at); n > 0; n-- {
		name := strings.Join(at[:n], " ")
		if l := findLadder(s.Ladders, name); l != nil {
			return l, nil, n
		}
		game := command.Game(name)
		if game == "" || isOf(func(p Person) bool { return command.IsNameOf(name, p.Name) }) {
			continue
		}
		m := MissingLadder{Word: name}
		for i, l := range s.Ladders {
			switch isHere := &s.Ladders[i] == s.here(); {
			case command.Game(l.Name) == game:
				return &s.Ladders[i], nil, n
			case isHere:
				m.Maybe = slices.Insert(m.Maybe, 0, *l.label())
			case !l.Archived:
				m.Maybe = append(m.Maybe, *l.label())
			}
		}
		if len(m.Maybe) > 0 && m.Maybe[0].Name != "" { // games are fillers where the only ladder has no name
			return nil, &m, n
		}
	}
	for n := len(at); isReport && n > 0; n-- {
		name := strings.Join(at[:n], " ")
		for _, l := range s.Ladders {
			if command.IsSlip(name, l.Name) && !isOf(func(p Person) bool { return p.isNear(name) }) {
				return nil, &MissingLadder{name, []LadderLabel{*l.label()}}, n
			}
		}
	}
	return nil, nil, 0
}
