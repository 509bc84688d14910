package ranking

import (
	"context"
	"time"

	"elobot/internal/elo"
)

// Report is a match as somebody reports it.
type Report struct {
	A, B           Person
	ScoreA, ScoreB int // 0 to 999
}

// RecordMatch records a singles match, moves both ratings and tells the group.
func (s *Service) RecordMatch(ctx context.Context, o Origin, r Report) error {
	if same(r.A, r.B) {
		return s.Answer(ctx, o, Refusal{Code: SamePlayer})
	}
	rec := recording{report: r, playedAt: o.SentAt, reporter: -1}
	rec.a, rec.b = rec.people.add(r.A), rec.people.add(r.B)
	if o.Sender != nil {
		rec.reporter = rec.people.add(*o.Sender)
	}
	return s.handle(ctx, o, command{
		name:   "record match",
		people: rec.people,
		needed: len(rec.people),
		refuse: rec.refuse,
		decide: rec.decide,
	})
}

// recording is a match on its way into the store.
type recording struct {
	report   Report
	playedAt time.Time
	people   cast
	a, b     int // who plays, as indexes into people
	reporter int // who reports it, -1 for somebody without a name
}

func (r recording) refuse(snap Snapshot) Notice {
	for _, i := range []int{r.a, r.b} {
		p, k := r.people[i], snap.People[i]
		if p.Doubtful && (k.Player == nil || k.Player.UserID == 0) {
			return Refusal{Code: NotAPerson, Name: p.Username}
		}
	}
	if a, b := snap.People[r.a].Player, snap.People[r.b].Player; a != nil && b != nil && a.ID == b.ID {
		return Refusal{Code: SamePlayer} // named in two ways
	}
	if l := snap.Ladder; r.report.ScoreA == r.report.ScoreB && l.ID != 0 && !l.DrawsAllowed {
		return Refusal{Code: NoDraws}
	}
	return nil
}

func (r recording) decide(snap Snapshot) Changes {
	a, b := snap.People[r.a], snap.People[r.b]
	if a.Player.ID == b.Player.ID {
		return Changes{Notice: Refusal{Code: SamePlayer}} // which shows only now that both are known
	}
	score := elo.ScoreOf(r.report.ScoreA, r.report.ScoreB)
	beforeA, beforeB := a.standing(snap.Ladder), b.standing(snap.Ladder)
	change := elo.Change(snap.Ladder.K, []int{beforeA.Elo}, []int{beforeB.Elo}, score)
	m := &NewMatch{
		Group: snap.Group, Ladder: snap.Ladder.ID,
		ScoreA: r.report.ScoreA, ScoreB: r.report.ScoreB, K: snap.Ladder.K, PlayedAt: r.playedAt,
		Players: []MatchPlayer{
			{Side: 1, Before: beforeA, After: beforeA.after(score, change)},
			{Side: 2, Before: beforeB, After: beforeB.after(elo.Win-score, -change)},
		},
	}
	if r.reporter >= 0 {
		m.ReportedBy = snap.People[r.reporter].Player.ID
	}
	return Changes{Match: m, Notice: r.notice(snap, m)}
}

// notice tells of the match.
func (r recording) notice(snap Snapshot, m *NewMatch) MatchRecorded {
	called := names(snap.People)
	n := MatchRecorded{Sides: [2]Side{
		{Score: m.ScoreA, Players: []RatingChange{m.Players[0].change(called[r.a])}},
		{Score: m.ScoreB, Players: []RatingChange{m.Players[1].change(called[r.b])}},
	}}
	if m.ScoreB > m.ScoreA {
		n.Sides[0], n.Sides[1] = n.Sides[1], n.Sides[0]
	}
	for _, i := range []int{r.a, r.b} {
		if snap.People[i].Standing == nil {
			n.NewPlayers = append(n.NewPlayers, called[i])
		}
	}
	switch {
	case r.reporter < 0:
		n.ReportedBy = &Reporter{}
	case m.ReportedBy != m.Players[0].Before.Player && m.ReportedBy != m.Players[1].Before.Player:
		n.ReportedBy = &Reporter{Name: &called[r.reporter]}
	}
	return n
}

func (p MatchPlayer) change(name Name) RatingChange {
	return RatingChange{Name: name, Before: p.Before.Elo, After: p.After.Elo}
}

// standing returns the person's standing, or the one that they begin with in the ladder.
func (k Known) standing(l Ladder) Standing {
	if k.Standing != nil {
		return *k.Standing
	}
	return Standing{
		Player: k.Player.ID, Name: k.Player.Name,
		Elo: l.StartElo, StartElo: l.StartElo, BestElo: l.StartElo,
	}
}

// after returns the standing after a match with this score and this change of the rating.
func (s Standing) after(score elo.Score, change int) Standing {
	s.Elo += change
	s.BestElo = max(s.BestElo, s.Elo)
	s.Played++
	switch score {
	case elo.Win:
		s.Won++
		s.Streak = max(s.Streak, 0) + 1
	case elo.Loss:
		s.Lost++
		s.Streak = min(s.Streak, 0) - 1
	default:
		s.Drawn++
		s.Streak = 0
	}
	return s
}
