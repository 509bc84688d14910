package ranking

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// GroupSettings are what the admins of a group can choose: the rules of a ladder, how the bot shows
// things in the chat, and whether there is a web board.
type GroupSettings struct {
	Rules   Rules   `json:"rules"`
	Display Display `json:"display"`
	Web     bool    `json:"web_on"` // whether the group has a web board
}

// Display holds the settings for how the bot shows things in a chat. Its JSON names are column
// names of the chats table.
type Display struct {
	Language string `json:"language"` // an IETF tag
	// LanguageChosen reports whether an admin has chosen the language. Otherwise, the chat has the
	// language of the person who added the bot or sent the first update, or else DefaultLanguage.
	LanguageChosen bool `json:"language_chosen"`
	Tables         bool `json:"tables"`       // whether to show rankings and standings as tables
	Celebrations   bool `json:"celebrations"` // whether cards show what is special about their matches
	DarkCharts     bool `json:"dark_charts"`
	// TimeZone is the IANA name of the zone for dates, and for the start of days and months.
	TimeZone string `json:"time_zone"`
}

// DefaultDisplay returns the Display of a new chat if the language of the sender is unknown.
func DefaultDisplay() Display {
	return Display{Language: DefaultLanguage, Celebrations: true, TimeZone: UTC}
}

// Setting is one of the GroupSettings. Its values are strings, which also appear in the data of
// buttons.
type Setting struct {
	Name  string
	Group SettingGroup
	// Choices are the values to choose from. The language and the time zone have none, because
	// their values are listed elsewhere.
	Choices []string
	Columns []string // the columns of the Table that store the setting
	get     func(GroupSettings) string
	set     func(g *GroupSettings, value string)
}

// SettingGroup is a group of settings that are shown together.
type SettingGroup string

const (
	AboutDisplay   SettingGroup = "display"   // language, tables, celebrations, chart colors
	AboutTime      SettingGroup = "time"      // the time zone
	AboutRating    SettingGroup = "rating"    // start rating, K-factors, margin of victory
	AboutPlaces    SettingGroup = "places"    // number of matches needed for a place, days until a player is hidden
	AboutSeasons   SettingGroup = "season"    // length of seasons, halfway starts
	AboutReporting SettingGroup = "reporting" // draws, uneven teams, who reports, who may be named
	AboutWeb       SettingGroup = "online"    // the web board
)

// SettingGroups returns the groups in display order.
func SettingGroups() []SettingGroup {
	return []SettingGroup{AboutDisplay, AboutTime, AboutRating, AboutPlaces, AboutSeasons, AboutReporting, AboutWeb}
}

// AllSettings returns the settings in display order.
func AllSettings() []Setting {
	return []Setting{
		{
			Name: SettingLanguage, Group: AboutDisplay, Columns: []string{"language", "language_chosen"},
			get: func(g GroupSettings) string { return g.Display.Language },
			set: func(g *GroupSettings, tag string) { g.Display.Language, g.Display.LanguageChosen = tag, true },
		},
		onOff("tables", AboutDisplay, "tables", func(g *GroupSettings) *bool { return &g.Display.Tables }),
		onOff("celebrations", AboutDisplay, "celebrations", func(g *GroupSettings) *bool { return &g.Display.Celebrations }),
		onOff("dark_charts", AboutDisplay, "dark_charts", func(g *GroupSettings) *bool { return &g.Display.DarkCharts }),
		{
			Name: SettingZone, Group: AboutTime, Columns: []string{"time_zone"},
			get: func(g GroupSettings) string { return g.Display.Zone().String() },
			set: func(g *GroupSettings, zone string) {
				if name, ok := FindTimeZone(zone); ok {
					g.Display.TimeZone = name
				}
			},
		},
		number("start", AboutRating, "start_elo", func(g *GroupSettings) *int { return &g.Rules.Start }, 1000, 1200, 1500),
		number("k", AboutRating, "k_factor", func(g *GroupSettings) *int { return &g.Rules.K }, 16, 24, 32, 48),
		choice(
			Setting{Name: SettingProvisional, Group: AboutRating,
				Columns: []string{"provisional_k_factor", "provisional_matches"}},
			func(g *GroupSettings) *ladder.Provisional { return &g.Rules.Provisional },
			func(p ladder.Provisional) string { return fmt.Sprintf("%d:%d", p.K, p.Matches) },
			ladder.Provisional{}, ladder.Provisional{K: 48, Matches: 10}, ladder.Provisional{K: 64, Matches: 10},
		),
		onOff("margin", AboutRating, "margin_of_victory", func(g *GroupSettings) *bool { return &g.Rules.Margin }),
		number(SettingPlace, AboutPlaces, "place_matches",
			func(g *GroupSettings) *int { return &g.Rules.PlaceMatches }, 1, 3, 5, 10),
		choice(Setting{Name: SettingHide, Group: AboutPlaces, Columns: []string{"hide_days"}},
			func(g *GroupSettings) *int { return &g.Rules.HideDays }, showHideDays, 30, 60, 90, 0),
		choice(
			Setting{Name: SettingSeasons, Group: AboutSeasons, Columns: []string{"season_months"}},
			func(g *GroupSettings) *int { return &g.Rules.SeasonMonths },
			func(months int) string { return map[int]string{0: Manual, 1: Monthly, 3: Quarterly}[months] }, 0, 1, 3,
		),
		onOff("halfway", AboutSeasons, "season_halfway", func(g *GroupSettings) *bool { return &g.Rules.Halfway }),
		onOff("draws", AboutReporting, "draws_allowed", func(g *GroupSettings) *bool { return &g.Rules.DrawsAllowed }),
		onOff("uneven", AboutReporting, "uneven_teams_allowed",
			func(g *GroupSettings) *bool { return &g.Rules.UnevenTeamsAllowed }),
		choice(Setting{Name: SettingReporters, Group: AboutReporting, Columns: []string{"reporters"}},
			func(g *GroupSettings) *Who { return &g.Rules.Reporters },
			func(w Who) string { return [...]string{"anybody", "players", "admins"}[w] }, Anybody, Involved, OnlyAdmins),
		choice(Setting{Name: SettingNamed, Group: AboutReporting, Columns: []string{"only_joined"}},
			func(g *GroupSettings) *bool { return &g.Rules.OnlyJoined },
			func(only bool) string { return map[bool]string{false: "anybody", true: "joined"}[only] }, false, true),
		webSetting(),
	}
}

// The names of the settings that code outside AllSettings refers to. SettingLanguage is also the
// name of the command /language.
const (
	SettingLanguage    = "language"
	SettingPlace       = "place"
	SettingHide        = "hide"
	SettingProvisional = "provisional"
	SettingSeasons     = "seasons"
	SettingZone        = "zone"
	SettingReporters   = "reporters"
	SettingNamed       = "named"
	SettingWeb         = "web"
)

// The values of an on/off setting, and the words that /board understands.
const (
	On  = "on"
	Off = "off"
)

// Never is the value of SettingHide with which the ranking never hides inactive players.
const Never = "never"

func showHideDays(days int) string {
	if days == 0 {
		return Never
	}
	return strconv.Itoa(days)
}

// The values of SettingSeasons.
const (
	Manual    = "manual" // a season lasts until an admin starts the next
	Monthly   = "monthly"
	Quarterly = "quarterly"
)

func onOff(name string, group SettingGroup, column string, field func(*GroupSettings) *bool) Setting {
	show := func(on bool) string {
		if on {
			return On
		}
		return Off
	}
	return choice(Setting{Name: name, Group: group, Columns: []string{column}}, field, show, false, true)
}

func number(name string, group SettingGroup, column string, field func(*GroupSettings) *int, choices ...int) Setting {
	return choice(Setting{Name: name, Group: group, Columns: []string{column}}, field, strconv.Itoa, choices...)
}

// choice returns the setting s with the given values as its Choices, and with functions that get
// and set the value in a field of GroupSettings. show formats a value.
func choice[T any](s Setting, field func(*GroupSettings) *T, show func(T) string, choices ...T) Setting {
	for _, c := range choices {
		s.Choices = append(s.Choices, show(c))
	}
	s.get = func(g GroupSettings) string { return show(*field(&g)) }
	s.set = func(g *GroupSettings, value string) {
		for _, c := range choices {
			if show(c) == value {
				*field(g) = c
			}
		}
	}
	return s
}

// FindSetting returns the setting with the given name. ok is false if there is none.
func FindSetting(name string) (s Setting, ok bool) {
	for _, s := range AllSettings() {
		if s.Name == name {
			return s, true
		}
	}
	return s, false
}

// SettingsTable is the name of a database table with settings.
type SettingsTable string

const (
	OfChat   SettingsTable = "chats"
	OfGroup  SettingsTable = "groups"
	OfLadder SettingsTable = "ladders"
)

// Table returns the table that holds the setting.
func (s Setting) Table() SettingsTable {
	switch s.Group {
	case AboutDisplay, AboutTime:
		return OfChat
	case AboutWeb:
		return OfGroup
	default:
		return OfLadder
	}
}

// Value returns the value that the setting has in g.
func (s Setting) Value(g GroupSettings) string { return s.get(g) }

// With returns g with this setting changed to value. An unknown value changes nothing, except that
// With accepts any language.
func (s Setting) With(g GroupSettings, value string) GroupSettings {
	s.set(&g, value)
	return g
}

// SettingsPage is a notice that shows the settings of a group, with buttons to change them.
type SettingsPage struct {
	GroupSettings
	// Changed is the change that a typed command has just made, nil for none.
	Changed *SettingChanged `json:"changed,omitempty"`
	// Open is the SettingGroup, the setting or the region of time zones whose buttons are shown,
	// empty for the list of SettingGroups.
	Open string `json:"open,omitempty"`
	// ChangedBy is the person who has just chosen a value with a button, nil if no value was chosen
	// that way.
	ChangedBy *Reporter `json:"changed_by,omitempty"`
}

var _ = notice.Register[SettingsPage](notice.Kind{Name: "settings", Purpose: notice.Answer, Alone: true})

// ShowSettings shows an admin the settings of the group. If a button was pressed, the message with
// the button becomes the SettingsPage.
type ShowSettings struct{ Open string } // as in SettingsPage

func (o ShowSettings) plan(_ *Service, c *call) *call {
	op := settingsOperation{adminsOnly{people: senderOf(c.Origin)}, o.Open, c.Origin}
	return c.with(job{name: "show settings", bucket: c.settingsBucket(), ofAdmins: true, operation: op})
}

// TypedSettings is a typed /settings or /language. Without arguments, /settings shows the settings,
// and /language shows the languages. Arguments such as "k 24" or "zone america/new york" change a
// setting. The bot refuses an unknown time zone. If the name of any other setting is followed by
// one word that is not one of its values, as in "k 1", the bot shows the values to choose from. It
// answers anything else with a WrongForm.
type TypedSettings struct {
	// Languages maps words for the bot's languages, in lower case, to the tags of the languages.
	Languages map[string]string
}

func (t TypedSettings) plan(s *Service, c *call) *call { return t.Meant(c.Said).plan(s, c) }

// Meant returns the operation that the typed command asks for.
func (t TypedSettings) Meant(said command.Command) Operation {
	typed, opens := strings.Fields(said.Typed()), ""
	if said.Written == SettingLanguage {
		if opens = SettingLanguage; len(typed) > 0 {
			typed = append([]string{SettingLanguage}, typed...)
		}
	}
	if len(typed) == 0 && len(said.Mentions) == 0 {
		return ShowSettings{opens}
	}
	if len(typed) > 1 {
		s, isSetting := FindSetting(strings.ToLower(typed[0]))
		value, isValue := t.find(s, typed[1:])
		switch {
		case s.Name == SettingZone && !isValue:
			return Say{Notice: Refusal{Code: UnknownZone, Name: command.Excerpt(value)}}
		case isValue:
			return ChangeSetting{Setting: s, Value: value}
		case isSetting && len(typed) == 2:
			return ShowSettings{s.Name}
		}
	}
	return Say{Notice: Unexpected(said, cmp.Or(said.Typed(), said.FirstWord()))}
}

// find returns the value of the setting s that the words name. ok is false if they name none; value
// is then the words, joined by spaces.
func (t TypedSettings) find(s Setting, words []string) (value string, ok bool) {
	written := strings.Join(words, " ")
	switch s.Name {
	case SettingLanguage:
		value, ok = t.Languages[strings.ToLower(written)]
	case SettingZone:
		value, ok = FindTimeZone(written)
	default:
		at := slices.IndexFunc(s.Choices, func(choice string) bool { return strings.EqualFold(choice, written) })
		if ok = at >= 0; ok {
			value = s.Choices[at]
		}
	}
	if !ok {
		return written, false
	}
	return value, true
}

type settingsOperation struct {
	adminsOnly
	open   string
	origin Origin
}

func (o settingsOperation) decide(snap *Snapshot) (Decision, need, error) {
	return o.origin.answer(SettingsPage{GroupSettings: snap.settings(), Open: o.open}), nil, nil
}

func (o Origin) settingsBucket() RateBucket {
	if o.Button != "" {
		return RatePress
	}
	return RateQuestion
}

func (s *Snapshot) settings() GroupSettings {
	return GroupSettings{Rules: s.Ladder.Rules, Display: s.Display, Web: s.Web}
}

// ChangeSetting changes a setting of the group. The command is typed, or is the press of a button
// on a SettingsPage, which is then edited. Only admins may change settings. Changed rating rules
// apply from the next match on. Recorded matches and the start ratings of players in the ladder
// stay as they are. A match that another instance is recording at that moment may still count under
// the old rules.
type ChangeSetting struct {
	Setting Setting
	Value   string
}

func (o ChangeSetting) plan(_ *Service, c *call) *call {
	op := settingOperation{adminsOnly{people: senderOf(c.Origin), adds: true}, o, c.SentAt, c.Button == ""}
	return c.with(job{name: "change setting", bucket: c.settingsBucket(), ofAdmins: true, locks: true, operation: op})
}

type settingOperation struct {
	adminsOnly
	ChangeSetting
	at    time.Time
	typed bool // the value was typed rather than chosen with a button
}

func (o settingOperation) refuse(snap *Snapshot) Notice {
	if before := snap.settings(); o.Value != NewLink && o.Setting.With(before, o.Value) == before {
		return Refusal{Code: SameSetting}
	}
	return nil
}

func (o settingOperation) decide(snap *Snapshot) (Decision, need, error) {
	// If the season should have ended already, end it first, so that the new setting does not
	// change its end.
	if o.Setting.Name == SettingSeasons && snap.Ladder.Season.endsBefore(o.at) {
		return Decision{}, seasonEnd{snap.Ladder, o.at}, nil
	}
	before := snap.settings()
	changed := &ChangedSetting{
		Chat: snap.ChatID, Group: snap.Group, Ladder: snap.Ladder.ID, Setting: o.Setting,
		Before: before, After: o.Setting.With(before, o.Value),
		NewLink: o.Value == NewLink,
	}
	changed.Seasons = seasonsUntil(o.Setting.Name, o.at, snap, changed.After)
	said := SettingChanged{Name: o.Setting.Name, Before: o.Setting.Value(before), After: o.Value}
	page := SettingsPage{GroupSettings: changed.After, Open: string(o.Setting.Group)}
	asksZone := o.Setting.Name == SettingSeasons && before.Rules.SeasonMonths == 0 && before.Display.TimeZone == UTC
	if asksZone {
		page.Open = SettingZone
	}
	switch {
	case asksZone && o.typed:
		page.Changed = &said
		return Decision{Effect: changed, Notice: page}, nil, nil
	case o.typed:
		return Decision{Effect: changed, Notice: said}, nil, nil
	}
	name := snap.senderName()
	page.ChangedBy = &Reporter{Name: &name}
	return Decision{Effect: changed, Page: page, CallbackAnswer: said}, nil, nil
}

// ChangedSetting is a new value of a setting. If the stored value differs from Before, Apply fails
// with ErrConflict.
type ChangedSetting struct {
	Chat          ChatID
	Group         GroupID
	Ladder        ladder.ID
	Setting       Setting
	Before, After GroupSettings
	NewLink       bool          // the web board gets a new link
	Seasons       []SeasonUntil // seasons with their new ends
}

func (*ChangedSetting) outcome() CommandOutcome { return OutcomeSettingChanged }

// SettingChanged announces the new value of a setting.
type SettingChanged struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

var _ = notice.Register[SettingChanged](notice.Kind{Name: "setting_changed", Purpose: notice.Outcome})

// adminsOnly is the common part of operations that only admins may run, except that any member may
// run them if asks is set.
type adminsOnly struct {
	plain
	people participants
	adds   bool // the people become players
	asks   bool // the operation changes nothing
}

func (a adminsOnly) needs() Needs {
	needs := Needs{People: a.people}
	if a.adds {
		needs.New = len(a.people)
	}
	return needs
}

func (a adminsOnly) permission(*Snapshot) Permission {
	if a.asks {
		return Permission{}
	}
	return Permission{Who: OnlyAdmins, Refusal: Refusal{Code: AdminsOnly}}
}
