package bot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/ranking"
)

// A match has up to twenty players, and the names of all of them, each several times, would not fit into one message.
const (
	// maxSideNames is how many players a side may have to be named in full; a larger one is its first shortSideNames
	// and the number of others.
	maxSideNames   = 4
	shortSideNames = 2
	// maxNewNames is how many new players are named; more are counted.
	maxNewNames = 8
	// maxNumbers is how many numbers of matches are told.
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

// undoneBy says why a match does not count.
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

// correctedFrom says what the score was before.
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
	return strings.TrimSuffix(strings.Join(append(whoIsWho(n), movements(n.Moved)), "\n"), "\n")
}

// whoIsWho says who turned out to be whom, and which matches do not count for it.
func whoIsWho(n ranking.PlayersMerged) []string {
	said := []string{fmt.Sprintf("%s is <b>%s</b>: their results now count together.", showText("@"+n.Username), showName(n.Name))}
	switch shown := numberList(n.Undone); len(n.Undone) {
	case 0:
	case 1:
		said = append(said, fmt.Sprintf("Match %s undone: nobody can play twice in one match.", shown))
	default:
		said = append(said, fmt.Sprintf("Matches %s undone: nobody can play twice in one match.", shown))
	}
	return said
}

func (english) groupsJoined(n ranking.GroupsJoined) string {
	numbers := fmt.Sprintf("match #1 is now #%d.", n.First)
	if n.Count > 1 {
		numbers = fmt.Sprintf("matches #1–#%d are now #%d–#%d.", n.Count, n.First, n.First+n.Count-1)
	}
	return "Telegram gave this group a new ID. Matches from before and after now count together: " + numbers
}

// outcome says who beat whom, with the score, the sets and what else there is to be said of it.
func outcome(sides [2]ranking.Side, sets []ranking.SetScore, more ...string) string {
	return versus(sides, sideNames) + " " + showScore(scoreOf(sides)) + brackets(append([]string{showSets(sets)}, more...)...)
}

// versus says who beat whom.
func versus(sides [2]ranking.Side, show func(ranking.Side) string) string {
	verb := "%s beat %s"
	switch {
	case sides[0].Score == sides[1].Score:
		verb = "%s and %s drew"
	case sides[0].Score < sides[1].Score: // corrected: the order of a card does not change
		verb = "%s lost to %s"
	}
	return fmt.Sprintf(verb, show(sides[0]), show(sides[1]))
}

func scoreOf(sides [2]ranking.Side) [2]int { return [2]int{sides[0].Score, sides[1].Score} }

func showScore(score [2]int) string { return fmt.Sprintf("%d:%d", score[0], score[1]) }

// brackets returns in brackets what there is of these.
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

// namesOf returns the players of a side, each shown in this way, or the first of them and the number of the others.
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

const nobodyMoved = "No ratings changed."

// movements says how ratings have moved, each in a line of its own.
func movements(m ranking.Moved) string {
	if still(m) {
		return nobodyMoved + "\n"
	}
	var b strings.Builder
	writeRatings(&b, m.Ratings)
	if m.Others > 0 {
		b.WriteString(andOthers(m.Others) + "\n")
	}
	return b.String()
}

// still says that no rating has moved.
func still(m ranking.Moved) bool {
	moves := func(r ranking.RatingChange) bool { return r.Before != r.After }
	return m.Others == 0 && !slices.ContainsFunc(m.Ratings, moves)
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

// signed writes a change with its sign, a real minus.
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

// by says who has done something. Without a name it was an admin who writes as the group.
func by(r ranking.Reporter) string {
	if r.Name == nil {
		return " by an admin"
	}
	return " by " + showName(*r.Name)
}

// notes returns what is said in passing, at the end of a message.
func notes(all ...string) string { return "<i>" + strings.Join(all, " · ") + "</i>" }

func nameList(names []ranking.Name) string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = showName(n)
	}
	return strings.Join(shown, ", ")
}

// numberList returns the numbers of matches, the first of them if there are many.
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
