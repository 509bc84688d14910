package bot

import (
	"fmt"
	"math"
	"strings"

	"elobot/internal/ranking"
)

// maxLineRatings is how many rating changes a line lists; the others are only counted.
const maxLineRatings = 4

func (w words) matchLine(n ranking.MatchRecorded) string {
	number := w.matchNumber(n.Number)
	if n.Undone {
		return strings.Join([]string{number, "<s>" + w.outcomeLine(n.Sides, w.plainSide, "") + "</s>", w.Text("note.undone", nil)}, " · ")
	}
	line := []string{number, w.outcomeLine(n.Sides, w.ratedSide, "")}
	if n.ReportedBy != nil {
		line = append(line, w.textBy("note.reported_by", *n.ReportedBy, nil))
	}
	if n.Was != nil {
		line = append(line, w.correctedFrom(n))
	}
	return strings.Join(line, " · ")
}

// outcomeLine says in a line who won, with the score and what comes after it.
func (w words) outcomeLine(sides [2]ranking.Side, show func(ranking.Side) string, after string) string {
	score := showScore(scoreOf(sides)) + after
	return w.Text("outcome."+outcomeOf(sides)+"_line", args{"A": show(sides[0]), "B": show(sides[1]), "Score": score})
}

func (w words) undoneLine(n ranking.MatchUndone) string {
	with := args{"Number": n.Number, "Result": w.resultOf(n.Sides, w.plainSide)}
	return w.textBy("undone.line_by", n.By, with) + " " + w.movementsLine(n.Moved)
}

func (w words) restoredLine(n ranking.MatchRestored) string {
	with := args{"Number": n.Number, "Result": w.resultOf(n.Sides, w.plainSide)}
	return w.textBy("restored.line_by", n.By, with) + " " + w.movementsLine(n.Moved)
}

func (w words) fixedLine(n ranking.MatchFixed) string {
	was := w.Text("note.sets_corrected", nil)
	if n.Was.Score != scoreOf(n.Sides) {
		was = w.Text("note.was", args{"Score": showScore(n.Was.Score)})
	}
	with := args{"Number": n.Number, "Outcome": w.outcomeLine(n.Sides, w.plainSide, brackets(was))}
	return w.textBy("fixed.line_by", n.By, with) + " " + w.movementsLine(n.Moved)
}

func (w words) playersMergedLine(n ranking.PlayersMerged) string {
	return strings.Join(append(w.mergedPlayers(n), w.movementsLine(n.Moved)), " ")
}

// addressed puts the addressee in front of a line.
func (w words) addressed(name, line string) string {
	return w.Text("several.addressed", args{"Name": name, "Line": line})
}

// more says that so many items are not listed.
func (w words) more(count int) string { return w.Plural("several.more", count, nil) }

// unanswered says that so many questions got no answer.
func (w words) unanswered(count int) string { return w.Plural("several.unanswered", count, nil) }

// resultsSummary lists as many results as fit, and counts the others.
func (w words) resultsSummary(n ranking.ResultsSummary) string {
	s := several{tail: w.roomForTail() + len("\n") + utf16Length(plain(w.unanswered(largest))), unanswered: n.Answers}
	for _, r := range n.Results {
		undo := r.Number
		if r.Undone {
			undo = 0
		}
		if !s.addLine(w.matchLine(r), undo, 0) {
			break
		}
	}
	return s.text(n.Count, w)
}

// amendment says how to undo a match, with number as an example.
func (w words) amendment(number int) string { return w.Text("several.undo", args{"Number": number}) }

// plainSide returns the players of a side.
func (w words) plainSide(s ranking.Side) string {
	return w.namesOf(s, func(p ranking.RatingChange) string { return showName(p.Name) })
}

// ratedSide returns the players of a side with their rating changes. Of players who are only counted, it gives the smallest and
// the largest change.
func (w words) ratedSide(s ranking.Side) string {
	text := w.namesOf(s, func(p ranking.RatingChange) string {
		return fmt.Sprintf("%s (%s → %d)", showName(p.Name), signed(p.After-p.Before), p.After)
	})
	if p := s.Players; len(p) > maxSideNames {
		least, most := math.MaxInt, math.MinInt
		for _, r := range p[shortSideNames:] {
			least, most = min(least, r.After-r.Before), max(most, r.After-r.Before)
		}
		changes := signed(most)
		if least != most {
			changes = w.Text("moved.range", args{"Least": signed(least), "Most": signed(most)})
		}
		text += " (" + changes + ")"
	}
	return text
}

// movementsLine returns the rating changes in one line.
func (w words) movementsLine(m ranking.Moved) string {
	if isUnchanged(m) {
		return w.Text("moved.none", nil)
	}
	shown := m.Ratings[:min(len(m.Ratings), maxLineRatings)]
	moves := make([]string, len(shown))
	for i, r := range shown {
		moves[i] = movement(r)
	}
	text := strings.Join(moves, ", ")
	if others := m.Others + len(m.Ratings) - len(shown); others > 0 {
		text += " " + w.Plural("moved.others", others, nil)
	}
	return text
}
