package transfer

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// headers maps the names of columns, in all languages of the bot, to the roles of the columns. The
// names are in the form that letters returns, so case, spaces and punctuation do not matter. A
// number may follow the name of a side, and stands for a player: a2 is the second player of side a.
//
// The players of the sides are in the columns a, a2 and so on, and b, b2 and so on. Instead, they
// may be in winner, winner2 and so on, and in loser, loser2 and so on. In a file without a column
// loser, the column winner says which side won.
var headers = byName(map[string]string{
	"date": `date datetime timestamp matchdate played playedat datum zeitpunkt fecha data дата`,
	"winner": `winner winners sieger gewinner ganador ganadora ganadores vencedor vencedora vencedores
		победитель победители переможець переможці`,
	"loser": `loser losers runnerup verlierer perdedor perdedora perdedores проигравший проигравшие
		переможений програвший`,
	"a": `a sidea teama playera player1 side1 team1 home hometeam homeplayer team1player heim heimteam
		spielera spieler1 spielerin1 local equipo1 jugador1 jugadora1 pareja1jugador casa mandante equipe1
		time1 jogador1 jogadora1 хозяева игрок1 команда1 господарі гравець1`,
	"b": `b sideb teamb playerb player2 side2 team2 away awayteam awayplayer visitor team2player gast
		gastteam spielerb spieler2 spielerin2 visitante equipo2 jugador2 jugadora2 pareja2jugador equipe2
		time2 jogador2 jogadora2 гости игрок2 команда2 гості гравець2`,
	"score": `score finalscore result ergebnis spielstand resultado marcador placar
		счет счёт результат рахунок`,
	"score_a":      `score1 homescore pointsa punktea punkte1 puntos1 pontos1 очки1`,
	"score_b":      `score2 awayscore pointsb punkteb punkte2 puntos2 pontos2 очки2`,
	"score_winner": `winnerscore`,
	"score_loser":  `loserscore`,
	"sets":         `sets setscores gamescores sätze parciales parciais сеты партии сети партії`,
	"id":           `id matchid gameid messageid url link`,
	"order":        `order reihenfolge orden ordem порядок`,
	"player":       `player spieler spielerin jugador jugadora jogador jogadora игрок гравець`,
	"rating":       `rating elo startrating wertung puntuación classificação рейтинг`,
})

// byName returns a map from names to roles. names has the names of each role, separated by spaces.
// The name of a role also stands for the role itself.
func byName(names map[string]string) map[string]string {
	roles := map[string]string{}
	for role, all := range names {
		for name := range strings.FieldsSeq(all) {
			roles[name] = role
		}
		roles[letters(role)] = role
	}
	return roles
}

// letters returns only the letters and digits of a column's name, in lower case.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// roleOf returns the role that the name of a column stands for, such as "a2", or an empty string if
// there is none. The first player of a side needs no number.
func roleOf(name string) string {
	name = letters(name)
	if role, ok := headers[name]; ok {
		return role
	}
	base := strings.TrimRight(name, "0123456789")
	role := headers[base]
	n := number(name[len(base):], 2)
	switch {
	case n < 1 || !slices.Contains([]string{"a", "b", "winner", "loser", "player"}, role):
		return ""
	case n == 1:
		return role
	}
	return role + strconv.Itoa(n)
}

// readHeader reads the header, and finds the column of each role: by s.Columns if it is set, and
// otherwise by the names in headers. It returns a Fault if s.Columns or the header is unusable.
func (s *sheet) readHeader(record []string) error {
	chosen := map[string]string{} // maps the names of columns to roles
	for _, key := range slices.Sorted(maps.Keys(s.Columns)) {
		name, role := foldName(s.Columns[key]), roleOf(key)
		switch other := chosen[name]; {
		case role == "":
			return Fault{Reason: NoSuchRole, Value: excerpt(key)}
		case other != "":
			return Fault{Reason: TwoRoles, Column: excerpt(name), Value: other, Against: role}
		}
		chosen[name] = role
	}
	s.at = map[string]int{}
	for i, name := range record {
		s.header = append(s.header, strings.TrimSpace(name))
		role := roleOf(name)
		if len(chosen) > 0 {
			role = chosen[foldName(name)]
		}
		if first, ok := s.at[role]; ok {
			return Fault{
				Line: s.line, Column: excerpt(name), Reason: TwoColumns, Value: excerpt(s.header[first]), Against: excerpt(name),
			}
		}
		if role != "" {
			s.at[role] = i
		} else {
			s.Unused = append(s.Unused, excerpt(name))
		}
	}
	all := excerpt(strings.Join(s.header, ", "))
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		if !s.has(chosen[name]) {
			return Fault{Line: s.line, Reason: NoSuchColumn, Value: excerpt(name), Against: all}
		}
	}
	if !s.findTeams() {
		return Fault{Line: s.line, Reason: NoColumns, Value: all}
	}
	return nil
}

// foldName returns the name of a column for a comparison that ignores case and surrounding spaces.
func foldName(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// findTeams finds the columns of the players, by which it tells a file of matches from a file of
// start ratings. It reports whether the file has all columns that it needs as either of them.
func (s *sheet) findTeams() bool {
	team := func(side string) (roles []string) {
		for n := range 100 {
			if role := roleOf(side + strconv.Itoa(n)); s.has(role) {
				roles = append(roles, role)
			}
		}
		return roles
	}
	s.teams = [2][]string{team("a"), team("b")}
	if s.isWon = s.teams[0] == nil || s.teams[1] == nil; s.isWon {
		s.teams = [2][]string{team("winner"), team("loser")}
		for from, to := range map[string]string{"score_winner": "score_a", "score_loser": "score_b"} {
			if s.has(from) {
				s.at[to] = s.at[from]
			}
		}
	}
	s.keyRole = "id"
	if s.areStarts = s.teams[0] == nil || s.teams[1] == nil; s.areStarts {
		s.keyRole = "player"
		return s.has("player") && s.has("rating")
	}
	if s.has("player3") || !s.isWon && s.has("score_winner") { // their side is unclear
		return false
	}
	return s.isWon || s.has("winner") || s.has("score") || s.has("sets") || s.has("score_a") && s.has("score_b")
}
