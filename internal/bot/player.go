package bot

import (
	"fmt"
	"strconv"
	"strings"

	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// player handles "/stats", "/stats @bobby" and "/me".
func player(_ *Router, req request) ranking.Operation {
	switch {
	case req.origin.Chat.IsGroup():
		return ranking.Ask{Question: stats.Typed{Form: stats.PersonCommand{}}}
	case req.origin.Said.Args != "":
		return ranking.Say{Notice: GroupOnly{Command: "stats @bobby"}}
	default:
		return ranking.Ask{Question: stats.StandingsQuestion{}}
	}
}

func playerData(code string, player ladder.PlayerID) string {
	return callbackData(code, strconv.FormatInt(int64(player), 10))
}

// parsePlayer reads the arguments written by playerData. ok is false for any other arguments.
func parsePlayer(args string) (player ladder.PlayerID, ok bool) {
	player, ok = parseID[ladder.PlayerID](args)
	return player, ok && player > 0
}

// playerButtons returns the buttons below a player's page. A page has no buttons for a player who
// has never played in the ladder, or whose id is missing.
func playerButtons(n stats.PlayerStanding, _ outbox.Item, w words) [][]button {
	if n.Played() == 0 && !playedBefore(n) || n.Name.Player == 0 {
		return nil
	}
	return [][]button{
		{
			{text: w.Text("button.matches", nil), data: matchesData(historyCode, stats.MatchesQuestion{Player: n.Name.Player})},
			{text: w.Text("button.against_you", nil), data: playerData(againstCode, n.Name.Player)},
		},
		{{text: w.Text("button.chart", nil), data: playerData(postChartCode, n.Name.Player)}},
	}
}

var _ = shows(view[stats.MyStandings]{text: words.myStandings, buttons: myStandingsButtons})

func myStandingsButtons(n stats.MyStandings, _ outbox.Item, w words) [][]button {
	if len(n.Groups) > 0 {
		return nil
	}
	return inviteButton(w)
}

func (w words) myStandings(n stats.MyStandings) string {
	if len(n.Groups) == 0 {
		return w.Text("me.nowhere", nil)
	}
	lines := []string{w.Text("me.groups", nil)}
	for _, g := range n.Groups {
		lines = append(lines, w.groupStanding(g))
	}
	if n.More > 0 {
		lines = append(lines, w.Plural("me.more_groups", n.More, nil))
	}
	return strings.Join(append(lines, "<i>"+w.Text("me.legend", nil)+"</i>"), "\n")
}

func (w words) groupStanding(g stats.GroupStanding) string {
	title := w.Text("me.unnamed", nil)
	if g.Title != "" {
		title = showText(g.Title)
	}
	place := w.Text("me.place", args{"Place": g.Position, "Total": g.Total})
	switch {
	case g.Position > 0:
	case g.Played() < g.PlaceMatches:
		place = w.Text("ranking.new", nil)
	case g.Inactive:
		place = w.Text("me.away", nil)
	default:
		place = w.Text("me.no_places", nil)
	}
	return w.Text("me.group", args{
		"Title": title, "Place": place, "Rating": g.Elo, "Results": wonLost(g.Won, g.Drawn, g.Lost, g.NoDraws),
	})
}

var _ = shows(view[stats.PlayerStanding]{
	text: words.player, table: words.playerTable, buttons: playerButtons, ofLadder: true,
})

// playedBefore reports whether the ladder has several seasons, and the player has played in any of
// them.
func playedBefore(n stats.PlayerStanding) bool { return n.Season != nil && n.Season.Last > 0 }

func (w words) player(n stats.PlayerStanding) string {
	if n.Played() == 0 && !n.Left {
		return w.whereStands(n)
	}
	head := []string{w.whereStands(n)}
	if s := n.Season; s != nil {
		since := w.Text("records.since", args{"Date": w.Date(s.Since)})
		head = append(head, notes(capitalized(w.seasonName(s.Number, s.Name)), since))
	}
	facts := append(head, w.factLines(w.playerFacts(n))...)
	return paragraphs(facts, w.lastLines("me.last", n.Last), w.factLines(w.othersFacts(n)))
}

// whereStands says which place a player has, or why there is none.
func (w words) whereStands(n stats.PlayerStanding) string {
	id, with := "me.standing", args{
		"Name": showName(n.Name), "Place": n.Position, "Total": n.Total, "Rating": n.Elo,
		"Matches": w.Plural("me.matches", n.PlaceMatches, args{"Played": n.Played()}),
	}
	switch {
	case n.Left:
		id = "me.left"
	case n.Played() == 0 && playedBefore(n):
		id = "me.played_before"
		with["Season"], with["Last"] = w.seasonName(n.Season.Number, ""), w.seasonName(n.Season.Last, "")
	case n.Played() == 0:
		id = "me.not_played"
	case n.Played() < n.PlaceMatches:
		id = "me.newcomer"
	case n.Inactive:
		id = "me.inactive"
	case n.Position == 0:
		id = "me.unplaced"
	}
	if n.Other {
		id += "_of"
	}
	return w.Text(id, with)
}

// playerFacts returns the facts about a player that involve no other players.
func (w words) playerFacts(n stats.PlayerStanding) []fact {
	if n.Played() == 0 {
		return nil
	}
	best := strconv.Itoa(n.Best)
	if n.BestIn != nil {
		best = w.inMatch(best, *n.BestIn)
	}
	facts := []fact{w.fact("best", best)}
	if s := n.Season; s != nil && s.BestIn != s.Number {
		facts = append(facts, w.fact("best_ever", fmt.Sprintf("%d · %s", s.Best, w.seasonName(s.BestIn, ""))))
	}
	facts = append(facts, w.resultsFact(n.Won, n.Drawn, n.Lost, n.NoDraws))
	if len(n.Form) > 1 {
		facts = append(facts, w.fact("form", w.form(n.Form)))
	}
	switch {
	case n.Streak > 1:
		facts = append(facts, w.fact("streak", w.Plural("me.wins", n.Streak, nil)))
	case n.Streak < -1:
		facts = append(facts, w.fact("streak", w.Plural("me.losses", -n.Streak, nil)))
	}
	return facts
}

// form returns the last results as letters in the language of w.
func (w words) form(form string) string {
	ids := map[rune]string{'w': "me.letter.won", 'd': "me.letter.drawn", 'l': "me.letter.lost"}
	var letters []string
	for _, r := range form {
		if id, ok := ids[r]; ok {
			letters = append(letters, w.Text(id, nil))
		}
	}
	return strings.Join(letters, " ")
}

// othersFacts returns the facts about a player that involve opponents or partners.
func (w words) othersFacts(n stats.PlayerStanding) (facts []fact) {
	if n.Most != nil {
		matches := w.Plural("facts.matches", n.Most.Played, nil)
		facts = append(facts, w.fact("most", boldName(n.Most.With)+" · "+matches))
	}
	add := func(label string, p *stats.Pairing) {
		if p != nil {
			facts = append(facts, w.fact(label, boldName(p.With)+" · "+wonLost(p.Won, p.Drawn, p.Lost, n.NoDraws)))
		}
	}
	add("favorite", n.Favorite)
	add("hardest", n.Hardest)
	add("partner", n.Partner)
	if n.Upset != nil {
		higher := w.Text("facts.rated_higher", args{"Names": w.boldNames(n.Upset.Beaten), "By": n.Upset.By})
		facts = append(facts, w.fact("upset", w.inMatch(higher, n.Upset.MatchRef)))
	}
	return facts
}

// playerTable renders player as a table. It is empty for players who have left, are inactive or
// have not played in this season.
func (w words) playerTable(n stats.PlayerStanding) string {
	if n.Left || n.Inactive || n.Played() == 0 {
		return ""
	}
	var head []fact
	remark := ""
	if n.Position > 0 {
		place := w.Text("table.place_of", args{"Place": n.Position, "Total": n.Total})
		head = append(head, fact{w.Text("table.place", nil), place})
	} else {
		remark = w.placesBegin(n.PlaceMatches, n.Played() >= n.PlaceMatches)
	}
	if s := n.Season; s != nil {
		since := w.Text("records.since", args{"Date": w.Date(s.Since)})
		head = append(head, fact{capitalized(w.seasonName(s.Number, s.Name)), since})
	}
	head = append(head, fact{w.Text("table.rating", nil), strconv.Itoa(n.Elo)})
	return factTable(boldName(n.Name), remark, head, w.playerFacts(n), w.playedMatches(n.Last), w.othersFacts(n))
}
