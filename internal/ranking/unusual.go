package ranking

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

const (
	// SameGameWindow is the longest time between two reports by different people that may mean the
	// same game.
	SameGameWindow = 10 * time.Minute
	// RepeatWindow is the longest time between two reports by the same person that may mean the
	// same game.
	RepeatWindow = 30 * time.Second
)

// RecentMatch is a match, with the facts that show whether another report means the same match.
type RecentMatch struct {
	Number  int
	Key     string // its idempotency key
	Changes int    // how often the match was amended, or undone by a merge
	Result  ladder.Result
	// PlayedAt is when the match was reported or, if it was played on an earlier day, the last
	// instant of that day.
	PlayedAt time.Time
	// ReportedAt is when the match was reported. For a match of an earlier day, it is when the
	// match was recorded, which may be later.
	ReportedAt time.Time
	ReportedBy ladder.PlayerID // 0 for an anonymous admin
	Players    [2][]ladder.PlayerID
	StandIns   [2]int // as in ladder.Match, not read for PossibleDuplicates
	// Twice is set if another report has turned out to be about this match: the prompt about that
	// report was canceled, or the report's score was added to this match. A further report is then
	// probably about another game.
	Twice bool
}

// isOfOtherDay reports whether the match was played on a day before the report.
func (m RecentMatch) isOfOtherDay() bool { return m.ReportedAt.After(m.PlayedAt) }

// isImported reports whether the match is of an import. Its number says nothing about when it was
// played.
func (m RecentMatch) isImported() bool { return strings.HasPrefix(m.Key, ImportKey) }

// isEven reports whether the sides have the same size, including the stand-ins.
func (m RecentMatch) isEven() bool {
	return len(m.Players[0])+m.StandIns[0] == len(m.Players[1])+m.StandIns[1]
}

// isSettled reports whether the bot has asked about a doubt already, or the settings disable such
// questions. In both cases, the bot must not ask.
func (r *recordOperation) isSettled(d command.Doubt) bool {
	return !r.service.settings.AskUnusual || slices.Contains(r.settled, d)
}

// unusual returns the operation that asks about something unusual in the report, nil if nothing is
// unusual. waits reports whether a match, given by its index, waits for the answer. If the doubt is
// about a username, the matches with new players and the duplicates wait. Otherwise, only the
// duplicates wait.
func (r *recordOperation) unusual(snap *Snapshot) (ask *askOperation, waits func(match int) bool) {
	at, earlier := r.duplicates(snap)
	isRepeated := func(i int) bool { return slices.Contains(at, i) }
	waits = func(i int) bool {
		isNew := func(person int) bool { return !snap.People[person].IsPlayer() }
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
	// Offer to record all of the duplicates, or only one of them.
	readings := []command.Reading{repeated.reports}
	if len(repeated.reports) > 1 {
		for _, one := range repeated.reports {
			readings = append(readings, command.Reading{one})
		}
	}
	ask = repeated.ask(command.Report{Doubt: DoubtDuplicate, Readings: readings})
	ask.earlier, ask.request.Completes = earlier, repeated.completion(snap)
	for _, e := range earlier {
		ask.request.Repeats = append(ask.request.Repeats, e.Number)
	}
	return ask, isRepeated
}

// ask returns the operation that asks a question about the report. The readings of q may contain
// people who are not in the report.
func (r *recordOperation) ask(q command.Report) *askOperation {
	ask, _ := r.service.newAsk(r.message, q, r.people)
	ask.request.Settled, ask.request.Recorded = append(slices.Clone(r.settled), settles(q)), r.recorded
	return ask
}

// settles returns the doubt that is not raised again once the question q is answered. A doubt about
// a username covers only that username.
func settles(q command.Report) command.Doubt {
	if q.Doubt == DoubtUsername {
		return DoubtUsername + ":" + command.Doubt(strings.ToLower(q.Word))
	}
	return q.Doubt
}

// nearUsername returns the question about the first new username that may mean an existing player.
// ok is false if there is none.
func (r *recordOperation) nearUsername(snap *Snapshot) (q command.Report, ok bool) {
	if r.isSettled(DoubtUsername) {
		return q, false
	}
	for i, p := range r.people {
		q = command.Report{Doubt: DoubtUsername, Word: p.Username}
		if p.ID != 0 || snap.People[i].IsPlayer() || !r.plays(i) || r.isSettled(settles(q)) {
			continue
		}
		for _, known := range snap.near(p.Username) {
			if other, ok := r.with(p, known); ok {
				q.Readings = append(q.Readings, other)
			}
		}
		if len(q.Readings) > 0 {
			q.Readings = append(q.Readings, r.reports)
			return q, true
		}
	}
	return q, false
}

// maxNear is the maximum number of people that the bot offers for a new username.
const maxNear = 4

// near returns members of the group's ladders that a new username may mean, at most maxNear.
func (s *Snapshot) near(username string) []command.Person {
	all := slices.DeleteFunc(s.everybody(), func(p command.Person) bool { return !isNear(p, username) })
	return all[:min(len(all), maxNear)]
}

// with returns the reports with the person other in place of the person mentioned. ok is false if
// other already plays in one of them.
func (r *recordOperation) with(mentioned, other command.Person) (reports []command.Match, ok bool) {
	for _, report := range r.reports {
		for _, side := range []*[]command.Person{&report.A, &report.B} {
			*side = slices.Clone(*side)
			for i, p := range *side {
				switch {
				case p.IsSame(other):
					return nil, false
				case p.IsSame(mentioned):
					(*side)[i] = other
				}
			}
		}
		reports = append(reports, report)
	}
	return reports, true
}

// duplicates returns the indexes of the reported matches that are probably duplicates, and the
// earlier match of each. No two duplicates share an earlier match.
func (r *recordOperation) duplicates(snap *Snapshot) (at []int, earlier []EarlierReport) {
	if r.isSettled(DoubtDuplicate) {
		return nil, nil
	}
	// The last reported match is the newest, so compare from the end.
	for i, m := range slices.Backward(r.matches) {
		other, _ := r.duplicateOf(m, snap, earlier)
		if other == nil {
			continue
		}
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

// duplicateOf returns the earlier match that is probably the same game as a reported one, nil if
// there is none. It ignores the matches in except. The two matches must have the same sides, and
// results that may be the same. If one person reported both, the reports must be at most
// RepeatWindow apart, the earlier match must be the newest of these sides, and both or neither must
// have a score. If two people reported them, the reports must be at most SameGameWindow apart, and
// the earlier match must not be Twice. A report with a score duplicates a match with that score
// rather than one without a score. result is the reported result in the order of the earlier match.
func (r *recordOperation) duplicateOf(
	m reportedMatch, snap *Snapshot, except []EarlierReport,
) (same *RecentMatch, result ladder.Result) {
	by, isLast := r.reportedBy(snap), true
	for i, other := range snap.PossibleDuplicates {
		reported, _, ok := m.inOrderOf(other.Players, snap)
		isOther := func(e EarlierReport) bool { return e.Number == other.Number }
		if !ok || slices.ContainsFunc(except, isOther) {
			continue
		}
		apart, isAlike := r.message.SentAt.Sub(other.PlayedAt).Abs(), m.result.HasPoints() == other.Result.HasPoints()
		if snap.isOfOtherDay() { // both matches are of that day
			apart = 0
		}
		isSame := apart <= SameGameWindow && !other.Twice
		if other.ReportedBy == by {
			isSame = apart <= RepeatWindow && isLast && isAlike
		}
		if isSame && reported.IsSame(other.Result) && (same == nil || isAlike) {
			same, result = &snap.PossibleDuplicates[i], reported
			if isAlike {
				return same, result
			}
		}
		isLast = false
	}
	return same, result
}

// completion returns the score that the only reported match adds to an earlier match without a
// score. It returns nil if there is no such match, or if several matches are reported. A match that
// ended early has Games and never gets a score.
func (r *recordOperation) completion(snap *Snapshot) *Completion {
	other, result := r.duplicateOf(r.matches[0], snap, nil)
	if len(r.matches) > 1 || !result.HasPoints() ||
		other == nil || other.Result.HasPoints() || other.Result.Games != "" {
		return nil
	}
	c := &Completion{Number: other.Number, Key: other.Key, Changes: other.Changes, Scores: result.Sets}
	if len(c.Scores) == 0 {
		c.Scores = []ladder.Score{result.Score}
	}
	return c
}

// inOrderOf returns the result of a reported match in the order of a recorded match with these
// sides. exchanged reports whether the report has the opposite order. ok is false if the two
// matches have different sides.
func (m reportedMatch) inOrderOf(
	sides [2][]ladder.PlayerID, snap *Snapshot,
) (result ladder.Result, exchanged, ok bool) {
	// Test for a player rather than IsPlayer: players who are Gone may have played the recorded
	// match.
	isNew := func(person int) bool { return snap.People[person].Player == nil }
	players := m.playerIDs(snap)
	switch {
	case slices.ContainsFunc(m.players, isNew):
		return result, false, false
	case samePlayers(players[0], sides[0]) && samePlayers(players[1], sides[1]):
		return m.result, false, true
	default:
		return m.result.Swapped(), true, samePlayers(players[0], sides[1]) && samePlayers(players[1], sides[0])
	}
}

func samePlayers(a, b []ladder.PlayerID) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// isNear reports whether a new username may mean the person p. The username may be a former
// username of p, one of p's names, or a mistyped form of p's username or of a name. A username of
// at least four characters may also be the part of p's username before a "_" or a digit.
func isNear(p command.Person, username string) bool {
	return slices.Contains(strings.Fields(p.Former), strings.ToLower(username)) || p.IsCalled(username) ||
		isSlip(username, p.Username) || isSlip(username, p.Name) || isSlip(username, p.Shown) ||
		len(username) >= 4 && beginsUsername(username, p.Username)
}

// beginsUsername reports whether a username is the part of another one before a "_" or a digit, as
// in @dima and @dima_sokol.
func beginsUsername(username, other string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(other), strings.ToLower(username))
	return ok && rest != "" && !unicode.IsLetter(rune(rest[0]))
}

var notDigits = regexp.MustCompile(`\P{Nd}+`)

// isSlip reports whether a username may be a mistyped name. One letter may be wrong, or two if the
// username and the name have at least seven letters each. A name of fewer than three letters is
// never mistyped. In a name of three letters, a replaced letter makes another name: @tim is not
// @tom. In a name of any length, a different digit makes another name: player1 is not player2.
func isSlip(username, name string) bool {
	username, name = strings.ToLower(username), strings.ToLower(name)
	typed, known := []rune(username), []rune(name)
	limit := 1
	if min(len(typed), len(known)) >= 7 {
		limit = 2
	}
	hasOtherDigits := notDigits.ReplaceAllString(username, "") != notDigits.ReplaceAllString(name, "")
	if len(known) < 3 || hasOtherDigits || command.Distance(typed, known, limit) > limit {
		return false
	}
	slices.Sort(typed)
	slices.Sort(known)
	return len(known) > 3 || len(typed) != len(known) || slices.Equal(typed, known)
}
