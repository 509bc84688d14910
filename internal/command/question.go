package command

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Question has the arguments of a question such as /ranking. The zero Question asks for the default
// view.
type Question struct {
	// Who is the person asked about, zero if none is named. Who.Name need not be a player's name.
	Who    Person
	Number int // a page, or how many places; 0 if not given
	// Span is the span of time. It is empty if none is named, or if Who or Unknown is set.
	Span    Span
	Unknown string // the part that cannot be understood, or empty
}

// Span is a span of time up to now, such as the current week.
type Span string

// The spans of time. A Week begins on Monday. All also means all players.
const (
	Today Span = "today"
	Week  Span = "week"
	Month Span = "month"
	Year  Span = "year"
	All   Span = "all"
)

// spans are the words for spans, in all languages of the bot.
var spans = meanings(map[Span]string{
	Today: `today heute hoy hoje сегодня сьогодні`,
	Week:  `week woche semana неделя неделю недели неделе тиждень тижня тижні`,
	Month: `month monat monats mes mês месяц месяца месяце місяць місяця місяці`,
	Year:  `year jahr jahres año ano год года году рік року році`,
	All:   `all everyone everybody everything alle alles todos todas todo tudo все всех всё усі всі усе усіх всіх`,
})

// besideSpans are words without a meaning of their own beside a word for a span, as in "this week".
var besideSpans = wordSet(`this the of for in diese dieser dieses diesen des der den das im für esta este de del la el
	en por essa esse desta deste
	nesta neste da do na no эта этот эту этой этого этом за на в цей ця цього цьому у`)

// CutSpan returns the question without the words in spans and besideSpans, and the first span that
// it names. If the question names no span, the span is empty and the question unchanged. If it also
// has a word such as "last", CutSpan returns the span, but leaves the question unchanged.
func (c Command) CutSpan() (Command, Span) {
	var span Span
	others := slices.DeleteFunc(strings.Fields(c.Args), func(word string) bool {
		word = strings.ToLower(strings.Trim(word, "@#.,;:!?"))
		span = cmp.Or(span, spans[word])
		return spans[word] != "" || besideSpans[word]
	})
	isLast := func(word string) bool { return dateWords[strings.ToLower(word)] == "l" }
	if span != "" && !slices.ContainsFunc(others, isLast) {
		c.Args = strings.Join(others, " ")
	}
	return c, span
}

// ParseQuestion reads the arguments of /ranking, /matches, /history and /records: a person, a span,
// or a number. Beside a number, the span can only be All.
func ParseQuestion(c Command) (q Question) {
	if len(c.Mentions) > 0 {
		return Question{Who: c.Mentions[0]}
	}
	rest, span := c.CutSpan()
	words := fields(strings.NewReplacer("@", "", "#", "").Replace(rest.Args))
	switch text := strings.Join(words[:min(len(words), 3)], " "); {
	case len(words) == 0:
		q.Span = span
	case isNumber(text) && len(text) <= maxNumberDigits && (span == "" || span == All):
		q.Number, q.Span = value(text), span
	case strings.ContainsFunc(text, unicode.IsLetter):
		q.Who.Name = text
	default:
		q.Unknown = text
	}
	return q
}
