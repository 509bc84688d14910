package ranking

import (
	"cmp"
	"slices"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// PromptWizard asks for a result step by step: first for the opponent, unless the players are
// known, then for the score. Only the person who started the wizard may answer. A Choice is an
// index into the opponents.
const PromptWizard PromptKind = "wizard"

// PlayedBefore is a recorded match on which a wizard bases its suggestions.
type PlayedBefore struct {
	Opponents []command.Person // the sender's opponents; none if the sender did not play
	Score     ladder.Score
}

// OtherScore is the option to show more scores. As a score, it is not valid.
var OtherScore = ladder.Score{A: ladder.NoPoints, B: 1}

const (
	// SuggestedFrom is how many recent matches a wizard bases its suggestions on: up to that many
	// of the sender's own, and up to that many of the ladder's, whoever played them.
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
	// With Teams, there are no Opponents, and the points of the first side come first.
	Teams [2][]command.Person `json:"teams,omitzero"`
	command.When
}

func (r WizardRequest) tag() MatchTag { return TagOf(r.Key) }

// HasTeams reports whether the wizard has Teams rather than Opponents.
func (r WizardRequest) HasTeams() bool { return len(r.Teams[0]) > 0 }

// report returns the match against the opponent, or between the teams.
func (r WizardRequest) report(s ScoreAgainst) command.Match {
	if r.HasTeams() {
		return command.Match{A: r.Teams[0], B: r.Teams[1], Scores: []ladder.Score{s.Score}}
	}
	return command.Match{
		A: []command.Person{*r.Reporter}, B: []command.Person{r.Opponents[s.Opponent]}, Scores: []ladder.Score{s.Score},
	}
}

// OpponentPage is the option to show a page of opponents, counted from 1.
type OpponentPage int

// ScoreAgainst is the option of a score: against the Opponent, with the sender's points first, or
// between teams, with the first team's points first.
type ScoreAgainst struct {
	Opponent Choice // 0 if the wizard has teams
	Score    ladder.Score
}

// has reports whether the wizard accepts an option.
func (r WizardRequest) has(o PromptOption) bool {
	switch o := o.(type) {
	case Choice:
		return o >= 0 && int(o) < len(r.Opponents)
	case OpponentPage:
		return o > 0 && int(o) <= (len(r.Opponents)+OpponentsPerPage-1)/OpponentsPerPage
	case ScoreAgainst:
		isValid := o.Score.IsValid()
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
	op := startWizard{message: c.reportMessage(), people: senderOf(c.Origin), opponent: w.Opponent, otherwise: w.Otherwise}
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
		op.opponent = &sides[1][0]
		return op
	}
	op.teams, op.playing = sides, op.people.addSides(sides)
	return op
}

// startWizard starts a PromptWizard.
type startWizard struct {
	plain
	message   ReportMessage // the message that starts the wizard; its Reporter is set
	pressed   bool          // a button starts the wizard
	people    participants
	opponent  *command.Person
	otherwise Notice
	when      command.When

	teams   [2][]command.Person // as in WizardRequest
	playing [2][]int            // the teams, as indexes into the people
}

func (w startWizard) hasTeams() bool { return len(w.teams[0]) > 0 }

func (w startWizard) needs() Needs {
	return Needs{People: w.people, Played: SuggestedFrom, Everybody: w.opponent == nil && !w.hasTeams()}
}

func (w startWizard) refuse(snap *Snapshot) Notice {
	if snap.Ladder.Archived {
		return Refusal{Code: LadderArchived, Name: snap.Ladder.Name}
	}
	return nil
}

func (w startWizard) rejectedResults(*Snapshot) []RejectedResult {
	return []RejectedResult{{Command: commandMatch, Malformed: true}}
}

func (w startWizard) decide(snap *Snapshot) (Decision, need, error) {
	r := &WizardRequest{
		ReportMessage: w.message,
		Opponents:     w.opponents(snap),
		NoDraws:       !snap.Ladder.DrawsAllowed, Teams: w.teams, When: w.when,
	}
	r.Ladder = snap.Ladder.ID
	d := Decision{Asks: &NewPrompt{Kind: PromptWizard, Wizard: r}}
	switch {
	case r.HasTeams():
		prompt := r.askScore(snap, 0, 0, suggestedScores)
		for side, team := range w.playing {
			for _, person := range team {
				prompt.Teams[side] = append(prompt.Teams[side], NameOf(w.people[person], snap.People[person]))
			}
		}
		d.Notice = prompt
		if w.pressed {
			d.CallbackAnswer = Acknowledged{}
		}
	case w.opponent != nil:
		d.Notice = r.askScore(snap, 0, 0, suggestedScores)
	case len(r.Opponents) > 0:
		d.Notice = r.askOpponent(0, 1)
	default:
		return Decision{Notice: w.otherwise}, nil, nil
	}
	return d, nil, nil
}

// opponents returns the people that the wizard offers. If the opponent is known, it returns only
// the opponent; if the teams are known, none. Otherwise it returns at most maxOpponents members of
// the group's ladders, the sender's most frequent opponents first.
func (w startWizard) opponents(snap *Snapshot) []command.Person {
	switch {
	case w.opponent != nil:
		return []command.Person{*w.opponent}
	case w.hasTeams():
		return nil
	}
	var played []command.Person
	for _, m := range snap.LastMatches {
		played = append(played, m.Opponents...)
	}
	isSender := w.message.Reporter.IsSame
	all := slices.DeleteFunc(mostFrequent(append(played, snap.everybody()...), command.Person.IsSame), isSender)
	return all[:min(len(all), maxOpponents)]
}

// likelyScores returns the suggestedScores likeliest wins, and the same scores as losses. Scores
// between the sender and the opponent are the likeliest. The others are ordered by how often they
// occur in played, where each of six common scores counts once more. The three likeliest wins come
// first, the clearest of them first, and then the same scores as losses, in reverse order. The
// other wins and losses follow in the same way.
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
func (r WizardRequest) askOpponent(id PromptID, page int) OpponentPrompt {
	first := (page - 1) * OpponentsPerPage
	shown := r.Opponents[first:min(first+OpponentsPerPage, len(r.Opponents))]
	return OpponentPrompt{Prompt: id, Tag: r.tag(), Opponents: shownNames(shown), First: first, Total: len(r.Opponents)}
}

// askScore asks for the score against an opponent, or between the teams. count is how many likely
// scores to offer.
func (r WizardRequest) askScore(snap *Snapshot, id PromptID, at Choice, count int) ScorePrompt {
	n := ScorePrompt{Prompt: id, Tag: r.tag(), At: at}
	var opponent command.Person
	if !r.HasTeams() {
		opponent = r.Opponents[at]
		n.Opponent = NameOf(opponent, Known{})
	}
	offered := append(likelyScores(snap.LastMatches, opponent)[:count], r.Scores...)
	for _, s := range append(offered, ladder.Win, ladder.Loss, ladder.Draw, OtherScore) {
		score, isOver := [2]int{s.A, s.B}, s == OtherScore && (count > suggestedScores || r.HasTeams())
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
	op.people.areOfEarlierMessage(senderOf(c.Origin))
	if op.chosen != nil {
		op.chosen.people, op.added = op.people, len(op.people)
	}
	if c.Button != "" && wizard.Chat == c.Chat.ID {
		c.ReplyTo = wizard.Message
	}
	return c.with(job{name: "answer prompt", bucket: RatePress, locks: true, operation: op})
}

// wizardAnswer is the operation of an answer to a PromptWizard.
type wizardAnswer struct {
	promptedResult
	reporter ladder.UserID // the person who may answer
	known    bool          // the wizard accepts the option, and its result names nobody twice
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
	}
	return nil
}

func (w wizardAnswer) decide(snap *Snapshot) (d Decision, lacks need, err error) {
	r, prompt := snap.Prompt.Wizard, snap.Prompt.ID
	switch o := w.Option.(type) {
	case ScoreAgainst, command.Reading:
		if w.chosen != nil {
			return w.record(snap)
		}
		d.Page = r.askScore(snap, prompt, o.(ScoreAgainst).Opponent, 2*suggestedScores)
	case OpponentPage:
		d.Page = r.askOpponent(prompt, int(o))
	case Choice:
		d.Page = r.askScore(snap, prompt, o, suggestedScores)
	case UnclearOpponent:
		with := r.with(o)
		d.Asks = &NewPrompt{ID: prompt, Kind: PromptWizard, Wizard: &with}
		d.Page = with.askWho(prompt, o)
	case command.Person:
		with := r.with(UnclearOpponent{People: []command.Person{o}})
		d.Asks = &NewPrompt{ID: prompt, Kind: PromptWizard, Wizard: &with}
		d.Page = with.askScore(snap, prompt, Choice(len(r.Opponents)), suggestedScores)
	case Cancel:
		d.Page = ReportDropped{By: new(w.by(snap))}
		d.Closes = &ClosedPrompt{ID: prompt, As: PromptCanceled}
	}
	return d, nil, nil
}

// OpponentPrompt asks who the opponent was.
type OpponentPrompt struct {
	Prompt    PromptID `json:"prompt,omitempty"` // 0 in the prompt's first message
	Tag       MatchTag `json:"tag,omitempty"`
	Opponents []Name   `json:"opponents"` // of this page
	First     int      `json:"first"`     // the index of the first of them, from 0
	Total     int      `json:"total"`     // number of opponents on all pages
}

var _ = notice.Register[OpponentPrompt](notice.Kind{Name: "opponent_prompt", Purpose: notice.Answer, Alone: true})

// NamePrompt asks which person the name of an opponent means.
type NamePrompt struct {
	Prompt    PromptID      `json:"prompt"`
	Tag       MatchTag      `json:"tag,omitempty"`
	Doubt     command.Doubt `json:"doubt"`
	Word      string        `json:"word"`                // the name
	Opponents []Name        `json:"opponents,omitempty"` // the people it may mean, likeliest first
	First     int           `json:"first"`               // the index of the first of them, from 0
	More      bool          `json:"more,omitempty"`      // the wizard has other opponents, on its first pages
}

var _ = notice.Register[NamePrompt](notice.Kind{Name: "name_prompt", Purpose: notice.Answer, Alone: true})

// ScorePrompt asks for the score of the sender against an opponent, or between two teams.
type ScorePrompt struct {
	Prompt   PromptID `json:"prompt,omitempty"` // 0 in the prompt's first message
	Tag      MatchTag `json:"tag,omitempty"`
	At       Choice   `json:"at"` // the Choice of the opponent
	Opponent Name     `json:"opponent,omitzero"`
	// Scores have the points of the sender or of the first team first. In order, they are wins and
	// losses with points, typed scores, scores without points, and perhaps OtherScore.
	Scores [][2]int `json:"scores"`
	// Teams are the sides if there is no Opponent.
	Teams [2][]Name `json:"teams,omitzero"`
}

var _ = notice.Register[ScorePrompt](notice.Kind{Name: "score_prompt", Purpose: notice.Answer, Alone: true})
