package command

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// meaning is what a word stands for in a report.
type meaning int

const (
	unknown  meaning = iota
	filler           // has no effect
	game             // the name of a game: it may name a ladder, and is a filler otherwise
	greeting         // a filler that addresses the person named after it
	the              // a filler that may stand between a preposition and a name
	// oneSet is a part of a match, such as "set". Beside a stated outcome, it leaves open who won
	// the match.
	oneSet
	past    // an earlier day. Beside present and a stated outcome, it leaves open who won
	present // today
	// joy is an emoji of the winner or of a rank. Beside a person it is a mood, elsewhere a filler.
	joy
	mood // an emoji or a word that hints at who won, if no other word says so
	// and joins the people before and after it. Elsewhere it is a filler.
	and
	versus // separates the sides: "against"
	me     // the sender as a subject: "I"
	meOrI  // the sender as an object, or as a subject on the first side: "me"
	toMe   // the sender as an object: "mich"
	// The following words mean a stand-in: a guest without a name who fills a place in a team.
	standIn        // "guest"
	standInOpen    // in a form that is a subject in one language and an object in another: "гостя"
	standInOblique // in a case that a subject cannot have: "гостем"
	won            // its subject won
	lost           // its subject lost
	drew           // neither side won
	separator      // between two numbers a colon, before a person the meaning "to", elsewhere a filler
	times          // between two numbers a colon, elsewhere the meaning "versus"
	early          // the match ended early or was not played, so its games do not affect the result
	afterTime      // the match went to extra time or penalties
	clock          // before a number an error, because it means a time of day; elsewhere the meaning "of"
	clockOrMarker  // like clock, but elsewhere the meaning "marker"

	// Most of the following words, up to article, are fillers unless a person follows.

	over      // stands before the loser, also after a noun
	marker    // stands before the other side, but not after a noun: "den @bob"
	personalA // between two numbers a colon, elsewhere like marker: "le gané a @bob 3 a 1"
	from      // stands before the other side after a verb: "ganhei do @bob"
	to        // stands before the winner after a word for losing: "perdi para @bob"
	with      // stands before a teammate or an opponent
	withOrTo  // the meaning "with", and after a word for losing also "to": "perdí con @bob"
	of        // stands before the agent of a passive ("by @bob"), or before something else
	article   // of a name
	clitic    // a pronoun beside the verb, as in "le gané"; before a person an article

	// The following words need no person after them.

	auxiliary // "habe"
	has       // the auxiliary of a subject other than the sender
	heOrHave  // before a Spanish participle an auxiliary, elsewhere a pronoun
	passive   // "was"
	pronoun   // a pronoun that fits no form: "him", "my"
	we        // the sender before a word such as "with": "мы с @carol"; elsewhere a pronoun
	not       // a negation, or "almost"
)

// isFiller reports whether a word does not affect the sides, the score or the outcome of a report.
func (m meaning) isFiller() bool { return filler <= m && m <= the }

// isMinor reports whether a person still counts as directly before a word if a word with this
// meaning stands between them.
func (m meaning) isMinor() bool { return filler <= m && m <= mood || m >= over }

func (m meaning) isSender() bool { return me <= m && m <= toMe }

func (m meaning) isStandIn() bool { return standIn <= m && m <= standInOblique }

// isColon reports whether a word may be the colon between two numbers.
func (m meaning) isColon() bool { return m == separator || m == times || m == personalA }

// isWith reports whether a word means "with" and so may join two people.
func (m meaning) isWith() bool { return m == with || m == withOrTo }

// isBeforePerson reports whether a word may be a preposition or an article before a person, apart
// from words that mean the or versus.
func (m meaning) isBeforePerson() bool {
	return over <= m && m <= clitic || m == separator || m == clock || m == clockOrMarker
}

// vocabulary has words that people write in reports, in all languages of the bot at once, because
// people mix languages. Words for winning and losing are in verbs.
var vocabulary = meanings(map[meaning]string{
	versus:         `v vs v.s versus verses against 🆚 gegen contra ante frente против проти`,
	the:            `the`,
	and:            `& + and und y e и та й і`,
	me:             `i myself ich yo eu я`,
	meOrI:          `me`,
	toMe:           `mich mir mí mim мне мені мной мною меня мене`,
	standIn:        `guest gast invitado invitada convidado convidada гость гостья гість`,
	standInOpen:    `гостя`,
	standInOblique: `гостю гостью гостем госте гостье гостьей гостеві гостові гостею`,
	oneSet: `set third fourth fifth 3rd 4th 5th satz dritten vierten fünften parcial tercero cuarto quinto
		сет третьей пятой третьем пятом партию партію гру`,
	past:    `yesterday gestern ayer anoche ontem вчера вчора учора`,
	present: `today tonight heute hoy hoje сегодня сьогодні`,
	joy:     `🏆 👑 🥇 🥈 ✅ 🎉 👏 💪`,
	mood:    `😭 ❌ 😢 😞 😔 😟 🙁 ☹ ☹️ 😡 🤦 👎 :( :-( leider schade glückwunsch vergüenza`,
	drew: `draw drew draws tie tied =
		unentschieden remis empate empaté empató empato empataron empatamos tablas empatei empatou empataram
		ничья ничью вничью нічия нічию внічию`,
	separator:     `to zu к`,
	times:         `x х ×`,
	clock:         `at um las às о об`,
	clockOrMarker: `в`,
	early: `w/o wo w.o w.o. walkover ret retd retired retires retirement abd aband abandoned abandonment
		default defaulted defaults
		forfeit forfeited forfeits forfait ff conceded concedes dnf quit quits
		kampflos aufg aufgabe aufgegeben abgebr abgebrochen abbruch
		incomparecencia rindió desistió abandono abandonó abandonado retiro retirada retirado retiró
		desistência desistencia desistiu abandonou comparecimento
		тп неявка неявку техническая отк отказ отказался отказалась сдался сдалась сдались снялся снялась снятие
		доиграли недоиграли прервали
		технічна відм відмова відмовився відмовилась відмовилася здався здалась здалася здались знявся знялась знялася зняття
		дограли недограли перервали`,
	afterTime: `aet a.e.t a.e.t. ot overtime extra pens pen pks penalty penalties shootout shoot-out
		n.v n.v. nv i.e i.e. n.e n.e. verl verlängerung elfmeterschießen penaltyschießen
		prórroga prorroga penales penaltis penalti prorrogação prorrogacao pên pênaltis pênalti
		д.в д.в. доп овертайм овертайме пен пенальти д.ч д.ч. дод овертаймі пенальті`,
	over:      `over über sobre над`,
	marker:    `den dem у`,
	personalA: `a al`,
	from:      `del do da dos das de em na nas`,
	to:        `para pra pro an от від`,
	with:      `with mit com с со з із зі`,
	withOrTo:  `con`,
	of: `of for für by von por pelo pela in on im am nach beim en as за на по
		after tras después depois após после після`,
	article:   `der die el los o os`,
	clitic:    `le les lo la se`,
	auxiliary: `have habe hab`,
	heOrHave:  `he`,
	has:       `has hat haben konnte ha han`,
	passive:   `foi was is got war wurde wurden worden`,
	pronoun: `my mine mein meine mía meu minha мой моя моей мій моєї
		conmigo comigo nos she him her er sie ihn ihm él ella ele ela он она его её ее ему ей він вона його її йому їй`,
	we: `мы ми`,
	not: `not no never didn't didnt don't dont almost nearly nicht nie kein keine fast nunca casi não nao quase
		не ні почти чуть майже`,
	greeting: `gg ggs wp ggwp hello hey hallo hola oi thanks thx ty hi danke moin suerte buenas
		спасибо привет привіт дякую гг played`,
	filler: `ez bg game games match matches rematch result results score scores final
		just it friendly guys everyone everybody absolutely finally lunch office decider sets point points please
		pls record report log add
		playing good close nice great well easy tough lol haha again finally then very narrowly comfortably convincingly
		singles doubles 1v1 2v2 3v3 4v4 1vs1 2vs2 bo3 bo5 bo7
		time tiempo tempo zeit время времени час часу
		:) :-) :d :p xd ^^ <3 ;) -)
		this morning afternoon evening früh abend nachmittag esta mañana tarde noche à manhã noite
		mal aber nur auch prost yeah super training halbfinale finale runde entscheidungssatz ende kurz freundschaftsspiel
		spiel partie match ergebnis endstand stand sätze es eben gerade bitte
		knapp klar endlich einzel doppel revanche gespielt überraschend anschließend danach glatt souverän endergebnis
		goleada quedamos amistoso fin jaja jajaja partidazo partido partida juego resultado marcador sets un una total
		parciales facilidad cerrado
		jogão kkk kkkk finalmente amistoso jogo placar uma duplas parciais
		пожалуйста круто жёстко жестко красиво утром днём днем вечером ночью партиям боевая всухую ура всем ахах хаха
		наконец-то легко игра игру игры матч партия счёт счет счётом счетом результат итог сыграл сыграла
		сыграли изи сеты сетам итоге матче бот
		финал финала фінал фіналу будь ласка круто ввечері вранці легко хаха нарешті дружній всім гра гри партія рахунок
		рахунком підсумок зіграв зіграла зіграли матчі підсумку поєдинок`,
})

// who is the kind of subject that a form of a verb has.
type who string

const (
	anybody who = "anybody" // the sender, or a named person
	own     who = "own"     // the sender: "gané"
	others  who = "others"  // another person: "ganó"
	several who = "several" // several people: "ganaron"
	she     who = "she"     // a woman, who may be the sender: "выиграла"
)

// The roles of verbs, apart from "win". They are also the names of fields in forms.
const (
	roleBeat   = "beat"
	roleWon    = "won"
	roleBeaten = "beaten"
	roleNoun   = "victory"
)

// verb is one way to read a word that says who won. Its role is the field of forms that it fills:
// win, won, beat, beaten or victory.
type verb struct {
	language, role string
	who            who
	meaning        meaning
}

// verbs maps the words that say who won to their readings. A word may have several readings: "won"
// is both past tense and participle.
var verbs = readVerbs(`
en win anybody won: won
en win others won: wins
en win several won: win
en won anybody won: won
en beat anybody won: beat defeated crushed smashed destroyed thrashed demolished battered clobbered hammered humiliated embarrassed slayed
en beat anybody won: obliterated pounded trounced walloped outplayed def d > bt wrecked rekt schooled dominated whipped outclassed
en beat others won: beats defeats
en beaten anybody won: beaten defeated crushed smashed destroyed thrashed demolished outplayed wrecked schooled dominated outclassed
en victory anybody won: victory win w
en win anybody lost: lost lose <
en win others lost: loses
en won anybody lost: lost
en victory anybody lost: loss l

de win anybody won: gewann siegte
de win own won: gewinne
de win others won: gewinnt siegt
de win several won: gewannen siegten
de won anybody won: gewonnen gesiegt
de beat anybody won: schlug bezwang besiegte
de beat own won: schlage besiege bezwinge
de beat others won: schlägt besiegt bezwingt
de beat several won: schlugen schlagen besiegten bezwangen bezwingen
de beaten anybody won: schlagen bezwingen geschlagen besiegt bezwungen abgezogen weggehauen weggeputzt plattgemacht
de victory anybody won: sieg
de win anybody lost: verlor unterlag
de win own lost: verliere
de beat anybody lost: unterlag
de beat others lost: unterliegt
de win others lost: verliert unterliegt
de win several lost: unterlagen verloren
de won anybody lost: verloren unterlegen
de victory anybody lost: niederlage

es win own won: gané gane
es win others won: ganó gano gana
es win several won: ganaron ganamos
es won anybody won: ganado
es beat own won: vencí derroté superé machaqué destrocé humillé goleé
es beat others won: venció vencio derrotó impuso superó supero machacó destrozó humilló goleó barrió reventó
es beat several won: vencieron superaron impusieron vencimos derrotamos
es beaten anybody won: vencido derrotado
es victory anybody won: victoria
es win own lost: perdí perdi pierdo
es win others lost: perdió perdio pierde cayó cayo
es win several lost: perdieron cayeron perdimos
es won anybody lost: perdido
es victory anybody lost: derrota

pt win own won: ganhei venci triunfei
pt win others won: ganhou ganha venceu triunfou fez
pt win several won: ganharam venceram
pt beat own won: venci derrotei bati superei goleei amassei atropelei
pt beat others won: venceu derrotou bateu superou goleou amassou atropelou massacrou
pt beat several won: venceram superaram derrotaram
pt victory anybody won: vitória vitoria
pt win own lost: perdi
pt win others lost: perdeu perde
pt win several lost: perderam
pt victory anybody lost: derrota

ru win anybody won: выиграл выйграл победил
ru win she won: выиграла выйграла победила
ru win several won: выиграли выйграли победили
ru beat anybody won: победил обыграл разгромил переиграл разнёс разнес порвал вынес уделал одолел раскатал раздавил размазал уничтожил
ru beat she won: победила обыграла разгромила переиграла разнесла порвала вынесла уделала одолела раскатала раздавила размазала уничтожила
ru beat several won: победили обыграли разгромили переиграли разнесли порвали вынесли уделали одолели раскатали раздавили размазали уничтожили
ru victory anybody won: победа
ru win anybody lost: проиграл уступил
ru win she lost: проиграла уступила
ru win several lost: проиграли уступили
ru beat anybody lost: проиграл уступил продул слил
ru beat she lost: проиграла уступила продула слила
ru beat several lost: проиграли уступили продули слили
ru victory anybody lost: поражение проигрыш

uk win anybody won: виграв переміг
uk win she won: виграла перемогла
uk win several won: виграли перемогли
uk beat anybody won: переміг обіграв здолав переграв розгромив подолав розніс порвав виніс розкатав
uk beat she won: перемогла обіграла здолала переграла розгромила подолала рознесла порвала винесла розкатала
uk beat several won: перемогли обіграли здолали переграли розгромили подолали рознесли порвали винесли розкатали
uk victory anybody won: перемога
uk win anybody lost: програв поступився
uk win she lost: програла поступилася поступилась
uk win several lost: програли поступилися поступились
uk beat anybody lost: програв поступився
uk beat she lost: програла поступилася поступилась
uk beat several lost: програли поступилися поступились
uk victory anybody lost: поразка програш
`)

// isSlavic reports whether v is a Russian or Ukrainian verb. The subject of such a verb may follow
// it.
func (v verb) isSlavic() bool {
	return (v.language == "ru" || v.language == "uk") && v.role != roleNoun
}

// namelessWords are the words for a person who shows no name, in all languages. A number follows.
var namelessWords = strings.Fields(`player person persona pessoa игрок гравець`)

// IsOfNameless reports whether a name is like what messages show in place of a name, as in
// "Player 2", in any language.
func IsOfNameless(name string) bool {
	word, number, _ := strings.Cut(foldName(name), " ")
	return slices.Contains(namelessWords, word) && isNumber(number)
}

// gameWords has each word that is part of the name of a game. A word that is also in verbs or in
// vocabulary keeps its meaning there.
var gameWords = wordSet(strings.ReplaceAll(strings.Join(slices.Collect(maps.Keys(games)), " "), "_", " "))

// namesToo are words with a meaning in reports that are also names.
var namesToo = wordSet(`abd al an beach catan d dart del den drew em extra ff golf ha oi ot pen ret tempo time ty
	victoria
	vitória vitoria win wo won zeit пен`)

// mayBeName reports whether a word with a meaning in reports may also be a name.
func mayBeName(word string) bool { return namesToo[word] || meaningOf(word).isStandIn() }

// countWords are words for how often something happened. A report must not take them for unknown
// names, but cannot ignore them either, because their effect is unclear: "beat @bob 3:1 twice".
var countWords = wordSet(`twice times zweimal dreimal mal veces vez vezes
	дважды трижды раз раза двічі тричі рази разів`)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// meanings inverts words: it maps each word of a list to the key of the list.
func meanings[M comparable](words map[M]string) map[string]M {
	all := make(map[string]M)
	for m, list := range words {
		for word := range strings.FieldsSeq(list) {
			all[word] = m
		}
	}
	return all
}

// readVerbs maps each word of a table to its readings. A row has the language, the role, the
// subject and the outcome, and after a colon the words.
func readVerbs(table string) map[string][]verb {
	outcomes := map[string]meaning{"won": won, "lost": lost}
	all := make(map[string][]verb)
	for row := range strings.Lines(table) {
		head, words, _ := strings.Cut(row, ":")
		for word := range strings.FieldsSeq(words) {
			of := strings.Fields(head)
			all[word] = append(all[word], verb{language: of[0], role: of[1], who: who(of[2]), meaning: outcomes[of[3]]})
		}
	}
	return all
}

// meaningOf returns the meaning of a word, in any letter case.
func meaningOf(word string) meaning {
	word = strings.ToLower(word)
	if all := verbs[word]; len(all) > 0 {
		return all[0].meaning
	}
	if m := vocabulary[word]; m != unknown || !gameWords[word] {
		return m
	}
	return game
}

// bare returns a word without brackets, exclamation marks, quotes and emoji around it, without the
// colon after a word such as "score:" or a total such as "3:1:", and without the sign that joins a
// word to a name, as in "me+@bob". It keeps a word that has a meaning as a whole, such as an
// emoticon.
func bare(word string) string {
	trimmed := strings.TrimFunc(word, isDecoration)
	before, joined := strings.TrimRightFunc(trimmed, isColon), strings.Trim(trimmed, "&+")
	switch {
	case meaningOf(word) != unknown:
		return word
	case meaningOf(before) != unknown, endsWithDigit(before) && strings.ContainsFunc(before, isSeparator):
		return before
	case meaningOf(joined) != unknown:
		return joined
	default:
		return trimmed
	}
}

// isDecoration reports whether r has no meaning around words and scores.
func isDecoration(r rune) bool {
	isSymbol := unicode.In(r, unicode.So, unicode.Sk) && r != unicode.ReplacementChar
	return isSymbol || strings.ContainsRune("()[]{}!?¡¿\"'“”„«»…\uFE0F", r)
}
