package ranking

import (
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

func (a PromptAnswer) planReport(s *Service, c *call) *call {
	report := c.found.prompt.Report
	c.Ladder = report.Ladder
	if l, ok := chosen(a.Option, report.ladders()); ok {
		c.Ladder = l.ID
	}
	if report.Chat == c.Chat.ID {
		c.ReplyTo = report.Message
	}
	if m := report.Completes; m != nil && a.Option == (Complete{}) {
		match := MatchRef{Number: m.Number, Key: m.Key, Tag: TagOf(m.Key)}
		f := FixMatch{Amendment: Amendment{Match: match, Changes: &m.Changes}, Scores: m.Scores}
		return c.amending("complete match", acceptedFix{fixOperation: f.operation(s, c), prompt: a.Prompt})
	}
	op := reportAnswer{
		promptedResult: promptedResult{PromptAnswer: a, origin: c.Origin, people: senderOf(c.Origin)},
		reporter:       report.Reporter,
	}
	if reports, ok := chosen(a.Option, report.Readings); ok {
		if rec, ok := s.newRecord(report.ReportMessage, reports, &op.people); ok {
			rec.settled, rec.recorded = report.Settled, report.Recorded
			op.chosen = rec
		}
		op.added = len(op.people)
	}
	for _, reports := range report.Readings {
		rec, _ := s.newRecord(report.ReportMessage, reports, &op.people)
		op.readings = append(op.readings, rec)
	}
	op.people.areOfEarlierMessage(senderOf(c.Origin))
	j := job{name: "answer prompt", bucket: RatePress, ofAdmins: true, locks: true}
	if op.chosen != nil {
		op.chosen.people = op.people
		j.extraResults = len(op.chosen.matches) - 1
	}
	j.operation = op
	if r := report.Replaces; r != nil {
		a := Amendment{Match: MatchRef{ID: r.Match}, Changes: &r.Changes}
		j.operation = playersAnswer{reportAnswer: op, amend: s.amendment(c, commandFix, a)}
	}
	// Count the extra results at the time of the answer. If they counted at the time of the report,
	// a sender could collect prompts and then exceed the limit with the answers.
	if j.extraResults > 0 {
		j.extra = RateEntry{Bucket: RateResult, Sender: report.sender(), At: c.SentAt}.orNone()
	}
	return c.with(j)
}

// promptedResult is the common part of reportAnswer and wizardAnswer.
type promptedResult struct {
	plain
	PromptAnswer
	origin Origin
	people participants
	added  int              // people[:added] may become players
	chosen *recordOperation // records the chosen result; nil if there is none
}

func (r promptedResult) needs() Needs {
	var needs Needs
	if r.chosen != nil {
		needs = r.chosen.needs()
		needs.Match = &MatchRef{Key: r.chosen.message.Key}
	} else {
		needs.Played = SuggestedFrom // for the next question of a wizard
	}
	needs.People, needs.New, needs.Prompt = r.people, r.added, r.Prompt.ID
	return needs
}

func (r promptedResult) about(snap *Snapshot) subject { return r.chosen.about(snap) }

// by returns the sender of the answer, zero if the origin has no Sender. The sender need not be a
// player.
func (r promptedResult) by(snap *Snapshot) Reporter {
	if r.origin.Sender == nil {
		return Reporter{}
	}
	return Reporter{Name: new(NameOf(r.people[0], snap.People[0]))}
}

// record returns the decision that records the chosen result and closes the prompt. If something
// about the result is unusual, the prompt stays open and its message asks about that. The decision
// then still records the matches that need not wait for the answer, if any. If the result is
// refused, the decision has only the refusal as its Notice.
func (r promptedResult) record(snap *Snapshot) (d Decision, lacks need, err error) {
	switch d, lacks, err = decideUnlessRefused(r.chosen, snap); {
	case d.Asks != nil:
		d = d.inPlaceOf(snap.Prompt.ID)
	case d.Effect != nil:
		d.Page = ReportChosen{Results: r.chosen.namedResults(snap), By: r.by(snap)}
		d.Closes = &ClosedPrompt{ID: snap.Prompt.ID, As: PromptAnswered}
	}
	return d, lacks, err
}

// reportAnswer is an answer to a PromptReport.
type reportAnswer struct {
	promptedResult
	reporter *command.Person // who sent the report, nil for an anonymous admin
	readings []*recordOperation
}

func (r reportAnswer) refuse(snap *Snapshot) Notice {
	switch {
	case !snap.Prompt.is(r.Prompt), r.chosen == nil && r.Option != Cancel{}:
		return Refusal{Code: UnknownButton}
	case r.reporter != nil && !r.isAboutSender(snap):
		return Refusal{Code: NotYourReport}
	case snap.Prompt.Closed, !snap.Prompt.isOf(snap.Ladder), r.chosen != nil && len(snap.Matches) != r.chosen.recorded:
		return Refusal{Code: PromptOver}
	}
	return nil
}

// permission lets the players and any admin answer if an anonymous admin sent the report. Otherwise
// refuse has already checked the sender, and only the choice of a result needs permission.
func (r reportAnswer) permission(snap *Snapshot) Permission {
	switch {
	case r.reporter != nil && r.chosen == nil:
		return Permission{}
	case r.reporter != nil:
		return snap.Ladder.reports(r.chosen.isPlayedBy(snap, r.chosen.reporter) || r.chosen.isPlayedBy(snap, 0))
	}
	return Permission{Who: Involved, Involved: r.isAboutSender(snap), Refusal: Refusal{Code: AdminsOnlyPrompt}}
}

// isAboutSender reports whether the sender of the answer also sent the report, or plays in one of
// its readings.
func (r reportAnswer) isAboutSender(snap *Snapshot) bool {
	if r.origin.Sender == nil {
		return false
	}
	isSender := func(person int) bool {
		p, sender := snap.People[person].Player, snap.People[0].Player
		return person == 0 || p != nil && sender != nil && p.ID == sender.ID
	}
	for _, rec := range r.readings {
		if r.reporter != nil && isSender(rec.reporter) {
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

func (r reportAnswer) decide(snap *Snapshot) (d Decision, lacks need, err error) {
	if by := r.by(snap); r.Option == (Cancel{}) {
		return Decision{
			Closes: &ClosedPrompt{ID: snap.Prompt.ID, As: PromptCanceled}, Page: snap.Prompt.Report.dropped(&by),
		}, nil, nil
	}
	d, lacks, err = r.record(snap)
	// The chosen result was refused, so close the prompt.
	if err == nil && lacks == nil && d.Asks == nil && d.Effect == nil {
		d.Page, d.Notice, d.Closes = d.Notice, nil, &ClosedPrompt{ID: snap.Prompt.ID, As: PromptAnswered}
	}
	return d, lacks, err
}

// ReportChosen shows the results that were chosen in answer to a PromptReport or a PromptWizard.
// The cards of the recorded matches are separate notices.
type ReportChosen struct {
	Results []NamedResult `json:"results"`
	By      Reporter      `json:"by"`
}

var _ = notice.Register[ReportChosen](notice.Kind{Name: "report_chosen", Purpose: notice.Answer, Alone: true})

// ReportDropped says that a PromptReport or a PromptWizard was canceled or has expired, so none of
// the matches that it was about were recorded or corrected.
type ReportDropped struct {
	By      *Reporter     `json:"by,omitempty"`      // the person who canceled, nil if the prompt expired
	Results []NamedResult `json:"results,omitempty"` // the report's first reading; none for a wizard
	// Kept is set if the report would have corrected the players of a recorded match. The match
	// stays as it is, and there are no Results.
	Kept bool `json:"kept,omitempty"`
}

// dropped returns the notice that the prompt about the report was dropped. by is the person who
// canceled the prompt, nil if the prompt expired.
func (r ReportRequest) dropped(by *Reporter) ReportDropped {
	d := ReportDropped{By: by, Kept: r.Replaces != nil}
	if d.Kept {
		return d
	}
	for _, report := range r.Readings[0] {
		named := namedResult(ladder.ResultOf(report.Scores))
		named.Sides, named.StandIns = [2][]Name{shownNames(report.A), shownNames(report.B)}, report.StandIns
		d.Results = append(d.Results, named)
	}
	return d
}

var _ = notice.Register[ReportDropped](notice.Kind{Name: "report_dropped", Purpose: notice.Outcome})
