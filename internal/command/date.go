package command

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

// When is what a report says about the day on which a match was played. The zero When means today,
// because the report says so or gives no day.
type When struct {
	Past bool `json:"past,omitempty"` // the report says "yesterday" or "last night"
	Day  *Day `json:"day,omitempty"`  // the day that the report gives in another way, or nil
}

// Day is a day that a report gives: a calendar date with a Month, or a Weekday. It has neither if
// the report says, for example, "two weeks ago". Year has the last two digits of the year, and is 0
// if the report gives no year.
type Day struct {
	Year, Month, Day int
	Weekday          int  // from 1 for Monday to 7, or 0
	Last             bool // set for "last Monday", which is never today
}

// On returns the day of a match that was reported at the given time, in the time zone of that time:
// the last such day that has begun. The result is noon of that day. ok is false if that day does
// not exist or is in the future, or if the report does not say clearly which day it means.
func (w When) On(reported time.Time) (day time.Time, ok bool) {
	year, month, dayOfMonth := reported.Date()
	today, d := date(year, int(month), dayOfMonth, reported.Location()), w.Day
	switch {
	case d == nil && w.Past:
		return today.AddDate(0, 0, -1), true
	case d == nil:
		return today, true
	case w.Past || d.Weekday == 0 && d.Month == 0:
		return today, false
	case d.Weekday != 0:
		back := (int(today.Weekday()) + 7 - d.Weekday) % 7
		if back == 0 && d.Last {
			back = 7
		}
		return today.AddDate(0, 0, -back), true
	case d.Year != 0:
		day = date(2000+d.Year, d.Month, d.Day, reported.Location())
	default:
		if day = date(year, d.Month, d.Day, reported.Location()); day.After(today) {
			day = date(year-1, d.Month, d.Day, reported.Location())
		}
	}
	return day, day.Day() == d.Day && !day.After(today)
}

// date returns noon of a day. Unlike midnight, noon exists on every day in every time zone.
func date(year, month, day int, zone *time.Location) time.Time {
	return time.Date(year, time.Month(month), day, 12, 0, 0, 0, zone)
}

// dateWords maps the words of dates, in all languages of the bot, to letters in dateForms:
//
//	w1…w7    a weekday; the numbers of weekdays and months are not part of the form
//	f1…f7    an abbreviation or an ordinal that may be a weekday
//	m1…m12   a month
//	u        a unit: days, weeks or months
//	o        how many units
//	a        ago, after the unit
//	v        ago, before the unit
//	l        last
//	y        yesterday
//	b        before, as in "the day before yesterday"
//	x        the day before yesterday in one word
//	n        night
//	h        a word after the hour
//	t        an hour together with such a word
//	p        a preposition or an article
var dateWords = meanings(map[string]string{
	"x": `vorgestern anteayer antier anteontem позавчера позавчора`,
	"y": `yesterday gestern ayer anoche ontem вчера вчора учора`,
	"b": `before antes`,
	"u": `day days week weeks month months tag tage tagen woche wochen monat monaten día dia días dias
		semana semanas mes meses mês
		день дня дней неделю недели недель неделе месяц месяца месяцев дні днів тиждень тижня тижні
		тижнів місяць місяці місяців`,
	"a": `ago atrás atras назад тому`,
	"v": `vor hace há`,
	"l": `last past letzte letzten letzter letztes letztem vergangene vergangenen vergangener pasado pasada
		passado passada última último
		прошлую прошлый прошлое прошлой прошлом минулий минулу минулої минулого минулому минулій`,
	"n": `night`,
	"t": `6h 7h 8h 9h 10h 11h 12h 13h 14h 15h 16h 17h 18h 19h 20h 21h 22h 23h
		1pm 2pm 3pm 4pm 5pm 6pm 7pm 8pm 9pm 10pm 11pm 12pm 6am 7am 8am 9am 10am 11am 12am`,
	"h":  `pm uhr tarde noche mañana manhã noite утра вечера ранку вечора`,
	"w1": `monday montag lunes segunda-feira понедельник понеділок понеділка`,
	"w2": `tuesday dienstag martes terça-feira terca-feira вторник вівторок вівторка`,
	"w3": `wednesday mittwoch miércoles miercoles quarta-feira среда среду середа середу середи`,
	"w4": `thursday donnerstag jueves quinta-feira четверг четвер четверга`,
	"w5": `friday freitag viernes sexta-feira пятница пятницу п'ятниця п'ятницю п'ятниці`,
	"w6": `saturday samstag sonnabend sábado sabado суббота субботу субота суботу суботи`,
	"w7": `sunday sonntag domingo воскресенье неділя неділю неділі`,
	"f1": `mon segunda пн`,
	"f2": `tue tues terça terca вт`,
	"f3": `wed quarta ср`,
	"f4": `thu thur thurs quinta чт`,
	"f5": `fri sexta пт`,
	"f6": `sat сб`,
	"f7": `sun вс нд`,
	"p":  `on in the at of am im um den de del el la las em na no às в во на у о об`,
	"o": `a an one two three four five six few couple ein eine einer einem zwei drei vier fünf sechs un una dos tres cuatro
		cinco uma dois duas três quatro
		один одну два две три четыре пять пару дві чотири п'ять кілька`,
	"m1":  `jan january januar enero ene janeiro янв января январь січ січня січень`,
	"m2":  `feb february februar febrero febr fevereiro fev фев февраля февраль лют лютого лютий`,
	"m3":  `mar march mär märz marzo março мар марта март бер берез березня березень`,
	"m4":  `apr april abr abril апр апреля апрель квіт квітня квітень`,
	"m5":  `may mai mayo maio мая май трав травня травень`,
	"m6":  `jun june juni junio junho июн июня июнь черв червня червень`,
	"m7":  `jul july juli julio julho июл июля июль лип липня липень`,
	"m8":  `aug august agosto авг августа август серп серпня серпень`,
	"m9":  `sep sept september septiembre setembro сен сент сентября сентябрь верес вересня вересень`,
	"m10": `oct october okt oktober octubre outubro окт октября октябрь жовт жовтня жовтень`,
	"m11": `nov november noviembre novembro ноя нояб ноября ноябрь лист листопада листопад`,
	"m12": `dec december dez dezember dic diciembre dezembro дек декабря декабрь груд грудня грудень`,
})

// dateLetters has at least one letter of every match of dateForms. A text without any of these
// letters has no date.
const dateLetters = "Dmwfluxyht"

var (
	// dateForms matches the letters of words for a day other than today and yesterday, for "last
	// night", or for a time of day. N is a number, and D a numeric date.
	dateForms = regexp.MustCompilePOSIX(
		`p*(u?D|Np*m(p*N)?|mN(p*N)?|l?wl?|p+f|l+f|fl|lu|ul|vo*N?u|o*N?ua|x|u?bp*y|ln|Np*h|t)`)
	dateToken = regexp.MustCompile(`[\n` + placeholder + `]|[^\s,;!?()` + placeholder + `]+`)
	ordinal   = regexp.MustCompile(`^(?:(\d{1,3})(?:st|nd|rd|th|º|го)?|(20\d\d))$`)
	isoDate   = regexp.MustCompile(`^(20\d\d)-(\d\d?)-(\d\d?)$`)
	dayFirst  = regexp.MustCompile(`^(\d\d?)[./](\d\d?)([./](20\d\d|\d\d)?\.?)?$`)
	typedPair = regexp.MustCompile(`^(\d\d?)([./:xXхХ×\-–—−])(\d\d?)([.:]?)$`)
	scoreLike = regexp.MustCompile(`½|\d[:xXхХ×]\d|(?:^|[^-\d])\d{1,3}[-–—−]\d{1,3}(?:[^-\d]|$)`)
)

// withoutDates removes dates, and times of day such as "7pm", from the text, and replaces "last
// night" with "yesterday". day is the day that the dates give, or nil if there are none. other is a
// date that does not exist or contradicts the rest of the text, or empty. A date stays in the text
// if its first word is a weekday or a month that is, or ends, a player's name, or if one of its
// numbers may belong to a score. If that word alone is a player's name, it is returned as kept.
func (t text) withoutDates(names *Names) (without text, day *Day, other, kept string) {
	tokens, hasScore := dateToken.FindAllStringIndex(t.written, -1), scoreLike.MatchString(t.written)
	kinds, days := make([]byte, len(tokens)), make([]Day, len(tokens))
	words := make([]string, len(tokens)+2) // with an empty word at both ends
	for i, at := range tokens {
		words[i+1] = t.written[at[0]:at[1]]
	}
	for i := range tokens {
		kinds[i], days[i] = dateKind(words[i+1], hasScore, words[i], words[i+2])
	}
	if !bytes.ContainsAny(kinds, dateLetters) {
		return t, nil, "", ""
	}
	// In "3 1 may", the 1 is half of the score.
	undated := dateForms.ReplaceAll(kinds, nil)
	breaksScore := bytes.Count(undated, []byte("N"))%2 != 0
	for _, at := range slices.Backward(dateForms.FindAllIndex(kinds, -1)) {
		form := string(kinds[at[0]:at[1]])
		if breaksScore && strings.Contains(form, "N") {
			continue
		}
		first := at[0] + len(form) - len(strings.TrimLeft(form, "p"))
		isNamed := func(name string) bool { return len(cmp.Or(names, new(Names)).named(foldName(name))) > 0 }
		switch mayName := strings.ContainsAny(form[first-at[0]:][:1], "wfm"); {
		case mayName && isNamed(words[first+1]):
			kept = words[first+1]
			continue
		case mayName && isNamed(words[first]+" "+words[first+1]):
			continue
		}
		instead, start, end := " ", tokens[at[0]][0], tokens[at[1]-1][1]
		if form == "ln" {
			instead = " yesterday "
		} else if !strings.ContainsAny(form, "ht") {
			of := Day{Last: strings.Contains(form, "l")}
			for _, d := range days[at[0]:at[1]] {
				of.Year, of.Month, of.Day = cmp.Or(of.Year, d.Year), cmp.Or(of.Month, d.Month), cmp.Or(of.Day, d.Day)
				of.Weekday = cmp.Or(of.Weekday, d.Weekday)
			}
			isOther := day != nil && *day != of || bytes.Contains(undated, []byte("y"))
			if isOther || of.Month != 0 && date(2000+of.Year, of.Month, of.Day, time.UTC).Day() != of.Day {
				other = t.written[start:end]
			}
			day = &of
		}
		t.written = t.written[:start] + instead + t.written[end:]
	}
	return t, day, other, kept
}

// isGame reports whether a word that may be a date, such as 21/12, is more likely the score of a
// game: it is the only score, or a neighboring word is a score of the same series. Beside a single
// 3:1, 21/12 is a date. hasScore reports whether the text has a word such as 3:1, which can only be
// a score. beside has the neighboring words.
func isGame(word string, hasScore bool, beside ...string) bool {
	m := typedPair.FindStringSubmatch(word)
	if m == nil || m[2] == "." && m[4] != "" || !strings.Contains("./", m[2]) {
		return false
	}
	most, least := max(value(m[1]), value(m[3])), min(value(m[1]), value(m[3]))
	canBe := most <= 12 || most == least+2 || most == 15 || most == 21 || most == 25
	isOfSeries := func(other string) bool {
		pair := typedPair.FindStringSubmatch(other)
		if pair == nil {
			return false
		}
		points := max(value(pair[1]), value(pair[3]))
		isLong := m[2] == "/" && points > 7 // neither a result in sets nor a set of tennis
		return canBe && (strings.Contains("./", pair[2]) || isLong) || points == 1 && strings.TrimRight(word, ".") == "1/2"
	}
	return canBe && m[2] == "/" && !hasScore || slices.ContainsFunc(beside, isOfSeries)
}

// dateKind returns the letter of a word in dateForms, or "." if the word belongs to no date, and
// the parts of a date that the word gives. hasScore and beside mean the same as in isGame.
func dateKind(word string, hasScore bool, beside ...string) (kind byte, d Day) {
	if m := dayFirst.FindStringSubmatch(isoDate.ReplaceAllString(word, "$3.$2.$1")); m != nil {
		d = Day{Year: value(m[4]) % 100, Month: value(m[2]), Day: value(m[1])}
		if d.Month > 12 { // 11/27
			d.Month, d.Day = d.Day, d.Month
		}
		// Without a four-digit year, the word may be a score: 5/11 in any text, and 27/11, 3.1. and
		// 01/03/26 if the text has no other score.
		isDate := len(m[4]) == len("2026") || hasScore && m[3] != "" || d.Day > 12 && (hasScore || m[3] != "")
		if isDate && !isGame(word, hasScore, beside...) && 0 < d.Month && d.Month <= 12 && 0 < d.Day && d.Day <= 31 {
			return 'D', d
		}
		return '.', Day{}
	}
	word = strings.ReplaceAll(strings.ToLower(strings.TrimRight(word, ".:")), "’", "'")
	if m := ordinal.FindStringSubmatch(word); m != nil {
		return 'N', Day{Year: value(m[2]) % 100, Day: value(m[1])}
	}
	known := cmp.Or(dateWords[word], ".")
	if known[0] != 'm' {
		return known[0], Day{Weekday: value(known[1:])}
	}
	return 'm', Day{Month: value(known[1:])}
}
