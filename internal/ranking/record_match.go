package ranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// MaxReports is how many matches a message can report.
const MaxReports = 20

// Report is a match as reported: the players, and the score or the scores of the sets.
type Report struct {
	// Key is the idempotency key of the match, empty for that of the message. Each further match of a message has #2, #3 and so on
	// after it.
	Key    string   `json:"key,omitempty"`
	A      []Person `json:"a"` // at least one each; side A's scores come first
	B      []Person `json:"b"`
	Scores []Score  `json:"scores"` // at least one
}

// RecordMatch records matches, in their order, updates the ratings of all players and notifies the group: all of the matches or
// none. There is at least one, and at most MaxReports. If something about them is unusual, it asks first.
func (s *Service) RecordMatch(ctx context.Context, o Origin, reports ...Report) error {
	if len(reports) > MaxReports {
		o.Malformed = commandMatch
		return s.Answer(ctx, o, Refusal{Code: TooManyMatches, Matches: MaxReports})
	}
	var people participants
	rec, ok := s.newRecord(o, reports, &people)
	if !ok {
		o.Malformed = commandMatch
		return s.Answer(ctx, o, Refusal{Code: SamePlayer})
	}
	return s.handle(ctx, o, command{
		name: "record match", people: people, needed: len(people), class: RateResult, operation: rec, equal: rec.equalResults(),
		leaders: rec.leaderQuery(),
	})
}

// newRecord returns the operation that records matches, and adds their people and the reporter to people. ok is false if
// somebody visibly plays against themselves.
func (s *Service) newRecord(o Origin, reports []Report, people *participants) (rec *recordOperation, ok bool) {
	rec = &recordOperation{service: s, origin: o, reports: reports, playedAt: o.SentAt, reporter: -1}
	key := cmp.Or(reports[0].Key, o.message())
	for i, r := range reports {
		m := reportedMatch{key: key, result: resultOf(r.Scores), even: len(r.A) == len(r.B)}
		if i > 0 {
			m.key = fmt.Sprintf("%s#%d", key, i+1)
		}
		for side, players := range [][]Person{r.A, r.B} {
			for _, p := range players {
				at := people.add(p)
				if slices.Contains(m.players, at) {
					return rec, false
				}
				m.players, m.sides = append(m.players, at), append(m.sides, side+1)
			}
		}
		rec.matches = append(rec.matches, m)
	}
	if o.Sender != nil {
		rec.reporter = people.add(*o.Sender)
	}
	people.complete(o.Shown)
	rec.people = *people
	return rec, true
}

// recordOperation records matches.
type recordOperation struct {
	plain
	service  *Service
	origin   Origin // of the report
	reports  []Report
	matches  []reportedMatch // at least one
	people   participants
	playedAt time.Time
	reporter int      // index into people; -1 for an anonymous admin
	settled  []Doubt  // what was asked already
	known    []Person // who plays in the group, if somebody who is mentioned does not
	upset    int      // the largest of the month; 0 if no match is one that may be celebrated
}

// reportedMatch is a match to be recorded.
type reportedMatch struct {
	key     string
	result  Result
	even    bool  // the sides have the same number of players
	players []int // indexes into the people
	sides   []int // the side of each player, 1 or 2
}

// plays reports whether a person, an index into the people, plays in one of the matches.
func (r *recordOperation) plays(person int) bool {
	return slices.ContainsFunc(r.matches, func(m reportedMatch) bool { return slices.Contains(m.players, person) })
}

// needs reports whether a person, an index into the people, must be known to record the matches.
func (r *recordOperation) needs(person int) bool { return person == r.reporter || r.plays(person) }

func (r *recordOperation) refuse(snap Snapshot) Notice {
	for _, m := range r.matches {
		if n := r.refuseMatch(snap, m); n != nil {
			return n
		}
	}
	return nil
}

func (r *recordOperation) refuseMatch(snap Snapshot, m reportedMatch) Notice {
	for _, i := range m.players {
		p, k := r.people[i], snap.People[i]
		if p.Doubtful && !k.isAccount() {
			return Refusal{Code: NotAPerson, Name: p.Username}
		}
	}
	switch l := snap.Ladder; {
	case m.hasDuplicatePlayer(snap):
		return Refusal{Code: SamePlayer}
	case l.ID == 0:
		return nil // a new group gets the default rules, which decide applies
	case m.result.A == m.result.B && !l.DrawsAllowed:
		return Refusal{Code: NoDraws}
	case !m.even && !l.UnevenTeamsAllowed:
		return Refusal{Code: UnevenTeams}
	}
	return nil
}

// hasDuplicatePlayer reports whether two of the players are the same person, mentioned in two ways.
func (m reportedMatch) hasDuplicatePlayer(snap Snapshot) bool {
	seen := make(map[PlayerID]bool, len(m.players))
	for _, i := range m.players {
		if p := snap.People[i].Player; p != nil {
			if seen[p.ID] {
				return true
			}
			seen[p.ID] = true
		}
	}
	return false
}

func (r *recordOperation) decide(ctx context.Context, snap Snapshot) (Changes, error) {
	if n := r.refuse(snap); n != nil {
		return Changes{Notice: n}, nil // some refusals need all people to be known
	}
	if ask := r.unusual(snap); ask != nil {
		return ask.decide(ctx, snap)
	}
	if person := r.unknown(snap); person >= 0 { // who asks first adds nobody, and the reason to ask may be gone by now
		return Changes{}, fmt.Errorf("%w: person %d is unknown", ErrConflict, person+1)
	}
	matches := r.playAll(snap)
	if !snap.Display.NoCelebrations {
		matches.celebrate(Leaders{r.leaderQuery(), snap.Leaders}, r.upset)
	}
	return Changes{Effect: matches}, nil
}

// unknown returns somebody who must be known to record the matches and is not, -1 if there is nobody.
func (r *recordOperation) unknown(snap Snapshot) (person int) {
	for i := range r.people {
		if snap.People[i].Player == nil && r.needs(i) {
			return i
		}
	}
	return -1
}

// playAll returns the matches with the changes that they make to the standings of their players, who must be known.
func (r *recordOperation) playAll(snap Snapshot) NewMatches {
	matches := make(NewMatches, len(r.matches))
	current := make(map[PlayerID]*Standing, len(r.people)) // after the matches so far
	for i, m := range r.matches {
		matches[i] = r.play(snap, m, current)
	}
	return matches
}

// play returns a match with the changes that it makes to the standings of its players.
func (r *recordOperation) play(snap Snapshot, reported reportedMatch, current map[PlayerID]*Standing) *NewMatch {
	m := &NewMatch{
		Key: reported.key, Group: snap.Group, Ladder: snap.Ladder.ID, RatingRules: snap.Ladder.RatingRules, Result: reported.result,
		PlayedAt: r.playedAt, Players: make([]MatchPlayer, len(reported.players)),
	}
	parts, standings := make([]Part, len(m.Players)), make([]*Standing, len(m.Players))
	var added []Name
	for i, person := range reported.players {
		p, known := &m.Players[i], snap.People[person]
		var before Standing
		if last, played := current[known.Player.ID]; played {
			before = *last
		} else {
			before = known.standing(snap.Ladder)
			if known.Standing == nil {
				added = append(added, known.Player.name())
			}
		}
		p.Side, p.Before = reported.sides[i], before
		p.After = before.presentAt(r.playedAt) // playing again brings back a player who left
		parts[i], standings[i] = Part{Player: before.Player, Side: p.Side}, &p.After
	}
	entries, upset := play(m.RatingRules, m.Score, m.PlayedAt, parts, standings)
	m.Upset = upset
	for i, e := range entries {
		m.Players[i].K = e.K
	}
	for _, s := range standings {
		current[s.Player] = s
	}
	if r.reporter >= 0 {
		m.ReportedBy = snap.People[r.reporter].Player.ID
	}
	m.Card = r.card(m, added)
	return m
}

// card returns the card of a match, with the players whom it adds to the ladder.
func (r *recordOperation) card(m *NewMatch, added []Name) MatchRecorded {
	var sides [2]Side
	for _, p := range m.Players {
		side := &sides[p.Side-1]
		side.Players = append(side.Players, RatingChange{Name: Name{Player: p.Before.Player}, Before: p.Before.Elo, After: p.After.Elo})
	}
	n := card(m.Result, sides, m.B > m.A)
	n.Tag, n.NewPlayers = TagOf(m.Key), added
	plays := func(p MatchPlayer) bool { return p.Before.Player == m.ReportedBy }
	switch {
	case r.reporter < 0:
		n.ReportedBy = &Reporter{}
	case !slices.ContainsFunc(m.Players, plays):
		n.ReportedBy = &Reporter{Name: &Name{Player: m.ReportedBy}}
	}
	return n
}

// read reads what only some results need to know.
func (r *recordOperation) read(ctx context.Context, store Store, snap Snapshot) error {
	if err := r.readNear(ctx, store, snap); err != nil {
		return err
	}
	return r.readUpset(ctx, store, snap)
}

// leaderQuery asks for as many players at the top of the ranking as it takes to know minRanked who do not play in the matches.
func (r *recordOperation) leaderQuery() LeaderQuery {
	limit := minRanked
	for person := range r.people {
		if r.plays(person) {
			limit++
		}
	}
	return LeaderQuery{ActiveSince: r.playedAt.Add(-PlaceLifetime), Limit: limit}
}

// readUpset reads the largest upset of the month if one of the matches may be celebrated as that.
func (r *recordOperation) readUpset(ctx context.Context, store Store, snap Snapshot) (err error) {
	r.upset = 0
	mayCelebrate := func(m *NewMatch) bool { return m.Upset > 0 }
	if snap.Display.NoCelebrations || r.unknown(snap) >= 0 || !slices.ContainsFunc(r.playAll(snap), mayCelebrate) {
		return nil
	}
	r.upset, err = store.LargestUpset(ctx, snap.Ladder.ID, MonthOf(r.playedAt))
	return err
}
