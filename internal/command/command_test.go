package command_test

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/command"
)

func botCommand(length int) command.Entity {
	return command.Entity{Kind: command.KindBotCommand, Length: length}
}

func TestParseName(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text   string
		length int // of the command, in UTF-16 code units
		name   string
		args   string
	}{
		{"/start", 6, "start", ""},
		{"/START", 6, "start", ""},
		{"/help", 5, "help", ""},
		{"/join", 5, "join", ""},
		{"/ranking", 8, "ranking", ""},
		{"/top", 4, "top", ""},
		{"/Top 10", 4, "top", "10"},
		{"/leaderBoard@ELOBOT", 19, "leaderboard", ""},
		{"/match@elobot", 13, "match", ""},
		{"/Match@EloBot 3:1", 13, "match", "3:1"},
		{"/match\n3:1\n", 6, "match", "3:1"},
		{"/match\u200f 3:1 \u200e", 6, "match", "3:1"},
		{"/match:3", 6, "match", ":3"},
		{"/match@al 3:1", 6, "match", "@al 3:1"},
		{"/Undo_2 🏓 דוד", 7, "undo_2", "🏓 דוד"},
		{"/match 𝔠\xff", 6, "match", "𝔠\xff"},
	} {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			got, ok := command.Parse(tc.text, []command.Entity{botCommand(tc.length)}, botUsername)
			if !ok {
				t.Fatal("no command")
			}
			if diff := cmp.Diff(command.Command{
				Name: tc.name, Written: tc.name, Args: tc.args, Addressed: strings.Contains(tc.text[:tc.length], "@"),
			}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestParseBeyond checks that if Telegram marks a command only in part or not at all, the whole
// word is its name, and later mentions are found.
func TestParseBeyond(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]command.Command{
		"/gané @bob 3:1":         {Name: "gane", Args: "@ 3:1"},
		"/GANE\u0301@EloBot 3:1": {Name: "gane", Args: "3:1", Addressed: true},
		"/матч @bob 3:1":         {Name: "матч", Args: "@ 3:1"},
		"/Йод":                   {Name: "йод"},
		"/übersicht":             {Name: "ubersicht"},
		"/דוד":                   {Name: "דוד"},
	} {
		var marks []command.Entity
		if n := len(telegramCommand.FindString(text)); n > 1 {
			marks = append(marks, botCommand(n))
		}
		if at := strings.Index(text, "@bob"); at >= 0 {
			at = len(utf16.Encode([]rune(text[:at])))
			marks = append(marks, command.Entity{Kind: command.KindMention, Offset: at, Length: 4})
			want.Args, want.Mentions = strings.Replace(want.Args, "@", "\ufffc", 1), []command.Person{{Username: "bob"}}
		}
		want.Written, want.Beyond = want.Name, true
		got, ok := command.Parse(text, marks, botUsername)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %v, -want +got:\n%s", text, ok, diff)
		}
	}
}

// telegramCommand matches what Telegram marks as a command at the beginning of a text.
var telegramCommand = regexp.MustCompile(`^/[A-Za-z0-9_]{1,32}`)

func TestParseNoCommand(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text     string
		entities []command.Entity
		bot      string
	}{
		"empty":                 {"", nil, botUsername},
		"plain text":            {"3:1", nil, botUsername},
		"no entity":             {"/match 3:1", nil, botUsername},
		"another bot":           {"/match@OtherBot", []command.Entity{botCommand(15)}, botUsername},
		"another bot with us":   {"/match@EloBot2", []command.Entity{botCommand(14)}, botUsername},
		"own name unknown":      {"/match@EloBot", []command.Entity{botCommand(13)}, ""},
		"inside":                {"try /match", []command.Entity{{Kind: command.KindBotCommand, Offset: 4, Length: 6}}, botUsername},
		"after an emoji":        {"🏓/match", []command.Entity{{Kind: command.KindBotCommand, Offset: 2, Length: 6}}, botUsername},
		"marked on an emoji":    {"🏓/match", []command.Entity{botCommand(2)}, botUsername},
		"half a surrogate pair": {"/🏓", []command.Entity{botCommand(2)}, botUsername},
		"right to left":         {"/דוד", []command.Entity{{Kind: "code", Length: 4}}, botUsername},
		"another bot beyond":    {"/gané@OtherBot", []command.Entity{botCommand(4)}, botUsername},
		"code beyond":           {"/gané", []command.Entity{{Kind: "code", Length: 5}}, botUsername},
		"past the end":          {"/match", []command.Entity{botCommand(7)}, botUsername},
		"huge":                  {"/match", []command.Entity{botCommand(math.MaxInt)}, botUsername},
		"negative length":       {"/match", []command.Entity{botCommand(-6)}, botUsername},
		"negative offset":       {"/match", []command.Entity{{Kind: command.KindBotCommand, Offset: -1, Length: 7}}, botUsername},
		"slash alone":           {"/", []command.Entity{botCommand(1)}, botUsername},
		"bot alone":             {"/@EloBot", []command.Entity{botCommand(8)}, botUsername},
		"no bot":                {"/match@", []command.Entity{botCommand(7)}, botUsername},
		"cut short":             {"/matches", []command.Entity{botCommand(6)}, botUsername},
		"too long":              {"/match 3", []command.Entity{botCommand(8)}, botUsername},
		"another kind":          {"/match", []command.Entity{{Kind: "hashtag", Length: 6}}, botUsername},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, ok := command.Parse(tc.text, tc.entities, tc.bot); ok {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestParseMentions(t *testing.T) {
	t.Parallel()
	for _, n := range namings() {
		for _, tc := range []struct {
			template string
			args     string // with * for a placeholder
			mentions []string
		}{
			{"/match {a} {b} 3:1", "* * 3:1", []string{"{a}", "{b}"}},
			{"/match 3{b}1", "3*1", []string{"{b}"}},
			{"/match {b}", "*", []string{"{b}"}},
			{"/match {a} 3:1\u200f {b} 🏓 {c}", "* 3:1\u200f * 🏓 *", []string{"{a}", "{b}", "{c}"}},
			{"/match \u200f{a}vs{b}3:1{c} ", "*vs*3:1*", []string{"{a}", "{b}", "{c}"}},
			{"/x 🏓 {a} שלום {b} 𝔵 {bot}{c}", "🏓 * שלום * 𝔵 **", []string{"{a}", "{b}", "{bot}", "{c}"}},
			{"/x {a}{a}\n{me} end", "**\n* end", []string{"{a}", "{a}", "{me}"}},
		} {
			t.Run(n.name+" "+tc.template, func(t *testing.T) {
				t.Parallel()
				m := n.fill(tc.template)
				c, ok := command.Parse(m.text, m.entities, botUsername)
				if !ok {
					t.Fatal("no command")
				}
				var want []command.Person
				for _, key := range tc.mentions {
					want = append(want, n.people[key].person)
				}
				equal(t, c.Mentions, want, "mentions")
				if want := strings.ReplaceAll(tc.args, "*", "\uFFFC"); c.Args != want {
					t.Errorf("args are %q, want %q", c.Args, want)
				}
			})
		}
	}
}

// TestParseBadEntities checks that Parse ignores an entity that is invalid, overlaps an earlier
// one, or is of a kind without meaning, and that it keeps the valid mention beside it.
func TestParseBadEntities(t *testing.T) {
	t.Parallel()
	const text = "/match 🏓 @alice דוד 3:1" // in code units, 🏓 is 7–8, @alice 10–15, דוד 17–19
	good := command.Entity{Kind: command.KindMention, Offset: 10, Length: 6}
	user := &command.Person{ID: 7, Name: "Dave"}
	textMention := func(offset, length int) command.Entity {
		return command.Entity{Kind: command.KindTextMention, Offset: offset, Length: length, User: user}
	}
	mention := func(offset, length int) command.Entity {
		return command.Entity{Kind: command.KindMention, Offset: offset, Length: length}
	}
	for name, bad := range map[string]command.Entity{
		"negative offset":          textMention(-1, 3),
		"most negative":            textMention(math.MinInt, math.MinInt),
		"negative length":          textMention(17, -3),
		"empty":                    textMention(17, 0),
		"past the end":             textMention(23, 2),
		"beyond the end":           textMention(25, 1),
		"overflow":                 textMention(17, math.MaxInt),
		"both overflow":            textMention(math.MaxInt, math.MaxInt),
		"starts in a pair":         textMention(8, 1),
		"ends in a pair":           textMention(7, 1),
		"overlaps the command":     textMention(5, 3),
		"overlaps the mention":     textMention(12, 8),
		"no user":                  {Kind: command.KindTextMention, Offset: 17, Length: 3},
		"user without id":          {Kind: command.KindTextMention, Offset: 17, Length: 3, User: &command.Person{Name: "Dave"}},
		"user with a negative id":  {Kind: command.KindTextMention, Offset: 17, Length: 3, User: &command.Person{ID: -7}},
		"mention without @":        mention(17, 3),
		"mention of a score":       mention(21, 3),
		"another command":          {Kind: command.KindBotCommand, Offset: 17, Length: 3},
		"second command in front":  botCommand(3),
		"formatting":               {Kind: "bold", Offset: 17, Length: 3},
		"kind in another spelling": {Kind: "Text_Mention", Offset: 17, Length: 3, User: user},
	} {
		for order, entities := range map[string][]command.Entity{
			"last":  {botCommand(6), good, bad},
			"first": {bad, good, botCommand(6)},
		} {
			t.Run(name+" "+order, func(t *testing.T) {
				t.Parallel()
				got, ok := command.Parse(text, entities, botUsername)
				want := command.Command{
					Name: "match", Written: "match", Args: "🏓 \uFFFC דוד 3:1", Mentions: []command.Person{{Username: "alice"}},
				}
				if diff := cmp.Diff(want, got); !ok || diff != "" {
					t.Errorf("ok %v, -want +got:\n%s", ok, diff)
				}
			})
		}
	}
}

func TestParseOverlap(t *testing.T) {
	t.Parallel()
	user := &command.Person{ID: 7, Name: "Dave"}
	for name, tc := range map[string]struct {
		mentions []command.Entity
		want     command.Command
	}{
		"first of two at one place": {
			[]command.Entity{
				{Kind: command.KindTextMention, Offset: 3, Length: 6, User: user},
				{Kind: command.KindMention, Offset: 3, Length: 6},
			},
			command.Command{Name: "x", Written: "x", Args: "\uFFFC 3", Mentions: []command.Person{*user}},
		},
		"bad one does not hide a good one": {
			[]command.Entity{
				{Kind: command.KindMention, Offset: 3, Length: 7},
				{Kind: command.KindMention, Offset: 3, Length: 6},
			},
			command.Command{Name: "x", Written: "x", Args: "\uFFFC 3", Mentions: []command.Person{{Username: "alice"}}},
		},
		"earlier one counts": {
			[]command.Entity{
				{Kind: command.KindMention, Offset: 3, Length: 6},
				{Kind: command.KindTextMention, Offset: 2, Length: 2, User: user},
			},
			command.Command{Name: "x", Written: "x", Args: "\uFFFCalice 3", Mentions: []command.Person{*user}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := command.Parse("/x @alice 3", append(tc.mentions, botCommand(2)), botUsername)
			equal(t, got, tc.want, "result")
		})
	}
}

func TestParseBots(t *testing.T) {
	t.Parallel()
	for username, want := range map[string]bool{
		"elobot": true, "EloBot": true, "groupanonymousbot": true, "Channel_Bot": true,
		"elobot2": false, "alice": false,
	} {
		var m message
		m.mark(command.KindBotCommand, "/match", nil)
		m.plain(" 🏓 ")
		m.mark(command.KindMention, "@"+username, nil)
		c, ok := command.Parse(m.text, m.entities, botUsername)
		if !ok || len(c.Mentions) != 1 {
			t.Fatalf("%s: ok %v, %+v", username, ok, c)
		}
		equal(t, c.Mentions[0].IsBot, want, "%s: IsBot", username)
	}
}

func TestParseLongUsername(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]int{1: 1, 32: 1, 33: 0} {
		var m message
		m.mark(command.KindBotCommand, "/match", nil)
		m.plain(" ")
		m.mark(command.KindMention, "@"+strings.Repeat("a", length), nil)
		c, ok := command.Parse(m.text, m.entities, botUsername)
		if !ok || len(c.Mentions) != want {
			t.Errorf("length %d: ok %v, %d mentions, want %d", length, ok, len(c.Mentions), want)
		}
	}
}

func TestParseLeavesEntitiesAlone(t *testing.T) {
	t.Parallel()
	m := namings()[2].fill("/match {a} {b} 3:1")
	m.entities[0], m.entities[2] = m.entities[2], m.entities[0]
	before := append([]command.Entity(nil), m.entities...)
	c, _ := command.Parse(m.text, m.entities, botUsername)
	c.Mentions[0].Name = "changed"
	equal(t, m.entities, before, "entities afterwards")
	if m.entities[1].User.Name == "changed" {
		t.Error("a mention shares memory with its entity")
	}
}

func TestWantsHelp(t *testing.T) {
	t.Parallel()
	for _, n := range namings() {
		for template, want := range map[string]bool{
			"/match help":        true,
			"/match  HELP\n":     true,
			"/match \u200fhelp":  true,
			"/ranking Help":      true,
			"/match":             false,
			"/help":              false,
			"/match help me":     false,
			"/match {b} help":    false,
			"/match help {b}":    false,
			"/match helper":      false,
			"/match 🏓 help":      false,
			"/match he{b}lp":     false,
			"/match@elobot help": true,
		} {
			m := n.fill(template)
			c, ok := command.Parse(m.text, m.entities, botUsername)
			if !ok || c.WantsHelp() != want {
				t.Errorf("%s, %q: ok %v, WantsHelp %v, want %v", n.name, template, ok, c.WantsHelp(), want)
			}
		}
	}
}
