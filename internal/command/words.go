package command

import (
	"strings"
	"unicode"
)

// meaning is what a word of a report stands for.
type meaning int

const (
	unknown   meaning = iota
	filler            // has no effect
	and               // joins the people of a side; has no effect either, because mentions need no separator
	versus            // separates the sides
	me                // the sender
	won               // the side before it won
	lost              // the side before it lost
	drew              // nobody won
	separator         // between two numbers a colon, elsewhere without effect
	times             // between two numbers a colon, elsewhere versus
)

// vocabulary has the words that people write in reports, in all languages of the bot at once: people mix them, and no word
// means different things in two of them. A word that is missing here only makes the bot ask for another form.
var vocabulary = meanings(map[meaning]string{
	versus: `v vs versus against gegen contra против проти`,
	and:    `& + and und y e и та й і`,
	me:     `me i myself mich ich mir yo mí eu mim я мне мені мной мною меня мене`,
	won: `win won wins beat beats defeated gewonnen gewann besiegt schlug schlägt gano ganó gané gane gana venció vencio venci
		venceu ganhou ganhei vitória vitoria victoria sieg выиграл выиграла победил победила обыграл
		обыграла победа виграв виграла переміг перемогла перемога`,
	lost: `lose lost loses loss verloren verlor niederlage perdió perdio perdí perdi pierde derrota perdeu проиграл
		проиграла проиграли поражение програв програла поразка`,
	drew:      `draw drew tie tied unentschieden remis empate empató empatou ничья вничью нічия внічию`,
	separator: `to zu a`,
	times:     `x х ×`,
	filler: `with gg wp ggwp ez bg game games match matches result results score scores final today the of for by at in my
		just was is it set sets points point please pls thanks hi hey record report played playing spiel ergebnis satz sätze mit am im
		das der die heute bitte haben habe hat beim partida partido resultado marcador sets con el la un una de hoy he ha jogo
		placar com para o os as um uma no na do da foi hoje por игра матч счёт счет результат с со у на в сегодня гра рахунок
		з із зі сьогодні`,
})

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

// bare returns a word without brackets, exclamation marks, quotes and emoji around it, and without the colon after a word
// such as "score:".
func bare(word string) string {
	word = strings.TrimFunc(word, isDecoration)
	if before := strings.TrimRightFunc(word, isColon); meaningOf(before) != unknown {
		return before
	}
	return word
}

// isDecoration reports whether people put r around words or scores without a meaning.
func isDecoration(r rune) bool {
	switch r {
	case '(', ')', '[', ']', '{', '}', '!', '?', '"', '\'', '“', '”', '„', '«', '»', '…', '\uFE0F':
		return true
	}
	return r != unicode.ReplacementChar && unicode.In(r, unicode.So, unicode.Sk)
}
