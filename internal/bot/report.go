package bot

import (
	"context"
	"strconv"
	"strings"
	"unicode"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

func resultsFeature() feature {
	return feature{
		commands: []Command{{
			Name: command.NameMatch, Aliases: []string{command.NameWon, "win", command.NameLost, "lose", command.NameDraw, "result", "game"},
			Where: InGroups, Handle: (*Router).match, Topic: aboutResults, Short: true, OfLadder: true,
		}},
	}
}

// match handles /match, /won, /lost and /draw. Without anything else, a wizard asks for the result.
func (r *Router) match(ctx context.Context, req request) error {
	if req.command.Args == "" && !req.command.SaysWhoWon() {
		return r.startWizard(ctx, req)
	}
	// Most results mention everybody, and have no other words than "gg": they can be read without the players of the group.
	said := req.reading(nil)
	isUnread := said.Malformed != nil || said.Ambiguous != nil && said.Ambiguous.Doubt == command.DoubtLine
	if req.origin.Names && (req.command.LikelyNamesPlayers() || isUnread) {
		noScore := !strings.ContainsFunc(req.command.Args, unicode.IsNumber)
		read := func(everybody []command.Person) ranking.Reading {
			return req.reading(command.NewNames(everybody))
		}
		return r.rankings.Do(ctx, req.origin, ranking.ReadReport{Read: read, NoScore: noScore})
	}
	req.origin.Names = false
	return r.rankings.Do(ctx, req.origin, ranking.ReadReport{Read: func([]command.Person) ranking.Reading { return said }})
}

// reading returns what a result says. If names is nil, only people who are mentioned are read; a group without players has names, but none
// that is known.
func (req request) reading(names *command.Names) ranking.Reading {
	report, err := req.parse(names)
	if err != nil {
		form, _ := wrongForm(req.command, err)
		form.Corrected, _ = command.Correct(req.command, req.sender(), req.repliedPerson(), names, err)
		reading := ranking.Reading{Malformed: form}
		if form.Reason == command.ReasonNoScore {
			if m, err := command.ParseSides(req.command, req.sender(), req.repliedPerson(), names); err == nil {
				reading.Unscored = &m
			}
		}
		return reading
	}
	if report.Doubt == command.DoubtNone {
		return ranking.Reading{Reports: report.Readings[0]}
	}
	return ranking.Reading{Ambiguous: &report}
}

// parse reads the result in a command. Every error is a *command.FormError.
func (req request) parse(names *command.Names) (command.Report, error) {
	return command.ParseMatch(req.command, req.sender(), req.repliedPerson(), names)
}

// parseNames does what parse does. A word such as "gg" is a name only if the result cannot be read otherwise.
func (req request) parseNames(everybody []command.Person) (command.Report, error) {
	if !req.command.LikelyNamesPlayers() {
		if report, err := req.parse(nil); err == nil && report.Doubt != command.DoubtLine {
			return report, nil
		}
	}
	return req.parse(command.NewNames(everybody))
}

// sender returns who sent the command, whoever presses a button below its answer; the zero Person for an anonymous admin.
func (req request) sender() command.Person {
	if req.message.isAnonymousAdmin() {
		return command.Person{}
	}
	return req.message.From.mentioned()
}

// repliedPerson returns who is the opponent if the command names nobody: the author of the message that it replies to.
func (req request) repliedPerson() *command.Person {
	if req.opponent != nil {
		return req.opponent
	}
	return req.message.repliedPerson()
}

var _ = shows(view[ranking.NotRecorded]{text: words.notRecorded})

// notRecorded lists as many rejected results as fit into a message, and counts the others.
func (w words) notRecorded(n ranking.NotRecorded) string {
	var s several
	for _, item := range n.Items {
		if !s.addLine("• "+w.rejectedResult(item), 0, 0) {
			break
		}
	}
	lines := append([]string{w.Plural("not_recorded.title", n.Limit, nil)}, s.lines...)
	if more := len(n.Items) - len(s.lines) + n.More; more > 0 {
		lines = append(lines, w.Plural("not_recorded.more", more, nil))
	}
	return strings.Join(append(lines, "", w.Plural("not_recorded.again", n.Limit, nil)), "\n")
}

// rejectedResult returns a line about a result that was not recorded, undone or corrected.
func (w words) rejectedResult(d ranking.RejectedResult) string {
	if len(d.Sides[0]) > 0 && !hasPoints(d.Score) {
		return w.namedResult(d.NamedResult)
	}
	if len(d.Sides[0]) > 0 {
		return w.Text("not_recorded.result", args{
			"A": w.reportedSide(d.Sides[0]), "B": w.reportedSide(d.Sides[1]), "Score": showScore(d.Score) + brackets(showSets(d.Sets)),
		})
	}
	parts := []string{"/" + d.Command}
	if d.Number != 0 {
		parts = append(parts, strconv.Itoa(d.Number))
	}
	switch {
	case d.Malformed || d.Command != command.NameFix:
	case len(d.Sets) > 0:
		parts = append(parts, showSets(d.Sets))
	default:
		parts = append(parts, w.scoreAlone(d.Score))
	}
	written := "<code>" + strings.Join(parts, " ") + "</code>"
	switch {
	case d.Malformed:
		return w.Text("not_recorded.malformed", args{"Command": written})
	case d.Last && d.Command == command.NameRestore:
		return w.Text("not_recorded.last_undone", args{"Command": written})
	case d.Last:
		return w.Text("not_recorded.last_match", args{"Command": written})
	default:
		return written
	}
}

// reportedSide returns the players of a side as reported, or the first of them and the number of the others.
func (w words) reportedSide(players []ranking.Name) string {
	return w.side(namesAs(players, showName), maxSideNames, shortSideNames)
}
