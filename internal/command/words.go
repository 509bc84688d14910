package command

import (
	"strings"
	"unicode"
)

// meaning is what a word of a report stands for.
type meaning int

const (
	unknown     meaning = iota
	filler              // has no effect
	and                 // joins the people of a side; has no effect either, because mentions need no separator
	versus              // separates the sides
	me                  // the sender
	won                 // the side before it won
	lost                // the side before it lost
	drew                // nobody won
	separator           // between two numbers a colon, elsewhere a preposition
	times               // between two numbers a colon, elsewhere versus
	favor               // before a person it says for whom the score is, elsewhere it has no effect
	clock               // before a score it makes a time of day of it, elsewhere it is a preposition
	by                  // directly after "beaten" it says who won, before another person it is agent, elsewhere it has no effect
	agent               // says who did something: "von @bob"
	preposition         // before a person it says to whom somebody has done something, elsewhere it has no effect
	article             // of a name, or a pronoun for somebody who is named elsewhere: "el", "le"
	auxiliary           // "habe"
	has                 // after the first name or before any it says that somebody else than the sender did it, elsewhere it is auxiliary
	passive             // "was"
)

// isMinor is true if a word has no effect, but in a sentence that says who won.
func (m meaning) isMinor() bool { return m == filler || m >= preposition }

// vocabulary has the words that people write in reports, in all languages of the bot at once: people mix them, and no word means different
// things in two of them. A word that is missing here only makes the bot ask for another form. No filler may tell who won, also not beside
// another word.
var vocabulary = meanings(map[meaning]string{
	versus: `v vs v.s versus verses against 🆚 gegen contra ante frente против проти`,
	and:    `& + and und y e и та й і`,
	me:     `me i myself mich ich mir yo mí eu mim я мне мені мной мною меня мене`,
	won: `win won wins w beat beats beaten bt def defeat defeats defeated crushed smashed destroyed thrashed demolished battered clobbered hammered humiliated embarrassed slayed
		obliterated pounded trounced walloped outplayed > victory
		gewonnen gewann gewinne gewinnt gewannen besiegt besiege besiegten geschlagen schlug schlägt schlage schlugen sieg siegt
		siegte siegten besiegte bezwang bezwangen bezwingt bezwingen bezwungen
		gano ganó gané gane gana ganaron vencí venci venció vencio vencieron derroté derrotó victoria
		impuso impusieron superó supero superaron
		venceu venceram ganhou ganhei ganha ganharam derrotei derrotou bati bateu vitória vitoria
		superou superaram superei goleou goleei triunfou fez
		выиграл выиграла выиграли выиграю победил победила победили обыграл обыграла обыграли победа
		разгромил разгромила разгромили переиграл переиграла переиграли
		виграв виграла виграли переміг перемогла перемогли обіграв обіграла обіграли перемога
		здолав здолала здолали переграв переграла переграли розгромив розгромила розгромили`,
	lost: `lose lost loses loss l < verloren verlor verliert verliere niederlage
		unterliegt unterlag unterlagen unterlegen cayó cayo cayeron perdió perdio perdí perdi pierde pierdo perdieron
		derrota perdeu perde perderam проиграл проиграла проиграли проигрыш поражение програв програла програли програш поразка
		уступил уступила уступили поступився поступилася поступилась поступилися поступились`,
	drew: `draw drew draws tie tied = unentschieden remis empate empaté empató empato empataron empatamos empatei empatou empataram
		ничья ничью вничью нічия нічию внічию`,
	separator:   `to zu a к`,
	times:       `x х ×`,
	favor:       `for für para pra pro от від`,
	clock:       `at um las às в о об`,
	by:          `by von por pelo pela`,
	preposition: `with of over in on mit im am nach beim an den con de del al sobre en com o os as na do da dos em с со у на над по з із зі`,
	article:     `el la los le lo se`,
	auxiliary:   `haben habe hab konnte`,
	has:         `has hat ha`,
	passive:     `was is got war wurde wurden worden`,
	filler: `gg ggs wp ggwp ez bg game games match matches rematch result results score scores final today yesterday tonight
		the my just it set sets point points please pls thanks thx ty hi hey record report log add played
		playing good close nice great well easy tough lol haha again finally then very narrowly comfortably convincingly singles doubles 1v1 2v2 3v3 4v4 1vs1 2vs2 bo3 bo5 bo7
		foosball pool chess fifa tennis table ping pong ping-pong pingpong darts squash padel
		:) :-) :( :-( :d :p xd ^^ <3 ;)
		spiel partie match ergebnis endstand stand satz sätze das es heute gestern eben gerade bitte
		knapp klar leider endlich danke kicker tischtennis einzel doppel revanche gespielt überraschend anschließend danach glatt souverän endergebnis
		partido partida juego resultado marcador sets un una hoy ayer total parcial parciales facilidad cerrado
		jogo placar uma foi hoje ontem duplas parcial parciais
		игра игру игры матч партия партию счёт счет счётом счетом результат итог сегодня вчера сыграл сыграла
		сыграли гг изи сет сеты сетам теннис кикер фифа шахматы пинг-понг итоге матче бот
		гра гру гри партія партію рахунок рахунком підсумок сьогодні вчора зіграв зіграла зіграли теніс шахи матчі підсумку поєдинок`,
})

// plurals are the words for what several people did. Without these people in front of them, the sender has not named the own team.
var plurals = wordSet(`gewannen besiegten schlugen ganaron vencieron perdieron ganharam venceram perderam superaram impusieron cayeron siegten bezwangen unterlagen
	выиграли победили обыграли проиграли виграли перемогли обіграли програли
	разгромили переиграли уступили здолали переграли розгромили поступилися поступились`)

// othersWords are the words for what somebody else than the sender did, if nobody is named in front of them: "ganó @bob".
var othersWords = wordSet(`wins beats loses defeats gewinnt schlägt verliert siegt gana ganó gano venció vencio derrotó
	pierde perdió perdio impuso superó supero cayó cayo unterliegt bezwingt superou goleou triunfou ganhou ganha venceu derrotou bateu perde perdeu fez`)

// maybeOthersWords are such words if no preposition marks the person who follows: "gewann @bob", but not "gewann gegen @bob". All Russian
// and Ukrainian verbs are too.
var maybeOthersWords = wordSet(`gewann verlor siegte unterlag`)

// anybodysWords are words for what the sender or the person before may have done, also behind a score: "@bob mit 3:1 gewonnen".
var anybodysWords = wordSet(`won lost gewonnen verloren gewann verlor siegte unterlag ganó gano perdió perdio ganhou perdeu
	выиграл выиграла проиграл проиграла виграв виграла програв програла`)

// objects are the words for the sender to whom somebody did something, as in "me ganó @bob" or "меня обыграл @bob".
var objects = wordSet(`me mich mir mí mim меня мне мной мною мене мені`)

// resultWords are nouns for a result: "victory @bob" and "Sieg für @bob" are as likely about what Bob did.
var resultWords = wordSet(`victory sieg victoria vitória vitoria победа перемога niederlage derrota поражение поразка проигрыш програш`)

// shortResultWords are such nouns only if a word of ofWords follows: "win for @bob", but not "win @bob".
var shortResultWords = wordSet(`win w loss l`)

// ofWords stand between a result and whose it is, as in "3:1 para @bob" or "vitória do @bob".
var ofWords = wordSet(`of for für von para pra pro de del do da у в за`)

// toWords say whose a result is only behind a score or a victory, as in "3:1 to @bob" or "Sieg an @bob".
var toWords = wordSet(`to an`)

// nameArticles are the articles of names behind such words, as in "3:1 para o @bob".
var nameArticles = wordSet(`the den o a el la`)

// namesToo are words of the vocabulary that are names as well.
var namesToo = wordSet(`al an del den em ha ty victoria vitória vitoria win`)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// meanings returns the meaning of each word.
func meanings(words map[meaning]string) map[string]meaning {
	all := make(map[string]meaning)
	for m, list := range words {
		for word := range strings.FieldsSeq(list) {
			all[word] = m
		}
	}
	return all
}

// longestWord is the number of bytes of the longest word of the vocabulary.
const longestWord = 32

// meaningOf returns what a word stands for, in any letter case.
func meaningOf(word string) meaning {
	if len(word) > longestWord {
		return unknown
	}
	if m, ok := vocabulary[word]; ok {
		return m
	}
	return vocabulary[strings.ToLower(word)]
}

// bare returns a word without brackets, exclamation marks, quotes and emoji around it, without the colon after a word such as "score:" or a
// total such as "3:1:", and without the sign that joins a word to a name, as in "me+@bob". An emoticon stays.
func bare(word string) string {
	if meaningOf(word) != unknown {
		return word
	}
	word = strings.TrimFunc(word, isDecoration)
	before := strings.TrimRightFunc(word, isColon)
	if meaningOf(before) != unknown || endsWithDigit(before) && strings.ContainsFunc(before, isSeparator) {
		return before
	}
	if joined := strings.Trim(word, "&+"); meaningOf(joined) != unknown {
		return joined
	}
	return word
}

// isDecoration is true if people put r around words or scores without a meaning.
func isDecoration(r rune) bool {
	switch r {
	case '(', ')', '[', ']', '{', '}', '!', '?', '¡', '¿', '"', '\'', '“', '”', '„', '«', '»', '…', '\uFE0F':
		return true
	}
	return r != unicode.ReplacementChar && unicode.In(r, unicode.So, unicode.Sk)
}
