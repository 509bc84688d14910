package bot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// teamButtons returns the buttons for other teams, and the button to report the result. The players
// do not fit into the data, so a press reads them again, in the same order, from the /teams command
// that the message replies to.
func teamButtons(n stats.Teams, _ outbox.Item, w words) [][]button {
	var turn []button
	if n.Number > 1 {
		turn = append(turn, button{text: "‹", data: teamsData(teamsCode, n.Number-1, n.Picked)})
	}
	if n.Number < n.Of {
		turn = append(turn, button{text: w.Text("button.next_teams", nil), data: teamsData(teamsCode, n.Number+1, n.Picked)})
	}
	report := []button{{text: w.Text("button.report_teams", nil), data: teamsData(reportCode, int(n.Split), n.Picked)}}
	return [][]button{turn, report}
}

// someTeams identifies the teams of a button: the number of a division, and the players picked for
// the unclear names of the command. The number is a Teams.Number, or a Teams.Split if the button
// reports a result.
type someTeams struct {
	number int
	picked []ladder.PlayerID
}

// teamsData returns the data of a button about teams, as in 1n:2 or 1n:2:1a,1b.
func teamsData(code string, number int, picked []ladder.PlayerID) string {
	if len(picked) == 0 {
		return callbackData(code, strconv.Itoa(number))
	}
	return callbackData(code, strconv.Itoa(number)+":"+showIDs(picked))
}

// parseTeams reads the arguments written by teamsData. ok is false for any other arguments.
func parseTeams(args string) (t someTeams, ok bool) {
	_, ids, _ := strings.Cut(args, ":")
	_, _ = fmt.Sscanf(args, "%d", &t.number)
	t.picked, _ = parseIDs(ids)
	isNumber := 0 < t.number && t.number <= math.MaxInt32
	return t, isNumber && teamsData(teamsCode, t.number, t.picked) == callbackData(teamsCode, args)
}

// turnTeams handles the buttons for other teams. It divides the players again, because ratings may
// have changed.
func turnTeams(r *Router, p *press, t someTeams) ranking.Operation {
	return r.teamsBelow(p, t, ranking.Ask{Question: stats.Typed{Form: stats.TeamsCommand{K: t.number}}})
}

// reportTeams handles the button to report a result of the teams. The bot then asks the user who
// pressed for the score.
func reportTeams(r *Router, p *press, t someTeams) ranking.Operation {
	return r.teamsBelow(p, t, ranking.StartTeamWizard{Split: t.number})
}

// teamsBelow returns op, and puts into the press's origin the /teams command that the message with
// the button replies to. It returns nil if that command is gone or was edited into another one.
func (r *Router) teamsBelow(p *press, t someTeams, op ranking.Operation) ranking.Operation {
	req, c, ok := r.commandBelow(p)
	if !ok || c.Name != command.NameTeams {
		return nil
	}
	req.origin.Said.Picked = t.picked
	p.origin = req.origin
	return op
}

var _ = shows(view[stats.Odds]{text: words.odds, ofLadder: true})

// odds shows each side's expected score, and how the ratings would change.
func (w words) odds(n stats.Odds) string {
	lines := []string{
		w.oddsSide(n, 0, n.Expected),
		w.oddsSide(n, 1, 100-n.Expected),
	}
	var remarks []string
	if n.Margin {
		remarks = append(remarks, w.Text("odds.narrow", nil))
	}
	var newcomers []ranking.Name
	for _, side := range n.Sides {
		for _, p := range side {
			if p.New {
				newcomers = append(newcomers, p.Name)
			}
		}
	}
	if count := len(newcomers); count > 0 {
		id, with := "odds.new",
			args{"Names": strings.Join(namesAs(newcomers, shortName), ", "), "Season": w.seasonName(n.Season, "")}
		if count > maxNewNames {
			with["Names"] = w.Plural("ranking.players", count, nil)
		}
		if n.Season > 0 {
			id = "odds.new_in_season"
		}
		remarks = append(remarks, w.Text(id, with))
	}
	if len(remarks) > 0 {
		lines = append(lines, notes(remarks...))
	}
	return strings.Join(lines, "\n")
}

// oddsSide returns a side with its average rating, its expected score and the possible rating
// changes. Players with the same changes are listed together.
func (w words) oddsSide(n stats.Odds, index, expected int) string {
	sum, side := 0, n.Sides[index]
	names := make([]ranking.Name, len(side))
	for i, p := range side {
		sum += p.Elo
		names[i] = p.Name
	}
	head := w.Text("odds.side", args{
		"Names":  "<b>" + shortNames(names) + "</b>" + w.standIns(n.StandIns[index]),
		"Rating": (sum + len(side)/2) / len(side), "Percent": expected,
	})
	var all []string // the distinct changes
	var who [][]ranking.Name
	for _, p := range side {
		changes := w.changes(p, n.Draws)
		at := slices.Index(all, changes)
		if at < 0 {
			at = len(all)
			all, who = append(all, changes), append(who, nil)
		}
		who[at] = append(who[at], p.Name)
	}
	if len(all) == 1 {
		return head + " · " + all[0]
	}
	lines := []string{head}
	for i, changes := range all {
		lines = append(lines, "• "+shortNames(who[i])+": "+changes)
	}
	return strings.Join(lines, "\n")
}

// changes says how a win, a loss and, if draws is set, a draw would change a rating.
func (w words) changes(p stats.OddsPlayer, draws bool) string {
	with := args{"Win": signed(p.Win), "Lose": signed(p.Lose)}
	if !draws {
		return w.Text("odds.changes", with)
	}
	with["Draw"] = signed(p.Draw)
	return w.Text("odds.changes_draw", with)
}

var _ = shows(view[stats.Teams]{text: words.teams, buttons: teamButtons, ofLadder: true})

func (w words) teams(n stats.Teams) string {
	title := w.Text("odds.best_teams", nil)
	if n.Number > 1 {
		title = w.Text("odds.next_teams", args{"Number": w.Number(n.Number), "Of": w.Number(n.Of)})
	}
	return title + "\n" + w.odds(n.Odds)
}
