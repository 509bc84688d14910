package transfer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readStart reads the current row as a start rating.
func (s *sheet) readStart() {
	refused := len(s.Refused)
	start := Start{Line: s.line, Player: s.cell("player")}
	s.checkName("player", start.Player)
	const highest = 10_000
	if start.Rating = number(s.cell("rating"), len("10000")); start.Rating < 0 || start.Rating > highest {
		_ = s.refuse("rating", BadRating, s.cell("rating"))
	}
	if len(s.Refused) == refused {
		s.Starts = append(s.Starts, start)
	}
}

// readMatch reads the current row as a match. text becomes its Row.Text.
func (s *sheet) readMatch(text string) {
	refused := len(s.Refused)
	r := Row{Line: s.line, Text: text, ID: s.cell("id"), Sides: s.sides()}
	var reason Reason
	if r.Result, reason = s.result(r.Sides); reason != "" {
		s.Refused = s.Refused[:refused] // other faults of a match that was not played do not matter
		_ = s.leaveOut("score", reason, s.cell("score"))
		return
	}
	if s.hasDates {
		if r.When, r.IsDay, reason = s.when(s.cell("date")); reason != "" {
			_ = s.refuse("date", reason, s.cell("date"))
		}
	}
	if s.has("order") {
		var err error
		if r.order, err = strconv.Atoi(s.cell("order")); err != nil {
			_ = s.refuse("order", BadOrder, s.cell("order"))
		}
	}
	if len(s.Refused) == refused {
		s.count[text]++
		r.Count = s.count[text]
		s.Rows = append(s.Rows, r)
	}
}

// sides reads the names of the players of both sides. It refuses the row if a side has no players
// or too many, or if a name occurs twice.
func (s *sheet) sides() (sides [2][]string) {
	for i, team := range s.teams {
		for _, role := range team {
			name := s.cell(role)
			if name == "" {
				continue
			}
			if s.checkName(role, name); slices.Contains(slices.Concat(sides[:]...), name) {
				_ = s.refuse(role, SamePlayer, name)
			}
			if sides[i] = append(sides[i], name); len(sides[i]) > MaxSide {
				_ = s.refuse(role, TooManyPlayers, name)
			}
		}
		if len(sides[i]) == 0 {
			_ = s.refuse(team[0], NoPlayer, "")
		}
	}
	return sides
}

// IsControl reports whether no name may have the character, because it is invisible and changes
// what is around it.
func IsControl(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// checkName refuses the row if name, the cell of role, cannot be a player's name.
func (s *sheet) checkName(role, name string) {
	switch i := strings.IndexFunc(name, IsControl); {
	case name == "":
		_ = s.refuse(role, NoPlayer, "")
	case i >= 0:
		r, _ := utf8.DecodeRuneInString(name[i:])
		_ = s.refuse(role, ControlChar, fmt.Sprintf("%U", r))
	case utf8.RuneCountInString(name) > MaxName:
		_ = s.refuse(role, LongName, name)
	}
}
