package command

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ending pairs the ending of a name in the nominative with its endings in the other cases.
type ending struct {
	nominative string
	others     []string
}

// endings lists the folded endings of Russian and Ukrainian names. The empty nominative is for
// names that end with a consonant.
var endings = [...]ending{
	// Russian names.
	declension("а", "ы и е у ой ей"), // Дима, Саша
	declension("я", "и е ю ей"),      // Катя, Мария
	declension("й", "я ю ем е"),      // Сергей
	declension("ий", "ии"),           // Дмитрий
	declension("ь", "я ю ем е"),      // Игорь
	declension("", "а у ом ем ым е"), // Олег, Ильич, Иванов
	declension("ел", "ла лу лом ле"), // Павел
	// Ukrainian names.
	declension("а", "и і у ою ею"),          // Оксана, Саша
	declension("га", "зі"),                  // Ольга
	declension("ка", "ці"),                  // Вероніка
	declension("я", "і ї ю ею єю"),          // Катя, Надія
	declension("й", "я ю єві єм"),           // Андрій
	declension("ій", "ії"),                  // Сергій
	declension("ь", "я ю еві ем"),           // Василь
	declension("о", "а у ові ом"),           // Петро
	declension("", "а у ові ом я ю еві ем"), // Тарас, Ігор
}

func declension(nominative, others string) ending {
	return ending{fold(nominative), strings.Fields(fold(others))}
}

// ownNames are names that look like an oblique case of another name. Александра, for example, may
// be a form of Александр, but is also a name of its own.
var ownNames = wordSet(fold(`александра валентина валерия виталия евгения юлия богдана владислава мирослава руслана
	святослава станислава ярослава
	олександра валерія віталія євгенія юлія ивана яна дана кира ника вика тома тима мира мари софи люси`))

// mensNames are names of men, or of both sexes, that end like women's names.
var mensNames = wordSet(fold(`алеша андрюша боря вадя валера ваня вася витя вова володя гена гоша гриша дима женя
	жора игорёша илья кеша кирюша
	коля костя кузьма леня леха леша лева лука микита микола миша никита ілля олекса паша петя рома саша сева сема
	сеня серега сережа сева слава
	степа тема тимоха толя тоша фома федя шура эдя юра яша`))

// isWoman reports whether a name looks like a Russian or Ukrainian woman's: its first word ends
// with "а" or "я" and is not in mensNames.
func isWoman(name string) bool {
	first, _, _ := strings.Cut(foldName(name), " ")
	return (strings.HasSuffix(first, "а") || strings.HasSuffix(first, "я")) && !mensNames[first]
}

// womensNamesToo are the names in mensNames that women also have.
var womensNamesToo = wordSet(fold(`валера вася женя паша саша сева слава шура`))

// isMan reports whether a name looks like a Russian or Ukrainian man's, and not like a name of both
// sexes. The ending of the name's first word decides, unless mensNames has that word.
func isMan(name string) bool {
	first, _, _ := strings.Cut(foldName(name), " ")
	if mensNames[first] {
		return !womensNamesToo[first]
	}
	return endsWithConsonant(first) && !strings.HasSuffix(first, "ь") || strings.HasSuffix(first, "й")
}

// nominatives returns the possible nominatives of a folded Cyrillic word. It returns nil for a word
// in another script, and for a word with a meaning in reports that is not also a name.
func nominatives(word string) (all []string) {
	r, _ := utf8.DecodeRuneInString(word)
	if word := norm.NFC.String(word); !isCyrillic(r) || meaningOf(word) != unknown && !mayBeName(word) {
		return nil
	}
	for _, e := range endings {
		for _, other := range e.others {
			stem, ok := strings.CutSuffix(word, other)
			if ok && utf8.RuneCountInString(stem) > 1 && (e.nominative != "" || endsWithConsonant(stem)) {
				all = append(all, stem+e.nominative)
			}
		}
	}
	return all
}

// endsWithConsonant reports whether a folded Cyrillic word ends with neither a vowel nor ь. It
// treats ї as a consonant, which does no harm because no stem ends with ї.
func endsWithConsonant(word string) bool {
	r, _ := utf8.DecodeLastRuneInString(word)
	return isCyrillic(r) && !strings.ContainsRune("аеиоуыэюяьіє", r)
}

// declined returns the indexes of the people whose name, in some grammatical case, is the given
// folded name of one or two words: "с Димой", "у Дмитрия Козлова". isName reports whether a player
// has exactly that name. If so, even a name in ownNames may be a form of another player's name, and
// the bot asks who is meant. Otherwise a name in ownNames more likely belongs to a person whom the
// bot does not know, and declined returns nil.
func (n *Names) declined(name string, isName bool) (people []int) {
	first, last, _ := strings.Cut(name, " ")
	if ownNames[first] && !isName || strings.Contains(last, " ") {
		return nil
	}
	for _, a := range append(nominatives(first), first) {
		for _, b := range append(nominatives(last), last) {
			people = append(people, n.byName[strings.TrimSuffix(a+" "+b, " ")]...)
		}
	}
	slices.Sort(people)
	return slices.Compact(people)
}

// isAccusative reports whether a folded name can be the accusative of a folded nominative, judging
// by the first word of each.
func isAccusative(name, nominative string) bool {
	first, _, _ := strings.Cut(name, " ")
	nominative, _, _ = strings.Cut(nominative, " ")
	if strings.HasSuffix(nominative, "а") || strings.HasSuffix(nominative, "я") {
		return accusativeOfA.MatchString(first)
	}
	return strings.HasSuffix(first, "а") || strings.HasSuffix(first, "я")
}

// accusativeOfA matches the accusative of most names that end with "а" or "я". It does not match
// their instrumental, such as "Димою".
var accusativeOfA = regexp.MustCompile(`[^оеє][ую]$`)

func isCyrillic(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }
