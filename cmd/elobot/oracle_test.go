package main_test

import (
	"fmt"

	"elobot/internal/plainladder"
)

// oracle calculates the expected ratings of a group, and the expected cards.
type oracle struct{ plainladder.Ladder }

func newOracle() *oracle { return &oracle{plainladder.Play(nil, nil)} }

func (o *oracle) matches() int { return len(o.Entries) / 2 }

// play plays a match and returns its card. reporter is the name of the person who reports it.
func (o *oracle) play(a, b string, scoreA, scoreB int, reporter string) string {
	if scoreB > scoreA {
		a, b, scoreA, scoreB = b, a, scoreB, scoreA
	}
	o.Play(plainladder.Match{A: []string{a}, B: []string{b}, ScoreA: scoreA, ScoreB: scoreB})
	card := fmt.Sprintf("%s beat %s %d:%d\n", a, b, scoreA, scoreB)
	if scoreA == scoreB {
		card = fmt.Sprintf("%s and %s drew %d:%d\n", a, b, scoreA, scoreB)
	}
	for _, e := range o.Entries[len(o.Entries)-2:] {
		card += fmt.Sprintf("%s %s → %d\n", e.Who, change(e.After-e.Before), e.After)
	}
	card += fmt.Sprintf("Match #%d", o.matches())
	if reporter != a && reporter != b {
		card += " · reported by " + reporter
	}
	return card
}

func change(n int) string {
	switch {
	case n > 0:
		return fmt.Sprintf("+%d", n)
	case n < 0:
		return fmt.Sprintf("−%d", -n)
	}
	return "±0"
}
