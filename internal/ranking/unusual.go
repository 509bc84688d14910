package ranking

import (
	"context"
	"slices"
	"strings"
	"time"
)

const (
	// sameGameWindow is how far apart two people report the same game at most.
	sameGameWindow = 10 * time.Minute
	// repeatWindow is how far apart one person reports the same game twice at most.
	repeatWindow = 30 * time.Second
)

// EqualResults asks for the matches that may be the same as reported ones: with one of the scores, in either order, and reported
// at most sameGameWindow before or after a time.
type EqualResults struct {
	At     time.Time // zero for none
	Window time.Duration
	Scores []Score
}

// RecentMatch is a match that counts, with what tells whether two reports mean the same one.
type RecentMatch struct {
	Number     int
	Result     Result
	PlayedAt   time.Time // when it was reported
	ReportedBy PlayerID  // 0 for an anonymous admin
	Players    [2][]PlayerID
}

// doubtful is an operation that may have to ask before it does anything.
type doubtful interface {
	// asksFirst reports whether it asks about somebody who is no player yet, so that no player may be added.
	asksFirst(Snapshot) bool
}

// equalResults returns what to look for to find duplicates.
func (r *recordOperation) equalResults() EqualResults {
	if r.isSettled(DoubtDuplicate) {
		return EqualResults{}
	}
	q := EqualResults{At: r.playedAt, Window: sameGameWindow}
	for _, m := range r.matches {
		q.Scores = append(q.Scores, m.result.Score)
	}
	return q
}

// isSettled reports whether something is not asked about, because it was asked already, or nobody wants it to be.
func (r *recordOperation) isSettled(d Doubt) bool {
	return !r.service.settings.AskUnusual || slices.Contains(r.settled, d)
}

// readNear reads who plays in the group, if somebody is mentioned who does not.
func (r *recordOperation) readNear(ctx context.Context, store Store, snap Snapshot) (err error) {
	r.known = nil
	if r.isSettled(DoubtUsername) || !slices.ContainsFunc(r.matches, func(m reportedMatch) bool {
		return slices.ContainsFunc(m.players, func(i int) bool { return r.isNew(i, snap) })
	}) {
		return nil
	}
	r.known, err = store.PeopleOf(ctx, r.origin.Chat.ID)
	return err
}

// isNew reports whether a person is only mentioned, and not known.
func (r *recordOperation) isNew(person int, snap Snapshot) bool {
	return r.people[person].ID == 0 && snap.People[person].Player == nil
}

// asksFirst implements doubtful.
func (r *recordOperation) asksFirst(snap Snapshot) bool { return r.unusual(snap) != nil }

// unusual returns the question about what is readable, but hardly meant; nil if there is none.
func (r *recordOperation) unusual(snap Snapshot) *askOperation {
	if q, ok := r.nearUsername(snap); ok {
		return r.ask(q)
	}
	if earlier := r.duplicates(snap); len(earlier) > 0 {
		ask := r.ask(Question{Doubt: DoubtDuplicate, Readings: [][]Report{r.reports}})
		ask.earlier = earlier
		return ask
	}
	return nil
}

// ask returns the operation that asks a question about the report. The readings name the people of the report, and perhaps
// further ones.
func (r *recordOperation) ask(q Question) *askOperation {
	request := reportOf(r.origin, q)
	request.Settled = append(slices.Clone(r.settled), q.Doubt)
	ask, _ := r.service.newAsk(request, q, r.people)
	return ask
}

// nearUsername asks about the first new username that is nearly that of somebody else.
func (r *recordOperation) nearUsername(snap Snapshot) (q Question, ok bool) {
	for i, p := range r.people {
		if !r.plays(i) || !r.isNew(i, snap) {
			continue
		}
		var readings [][]Report
		for _, known := range r.known {
			if other, ok := r.with(p, known); ok && known.isNear(p.Username) {
				readings = append(readings, other)
			}
		}
		if len(readings) > 0 {
			readings = append(readings[:min(len(readings), maxNear)], r.reports)
			return Question{Doubt: DoubtUsername, Word: p.Username, Readings: readings}, true
		}
	}
	return q, false
}

// maxNear is how many people with nearly the same username a question offers.
const maxNear = 4

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

// duplicates returns, for each reported match that is probably the same as an earlier one, that one: with the same players on the
// same sides, and the same result, reported by somebody else shortly before or after, or by the same person at nearly the same time.
func (r *recordOperation) duplicates(snap Snapshot) (all []EarlierReport) {
	if r.isSettled(DoubtDuplicate) {
		return nil
	}
	for i, m := range r.matches {
		earlier := r.duplicateOf(m, snap)
		if earlier == nil {
			continue
		}
		if len(r.matches) > 1 {
			earlier.Result = &r.namedResults(snap)[i]
		}
		all = append(all, *earlier)
	}
	return all
}

// duplicateOf returns the match that is probably the same as a reported one, nil if there is none.
func (r *recordOperation) duplicateOf(m reportedMatch, snap Snapshot) *EarlierReport {
	players, ok := r.playersOf(m, snap)
	if !ok {
		return nil // somebody is new
	}
	var by PlayerID
	if r.reporter >= 0 && snap.People[r.reporter].Player != nil {
		by = snap.People[r.reporter].Player.ID
	}
	for _, other := range snap.Recent {
		apart := r.playedAt.Sub(other.PlayedAt).Abs()
		same := other.ReportedBy == by
		if apart > sameGameWindow || same && apart > repeatWindow || !other.equals(m.result, players) {
			continue
		}
		earlier := &EarlierReport{Number: other.Number, Same: same}
		if other.ReportedBy != 0 {
			earlier.By.Name = &Name{Player: other.ReportedBy}
		}
		return earlier
	}
	return nil
}

// playersOf returns the players of the sides of a match. ok is false if one of them is unknown.
func (r *recordOperation) playersOf(m reportedMatch, snap Snapshot) (players [2][]PlayerID, ok bool) {
	for i, person := range m.players {
		p := snap.People[person].Player
		if p == nil {
			return players, false
		}
		side := &players[m.sides[i]-1]
		*side = append(*side, p.ID)
	}
	return players, true
}

// equals reports whether two matches have the same players and the same result, possibly with the sides exchanged. The sets
// matter only if both have some.
func (m RecentMatch) equals(r Result, players [2][]PlayerID) bool {
	same := func(r Result, a, b []PlayerID) bool {
		return r.Score == m.Result.Score && (len(r.Sets) == 0 || len(m.Result.Sets) == 0 || slices.Equal(r.Sets, m.Result.Sets)) &&
			samePlayers(a, m.Players[0]) && samePlayers(b, m.Players[1])
	}
	return same(r, players[0], players[1]) || same(r.swapped(), players[1], players[0])
}

// samePlayers reports whether two sides have the same players, in any order.
func samePlayers(a, b []PlayerID) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// isNear reports whether a new username of at least four characters differs by exactly one letter from the username or the name
// of a known person, in any letter case. Digits are no letters: player1 and player2 are two people.
func (p Person) isNear(username string) bool {
	return len(username) >= 4 && (differByOneLetter(username, p.Username) || differByOneLetter(username, p.Name))
}

func differByOneLetter(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	isLetter := func(s string) bool { return s == "" || len(s) == 1 && 'a' <= s[0] && s[0] <= 'z' }
	return a != b && isLetter(a) && isLetter(b)
}
