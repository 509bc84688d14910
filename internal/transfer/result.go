package transfer

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"elobot/internal/ladder"
)

// ending is how a match ended, according to a cell. If cells have different endings, the highest
// value counts.
type ending int

const (
	nothing   ending = iota // the cell is empty
	unplayed                // the match was not played
	final                   // the cell has a score
	early                   // one side gave up during the match, so the score does not tell who won
	forfeited               // one side won without playing
)

// endings maps the words that replace a score, or follow it, to what they mean. A word for a
// forfeited match that follows a score means that the match ended early.
var endings = map[string]ending{
	"na": unplayed, "n/a": unplayed, "*": unplayed,
	"aet": final, "ot": final, "n.v": final, // after extra time
	"ret": early, "retired": early, "ret'd": early, "rtd": early, "aufg": early,
	"w/o": forfeited, "wo": forfeited, "walkover": forfeited,
	"def": forfeited, "default": forfeited, "forfeit": forfeited,
}

// winners maps words in the column of winners to the side that won, "A" or "B", or to "=" for a
// draw.
var winners = map[string]string{
	"a": "A", "home": "A", "h": "A", "1": "A", "b": "B", "away": "B", "2": "B",
	"draw": "=", "d": "=", "tie": "=", "unentschieden": "=", "remis": "=", "empate": "=",
	"ничья": "=", "нічия": "=",
}

var outcomes = map[string]ladder.Score{"A": ladder.Win, "B": ladder.Loss, "=": ladder.Draw}

// claim is what a cell, or the two cells with the points of the sides, says about the score.
type claim struct {
	role  string
	how   ending
	score ladder.Score   // of the match
	sets  []ladder.Score // nil if the cell has only the score of the match
	games string         // the score as written, for a match that ended early
}

// setsWon counts the sets that each side has won.
func setsWon(sets []ladder.Score) ladder.Score {
	return ladder.ResultOf(append(slices.Clip(sets), ladder.Score{})).Score // 0:0 counts for neither
}

// result reads who won the match, and its score. reason says why the match does not count, and is
// empty if it was played. If result refuses the row, r has no meaning.
func (s *sheet) result(sides [2][]string) (r ladder.Result, reason Reason) {
	refused := len(s.Refused)
	claims := []claim{s.scores("sets"), s.scores("score"), s.pair()}
	how := max(claims[0].how, claims[1].how, claims[2].how)
	if how == forfeited {
		return r, Walkover
	}
	winner := s.winner(sides)
	switch isRefused := len(s.Refused) > refused; {
	case isRefused:
		return r, ""
	case how == unplayed, how == nothing && winner == "":
		return r, NotPlayed
	case how == nothing:
		return ladder.Result{Score: outcomes[winner]}, ""
	case how == early && (winner == "" || winner == "="):
		_ = s.refuse("score", NoWinner, cmp.Or(s.cell("score"), s.cell("sets")))
		return r, ""
	case how == early:
		return ladder.Result{Score: outcomes[winner], Games: cmp.Or(claims[0].games, claims[1].games)}, ""
	}
	claims = slices.DeleteFunc(claims, func(c claim) bool { return c.how != final })
	first := claims[0]
	r = ladder.Result{Score: first.score, Sets: first.sets}
	for _, c := range claims[1:] {
		if c.score != first.score || c.sets != nil && !slices.Equal(c.sets, first.sets) {
			s.refuse(first.role, Contradiction, s.cell(first.role)).Against = c.score.String()
		}
	}
	if len(r.Sets) == 1 { // a single "set" is the score of the match, unless that has a column too
		r.Sets = nil
		if len(claims) == 1 {
			r.Score = first.sets[0]
		}
	}
	if winner != "" && winner != "B=A"[cmp.Compare(r.A, r.B)+1:][:1] {
		s.refuse("winner", Contradiction, s.cell("winner")).Against = r.Score.String()
	}
	return r, ""
}

// winner returns the side that has won according to the column of winners, as "A", "B" or "=" for a
// draw. It returns an empty string if the cell is empty or says that the match was not played. If
// the cell is unclear, winner refuses the row.
func (s *sheet) winner(sides [2][]string) string {
	cell := s.cell("winner")
	word := strings.ToLower(cell)
	switch {
	case s.isWon && cell != "":
		return "A"
	case cell == "" || endings[word] == unplayed:
		return ""
	}
	found := winners[word]
	if s.isAway && word == "a" {
		found = "B"
	}
	for i, side := range sides {
		name := "AB"[i : i+1]
		if letters(strings.Join(side, " ")) == letters(cell) && found != name {
			found += name
		}
	}
	if len(found) != 1 {
		_ = s.refuse("winner", UnclearWinner, cell)
	}
	return found
}

// pair reads the columns score_a and score_b, with the points of each side. It refuses the row if
// only one of them has points.
func (s *sheet) pair() claim {
	c := claim{role: "score_a"}
	points := [2]int{-1, -1}
	roles := []string{"score_a", "score_b"}
	for i, role := range roles {
		cell := s.cell(role)
		if cell == "" || endings[strings.ToLower(cell)] == unplayed {
			c.how = max(c.how, endings[strings.ToLower(cell)])
		} else if points[i] = number(cell, maxDigits); points[i] < 0 {
			_ = s.refuse(role, BadScore, cell)
			return c
		}
	}
	missing := slices.Index(points[:], -1)
	switch c.score = (ladder.Score{A: points[0], B: points[1]}); {
	case missing < 0:
		c.how = final
	case points[1-missing] >= 0:
		_ = s.refuse(roles[missing], HalfScore, s.cell(roles[1-missing]))
	}
	return c
}

// maxDigits is the maximum number of digits in a number of a score.
const maxDigits = 3

// number returns the value of a whole number without a sign. It returns -1 for any other text, and
// for a number with more than the given digits.
func number(text string, digits int) int {
	if text == "" || len(text) > digits || strings.Trim(text, "0123456789") != "" {
		return -1
	}
	n, _ := strconv.Atoi(text)
	return n
}

var (
	spaces = strings.NewReplacer("&nbsp;", " ", " (", "(")
	commas = strings.NewReplacer("/", ",", ";", ",")
	dashes = regexp.MustCompile(`(\d)\s*[-–—−:]\s*(\d)`)
	// oneSet matches the score of a set such as 7:6. It allows :00 after the score, because some
	// spreadsheets turn a score into a time with seconds, and the points of a tie-break in
	// parentheses, as in 7:6(5). Square brackets contain the score of a tie-break.
	oneSet = regexp.MustCompile(`^(?:(\d{1,3}):(\d{1,3})(?::00)?(\(\d\d?\))?|\[(\d{1,3}):(\d{1,3})\])$`)
)

// scores reads the column of a role, "score" or "sets". Either column may contain the score of the
// match or the scores of its sets. If the cell is unreadable, scores refuses the row.
func (s *sheet) scores(role string) claim {
	cell, c := s.cell(role), claim{role: role}
	words := strings.Fields(strings.ToLower(spaces.Replace(cell)))
	if len(words) == 0 {
		return c
	}
	ending, isWord := endings[strings.Trim(words[len(words)-1], ".")]
	if isWord {
		words = words[:len(words)-1]
	}
	c.games = strings.Join(words, " ")
	sets, ok := readSets(c.games)
	switch {
	case isWord && ending != final && len(words) == 0:
		c.how = ending
	case !ok || ending == unplayed:
		f := s.refuse(role, BadScore, cell)
		if f.Likely = likelyScores(cell); f.Likely != nil {
			f.Reason = ScoreIsDate
		}
	case isWord && ending != final:
		c.how = early
	case role == "score" && len(sets) == 1:
		c.how, c.score = final, sets[0]
	default:
		c.how, c.score, c.sets = final, setsWon(sets), sets
	}
	return c
}

// readSets reads scores, such as "6-4 / 7-5", or "6,7|4,5" with the points of each side together.
// ok is false for any other text.
func readSets(text string) (sets []ladder.Score, ok bool) {
	if first, second, isBySide := strings.Cut(text, "|"); isBySide {
		a, b := strings.Split(first, ","), strings.Split(second, ",")
		if len(a) != len(b) {
			return nil, false
		}
		for i := range a {
			a[i] = strings.TrimSpace(a[i]) + ":" + strings.TrimSpace(b[i])
		}
		text = strings.Join(a, ",")
	}
	text = commas.Replace(dashes.ReplaceAllString(text, "$1:$2"))
	canHaveTieBreak := false // whether a tie-break in square brackets may follow the last set
	for part := range strings.SplitSeq(text, ",") {
		for _, word := range strings.Fields(part) {
			m := oneSet.FindStringSubmatch(word)
			if m == nil || len(sets) == MaxSets {
				return nil, false
			}
			set := ladder.Score{A: number(m[1]+m[4], maxDigits), B: number(m[2]+m[5], maxDigits)}
			if m[4] != "" && canHaveTieBreak {
				if set.Most() >= 10 { // it may also be a deciding set
					return nil, false
				}
				canHaveTieBreak = false
				continue
			}
			canHaveTieBreak = m[3] == "" && (set == ladder.Score{A: 7, B: 6} || set == ladder.Score{A: 6, B: 7})
			sets = append(sets, set)
		}
		if strings.TrimSpace(part) == "" { // a set is missing
			return nil, false
		}
	}
	return sets, true
}

// likelyScores returns the scores that a spreadsheet may have turned into the date in a cell, or
// nil if the cell is not a date.
func likelyScores(cell string) []ladder.Score {
	for _, layout := range []string{"Jan-06", "2-Jan", "2-Jan-06", "2006-1-2", "1/2/2006", "2/1/2006", "2.1.2006"} {
		if t, err := time.Parse(layout, cell); err == nil {
			a, b := int(t.Month()), t.Day()
			if layout == "Jan-06" {
				b = t.Year() % 100
			}
			return []ladder.Score{{A: a, B: b}, {A: b, B: a}}
		}
	}
	return nil
}
