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
// Without a result, the result stays, and so does the side of each player of the match who is
// named; see StoredMatch.lineupsOf. If there are two possibilities, the bot asks.
type FixPlayers struct {
	Amendment
	// Lineup is the command without the match's number, as a /match.
	Lineup command.Command
	// Ladder is the Lineup as the name of a ladder, empty if it cannot be one. If a ladder has that
	// name, or if the Lineup names no players, the command is a MoveMatch.
	Ladder string
	// Otherwise is the answer if the Lineup is neither.
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
// in doubt give several readings as they do in a report. It then needs no versus either: the sides
// are halves of the people.
func (f FixPlayers) parse(names *command.Names) (said Parsed, hasResult bool) {
	said = ParseReport(f.Lineup, names)
	switch form, _ := said.Malformed.(WrongForm); form.Reason {
	case command.ReasonNoScore:
		lineup := f.Lineup
		lineup.Args += " 1:0"
		return ParseReport(lineup, names), false
	case command.ReasonNoVersus:
		if people, err := command.ParsePlayers(f.Lineup, names); err == nil && !hasNumber(f.Lineup) {
			half := (len(people) + 1) / 2
			match := command.Match{A: people[:half], B: people[half:], Scores: []ladder.Score{ladder.Win}}
			return Parsed{Reports: []command.Match{match}}, false
		}
	}
	return said, true
}

func (f FixPlayers) operation(s *Service, c *call, names *command.Names) operation {
	op := playersOperation{amendOperation: s.amendment(c, commandFix, f.Amendment), people: senderOf(c.Origin)}
	said, hasResult := f.parse(names)
	op.keepsResult = !hasResult
	readings := []command.Reading{said.Reports}
	switch {
	case said.Malformed != nil && f.Ladder != "":
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

// malformed returns the answer if the Lineup cannot be parsed. If it mentions people, it names
// players, and the answer says what is wrong with that.
func (f FixPlayers) malformed(said Parsed) Notice {
	if form, ok := said.Malformed.(WrongForm); ok && len(f.Lineup.Mentions) > 0 {
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
	people      participants
	readings    []*recordOperation // at least one, each of one match and with the same people
	keepsResult bool               // the readings have a placeholder instead of a result
	// doubt and word are as in ReportPrompt if the command has to be asked about whatever it means
	// for the match; doubt is empty otherwise.
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

// refuse returns why the players cannot be fixed, nil if they can.
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

// refuseLineup returns why the only match of the record cannot be the lineup of m, nil if it can.
func (r *recordOperation) refuseLineup(snap *Snapshot, m *StoredMatch, l lineup) Notice {
	reported := r.matches[0]
	switch bots, out := r.refuseBots(snap, reported), r.refuseOut(snap, reported); {
	case bots != nil:
		return bots
	case out != nil:
		return out
	case snap.Ladder.Archived:
		return Refusal{Code: LadderArchived, Name: snap.Ladder.Name}
	case m.isNow(l):
		return Refusal{Code: SameLineup, Number: m.Number}
	case reported.result.A == reported.result.B && !snap.Ladder.DrawsAllowed:
		return Refusal{Code: NoDraws}
	}
	return nil
}

// lineups returns what the command can mean for the match. A sender who is not named counts as one
// of the players only if the sender played the match.
func (p playersOperation) lineups(snap *Snapshot, m *StoredMatch) (all []lineup) {
	for _, rec := range p.readings {
		reported := rec.matches[0]
		var meant []lineup
		switch {
		case reported.hasDuplicatePlayer(snap), rec.reports[0].Self && !m.isOf(snap.People[reported.players[0]]):
		case p.keepsResult:
			meant = slices.DeleteFunc(m.lineupsOf(reported.playerIDs(snap)),
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
	fixed, said, err := p.fixPlayers(snap, m, lineups[0])
	if err != nil {
		return Decision{}, nil, err
	}
	return Decision{Effect: fixed, Notice: said}, nil, nil
}

// ask asks which of the lineups the match should have.
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

// matchOf returns a lineup as a report.
func (p playersOperation) matchOf(snap *Snapshot, l lineup) (m command.Match) {
	people := func(side []ladder.PlayerID) (all []command.Person) {
		for _, id := range side {
			isOf := func(k Known) bool { return k.Player != nil && k.Player.ID == id }
			all = append(all, p.people[slices.IndexFunc(snap.People, isOf)])
		}
		return all
	}
	m.A, m.B, m.Scores, m.Games = people(l.players[0]), people(l.players[1]), l.result.Sets, l.result.Games
	if len(m.Scores) == 0 {
		m.Scores = []ladder.Score{l.result.Score}
	}
	return m
}
