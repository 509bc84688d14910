package ranking

import (
	"cmp"
	"slices"
	"strconv"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// ExtraMatch separates the message's key from a sequence number in the keys of all matches of the
// message except the first.
const ExtraMatch = "#"

// MaxReports is the maximum number of matches that a message may report.
const MaxReports = 20

// ReadReport records the matches that a message reports, in order, updates the ratings of their
// players, and notifies the group. If the message is ambiguous or unusual, the bot asks first. If
// only some of its matches are probable duplicates or have new players, the bot may record the
// others at once. If the whole result or only the score is missing, a wizard asks for it, except if
// an anonymous admin reports.
//
// An edit of a message that was handled before is handled as an editedReport.
type ReadReport struct {
	// Parsed is the parsed message, nil to parse the command's words.
	Parsed *Parsed
}

func (r ReadReport) plan(s *Service, c *call) *call {
	if c.edit != "" {
		return r.planEdit(s, c)
	}
	if said := c.Said; r.Parsed == nil && said.Args == "" && !said.SaysWhoWon() {
		return startWizardOf(said).plan(s, c)
	}
	// Assume the needs of any report, because the people and scores are not known yet.
	needs := (&recordOperation{service: s, message: c.reportMessage()}).needs()
	if !hasNumber(c.Said) { // a missing score needs suggestions
		needs.Played = SuggestedFrom
	}
	j := job{name: "record match", bucket: RateResult, reports: true, edits: c.Message != ""}
	return r.reading(c.with(j), needs, func(said Parsed) operation { return s.reported(c, said) })
}

// reading gives the call the operation that operationOf returns for the parsed message. It defers
// parsing if the message may use plain names.
func (r ReadReport) reading(c *call, needs Needs, operationOf func(Parsed) operation) *call {
	said := r.Parsed
	if said == nil {
		said = new(ParseReport(c.Said, nil))
		if c.mayNamePlayers() && said.NeedsNames(c.Said) {
			return c.reading(needs, func(snap *Snapshot) operation {
				return operationOf(ParseReport(c.Said, command.NewNames(snap.everybody())))
			})
		}
	}
	c.operation = operationOf(*said)
	return c
}

func (s *Service) reported(c *call, r Parsed) operation {
	readings := []command.Reading{r.Reports}
	if r.Ambiguous != nil {
		readings = r.Ambiguous.Readings
	}
	var refusal Notice = Refusal{Code: SamePlayer}
	switch {
	case r.Unscored != nil && r.Unscored.StandIns == [2]int{} && c.Sender != nil:
		return wizardOf(c, *r.Unscored)
	case r.Malformed != nil:
		refusal = r.Malformed
	case slices.ContainsFunc(readings, func(r command.Reading) bool { return len(r) > MaxReports }):
		refusal = Refusal{Code: TooManyMatches, Matches: MaxReports}
	case r.Ambiguous != nil:
		if ask, ok := s.newAsk(c.reportMessage(), *r.Ambiguous, nil); ok {
			return ask
		}
	default:
		var people participants
		if rec, ok := s.newRecord(c.reportMessage(), r.Reports, &people); ok {
			people.complete(c.VisibleUsers)
			return rec
		}
	}
	return malformedResult{answer{people: senderOf(c.Origin), notice: refusal}, commandMatch}
}

// newRecord returns the operation that records the matches. It adds the players and the reporter to
// people. ok is false if a match names the same person twice.
func (s *Service) newRecord(
	message ReportMessage, reports []command.Match, people *participants,
) (rec *recordOperation, ok bool) {
	rec = &recordOperation{service: s, message: message, reports: reports}
	for i, r := range reports {
		m := reportedMatch{
			key: cmp.Or(r.Key, matchKey(message.Key, i)), result: ladder.ResultOf(r.Scores),
			even: r.IsEven(), when: r.When, standIns: r.StandIns,
		}
		m.result.Games = r.Games
		for side, players := range [][]command.Person{r.A, r.B} {
			for _, p := range players {
				at := people.add(p)
				if slices.Contains(m.players, at) {
					return rec, false
				}
				m.players, m.sides = append(m.players, at), append(m.sides, side+1)
			}
		}
		rec.matches = append(rec.matches, m)
	}
	if message.Reporter != nil {
		rec.reporter = people.add(*message.Reporter)
	}
	rec.people = *people
	return rec, true
}

// matchKey returns the key of the match with index i in a message.
func matchKey(message string, i int) string {
	if i == 0 {
		return message
	}
	return message + ExtraMatch + strconv.Itoa(i+1)
}

// those returns a copy of r that records only the matches at the indexes for which meant returns
// true. It returns nil if there are none.
func (r *recordOperation) those(meant func(i int) bool) *recordOperation {
	some := *r
	some.matches, some.reports = nil, nil
	for i, m := range r.matches {
		if meant(i) {
			report := r.reports[i]
			report.Key = m.key
			some.matches, some.reports = append(some.matches, m), append(some.reports, report)
		}
	}
	if len(some.matches) == 0 {
		return nil
	}
	return &some
}

type recordOperation struct {
	plain
	service *Service
	message ReportMessage
	reports []command.Match
	matches []reportedMatch // at least one
	people  participants
	// reporter is an index into people. It is meaningless if an anonymous admin reports.
	reporter int
	settled  []command.Doubt // doubts not to raise again
	recorded int             // number of the message's other matches that are already recorded
}

type reportedMatch struct {
	key     string
	result  ladder.Result
	even    bool // the sides have the same size
	when    command.When
	players []int // indexes into recordOperation.people
	sides   []int // the side of each player, 1 or 2
	// standIns is as in ladder.Match.
	standIns [2]int
}

// plays reports whether a person plays in one of the matches. person is an index into people.
func (r *recordOperation) plays(person int) bool {
	return slices.ContainsFunc(r.matches, func(m reportedMatch) bool { return slices.Contains(m.players, person) })
}

func (r *recordOperation) needs() Needs {
	needs := Needs{
		People: r.people, New: len(r.people),
		Result: &ladder.LeaderQuery{At: r.message.SentAt, Limit: ladder.MaxLeaders}, Near: !r.isSettled(DoubtUsername),
	}
	if !r.isSettled(DoubtDuplicate) {
		needs.DuplicatesOf = r.message.SentAt
	}
	for _, m := range r.matches {
		if !m.result.HasPoints() {
			needs.DuplicateScores = nil
			break
		}
		needs.DuplicateScores = append(needs.DuplicateScores, m.result.Score)
	}
	return needs
}

// about returns the time at which the matches count. It may be called on a nil operation, which is
// about no match.
func (r *recordOperation) about(snap *Snapshot) subject {
	if r == nil {
		return subject{}
	}
	return subject{reportedAt: r.playedAt(snap)}
}

func (r *recordOperation) refuse(snap *Snapshot) Notice {
	for _, m := range r.matches {
		if n := r.refuseMatch(snap, m); n != nil {
			return n
		}
	}
	return nil
}

func (r *recordOperation) refuseMatch(snap *Snapshot, m reportedMatch) Notice {
	if n := r.refusePlayers(snap, m); n != nil {
		return n
	}
	switch l := snap.Ladder; {
	case l.Archived:
		return Refusal{Code: LadderArchived, Name: l.Name}
	case m.hasDuplicatePlayer(snap):
		return Refusal{Code: SamePlayer}
	case m.result.A == m.result.B && !l.DrawsAllowed:
		return Refusal{Code: NoDraws}
	case !m.even && !l.UnevenTeamsAllowed:
		return Refusal{Code: UnevenTeams}
	}
	return nil
}

// refusePlayers returns a refusal if a player is probably a bot, does not take part in the group's
// rankings, or cannot be added as a guest. Otherwise it returns nil.
func (r *recordOperation) refusePlayers(snap *Snapshot, m reportedMatch) Notice {
	for _, i := range m.players {
		p, k := r.people[i], snap.known(i)
		switch guest := snap.refuseGuest(p, k); {
		case p.MayBeBot() && !k.IsAccount():
			return Refusal{Code: NotAPerson, Name: p.Username}
		case k.Out:
			return k.refusesOut(i == r.reporter && r.message.Reporter != nil)
		case guest != nil:
			return guest
		case !snap.Ladder.OnlyJoined, k.hasJoined(), i == r.reporter && r.message.Reporter != nil:
		case p.IsNewGuest():
			return Refusal{Code: GuestNotYet, Name: p.Name}
		default:
			return Refusal{Code: NotJoinedYet, Who: new(NameOf(p, k))}
		}
	}
	return nil
}

// permission returns who may report the matches.
func (r *recordOperation) permission(snap *Snapshot) Permission {
	return snap.Ladder.reports(r.message.Reporter != nil && r.isPlayedBy(snap, r.reporter))
}

// reports returns who may report matches. plays is set if the sender plays in all of them.
func (l Ladder) reports(plays bool) Permission {
	p := Permission{Who: l.Reporters, Involved: plays, Refusal: Refusal{Code: OnlyAdminsReport}}
	if p.Who == Involved {
		p.Refusal.Code = OnlyPlayersReport
	}
	return p
}

// isPlayedBy reports whether a person plays in all of the matches. person is an index into people.
func (r *recordOperation) isPlayedBy(snap *Snapshot, person int) bool {
	return !slices.ContainsFunc(r.matches, func(m reportedMatch) bool {
		return !slices.ContainsFunc(m.players, func(player int) bool {
			return player == person || snap.known(player).IsSame(snap.known(person))
		})
	})
}

// hasDuplicatePlayer reports whether two of the players turn out to be the same person, mentioned
// in different ways.
func (m reportedMatch) hasDuplicatePlayer(snap *Snapshot) bool {
	sides := m.playerIDs(snap)
	all := slices.Sorted(slices.Values(slices.Concat(sides[0], sides[1])))
	return len(slices.Compact(slices.Clone(all))) < len(all)
}

// decide records the matches, or asks first if something about the report is unusual. In that case,
// it still records the matches that need not wait for the answer.
func (r *recordOperation) decide(snap *Snapshot) (d Decision, lacks need, err error) {
	if m := r.message.Missing; m != nil && !slices.Contains(r.settled, DoubtGame) {
		readings := slices.Repeat([]command.Reading{r.reports}, min(len(m.Maybe), maxMissing))
		return r.ask(command.Report{Doubt: DoubtGame, Word: m.Word, Readings: readings}).ask(snap), nil, nil
	}
	if lacks = r.day(snap); lacks != nil {
		return Decision{}, lacks, nil
	}
	fresh := r
	if ask, waits := r.unusual(snap); ask != nil {
		d = ask.ask(snap)
		if fresh = r.those(func(i int) bool { return !waits(i) }); fresh == nil {
			return d, nil, nil
		}
	}
	var matches NewMatches
	var refusal Notice
	if snap.isOfOtherDay() {
		matches, refusal, lacks, err = fresh.insert(snap)
	} else {
		matches, err = fresh.playAll(snap, make(ladder.Table, len(r.people)))
	}
	if err != nil || matches == nil {
		return Decision{Notice: refusal}, lacks, err
	}
	if snap.Display.Celebrations && snap.Over == 0 && !snap.isOfOtherDay() {
		month := MonthOf(r.message.SentAt, snap.Display.Zone())
		if !month.Equal(snap.UpsetMonth) && slices.ContainsFunc(matches, func(m *NewMatch) bool { return m.Upset > 0 }) {
			return Decision{}, upsetOf{month}, nil
		}
		matches.celebrate(ladder.Leaders{
			LeaderQuery: ladder.LeaderQuery{At: r.message.SentAt, Limit: ladder.MaxLeaders}, Found: snap.Leaders,
			PlaceMatches: snap.Ladder.PlaceMatches,
		}, snap.LargestUpset)
	}
	if d.Asks != nil {
		d.Asks.Report.Recorded += len(matches)
	}
	d.Effect, d.Unadded = matches, false
	return d, nil, nil
}

// adds reports whether a decision that is not Unadded makes the new person p a player. If some
// matches of a report wait for an answer, only the players and reporters of the others are added.
func (d Decision) adds(p ladder.PlayerID) bool {
	matches, records := d.Effect.(NewMatches)
	return !records || d.Asks == nil || slices.ContainsFunc(matches, func(m *NewMatch) bool {
		return m.ReportedBy == p || slices.ContainsFunc(m.Players,
			func(mp ladder.MatchPlayer) bool { return mp.Before.Player == p })
	})
}

// playAll plays the matches in order. table has standings from before the matches, and may lack
// some of their players.
func (r *recordOperation) playAll(snap *Snapshot, table ladder.Table) (matches NewMatches, err error) {
	matches = make(NewMatches, len(r.matches))
	for i, m := range r.matches {
		if matches[i], err = r.play(snap, m, table); err != nil {
			return nil, err
		}
	}
	return matches, nil
}

// play plays a match on table, and returns the match with its players' standings before and after.
// Each person who plays must have a Player in the snapshot. play adds missing standings to table.
func (r *recordOperation) play(snap *Snapshot, reported reportedMatch, table ladder.Table) (*NewMatch, error) {
	at := r.playedAt(snap)
	played := ladder.Match{RatingRules: snap.Ladder.RatingRules, Result: reported.result, PlayedAt: at}
	m := &NewMatch{
		Key: reported.key, StandIns: reported.standIns,
		Group: snap.Group, Ladder: snap.Ladder.ID, Season: snap.Season, ReportedBy: r.reportedBy(snap),
		Played: ladder.Played{RatingRules: played.RatingRules, Result: played.Result, PlayedAt: at},
	}
	var added []Name
	for i, person := range reported.players {
		known := snap.People[person]
		now := table[known.Player.ID]
		if now == nil {
			now = new(known.StandingIn(snap.Ladder))
			if table[known.Player.ID] = now; known.Standing == nil {
				added = append(added, known.Player.name())
			}
		}
		m.Players = append(m.Players, ladder.MatchPlayer{Named: known.namedID(), Side: reported.sides[i], Before: *now})
		*now = now.PresentAt(at) // a player who has left comes back by playing
		played.Parts = append(played.Parts, ladder.Part{Player: now.Player, Side: reported.sides[i]})
	}
	entries, upset, err := table.Play(&played)
	if err != nil {
		return nil, err
	}
	m.Upset = upset
	for i := range m.Players {
		p := &m.Players[i]
		p.K, p.After = entries[i].K, *table[p.Before.Player]
	}
	recorded := RecentMatch{Key: m.Key, ReportedBy: m.ReportedBy, StandIns: m.StandIns}
	m.Card = cardOf(recorded, m.Result, m.B > m.A, played.Parts, entries)
	m.Card.NewPlayers, m.Card.Season = added, snap.Over
	if reported.when != (command.When{}) {
		r.sayDay(snap, reported.when, &m.Card)
	}
	return m, nil
}

// reportedBy returns the player who reported the matches, 0 for an anonymous admin or a reporter
// who is not a player.
func (r *recordOperation) reportedBy(snap *Snapshot) ladder.PlayerID {
	if r.message.Reporter == nil || snap.People[r.reporter].Player == nil {
		return 0
	}
	return snap.People[r.reporter].Player.ID
}
