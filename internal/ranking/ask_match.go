package ranking

import (
	"cmp"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// PromptReport asks about a report: for example, which reading is meant, whether to record the
// report at all, or whether to correct the players of a recorded match. It offers the readings.
const PromptReport PromptKind = "report"

// The doubts that this package raises. Package command raises the others when it parses a report.
const (
	DoubtUsername  command.Doubt = "username"  // a new username may mean an existing player
	DoubtPlayers   command.Doubt = "players"   // an edited message names other players than its match
	DoubtDuplicate command.Doubt = "duplicate" // a recorded match is probably the same game
	DoubtGame      command.Doubt = "game"      // the report names a missing ladder
	DoubtLineup    command.Doubt = "lineup"    // the people named for a match can play it in two ways
)

// ReportMessage is a message that reports matches, or a message or button press that starts a
// wizard.
type ReportMessage struct {
	Key      string          `json:"key"`  // the idempotency key of the message or the press
	Chat     ExternalChatID  `json:"chat"` // the chat in which Message is valid
	Message  int64           `json:"message,omitempty"`
	SentAt   time.Time       `json:"sent_at"`
	Reporter *command.Person `json:"reporter,omitempty"` // nil for an anonymous admin
	// Ladder is the ladder of the report, set when the bot asks about the report. It is 0 before
	// that, and also if each reading has a ladder of its own.
	Ladder  ladder.ID      `json:"ladder,omitempty"`
	Missing *MissingLadder `json:"missing,omitempty"` // the missing ladder that the message names
}

// reportMessage returns the command's message. If the command is an edit, the Key is the key of the
// edited message, because the matches are recorded under that key.
func (c *call) reportMessage() ReportMessage {
	return ReportMessage{
		Key: cmp.Or(c.edit, c.Message, c.Key), Chat: c.Chat.ID, Message: c.ReplyTo, SentAt: c.SentAt,
		Reporter: c.Sender, Missing: c.missing,
	}
}

// sender returns the sender whose rate limit the message counts against.
func (m ReportMessage) sender() SenderID {
	return Origin{Chat: Chat{ID: m.Chat}, Sender: m.Reporter}.sender()
}

// ReportRequest is what a PromptReport asks about: a report with the readings to choose from.
type ReportRequest struct {
	ReportMessage
	Readings []command.Reading `json:"readings"`
	Settled  []command.Doubt   `json:"settled,omitempty"` // doubts not to raise again
	// Completes is the score that the report may add to an earlier match, nil for none.
	Completes *Completion `json:"completes,omitempty"`
	// Repeats are the numbers of earlier matches that the report may repeat.
	Repeats []int `json:"repeats,omitempty"`
	// Recorded is how many other matches of the message are already recorded. If that number has
	// changed when a reading is chosen, the prompt is over.
	Recorded int `json:"recorded,omitempty"`
	// Replaces is the match whose players the report corrects, nil if it corrects none.
	Replaces *MatchChoice `json:"replaces,omitempty"`
}

// Completion adds a score to a match that was reported without a score.
type Completion struct {
	Number  int            `json:"number"`            // the match's number
	Key     string         `json:"key"`               // the match's idempotency key
	Changes int            `json:"changes,omitempty"` // the match's change count so far
	Scores  []ladder.Score `json:"scores"`            // in the order of the match's report
}

// ladders returns the ladder of each reading if the prompt asks which ladder is meant, otherwise
// nil. There may be more ladders than readings.
func (r ReportRequest) ladders() []LadderLabel {
	if r.Missing == nil || len(r.Settled) == 0 || r.Settled[len(r.Settled)-1] != DoubtGame {
		return nil
	}
	return r.Missing.Maybe
}

// tag returns the tag of the request's prompt. Each settled doubt changes it, so that a second
// press of a button cannot answer the next question in the same message.
func (r ReportRequest) tag() MatchTag {
	keys := []string{r.Key}
	for _, d := range r.Settled {
		keys = append(keys, string(d))
	}
	return TagOf(keys...)
}

// newAsk returns the operation that asks the question q about a report. The people of the operation
// begin with the given people, because a snapshot may already have been read for people in this
// order. newAsk omits readings in which a match names a person twice. ok is false if no reading
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

// askOperation makes a PromptReport. It adds no players.
type askOperation struct {
	plain
	request  ReportRequest
	doubt    command.Doubt
	word     string
	readings []*recordOperation // all have the same people
	// people may be longer than Snapshot.People, because the operation may be made after the read.
	people  participants
	earlier []EarlierReport // the earlier matches that the doubt is about
}

func (a *askOperation) needs() Needs { return Needs{People: a.people} }

// refuse refuses a report only if every reading would be refused.
func (a *askOperation) refuse(snap *Snapshot) Notice {
	if slices.ContainsFunc(a.readings, func(rec *recordOperation) bool { return rec.refuse(snap) == nil }) {
		return nil
	}
	return a.readings[0].refuse(snap)
}

// permission lets the sender ask if one of the readings may be reported.
func (a *askOperation) permission(snap *Snapshot) Permission {
	mayReport := func(rec *recordOperation) bool { return rec.permission(snap).Involved }
	return snap.Ladder.reports(slices.ContainsFunc(a.readings, mayReport))
}

func (a *askOperation) rejectedResults(snap *Snapshot) []RejectedResult {
	return a.readings[0].rejectedResults(snap)
}

func (a *askOperation) decide(snap *Snapshot) (Decision, need, error) {
	return a.ask(snap), nil, nil
}

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
			option.Guest = rec.people[at].IsNewGuest()
		}
		prompt.Options = append(prompt.Options, option)
	}
	return Decision{Asks: &NewPrompt{Kind: PromptReport, Report: &a.request}, Notice: prompt, Unadded: true}
}

// inPlaceOf returns the decision, changed so that its ReportPrompt replaces the content of the
// given open prompt. It returns a decision without a ReportPrompt unchanged.
func (d Decision) inPlaceOf(prompt PromptID) Decision {
	if question, ok := d.Notice.(ReportPrompt); ok {
		question.Prompt, d.Asks.ID = prompt, prompt
		d.Page, d.Notice = question, nil
	}
	return d
}

// meant returns, for each reading, the person whom the name in doubt means, as an index into the
// people. It returns nil if the doubt is not about a name, or if the name does not mean a different
// person in each reading.
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

// distinct returns the first person of a reading who does not play in all readings, as an index
// into the people. If there is only one reading, it returns the new guest or, without one, the only
// person named by a plain name. It returns -1 if there is no such person.
func (a *askOperation) distinct(reading int) int {
	if guest := slices.IndexFunc(a.people, command.Person.IsNewGuest); guest >= 0 && len(a.readings) == 1 {
		return guest
	}
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

// onlyNamed returns the only person in the first reading who is named by a plain name, as an index
// into the people. It returns -1 if there is none or more than one.
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

// ReportPrompt is the message of a PromptReport.
type ReportPrompt struct {
	Prompt  PromptID       `json:"prompt,omitempty"` // 0 in the prompt's first message
	Tag     MatchTag       `json:"tag,omitempty"`
	Doubt   command.Doubt  `json:"doubt"`
	Word    string         `json:"word,omitempty"` // the name, game, score or line in doubt, if any
	Options []ReportOption `json:"options"`        // at least one
	// Earlier is the recorded match if the doubt is about a duplicate or about the players of a
	// match, otherwise nil. If several results are duplicates, MoreEarlier has the recorded matches
	// for the others.
	Earlier     *EarlierReport  `json:"earlier,omitempty"`
	MoreEarlier []EarlierReport `json:"further,omitempty"`
	// Completes is set if the reported result has the score that Earlier lacks.
	Completes bool `json:"completes,omitempty"`
}

var _ = notice.Register[ReportPrompt](notice.Kind{Name: "report_prompt", Purpose: notice.Outcome, Alone: true})

// ReportOption is a reading of a report.
type ReportOption struct {
	Results []NamedResult `json:"results"`
	// Who is the person whom the name in doubt means in this reading. It is nil if the doubt is not
	// about a name, or if the name does not mean a different person in each reading.
	Who *Name `json:"who,omitempty"`
	New bool  `json:"new,omitempty"` // Who would be a new player
	// Guest is set if Who would be a new guest.
	Guest bool `json:"guest,omitempty"`
	// Ladder is the name of the ladder in which the reading counts, empty for the message's ladder.
	Ladder string `json:"ladder,omitempty"`
}

// EarlierReport is the recorded match that a doubt is about: a match that the report may duplicate,
// or a match whose players an edit would replace.
type EarlierReport struct {
	Number int      `json:"number"`
	By     Reporter `json:"by"`
	Same   bool     `json:"same,omitempty"` // the possible duplicate has the same reporter
	// Result is the reported result that may duplicate this match, nil if the report has only one
	// result. If an edit would replace the players, Result is the match as recorded.
	Result *NamedResult `json:"result,omitempty"`
}
