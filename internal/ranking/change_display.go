package ranking

import "context"

// Display is how the bot shows things in a chat.
type Display struct {
	Language string `json:"language,omitempty"` // an IETF tag
	Tables   bool   `json:"tables,omitempty"`   // rankings and standings are tables
	// NoCelebrations is true if cards say nothing about what is special about their matches.
	NoCelebrations bool `json:"no_celebrations,omitempty"`
	DarkCharts     bool `json:"dark_charts,omitempty"`
}

// DisplayChange says what a group changes about how the bot shows things.
type DisplayChange struct {
	Change func(Display) Display // returns what is shown from now on
	// IsAdmin reports whether the sender is an admin of the chat.
	IsAdmin func(context.Context) (bool, error)
	// Shown is the message that shows the settings, with the pressed button. It is edited.
	Shown int64
}

// ChangeDisplay changes how the bot shows things in a group at the press of a button. Only admins may do so. Messages that were
// sent before keep their language, also when they are edited.
func (s *Service) ChangeDisplay(ctx context.Context, o Origin, d DisplayChange) error {
	return s.handle(ctx, o, command{
		name: "change display", class: RatePress, isAdmin: d.IsAdmin, operation: displayOperation{adminsOnly{people: senderOf(o), adds: true}, d},
	})
}

// displayOperation is a change of how the bot shows things in a group.
type displayOperation struct {
	adminsOnly
	DisplayChange
}

func (d displayOperation) permission(snap Snapshot) Permission {
	if d.changesNothing(snap) {
		return Permission{}
	}
	return d.adminsOnly.permission(snap)
}

func (d displayOperation) changesNothing(snap Snapshot) bool {
	return d.Change(snap.Display) == snap.Display
}

func (d displayOperation) decide(snap Snapshot) (Decision, error) {
	if d.changesNothing(snap) {
		return Decision{Notice: Refusal{Code: SameRules}}, nil
	}
	changed := &ChangedDisplay{Chat: snap.ChatID, Before: snap.Display, After: d.Change(snap.Display)}
	return Decision{
		Effect: changed, CallbackAnswer: changed.toast(), Edits: d.Shown, Page: changedSettings(snap, snap.Ladder.Rules, changed.After),
	}, nil
}

// ChangedDisplay is what an admin changed about how the bot shows things in a chat. If what is stored differs from Before, Apply
// fails with ErrConflict.
type ChangedDisplay struct {
	Chat          ChatID
	Before, After Display
}

func (*ChangedDisplay) outcome() CommandOutcome { return OutcomeDisplayChanged }

// toast tells the person who pressed the button what has changed.
func (c *ChangedDisplay) toast() Notice {
	switch {
	case c.Before.Language != c.After.Language:
		return LanguageChanged{Language: c.After.Language}
	case c.Before.Tables != c.After.Tables:
		return TablesChanged{Tables: c.After.Tables}
	case c.Before.DarkCharts != c.After.DarkCharts:
		return DarkChartsChanged{Dark: c.After.DarkCharts}
	default:
		return CelebrationsChanged{Celebrations: !c.After.NoCelebrations}
	}
}

// LanguageChanged says which language the bot speaks in the chat from now on.
type LanguageChanged struct {
	Language string `json:"language"` // an IETF tag
}

// Kind implements Notice.
func (LanguageChanged) Kind() string { return KindLanguageChanged }

// Purpose implements Notice.
func (LanguageChanged) Purpose() Purpose { return Outcome }

// TablesChanged says whether rankings and standings are tables in the chat from now on.
type TablesChanged struct {
	Tables bool `json:"tables"`
}

// Kind implements Notice.
func (TablesChanged) Kind() string { return KindTablesChanged }

// Purpose implements Notice.
func (TablesChanged) Purpose() Purpose { return Outcome }

// DarkChartsChanged says whether charts are dark in the chat from now on.
type DarkChartsChanged struct {
	Dark bool `json:"dark"`
}

// Kind implements Notice.
func (DarkChartsChanged) Kind() string { return KindDarkChartsChanged }

// Purpose implements Notice.
func (DarkChartsChanged) Purpose() Purpose { return Outcome }

// CelebrationsChanged says whether cards celebrate in the chat from now on.
type CelebrationsChanged struct {
	Celebrations bool `json:"celebrations"`
}

// Kind implements Notice.
func (CelebrationsChanged) Kind() string { return KindCelebrationsChanged }

// Purpose implements Notice.
func (CelebrationsChanged) Purpose() Purpose { return Outcome }
