package ranking

import (
	"context"
	"slices"
)

// answerWizard handles the answer to a PromptWizard.
func (s *Service) answerWizard(ctx context.Context, o Origin, a PromptAnswer, p *Prompt) error {
	op := &wizardAnswer{PromptAnswer: a, origin: o, prompt: p, people: senderOf(o)}
	reports := a.Reports
	if op.step, op.known = p.Wizard.option(a.Option); op.known && op.step.score != nil {
		reports = []Report{p.Wizard.report(op.step.at, *op.step.score)}
	}
	op.known = op.known || a.Opponent != nil || a.Unclear != nil
	c := command{name: "answer prompt", class: RatePress, locks: true, operation: op}
	if len(reports) > 0 {
		if op.chosen, op.known = s.newRecord(p.Wizard.origin(), reports, &op.people); op.known {
			c.equal, c.leaders = op.chosen.equalResults(), op.chosen.leaderQuery()
		}
	}
	op.people.areOfEarlierMessage(senderOf(o))
	c.people, c.needed = op.people, len(op.people)
	if op.chosen != nil {
		op.chosen.people = op.people
	}
	if o.Button != "" && p.Wizard.Chat == o.Chat.ID {
		o.ReplyTo = p.Wizard.Message
	}
	return s.handle(ctx, o, c)
}

// wizardAnswer is an answer to a PromptWizard: a page, an opponent, a result, or cancel.
type wizardAnswer struct {
	plain
	PromptAnswer
	origin Origin
	prompt *Prompt
	people participants
	step   wizardStep
	known  bool
	chosen *recordOperation // the result, or nil
}

func (w *wizardAnswer) read(ctx context.Context, store Store, snap Snapshot) (err error) {
	if w.prompt, err = store.FindPrompt(ctx, w.origin.Chat.ID, w.Prompt.ID); err != nil || w.chosen == nil {
		return err
	}
	return w.chosen.read(ctx, store, snap)
}

func (w *wizardAnswer) readLocked(ctx context.Context, store Store, snap Snapshot) (err error) {
	w.prompt, err = store.FindPrompt(ctx, w.origin.Chat.ID, w.Prompt.ID)
	if err != nil || w.chosen == nil {
		return err
	}
	return w.chosen.readLocked(ctx, store, snap)
}

func (w *wizardAnswer) refuse(snap Snapshot) Notice {
	switch {
	case !w.prompt.is(w.Prompt), !w.known:
		return Refusal{Code: UnknownButton}
	case w.origin.Sender == nil, w.origin.Sender.ID != w.prompt.Wizard.Reporter.ID:
		return Refusal{Code: NotYourPrompt}
	case w.prompt.Closed:
		return Refusal{Code: PromptOver}
	case w.chosen != nil:
		return w.chosen.refuse(snap)
	}
	return nil
}

// asksFirst implements doubtful.
func (w *wizardAnswer) asksFirst(snap Snapshot) bool {
	return w.chosen != nil && w.chosen.asksFirst(snap)
}

func (w *wizardAnswer) decide(ctx context.Context, snap Snapshot) (changes Changes, err error) {
	name := w.people[0].shownName(snap.People[0]) // a question adds no players, so the sender may be none
	by := Reporter{Name: &name}
	switch r, s := w.prompt.Wizard, w.step; {
	case w.chosen != nil:
		if changes, err = w.chosen.decide(ctx, snap); err != nil || changes.Effect == nil {
			return changes, err
		}
		changes.Page = ReportChosen{Results: w.chosen.namedResults(snap), By: by}
		changes.Closes = &ClosedPrompt{ID: w.prompt.ID, As: PromptAnswered}
	case s.page != 0:
		changes.Page = r.askOpponent(w.prompt.ID, s.page)
	case s.opponent:
		changes.Page = r.askScore(w.prompt.ID, s.at)
	case w.Unclear != nil:
		with := r.with(*w.Unclear)
		changes.Effect = &ChangedWizard{w.prompt.ID, with}
		changes.Page = with.askWho(w.prompt.ID, *w.Unclear)
	case w.Opponent != nil:
		with := *r
		with.Opponents = append(slices.Clone(r.Opponents), *w.Opponent)
		changes.Effect = &ChangedWizard{w.prompt.ID, with}
		changes.Page = with.askScore(w.prompt.ID, len(r.Opponents))
	default:
		changes.Page = ReportDropped{By: &by}
		changes.Closes = &ClosedPrompt{ID: w.prompt.ID, As: PromptCancelled}
	}
	changes.Edits = w.Message
	return changes, nil
}
