package ranking

import (
	"cmp"
	"slices"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// FixPlayers corrects who played a match, and its result if the Lineup states one. The match keeps
// its number and its position in the season, and the season is replayed from there. Anyone who may
// undo a match may also fix its players.
//
// If the Lineup states no result, the match keeps its result, and players of the match who are
// named stay on their sides if possible; see StoredMatch.lineupsOf. If there are two possible
// lineups, the bot asks.
type FixPlayers struct {
	Amendment
	// Lineup is the command without the match's number, as a /match.
	Lineup command.Command
	// Ladder is the text of the Lineup if it can be the name of a ladder, otherwise empty. If a
	// ladder has that name, or if Ladder is set and the Lineup cannot be parsed, the command is a
	// MoveMatch.
	Ladder string
	// Otherwise is the answer if the Lineup names neither players nor a ladder.
	Otherwise Notice
}

func (f FixPlayers) plan(s *Service, c *call) *call {
	c = c.amending("fix players", nil)
	if said, _ := f.parse(nil); !c.mayNamePlayers() || !said.NeedsNames(f.Lineup) {
		c.operation = f.operation(s, c, nil)
		return c
	}
	c = c.reading(s.amendment(c, commandFix, f.Amendment).needs(), func(snap *Snapshot) operation {
		if f.Ladder != "" && findLadder(snap.Ladders, f.Ladder) != nil {
			return f.move(s, c)
		}
		return f.operation(s, c, command.NewNames(snap.everybody()))
	})
	c.mayNeed.New, c.asks = len(c.mayNeed.People), false
	return c
}

// parse parses the Lineup like a report. If the Lineup has no result, parse adds one, so that names
// in doubt give several readings as they do in a report. If nothing in it separates the sides
// either, the first half of the people is one side, and the rest is the other. lacks is
// command.ReasonNoScore if the Lineup itself has no result, command.ReasonNoVersus if nothing in it
// separates the sides either, and otherwise empty.
func (f FixPlayers) parse(names *command.Names) (said Parsed, lacks command.Reason) {
	said = ParseReport(f.Lineup, names)
	lineup := f.Lineup
	lineup.Args += " 1:0"
	switch form, _ := said.Malformed.(WrongForm); form.Reason {
	case command.ReasonNoScore:
		return ParseReport(lineup, names), form.Reason
	case command.ReasonUnexpectedWord: // perhaps an unknown name beside a known one
		scored := ParseReport(lineup, names)
		if q := scored.Ambiguous; q != nil && q.Doubt == command.DoubtUnknownName && !q.Readings[0][0].Self {
			return scored, command.ReasonNoScore
		}
	case command.ReasonNoVersus:
		if people, err := command.ParsePlayers(f.Lineup, names); err == nil && !hasNumber(f.Lineup) {
			half := (len(people) + 1) / 2
			match := command.Match{A: people[:half], B: people[half:], Scores: []ladder.Score{ladder.Win}}
			return Parsed{Reports: []command.Match{match}}, form.Reason
		}
	}
	return said, ""
}

func (f FixPlayers) operation(s *Service, c *call, names *command.Names) operation {
	op := playersOperation{amendOperation: s.amendment(c, commandFix, f.Amendment), people: senderOf(c.Origin)}
	said, lacks := f.parse(names)
	op.lacks = lacks
	form, _ := said.Malformed.(WrongForm)
	readings := []command.Reading{said.Reports}
	switch {
	case said.Malformed != nil && f.Ladder != "" && form.Reason != command.ReasonSamePerson:
		return f.move(s, c)
	case said.Malformed != nil:
		return malformedResult{answer{people: senderOf(c.Origin), notice: f.malformed(said)}, commandFix}
	case said.Ambiguous != nil && said.Ambiguous.Doubt == command.DoubtLine:
		return malformedResult{answer{people: senderOf(c.Origin), notice: f.Otherwise}, commandFix}
	case said.Ambiguous != nil:
		readings, op.doubt, op.word = said.Ambiguous.Readings, said.Ambiguous.Doubt, said.Ambiguous.Word
	}
	for _, reports := range readings {
		if len(reports) > 1 {
			form := WrongForm{Command: commandFix, Reason: command.ReasonSeveralResults, Teams: true}
			return malformedResult{answer{people: senderOf(c.Origin), notice: form}, commandFix}
		}
		rec, ok := s.newRecord(c.reportMessage(), reports, &op.people)
		if !ok {
			return malformedResult{answer{people: senderOf(c.Origin), notice: Refusal{Code: SamePlayer}}, commandFix}
		}
		op.readings = append(op.readings, rec)
	}
	op.people.complete(c.VisibleUsers)
	for _, rec := range op.readings {
		rec.people = op.people
	}
	return op
}

// malformed returns the answer to a Lineup that cannot be parsed. A Lineup that mentions people, or
// names a player twice, is meant to name players, so the answer says what is wrong with its form.
func (f FixPlayers) malformed(said Parsed) Notice {
	form, ok := said.Malformed.(WrongForm)
	if ok && (len(f.Lineup.Mentions) > 0 || form.Reason == command.ReasonSamePerson) {
		return WrongForm{Command: commandFix, Reason: form.Reason, Detail: form.Detail, Teams: true}
	}
	return f.Otherwise
}

func (f FixPlayers) move(s *Service, c *call) operation {
	return moveOperation{
		amendOperation: s.amendment(c, commandFix, f.Amendment), name: f.Ladder, otherwise: f.Otherwise,
	}
}

type playersOperation struct {
	amendOperation
	people   participants
	readings []*recordOperation // at least one, each of one match and with the same people
	lacks    command.Reason     // as for FixPlayers.parse; unless empty, the result is a placeholder
	// doubt and word are as in ReportPrompt if the bot has to ask what the command means, even if
	// it can mean only one lineup. Otherwise, doubt is empty.
	doubt command.Doubt
	word  string
}

func (p playersOperation) needs() Needs {
	needs := p.amendOperation.needs()
	needs.People, needs.New, needs.Near = p.people, len(p.people), true
	return needs
}

func (p playersOperation) rejectedResults(snap *Snapshot) []RejectedResult {
	rejected := p.amendOperation.rejectedResults(snap)
	rejected[0].Malformed = true
	return rejected
}

func (p playersOperation) refuse(snap *Snapshot) Notice {
	m := p.found(snap)
	if n := p.refusal(m); n != nil {
		return n
	}
	lineups := p.lineups(snap, m)
	if len(lineups) == 0 && p.readings[0].matches[0].hasDuplicatePlayer(snap) {
		return Refusal{Code: SamePlayer}
	}
	var first Notice = Refusal{Code: WrongLineup, Number: m.Number}
	for i, l := range lineups {
		n := p.readings[0].refuseLineup(snap, m, l)
		if n == nil {
			return nil
		}
		if i == 0 {
			first = n
		}
	}
	return first
}

// refuseLineup returns why the match m cannot get the lineup l, nil if it can. r must have exactly
// one match, which is reported with that lineup.
func (r *recordOperation) refuseLineup(snap *Snapshot, m *StoredMatch, l lineup) Notice {
	reported := r.matches[0]
	switch players := r.refusePlayers(snap, reported); {
	case players != nil:
		return players
	case snap.Ladder.Archived:
		return Refusal{Code: LadderArchived, Name: snap.Ladder.Name}
	case m.isNow(l):
		return Refusal{Code: SameLineup, Number: m.Number}
	case reported.result.A == reported.result.B && !snap.Ladder.DrawsAllowed:
		return Refusal{Code: NoDraws}
	}
	return nil
}

// lineups returns the distinct lineups that the command can mean for the match. A reading that
// includes the sender without naming them is possible only if the sender played the match.
func (p playersOperation) lineups(snap *Snapshot, m *StoredMatch) (all []lineup) {
	for _, rec := range p.readings {
		reported := rec.matches[0]
		var meant []lineup
		switch {
		case reported.hasDuplicatePlayer(snap), rec.reports[0].Self && !m.isOf(snap.People[reported.players[0]]):
		case p.lacks != "":
			meant = slices.DeleteFunc(m.lineupsOf(reported.playerIDs(snap), p.lacks == command.ReasonNoScore),
				func(l lineup) bool { return !reported.keepsStandIns(m, l, snap) })
		default:
			if l, ok := reported.lineupOf(m, snap); ok {
				meant = []lineup{l}
			}
		}
		for _, l := range meant {
			if !slices.ContainsFunc(all, l.isSame) {
				all = append(all, l)
			}
		}
	}
	return all
}

func (p playersOperation) decide(snap *Snapshot) (Decision, need, error) {
	m, lineups := p.found(snap), p.lineups(snap, p.found(snap))
	if q, ok := p.readings[0].nearUsername(snap); ok && p.doubt == "" {
		near := NameOf(snap.near(q.Word)[0], Known{})
		return Decision{Unadded: true, Notice: Refusal{Code: NoSuchPlayer, Name: "@" + q.Word, Near: &near}}, nil, nil
	}
	if len(lineups) > 1 || p.doubt != "" {
		return p.ask(snap, m, lineups), nil, nil
	}
	if snap.History == nil {
		return Decision{}, historyOf{match: m}, nil
	}
	fixed, said, err := p.fixPlayers(snap, m, lineups[0], p.readings[0].matches[0])
	if err != nil {
		return Decision{}, nil, err
	}
	return Decision{Effect: fixed, Notice: said}, nil, nil
}

func (p playersOperation) ask(snap *Snapshot, m *StoredMatch, lineups []lineup) Decision {
	q := command.Report{Doubt: cmp.Or(p.doubt, DoubtLineup), Word: p.word}
	for _, l := range lineups {
		match := p.matchOf(snap, l)
		match.StandIns = m.StandIns
		q.Readings = append(q.Readings, command.Reading{match})
	}
	ask := p.readings[0].ask(q)
	ask.request.Replaces = &MatchChoice{m.ID, m.Changes}
	ask.earlier = []EarlierReport{{Number: m.Number, Result: new(m.named())}}
	return ask.ask(snap)
}

// matchOf returns a lineup as a report of the match. Each player must be among the people.
func (p playersOperation) matchOf(snap *Snapshot, l lineup) (m command.Match) {
	people := func(side []ladder.PlayerID) (all []command.Person) {
		for _, id := range side {
			for i, k := range slices.Backward(snap.People) { // prefer a named entry to the sender's, the first
				if k.Player != nil && k.Player.ID == id {
					all = append(all, p.people[i])
					break
				}
			}
		}
		return all
	}
	m.A, m.B, m.Scores, m.Games = people(l.players[0]), people(l.players[1]), l.result.Sets, l.result.Games
	if len(m.Scores) == 0 {
		m.Scores = []ladder.Score{l.result.Score}
	}
	return m
}
