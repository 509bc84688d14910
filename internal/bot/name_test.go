package bot

import (
	"fmt"
	"html"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

const (
	family = "👨‍👩‍👧‍👦" // seven runes with joiners
	// england is a flag that consists of a black flag and tags.
	england = "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F"
	accent  = "\u0301"
)

// nastyNames has names that could disrupt the text around them.
var nastyNames = []string{
	"Alice", "Bob 2", "", " ", "\u3164", "\u2800", "\u00ad", "\u200b\u200d",
	"<", "&", "<b>bold</b>", "</b>", "&lt;", "&amp;amp;", "&#0;", `"quoted"`, "it's", "<a href=\"tg://user?id=1001\">x</a>",
	family, england, strings.Repeat(family, 20), strings.Repeat(england, 20), "👍🏽", "🇩🇪🇫🇷", "1️⃣",
	"Z" + strings.Repeat(accent, 400), strings.Repeat("e"+accent, 300), strings.Repeat(accent, 5),
	"محمد", "שלום", "\u202eevil", "a\u202bb\u202cc", "\u2066a\u2069b\u2068", "\u2069\u2069\u2069x", "\u061ca\u200e\u200f",
	strings.Repeat("a", 300), strings.Repeat("a ", 150), strings.Repeat("@", 300), strings.Repeat("𝕏", 300),
	"two\nlines", "tab\there", "nul\x00here", "bell\a", "\r\n", "a\u2028b\u2029c", "\xff\xfe", "half\xc3",
	"@bob", "x @bob", "@elo_bot", "/start", "/start@elo_bot", "a/start", "#tag", "#1a", "$USD", "t.me/x", "evil.example",
	"https://evil.example", "HTTPS://EVIL.COM/@bob", "a@b.example", "a@b.com", "tg://user?id=1001", "mailto:a@b.com",
	"sub.domain.org:80/path?q=#f", "1.2.3.4", "example.com.", "..com", "@@bob", "//start", "##tag", "$$USD",
	"[x](tg://user?id=1001)", "*b*", "_i_", "`c`", strings.Repeat("\u0d4e", 100), strings.Repeat("\U000111C2", 100),
}

func TestCleanName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, raw, want string }{
		{"plain", "Alice", "Alice"},
		{"empty", "", ""},
		{"spaces", "  Al \u00a0 \u3000ice ", "Al ice"},
		{"newlines and tabs", "\tAl\nice\r\n", "Al ice"},
		{"line separators", "Al\u2028ice\u2029", "Al ice"},
		{"NUL", "Al\x00ice", "Alice"},
		{"escape", "\x1b[31mAl", "[31mAl"},
		{"invalid UTF-8", "Al\xffice\xc3", "Alice"},
		{"replacement characters", "\ufffdAl\ufffd", "Al"},
		{"Hangul fillers", "\u3164\u115f\u1160\uffa0", ""},
		{"Braille blank", "\u2800", ""},
		{"blanks inside", "Al\u3164ice", "Al ice"},
		{"zero width space", "Al\u200bice\ufeff", "Alice"},
		{"soft hyphen", "Al\u00adice", "Alice"},
		{"word joiner", "@\u2060bob", "@bob"},
		{"right-to-left override", "\u202eAlice\u202c", "Alice"},
		{"isolates", "\u2068Al\u2069ice\u2067", "Alice"},
		{"direction marks", "\u200eAl\u200f\u061cice", "Alice"},
		{"right-to-left script", "محمد", "محمد"},
		{"only accents", accent + accent, ""},
		{"only joiners", "\u200d\u200c\U000E0067", ""},
		{"markup is left to showText", "<b>&amp;", "<b>&amp;"},
		{"family", family, family},
		{"flag with tags", england, england},
		{"flag", "🇩🇪", "🇩🇪"},
		{"keycap", "1️⃣", "1️⃣"},
		{"Persian joiner", "می\u200cخواهم", "می\u200cخواهم"},
		{"32 characters", strings.Repeat("a", 32), strings.Repeat("a", 32)},
		{"33 characters", strings.Repeat("a", 33), strings.Repeat("a", 31) + "…"},
		{"300 characters", strings.Repeat("a", 300), strings.Repeat("a", 31) + "…"},
		{"cut at a space", strings.Repeat("a", 30) + " " + strings.Repeat("b", 9), strings.Repeat("a", 30) + "…"},
		{"32 accented letters are cut by units alone", strings.Repeat("e"+accent, 32), strings.Repeat("e"+accent, 31) + "…"},
		{"31 accented letters", strings.Repeat("e"+accent, 31), strings.Repeat("e"+accent, 31)},
		{"20 families", strings.Repeat(family, 20), strings.Repeat(family, 5) + "…"},
		{"20 flags", strings.Repeat(england, 20), strings.Repeat(england, 4) + "…"},
		{"31 emoji", strings.Repeat("🎱", 31), strings.Repeat("🎱", 31)},
		{"40 emoji", strings.Repeat("🎱", 40), strings.Repeat("🎱", 31) + "…"},
		{"hundreds of accents", "Z" + strings.Repeat(accent, 400), "Z" + strings.Repeat(accent, 62) + "…"},
		{"accents outside the first plane", "Z" + strings.Repeat("\U0001D165", 400), "Z" + strings.Repeat("\U0001D165", 31) + "…"},
		{"zalgo behind a letter", "aZ" + strings.Repeat(accent, 400), "a…"},
	} {
		equal(t, cleanName(c.raw), c.want, "%s: cleanName(%+q)", c.name, c.raw)
	}
}

func TestShowText(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"Alice":                "⟨Alice⟩",
		"":                     "⟨⟩",
		"<b>":                  "⟨&lt;b&gt;⟩",
		"a & b":                "⟨a &amp; b⟩",
		"&lt;":                 "⟨&amp;lt;⟩",
		`"it's"`:               "⟨&#34;it&#39;s&#34;⟩",
		"@bob":                 "⟨@|bob⟩",
		"/start":               "⟨/|start⟩",
		"#tag":                 "⟨#|tag⟩",
		"$USD":                 "⟨$|USD⟩",
		"t.me/x":               "⟨t.|me/|x⟩",
		"https://evil.example": "⟨https:|/|/|evil.|example⟩",
		"a@b.example":          "⟨a@|b.|example⟩",
		"tg://user?id=1":       "⟨tg:|/|/|user?id=1⟩",
		"\u202eevil\u2069":     "⟨evil⟩",
		"two\nlines":           "⟨two lines⟩",
		"محمد":                 "⟨محمد⟩",
	} {
		want = strings.NewReplacer("⟨", isolate, "⟩", endIsolate, "|", joiner).Replace(want)
		equal(t, showText(raw), want, "showText(%+q)", raw)
	}
}

func TestShowName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name ranking.Name
		want string
	}{
		{ranking.Name{Name: "Bob"}, "⟨Bob⟩"},
		{ranking.Name{Name: "Bob", Mark: "2"}, "⟨Bob⟩ (⟨2⟩)"},
		{ranking.Name{Name: "<i>", Mark: "a.b"}, "⟨&lt;i&gt;⟩ (⟨a.|b⟩)"},
	} {
		want := strings.NewReplacer("⟨", isolate, "⟩", endIsolate, "|", joiner).Replace(c.want)
		equal(t, showName(c.name), want, "showName(%+v)", c.name)
	}
}

func TestDisplayName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		user user
		want string
	}{
		{user{ID: 5, FirstName: "Alice"}, "Alice"},
		{user{ID: 5, FirstName: "Alice", LastName: "Smith", Username: "al"}, "Alice Smith"},
		{user{ID: 5, LastName: "Smith"}, "Smith"},
		{user{ID: 5, FirstName: "\u3164", LastName: "\u2800", Username: "al"}, "al"},
		{user{ID: 5, FirstName: "\u202e"}, ranking.Nameless},
		{user{ID: 5}, ranking.Nameless},
		{user{ID: 5, FirstName: strings.Repeat("a", 20), LastName: strings.Repeat("b", 20)}, strings.Repeat("a", 20) + " " + strings.Repeat("b", 10) + "…"},
	} {
		equal(t, displayName(c.user), c.want, "displayName(%+v)", c.user)
	}
}

// TestFormerPlayersAreToldApart checks that, in each language, rows of lists have the numbers of
// former players in whole.
func TestFormerPlayersAreToldApart(t *testing.T) {
	t.Parallel()
	for _, language := range catalog.All() {
		w := words{Language: language}
		if got := shortName(w.inPlaceOfNone(ranking.Name{Name: ranking.Former + "999"})); !strings.Contains(got, "999") {
			t.Errorf("%s: %s", language.Tag(), got)
		}
	}
}

// TestNamelessPeople checks that a person without a name gets a placeholder in the language of the
// chat, in messages, tables, charts and addressed lines. A number distinguishes several such
// people. In commands, the placeholder with the number means the person in any language.
func TestNamelessPeople(t *testing.T) {
	t.Parallel()
	german := words{Language: catalog.For("de"), tables: true}
	item := itemOf(t,
		stats.RankingPage{Title: "Club", Total: 1, Rows: []stats.Row{{Name: ranking.Name{Player: 7}, Elo: 1516, Won: 1}}})
	item.Names = map[int64]outbox.Name{7: {Name: ranking.Nameless, Mark: "2"}}
	out, err := render(item, german)
	must(t, err)
	for _, text := range []string{out.html, out.table} {
		if !strings.Contains(text, "Person 2"+endIsolate) || strings.Contains(text, ranking.Nameless) {
			t.Errorf("the ranking is %q", text)
		}
	}
	if got := addressed(ranking.Nameless, "Hallo", german); !strings.Contains(got, "Person") {
		t.Errorf("the answer is %q", got)
	}
	chart := stats.Chart{Players: []ranking.Name{{Player: 7, Name: ranking.Nameless}}}
	german.nameNameless(&chart)
	equal(t, drawnName(chart.Players[0]), "Person 1", "name on the chart")
	names := command.NewNames([]command.Person{{ID: 5, Player: 7, Name: ranking.Nameless, Nameless: 2}})
	for _, language := range catalog.All() {
		if got := (words{Language: language}).called(ranking.Nameless); got == "" || got == ranking.Nameless {
			t.Errorf("in %s nobody has the name %q", language.Tag(), got)
		} else if _, ok := names.Holder(got + " 2"); !ok {
			t.Errorf("nobody is meant by %s 2", got)
		}
	}
}

// checkName checks that the cleaned form of a name is short, visible and valid text without control
// characters, and stays the same if it is cleaned again. It also checks what showText makes of the
// name.
func checkName(t fatalizer, raw string) {
	t.Helper()
	cleaned := cleanName(raw)
	equal(t, cleanName(cleaned), cleaned, "cleaned once more")
	if !utf8.ValidString(cleaned) {
		t.Errorf("%+q is not valid", cleaned)
	}
	if n := uniseg.GraphemeClusterCount(cleaned); n > 32 {
		t.Errorf("%+q has %d characters", cleaned, n)
	}
	if n := len(utf16.Encode([]rune(cleaned))); n > 64 {
		t.Errorf("%+q has %d UTF-16 units", cleaned, n)
	}
	equal(t, cleaned, strings.Join(strings.Fields(cleaned), " "), "without white space to spare")
	for _, r := range cleaned {
		if unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) || r == '\u2060' || r == unicode.ReplacementChar {
			t.Errorf("%+q has %+q in it", cleaned, r)
		}
	}
	seen := strings.ContainsFunc(cleaned,
		func(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) })
	if cleaned != "" && !seen {
		t.Errorf("nothing of %+q can be seen", cleaned)
	}
	checkShown(t, cleaned, showText(raw))
}

// checkShown checks that shown, the output of showText for a name, contains no markup, no links and
// no unbalanced isolates, and otherwise reads like the cleaned name.
func checkShown(t fatalizer, cleaned, shown string) {
	t.Helper()
	if strings.ContainsAny(shown, "<>\"'") {
		t.Errorf("%+q has markup in it", shown)
	}
	rest := strings.NewReplacer("&lt;", "", "&gt;", "", "&amp;", "", "&#34;", "", "&#39;", "").Replace(shown)
	if strings.Contains(rest, "&") {
		t.Errorf("%+q has a bare &", shown)
	}
	text := html.UnescapeString(shown)
	inner, begins := strings.CutPrefix(text, isolate)
	inner, ends := strings.CutSuffix(inner, endIsolate)
	if !begins || !ends || strings.ContainsAny(inner, isolate+endIsolate+"\u2066\u2067") {
		t.Errorf("the isolates of %+q are not balanced", text)
	}
	equal(t, strings.ReplaceAll(inner, joiner, ""), cleaned, "what %+q says", shown)
	for _, mark := range "@/#$.:" {
		if strings.Count(inner, string(mark)) != strings.Count(inner, string(mark)+joiner) {
			t.Errorf("%+q: not every %q is broken off", shown, mark)
		}
	}
	if n := utf8.RuneCountInString(strings.ReplaceAll(inner, joiner, "")); n > 64 {
		t.Errorf("%+q has %d runes", shown, n)
	}
}

func TestNastyNames(t *testing.T) {
	t.Parallel()
	for _, raw := range nastyNames {
		checkName(t, raw)
	}
}

// drawName draws a name, preferably from nasty parts.
func drawName(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom(nastyNames),
		rapid.SampledFrom([]string{"@", "/", "#", "$", ".", ":", "com", "bob", " ", accent, "\u200d",
			"\u2068", "\u2069", "\u202e", "\u0d4e"}),
		rapid.String(),
	), 0, 6).Draw(t, "parts")
	return strings.Join(parts, "")
}

func TestNameProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkName(t, drawName(t)) })
}

// FuzzName applies checkName to arbitrary bytes. Its corpus is in testdata.
func FuzzName(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw string) { checkName(t, raw) })
}

// TestNamesStayText checks that the simulator, which marks mentions, commands, tags and links like
// Telegram, marks nothing in a name, wherever the name occurs in a text.
func TestNamesStayText(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	sim.User("bob")
	group := sim.Group("Table tennis", sim.User("alice"))
	sender := NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler))
	for _, raw := range nastyNames {
		for _, n := range withName(raw) {
			sendTo(t, sim, sender, group, n)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.SampledFrom(withName(drawName(rt))).Draw(rt, "notice")
		deliver(testContext(t), rt, sim, sender, group, messageOf(t, group.ID(), n))
	})
}

// withName returns notices of several kinds, each with this name in several places.
func withName(raw string) []notice.Notice {
	n := ranking.Name{Name: raw, Mark: raw}
	if raw == "" {
		n.Mark = ""
	}
	return []notice.Notice{
		ranking.MatchRecorded{
			Number: 1, Sides: [2]ranking.Side{side(n, 3, 1500, 1516), side(n, 1, 1500, 1484)},
			NewPlayers: []ranking.Name{n, n}, ReportedBy: &ranking.Reporter{Name: &n},
		},
		ranking.MatchRecorded{
			Number: 1, Sides: [2]ranking.Side{side(n, 3, 1500, 1516), side(n, 1, 1500, 1484)},
			Undone: true, UndoneBy: &ranking.Reporter{Name: &n},
		},
		ranking.MatchUndone{
			Number: 1, Sides: [2]ranking.Side{side(n, 3, 1500, 1516), side(n, 1, 1500, 1484)}, By: ranking.Reporter{Name: &n},
			Moved: ranking.Moved{Ratings: []ranking.RatingChange{{Name: n, Before: 1516, After: 1500}}},
		},
		ranking.MatchRestored{
			Number: 1, Sides: [2]ranking.Side{side(n, 3, 1500, 1516), side(n, 1, 1500, 1484)}, By: ranking.Reporter{Name: &n},
			Moved: ranking.Moved{Ratings: []ranking.RatingChange{{Name: n, Before: 1500, After: 1516}}},
		},
		ranking.MatchFixed{
			Number: 1, Sides: [2]ranking.Side{side(n, 3, 1500, 1516), side(n, 1, 1500, 1484)}, By: ranking.Reporter{Name: &n},
			Moved: ranking.Moved{Ratings: []ranking.RatingChange{{Name: n, Before: 1516, After: 1500}}},
		},
		ranking.PlayersMerged{
			Username: raw, Name: n, Moved: ranking.Moved{Ratings: []ranking.RatingChange{{Name: n, Before: 1516, After: 1500}}},
		},
		stats.RankingPage{Title: raw, Rows: []stats.Row{{Position: 1, Name: n, Elo: 1500, Won: 1}}, Total: 1},
		ranking.NotRecorded{Limit: 60, Items: []ranking.RejectedResult{
			{Command: "match", NamedResult: ranking.NamedResult{Sides: [2][]ranking.Name{{n}, {n, n}}}}}},
		CommandFailed{Command: raw},
		ranking.Refusal{Code: ranking.NotAPerson, Name: raw},
		ranking.WrongForm{Command: "match", Reason: "unexpected_word", Detail: raw},
	}
}

// longestNames has names that, once cut, are as long as possible in characters, in UTF-16 units or
// in HTML.
var longestNames = []string{
	strings.Repeat("a", maxName+1), strings.Repeat(family, 7), strings.Repeat(england, 6),
	"Z" + strings.Repeat(accent, maxNameUnits),
	strings.Repeat("@", maxName+1),
	strings.Repeat("𝕏\U0001D165", maxName+1), // two runes of two units per character
	strings.Repeat("@\U0001D165", maxName+1), // three units and a joiner
	strings.Repeat("<\U0001D165", maxName+1),
	strings.Repeat("&", maxName+1),
}

// TestTheLongestRankingFits checks that a page of the ranking fits even with the longest names and
// marks, the asker's row and a title.
func TestTheLongestRankingFits(t *testing.T) {
	t.Parallel()
	for _, worst := range longestNames {
		row := func(position int) stats.Row {
			return stats.Row{
				Position: position, Name: ranking.Name{Name: worst, Mark: strings.Repeat("W", 32)},
				Elo: 10000, Won: 99999, Drawn: 99999, Lost: 99999,
			}
		}
		page := stats.RankingPage{Title: worst, Total: 1_000_000}
		for i := range stats.PageRows {
			page.Rows = append(page.Rows, row(i+1))
		}
		own := row(1_000_000)
		page.Own = &own
		m := throughSimulator(t, page) // checks the length
		if !strings.Contains(m.Text, "\n1000000. ") {
			t.Errorf("the asker's row is missing from %+q", m.Text)
		}
	}
}

// TestSimulatorSeesLinksInNames checks that the simulator marks links and the like in names that
// are not passed through showText, so the tests above can fail.
func TestSimulatorSeesLinksInNames(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"@bob", "/start", "#tag", "$USD", "t.me/x", "https://evil.example", "a@b.com"} {
		sim, _ := startSimulator(t)
		m := sim.Group("g").Say(sim.User("alice"), isolate+raw+endIsolate)
		var found recorder
		checkNames(&found, m)
		if len(found) == 0 {
			t.Errorf("%q is not marked: %+v", raw, m.Entities)
		}
	}
}

// recorder collects the errors of a check.
type recorder []string

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { *r = append(*r, fmt.Sprintf(format, args...)) }
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

// TestUnprintableWordsAreQuotedByTheirCodePoints checks that an answer that quotes a word shows its
// unprintable characters as code points, but keeps joiners inside emoji and letters.
func TestUnprintableWordsAreQuotedByTheirCodePoints(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"\u3164":             "U+3164",
		"3\ue000":            "3 U+E000",
		"a\u202eb\x1b":       "a U+202E b U+001B",
		"\u200b\u2060":       "U+200B U+2060",
		"\u200d":             "U+200D",
		"\ufe0f\u0301":       "U+FE0F U+0301",
		"\xff!":              "U+FFFD !",
		"\U000e0001":         "U+E0001",
		"👨\u200d👩":           "👨\u200d👩",
		"\u0628\u200c\u0628": "\u0628\u200c\u0628",
		"two words":          "two words",
	} {
		notice := ranking.WrongForm{Command: "match", Reason: command.ReasonUnexpectedWord, Detail: word}
		text := mustRender(t, notice).html
		if quoted := "I don’t understand “" + isolate + want + endIsolate + "”"; !strings.HasPrefix(text, quoted) {
			t.Errorf("%+q is quoted as %+q, want %+q", word, text, quoted)
		}
	}
}

// TestNamesAreFilledIn checks that the rendered text has a player's name and mark wherever one of
// these notices has the player's id.
func TestNamesAreFilledIn(t *testing.T) {
	t.Parallel()
	id := func(n ladder.PlayerID) ranking.Name { return ranking.Name{Player: n} }
	side := func(n ladder.PlayerID) ranking.Side {
		return ranking.Side{Score: int(n), Players: []ranking.RatingChange{{Name: id(n)}}}
	}
	two := id(2)
	for _, n := range []notice.Notice{
		ranking.MatchRecorded{Sides: [2]ranking.Side{side(1), side(3)}, ReportedBy: &ranking.Reporter{Name: &two}},
		ranking.MatchUndone{Sides: [2]ranking.Side{side(1), side(3)}, By: ranking.Reporter{Name: &two}},
		ranking.NotRecorded{Items: []ranking.RejectedResult{
			{NamedResult: ranking.NamedResult{Sides: [2][]ranking.Name{{id(1)}, {two, id(3)}}}}}},
		stats.RankingPage{Rows: []stats.Row{{Name: id(1)}, {Name: two}}, Own: &stats.Row{Name: id(3)}, Total: 9},
	} {
		item := itemOf(t, n)
		item.Names = map[int64]outbox.Name{1: {Name: "Alice"}, 2: {Name: "Bob", Mark: "bobby"}, 3: {Name: "<Carol>"}}
		out, err := render(item, wordsFor(""))
		must(t, err)
		for _, want := range []string{showText("Alice"),
			showText("Bob") + " (" + showText("bobby") + ")", showText("<Carol>")} {
			if !strings.Contains(out.html, want) {
				t.Errorf("%s lacks %q: %q", notice.KindOf(n).Name, want, out.html)
			}
		}
	}
}

func TestAddressee(t *testing.T) {
	t.Parallel()
	names := map[int64]outbox.Name{5: {Name: "Bob", Mark: "bobby"}}
	for want, item := range map[string]outbox.Item{
		"Bob": {AddresseeID: 5, Names: names}, "Zoe": {Addressee: "Zoe", Names: names}, "": {},
	} {
		equal(t, addresseeOf(item), want, "addressee of %+v", item)
	}
}
