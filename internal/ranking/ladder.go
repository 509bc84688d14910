package ranking

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

const (
	// MaxLadders is the maximum number of ladders in a group, not counting archived ladders.
	MaxLadders = 10
	// MaxLadderName is the maximum length of a ladder's name, in characters.
	MaxLadderName = 24
	// MaxLadderBytes is the maximum length of a ladder's name, in bytes. A name of that length
	// still fits into the data of a button.
	MaxLadderBytes = 60
	// MaxLadderWords is the maximum number of space-separated words in a ladder's name.
	MaxLadderWords = 4
)

// LadderLabel identifies a ladder by its id, and has its name. The LadderLabel of a notice
// determines the ladder of the buttons below the notice.
type LadderLabel struct {
	ID   ladder.ID `json:"id"`
	Name string    `json:"name"`
}

func (l Ladder) label() *LadderLabel { return &LadderLabel{l.ID, l.Name} }

// namedLadder looks for a ladder's name in the command. It returns the need for a plan without that
// name, or for an answer instead of the command, or nil if the command names no ladder. All lines
// of a command are about one ladder, so the command is refused if a later line names another
// ladder. A missing ladder is refused in the first line and ignored in later ones, unless the
// command is a report that may use plain names.
func (c *call) namedLadder(s *Snapshot) need {
	if !c.Said.MayNameLadder {
		return nil
	}
	// Only reports that may use plain names ask about a missing ladder.
	isReport := c.reports && c.read != nil
	here, missing, words := s.ladderAt(c.Said.FirstWords(MaxLadderWords), isReport)
	if missing != nil && !isReport {
		return onlyAnswer{Refusal{Code: NoSuchLadder, Name: missing.Word, Ladders: s.ladderNames()}}
	}
	is := words > 0
	if here == nil {
		here = s.here()
	}
	n := ladderNamed{words: words, missing: missing}
	for _, line := range c.Said.LaterWords(MaxLadderWords) {
		l, missing, words := s.ladderAt(line, false)
		if isReport {
			n.missing = cmp.Or(n.missing, missing) // the prompt is about all lines
		} else if missing != nil {
			words = 0
		}
		if l != nil && l.ID != here.ID {
			return onlyAnswer{Refusal{Code: OtherLadder, Name: l.Name}}
		}
		n.laterWords, is = append(n.laterWords, words), is || words > 0
	}
	if !is {
		return nil
	}
	if here != nil {
		n.ladder = here.ID
	}
	return n
}

// lacksLadder reports whether a button is about a ladder that the group does not have, because the
// chat now belongs to another group. A button about a prompt, or about a match that was found,
// never lacks its ladder, because the prompt or the match determines the ladder.
func (c *call) lacksLadder(snap *Snapshot, m *StoredMatch) bool {
	return c.Button != "" && c.ladder != 0 && snap.Ladder.ID == 0 && m == nil && c.needs().Prompt == 0
}

// ladderOf returns the ladder to read, 0 for the default ladder. If the group does not have the
// ladder that the call reads now, the result is 0. If the snapshot already has the right ladder, or
// the operation is about the whole group, the result is the ladder that the call reads now.
//
// The right ladder is the ladder of the amended match, or else the ladder that the command or its
// button names. If there is neither, a button means the group's first ladder, because the button
// was made when the group had only that one. Any other command means the ladder that applies where
// the command was sent.
func (c *call) ladderOf(snap *Snapshot, m *StoredMatch) ladder.ID {
	if c.ladder != 0 && snap.Ladder.ID == 0 { // the button is from before the chat changed groups
		return 0
	}
	meant := cmp.Or(c.ladder, snap.Applies)
	if c.Button != "" && len(snap.Ladders) > 0 {
		meant = cmp.Or(c.ladder, snap.Ladders[0].ID)
	}
	if m != nil {
		meant = m.Ladder
	}
	if meant == snap.Ladder.ID || c.ofGroup {
		return c.ladder
	}
	return meant
}

// GroupLadder is a ladder with its role in the group.
type GroupLadder struct {
	Ladder
	Default bool    // the ladder applies wherever no other ladder does
	Topics  []int64 // the topics bound to it, nil unless Needs.Topics is set
}

// findLadder returns the ladder with the given name, ignoring case, nil if there is none.
func findLadder(all []GroupLadder, name string) *GroupLadder {
	return ladderThat(all, func(l GroupLadder) bool { return l.Name != "" && strings.EqualFold(l.Name, name) })
}

// ladderThat returns the first ladder that satisfies the predicate, nil if none does.
func ladderThat(all []GroupLadder, is func(GroupLadder) bool) *GroupLadder {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return nil
	}
	return &all[i]
}

// noSuchLadder returns the refusal of a name that no ladder has. It shortens the name, which may be
// any text.
func noSuchLadder(name string) Refusal {
	return Refusal{Code: NoSuchLadder, Name: command.Excerpt(name)}
}

// LadderChange is the change that a /ladder command requests. Except for UnbindTopic, it is the
// first word after /ladder, in lower case.
type LadderChange string

const (
	ListLadders   LadderChange = "" // changes nothing
	AddLadder     LadderChange = "new"
	UseLadder     LadderChange = "use"
	RenameLadder  LadderChange = "rename"
	ArchiveLadder LadderChange = "archive"
	UnbindTopic   LadderChange = "unbind" // the default ladder applies in the topic again
)

// ChangeLadder lists the ladders of a group, or adds or changes a ladder. Only admins may add or
// change ladders; any member may list them.
type ChangeLadder struct {
	Change LadderChange
	// Name is the ladder's name. For RenameLadder, it is the new name, optionally preceded by the
	// old name.
	Name string
	Sure bool // RenameLadder does not ask whether all of Name is the new name
	// First is the name that AddLadder gives to the group's only ladder if that ladder has no name
	// yet. If First is empty then, the bot asks the admin for it.
	First string
}

func (l ChangeLadder) plan(_ *Service, c *call) *call {
	asks := l.Change == ListLadders
	return c.with(job{
		name: "change ladder", bucket: RateQuestion, ofAdmins: true, ofGroup: true, locks: !asks,
		operation: ladderOperation{adminsOnly: adminsOnly{people: senderOf(c.Origin), asks: asks},
			ChangeLadder: l, origin: c.Origin},
	})
}

type ladderOperation struct {
	adminsOnly
	ChangeLadder
	origin Origin
}

func (l ladderOperation) needs() Needs {
	return Needs{People: l.people, Topics: true, Everybody: l.Change == AddLadder || l.Change == RenameLadder}
}

// meant returns the ladder to change, nil for none, and the names to give. For AddLadder, these are
// First, if it is set, and Name. For RenameLadder, there is only the new name.
func (l ladderOperation) meant(snap *Snapshot) (meant *GroupLadder, names []string) {
	switch l.Change {
	case AddLadder:
		if l.First != "" {
			names = append(names, l.First)
		}
		return nil, append(names, l.Name)
	case RenameLadder:
		words := strings.Fields(l.Name)
		for n := len(words) - 1; n > 0; n-- {
			if meant = findLadder(snap.Ladders, strings.Join(words[:n], " ")); meant != nil {
				return meant, []string{strings.Join(words[n:], " ")}
			}
		}
		if len(snap.Ladders) > 1 {
			return nil, nil
		}
		return snap.here(), []string{l.Name}
	case UnbindTopic:
		isLeft := func(g GroupLadder) bool { return g.Default && g.Name != "" && l.origin.Thread != 0 }
		return ladderThat(snap.Ladders, isLeft), nil
	default:
		return findLadder(snap.Ladders, l.Name), nil
	}
}

// here returns the ladder that applies where the command was sent, nil for none.
func (s *Snapshot) here() *GroupLadder {
	return ladderThat(s.Ladders, func(l GroupLadder) bool { return s.Applies == l.ID || s.Applies == 0 && l.Default })
}

func (l ladderOperation) refuse(snap *Snapshot) Notice {
	meant, names := l.meant(snap)
	if l.Change == ListLadders {
		return nil
	}
	for i, name := range names {
		switch other := findLadder(snap.Ladders, name); {
		case !l.canBeName(snap, name):
			return Refusal{Code: LadderName, Name: command.Excerpt(name)}
		case other != nil && (meant == nil || other.ID != meant.ID || other.Name == name), slices.Contains(names[:i], name):
			return Refusal{Code: LadderExists, Name: name}
		}
	}
	isFull := len(snap.activeLadders()) >= MaxLadders
	switch {
	case isFull && (l.Change == AddLadder || l.Change == UseLadder && meant != nil && meant.Archived):
		return Refusal{Code: TooManyLadders, Matches: MaxLadders}
	case l.Change == AddLadder:
		return nil
	case meant == nil && l.Change == RenameLadder:
		return Refusal{Code: RenameWhich, Name: snap.ladderNames()}
	case meant == nil:
		return noSuchLadder(l.Name)
	case l.Change == ArchiveLadder && meant.Default:
		return Refusal{Code: DefaultLadder, Name: meant.Name}
	}
	return nil
}

// canBeName reports whether a ladder may have this name. The name must be short, and have no other
// meaning in a command. It must not be the name, the nick or the username of a player either, nor
// the first word of one, because the bot would then mistake that player in a report for the ladder.
func (l ladderOperation) canBeName(snap *Snapshot, name string) bool {
	isLong := utf8.RuneCountInString(name) > MaxLadderName || len(name) > MaxLadderBytes
	first, _, _ := strings.Cut(strings.ToLower(name), " ")
	_, isSetting := FindSetting(first)
	if !command.CanNameLadder(name) || isSetting || isLong || len(strings.Fields(name)) > MaxLadderWords {
		return false
	}
	return !slices.ContainsFunc(snap.everybody(), func(p command.Person) bool { return p.IsCalled(name) })
}

func (l ladderOperation) decide(snap *Snapshot) (Decision, need, error) {
	meant, names := l.meant(snap)
	changed := &ChangedLadder{Change: l.Change, Chat: snap.ChatID, Group: snap.Group, Thread: l.origin.Thread}
	// If the chat has a new id, the topic's id is no longer valid.
	if snap.Chat.ID != l.origin.Chat.ID {
		changed.Thread = 0
	}
	said := LadderChanged{Change: l.Change, Topic: changed.Thread != 0}
	switch l.Change {
	case ListLadders:
		return l.origin.answer(snap.ladderList()), nil, nil
	case AddLadder:
		if only := snap.Ladders[0]; len(snap.Ladders) == 1 && only.Name == "" {
			if l.First == "" {
				return Decision{Notice: FirstLadderPrompt{Name: l.Name}}, nil, nil
			}
			changed.First, said.First = only.ID, l.First
		}
		changed.Names, said.Name = names, l.Name
	case RenameLadder:
		// Perhaps the first words were meant as the old name, so ask.
		if strings.Contains(l.Name, " ") && names[0] == l.Name && !l.Sure {
			return Decision{Notice: RenamePrompt{Name: l.Name}}, nil, nil
		}
		changed.Ladder, changed.Names = meant.ID, names
		said.Name, said.Was = names[0], meant.Name
	default:
		changed.Ladder, said.Name = meant.ID, meant.Name
		said.Again = l.Change == UseLadder && meant.Archived
	}
	d := l.origin.answer(said)
	d.Effect = changed
	return d, nil, nil
}

func (s *Snapshot) activeLadders() []GroupLadder {
	return slices.DeleteFunc(slices.Clone(s.Ladders), func(l GroupLadder) bool { return l.Archived })
}

// ladderNames returns the names of the ladders that are not archived, separated by commas.
func (s *Snapshot) ladderNames() string {
	var names []string
	for _, l := range s.activeLadders() {
		names = append(names, l.Name)
	}
	return strings.Join(names, ", ")
}

func (s *Snapshot) ladderList() LadderList {
	var n LadderList
	here := s.here()
	for _, l := range s.Ladders {
		n.Ladders = append(n.Ladders, ListedLadder{
			Name: l.Name, Default: l.Default, Archived: l.Archived, Topics: len(l.Topics), Here: here != nil && here.ID == l.ID,
		})
	}
	return n
}

// ChangedLadder is a change to the ladders of a group. The group must be locked.
type ChangedLadder struct {
	Change LadderChange
	Chat   ChatID
	Group  GroupID
	Ladder ladder.ID // the changed ladder, 0 for a new one
	First  ladder.ID // the group's only ladder so far, if it gets a name too; otherwise 0
	// Names has the new name of First if First is set, and then the ladder's new name, if any.
	Names []string
	// Thread is the topic that UseLadder binds or UnbindTopic unbinds. If it is 0, UseLadder makes
	// the ladder the default.
	Thread int64
}

func (*ChangedLadder) outcome() CommandOutcome { return OutcomeSettingChanged }

// LadderList shows the ladders of a group, including archived ones.
type LadderList struct {
	Ladders []ListedLadder `json:"ladders"` // oldest first
}

// ListedLadder is an entry of a LadderList: a ladder, and where it applies.
type ListedLadder struct {
	Name     string `json:"name,omitempty"`    // empty if the group's only ladder has no name
	Default  bool   `json:"default,omitempty"` // the ladder applies wherever no other ladder does
	Here     bool   `json:"here,omitempty"`    // the ladder applies where the list was requested
	Archived bool   `json:"archived,omitempty"`
	Topics   int    `json:"topics,omitempty"` // number of topics bound to it
}

var _ = notice.Register[LadderList](notice.Kind{Name: "ladder_list", Purpose: notice.Answer, Alone: true})

// FirstLadderPrompt asks for a name for the group's only ladder, before a ladder called Name is
// added. An admin answers by replying.
type FirstLadderPrompt struct {
	Name string `json:"name"`
}

var _ = notice.Register[FirstLadderPrompt](notice.Kind{
	Name: "first_ladder_prompt", Purpose: notice.Answer, Alone: true,
})

// RenamePrompt asks whether to give the group's only ladder a name of several words. An admin
// answers with the button.
type RenamePrompt struct {
	Name string `json:"name"`
}

var _ = notice.Register[RenamePrompt](notice.Kind{Name: "rename_prompt", Purpose: notice.Answer, Alone: true})

// LadderChanged announces a change to a ladder.
type LadderChanged struct {
	Change LadderChange `json:"change"`
	Name   string       `json:"name"`
	First  string       `json:"first,omitempty"` // the new name of the group's first ladder, if it had none
	Was    string       `json:"was,omitempty"`   // the previous name of a renamed ladder, if any
	Topic  bool         `json:"topic,omitempty"` // sent in a topic; UseLadder applies only to that topic
	Again  bool         `json:"again,omitempty"` // the ladder was archived before
}

var _ = notice.Register[LadderChanged](notice.Kind{Name: "ladder_changed", Purpose: notice.Outcome})
