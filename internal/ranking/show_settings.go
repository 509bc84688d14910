package ranking

import "context"

// KindSettings is the kind of GroupSettings.
const KindSettings = "settings"

// GroupSettings shows the settings of a group, with buttons to change them.
type GroupSettings struct {
	Rules     Rules     `json:"rules"` // of the default ladder
	Display             // of the chat
	ChangedBy *Reporter `json:"changed_by,omitempty"` // who pressed a button last, nil if nobody has yet
}

// Kind implements Notice.
func (GroupSettings) Kind() string { return KindSettings }

// Purpose implements Notice.
func (GroupSettings) Purpose() Purpose { return Answer }

// Alone makes IsAlone true.
func (GroupSettings) Alone() bool { return true }

// ShowSettings answers an admin with the settings of the group. isAdmin reports whether the sender is an admin of the chat.
func (s *Service) ShowSettings(ctx context.Context, o Origin, isAdmin func(context.Context) (bool, error)) error {
	return s.handle(ctx, o, command{
		name: "show settings", class: RateQuestion, isAdmin: isAdmin, operation: settingsOperation{adminsOnly{people: senderOf(o)}},
	})
}

type settingsOperation struct{ adminsOnly }

func (settingsOperation) decide(snap Snapshot) (Decision, error) {
	return Decision{Notice: GroupSettings{Rules: snap.Ladder.Rules, Display: snap.Display}}, nil
}

// changedSettings returns the settings after the sender has pressed one of their buttons.
func changedSettings(snap Snapshot, rules Rules, display Display) GroupSettings {
	name := snap.senderName()
	return GroupSettings{Rules: rules, Display: display, ChangedBy: &Reporter{Name: &name}}
}

// adminsOnly is an operation that only admins may do. Others embed it.
type adminsOnly struct {
	plain
	people participants
	adds   bool // whether the people become players
}

func (a adminsOnly) needs() Needs {
	needs := Needs{People: a.people}
	if a.adds {
		needs.New = len(a.people)
	}
	return needs
}

func (adminsOnly) permission(Snapshot) Permission {
	return Permission{Who: Admins, Refusal: Refusal{Code: AdminsOnly}}
}
