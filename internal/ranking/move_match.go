package ranking

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"elobot/internal/notice"
)

// MoveMatch moves a match to another ladder of the group, as if it had been reported there: it counts under the rules of that ladder, and
// both ladders are replayed from there. Whoever may undo a match may move it.
type MoveMatch struct {
	Amendment
	Name      string // of the ladder
	Otherwise Notice // what is said if no ladder has the name, and it is not likely to be meant for one
}

func (m MoveMatch) do(ctx context.Context, s *Service, o Origin) error {
	op := moveOperation{amendOperation: s.amendment(o, commandFix, m.Amendment), name: m.Name, otherwise: m.Otherwise}
	return s.amend(ctx, "move match", o, m.Amendment, op)
}

type moveOperation struct {
	amendOperation
	name      string
	otherwise Notice

	// What follows from the snapshot.
	to *GroupLadder // the ladder with the name, nil if there is none
}

func (m moveOperation) in(snap Snapshot) (operation, Snapshot) {
	m.to = findLadder(snap.Ladders, m.name)
	return m, snap
}

// refuse returns why the match cannot be moved, nil if it can.
func (m moveOperation) refuse(snap Snapshot) Notice {
	switch {
	case m.to != nil:
	case len(snap.Ladders) > 1 && !strings.ContainsFunc(m.name, unicode.IsNumber): // a wrong score has one
		return noSuchLadder(m.name)
	default:
		return m.otherwise
	}
	found := m.found(snap)
	if n := m.refusal(found); n != nil {
		return n
	}
	switch {
	case m.to.ID == found.Ladder:
		return Refusal{Code: SameLadder, Number: found.Number, Name: m.to.Name}
	case m.to.Archived:
		return Refusal{Code: LadderArchived, Name: m.to.Name}
	case found.Result.A == found.Result.B && !m.to.DrawsAllowed:
		return Refusal{Code: NoDraws}
	case len(found.Players[0]) != len(found.Players[1]) && !m.to.UnevenTeamsAllowed:
		return Refusal{Code: UnevenTeams}
	}
	return nil
}

func (m moveOperation) permission(snap Snapshot) Permission {
	found := m.found(snap)
	if found.PlayedAt.Before(m.to.Season.Starts) { // it would be in a season that is over
		return correctedByAdmins(found)
	}
	return m.involved(snap, found)
}

func (m moveOperation) replays(snap Snapshot) *StoredMatch {
	if m.to == nil {
		return nil
	}
	return m.found(snap)
}

func (m moveOperation) into() *Ladder { return &m.to.Ladder }

func (m moveOperation) decide(snap Snapshot) (Decision, error) {
	found := m.found(snap)
	amended, said, err := m.amended(snap, found, ByMove, func(p *PlayedMatch) { p.Undone = true })
	if err != nil {
		return Decision{}, err
	}
	played := snap.History.Matches[slices.IndexFunc(snap.History.Matches, func(p PlayedMatch) bool { return p.ID == found.ID })]
	into, moved, history, err := m.replayInto(snap, played)
	if err != nil {
		return Decision{}, err
	}
	card := cardOf(found.RecentMatch, found.Result, found.swappedFor(found.Result), moved.Parts, into.entries(moved))
	card.Changes, card.Season = amended.Card.Changes, history.Over
	amended.Card = card
	return Decision{
		Ladder: m.to.label(),
		Effect: &MovedMatch{Amended: amended, To: snap.IntoSeason, Rules: m.to.RatingRules, Into: into},
		Notice: MatchMoved{
			Number: found.Number, Sides: card.Sides, Sets: card.Sets, By: said.By, From: snap.Ladder.Name, To: m.to.Name,
			Moved: movedOn(card, snap.History, amended.Rewrite), Into: movedOn(card, history, into),
		},
	}, nil
}

// movedOn returns the ratings that the rewrite of a ladder changes. Those of the players come first, in the order of the card, which is that
// of the other ladder too.
func movedOn(card MatchRecorded, h MatchHistory, w Rewrite) Moved {
	players := card.players()
	all := h.moved(w, players)
	at := func(c RatingChange) int { return slices.Index(players, c.Name.Player) }
	slices.SortStableFunc(all.Ratings[:len(players)], func(a, b RatingChange) int { return cmp.Compare(at(a), at(b)) })
	return all
}

// replayInto replays the ladder that the match is moved to, with the match. It returns the rewrite, the match as it is there, and the history
// with it and with the standings that its players had before.
func (m moveOperation) replayInto(snap Snapshot, played PlayedMatch) (w Rewrite, moved PlayedMatch, history MatchHistory, err error) {
	moved, history = played, snap.Into
	moved.RatingRules, moved.Upset, moved.Parts = m.to.RatingRules, 0, slices.Clone(played.Parts)
	for i := range moved.Parts {
		p := &moved.Parts[i]
		p.Entry = nil
		of := func(s RankedPlayer) bool { return s.Player == p.Player }
		if !slices.ContainsFunc(history.Standings, of) {
			old := snap.History.Standings[slices.IndexFunc(snap.History.Standings, of)]
			start := m.to.Start
			standing := Standing{Player: old.Player, Name: old.Name, Elo: start, StartElo: start, BestElo: start}
			history.Standings = append(slices.Clip(history.Standings), RankedPlayer{Standing: standing})
		}
	}
	standings, err := history.initialStandings()
	if err != nil {
		return w, moved, history, err
	}
	at := slices.IndexFunc(history.Matches, func(later PlayedMatch) bool { return later.Number > moved.Number })
	if at < 0 {
		at = len(history.Matches)
	}
	history.Matches = slices.Insert(slices.Clone(history.Matches), at, moved)
	w, err = history.replayFrom(standings, ByMove, func(*PlayedMatch) {})
	return w, moved, history, err
}

// MovedMatch is a match that is moved to another ladder, where it counts under other rules. Into is the rewrite of that ladder; its
// standings without an ID are new.
type MovedMatch struct {
	Amended
	To    SeasonID
	Rules RatingRules
	Into  Rewrite
}

func (*MovedMatch) outcome() CommandOutcome { return OutcomeFixed }

// MatchMoved says that a match was moved to another ladder.
type MatchMoved struct {
	Number int        `json:"number"`
	Sides  [2]Side    `json:"sides"` // with the ratings in the ladder where it is now
	Sets   []SetScore `json:"sets,omitempty"`
	By     Reporter   `json:"by"`
	From   string     `json:"from"` // the names of the ladders
	To     string     `json:"to"`
	Moved             // the ratings in the ladder where it was
	Into   Moved      `json:"into"` // those in the one where it is now
}

var _ = notice.Register[MatchMoved](notice.Kind{Name: "match_moved", Purpose: notice.Outcome})
