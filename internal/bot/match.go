package bot

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// Limits for matches with many players. A match has up to twenty players. If a message repeated
// each of their names, it would become too long.
const (
	// A side with up to maxSideNames players is listed in full. Of a larger side, the first
	// shortSideNames players are listed, and the others are counted.
	maxSideNames   = 4
	shortSideNames = 2
	// maxNewNames is the maximum number of new players listed by name. If there are more, none is
	// listed and all are counted.
	maxNewNames = 8
	// maxNumbers limits how many match numbers are listed; the others are counted.
	maxNumbers = 10
)

var _ = shows(view[ranking.MatchRecorded]{text: words.matchRecorded, line: words.matchLine,
	buttons: cardButtons, ofLadder: true})

// cardButtons returns the undo or restore button below a match's card, if there is one.
func cardButtons(n ranking.MatchRecorded, _ outbox.Item, w words) [][]button {
	switch {
	case n.Number == 0:
	case !n.Undone:
		return [][]button{{{text: w.Text("button.undo", nil), data: buttonOf(n).data(undoCode)}}}
	case n.UndoneBy != nil: // a match undone by a merge cannot be restored
		return [][]button{{{text: w.Text("button.restore", nil), data: buttonOf(n).data(restoreCode)}}}
	}
	return nil
}

func (w words) matchRecorded(n ranking.MatchRecorded) string {
	match, games := w.Text("note.match", args{"Number": n.Number}), html.EscapeString(n.Games)
	if n.Undone {
		return "<s>" + w.outcome(n.Sides, n.Sets, games) + "</s>\n" + notes(match, w.undoneBy(n))
	}
	var lines []string
	if n.Past {
		lines = append(lines, notes(w.Text("note.past", nil)))
	}
	lines = slices.Concat(lines, []string{w.outcome(n.Sides, n.Sets, games)},
		movesOf(n.Sides[0].Players), movesOf(n.Sides[1].Players))
	if celebration := w.celebration(n.Celebration); celebration != "" {
		lines = append(lines, celebration)
	}
	return strings.Join(append(lines, notes(append([]string{match}, w.remarks(n)...)...)), "\n")
}

// remarks returns the remarks about a match that was not undone: its new players, who reported it,
// its day if the report gives it, how many ratings of others it changed, its season, and what was
// corrected.
func (w words) remarks(n ranking.MatchRecorded) (all []string) {
	switch count := len(n.NewPlayers); {
	case count == 0:
	case count <= maxNewNames:
		all = append(all,
			w.Plural("note.new_named", count, args{"Names": strings.Join(namesAs(n.NewPlayers, showName), ", ")}))
	default:
		all = append(all, w.Plural("note.new_counted", count, nil))
	}
	if n.ReportedBy != nil {
		all = append(all, w.textBy("note.reported_by", *n.ReportedBy, nil))
	}
	if !n.Day.IsZero() {
		all = append(all, w.Date(n.Day))
	}
	if n.Moved > 0 {
		all = append(all, w.Plural("note.moved", n.Moved, nil))
	}
	if n.Season > 0 {
		all = append(all, w.Text("note.in_season", args{"Season": w.seasonName(n.Season, "")}))
	}
	if n.Was != nil {
		all = append(all, w.correction(n.Was.Score, scoreOf(n.Sides)))
	}
	return all
}

// outcome says who won, with the score if there is one. The sets and the texts in more follow in
// parentheses.
func (w words) outcome(sides [2]ranking.Side, sets []ranking.SetScore, more ...string) string {
	return w.outcomeText(sides, "", w.sideNames, brackets(append([]string{showSets(sets)}, more...)...))
}

// outcomeText says who won, with the score if there is one. show renders a side. after follows the
// score, or the whole text if there is no score. form is the suffix of the catalog id for an
// outcome with a score.
func (w words) outcomeText(sides [2]ranking.Side, form string, show func(ranking.Side) string, after string) string {
	score, with := scoreOf(sides), args{"A": show(sides[0]), "B": show(sides[1])}
	id := "outcome." + outcomeOf(score)
	if !hasPoints(score) {
		return w.Text(id+"_only", with) + after
	}
	with["Score"] = showScore(score) + after
	return w.Text(id+form, with)
}

// outcomeOf returns "won", "drew" or "lost", from the point of view of the first side.
func outcomeOf(score [2]int) string {
	switch {
	case score[0] == score[1]:
		return "drew"
	case score[0] < score[1]:
		return "lost"
	default:
		return "won"
	}
}

// result returns the sides of a match with the score between them, followed by the sets.
func (w words) result(sides [2]ranking.Side, sets []ranking.SetScore) string {
	return w.resultOf(sides, w.sideNames) + brackets(showSets(sets))
}

func (w words) resultOf(sides [2]ranking.Side, show func(ranking.Side) string) string {
	return w.Text("outcome.result", args{"A": show(sides[0]), "B": show(sides[1]), "Score": showScore(scoreOf(sides))})
}

func scoreOf(sides [2]ranking.Side) [2]int { return [2]int{sides[0].Score, sides[1].Score} }

// hasPoints reports whether a score says more than the outcome.
func hasPoints(score [2]int) bool { return ladder.Score{A: score[0], B: score[1]}.HasPoints() }

// showScore returns what stands between two sides: the score or, without one, a trophy on the
// winner's side, or an equals sign for a draw.
func showScore(score [2]int) string {
	if hasPoints(score) {
		return writtenScore(score)
	}
	return map[string]string{"won": "🏆 –", "lost": "– 🏆", "drew": "="}[outcomeOf(score)]
}

// scoreAlone returns a score for a text without sides or, if there is no score, the outcome for the
// first side.
func (w words) scoreAlone(score [2]int) string {
	if hasPoints(score) {
		return writtenScore(score)
	}
	return w.Text("score."+outcomeOf(score), nil)
}

// writtenScore returns a score in the syntax of commands.
func writtenScore(score [2]int) string { return ladder.Score{A: score[0], B: score[1]}.String() }

// brackets returns the non-empty texts in parentheses, or an empty string if there are none.
func brackets(all ...string) string {
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}

func showSets(sets []ranking.SetScore) string {
	shown := make([]string, len(sets))
	for i, s := range sets {
		shown[i] = showScore(s)
	}
	return strings.Join(shown, " ")
}

// sideNames is namesOf with the names in bold.
func (w words) sideNames(s ranking.Side) string {
	return w.namesOf(s, func(p ranking.RatingChange) string { return boldName(p.Name) })
}

// namesOf returns the players of a side as rendered by show. Of a large side, it returns the first
// few and counts the others.
func (w words) namesOf(s ranking.Side, show func(ranking.RatingChange) string) string {
	names := make([]string, len(s.Players))
	for i, p := range s.Players {
		names[i] = show(p)
	}
	return w.side(names, maxSideNames, shortSideNames) + w.standIns(s.StandIns)
}

// standIns returns the text that follows the names of a side with count stand-ins.
func (w words) standIns(count int) string {
	return strings.Repeat(" + "+w.Text("names.stand_in", nil), count)
}

// movements is moves with all rating changes, one per line.
func (w words) movements(m ranking.Moved) string { return w.moves(m, len(m.Ratings), "\n", "\n") }

// movementsLine is moves with up to maxLineRatings rating changes, in one line.
func (w words) movementsLine(m ranking.Moved) string { return w.moves(m, maxLineRatings, ", ", " ") }

// moves returns up to most rating changes, and counts the others. If no rating has changed, it says
// so. between separates the changes from each other, and beside separates them from the season and
// from the count.
func (w words) moves(m ranking.Moved, most int, between, beside string) string {
	if m.Others == 0 && !slices.ContainsFunc(m.Ratings, func(r ranking.RatingChange) bool { return r.Before != r.After }) {
		return w.Text("moved.none", nil)
	}
	var parts []string
	if m.Season > 0 {
		parts = append(parts, w.Text("moved.in_season", args{"Season": w.seasonName(m.Season, "")}))
	}
	shown := m.Ratings[:min(len(m.Ratings), most)]
	parts = append(parts, strings.Join(movesOf(shown), between))
	if others := m.Others + len(m.Ratings) - len(shown); others > 0 {
		parts = append(parts, w.Plural("moved.others", others, nil))
	}
	return strings.Join(parts, beside)
}

func movesOf(ratings []ranking.RatingChange) (all []string) {
	for _, r := range ratings {
		all = append(all, fmt.Sprintf("%s %s → %d", showName(r.Name), signed(r.After-r.Before), r.After))
	}
	return all
}

// signed formats a change with its sign. It uses a typographic minus.
func signed(n int) string {
	switch {
	case n > 0:
		return "+" + strconv.Itoa(n)
	case n < 0:
		return "−" + strconv.Itoa(-n)
	default:
		return "±0"
	}
}

func notes(all ...string) string { return "<i>" + strings.Join(all, " · ") + "</i>" }

// matchNumber formats the number of a match, as in "#42".
func (w words) matchNumber(n int) string { return w.Text("numbers.match", args{"Number": n}) }

// numberList lists match numbers: all of them, or the first maxNumbers and a count of the others.
func (w words) numberList(numbers []int) string { return w.numbersOf(numbers, len(numbers)) }

// numbersOf is numberList for a list of count match numbers, of which numbers may have only the
// first.
func (w words) numbersOf(numbers []int, count int) string {
	var shown []string
	for _, n := range numbers[:min(len(numbers), maxNumbers)] {
		shown = append(shown, w.matchNumber(n))
	}
	last := len(shown) - 1
	switch more := count - len(shown); {
	case more > 0:
		return w.Plural("numbers.more", more, args{"First": strings.Join(shown, ", ")})
	case last > 0:
		return w.Text("numbers.last", args{"First": strings.Join(shown[:last], ", "), "Last": shown[last]})
	default:
		return strings.Join(shown, "")
	}
}

// celebration says what is special about a match. It returns an empty string if nothing is, or if
// only a newer release knows the kind of celebration.
func (w words) celebration(c *ranking.Celebration) string {
	if c == nil || len(c.Players) == 0 {
		return ""
	}
	// The card lists all players above, so a few names are enough.
	names := w.side(namesAs(c.Players, boldName), shortSideNames, shortSideNames)
	id := "celebration." + string(c.Kind)
	if !w.Has(id) {
		return ""
	}
	return w.Text(id, args{"Name": names, "Names": names, "Points": c.Number, "Rating": c.Number, "Wins": c.Number})
}

// maxLineRatings is the maximum number of rating changes listed in a line; the others are counted.
const maxLineRatings = 4

func (w words) matchLine(n ranking.MatchRecorded) string {
	number, games := w.matchNumber(n.Number), brackets(html.EscapeString(n.Games))
	if n.Undone {
		return strings.Join([]string{number, "<s>" + w.outcomeText(n.Sides, "_line", w.plainSide, games) + "</s>",
			w.Text("note.undone", nil)}, " · ")
	}
	line := []string{number}
	if n.Past {
		line = append(line, w.Text("note.past", nil))
	}
	line = append(line, w.outcomeText(n.Sides, "_line", w.ratedSide, games))
	return strings.Join(append(line, w.remarks(n)...), " · ")
}

// plainSide is namesOf with the names alone.
func (w words) plainSide(s ranking.Side) string {
	return w.namesOf(s, func(p ranking.RatingChange) string { return showName(p.Name) })
}

// ratedSide is namesOf with rating changes. For the players who are only counted, it gives the
// smallest and the largest change, or the change if it is the same for all.
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
