package ranking

import (
	"context"
	"strconv"
)

// answerReport handles the answer to a PromptReport.
func (s *Service) answerReport(ctx context.Context, o Origin, a PromptAnswer, p *Prompt) error {
	op := &reportAnswer{PromptAnswer: a, origin: o, prompt: p, service: s}
	people := senderOf(o)
	needed := len(people)
	if i, err := strconv.Atoi(string(a.Option)); err == nil && 0 <= i && i < len(p.Report.Readings) {
		op.chosen, op.known = s.newRecord(p.Report.origin(), p.Report.Readings[i], &people)
		op.chosen.settled = p.Report.Settled
		needed = len(people)
	}
	for _, reports := range p.Report.Readings {
		rec, _ := s.newRecord(p.Report.origin(), reports, &people)
		op.readings = append(op.readings, rec)
	}
	people.areOfEarlierMessage(senderOf(o))
	op.people = people
	c := command{name: "answer prompt", people: people, needed: needed, class: RatePress, locks: true, operation: op}
	if op.known {
		op.chosen.people, c.equal, c.leaders = people, op.chosen.equalResults(), op.chosen.leaderQuery()
		c.furtherResults = len(op.chosen.matches) - 1
	}
	if c.furtherResults > 0 { // they count when they are recorded: questions must not be saved up
		c.further = RateEntry{RateClass: RateResult, Sender: p.Report.origin().sender(), At: o.SentAt}.orNone()
	}
	if p.Report.Chat == o.Chat.ID {
		o.ReplyTo = p.Report.Message
	}
	return s.handle(ctx, o, c)
}

// reportAnswer is an answer to a PromptReport.
type reportAnswer struct {
	plain
	PromptAnswer
	origin   Origin
	prompt   *Prompt
	service  *Service
	people   participants
	readings []*recordOperation
	known    bool             // the option is one of the readings
	chosen   *recordOperation // if known
}

func (r *reportAnswer) read(ctx context.Context, store Store, snap Snapshot) (err error) {
	if r.prompt, err = store.FindPrompt(ctx, r.origin.Chat.ID, r.Prompt.ID); err != nil || !r.known {
		return err
	}
	return r.chosen.read(ctx, store, snap)
}

func (r *reportAnswer) readLocked(ctx context.Context, store Store, _ Snapshot) (err error) {
	r.prompt, err = store.FindPrompt(ctx, r.origin.Chat.ID, r.Prompt.ID)
	return err
}

func (r *reportAnswer) refuse(snap Snapshot) Notice {
	switch {
	case !r.prompt.is(r.Prompt), !r.known && r.Option != OptionCancel:
		return Refusal{Code: UnknownButton}
	case r.prompt.Report.Reporter != nil && !r.isAboutSender(snap):
		return Refusal{Code: NotYourReport}
	case r.prompt.Closed:
		return Refusal{Code: PromptOver}
	}
	return nil
}

// permit lets every admin answer for an anonymous one.
func (r *reportAnswer) permit(ctx context.Context, snap Snapshot) Notice {
	if r.prompt.Report.Reporter != nil || r.isAboutSender(snap) {
		return nil
	}
	refusal := adminsOnly{isAdmin: r.IsAdmin, origin: r.origin, log: r.service.log}.permit(ctx, snap)
	if refusal == (Refusal{Code: AdminsOnly}) {
		return Refusal{Code: AdminsOnlyPrompt}
	}
	return refusal
}

// isAboutSender reports whether the person who pressed the button reported, or plays in one of the readings.
func (r *reportAnswer) isAboutSender(snap Snapshot) bool {
	if r.origin.Sender == nil {
		return false
	}
	isSender := func(person int) bool {
		p, sender := snap.People[person].Player, snap.People[0].Player
		return person == 0 || p != nil && sender != nil && p.ID == sender.ID
	}
	for _, rec := range r.readings {
		if rec.reporter >= 0 && isSender(rec.reporter) {
			return true
		}
		for person := range r.people {
			if isSender(person) && rec.plays(person) {
				return true
			}
		}
	}
	return false
}

// asksFirst implements doubtful.
func (r *reportAnswer) asksFirst(snap Snapshot) bool { return r.known && r.chosen.asksFirst(snap) }

func (r *reportAnswer) decide(ctx context.Context, snap Snapshot) (changes Changes, err error) {
	by := Reporter{}
	if r.origin.Sender != nil {
		name := r.people[0].shownName(snap.People[0]) // a question adds no players, so the sender may be none
		by.Name = &name
	}
	closes := &ClosedPrompt{ID: r.prompt.ID, As: PromptAnswered}
	if r.Option == OptionCancel {
		closes.As = PromptCancelled
		return Changes{Closes: closes, Page: ReportDropped{By: &by}, Edits: r.Message}, nil
	}
	if changes, err = r.chosen.decide(ctx, snap); err != nil {
		return Changes{}, err
	}
	if changes.Effect != nil {
		changes.Page = ReportChosen{Results: r.chosen.namedResults(snap), By: by}
	} else { // it is refused, which it need not have been when it was asked
		changes.Page, changes.Notice = changes.Notice, nil
	}
	changes.Closes, changes.Edits = closes, r.Message
	return changes, nil
}

// The kinds of the notices in this file.
const (
	KindReportChosen  = "report_chosen"
	KindReportDropped = "report_dropped"
)

// ReportChosen says how a ReportPrompt was answered. What came of that is said elsewhere.
type ReportChosen struct {
	Results []NamedResult `json:"results"`
	By      Reporter      `json:"by"`
}

// Kind implements Notice.
func (ReportChosen) Kind() string { return KindReportChosen }

// Purpose implements Notice.
func (ReportChosen) Purpose() Purpose { return Answer }

// Alone makes IsAlone true.
func (ReportChosen) Alone() bool { return true }

// ReportDropped says that a report was not recorded, because its ReportPrompt was cancelled or not answered.
type ReportDropped struct {
	By *Reporter `json:"by,omitempty"` // who cancelled; nil if nobody answered in time
}

// Kind implements Notice.
func (ReportDropped) Kind() string { return KindReportDropped }

// Purpose implements Notice.
func (ReportDropped) Purpose() Purpose { return Outcome }
