package command

// withoutScore returns the score of a line that only says who won, as likely needs it. ok is false if it says nothing about that.
func (l line) withoutScore() (s Score, ok bool) {
	count := len(l.scores.numbers)
	if l.isHalf && count == 2 && len(l.claims) > 0 && l.claims[0].meaning == drew {
		count = 0 // "/draw 1/2"
	}
	if len(l.claims) == 0 || count > 0 || l.scores.stray != "" || l.scores.open != "" {
		return Score{}, false
	}
	switch l.claims[0].meaning {
	case won:
		return win, true
	case lost:
		return loss, true
	default:
		return draw, true
	}
}

// command returns the name of the command that reports a score without points.
func (s Score) command() string {
	switch s {
	case win:
		return NameWon
	case loss:
		return NameLost
	default:
		return NameDraw
	}
}
