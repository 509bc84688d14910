// Package catalog has all texts of the bot, in one file per language, such as en.toml. It provides
// texts with placeholders, plural forms, and the formats of numbers and dates. It knows nothing
// about notices or commands.
//
// Texts are Telegram's HTML, except for the texts of menus, button labels, charts and the web
// board. Arguments are inserted unescaped.
package catalog

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/nicksnyder/go-i18n/v2/i18n/template"
	"github.com/pelletier/go-toml/v2"
	"golang.org/x/text/language"
)

// tags lists the languages that have a file. English comes first, because it is the fallback for
// chats in other languages. To add a language, add its tag here and its file to this directory.
var tags = []language.Tag{
	language.English,
	language.German,
	language.Spanish,
	language.Russian,
	language.Ukrainian,
	language.BrazilianPortuguese,
}

//go:embed *.toml
var files embed.FS

// Args maps the placeholders of a text to their values.
type Args map[string]any

// Language has the texts of one language. They are loaded on first use.
type Language struct {
	tag       language.Tag
	localizer func() *i18n.Localizer
}

// languages has all languages in the order of tags. matcher finds the language closest to a tag.
var (
	languages = func() (all []Language) {
		for _, tag := range tags {
			all = append(all, Language{tag, sync.OnceValue(func() *i18n.Localizer { return mustLoad(tag) })})
		}
		return all
	}()
	matcher = language.NewMatcher(tags)
)

// mustLoad loads an embedded file. It panics if the file is malformed, which is a bug.
func mustLoad(tag language.Tag) *i18n.Localizer {
	bundle := i18n.NewBundle(tag)
	bundle.RegisterUnmarshalFunc("toml", toml.Unmarshal)
	if _, err := bundle.LoadMessageFileFS(files, tag.String()+".toml"); err != nil {
		panic(fmt.Errorf("load the texts in %s: %w", tag, err))
	}
	return i18n.NewLocalizer(bundle, tag.String())
}

// For returns the language for an IETF tag such as "en" or "pt-BR", or the closest available
// language. It returns English if the tag is empty, malformed or not registered, or if no language
// is close.
func For(tag string) Language {
	if i := slices.IndexFunc(languages, func(l Language) bool { return l.Tag() == tag }); i >= 0 {
		return languages[i]
	}
	wanted, err := language.Parse(tag)
	if err != nil {
		return languages[0]
	}
	_, i, confidence := matcher.Match(wanted)
	if confidence == language.No {
		return languages[0]
	}
	return languages[i]
}

// All returns all languages, English first. Callers must not modify the slice.
func All() []Language { return languages }

// Tag returns the IETF tag of the language.
func (l Language) Tag() string { return l.tag.String() }

// Text returns the text with the given id, with args in place of its placeholders. It panics if
// there is no such text, or if a placeholder has no argument.
func (l Language) Text(id string, args Args) string {
	return l.must(&i18n.LocalizeConfig{MessageID: id, TemplateData: args})
}

// Plural is like Text, but selects the plural form for count. It also passes the formatted count as
// the argument Count, unless args has its own Count.
func (l Language) Plural(id string, count int, args Args) string {
	with := Args{"Count": l.Number(count)}
	maps.Copy(with, args)
	return l.must(&i18n.LocalizeConfig{MessageID: id, TemplateData: with, PluralCount: count})
}

// parser reports a placeholder without an argument as an error.
var parser = &template.TextParser{Option: "missingkey=error"}

func (l Language) must(c *i18n.LocalizeConfig) string {
	c.TemplateParser = parser
	text, err := l.localizer().Localize(c)
	if err != nil {
		panic(fmt.Errorf("text in %s: %w", l.tag, err))
	}
	return text
}

// Has reports whether the language has a text with this id.
func (l Language) Has(id string) bool {
	_, err := l.localizer().Localize(&i18n.LocalizeConfig{MessageID: id})
	var none *i18n.MessageNotFoundErr
	return !errors.As(err, &none)
}

// Number formats a non-negative integer with the language's digit grouping.
func (l Language) Number(n int) string {
	switch {
	case n < 1_000:
		return strconv.Itoa(n)
	case n < 10_000:
		return l.Text("number.four_digits", Args{"Thousands": n / 1_000, "Rest": fmt.Sprintf("%03d", n%1_000)})
	}
	groups := ""
	for ; n >= 1_000; n /= 1_000 {
		groups = l.Text("number.thousands", nil) + fmt.Sprintf("%03d", n%1_000) + groups
	}
	return strconv.Itoa(n) + groups
}

// Date formats the day of a time, in the time's own zone.
func (l Language) Date(at time.Time) string {
	month := l.Text("date.months."+strings.ToLower(at.Month().String()), nil)
	return l.Text("date.day", Args{"Day": at.Day(), "Month": month, "Year": at.Year()})
}
