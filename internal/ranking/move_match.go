package ranking

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// MoveMatch moves a match to another ladder of the group, as if the match had been reported there.
// The match then counts under the rules of that ladder, and a season of each ladder is replayed
// from the match on. Anyone who may undo a match may also move it, but only admins may move a match
// into a season that is over.
type MoveMatch struct {
	Amendment
	Name string // the name of the target ladder
	// Otherwise is the answer if no ladder has the Name, and the sender probably did not mean a
	// ladder.
	Otherwise Notice
}

func (m MoveMatch) plan(s *Service, c *call) *call {
	return c.amending("move match", moveOperation{
		amendOperation: s.amendment(c, commandFix, m.Amendment), name: m.Name, otherwise: m.Otherwise,
	})
}

type moveOperation struct {
	amendOperation
	name      string
	otherwise Notice
}

func (m moveOperation) to(snap *Snapshot) *GroupLadder { return findLadder(snap.Ladders, m.name) }

func (m moveOperation) refuse(snap *Snapshot) Notice {
	to := m.to(snap)
	switch {
	case to != nil:
	// Text with a digit is more likely to be a malformed score than a ladder's name.
	case len(snap.Ladders) > 1 && !strings.ContainsFunc(m.name, unicode.IsNumber):
		return noSuchLadder(m.name)
	default:
		return m.otherwise
	}
	found := m.found(snap)
	if n := m.refusal(found); n != nil {
		return n
	}
	switch {
	case to.ID == found.Ladder:
		return Refusal{Code: SameLadder, Number: found.Number, Name: to.Name}
	case to.Archived:
		return Refusal{Code: LadderArchived, Name: to.Name}
	case found.Result.A == found.Result.B && !to.DrawsAllowed:
		return Refusal{Code: NoDraws}
	case !found.isEven() && !to.UnevenTeamsAllowed:
		return Refusal{Code: UnevenTeams}
	}
	return nil
}

func (m moveOperation) permission(snap *Snapshot) Permission {
	found := m.found(snap)
	// If the match would count in a season that is over, only admins may move it.
	if found.PlayedAt.Before(m.to(snap).Season.Starts) {
		return correctedByAdmins(found)
	}
	return m.involved(snap, found)
}

func (m moveOperation) about(snap *Snapshot) subject {
	if m.to(snap) == nil {
		return subject{}
	}
	return m.amendOperation.about(snap)
}

func (m moveOperation) decide(snap *Snapshot) (Decision, need, error) {
	found, to := m.found(snap), m.to(snap)
	switch {
	case to.Season.endsBefore(found.PlayedAt):
		return Decision{}, seasonEnd{to.Ladder, found.PlayedAt}, nil
	case snap.History == nil:
		return Decision{}, historyOf{match: found, into: &to.Ladder}, nil
	}
	amended, said, err := m.amended(snap, found, ladder.ByMove, func(p *ladder.Match) { p.Undone = true })
	if err != nil {
		return Decision{}, nil, err
	}
	isFound := func(p ladder.Match) bool { return p.ID == found.ID }
	played := snap.History.Matches[slices.IndexFunc(snap.History.Matches, isFound)]
	into, moved, history, err := m.replayInto(snap, *to, played)
	if err != nil {
		return Decision{}, nil, err
	}
	card := cardOf(found.RecentMatch, found.Result, found.swappedFor(found.Result), moved.Parts, into.EntriesOf(moved))
	card.Changes, card.Season = amended.Card.Changes, history.Over
	amended.Card = card
	effect := &MovedMatch{Amended: amended, To: snap.IntoSeason, Rules: to.RatingRules, Into: into}
	if snap.Gap != nil {
		places, spread := snap.Gap.Places(1)
		effect.Inserted = &Inserted{Ladder: to.ID, Position: places[0], Spread: spread}
	}
	return Decision{
		Ladder: to.label(),
		Effect: effect,
		Notice: MatchMoved{
			Number: found.Number, Sides: card.Sides, Sets: card.Sets, By: said.By, From: snap.Ladder.Name, To: to.Name,
			Moved: movedOn(card, *snap.History, amended.Rewrite), Into: movedOn(card, history, into),
		},
	}, nil, nil
}

// movedOn is like moved, but orders the players of the match as on the card, so that the notice
// shows them in the same order for both ladders.
func movedOn(card MatchRecorded, h ladder.History, w ladder.Rewrite) Moved {
	players := card.players()
	all := moved(h, w, players)
	at := func(c RatingChange) int { return slices.Index(players, c.Name.Player) }
	slices.SortStableFunc(all.Ratings[:len(players)], func(a, b RatingChange) int { return cmp.Compare(at(a), at(b)) })
	return all
}

// replayInto replays the target season with the match inserted. It returns the rewrite, the match
// under the target's rules, and the target's history with the match and with standings for all of
// the match's players.
func (m moveOperation) replayInto(
	snap *Snapshot, to GroupLadder, played ladder.Match,
) (w ladder.Rewrite, moved ladder.Match, history ladder.History, err error) {
	moved, history = played, *snap.Into
	moved.RatingRules, moved.Upset, moved.Parts = to.RatingRules, 0, slices.Clone(played.Parts)
	for i := range moved.Parts {
		p := &moved.Parts[i]
		p.Entry = nil
		of := func(s ladder.RankedPlayer) bool { return s.Player == p.Player }
		if !slices.ContainsFunc(history.Standings, of) {
			start := to.Start
			standing := ladder.Standing{Player: p.Player, Elo: start, StartElo: start, BestElo: start}
			history.Standings = append(slices.Clip(history.Standings), ladder.RankedPlayer{Standing: standing})
		}
	}
	standings, err := history.Initial()
	if err != nil {
		return w, moved, history, err
	}
	at := slices.IndexFunc(history.Matches, func(later ladder.Match) bool { return later.Position > moved.Position })
	if snap.Gap != nil {
		at = 0
	} else if at < 0 {
		at = len(history.Matches)
	}
	history.Matches = slices.Insert(slices.Clone(history.Matches), at, moved)
	w, err = history.ReplayFrom(standings, ladder.ByMove, func(*ladder.Match) {})
	return w, moved, history, err
}

// MovedMatch is a match to be moved to the season To of another ladder, where it counts under the
// Rules. Into is the rewrite of that season. A standing in Into without an ID is new.
type MovedMatch struct {
	Amended
	To    ladder.SeasonID
	Rules ladder.RatingRules
	Into  ladder.Rewrite
	// Inserted has the new position of a match of another day. It is nil if the match keeps its
	// position.
	Inserted *Inserted
}

func (*MovedMatch) outcome() CommandOutcome { return OutcomeFixed }

// MatchMoved says that a match was moved to another ladder.
type MatchMoved struct {
	Number int        `json:"number"`
	Sides  [2]Side    `json:"sides"` // with the ratings in the new ladder
	Sets   []SetScore `json:"sets,omitempty"`
	By     Reporter   `json:"by"`
	From   string     `json:"from"` // the name of the old ladder
	To     string     `json:"to"`   // the name of the new ladder
	Moved             // the ratings in the old ladder
	Into   Moved      `json:"into"` // the ratings in the new ladder
}

var _ = notice.Register[MatchMoved](notice.Kind{Name: "match_moved", Purpose: notice.Outcome})
