package catalog

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/pelletier/go-toml/v2"
	"golang.org/x/text/language"
)

// forms maps the names of plural forms to the forms of a text. A text without a count has only
// "other".
type forms map[string]string

// formNames lists CLDR's names of plural forms.
var formNames = []string{"zero", "one", "two", "few", "many", "other"}

// readTexts reads the texts of a language's file, by id, without the localization library.
func readTexts(t *testing.T, tag language.Tag) map[string]forms {
	t.Helper()
	var file map[string]any
	content, err := files.ReadFile(tag.String() + ".toml")
	if err == nil {
		err = toml.Unmarshal(content, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]forms)
	var walk func(path string, table map[string]any)
	walk = func(path string, table map[string]any) {
		for name, value := range table {
			switch value := value.(type) {
			case string:
				if slices.Contains(formNames, name) {
					if texts[path] == nil {
						texts[path] = forms{}
					}
					texts[path][name] = value
				} else {
					texts[strings.TrimPrefix(path+"."+name, ".")] = forms{"other": value}
				}
			case map[string]any:
				walk(strings.TrimPrefix(path+"."+name, "."), value)
			default:
				t.Errorf("%s: %s.%s is no text", tag, path, name)
			}
		}
	}
	walk("", file)
	return texts
}

// neededForms returns the names of the plural forms that a language needs for whole numbers, and
// which of them stand for a single number.
func neededForms(t *testing.T, tag language.Tag) (names []string, single map[string]bool) {
	t.Helper()
	bundle := i18n.NewBundle(tag)
	err := bundle.AddMessages(tag, &i18n.Message{
		ID: "form", Zero: "zero", One: "one", Two: "two", Few: "few", Many: "many", Other: "other",
	})
	if err != nil {
		t.Fatal(err)
	}
	// The library requires "other", even if only fractions have that form.
	numbers := map[string]int{"other": 1}
	for _, from := range []int{0, 1_000_000, 2_000_000} {
		for n := from; n < from+200; n++ {
			form, err := i18n.NewLocalizer(bundle, tag.String()).Localize(&i18n.LocalizeConfig{
				MessageID: "form", PluralCount: n,
			})
			if err != nil {
				t.Fatal(err)
			}
			numbers[form]++
		}
	}
	single = make(map[string]bool)
	for name, count := range numbers {
		single[name] = name != "other" && count == 1
	}
	return slices.Sorted(maps.Keys(numbers)), single
}

var (
	placeholder = regexp.MustCompile(`{{\.(\w+)}}`)
	literal     = regexp.MustCompile(`<code>.*?</code>`)
	tagPattern  = regexp.MustCompile(`</?(\w+)>`)
)

func found(pattern *regexp.Regexp, text string) []string {
	all := pattern.FindAllString(text, -1)
	slices.Sort(all)
	return all
}

// inEnglish replaces the days in commands to copy with the English ones, so the commands can be
// compared.
var inEnglish = strings.NewReplacer(
	"3:1 gestern<", "3:1 yesterday<",
	"3:1 ayer<", "3:1 yesterday<",
	"3:1 ontem<", "3:1 yesterday<",
	"3:1 вчера<", "3:1 yesterday<",
	"3:1 вчора<", "3:1 yesterday<",
	"<code>Freitag<", "<code>friday<",
	"<code>viernes<", "<code>friday<",
	"<code>sexta-feira<", "<code>friday<",
	"<code>пятница<", "<code>friday<",
	"<code>п’ятниця<", "<code>friday<",
	"<code>27.11.<", "<code>27 November<",
	"<code>27 de noviembre<", "<code>27 November<",
	"<code>27 de novembro<", "<code>27 November<",
	"<code>27 ноября<", "<code>27 November<",
	"<code>27 листопада<", "<code>27 November<",
)

// TestLanguages checks that, apart from aliases, each language has the same texts as the English
// file. Each text with a count has the plural forms that the language needs. Each text has the same
// placeholders and commands to copy as in English, except for words for a guest and for days, and
// valid markup. Only a form for a single number may lack placeholders.
func TestLanguages(t *testing.T) {
	t.Parallel()
	english := readTexts(t, language.English)
	for _, tag := range tags {
		t.Run(tag.String(), func(t *testing.T) {
			t.Parallel()
			texts := readTexts(t, tag)
			ids := func(all map[string]forms) []string { // each language has its own aliases
				isAlias := func(id string) bool { return strings.HasPrefix(id, "aliases.") }
				return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), isAlias)
			}
			if diff := cmp.Diff(ids(english), ids(texts)); diff != "" {
				t.Errorf("texts (-English +%s):\n%s", tag, diff)
			}
			needed, single := neededForms(t, tag)
			for id, of := range texts {
				if len(english[id]) > 1 || len(of) > 1 {
					if got := slices.Sorted(maps.Keys(of)); !slices.Equal(got, needed) {
						t.Errorf("%s has the plural forms %q, want %q", id, got, needed)
					}
				}
				for form, text := range of {
					text = strings.ReplaceAll(text, "@alice "+texts["names.stand_in"]["other"], "@alice guest")
					text = inEnglish.Replace(text)
					checkText(t, id+" ("+form+")", english[id]["other"], text, len(of) > 1 && single[form])
				}
			}
		})
	}
}

// checkText compares a text with the English text, and checks its markup. A form for a single
// number may omit placeholders, such as the number.
func checkText(t *testing.T, id, english, text string, single bool) {
	t.Helper()
	want, got := slices.Compact(found(placeholder, english)), slices.Compact(found(placeholder, text))
	if single {
		want = slices.DeleteFunc(want, func(p string) bool { return !slices.Contains(got, p) })
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: placeholders (-English +this):\n%s", id, diff)
	}
	if diff := cmp.Diff(found(literal, english), found(literal, text)); diff != "" {
		t.Errorf("%s: commands (-English +this):\n%s", id, diff)
	}
	isPlain := strings.HasPrefix(id, "button.") || strings.Contains(id, "menu (")
	var open []string
	for _, m := range tagPattern.FindAllStringSubmatch(text, -1) {
		switch last := len(open) - 1; {
		case isPlain:
			t.Errorf("%s: markup in plain text", id)
		case !strings.HasPrefix(m[0], "</"):
			open = append(open, m[1])
		case last < 0 || open[last] != m[1]:
			t.Errorf("%s: %s ends nothing", id, m[0])
		default:
			open = open[:last]
		}
		if !slices.Contains([]string{"b", "i", "s", "code"}, m[1]) {
			t.Errorf("%s: unknown tag %s", id, m[0])
		}
	}
	rest := strings.ReplaceAll(tagPattern.ReplaceAllString(placeholder.ReplaceAllString(text, ""), ""), "&amp;", "")
	if len(open) > 0 || !isPlain && strings.ContainsAny(rest, "<>&") || strings.ContainsAny(rest, "{}") ||
		text != strings.TrimSpace(text) && !strings.HasPrefix(id, "number.thousands") {
		t.Errorf("%s: tags are left open, or characters unescaped: %q", id, text)
	}
}

// limits maps the beginning of a text's id to the maximum number of characters that the text may
// have without its markup and its arguments, so that it can be read on a phone.
var limits = map[string]int{
	"button.": 40, "language.": 40, "note.": 80, "refusal.": 320, "prompt.": 200, "moved.": 60, "several.": 240,
}

// TestTextsFit checks that, in every language, each text is within the limit for its kind.
func TestTextsFit(t *testing.T) {
	t.Parallel()
	for _, tag := range tags {
		for id, of := range readTexts(t, tag) {
			limit := 4096
			for prefix, n := range limits {
				if strings.HasPrefix(id, prefix) {
					limit = n
				}
			}
			if strings.HasSuffix(id, "menu") {
				limit = 80 // Telegram allows 256
			}
			if id == "language.names" {
				limit = 4096 // they are typed, not shown
			}
			for form, text := range of {
				shown := []rune(tagPattern.ReplaceAllString(placeholder.ReplaceAllString(text, ""), ""))
				if len(shown) > limit {
					t.Errorf("%s: %s (%s) has %d characters, want at most %d", tag, id, form, len(shown), limit)
				}
			}
		}
	}
}

func TestFor(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"": "en", "en": "en", "en-gb": "en", "xx": "en", "not a tag": "en", "ja": "en", "de": "de", "de-at": "de", "pt": "pt-BR", "pt-br": "pt-BR",
		"es-419": "es", "ru": "ru", "uk": "uk", "be": "ru",
	} {
		if got := For(tag).Tag(); got != want {
			t.Errorf("%q: %s, want %s", tag, got, want)
		}
	}
}

// TestMistakesPanic checks that a mistake that would leave a gap in a message panics, so a test
// that renders the message fails.
func TestMistakesPanic(t *testing.T) {
	t.Parallel()
	for what, render := range map[string]func(Language){
		"unknown text":       func(l Language) { l.Text("note.none", nil) },
		"no argument":        func(l Language) { l.Text("note.match", nil) },
		"other argument":     func(l Language) { l.Text("note.match", Args{"Name": "x"}) },
		"none with a plural": func(l Language) { l.Plural("note.new_named", 2, nil) },
	} {
		for _, l := range All() {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: %s is rendered", l.Tag(), what)
					}
				}()
				render(l)
			}()
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1_000: "1,000", 12_034: "12,034", 1_000_000: "1,000,000"} {
		if got := For("en").Number(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for tag, want := range map[string][3]string{
		"de": {"9.034", "12.034", "1.234.005"}, "pt-BR": {"9.034", "12.034", "1.234.005"},
		"es": {"9034", "12\u202f034", "1\u202f234\u202f005"}, "ru": {"9034", "12\u202f034", "1\u202f234\u202f005"},
		"uk": {"9034", "12\u202f034", "1\u202f234\u202f005"},
	} {
		l := For(tag)
		if got := [3]string{l.Number(9_034), l.Number(12_034), l.Number(1_234_005)}; got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

func TestDate(t *testing.T) {
	t.Parallel()
	// In UTC, this is the next day.
	at := time.Date(2026, time.November, 3, 23, 30, 0, 0, time.FixedZone("", -3600))
	for tag, want := range map[string]string{
		"en": "3 November 2026", "de": "3. November 2026", "es": "3 de noviembre de 2026", "pt-BR": "3 de novembro de 2026",
		"ru": "3 ноября 2026 г.", "uk": "3 листопада 2026 р.",
	} {
		if got := For(tag).Date(at); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}
