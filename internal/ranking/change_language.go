package ranking

import "context"

// LanguageChange says which language a group chooses.
type LanguageChange struct {
	Language string // an IETF tag
	// IsAdmin reports whether the sender is an admin of the chat.
	IsAdmin func(context.Context) (bool, error)
	// Shown is the message that shows the settings, with the pressed button. It is edited.
	Shown int64
}

// ChangeLanguage sets the language of a group at the press of a button. Only admins may do so. Messages that were sent before
// keep their language, also when they are edited.
func (s *Service) ChangeLanguage(ctx context.Context, o Origin, l LanguageChange) error {
	people := senderOf(o)
	return s.handle(ctx, o, command{
		name: "change language", people: people, needed: len(people), class: RatePress,
		operation: languageOperation{LanguageChange: l, adminsOnly: adminsOnly{isAdmin: l.IsAdmin, origin: o, log: s.log}},
	})
}

// languageOperation is a change of a group's language.
type languageOperation struct {
	adminsOnly
	LanguageChange
}

func (l languageOperation) refuse(snap Snapshot) Notice {
	if snap.Language == l.Language {
		return Refusal{Code: SameRules}
	}
	return nil
}

func (l languageOperation) decide(_ context.Context, snap Snapshot) (Changes, error) {
	changed := &ChangedLanguage{Chat: snap.ChatID, Before: snap.Language, After: l.Language}
	by := Reporter{}
	if l.origin.Sender != nil {
		name := snap.senderName()
		by.Name = &name
	}
	return Changes{
		Effect: changed, CallbackAnswer: LanguageChanged{Language: l.Language}, Edits: l.Shown,
		Notice: GroupSettings{Rules: snap.Ladder.Rules, Language: l.Language, ChangedBy: &by},
	}, nil
}

// ChangedLanguage is the language that an admin chose for a chat. If the stored language differs from Before, Apply fails with
// ErrConflict.
type ChangedLanguage struct {
	Chat          ChatID
	Before, After string // IETF tags
}

func (*ChangedLanguage) outcome() CommandOutcome { return OutcomeLanguageChanged }

// LanguageChanged tells the person who pressed the button which language the bot speaks in the chat from now on.
type LanguageChanged struct {
	Language string `json:"language"` // an IETF tag
}

// Kind implements Notice.
func (LanguageChanged) Kind() string { return KindLanguageChanged }

// Purpose implements Notice.
func (LanguageChanged) Purpose() Purpose { return Outcome }
