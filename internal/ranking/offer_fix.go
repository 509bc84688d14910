package ranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// OfferFix answers the correction of the command that has made a match, with the offer to correct the match as well: if
// the same sender reports the same people on the same sides, and another score. Nothing else is answered, and nothing is
// changed. made is the message of the command and its key.
func (s *Service) OfferFix(ctx context.Context, o Origin, made MatchRef, r Report) error {
	offer := offering{origin: o, right: resultOf(r.Scores)}
	for side, people := range [][]Person{r.A, r.B} {
		for _, p := range people {
			offer.sides[side] = append(offer.sides[side], offer.people.add(p))
		}
	}
	if o.Sender != nil {
		offer.reporter = offer.people.add(*o.Sender)
	}
	c := command{name: "offer fix", people: offer.people, class: RateQuestion, match: &made, outcome: new(CommandOutcome)}
	begun, log := time.Now(), c.logOf(ctx)
	err := s.retryOnConflict(ctx, o.Chat.ID, func(ctx context.Context, _ int) error {
		*c.outcome = ""
		q := c.query(o)
		q.RateEntry = c.rateEntry(o, nil)
		snap, err := s.store.Read(ctx, q)
		if err != nil {
			return err
		}
		if snap.Handled {
			return ErrHandled
		}
		notice, ok := offer.notice(snap)
		if _, over := s.overLimit(o, c, snap); !ok || over {
			return nil
		}
		c.decide = answer(notice)
		return apply(ctx, s.store, o, c, snap, nil)
	}, "update_id", log.Update, "command", log.Command, "key", o.Key, "chat_id", o.Chat.ID)
	s.logDone(ctx, o, c, err, begun)
	if err != nil && !errors.Is(err, ErrHandled) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// offering is a corrected report.
type offering struct {
	origin   Origin
	right    Result
	people   participants
	sides    [2][]int // who plays, as indexes into people
	reporter int      // who reports it, as an index into people, if the origin has a sender
}

// notice returns the offer. ok is false if there is nothing to be offered.
func (f offering) notice(snap Snapshot) (n FixOffer, ok bool) {
	m := snap.Match
	switch {
	case m == nil, !m.ByCommand, m.Undone, f.right.equal(m.Result):
		return n, false
	case f.right.A == f.right.B && !snap.Ladder.DrawsAllowed:
		return n, false
	case f.sender(snap) != m.ReportedBy, !f.plays(snap, 0), !f.plays(snap, 1):
		return n, false
	}
	return FixOffer{
		Number: m.Number,
		Score:  [2]int{f.right.A, f.right.B}, Sets: f.right.setScores(),
		Was: OldScore{Score: [2]int{m.Result.A, m.Result.B}, Sets: m.Result.setScores()},
	}, true
}

// sender returns who sends the report, 0 for somebody without a name, and -1 for somebody who is not known.
func (f offering) sender(snap Snapshot) PlayerID {
	switch {
	case f.origin.Sender == nil:
		return 0
	case snap.People[f.reporter].Player == nil:
		return -1
	}
	return snap.People[f.reporter].Player.ID
}

// plays says whether those of a side have played on that side of the match.
func (f offering) plays(snap Snapshot, side int) bool {
	var ids []PlayerID
	for _, i := range f.sides[side] {
		p := snap.People[i].Player
		if p == nil {
			return false
		}
		ids = append(ids, p.ID)
	}
	played := slices.Sorted(slices.Values(snap.Match.Players[side]))
	slices.Sort(ids)
	return slices.Equal(ids, played)
}

// FixOffer offers to correct the score of a match whose command was edited. All scores are in the order of the command.
type FixOffer struct {
	Number int        `json:"number"`
	Score  [2]int     `json:"score"` // as the command says now
	Sets   []SetScore `json:"sets,omitempty"`
	Was    OldScore   `json:"was"` // as the match counts
}

// Kind implements Notice.
func (FixOffer) Kind() string { return KindFixOffer }

// Purpose implements Notice.
func (FixOffer) Purpose() Purpose { return Answer }
