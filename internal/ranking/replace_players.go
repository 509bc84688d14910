package ranking

import (
	"slices"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// replacedPlayers returns the replacements that give the match the given players. ok is false if a
// side would change its size, if a player of the match would move to another position, or if there
// is nothing to replace.
func replacedPlayers(m *StoredMatch, players [2][]ladder.PlayerID) (all []ladder.ReplacedPlayer, ok bool) {
	for side := range players {
		if len(players[side]) != len(m.Players[side]) {
			return nil, false
		}
		for i, p := range players[side] {
			was := m.Players[side][i]
			switch {
			case was == p:
			case slices.Contains(m.players(), p):
				return nil, false
			default:
				all = append(all, ladder.ReplacedPlayer{Match: m.ID, From: was, To: p})
			}
		}
	}
	return all, len(all) > 0
}

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

// offerPlayers asks whether to replace the players of a match with the players in the edited
// message. The decision is empty if the players cannot be replaced, if the match is undone, or if
// the edited report would be refused.
func (e editedReport) offerPlayers(snap *Snapshot, m *StoredMatch) Decision {
	if _, ok := replacedPlayers(m, e.record.matches[0].playerIDs(snap)); !ok || m.Undone || e.record.refuse(snap) != nil {
		return Decision{}
	}
	ask := e.record.ask(command.Report{Doubt: DoubtPlayers, Readings: []command.Reading{e.record.reports}})
	ask.request.Replaces = &MatchChoice{m.ID, m.Changes}
	ask.earlier = []EarlierReport{{Number: m.Number, Result: new(m.named())}}
	return ask.ask(snap)
}

// named describes the match in the order of its report.
func (m *StoredMatch) named() NamedResult {
	r := namedResult(m.Result)
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

// refuse returns why the answer is refused, nil if it is not.
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
	if _, ok := replacedPlayers(m, p.chosen.matches[0].playerIDs(snap)); !ok {
		return Refusal{Code: ChangedSince, Number: m.Number}
	}
	return p.chosen.refuse(snap)
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
	m, reported := p.amend.found(snap), p.chosen.matches[0]
	if snap.History == nil {
		return Decision{}, historyOf{match: m}, nil
	}
	history := *snap.History
	players := reported.playerIDs(snap)
	replaced, _ := replacedPlayers(m, players)
	for _, person := range reported.players {
		k := snap.People[person]
		isThere := func(s ladder.RankedPlayer) bool { return s.Player == k.Player.ID }
		if !slices.ContainsFunc(history.Standings, isThere) {
			standing := k.StandingIn(snap.Ladder).PresentAt(m.PlayedAt)
			history.Standings = append(slices.Clip(history.Standings), ladder.RankedPlayer{Standing: standing})
		}
	}
	with := *snap
	with.History = &history
	amended, said, err := p.amend.amended(&with, m, ladder.ByFix, func(played *ladder.Match) {
		played.Result = reported.result
		// The old player's history entry passes to the new player, so the replay compares the new
		// entry with it.
		for _, r := range replaced {
			played.PartOf(r.From).Player = r.To
		}
	})
	if err != nil {
		return Decision{}, nil, err
	}
	fixed := &Fixed{
		Amended: amended, Old: m.Result, New: reported.result, CameBack: CameBack{Group: snap.Group, At: m.PlayedAt},
	}
	fixed.Rewrite.Players = replaced
	for _, r := range replaced {
		fixed.Rewrite.Unplayed, fixed.Players = append(fixed.Rewrite.Unplayed, r.From), append(fixed.Players, r.To)
	}
	return Decision{
		Effect: fixed, Closes: &ClosedPrompt{ID: snap.Prompt.ID, As: PromptAnswered},
		Page: MatchFixed{
			Number: m.Number, Sides: said.Sides, Sets: said.Sets, Before: new(m.named()), By: said.By, Moved: said.Moved,
		},
	}, nil, nil
}
