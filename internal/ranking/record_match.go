package ranking

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Report is a match as reported: the players, and the score or the scores of the sets.
type Report struct {
	// Key is the idempotency key of the match, empty for that of the message. A match that the press of a button triggers has
	// the key of the message, with #2 and so on for each further match of the message.
	Key    string
	A, B   []Person // at least one each; side A's scores come first
	Scores []Score  // at least one
}

// RecordMatch records a match, updates the ratings of all players and notifies the group.
func (s *Service) RecordMatch(ctx context.Context, o Origin, r Report) error {
	rec := recordOperation{key: cmp.Or(r.Key, o.Message, o.Key), result: resultOf(r.Scores), playedAt: o.SentAt, reporter: -1}
	for side, people := range [][]Person{r.A, r.B} {
		for _, p := range people {
			i := rec.people.add(p)
			if slices.Contains(rec.players, i) {
				o.Malformed = commandMatch
				return s.Answer(ctx, o, Refusal{Code: SamePlayer})
			}
			rec.players, rec.sides = append(rec.players, i), append(rec.sides, side+1)
		}
	}
	rec.even = len(r.A) == len(r.B)
	if o.Sender != nil {
		rec.reporter = rec.people.add(*o.Sender)
	}
	rec.people.complete(o.Shown)
	return s.handle(ctx, o, command{
		name: "record match", people: rec.people, needed: len(rec.people), class: RateResult, operation: rec,
	})
}

// recordOperation is a match to be recorded.
type recordOperation struct {
	plain
	key      string // of the match
	result   Result
	even     bool // the sides have the same number of players
	playedAt time.Time
	people   participants
	players  []int // indexes into people
	sides    []int // the side of each player, 1 or 2
	reporter int   // index into people; -1 for an anonymous admin
}

func (r recordOperation) refuse(snap Snapshot) Notice {
	for _, i := range r.players {
		p, k := r.people[i], snap.People[i]
		if p.Doubtful && (k.Player == nil || k.Player.UserID == 0) {
			return Refusal{Code: NotAPerson, Name: p.Username}
		}
	}
	switch l := snap.Ladder; {
	case r.hasDuplicatePlayer(snap):
		return Refusal{Code: SamePlayer}
	case l.ID == 0:
		return nil // a new group gets the default rules, which decide applies
	case r.result.A == r.result.B && !l.DrawsAllowed:
		return Refusal{Code: NoDraws}
	case !r.even && !l.UnevenTeamsAllowed:
		return Refusal{Code: UnevenTeams}
	}
	return nil
}

// hasDuplicatePlayer reports whether two of the players are the same person, mentioned in two ways.
func (r recordOperation) hasDuplicatePlayer(snap Snapshot) bool {
	seen := make(map[PlayerID]bool, len(r.players))
	for _, i := range r.players {
		if p := snap.People[i].Player; p != nil {
			if seen[p.ID] {
				return true
			}
			seen[p.ID] = true
		}
	}
	return false
}

func (r recordOperation) decide(_ context.Context, snap Snapshot) (Changes, error) {
	if n := r.refuse(snap); n != nil {
		return Changes{Notice: n}, nil // some refusals need all people to be known
	}
	m := &NewMatch{
		Key: r.key, Group: snap.Group, Ladder: snap.Ladder.ID, RatingRules: snap.Ladder.RatingRules, Result: r.result, PlayedAt: r.playedAt,
		Players: make([]MatchPlayer, len(r.players)),
	}
	parts, standings := make([]Part, len(r.players)), make([]*Standing, len(r.players))
	for i, person := range r.players {
		p := &m.Players[i]
		p.Side, p.Before = r.sides[i], snap.People[person].standing(snap.Ladder)
		p.After = p.Before.presentAt(r.playedAt) // playing again brings back a player who left
		parts[i], standings[i] = Part{Player: p.Before.Player, Side: p.Side}, &p.After
	}
	for i, e := range play(m.RatingRules, m.Score, parts, standings) {
		m.Players[i].K = e.K
	}
	if r.reporter >= 0 {
		m.ReportedBy = snap.People[r.reporter].Player.ID
	}
	return Changes{Effect: m, Notice: r.notice(snap, m)}, nil
}

// notice returns the notice of the recorded match.
func (r recordOperation) notice(snap Snapshot, m *NewMatch) MatchRecorded {
	var sides [2]Side
	var added []Name
	for i, p := range m.Players {
		side, known := &sides[p.Side-1], snap.People[r.players[i]]
		side.Players = append(side.Players, RatingChange{Name: known.Player.name(), Before: p.Before.Elo, After: p.After.Elo})
		if known.Standing == nil {
			added = append(added, known.Player.name())
		}
	}
	n := card(m.Result, sides, m.B > m.A)
	n.NewPlayers = added
	plays := func(p MatchPlayer) bool { return p.Before.Player == m.ReportedBy }
	switch {
	case r.reporter < 0:
		n.ReportedBy = &Reporter{}
	case !slices.ContainsFunc(m.Players, plays):
		reporter := snap.People[r.reporter].Player.name()
		n.ReportedBy = &Reporter{Name: &reporter}
	}
	return n
}
