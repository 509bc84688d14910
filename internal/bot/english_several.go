package bot

import (
	"fmt"
	"math"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// maxLineRatings is how many rating changes a line lists; the others are only counted.
const maxLineRatings = 4

func (english) matchLine(n ranking.MatchRecorded) string {
	score := ", " + showScore(scoreOf(n.Sides))
	if n.Undone {
		return fmt.Sprintf("#%d · <s>%s</s> · undone", n.Number, versus(n.Sides, plainSide)+score)
	}
	line := []string{fmt.Sprintf("#%d", n.Number), versus(n.Sides, ratedSide) + score}
	if n.ReportedBy != nil {
		line = append(line, "reported"+by(*n.ReportedBy))
	}
	if n.Was != nil {
		line = append(line, correctedFrom(n))
	}
	return strings.Join(line, " · ")
}

func (english) undoneLine(n ranking.MatchUndone) string {
	return fmt.Sprintf("Match #%d undone%s: %s %s %s no longer counts. ", n.Number, by(n.By),
		plainSide(n.Sides[0]), showScore(scoreOf(n.Sides)), plainSide(n.Sides[1])) + movementsLine(n.Moved)
}

func (english) restoredLine(n ranking.MatchRestored) string {
	return fmt.Sprintf("Match #%d restored%s: %s %s %s counts again. ", n.Number, by(n.By),
		plainSide(n.Sides[0]), showScore(scoreOf(n.Sides)), plainSide(n.Sides[1])) + movementsLine(n.Moved)
}

func (english) fixedLine(n ranking.MatchFixed) string {
	was := "sets corrected"
	if n.Was.Score != scoreOf(n.Sides) {
		was = "was " + showScore(n.Was.Score)
	}
	return fmt.Sprintf("Match #%d corrected%s: %s, %s (%s). ", n.Number, by(n.By),
		versus(n.Sides, plainSide), showScore(scoreOf(n.Sides)), was) + movementsLine(n.Moved)
}

func (english) playersMergedLine(n ranking.PlayersMerged) string {
	return strings.Join(append(mergedPlayers(n), movementsLine(n.Moved)), " ")
}

// addressed puts the addressee in front of a line.
func (english) addressed(name, line string) string { return name + ": " + line }

// more says that so many items are not listed.
func (english) more(count int) string {
	return fmt.Sprintf("…and <b>%d more</b>. All results count, including those not listed here: <code>/%s</code> shows "+
		"where everyone stands.", count, command.NameRanking)
}

func (english) resultsExpired(n ranking.ResultsExpired) string {
	results := "1 result was"
	if n.Count != 1 {
		results = fmt.Sprintf("%d results were", n.Count)
	}
	return fmt.Sprintf("<b>%s recorded</b> while I couldn’t write here. See where everyone stands: <code>/%s</code>",
		results, command.NameRanking)
}

// amendment says how to undo a match, with number as an example.
func (english) amendment(number int) string {
	return fmt.Sprintf("Undo a match: <code>/%s %d</code>", command.NameUndo, number)
}

// plainSide returns the players of a side.
func plainSide(s ranking.Side) string {
	return namesOf(s, func(p ranking.RatingChange) string { return showName(p.Name) })
}

// ratedSide returns the players of a side with their rating changes. Of players who are only counted, it gives the smallest and
// the largest change.
func ratedSide(s ranking.Side) string {
	text := namesOf(s, func(p ranking.RatingChange) string {
		return fmt.Sprintf("%s (%s → %d)", showName(p.Name), signed(p.After-p.Before), p.After)
	})
	if p := s.Players; len(p) > maxSideNames {
		least, most := math.MaxInt, math.MinInt
		for _, r := range p[shortSideNames:] {
			least, most = min(least, r.After-r.Before), max(most, r.After-r.Before)
		}
		changes := signed(most)
		if least != most {
			changes = signed(least) + " to " + changes
		}
		text += " (" + changes + ")"
	}
	return text
}

// movementsLine returns the rating changes in one line.
func movementsLine(m ranking.Moved) string {
	if isUnchanged(m) {
		return noRatingsChanged
	}
	shown := m.Ratings[:min(len(m.Ratings), maxLineRatings)]
	moves := make([]string, len(shown))
	for i, r := range shown {
		moves[i] = movement(r)
	}
	text := strings.Join(moves, ", ")
	if others := m.Others + len(m.Ratings) - len(shown); others > 0 {
		text += " " + andOthers(others)
	}
	return text
}
