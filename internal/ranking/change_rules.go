package ranking

import "context"

// RulesChange says how to change the rules of a group's default ladder.
type RulesChange struct {
	// Change returns the new rules. It is called with the current ones, and again if they have changed in the meantime,
	// so it should set only what the sender has chosen.
	Change func(Rules) Rules
	// IsAdmin reports whether the sender is an admin of the chat.
	IsAdmin func(context.Context) (bool, error)
	// Shown is the message that shows the settings, with the pressed button. It is edited.
	Shown int64
}

// ChangeRules changes the rules of the group's default ladder at the press of a button. Only admins may do so. They apply from the next
// match on; recorded matches and the start ratings of players in the ladder stay as they are. A match that another instance is just
// recording may still be played under the old rules.
func (s *Service) ChangeRules(ctx context.Context, o Origin, r RulesChange) error {
	return s.handle(ctx, o, command{
		name: "change rules", class: RatePress, isAdmin: r.IsAdmin, operation: rulesOperation{adminsOnly{people: senderOf(o), adds: true}, r},
	})
}

// rulesOperation is a change of rules.
type rulesOperation struct {
	adminsOnly
	RulesChange
}

func (r rulesOperation) permission(snap Snapshot) Permission {
	if r.changesNothing(snap) {
		return Permission{}
	}
	return r.adminsOnly.permission(snap)
}

func (r rulesOperation) changesNothing(snap Snapshot) bool {
	return r.Change(snap.Ladder.Rules) == snap.Ladder.Rules
}

func (r rulesOperation) decide(snap Snapshot) (Decision, error) {
	if r.changesNothing(snap) {
		return Decision{Notice: Refusal{Code: SameRules}}, nil
	}
	changed := &ChangedRules{Ladder: snap.Ladder.ID, Before: snap.Ladder.Rules, After: r.Change(snap.Ladder.Rules)}
	return Decision{
		Effect: changed, CallbackAnswer: RulesChanged{Before: changed.Before, After: changed.After}, Edits: r.Shown,
		Page: changedSettings(snap, changed.After, snap.Display),
	}, nil
}

// ChangedRules are new rules of a ladder. If the stored rules differ from Before, Apply fails with ErrConflict, so that
// nobody overwrites a change that they have not seen.
type ChangedRules struct {
	Ladder        LadderID
	Before, After Rules
}

func (*ChangedRules) outcome() CommandOutcome { return OutcomeRulesChanged }

// RulesChanged says that the rules of the default ladder were changed.
type RulesChanged struct {
	Before Rules `json:"before"`
	After  Rules `json:"after"`
}

// Kind implements Notice.
func (RulesChanged) Kind() string { return KindRulesChanged }

// Purpose implements Notice.
func (RulesChanged) Purpose() Purpose { return Outcome }
