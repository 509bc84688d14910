package ranking

import (
	"slices"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// playerIDs returns the players of each side, including new ones. It omits people without a player.
func (m reportedMatch) playerIDs(snap *Snapshot) (players [2][]ladder.PlayerID) {
	for i, person := range m.players {
		if p := snap.People[person].Player; p != nil {
			side := &players[m.sides[i]-1]
			*side = append(*side, p.ID)
		}
	}
	return players
}

// lineupOf returns the lineup that the report gives to a recorded match. ok is false if the report
// has different numbers of players on its sides than the match, if a person is not a player, or if
// the report changes the stand-ins.
func (m reportedMatch) lineupOf(recorded *StoredMatch, snap *Snapshot) (l lineup, ok bool) {
	l, ok = recorded.lineupOf(m.playerIDs(snap), m.result)
	return l, ok && m.keepsStandIns(recorded, l, snap)
}

// keepsStandIns reports whether the report names no stand-ins, or as many on each side as the
// recorded match has. l is the lineup that the report gives to the match.
func (m reportedMatch) keepsStandIns(recorded *StoredMatch, l lineup, snap *Snapshot) bool {
	named := m.standIns
	if slices.Contains(l.players[1], m.playerIDs(snap)[0][0]) {
		named[0], named[1] = named[1], named[0]
	}
	return m.standIns == [2]int{} || named == recorded.StandIns
}

// offerPlayers asks whether to replace the players of a match with the players in the edited
// message. The decision is empty if the players cannot be replaced, if the match is undone, or if
// the edited report would be refused.
func (e editedReport) offerPlayers(snap *Snapshot, m *StoredMatch) Decision {
	l, ok := e.record.matches[0].lineupOf(m, snap)
	if !ok || m.changesTo(l) == nil || m.Undone || e.record.refuse(snap) != nil {
		return Decision{}
	}
	ask := e.record.ask(command.Report{Doubt: DoubtPlayers, Readings: []command.Reading{e.record.reports}})
	ask.request.Replaces = &MatchChoice{m.ID, m.Changes}
	ask.earlier = []EarlierReport{{Number: m.Number, Result: new(m.named())}}
	return ask.ask(snap)
}

// named returns the match's result and players, in the order of its report.
func (m *StoredMatch) named() NamedResult {
	r := namedResult(m.Result)
	r.StandIns = m.StandIns
	for side, players := range m.Players {
		for _, id := range players {
			r.Sides[side] = append(r.Sides[side], Name{Player: id})
		}
	}
	return r
}

// playersAnswer is the answer to a prompt that asks whether to replace the players of a match.
type playersAnswer struct {
	reportAnswer
	amend amendOperation
}

func (p playersAnswer) needs() Needs {
	needs := p.reportAnswer.needs()
	needs.Match = &p.amend.Match
	return needs
}

func (p playersAnswer) refuse(snap *Snapshot) Notice {
	switch {
	case !snap.Prompt.is(p.Prompt), p.chosen == nil && p.Option != Cancel{}:
		return Refusal{Code: UnknownButton}
	case snap.Prompt.Closed:
		return Refusal{Code: PromptOver}
	case p.chosen == nil:
		return nil
	}
	m := p.amend.found(snap)
	if n := p.amend.refusal(m); n != nil {
		return n
	}
	l, ok := p.chosen.matches[0].lineupOf(m, snap)
	if !ok || p.chosen.matches[0].hasDuplicatePlayer(snap) {
		return Refusal{Code: ChangedSince, Number: m.Number}
	}
	return p.chosen.refuseLineup(snap, m, l)
}

// permission returns who may fix the match. If the match no longer exists, any sender may cancel.
func (p playersAnswer) permission(snap *Snapshot) Permission {
	m := p.amend.found(snap)
	if m == nil {
		return Permission{}
	}
	return p.amend.involved(snap, m)
}

func (p playersAnswer) about(snap *Snapshot) subject {
	if of := p.amend.about(snap); p.chosen != nil && of.amended != nil {
		return of
	}
	return p.chosen.about(snap)
}

func (p playersAnswer) decide(snap *Snapshot) (Decision, need, error) {
	if p.chosen == nil {
		return p.reportAnswer.decide(snap)
	}
	m := p.amend.found(snap)
	if snap.History == nil {
		return Decision{}, historyOf{match: m}, nil
	}
	l, _ := p.chosen.matches[0].lineupOf(m, snap)
	fixed, said, err := p.amend.fixPlayers(snap, m, l, p.chosen.matches[0])
	if err != nil {
		return Decision{}, nil, err
	}
	return Decision{Effect: fixed, Closes: &ClosedPrompt{ID: snap.Prompt.ID, As: PromptAnswered}, Page: said}, nil, nil
}

// fixPlayers returns the fix that gives a match a lineup, and the notice about it. The snapshot
// must have the History. Each player of the lineup must already play in the match, or be among the
// snapshot's People.
func (a amendOperation) fixPlayers(
	snap *Snapshot, m *StoredMatch, l lineup, reported reportedMatch,
) (*Fixed, MatchFixed, error) {
	history, changes := *snap.History, m.changesTo(l)
	fixed := &Fixed{Old: m.Result, New: l.result, CameBack: CameBack{Group: snap.Group, At: m.PlayedAt}}
	var unplayed []ladder.PlayerID
	for i, r := range changes {
		if r.From == r.To {
			continue
		}
		isNew := func(person int) bool { return snap.People[person].Player.ID == r.To }
		known := snap.People[reported.players[slices.IndexFunc(reported.players, isNew)]]
		changes[i].Named = known.namedID()
		unplayed, fixed.Players = append(unplayed, r.From), append(fixed.Players, r.To)
		isThere := func(s ladder.RankedPlayer) bool { return s.Player == r.To }
		if !slices.ContainsFunc(history.Standings, isThere) {
			standing := known.StandingIn(snap.Ladder).PresentAt(m.PlayedAt)
			history.Standings = append(slices.Clip(history.Standings), ladder.RankedPlayer{Standing: standing})
		}
	}
	with := *snap
	with.History = &history
	amended, said, err := a.amended(&with, m, ladder.ByFix, func(played *ladder.Match) {
		played.Result = l.result
		var parts []ladder.Part
		for _, r := range changes {
			part := *played.PartOf(r.From)
			// The old player's history entry passes to the new player, so the replay compares the
			// new entry with it.
			part.Player, part.Side = r.To, r.Side
			parts = append(parts, part)
		}
		if len(changes) > 0 {
			played.Parts = parts
		}
	})
	if err != nil {
		return nil, MatchFixed{}, err
	}
	fixed.Amended = amended
	fixed.Rewrite.Players, fixed.Rewrite.Unplayed = changes, unplayed
	return fixed, MatchFixed{
		Number: m.Number, Sides: said.Sides, Sets: said.Sets, Before: new(m.named()), By: said.By, Moved: said.Moved,
	}, nil
}
