package command

import (
	"slices"
	"strings"
)

// forms lists the sentences that leave no doubt about who won, by the language of their verb. It
// leaves out scores and fillers. In other sentences the first person may be the object: "a @bob le
// ganó @carol", "den @bob hat @carol geschlagen".
//
//	S        the subject: a named person, a team, or "I"
//	I        the subject: only "I"
//	O        the object: a named person, a team, or "me"
//	O*       the object: a person with a declined name, or "me"
//	me       the object: only "me"
//	win      a verb that stands alone ("won", "lost"), and won its participle
//	beat     a verb that takes an object ("beat"), and beaten its participle
//	victory  a noun
//	prep     a preposition before the other side
//	against, with, a   only such a preposition
//	has was art se   an auxiliary, a passive one, an article, a pronoun such as "le"
//
// Parts in brackets are optional, and bars separate alternatives. A verb must also agree with the
// subject, as agrees checks.
var forms = map[string][]form{
	"en": readForms(
		"[S] win",                       // I won; bob won
		"[S] win [prep] O",              // alice lost to bob
		"[S] beat O",                    // alice beat bob; bob beat me
		"[S] has won [prep O]",          // alice has won against bob
		"[S] has beaten O",              // alice has beaten bob
		"I prep O win",                  // I played against bob and won
		"[was] [art] victory against O", // it was a win over bob
	),
	"de": readForms(
		"[S] win [prep O]",              // alice gewinnt gegen bob
		"[S] beat [prep] O",             // alice schlägt bob
		"[S] has won [prep O]",          // alice hat gewonnen gegen bob
		"S has prep O won",              // alice hat gegen bob gewonnen
		"[has] S prep O won",            // hab mit alice gegen bob gewonnen
		"[I] [has] prep O won",          // gegen bob gewonnen
		"prep O has I won",              // gegen bob habe ich gewonnen
		"won [prep O]",                  // gewonnen gegen bob
		"[S] has O beaten",              // alice hat bob geschlagen
		"has I O beaten",                // gestern hab ich bob geschlagen
		"O beaten",                      // bob geschlagen
		"[S] has beaten O",              // alice hat geschlagen bob
		"I prep O win",                  // ich gegen bob, gewann
		"[was] [art] victory against O", // Sieg gegen bob
	),
	"es": readForms(
		"[S] win",                          // alice ganó
		"[I] se win",                       // le gané
		"art S win",                        // el bob ganó
		"win [art] S",                      // ganó alice
		"[S] [se] win|beat prep O",         // alice le ganó a bob
		"[art] S me win|beat",              // la alice me ganó
		"me win|beat [art] S",              // me ganó alice
		"[S] [se] has won|beaten [prep O]", // he ganado a bob
		"S me has won|beaten",              // alice me ha ganado
		"me has won|beaten S",              // me ha ganado alice
		"I prep O [se] win",                // yo contra bob, gané
		"[was] [art] victory against O",    // victoria contra bob
	),
	"pt": readForms(
		"[S] win [prep O]",              // alice ganhou do bob
		"art|a S win",                   // o bob ganhou
		"[S] beat [art|prep] O",         // venci o bob
		"[art|a] S me win|beat",         // alice me venceu
		"me win|beat S",                 // me venceu alice
		"win [art] S",                   // ganhou o bob
		"I prep O win",                  // eu contra bob, ganhei
		"[was] [art] victory against O", // vitória contra bob
	),
	"ru": slavicForms,
	"uk": slavicForms,
}

var slavicForms = readForms(
	"[S] win",           // alice выиграла
	"[S] win prep O",    // alice выиграла у bob
	"prep O win",        // у bob выиграл
	"S beat O",          // alice обыграл bob
	"[S] beat O*",       // обыграла Диму
	"[S] O* beat",       // Диму обыграла
	"O* beat S",         // Диму обыграла alice
	"S me win|beat",     // alice меня обыграла
	"me win|beat S",     // меня обыграла alice
	"prep me win S",     // у меня выиграла alice
	"victory against O", // победа над bob
)

// formsOfSender are the forms of a report whose command or previous result already states the
// sender's outcome, such as "@bob" after "/won".
var formsOfSender = readForms("[prep] [art] O", "I [prep] O", "S prep O", "")

// formsWithoutVerb are the forms of a result without a verb, whose score is about the first side or
// the sender.
var formsWithoutVerb = readForms("[S] [against|a] [art] O", "[I] with [art] O", "S [against]", "")

// field lists the alternatives for one piece of a sentence.
type field []string

// form has the variants of a sentence. Each variant has a field for every side and word.
type form [][]field

func readForms(texts ...string) []form {
	var all []form
	for _, text := range texts {
		all = append(all, variants(text))
	}
	return all
}

// variants returns a form with and without each part in brackets.
func variants(text string) form {
	before, rest, ok := strings.Cut(text, "[")
	if ok {
		optional, after, _ := strings.Cut(rest, "]")
		return append(variants(before+optional+after), variants(before+after)...)
	}
	var fields []field
	for one := range strings.FieldsSeq(text) {
		fields = append(fields, strings.Split(one, "|"))
	}
	return form{fields}
}

// fieldMeanings lists, by the name of a field, the meanings of the words other than verbs that can
// fill it. toWinner lists additional meanings for sentences about a loss, in which a preposition
// can lead to the winner: "lost to bob".
var (
	fieldMeanings = map[string][]meaning{
		"prep": {versus, over, marker, personalA, from}, "against": {versus, over},
		"a": {personalA}, "with": {with, withOrTo},
		"has": {auxiliary, has}, "was": {passive}, "art": {article}, "se": {clitic},
	}
	toWinner = map[string][]meaning{"prep": {to, withOrTo}, "against": {to}}
)

// piece is a side or a word in a sentence.
type piece struct {
	word
	at      int  // how many people precede it
	isNamed bool // a person directly precedes it
	// isApart is set if the piece is set apart from the person before it: by a pause, by a greeting
	// before that person, or because it is a word for the sender.
	isApart bool
	verbs   []verb // its possible readings, if it says who won

	isSide    bool
	side      int  // 0 is the first side
	isTeam    bool // it has several people
	isWith    bool // a word such as "with" joins these people
	isSender  bool // named by a word such as "me"
	isWoman   bool // judging by the name
	isMan     bool // judging by the name
	isOblique bool
	isWhom    bool // possibly in the accusative
}

// isSubject reports whether a word for the sender may be the subject: "I", or "me" on the first
// side of a sentence in English or without a verb.
func (p piece) isSubject(language string) bool {
	return p.meaning == me || p.meaning == meOrI && (language == "en" || language == "") && p.side == 0
}

// isObject reports whether a word for the sender may be an object.
func (p piece) isObject() bool { return p.isSender && p.meaning != me }

// verb returns the word's reading as a verb of the given language in the given role. ok is false if
// it has none.
func (p piece) verb(language, role string) (v verb, ok bool) {
	i := slices.IndexFunc(p.verbs, func(v verb) bool { return v.language == language && v.role == role })
	if i < 0 {
		return verb{}, false
	}
	return p.verbs[i], true
}

// isOf reports whether the piece is a verb whose subject, in each of its readings, is of one of the
// given kinds.
func (p piece) isOf(people ...who) bool {
	return len(p.verbs) > 0 && !slices.ContainsFunc(p.verbs, func(v verb) bool { return !slices.Contains(people, v.who) })
}

// sentence is a form filled with pieces.
type sentence struct {
	language             string
	outcome              meaning // won, lost, drew or unknown
	subject, object, aux *piece
	claim                *piece
	verb                 verb
	hasPreposition       bool
}

// subject returns the side that the words about the outcome, or else the score, are about: 0 is the
// first side. first is the number of people on the first side. ok is false if the words leave open
// which side they are about.
func (l line) subject(first int, outcome meaning) (side int, ok bool) {
	if l.isOpen {
		return 0, false
	}
	pieces := l.sentence(first)
	at := slices.IndexFunc(pieces, func(p piece) bool { return len(p.verbs) > 0 })
	if at < 0 {
		if len(pieces) == 2 && pieces[0].isSide && !pieces[0].isSender && pieces[1].meaning == passive {
			return 0, false // "@bob got it 3:1"
		}
		// In "the score was 3:1", "was" is not a passive.
		pieces = slices.DeleteFunc(pieces, func(p piece) bool { return p.meaning == passive })
		all := formsWithoutVerb
		if l.said != unknown {
			all = formsOfSender
		}
		s, ok := match(all, pieces, "", outcome)
		isOther := func(p piece) bool { return !p.isSide }
		if ok && l.said == unknown && s.object != nil && s.object.isOblique && !s.object.isWhom &&
			!slices.ContainsFunc(pieces, isOther) {
			return 0, false // "Олегу 3:1" may be what he won or what he lost
		}
		// In "/lost @bob vs me", the loser may be Bob.
		isOfOther := ok && l.said != unknown && s.subject != nil && !s.subject.isSender && s.object.isSender
		return s.subjectSide(), ok && !isOfOther
	}
	claim := pieces[at]
	pieces = slices.DeleteFunc(pieces, func(p piece) bool { return p.meaning == mood })
	if l.isOfSender {
		pieces = slices.Insert(pieces, 0, piece{word: word{meaning: me}, isSide: true, isSender: true})
	}
	for _, v := range claim.verbs {
		if s, ok := match(forms[v.language], pieces, v.language, outcome); ok {
			return s.subjectSide(), true
		}
	}
	return 0, false
}

// subjectSide returns the side of the subject. A missing subject is on the side opposite the
// object. Without an object, the subject is the sender, who is the first side.
func (s sentence) subjectSide() int {
	switch {
	case s.subject != nil:
		return s.subject.side
	case s.object != nil:
		return 1 - s.object.side
	default:
		return 0
	}
}

// match returns the sentence that the pieces form. ok is false if they fit none of the forms.
func match(forms []form, pieces []piece, language string, outcome meaning) (sentence, bool) {
	for _, fields := range slices.Concat(forms...) {
		s := sentence{language: language, outcome: outcome}
		if len(fields) == len(pieces) && s.fill(fields, pieces) && (s.claim == nil || s.agrees()) {
			return s, true
		}
	}
	return sentence{}, false
}

// fill assigns the pieces to the fields. It returns false if a piece does not fit.
func (s *sentence) fill(fields []field, pieces []piece) bool {
	for i, one := range fields {
		p := &pieces[i]
		at := slices.IndexFunc(one, func(name string) bool { return s.fits(name, p) })
		if at < 0 {
			return false
		}
		switch name := one[at]; name {
		case "S", "I":
			s.subject = p
		case "O", "O*", "me":
			s.object = p
		case "has":
			s.aux = p
		case "prep":
			s.hasPreposition = true
		default:
			if v, ok := p.verb(s.language, name); ok {
				s.claim, s.verb = p, v
			}
		}
	}
	return true
}

// fits reports whether a piece can fill a field. name is one of the alternatives of the field.
func (s *sentence) fits(name string, p *piece) bool {
	switch name {
	case "S":
		return p.isSide && !p.isOblique && (!p.isSender || p.isSubject(s.language))
	case "I":
		return p.isSender && p.isSubject(s.language)
	case "O":
		return p.isSide && (!p.isSender || p.isObject() || s.language == "")
	case "O*":
		return p.isObject() || p.isOblique
	case "me":
		return p.isObject()
	}
	_, isVerb := p.verb(s.language, name)
	isWord := slices.Contains(fieldMeanings[name], p.meaning) ||
		s.outcome == lost && slices.Contains(toWinner[name], p.meaning)
	return isVerb || isWord || name == "a" && p.meaning == marker && s.subject != nil
}

// agrees reports whether the verb agrees with its subject, so that no other reading is as likely.
func (s sentence) agrees() bool {
	v := s.verb
	isToSender := s.object != nil && s.object.isSender
	switch subject := s.subject; {
	case v.isSlavic() && v.meaning == lost && s.object != nil && s.object.isWhom && !s.hasPreposition:
		return false // losing takes the dative; "слил Олега" has the accusative
	case s.object != nil && s.object.isWith && (subject == nil || !subject.isTeam):
		return false // "@alice beat @bob with @carol"
	case subject == nil:
		isOfOther := v.who == others || v.who == several || s.aux != nil && s.aux.meaning == has
		// In "@bob besiegt", Bob may be the subject or the object.
		maybeOfOther := v.role == roleBeaten && s.aux == nil && len(s.claim.verbs) > 1 ||
			v.role == roleBeat && v.meaning == lost && !s.object.isOblique // "unterlag @bob"
		return !isOfOther && !maybeOfOther && !isToSender
	case subject.isSender:
		return v.who != several && v.who != others && !isToSender
	case v.who == own, v.who == several && !subject.isTeam, !subject.isTeam && s.aux != nil && s.aux.meaning == auxiliary:
		return false
	case s.claim.isApart && s.claim.at == 1 && !isToSender:
		return false // "@bob, lost 1:3" and "thanks @bob lost 1:3" address Bob
	case subject.isWoman && v.who == anybody && v.isSlavic(), subject.isMan && v.who == she:
		return false // "Аня обыграл Дима" is about Dima, and "Дима проиграла" addresses him
	case subject.isTeam && !subject.isWith && v.who != several && s.aux == nil &&
		v.language != "en" && v.language != "es" && v.language != "pt":
		return false // "@bob und @carol schlug @dave"
	case s.object == nil && s.claim.at > 0:
		return s.claim.isNamed || s.aux != nil // not in "@bob 3:1 won"
	case s.object == nil:
		takesObject := func(w verb) bool { return w.language == v.language && w.role == roleBeat }
		// The subject may follow in "ganó @bob", but not in "gewann @bob" or "venceu @bob".
		return v.who == others && !slices.ContainsFunc(s.claim.verbs, takesObject)
	default:
		// A feminine verb may be about either of two names in the same case.
		return v.who != she || s.hasPreposition || s.object.isSender || s.object.isOblique
	}
}

// sentence returns the sides and the words that may affect who won, in order. first is how many of
// the people are on the first side.
func (l line) sentence(first int) []piece {
	var all []piece
	people := 0
	for _, p := range l.pieces {
		if !p.isSide {
			all = withWord(all, p)
			continue
		}
		if people >= first {
			p.side = 1
		}
		p.isApart = p.isApart && l.hasClaim()
		all = withPerson(all, p)
		people++
	}
	return all
}

// withWord adds a word. Of several words before a person, it keeps the most specific: "contra" of
// "contra o", and "con" of "con el".
func withWord(all []piece, p piece) []piece {
	last := len(all) - 1
	isBefore := func(m meaning) bool { return m == versus || over <= m && m <= article }
	switch {
	case last < 0 || !isBefore(all[last].meaning) || !isBefore(p.meaning):
		return append(all, p)
	case all[last].meaning == article || p.meaning == versus:
		all[last] = p
	}
	return all
}

// withPerson adds a person. People on one side become one piece if at most a word such as "with" or
// an article is between them. A person who is set apart, for example by a pause, joins only after a
// "with".
func withPerson(all []piece, p piece) []piece {
	last := len(all) - 1
	isWith := false
	if last > 0 && (all[last].meaning.isWith() || all[last].meaning == article) && all[last-1].isSide {
		isWith = all[last].meaning != article
		last--
	}
	if last < 0 || !all[last].isSide || all[last].side != p.side || p.isApart && !isWith {
		return append(all, p)
	}
	all = all[:last+1]
	team := &all[last]
	isObject := func(p piece) bool { return p.isOblique || p.meaning == toMe }
	team.isOblique = isObject(*team) || !isWith && isObject(p) // "меня с @bob", "@bob und mich"
	team.isTeam, team.isWith, team.isSender = true, isWith || team.isWith, false
	return all
}
