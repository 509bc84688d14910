package ranking

import (
	"context"
	"slices"
	"time"
)

// OfferFix handles an edit of the command that recorded a match. It offers to fix the match if the same sender now
// reports another score for the same people on the same sides. Other edits get no answer. OfferFix itself changes no
// match. original refers to the match by the message and the key of the command. It does not go through handle: an edit
// stores nothing about the chat and its people, and without an offer not even its key.
func (s *Service) OfferFix(ctx context.Context, o Origin, original MatchRef, r Report) error {
	corrected := correctedReport{origin: o, command: original.Key, result: resultOf(r.Scores)}
	for side, people := range [][]Person{r.A, r.B} {
		for _, p := range people {
			corrected.sides[side] = append(corrected.sides[side], corrected.people.add(p))
		}
	}
	if o.Sender != nil {
		corrected.reporter = corrected.people.add(*o.Sender)
	}
	c := command{name: "offer fix", people: corrected.people, class: RateQuestion, operation: plain{}, outcome: new(CommandOutcome)}
	started, log := time.Now(), c.commandLog(ctx)
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
		if corrected.match, err = s.store.FindMatch(ctx, o.Chat.ID, original, nil); err != nil {
			return err
		}
		notice, ok := corrected.notice(snap)
		if _, over := s.overLimit(o, c, snap); !ok || over {
			return nil
		}
		c.operation = answer{notice: notice}
		return decideAndApply(ctx, s.store, o, c, snap)
	}, "update_id", log.Update, "command", log.Command, "key", o.Key, "chat_id", o.Chat.ID)
	return s.finish(ctx, o, c, err, started)
}

// correctedReport is a report after its command was edited.
type correctedReport struct {
	origin   Origin
	command  string // the key of the command
	result   Result
	people   participants
	sides    [2][]int // the players, as indexes into people
	reporter int      // the sender, as an index into people; meaningless without a sender
	match    *StoredMatch
}

// notice returns the offer. ok is false if there is nothing to offer.
func (f correctedReport) notice(snap Snapshot) (n FixOffer, ok bool) {
	m := f.match
	switch {
	case m == nil, m.Key != f.command, m.Undone, f.result.equal(m.Result):
		return n, false
	case f.result.A == f.result.B && !snap.Ladder.DrawsAllowed:
		return n, false
	case f.sender(snap) != m.ReportedBy, !f.plays(snap, 0), !f.plays(snap, 1):
		return n, false
	}
	return FixOffer{
		Number: m.Number, Changes: m.Changes,
		Score: [2]int{f.result.A, f.result.B}, Sets: f.result.setScores(),
		Was: OldScore{Score: [2]int{m.Result.A, m.Result.B}, Sets: m.Result.setScores()},
	}, true
}

// sender returns the sender's player id: 0 for an anonymous admin, -1 for an unknown person.
func (f correctedReport) sender(snap Snapshot) PlayerID {
	switch {
	case f.origin.Sender == nil:
		return 0
	case snap.People[f.reporter].Player == nil:
		return -1
	}
	return snap.People[f.reporter].Player.ID
}

// plays reports whether the people on a side of the report are the players of that side of the match.
func (f correctedReport) plays(snap Snapshot, side int) bool {
	var ids []PlayerID
	for _, i := range f.sides[side] {
		p := snap.People[i].Player
		if p == nil {
			return false
		}
		ids = append(ids, p.ID)
	}
	played := slices.Sorted(slices.Values(f.match.Players[side]))
	slices.Sort(ids)
	return slices.Equal(ids, played)
}

// FixOffer offers to fix the score of a match whose command was edited. All scores are in the order of the command.
type FixOffer struct {
	Number  int        `json:"number"`
	Changes int        `json:"changes,omitempty"` // of the match so far
	Score   [2]int     `json:"score"`             // from the edited command
	Sets    []SetScore `json:"sets,omitempty"`
	Was     OldScore   `json:"was"` // the stored score
}

// Kind implements Notice.
func (FixOffer) Kind() string { return KindFixOffer }

// Purpose implements Notice.
func (FixOffer) Purpose() Purpose { return Answer }

// Alone makes IsAlone true.
func (FixOffer) Alone() bool { return true }
