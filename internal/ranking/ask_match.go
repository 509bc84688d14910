package ranking

import (
	"cmp"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// PromptReport asks which of several readings a report means, or whether it counts at all. It
// offers the readings.
const PromptReport PromptKind = "report"

// The doubts that the words of a report do not show.
const (
	DoubtUsername  command.Doubt = "username"  // the username is new, and may mean somebody else
	DoubtPlayers   command.Doubt = "players"   // the message of a match that is recorded reports other players
	DoubtDuplicate command.Doubt = "duplicate" // the same result was reported shortly before
	DoubtDate      command.Doubt = "date"      // it was played on another day
	DoubtGame      command.Doubt = "game"      // the report names a missing ladder
)

// ReportMessage is a message that reports a match, or should.
type ReportMessage struct {
	Key      string          `json:"key"`  // its idempotency key
	Chat     ExternalChatID  `json:"chat"` // where Message means the message
	Message  int64           `json:"message,omitempty"`
	SentAt   time.Time       `json:"sent_at"`
	Reporter *command.Person `json:"reporter,omitempty"` // nil for an anonymous admin
	Ladder   ladder.ID       `json:"ladder,omitempty"`   // 0 for the default one, and if the readings have some
	Missing  *MissingLadder  `json:"missing,omitempty"`  // that it names
}

// reportMessage returns the message of a command.
func (c *call) reportMessage() ReportMessage {
	return ReportMessage{
		Key: cmp.Or(c.edit, c.Message, c.Key), Chat: c.Chat.ID, Message: c.ReplyTo, SentAt: c.SentAt,
		Reporter: c.Sender, Missing: c.missing,
	}
}

// sender returns the sender whose limits apply to the message.
func (m ReportMessage) sender() SenderID {
	return Origin{Chat: Chat{ID: m.Chat}, Sender: m.Reporter}.sender()
}

// ReportRequest is what a PromptReport asks about: a report in each of its readings.
type ReportRequest struct {
	ReportMessage
	Readings []command.Reading `json:"readings"`
	Settled  []command.Doubt   `json:"settled,omitempty"` // what is not asked again
	// Completes is the earlier match that a duplicate may complete, nil if it adds nothing to it.
	Completes *Completion `json:"completes,omitempty"`
	// Repeats are the numbers of the earlier matches that the report may repeat.
	Repeats []int `json:"repeats,omitempty"`
	// Recorded is how many matches of the message are recorded. If there are more when the answer
	// comes, an edit has taken its place.
	Recorded int `json:"recorded,omitempty"`
	// Replaces is the match that the report replaces, nil if it reports a new one.
	Replaces *MatchChoice `json:"replaces,omitempty"`
}

// Completion is the score of a match that was reported without one.
type Completion struct {
	Number  int            `json:"number"` // of the match, like Key and Changes
	Key     string         `json:"key"`
	Changes int            `json:"changes,omitempty"`
	Scores  []ladder.Score `json:"scores"` // in the order of its report
}

// ladders returns the ladders in which the readings count, nil for that of the message.
func (r ReportRequest) ladders() []LadderLabel {
	if r.Missing == nil || len(r.Settled) == 0 || r.Settled[len(r.Settled)-1] != DoubtGame {
		return nil
	}
	return r.Missing.Maybe
}

// tag is another one after each question: a second press of a button must not answer the next
// question.
func (r ReportRequest) tag() MatchTag {
	keys := []string{r.Key}
	for _, d := range r.Settled {
		keys = append(keys, string(d))
	}
	return TagOf(keys...)
}

// newAsk returns the operation that asks about a report, of whose people some are in the snapshot
// already. Readings in which somebody plays against themselves are left out; ok is false if none
// remains.
func (s *Service) newAsk(message ReportMessage, q command.Report, people participants) (ask *askOperation, ok bool) {
	request := ReportRequest{ReportMessage: message, Settled: []command.Doubt{settles(q)}}
	ask = &askOperation{request: request, doubt: q.Doubt, word: q.Word, people: people}
	for _, reports := range q.Readings {
		people := slices.Clone(ask.people)
		rec, ok := s.newRecord(message, reports, &people)
		if !ok {
			continue
		}
		ask.people, ask.readings = people, append(ask.readings, rec)
		ask.request.Readings = append(ask.request.Readings, reports)
	}
	for _, rec := range ask.readings {
		rec.people = ask.people
	}
	return ask, len(ask.readings) > 0
}

// askOperation asks which reading of a report is meant. It adds no players.
type askOperation struct {
	plain
	request  ReportRequest
	doubt    command.Doubt
	word     string
	readings []*recordOperation // all of the same people
	people   participants       // those of a question about something unusual need not be in the snapshot
	earlier  []EarlierReport    // of a duplicate
}

func (a *askOperation) needs() Needs { return Needs{People: a.people} }

// refuse refuses what would be refused in each reading.
func (a *askOperation) refuse(snap *Snapshot) Notice {
	if slices.ContainsFunc(a.readings, func(rec *recordOperation) bool { return rec.refuse(snap) == nil }) {
		return nil
	}
	return a.readings[0].refuse(snap)
}

func (a *askOperation) rejectedResults(snap *Snapshot) []RejectedResult {
	return a.readings[0].rejectedResults(snap)
}

func (a *askOperation) decide(snap *Snapshot) (Decision, need, error) {
	return a.ask(snap), nil, nil
}

// ask returns the question.
func (a *askOperation) ask(snap *Snapshot) Decision {
	a.request.Ladder = snap.Ladder.ID
	prompt := ReportPrompt{Tag: a.request.tag(), Doubt: a.doubt, Word: a.word}
	if len(a.earlier) > 0 {
		prompt.Earlier, prompt.MoreEarlier = &a.earlier[0], a.earlier[1:]
		prompt.Completes = a.request.Completes != nil
	}
	meant := a.meant()
	for i, rec := range a.readings {
		option := ReportOption{Results: rec.namedResults(snap)}
		if ladders := a.request.ladders(); ladders != nil {
			option.Ladder, a.request.Ladder = ladders[i].Name, 0
		}
		if meant != nil {
			at := meant[i]
			name := NameOf(rec.people[at], snap.known(at))
			option.Who, option.New = &name, at < len(snap.People) && !snap.People[at].IsPlayer()
		}
		prompt.Options = append(prompt.Options, option)
	}
	return Decision{Asks: &NewPrompt{Kind: PromptReport, Report: &a.request}, Notice: prompt, Unadded: true}
}

// inPlaceOf returns a decision that asks about a report, and does so in the message of the prompt
// that it answers.
func (d Decision) inPlaceOf(prompt PromptID) Decision {
	if question, ok := d.Notice.(ReportPrompt); ok {
		question.Prompt, d.Asks.ID = prompt, prompt
		d.Page, d.Notice = question, nil
	}
	return d
}

// meant returns the person that each reading means by the name in doubt, as an index into the
// people. It returns nil if the doubt is another one, or if the readings cannot be told apart by a
// person each.
func (a *askOperation) meant() []int {
	if !slices.Contains([]command.Doubt{command.DoubtName, command.DoubtUnknownName, DoubtUsername}, a.doubt) {
		return nil
	}
	all := make([]int, len(a.readings))
	for i := range a.readings {
		all[i] = a.distinct(i)
		if all[i] < 0 || slices.Contains(all[:i], all[i]) {
			return nil
		}
	}
	return all
}

// distinct returns the person that makes a reading differ from the others: one who does not play in
// all of them. Of an only reading that is the person who is meant by name. It returns -1 if there
// is none.
func (a *askOperation) distinct(reading int) int {
	if len(a.readings) == 1 {
		return a.onlyNamed()
	}
	for _, m := range a.readings[reading].matches {
		for _, person := range m.players {
			if slices.ContainsFunc(a.readings, func(other *recordOperation) bool { return !other.plays(person) }) {
				return person
			}
		}
	}
	return -1
}

// onlyNamed returns the only person of the first reading who is meant by the name of a player, -1
// if there is not just one.
func (a *askOperation) onlyNamed() int {
	named := -1
	for person, p := range a.people {
		if p.Player == 0 || !a.readings[0].plays(person) {
			continue
		}
		if named >= 0 {
			return -1
		}
		named = person
	}
	return named
}

// ReportPrompt asks which reading of a report is meant, or whether it counts at all.
type ReportPrompt struct {
	Prompt  PromptID       `json:"prompt,omitempty"` // 0 in the message that begins the prompt, whose id it is
	Tag     MatchTag       `json:"tag,omitempty"`
	Doubt   command.Doubt  `json:"doubt"`
	Word    string         `json:"word,omitempty"` // the name in doubt, or the line
	Options []ReportOption `json:"options"`        // at least one
	// Earlier is what was reported before, if that or the players are the doubt, and MoreEarlier
	// are others if that is so of several results.
	Earlier     *EarlierReport  `json:"earlier,omitempty"`
	MoreEarlier []EarlierReport `json:"further,omitempty"`
	// Completes reports whether the result has the score that Earlier lacks.
	Completes bool `json:"completes,omitempty"`
}

var _ = notice.Register[ReportPrompt](notice.Kind{Name: "report_prompt", Purpose: notice.Outcome, Alone: true})

// ReportOption is a reading of a report.
type ReportOption struct {
	Results []NamedResult `json:"results"`
	// Who is the person that the reading means by the name in doubt, nil if the doubt is another
	// one.
	Who *Name `json:"who,omitempty"`
	New bool  `json:"new,omitempty"` // Who would be a new player
	// Ladder is the name of the ladder in which the reading counts, empty for that of the message.
	Ladder string `json:"ladder,omitempty"`
}

// EarlierReport is a match that was reported shortly before the same result.
type EarlierReport struct {
	Number int      `json:"number"`
	By     Reporter `json:"by"`
	Same   bool     `json:"same,omitempty"` // the same person reported both
	// Result is the reported result that equals this match, nil if only one is reported.
	Result *NamedResult `json:"result,omitempty"`
}
