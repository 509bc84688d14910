package command

import (
	"cmp"
	"strings"
	"unicode"
)

// games maps the names of games in all languages of the bot to one name for each game, with "_" for
// a space.
var games = meanings(map[string]string{
	"chess": `chess schach ajedrez xadrez шахматы шахмат шахматах шахи шахах шахів`,
	"table_tennis": `table_tennis ping_pong ping-pong pingpong tischtennis tenis_de_mesa tênis_de_mesa tenimesa
		pingue_pongue pingue-pongue pimpón pimpon
		настольный_теннис настільний_теніс пинг_понг пинг-понг пингпонг пінг_понг пінг-понг пінгпонг`,
	"tennis": `tennis tenis tênis теннис теніс`,
	"padel":  `padel pádel падел`,
	"table_football": `table_football foosball fussball kicker tischfußball tischfussball tischkicker futbolín futbolin
		metegol pebolim totó кикер кікер настольный_футбол настільний_футбол`,
	"darts":            `darts dart dardos дартс`,
	"billiards":        `billiards pool snooker billard billar bilhar sinuca бильярд пул снукер більярд`,
	"badminton":        `badminton bádminton federball бадминтон бадмінтон`,
	"squash":           `squash сквош`,
	"pickleball":       `pickleball пиклбол піклбол`,
	"football":         `football soccer fußball fútbol futbol futebol футбол`,
	"basketball":       `basketball baloncesto básquet basquete баскетбол`,
	"volleyball":       `volleyball voleibol vôlei волейбол`,
	"beach_volleyball": `beach_volleyball beachvolleyball beach-volleyball`,
	"fifa":             `fifa eafc фифа фіфа`,
	"checkers":         `checkers draughts шашки`,
	"backgammon":       `backgammon gamão нарды нарди`,
	"bowling":          `bowling kegeln bolos boliche боулинг боулінг`,
	"golf":             `golf minigolf minigolfe гольф`,
	"petanque":         `petanque pétanque boule boccia bocce петанк`,
	"airhockey":        `airhockey аэрохоккей аерохокей`,
	"cornhole":         `cornhole`,
	"catan":            `catan`,
})

// Game returns the game that a text names, as an identifier that is the same in all languages. It
// returns an empty string if the text names none.
func Game(text string) string {
	return games[strings.ReplaceAll(strings.ToLower(text), " ", "_")]
}

// IsOfGame reports whether the name of a ladder names a game. game is a result of Game. If the
// whole name is not the name of any game, its first word that names a game decides: "Tennis Club"
// is of tennis, but "table tennis" is not.
func IsOfGame(name, game string) bool {
	of := Game(name)
	for _, word := range strings.Fields(name) {
		of = cmp.Or(of, Game(word))
	}
	return of == game
}

// IsSlip reports whether text may be a misspelling of name: at most two letters are wrong, or fewer
// in a short text. A text without a letter, or with a meaning in a report, is never a misspelling.
func IsSlip(text, name string) bool {
	typed := []rune(foldName(text))
	limit := min(2, (len(typed)-1)/2)
	// "2:2" is not a misspelling of "2v2".
	mayBeName := strings.ContainsFunc(text, unicode.IsLetter) && meaningOf(text) == unknown
	return mayBeName && Distance(typed, []rune(foldName(name)), limit) <= limit
}
