package ranking

import (
	"cmp"
	"slices"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// PromptWizard asks for a result step by step: first for the opponent, unless the players are
// known, then for the score. Where people play two against two, it may ask for the Picks instead
// of the opponent. Only the person who started the wizard may answer. A Choice is an index into the
// opponents.
const PromptWizard PromptKind = "wizard"

// PlayedBefore is a recorded match on which a wizard bases its suggestions.
type PlayedBefore struct {
	Opponents []command.Person // the sender's opponents; none if the sender did not play
	Score     ladder.Score
	Doubles   bool // two played against two
}

// OtherScore is the option to show more scores. As a score, it is not valid.
var OtherScore = ladder.Score{A: ladder.NoPoints, B: 1}

const (
	// SuggestedFrom is how many recent matches a wizard bases its suggestions on: up to that many
	// of the sender's own, and up to that many of the ladder's, by any players.
	SuggestedFrom = 50
	// OpponentsPerPage is the number of opponents that a wizard shows at once.
	OpponentsPerPage = 8
	// maxOpponents is the maximum number of opponents with which a wizard starts. Few ladders have
	// more members.
	maxOpponents = 200
	// suggestedScores is how many likely scores with points a wizard offers at first, half of them
	// wins. Choosing OtherScore doubles the number.
	suggestedScores = 6
)

// WizardRequest is what a PromptWizard asks about.
type WizardRequest struct {
	ReportMessage                  // the message that started the wizard; its Reporter is set
	Opponents     []command.Person `json:"opponents"` // the likeliest first, then those from replies
	Scores        []ladder.Score   `json:"scores"`    // typed with a name, reporter's points first
	NoDraws       bool             `json:"no_draws,omitempty"`
	// Teams are the sides if both are known, except in a match of the sender against one opponent.
	// The points of the first side come first. With Teams, there are no Opponents, unless two
	// people may also have played with each other. Then the second of the two is the first of the
	// Opponents.
	Teams [2][]command.Person `json:"teams,omitzero"`
	// Doubles means that the wizard accepts Picks.
	Doubles bool `json:"doubles,omitempty"`
	command.When
}

// Picks are the players whom the sender has chosen for a match of two against two: the partner of
// the first player, and then the two opponents. Each is a Choice plus 1, or 0 if not chosen yet.
// The first player is the sender or, if there are Teams, the player in the first of them.
type Picks [3]int

// With returns p with the next player chosen. At least one player must be left to choose.
func (p Picks) With(next Choice) Picks {
	p[p.count()] = int(next) + 1
	return p
}

// Has reports whether a Choice is among the picks.
func (p Picks) Has(c Choice) bool { return slices.Contains(p[:], int(c)+1) }

// count returns how many players are chosen.
func (p Picks) count() int {
	if at := slices.Index(p[:], 0); at >= 0 {
		return at
	}
	return len(p)
}

func (r WizardRequest) tag() MatchTag { return TagOf(r.Key) }

// HasTeams reports whether the wizard has Teams.
func (r WizardRequest) HasTeams() bool { return len(r.Teams[0]) > 0 }

// report returns the match with the score of s, between the sides that s is about.
func (r WizardRequest) report(s ScoreAgainst) command.Match {
	sides := r.sides(s)
	return command.Match{A: sides[0], B: sides[1], Scores: []ladder.Score{s.Score}}
}

// sides returns the sides of the match to which a score belongs.
func (r WizardRequest) sides(s ScoreAgainst) [2][]command.Person {
	switch {
	case s.Picks != Picks{}:
		return r.picked(s.Picks)
	case r.HasTeams():
		return r.Teams
	}
	return [2][]command.Person{{*r.Reporter}, {r.Opponents[s.Opponent]}}
}

// picked returns the sides of a match of two against two, with the players chosen so far.
func (r WizardRequest) picked(p Picks) (sides [2][]command.Person) {
	sides[0] = []command.Person{*r.Reporter}
	if r.HasTeams() {
		sides[0] = slices.Clone(r.Teams[0])
	}
	for i, at := range p[:p.count()] {
		side := min(i, 1)
		sides[side] = append(sides[side], r.Opponents[at-1])
	}
	return sides
}

// OpponentPage is the option to show a page of opponents, counted from 1.
type OpponentPage int

// Doubles is the option to play two against two. It leads to a page of people for the next pick or,
// if the picks are complete, to the score.
type Doubles struct {
	Picks Picks
	Page  OpponentPage // 0 leads back to the previous question
}

// ScoreAgainst is the option to choose a score. The sender's points come first in a match against
// the Opponent, and the first team's points in a match between teams.
type ScoreAgainst struct {
	Opponent Choice // 0 if there are teams
	Score    ladder.Score
	Picks    Picks // complete in a match of two against two, otherwise zero
}

// has reports whether the wizard accepts an option.
func (r WizardRequest) has(o PromptOption) bool {
	switch o := o.(type) {
	case Choice:
		return o >= 0 && int(o) < len(r.Opponents)
	case OpponentPage:
		return o > 0 && int(o) <= (len(r.Opponents)+OpponentsPerPage-1)/OpponentsPerPage
	case Doubles:
		return r.Doubles && (o.Page == 0 || r.has(o.Page)) &&
			slices.Min(o.Picks[:]) >= 0 && slices.Max(o.Picks[:]) <= len(r.Opponents)
	case ScoreAgainst:
		isValid := o.Score.IsValid()
		if o.Picks != (Picks{}) {
			return isValid && o.Picks.count() == len(o.Picks) && r.has(Doubles{Picks: o.Picks})
		}
		return (isValid || o.Score == OtherScore) && r.has(o.Opponent) || isValid && r.HasTeams() && o.Opponent == 0
	case Cancel, command.Reading, command.Person, UnclearOpponent:
		return true
	}
	return false
}

// StartWizard asks the sender for a result, step by step. If Opponent is set, it starts with the
// score. If there is no opponent to offer, or the sender is an anonymous admin, the answer is
// Otherwise.
type StartWizard struct {
	Opponent  *command.Person
	Otherwise Notice
}

// startWizardOf returns the operation for a /match without arguments. In a reply to another person,
// that person is the opponent.
func startWizardOf(said command.Command) StartWizard {
	w := StartWizard{Otherwise: WrongForm{Command: command.NameMatch, Reason: command.ReasonEmpty}}
	if said.Reply != nil && said.Reply.ID != said.Sender.ID {
		w.Opponent = said.Reply
	}
	return w
}

func (w StartWizard) plan(s *Service, c *call) *call {
	if c.Sender == nil {
		return Say{Notice: w.Otherwise, Malformed: commandMatch}.plan(s, c)
	}
	op := startWizard{
		message: c.reportMessage(), people: senderOf(c.Origin), otherwise: w.Otherwise, playing: [2][]int{{0}},
	}
	if w.Opponent != nil {
		op = op.against(*w.Opponent)
	}
	return c.with(job{name: "start wizard", bucket: RateResult, operation: op})
}

// StartTeamWizard asks the sender for the score of a match between two teams. The command names the
// players, and Split is the ladder.Split that divides them. If the sender plays, the points of the
// sender's team come first.
type StartTeamWizard struct{ Split int }

func (w StartTeamWizard) plan(_ *Service, c *call) *call {
	c = c.with(job{name: "start wizard", bucket: RatePress})
	read := func(everybody []command.Person) operation {
		names := command.NewNames(everybody)
		players, err := command.ParsePlayers(c.Said, names)
		split, valid := ladder.SplitOf(w.Split, len(players))
		if err != nil || !valid {
			return answer{people: senderOf(c.Origin), notice: Refusal{Code: UnknownButton}}
		}
		teams := ladder.Divide(split, players)
		op := wizardOf(c, command.Match{A: teams[0], B: teams[1]})
		op.pressed = true
		op.people.areOfEarlierMessage(senderOf(c.Origin))
		return op
	}
	if c.mayNamePlayers() {
		return c.reading(Needs{Played: SuggestedFrom}, func(snap *Snapshot) operation { return read(snap.everybody()) })
	}
	c.operation = read(nil)
	return c
}

// wizardOf returns the operation that asks the sender for the score of a match.
func wizardOf(c *call, m command.Match) startWizard {
	op, sides := startWizard{message: c.reportMessage(), people: senderOf(c.Origin), when: m.When},
		[2][]command.Person{m.A, m.B}
	isSender := c.Sender.IsSame
	if slices.ContainsFunc(sides[1], isSender) {
		sides[0], sides[1] = sides[1], sides[0]
	}
	if len(sides[0])+len(sides[1]) == 2 && isSender(sides[0][0]) {
		return op.against(sides[1][0])
	}
	op.teams = op.people.addSides(sides)
	op.maybeTogether = len(sides[0])+len(sides[1]) == 2 && !c.Said.NamesTeams()
	return op
}

type startWizard struct {
	plain
	message   ReportMessage // the message that starts the wizard; its Reporter is set
	pressed   bool          // a button starts the wizard
	people    participants  // the sender first
	opponent  *command.Person
	otherwise Notice
	when      command.When

	teams [2][]int // as in WizardRequest, as indexes into the people
	// maybeTogether is set if each team is one person, and the command does not say whether the two
	// played together or against each other.
	maybeTogether bool
	playing       [2][]int // the sender and the opponent, as far as known, as indexes into the people
}

// against returns the wizard with its opponent, who plays against the sender.
func (w startWizard) against(opponent command.Person) startWizard {
	w.opponent, w.playing = &opponent, w.people.addSides([2][]command.Person{{*w.message.Reporter}, {opponent}})
	return w
}

func (w startWizard) hasTeams() bool { return len(w.teams[0]) > 0 }

func (w startWizard) needs() Needs {
	suggests := w.opponent == nil && (!w.hasTeams() || w.maybeTogether)
	return Needs{People: w.people, Played: SuggestedFrom, Everybody: suggests}
}

func (w startWizard) refuse(snap *Snapshot) Notice {
	if snap.Ladder.Archived {
		return Refusal{Code: LadderArchived, Name: snap.Ladder.Name}
	}
	for _, i := range slices.Concat(w.playing[0], w.playing[1], w.teams[0], w.teams[1]) {
		if k := snap.People[i]; k.Out {
			return k.refusesOut(i == 0)
		}
	}
	return nil
}

func (w startWizard) permission(snap *Snapshot) Permission {
	isSender := func(person int) bool { return snap.known(person).IsSame(snap.known(0)) }
	isOut := w.hasTeams() && !w.maybeTogether && !slices.ContainsFunc(slices.Concat(w.teams[0], w.teams[1]), isSender)
	return snap.Ladder.reports(!isOut)
}

func (w startWizard) rejectedResults(*Snapshot) []RejectedResult {
	return []RejectedResult{{Command: commandMatch, Malformed: true}}
}

func (w startWizard) decide(snap *Snapshot) (Decision, need, error) {
	r := &WizardRequest{ReportMessage: w.message, NoDraws: !snap.Ladder.DrawsAllowed, When: w.when}
	r.Ladder, r.Reporter = snap.Ladder.ID, new(w.stored(snap, 0))
	for side, team := range w.teams {
		for _, person := range team {
			r.Teams[side] = append(r.Teams[side], w.stored(snap, person))
		}
	}
	r.Opponents = w.opponents(snap, r)
	// Besides the sender or, with teams, the first team's player, two against two needs three
	// people.
	r.Doubles = w.opponent == nil && len(r.Opponents) > 2 &&
		slices.ContainsFunc(snap.LastMatches, func(m PlayedBefore) bool { return m.Doubles })
	d := Decision{Asks: &NewPrompt{Kind: PromptWizard, Wizard: r}}
	switch {
	case r.HasTeams() && r.Doubles:
		d.Notice = r.askDoubles(snap, 0, Doubles{Page: 1})
	case r.HasTeams():
		r.Opponents, d.Notice = nil, r.askScore(snap, 0, ScoreAgainst{}, suggestedScores)
		if w.pressed {
			d.CallbackAnswer = Acknowledged{}
		}
	case w.opponent != nil:
		d.Notice = r.askScore(snap, 0, ScoreAgainst{}, suggestedScores)
	case len(r.Opponents) > 0:
		d.Notice = r.askOpponent(0, 1)
	default:
		return Decision{Notice: w.otherwise}, nil, nil
	}
	return d, nil, nil
}

// stored returns a person, given by an index into the people: as stored if the person is a player,
// otherwise as in the command.
func (w startWizard) stored(snap *Snapshot, person int) command.Person {
	if k := snap.People[person]; k.IsPlayer() {
		return k.person()
	}
	return w.people[person]
}

// opponents returns the people that the wizard offers. If the wizard has an opponent, it returns
// only the opponent; if it has teams that played against each other, none. Otherwise it returns at
// most maxOpponents members of the group's ladders, the sender's most frequent opponents first. If
// two people may have played together, the second of them and the sender precede these members.
func (w startWizard) opponents(snap *Snapshot, r *WizardRequest) []command.Person {
	switch {
	case w.opponent != nil:
		return []command.Person{*w.opponent}
	case w.hasTeams() && !w.maybeTogether:
		return nil
	}
	var played []command.Person
	for _, m := range snap.LastMatches {
		played = append(played, m.Opponents...)
	}
	known := append(slices.Concat(r.Teams[0], r.Teams[1]), *r.Reporter)
	all := slices.DeleteFunc(mostFrequent(append(played, snap.everybody()...), command.Person.IsSame),
		func(p command.Person) bool {
			isOf := func(k Known) bool { return k.Player != nil && k.Player.ID == p.Player }
			return p.CountsAs != 0 || slices.ContainsFunc(snap.People, isOf) || snap.everybodyWith(p.Player).Out
		})
	all = slices.Concat(known[1:], all) // without teams, known[1:] is empty
	return all[:min(len(all), maxOpponents)]
}

// likelyScores returns the suggestedScores likeliest wins, and the same scores as losses. Scores
// between the sender and the opponent are the likeliest. The others are ordered by how often they
// occur in played, with one more occurrence added for each of six common scores. The three
// likeliest wins come first, the clearest of them first, and then the same scores as losses, in
// reverse order. The other wins and losses follow in the same way.
func likelyScores(played []PlayedBefore, opponent command.Person) (all []ladder.Score) {
	wins := []ladder.Score{{A: 3}, {A: 3, B: 1}, {A: 3, B: 2}, {A: 2}, {A: 2, B: 1}, {A: 1}}
	for _, m := range played {
		if !m.Score.HasPoints() || m.Score.A == m.Score.B {
			continue
		}
		counts := 1
		if slices.ContainsFunc(m.Opponents, opponent.IsSame) {
			counts += len(played) // outweighs all scores against others
		}
		win := ladder.Score{A: max(m.Score.A, m.Score.B), B: min(m.Score.A, m.Score.B)}
		wins = append(wins, slices.Repeat([]ladder.Score{win}, counts)...)
	}
	wins = mostFrequent(wins, func(a, b ladder.Score) bool { return a == b })
	for some := range slices.Chunk(wins[:suggestedScores], suggestedScores/2) {
		slices.SortFunc(some, func(a, b ladder.Score) int {
			return cmp.Or(cmp.Compare(b.A-b.B, a.A-a.B), cmp.Compare(a.A, b.A))
		})
		all = append(all, some...)
		for _, s := range slices.Backward(some) {
			all = append(all, ladder.Score{A: s.B, B: s.A})
		}
	}
	return all
}

// mostFrequent returns the distinct items, most frequent first. Equally frequent items keep their
// order.
func mostFrequent[T any](items []T, same func(a, b T) bool) []T {
	type counted struct {
		item  T
		count int
	}
	var all []counted
	for _, item := range items {
		at := slices.IndexFunc(all, func(c counted) bool { return same(item, c.item) })
		if at < 0 {
			at, all = len(all), append(all, counted{item: item})
		}
		all[at].count++
	}
	slices.SortStableFunc(all, func(a, b counted) int { return cmp.Compare(b.count, a.count) })
	sorted := make([]T, len(all))
	for i, c := range all {
		sorted[i] = c.item
	}
	return sorted
}

// askOpponent asks for the opponent, with a page of the opponents that the wizard offers. id is 0
// in the prompt's first message.
func (r WizardRequest) askOpponent(id PromptID, page OpponentPage) OpponentPrompt {
	first := int(page-1) * OpponentsPerPage
	shown := r.Opponents[first:min(first+OpponentsPerPage, len(r.Opponents))]
	return OpponentPrompt{
		Prompt: id, Tag: r.tag(), Opponents: shownNames(shown), First: first, Total: len(r.Opponents), Doubles: r.Doubles,
	}
}

// askDoubles asks for the next pick or, if the picks are complete, for the score. If there are
// teams and nobody is chosen yet, it asks whether the two played together.
func (r WizardRequest) askDoubles(snap *Snapshot, id PromptID, o Doubles) Notice {
	switch p, count := o.Picks, o.Picks.count(); {
	case o.Page == 0 && count == 0:
		return r.askOpponent(id, 1)
	case o.Page == 0:
		p[count-1] = 0
		return r.askDoubles(snap, id, Doubles{Picks: p, Page: 1})
	case count == len(p):
		return r.askScore(snap, id, ScoreAgainst{Picks: p}, suggestedScores)
	case count == 0 && r.HasTeams():
		return TogetherPrompt{Prompt: id, Tag: r.tag(), Pair: [2]Name(shownNames(slices.Concat(r.Teams[:]...)))}
	}
	n := r.askOpponent(id, o.Page)
	n.Doubles, n.Picks, n.Sides = false, &o.Picks, shownSides(r.picked(o.Picks))
	return n
}

// askScore asks for the score against an opponent, or between teams. count is how many likely
// scores to offer.
func (r WizardRequest) askScore(snap *Snapshot, id PromptID, against ScoreAgainst, count int) ScorePrompt {
	n := ScorePrompt{Prompt: id, Tag: r.tag(), At: against.Opponent, Picks: against.Picks}
	var opponent command.Person
	sides, ofTeams := r.sides(against), r.HasTeams() || against.Picks != (Picks{})
	if ofTeams {
		n.Teams = shownSides(sides)
	} else {
		opponent = sides[1][0]
		n.Opponent = NameOf(opponent, Known{})
	}
	offered := append(likelyScores(snap.LastMatches, opponent)[:count], r.Scores...)
	for _, s := range append(offered, ladder.Win, ladder.Loss, ladder.Draw, OtherScore) {
		score, isOver := [2]int{s.A, s.B}, s == OtherScore && (count > suggestedScores || ofTeams)
		if !isOver && (s != ladder.Draw || !r.NoDraws) && !slices.Contains(n.Scores, score) {
			n.Scores = append(n.Scores, score)
		}
	}
	return n
}

// UnclearOpponent is an opponent's name that may mean several people, or that no member has.
type UnclearOpponent struct {
	Doubt  command.Doubt    // command.DoubtName or DoubtUnknownName
	Word   string           // the name
	People []command.Person // the people it may mean, likeliest first; none if no name is similar
	// Score is the score typed with the name, with the sender's points first; nil if there was
	// none.
	Score *ladder.Score
}

// with returns the wizard with the people of u added to the end of its opponents. If u has a score,
// it replaces the typed scores.
func (r WizardRequest) with(u UnclearOpponent) WizardRequest {
	r.Opponents = slices.Concat(r.Opponents, u.People)
	if u.Score != nil {
		r.Scores = []ladder.Score{*u.Score}
	}
	return r
}

// askWho asks which person an unclear name means. The people of u must be the last opponents of the
// wizard.
func (r WizardRequest) askWho(id PromptID, u UnclearOpponent) NamePrompt {
	first := len(r.Opponents) - len(u.People)
	return NamePrompt{
		Prompt: id, Tag: r.tag(), Doubt: u.Doubt, Word: u.Word,
		Opponents: shownNames(u.People), First: first, More: first > 0,
		Guest: slices.ContainsFunc(u.People, command.Person.IsNewGuest),
	}
}

func (a PromptAnswer) planWizard(s *Service, c *call) *call {
	wizard := c.found.prompt.Wizard
	c.Ladder = wizard.Ladder
	op := wizardAnswer{
		promptedResult: promptedResult{PromptAnswer: a, origin: c.Origin, people: senderOf(c.Origin)},
		reporter:       wizard.Reporter.ID, known: wizard.has(a.Option),
	}
	reports, _ := a.Option.(command.Reading)
	if score, ok := a.Option.(ScoreAgainst); ok && op.known && score.Score != OtherScore {
		reports = command.Reading{wizard.report(score)}
	}
	for i, r := range reports {
		reports[i].When = cmp.Or(r.When, wizard.When)
	}
	if reports != nil {
		op.chosen, op.known = s.newRecord(wizard.ReportMessage, reports, &op.people)
	}
	switch o := a.Option.(type) { // whom the answer names without recording a result
	case Choice:
		if op.known {
			op.people.add(wizard.Opponents[o])
		}
	case Doubles:
		if op.known && o.Page > 0 {
			op.people.addSides(wizard.picked(o.Picks))
		}
	case command.Person:
		op.people.add(o)
	}
	op.people.areOfEarlierMessage(senderOf(c.Origin))
	if op.chosen != nil {
		op.chosen.people, op.added = op.people, len(op.people)
	}
	if c.Button != "" && wizard.Chat == c.Chat.ID {
		c.ReplyTo = wizard.Message
	}
	return c.with(job{name: "answer prompt", bucket: RatePress, locks: true, operation: op})
}

type wizardAnswer struct {
	promptedResult
	reporter ladder.UserID // the person who may answer
	known    bool          // the wizard accepts the option, and no person is in its result twice
}

func (w wizardAnswer) refuse(snap *Snapshot) Notice {
	switch {
	case !snap.Prompt.is(w.Prompt), snap.Prompt.Wizard == nil, !w.known:
		return Refusal{Code: UnknownButton}
	case w.origin.Sender == nil, w.origin.Sender.ID != w.reporter:
		return Refusal{Code: NotYourPrompt}
	// If an edit of the message has reported the result, the message has matches.
	case snap.Prompt.Closed, !snap.Prompt.isOf(snap.Ladder), len(snap.Matches) > 0:
		return Refusal{Code: PromptOver}
	case w.chosen != nil:
		return nil // the operation that records the result has refusals of its own
	}
	for _, k := range snap.People[1:] { // after the sender
		if k.Out {
			return k.refusesOut(false)
		}
	}
	return nil
}

func (w wizardAnswer) permission(snap *Snapshot) Permission {
	if w.chosen == nil {
		return Permission{}
	}
	return w.chosen.permission(snap)
}

func (w wizardAnswer) decide(snap *Snapshot) (d Decision, lacks need, err error) {
	r, prompt := snap.Prompt.Wizard, snap.Prompt.ID
	switch o := w.Option.(type) {
	case ScoreAgainst, command.Reading:
		if w.chosen != nil {
			return w.record(snap)
		}
		d.Page = r.askScore(snap, prompt, o.(ScoreAgainst), 2*suggestedScores)
	case OpponentPage:
		d.Page = r.askOpponent(prompt, o)
	case Choice:
		d.Page = r.askScore(snap, prompt, ScoreAgainst{Opponent: o}, suggestedScores)
	case Doubles:
		d.Page = r.askDoubles(snap, prompt, o)
	case UnclearOpponent:
		with := r.with(o)
		d.Asks = &NewPrompt{ID: prompt, Kind: PromptWizard, Wizard: &with}
		d.Page = with.askWho(prompt, o)
	case command.Person:
		with := r.with(UnclearOpponent{People: []command.Person{o}})
		d.Asks = &NewPrompt{ID: prompt, Kind: PromptWizard, Wizard: &with}
		d.Page = with.askScore(snap, prompt, ScoreAgainst{Opponent: Choice(len(r.Opponents))}, suggestedScores)
	case Cancel:
		d.Page = ReportDropped{By: new(w.by(snap))}
		d.Closes = &ClosedPrompt{ID: prompt, As: PromptCanceled}
	}
	return d, nil, nil
}

// OpponentPrompt asks who the opponent was, or for the next pick.
type OpponentPrompt struct {
	Prompt    PromptID `json:"prompt,omitempty"` // 0 in the prompt's first message
	Tag       MatchTag `json:"tag,omitempty"`
	Opponents []Name   `json:"opponents"`         // of this page
	First     int      `json:"first"`             // the index of the first of them, from 0
	Total     int      `json:"total"`             // number of opponents on all pages
	Doubles   bool     `json:"doubles,omitempty"` // two against two is offered
	// Picks are the players chosen so far in a match of two against two, who cannot be chosen
	// again. It is nil if the prompt asks for the opponent.
	Picks *Picks    `json:"picks,omitempty"`
	Sides [2][]Name `json:"sides,omitzero"` // the first player and the Picks, by side
}

var _ = notice.Register[OpponentPrompt](notice.Kind{Name: "opponent_prompt", Purpose: notice.Answer, Alone: true})

// TogetherPrompt asks whether two people played against each other or together.
type TogetherPrompt struct {
	Prompt PromptID `json:"prompt,omitempty"` // 0 in the prompt's first message
	Tag    MatchTag `json:"tag,omitempty"`
	Pair   [2]Name  `json:"pair"`
}

var _ = notice.Register[TogetherPrompt](notice.Kind{Name: "together_prompt", Purpose: notice.Answer, Alone: true})

// NamePrompt asks which person the name of an opponent means.
type NamePrompt struct {
	Prompt    PromptID      `json:"prompt"`
	Tag       MatchTag      `json:"tag,omitempty"`
	Doubt     command.Doubt `json:"doubt"`
	Word      string        `json:"word"`                // the name
	Opponents []Name        `json:"opponents,omitempty"` // the people it may mean, likeliest first
	First     int           `json:"first"`               // the index of the first of them, from 0
	More      bool          `json:"more,omitempty"`      // the wizard also has pages of other opponents
	Guest     bool          `json:"guest,omitempty"`     // the last of the Opponents would be a new guest
}

var _ = notice.Register[NamePrompt](notice.Kind{Name: "name_prompt", Purpose: notice.Answer, Alone: true})

// ScorePrompt asks for the score of the sender against an opponent, or between two teams.
type ScorePrompt struct {
	Prompt   PromptID `json:"prompt,omitempty"` // 0 in the prompt's first message
	Tag      MatchTag `json:"tag,omitempty"`
	At       Choice   `json:"at"`             // the Choice of the Opponent, 0 if there are Teams
	Picks    Picks    `json:"picks,omitzero"` // complete in a match of two against two, otherwise zero
	Opponent Name     `json:"opponent,omitzero"`
	// Scores have the points of the sender or of the first team first. In order, they are wins and
	// losses with points, typed scores, scores without points, and perhaps OtherScore.
	Scores [][2]int `json:"scores"`
	// Teams are the sides if there is no Opponent.
	Teams [2][]Name `json:"teams,omitzero"`
}

var _ = notice.Register[ScorePrompt](notice.Kind{Name: "score_prompt", Purpose: notice.Answer, Alone: true})
