package ranking

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	names "elobot/internal/command"
)

const (
	// SameGameWindow is how far apart two people report the same game at most.
	SameGameWindow = 10 * time.Minute
	// RepeatWindow is how far apart one person reports the same game twice at most.
	RepeatWindow = 30 * time.Second
)

// RecentMatch is a match, with what tells whether two reports mean the same one.
type RecentMatch struct {
	Number     int
	Key        string // its idempotency key
	Changes    int    // how often it was undone, restored or fixed
	Result     Result
	PlayedAt   time.Time // when it was reported
	ReportedBy PlayerID  // 0 for an anonymous admin
	Players    [2][]PlayerID
	Twice      bool // both sides have reported it: a report that may have been another game was none
}

// isSettled is true if something is not asked about, because it was asked already, or nobody wants it to be.
func (r *recordOperation) isSettled(d Doubt) bool {
	return !r.service.settings.AskUnusual || slices.Contains(r.settled, d)
}

// unusual returns what asks about something unusual in the report, nil if there is nothing, and
// which matches wait for the answer: those with new players if one of these may be somebody else,
// and those that were reported before.
func (r *recordOperation) unusual(snap Snapshot) (ask *askOperation, waits func(match int) bool) {
	at, earlier := r.duplicates(snap)
	isRepeated := func(i int) bool { return slices.Contains(at, i) }
	waits = func(i int) bool {
		isNew := func(person int) bool { return !snap.People[person].isPlayer() }
		return isRepeated(i) || slices.ContainsFunc(r.matches[i].players, isNew)
	}
	if waiting := r.those(waits); waiting != nil {
		if q, ok := waiting.nearUsername(snap); ok {
			return waiting.ask(q), waits
		}
	}
	repeated := r.those(isRepeated)
	if repeated == nil {
		return nil, nil
	}
	readings := [][]Report{repeated.reports} // all of them are other games, or one is
	if len(repeated.reports) > 1 {
		readings = slices.AppendSeq(readings, slices.Chunk(repeated.reports, 1))
	}
	ask = repeated.ask(AmbiguousReport{Doubt: DoubtDuplicate, Readings: readings})
	ask.earlier, ask.request.Completes = earlier, repeated.completion(snap)
	for _, e := range earlier {
		ask.request.Repeats = append(ask.request.Repeats, e.Number)
	}
	return ask, isRepeated
}

// ask returns the operation that asks a question about the report. The readings name the people of the report, and perhaps others.
func (r *recordOperation) ask(q AmbiguousReport) *askOperation {
	request := reportOf(r.origin, q)
	request.Settled, request.Recorded = append(slices.Clone(r.settled), q.settles()), r.recorded
	ask, _ := r.service.newAsk(request, q, r.people)
	return ask
}

// settles returns what is not asked again once the question is answered.
func (q AmbiguousReport) settles() Doubt {
	if q.Doubt == DoubtUsername {
		return settlingUsername(q.Word)
	}
	return q.Doubt
}

// settlingUsername is what says that a new username was asked about: others may be in doubt, too.
func settlingUsername(username string) Doubt {
	return DoubtUsername + ":" + Doubt(strings.ToLower(username))
}

// isOfOtherDay reports whether a match was played on another day, as its report says.
func (r *recordOperation) isOfOtherDay(snap Snapshot) bool {
	year, month, day := r.playedAt.In(snap.Display.Zone()).Date()
	today, dated := names.Day{Month: int(month), Day: day}, names.Day{Year: year % 100, Month: int(month), Day: day}
	isOther := func(m Report) bool { return m.Day != nil && *m.Day != today && *m.Day != dated }
	return !slices.Contains(r.settled, DoubtDate) && slices.ContainsFunc(r.reports, isOther)
}

// nearUsername asks about the first new username that may mean somebody else.
func (r *recordOperation) nearUsername(snap Snapshot) (q AmbiguousReport, ok bool) {
	if r.isSettled(DoubtUsername) {
		return q, false
	}
	for i, p := range r.people {
		if p.ID != 0 || snap.People[i].isPlayer() || !r.plays(i) || r.isSettled(settlingUsername(p.Username)) {
			continue
		}
		var readings [][]Report
		for _, known := range snap.near(p.Username) {
			if other, ok := r.with(p, known); ok {
				readings = append(readings, other)
			}
		}
		if len(readings) > 0 {
			readings = append(readings, r.reports)
			return AmbiguousReport{Doubt: DoubtUsername, Word: p.Username, Readings: readings}, true
		}
	}
	return q, false
}

// maxNear is how many people a new username may mean at most.
const maxNear = 4

// near returns the people in the group whom a new username may mean.
func (s Snapshot) near(username string) []Person {
	all := slices.DeleteFunc(s.everybody(), func(p Person) bool { return !p.isNear(username) })
	return all[:min(len(all), maxNear)]
}

// with returns the reports with another person instead of a mentioned one. ok is false if the other person plays already.
func (r *recordOperation) with(mentioned, other Person) (reports []Report, ok bool) {
	for _, report := range r.reports {
		for _, side := range []*[]Person{&report.A, &report.B} {
			*side = slices.Clone(*side)
			for i, p := range *side {
				switch {
				case samePerson(p, other):
					return nil, false
				case samePerson(p, mentioned):
					(*side)[i] = other
				}
			}
		}
		reports = append(reports, report)
	}
	return reports, true
}

// duplicates returns which of the reported matches are probably the same as an earlier one, by
// their indexes, and the earlier ones. No two of them are the same as one earlier match.
func (r *recordOperation) duplicates(snap Snapshot) (at []int, earlier []EarlierReport) {
	if r.isSettled(DoubtDuplicate) {
		return nil, nil
	}
	var found []int // the numbers of the earlier matches
	// A message that is sent again ends with the last match, so its own order is that of the
	// newest.
	for i, m := range slices.Backward(r.matches) {
		other := r.duplicateOf(m, snap, found...)
		if other == nil {
			continue
		}
		found = append(found, other.Number)
		e := EarlierReport{Number: other.Number, Same: other.ReportedBy == r.reportedBy(snap)}
		if other.ReportedBy != 0 {
			e.By.Name = &Name{Player: other.ReportedBy}
		}
		if len(r.matches) > 1 {
			e.Result = &r.namedResults(snap)[i]
		}
		at, earlier = slices.Insert(at, 0, i), slices.Insert(earlier, 0, e)
	}
	return at, earlier
}

// duplicateOf returns the match that is probably the same as a reported one, apart from some, nil
// if there is none: the same players on the same sides have the same result. The same person has
// just reported it, and no other match of these players since; or somebody else has, and nobody has
// reported it again. A score is rather that of a match that has it already than one that completes a
// match.
func (r *recordOperation) duplicateOf(m reportedMatch, snap Snapshot, except ...int) *RecentMatch {
	players, ok := r.playersOf(m, snap)
	if !ok {
		return nil // somebody is new
	}
	var same *RecentMatch
	by, isLast := r.reportedBy(snap), true
	for i, other := range snap.PossibleDuplicates {
		if slices.Contains(except, other.Number) || !other.isOf(players) {
			continue
		}
		apart := r.playedAt.Sub(other.PlayedAt).Abs()
		isSame := apart <= SameGameWindow && !other.Twice
		if other.ReportedBy == by {
			isSame = apart <= RepeatWindow && isLast && m.result.HasPoints() == other.Result.HasPoints()
		}
		if isSame && other.equals(m.result, players) {
			same = cmp.Or(same, &snap.PossibleDuplicates[i])
			if m.result.HasPoints() == other.Result.HasPoints() {
				return &snap.PossibleDuplicates[i]
			}
		}
		isLast = false
	}
	return same
}

// completion returns the score that the only reported match adds to an earlier one without a score,
// nil if it adds none. A match that ended early has its games, which are no score.
func (r *recordOperation) completion(snap Snapshot) *Completion {
	m := r.matches[0]
	other := r.duplicateOf(m, snap)
	if len(r.matches) > 1 || other == nil || other.Result.HasPoints() || other.Result.Games != "" || !m.result.HasPoints() {
		return nil
	}
	result := m.result
	if players, _ := r.playersOf(m, snap); !samePlayers(players[0], other.Players[0]) {
		result = result.swapped()
	}
	c := &Completion{Number: other.Number, Key: other.Key, Changes: other.Changes, Scores: result.Sets}
	if len(c.Scores) == 0 {
		c.Scores = []Score{result.Score}
	}
	return c
}

// playersOf returns the players of the sides of a match. ok is false if one of them is new.
func (r *recordOperation) playersOf(m reportedMatch, snap Snapshot) (players [2][]PlayerID, ok bool) {
	for i, person := range m.players {
		k := snap.People[person]
		if k.Player == nil || k.New { // who is gone still has played
			return players, false
		}
		side := &players[m.sides[i]-1]
		*side = append(*side, k.Player.ID)
	}
	return players, true
}

// equals is true if two matches have the same players and the same result, possibly with the sides exchanged. The points and the sets
// matter only if both have some.
func (m RecentMatch) equals(r Result, players [2][]PlayerID) bool {
	same := func(r Result, a, b []PlayerID) bool {
		return isSame(r.Score, m.Result.Score) && (len(r.Sets) == 0 || len(m.Result.Sets) == 0 || slices.Equal(r.Sets, m.Result.Sets)) &&
			samePlayers(a, m.Players[0]) && samePlayers(b, m.Players[1])
	}
	return same(r, players[0], players[1]) || same(r.swapped(), players[1], players[0])
}

// isOf reports whether these are the sides of the match, in either order.
func (m RecentMatch) isOf(sides [2][]PlayerID) bool {
	return samePlayers(sides[0], m.Players[0]) && samePlayers(sides[1], m.Players[1]) ||
		samePlayers(sides[0], m.Players[1]) && samePlayers(sides[1], m.Players[0])
}

// samePlayers is true if two sides have the same players, in any order.
func samePlayers(a, b []PlayerID) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// isNear reports whether a new username may mean a known person: it is a former username or the
// name of the person, the beginning of the username, or a slip of the username or the name.
func (p Person) isNear(username string) bool {
	return slices.Contains(strings.Fields(p.Former), strings.ToLower(username)) || names.IsNameOf(username, p.Name) ||
		isSlip(username, p.Username) || isSlip(username, p.Name) || len(username) >= 4 && beginsUsername(username, p.Username)
}

// beginsUsername is true if a username is what stands before a "_" or a digit in another one, as in @dima and @dima_sokol.
func beginsUsername(username, other string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(other), strings.ToLower(username))
	return ok && rest != "" && !unicode.IsLetter(rune(rest[0]))
}

// isSlip reports whether a username may be a name mistyped: one letter of it is wrong, or two of
// seven and more. A replaced letter makes another name of one with three letters, and so does a
// digit of any: @tim is not @tom, and player1 not player2.
func isSlip(username, name string) bool {
	username, name = strings.ToLower(username), strings.ToLower(name)
	typed, known := []rune(username), []rune(name)
	limit := 1
	if min(len(typed), len(known)) >= 7 {
		limit = 2
	}
	if len(known) < 3 || digits(username) != digits(name) || names.Distance(typed, known, limit) > limit {
		return false
	}
	slices.Sort(typed)
	slices.Sort(known)
	return len(known) > 3 || len(typed) != len(known) || slices.Equal(typed, known)
}

// digits returns the digits in a text.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
