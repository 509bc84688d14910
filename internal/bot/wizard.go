package bot

import (
	"slices"
	"strings"

	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

var _ = shows(view[ranking.OpponentPrompt]{text: words.opponentPrompt, buttons: opponentButtons, ofLadder: true})

func (w words) opponentPrompt(n ranking.OpponentPrompt) string {
	sides := args{"A": shortNames(n.Sides[0]), "B": shortNames(n.Sides[1])}
	switch {
	case len(n.Sides[1]) > 0:
		return w.Text("wizard.second_opponent", sides)
	case len(n.Sides[0]) > 1:
		return w.Text("wizard.first_opponent", sides)
	case n.Picks != nil:
		return w.Text("wizard.partner", nil)
	}
	return w.Text("wizard.opponent", nil)
}

var _ = shows(view[ranking.TogetherPrompt]{text: words.togetherPrompt, buttons: togetherButtons, ofLadder: true})

func (w words) togetherPrompt(n ranking.TogetherPrompt) string {
	return w.Text("wizard.together_or_not", args{"A": shortName(n.Pair[0]), "B": shortName(n.Pair[1])})
}

// togetherButtons returns a button for a match against each other, one for a match as a team, and
// the cancel button. The first two refer to the second person of the pair by 0, as the wizard's
// first opponent.
func togetherButtons(n ranking.TogetherPrompt, item outbox.Item, w words) [][]button {
	ref := promptRef(n.Prompt, n.Tag, item.ID)
	together := ranking.Doubles{Picks: ranking.Picks{}.With(0), Page: 1}
	return [][]button{
		{{text: w.Text("wizard.against", nil), data: promptData(ref, ranking.Choice(0))}},
		{{text: w.Text("wizard.together", nil), data: promptData(ref, together)}},
		{w.cancels(ref)},
	}
}

var _ = shows(view[ranking.NamePrompt]{text: words.namePrompt, buttons: nameButtons, ofLadder: true})

// namePrompt asks which person an opponent's name means.
func (w words) namePrompt(n ranking.NamePrompt) string {
	id := "question." + string(n.Doubt)
	if n.Guest && len(n.Opponents) == 1 {
		id = "question.new_guest"
	}
	return w.Text(id, args{"Word": showWord(n.Word)}) + " " + w.Text("wizard.name", nil)
}

var _ = shows(view[ranking.ScorePrompt]{text: words.scorePrompt, buttons: scoreButtons, ofLadder: true})

func (w words) scorePrompt(n ranking.ScorePrompt) string {
	if len(n.Teams[0]) > 0 {
		return w.Text("wizard.score_teams", args{"A": shortNames(n.Teams[0]), "B": shortNames(n.Teams[1])})
	}
	return w.Text("wizard.score", args{"Name": showName(n.Opponent)})
}

// opponentButtons returns the buttons for the opponents, two in a row. Below them is a button for
// two against two if n.Doubles is set, and then a row with the buttons for the other pages, if
// there are any, and the cancel button. While players are picked for two against two, the first
// page has a button back to the previous question.
func opponentButtons(n ranking.OpponentPrompt, item outbox.Item, w words) [][]button {
	ref, p := promptRef(n.Prompt, n.Tag, item.ID), n.Picks
	var all, last []button
	for i, name := range n.Opponents {
		choice := ranking.Choice(n.First + i)
		var option ranking.PromptOption = choice
		if p != nil {
			if p.Has(choice) {
				continue
			}
			option = ranking.Doubles{Picks: p.With(choice), Page: 1}
		}
		label := cut(drawnName(name), maxPairLabel, maxNameUnits)
		all = append(all, button{text: label, data: promptData(ref, option)})
	}
	rows := slices.Collect(slices.Chunk(all, 2))
	if n.Doubles {
		data := promptData(ref, ranking.Doubles{Page: 1})
		rows = append(rows, []button{{text: w.Text("wizard.doubles", nil), data: data}})
	}
	page := ranking.OpponentPage(n.First/ranking.OpponentsPerPage + 1)
	var before, after ranking.PromptOption = page - 1, page + 1
	if p != nil {
		before, after = ranking.Doubles{Picks: *p, Page: page - 1}, ranking.Doubles{Picks: *p, Page: page + 1}
	}
	if page > 1 || p != nil {
		last = append(last, button{text: "‹", data: promptData(ref, before)})
	}
	if n.First+len(n.Opponents) < n.Total {
		last = append(last, button{text: "›", data: promptData(ref, after)})
	}
	return append(rows, append(last, w.cancels(ref)))
}

// nameButtons returns a button for each person whom a name may mean, one per row. Below them are
// the cancel button and, if there are more opponents, a button back to the list of all opponents.
func nameButtons(n ranking.NamePrompt, _ outbox.Item, w words) [][]button {
	var rows [][]button
	ref := ranking.PromptRef{ID: n.Prompt, Tag: n.Tag}
	for i, name := range n.Opponents {
		label := w.personLabel(name, false)
		if n.Guest && i == len(n.Opponents)-1 {
			label = w.guestLabel(name)
		}
		rows = append(rows, []button{{text: label, data: promptData(ref, ranking.Choice(n.First+i))}})
	}
	var last []button
	if n.More {
		last = append(last, button{text: "‹", data: promptData(ref, ranking.OpponentPage(1))})
	}
	return append(rows, append(last, w.cancels(ref)))
}

// scoreButtons returns the buttons for scores, three in a row. Below them, two in a row, are the
// buttons for results without a score, the button for another score, the button back to the last
// pick if there were picks, and the cancel button.
func scoreButtons(n ranking.ScorePrompt, item outbox.Item, w words) [][]button {
	ref := promptRef(n.Prompt, n.Tag, item.ID)
	var scores, without []button
	for _, s := range n.Scores {
		option := ranking.ScoreAgainst{Opponent: n.At, Score: ladder.Score{A: s[0], B: s[1]}, Picks: n.Picks}
		b := button{text: w.scoreLabel(n, s), data: promptData(ref, option)}
		if !hasPoints(s) {
			without = append(without, b)
		} else {
			scores = append(scores, b)
		}
	}
	if n.Picks != (ranking.Picks{}) {
		without = append(without, button{text: "‹", data: promptData(ref, ranking.Doubles{Picks: n.Picks})})
	}
	without = append(without, w.cancels(ref))
	return slices.AppendSeq(slices.Collect(slices.Chunk(scores, 3)), slices.Chunk(without, 2))
}

// scoreLabel returns the label of a button for a score, for an outcome or for another score.
func (w words) scoreLabel(n ranking.ScorePrompt, score [2]int) string {
	outcome := outcomeOf(score)
	switch {
	case score == [2]int{ranking.OtherScore.A, ranking.OtherScore.B}:
		return w.Text("button.other_score", nil)
	case hasPoints(score):
		return writtenScore(score)
	case len(n.Teams[0]) == 0 || outcome == "drew":
		return w.Text("wizard."+outcome, nil)
	case outcome == "won":
		return winnerLabel(n.Teams[0])
	default:
		return winnerLabel(n.Teams[1])
	}
}

func winnerLabel(names []ranking.Name) string {
	all := namesAs(names, func(n ranking.Name) string { return cleanName(n.Name) })
	return "🏆 " + cut(strings.Join(all, " & "), maxPairLabel, maxNameUnits)
}
