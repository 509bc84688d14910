package bot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/ranking"
)

// A match has up to twenty players. Their names, each repeated several times, would not fit into one message.
const (
	// A side with up to maxSideNames players is listed in full. Of a larger one, the first shortSideNames players are
	// listed, with the number of others.
	maxSideNames   = 4
	shortSideNames = 2
	// maxNewNames is how many new players are named; if there are more, they are only counted.
	maxNewNames = 8
	// maxNumbers is how many match numbers are listed.
	maxNumbers = 10
)

func (english) matchRecorded(n ranking.MatchRecorded) string {
	if n.Undone {
		return "<s>" + outcome(n.Sides, n.Sets) + "</s>\n" + notes(fmt.Sprintf("Match #%d", n.Number), undoneBy(n))
	}
	var b strings.Builder
	b.WriteString(outcome(n.Sides, n.Sets) + "\n")
	for _, side := range n.Sides {
		writeRatings(&b, side.Players)
	}
	all := []string{fmt.Sprintf("Match #%d", n.Number)}
	switch count := len(n.NewPlayers); {
	case count == 0:
	case count == 1:
		all = append(all, "new player: "+showName(n.NewPlayers[0]))
	case count <= maxNewNames:
		all = append(all, "new players: "+nameList(n.NewPlayers))
	default:
		all = append(all, fmt.Sprintf("%d new players", count))
	}
	if n.ReportedBy != nil {
		all = append(all, "reported"+by(*n.ReportedBy))
	}
	if n.Was != nil {
		all = append(all, correctedFrom(n))
	}
	b.WriteString(notes(all...))
	return b.String()
}

// undoneBy says who or what undid a match.
func undoneBy(n ranking.MatchRecorded) string {
	switch {
	case n.UndoneBy != nil:
		return "undone" + by(*n.UndoneBy)
	case len(n.Sides[0].Players)+len(n.Sides[1].Players) == 2:
		return "undone: both players are the same person"
	default:
		return "undone: two of the players are the same person"
	}
}

// correctedFrom says what the score was before the fix.
func correctedFrom(n ranking.MatchRecorded) string {
	if n.Was.Score == scoreOf(n.Sides) {
		return "sets corrected"
	}
	return "corrected from " + showScore(n.Was.Score)
}

func (english) matchUndone(n ranking.MatchUndone) string {
	return fmt.Sprintf("Match #%d undone: %s %s %s%s no longer counts.\n", n.Number,
		sideNames(n.Sides[0]), showScore(scoreOf(n.Sides)), sideNames(n.Sides[1]), brackets(showSets(n.Sets))) +
		movements(n.Moved) + notes("undone"+by(n.By))
}

func (english) matchRestored(n ranking.MatchRestored) string {
	return fmt.Sprintf("Match #%d restored: %s %s %s%s counts again.\n", n.Number,
		sideNames(n.Sides[0]), showScore(scoreOf(n.Sides)), sideNames(n.Sides[1]), brackets(showSets(n.Sets))) +
		movements(n.Moved) + notes("restored"+by(n.By))
}

// undoPrompt asks an admin whether to undo a match of other people.
func (english) undoPrompt(n ranking.UndoPrompt) string {
	ask := "Undo"
	if n.Asked.Name != nil {
		ask = showName(*n.Asked.Name) + ", undo"
	}
	return fmt.Sprintf("%s match #%d? %s.", ask, n.Number, outcome(n.Sides, n.Sets))
}

func (english) undoDropped(n ranking.UndoDropped) string {
	if n.By == nil {
		return fmt.Sprintf("Nobody answered in time whether to undo match #%d.", n.Number)
	}
	return fmt.Sprintf("The undo of match #%d was cancelled%s.", n.Number, by(*n.By))
}

func (english) matchFixed(n ranking.MatchFixed) string {
	was := showScore(n.Was.Score)
	switch {
	case n.Was.Score != scoreOf(n.Sides):
	case len(n.Was.Sets) == 0:
		was += " without sets"
	default:
		was = showSets(n.Was.Sets)
	}
	return fmt.Sprintf("Match #%d corrected: %s\n", n.Number, outcome(n.Sides, n.Sets, "was "+was)) +
		movements(n.Moved) + notes("corrected"+by(n.By))
}

func (english) playersMerged(n ranking.PlayersMerged) string {
	return strings.TrimSuffix(strings.Join(append(mergedPlayers(n), movements(n.Moved)), "\n"), "\n")
}

// mergedPlayers says which two players turned out to be one, and which matches were undone for that.
func mergedPlayers(n ranking.PlayersMerged) []string {
	sentences := []string{
		fmt.Sprintf("%s is <b>%s</b>: their results now count together.", showText("@"+n.Username), showName(n.Name)),
	}
	switch shown := numberList(n.Undone); len(n.Undone) {
	case 0:
	case 1:
		sentences = append(sentences, fmt.Sprintf("Match %s undone: nobody can play twice in one match.", shown))
	default:
		sentences = append(sentences, fmt.Sprintf("Matches %s undone: nobody can play twice in one match.", shown))
	}
	return sentences
}

func (english) groupsMerged(n ranking.GroupsMerged) string {
	numbers := fmt.Sprintf("match #1 is now #%d.", n.First)
	if n.Count > 1 {
		numbers = fmt.Sprintf("matches #1–#%d are now #%d–#%d.", n.Count, n.First, n.First+n.Count-1)
	}
	return "Telegram gave this group a new ID. Matches from before and after now count together: " + numbers
}

// outcome says who won, with the score, and in brackets the sets and more.
func outcome(sides [2]ranking.Side, sets []ranking.SetScore, more ...string) string {
	return versus(sides, sideNames) + " " + showScore(scoreOf(sides)) + brackets(append([]string{showSets(sets)}, more...)...)
}

// versus says which side won.
func versus(sides [2]ranking.Side, show func(ranking.Side) string) string {
	verb := "%s beat %s"
	switch {
	case sides[0].Score == sides[1].Score:
		verb = "%s and %s drew"
	case sides[0].Score < sides[1].Score: // only after a fix: the order of a card does not change
		verb = "%s lost to %s"
	}
	return fmt.Sprintf(verb, show(sides[0]), show(sides[1]))
}

func scoreOf(sides [2]ranking.Side) [2]int { return [2]int{sides[0].Score, sides[1].Score} }

func showScore(score [2]int) string { return fmt.Sprintf("%d:%d", score[0], score[1]) }

// brackets returns the non-empty texts in brackets, or an empty string.
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

// sideNames returns the players of a side in bold.
func sideNames(s ranking.Side) string {
	return namesOf(s, func(p ranking.RatingChange) string { return "<b>" + showName(p.Name) + "</b>" })
}

// namesOf returns the players of a side as show renders them, or the first of them and the number of the others.
func namesOf(s ranking.Side, show func(ranking.RatingChange) string) string {
	players, others := s.Players, ""
	if len(players) > maxSideNames {
		players, others = players[:shortSideNames], fmt.Sprintf(" &amp; %d others", len(players)-shortSideNames)
	}
	names := make([]string, len(players))
	for i, p := range players {
		names[i] = show(p)
	}
	return strings.Join(names, " &amp; ") + others
}

const noRatingsChanged = "No ratings changed."

// movements returns the rating changes, one per line.
func movements(m ranking.Moved) string {
	if isUnchanged(m) {
		return noRatingsChanged + "\n"
	}
	var b strings.Builder
	writeRatings(&b, m.Ratings)
	if m.Others > 0 {
		b.WriteString(andOthers(m.Others) + "\n")
	}
	return b.String()
}

// isUnchanged reports whether no rating has changed.
func isUnchanged(m ranking.Moved) bool {
	changed := func(r ranking.RatingChange) bool { return r.Before != r.After }
	return m.Others == 0 && !slices.ContainsFunc(m.Ratings, changed)
}

func andOthers(count int) string {
	if count == 1 {
		return "and 1 other"
	}
	return fmt.Sprintf("and %d others", count)
}

func writeRatings(b *strings.Builder, ratings []ranking.RatingChange) {
	for _, r := range ratings {
		b.WriteString(movement(r) + "\n")
	}
}

func movement(r ranking.RatingChange) string {
	return fmt.Sprintf("%s %s → %d", showName(r.Name), signed(r.After-r.Before), r.After)
}

// signed formats a change with its sign. The minus is the typographic one.
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

// by says who did something. A reporter without a name is an admin who writes as the group.
func by(r ranking.Reporter) string {
	if r.Name == nil {
		return " by an admin"
	}
	return " by " + showName(*r.Name)
}

// notes returns the remarks at the end of a message.
func notes(all ...string) string { return "<i>" + strings.Join(all, " · ") + "</i>" }

func nameList(names []ranking.Name) string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = showName(n)
	}
	return strings.Join(shown, ", ")
}

// numberList lists match numbers: all of them, or the first maxNumbers and the number of others.
func numberList(numbers []int) string {
	var shown []string
	for _, n := range numbers[:min(len(numbers), maxNumbers)] {
		shown = append(shown, fmt.Sprintf("#%d", n))
	}
	last := len(shown) - 1
	switch more := len(numbers) - len(shown); {
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), more)
	case last > 0:
		return strings.Join(shown[:last], ", ") + " and " + shown[last]
	default:
		return strings.Join(shown, "")
	}
}
