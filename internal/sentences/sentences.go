package sentences

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.txt
var files embed.FS

// Languages returns the codes of the languages, in alphabetical order.
func Languages() []string { return []string{"de", "en", "es", "pt", "ru", "uk"} }

// Mark tells how clearly a sentence names the winner.
type Mark string

// The package comment explains the marks.
const (
	Form    Mark = "form"
	Clear   Mark = "clear"
	Unclear Mark = "unclear"
)

// Sentence is a template filled with names and points, with its meaning.
type Sentence struct {
	Template string // as in the file
	Gloss    string // the meaning in English, as in the file
	Text     string
	Mark     Mark
	IsHard   bool // one of the hardest of its language
	// Usernames means that Text names people by usernames with an @, rather than by first names.
	Usernames bool
	// Declined means that a name in Text differs from its nominative.
	Declined bool
	// Won and Lost list the people on each side by [Player.Name]. The sender has an empty name. If
	// IsDraw is set, the match was a draw between these sides.
	Won, Lost []string
	IsDraw    bool
	// Scores has the winner's points first: one score, all sets, or none.
	Scores [][2]int
}

// Player is a person in the sentences of a language.
type Player struct {
	Name     string // the first name
	Username string // without an @
	// cases has the genitive, dative, accusative, instrumental and locative of the name. They are
	// empty in languages that do not decline names.
	cases [5]string
}

type cast struct{ men, women []Player }

// casts has the players of each language. Within a language, no form of a name is also a form of
// another player's name.
var casts = map[string]cast{
	"de": western, "en": western, "es": western, "pt": western,
	"ru": {
		men: []Player{
			{"Дима", "dima_d", [5]string{"Димы", "Диме", "Диму", "Димой", "Диме"}},
			{"Олег", "oleg77", [5]string{"Олега", "Олегу", "Олега", "Олегом", "Олеге"}},
			{"Сергей", "sergey_s", [5]string{"Сергея", "Сергею", "Сергея", "Сергеем", "Сергее"}},
			{"Игорь", "igor_i", [5]string{"Игоря", "Игорю", "Игоря", "Игорем", "Игоре"}},
		},
		women: []Player{
			{"Аня", "anya_a", [5]string{"Ани", "Ане", "Аню", "Аней", "Ане"}},
			{"Лена", "lena99", [5]string{"Лены", "Лене", "Лену", "Леной", "Лене"}},
			{"Маша", "masha_m", [5]string{"Маши", "Маше", "Машу", "Машей", "Маше"}},
			{"Юля", "yulia_y", [5]string{"Юли", "Юле", "Юлю", "Юлей", "Юле"}},
		},
	},
	"uk": {
		men: []Player{
			{"Тарас", "taras_t", [5]string{"Тараса", "Тарасу", "Тараса", "Тарасом", "Тарасі"}},
			{"Микола", "mykola7", [5]string{"Миколи", "Миколі", "Миколу", "Миколою", "Миколі"}},
			{"Сергій", "serhii_s", [5]string{"Сергія", "Сергію", "Сергія", "Сергієм", "Сергії"}},
			{"Олег", "oleh_o", [5]string{"Олега", "Олегу", "Олега", "Олегом", "Олегу"}},
		},
		women: []Player{
			{"Оля", "olia_o", [5]string{"Олі", "Олі", "Олю", "Олею", "Олі"}},
			{"Леся", "lesia9", [5]string{"Лесі", "Лесі", "Лесю", "Лесею", "Лесі"}},
			{"Марта", "marta_m", [5]string{"Марти", "Марті", "Марту", "Мартою", "Марті"}},
			{"Ірина", "iryna_i", [5]string{"Ірини", "Ірині", "Ірину", "Іриною", "Ірині"}},
		},
	},
}

var western = cast{
	men: []Player{
		{Name: "Bruno", Username: "bruno_b"}, {Name: "Oscar", Username: "oscar77"},
		{Name: "Felix", Username: "felixx"}, {Name: "Victor", Username: "vic_tor"},
	},
	women: []Player{
		{Name: "Paula", Username: "paula_p"}, {Name: "Laura", Username: "laura99"},
		{Name: "Carmen", Username: "carmenc"}, {Name: "Nina", Username: "nina_n"},
	},
}

// People returns all players of a language.
func People(language string) []Player {
	return slices.Concat(casts[language].men, casts[language].women)
}

var placeholder = regexp.MustCompile(`\{([A-Za-z0-9]+)(?:\.([a-z]+))?\}`)

// All returns the sentences of a language: each template with first names and, unless it is for
// first names only, with usernames. It fails for an unknown language and for an invalid template.
func All(language string) ([]Sentence, error) {
	text, err := files.ReadFile(language + ".txt")
	if err != nil {
		return nil, fmt.Errorf("read the templates: %w", err)
	}
	var all []Sentence
	namesOnly, number := false, 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			namesOnly = strings.Contains(heading, "FIRST NAMES ONLY")
			continue
		}
		mark, rest, _ := strings.Cut(line, " ")
		template, gloss, ok := strings.Cut(rest, " | ")
		if !ok {
			return nil, fmt.Errorf("%s: a line without a gloss: %s", language, line)
		}
		for _, usernames := range []bool{false, true} {
			if usernames && namesOnly {
				continue
			}
			mark, isHard := strings.CutSuffix(mark, "!")
			s := Sentence{Template: template, Gloss: gloss, Mark: Mark(mark), IsHard: isHard, Usernames: usernames}
			if err := s.fill(language, number); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", language, template, err)
			}
			all = append(all, s)
		}
		number++
	}
	return all, nil
}

// The points of a match, and its sets with the winner's or the loser's points first.
const (
	winnersPoints, losersPoints, drawnPoints = 3, 1, 2
	winnersSets, losersSets                  = "11:7 9:11 11:5 11:8", "7:11 11:9 5:11 8:11"
)

var sets = [][2]int{{11, 7}, {9, 11}, {11, 5}, {11, 8}}

// fill sets the text and the result of the sentence from its template. The gender of people varies
// with number, the template's position in its file, unless the placeholder sets it.
func (s *Sentence) fill(language string, number int) error {
	roles := make(map[string]string) // first names, by role
	var fault error
	s.Text = placeholder.ReplaceAllStringFunc(s.Template, func(match string) string {
		parts := placeholder.FindStringSubmatch(match)
		switch parts[1] {
		case "w":
			s.Scores = orSingle(s.Scores, [2]int{winnersPoints, losersPoints})
			return fmt.Sprint(winnersPoints)
		case "l":
			return fmt.Sprint(losersPoints)
		case "d":
			s.Scores = orSingle(s.Scores, [2]int{drawnPoints, drawnPoints})
			return fmt.Sprint(drawnPoints)
		case "S":
			s.Scores = sets
			return winnersSets
		case "s":
			s.Scores = sets
			return losersSets
		}
		role, player, ok := playerOf(parts[1], language, number)
		if !ok {
			fault = fmt.Errorf("unknown placeholder %s", match)
			return match
		}
		roles[role] = player.Name
		if s.Usernames {
			return "@" + player.Username
		}
		if parts[2] == "" {
			return player.Name
		}
		i := slices.Index([]string{"gen", "dat", "acc", "ins", "loc"}, parts[2])
		if i < 0 || player.cases[i] == "" {
			fault = fmt.Errorf("unknown case %s", match)
			return match
		}
		s.Declined = s.Declined || player.cases[i] != player.Name
		return player.cases[i]
	})
	if fault != nil {
		return fault
	}
	s.Won, s.Lost = sideOf(roles, "W", "W2"), sideOf(roles, "L", "L2")
	if b, ok := roles["B"]; ok {
		s.IsDraw, s.Won, s.Lost = true, []string{roles["A"]}, []string{b}
	}
	if s.Won[0] == "" && s.Lost[0] == "" {
		return fmt.Errorf("nobody is named")
	}
	return nil
}

// orSingle returns the scores, or the single score if there are none. If a sentence has both sets
// and a total, the sets take precedence.
func orSingle(scores [][2]int, single [2]int) [][2]int {
	if scores == nil {
		return [][2]int{single}
	}
	return scores
}

// playerOf returns the player for a placeholder such as W, Lf or W2, and its role, which is the
// placeholder without the gender. number means the same as in fill.
func playerOf(name, language string, number int) (role string, player Player, ok bool) {
	genders := [][]Player{casts[language].men, casts[language].women}
	gender := number % 2
	role = strings.TrimRight(name, "mf")
	switch strings.TrimPrefix(name, role) {
	case "m":
		gender = 0
	case "f":
		gender = 1
	}
	at := slices.Index([]string{"W", "L", "W2", "L2"}, role)
	if at < 0 {
		at = slices.Index([]string{"A", "B"}, role)
	}
	if at < 0 {
		return "", Player{}, false
	}
	if at%2 == 1 && role == name && len(role) == 1 { // so that men also play women
		gender = (number / 2) % 2
	}
	return role, genders[gender][at], true
}

// sideOf returns the names on a side. If the template does not name the first member, that member
// is the sender, whose name is empty.
func sideOf(roles map[string]string, first, second string) []string {
	side := []string{roles[first]}
	if name, ok := roles[second]; ok {
		side = append(side, name)
	}
	return side
}
