package bot

import (
	"elobot/internal/outbox"
	"elobot/internal/stats"
)

// headToHeadButtons returns the button that leads back to a player's page, if the comparison was
// opened from there.
func headToHeadButtons(n stats.HeadToHead, _ outbox.Item, w words) [][]button {
	if n.Back == 0 {
		return nil
	}
	return [][]button{{{text: w.Text("button.back", nil), data: playerData(playerCode, n.Back)}}}
}

var _ = shows(view[stats.HeadToHead]{text: words.headToHead, table: words.headToHeadTable,
	buttons: headToHeadButtons, ofLadder: true})

// headToHead shows the results of two players against each other, or says that one of them has not
// played in the ladder.
func (w words) headToHead(n stats.HeadToHead) string {
	if n.Stranger.Player != 0 {
		return w.Text("me.not_played_of", args{"Name": showName(n.Stranger)})
	}
	title := w.headToHeadTitle(n)
	if n.Met() == 0 && len(n.Last) == 0 {
		return paragraphs([]string{title, w.Text("h2h.never", nil)}, w.factLines([]fact{w.expected(n)}))
	}
	return paragraphs(append([]string{title}, w.factLines(w.headToHeadFacts(n))...), w.lastLines("h2h.last", n.Last))
}

func (w words) headToHeadTitle(n stats.HeadToHead) string {
	return w.Text("h2h.title", args{"A": boldName(n.A), "B": boldName(n.B)})
}

// headToHeadFacts returns the facts from the first player's point of view.
func (w words) headToHeadFacts(n stats.HeadToHead) []fact {
	facts := []fact{w.fact("meetings", w.Number(n.Met())), w.resultsFact(n.Won, n.Drawn, n.Lost, n.NoDraws)}
	if t := n.InTeams; t != [3]int{} {
		facts = append(facts, w.fact("in_teams", wonLost(t[0], t[1], t[2], n.NoDraws)))
	}
	if points := n.Points(); points != "" {
		facts = append(facts, w.fact("points", points))
	}
	return append(facts, w.fact("net", signed(n.Gained)), w.expected(n))
}

// expected returns the first player's expected score as a fact.
func (w words) expected(n stats.HeadToHead) fact { return w.fact("expected", w.percent(n.Expected)) }

// percent formats ten-thousandths as a whole percentage from 1 to 99. It never shows 0 or 100,
// because the match can still go either way.
func (w words) percent(tenThousandths int) string {
	return w.Text("number.percent", args{"Number": min(max((tenThousandths+50)/100, 1), 99)})
}

// headToHeadTable renders headToHead as a table. It is empty for two players who have not met.
func (w words) headToHeadTable(n stats.HeadToHead) string {
	if n.Met() == 0 {
		return ""
	}
	return factTable(w.headToHeadTitle(n), "", w.headToHeadFacts(n), w.playedMatches(n.Last))
}
