package bot

import (
	"slices"
	"strings"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

const nameLadder = "ladder"

// typedLadder handles "/ladder", "/ladder new padel", "/ladder use padel", "/ladder use none",
// "/ladder rename padel tennis" and "/ladder archive padel".
func typedLadder(_ *Router, req request) ranking.Operation {
	words := req.origin.Said.Unquoted()
	var change ranking.ChangeLadder
	if len(words) > 0 {
		change.Change, change.Name = ranking.LadderChange(strings.ToLower(words[0])), strings.Join(words[1:], " ")
	}
	changes := []ranking.LadderChange{ranking.AddLadder, ranking.UseLadder, ranking.RenameLadder, ranking.ArchiveLadder}
	isChange := slices.Contains(changes, change.Change) && change.Name != "" && len(req.origin.Said.Mentions) == 0
	if change.Change != ranking.ListLadders && !isChange {
		return ranking.Say{Notice: Help{Topic: nameLadder}}
	}
	if change.Change == ranking.UseLadder && strings.EqualFold(change.Name, "none") {
		change.Change = ranking.UnbindTopic
	}
	return change
}

// pressRename handles the buttons below a RenamePrompt. The cancel button carries no name, and
// changes nothing.
func pressRename(_ *Router, _ *press, name string) ranking.Operation {
	if name == "" {
		return ranking.ChangeLadder{}
	}
	return ranking.ChangeLadder{Change: ranking.RenameLadder, Name: name, Sure: true}
}

// anyName accepts any arguments: a button below a question about a ladder carries the ladder's
// name, or nothing.
func anyName(args string) (name string, ok bool) { return args, true }

var _ = shows(view[ranking.FirstLadderPrompt]{text: words.firstLadderPrompt, buttons: firstLadderButtons})

func (w words) firstLadderPrompt(n ranking.FirstLadderPrompt) string {
	return w.Text("ladder.first", args{"Name": showText(n.Name)})
}

// firstLadderButtons returns the cancel button. Its data also carries the name of the new ladder,
// for a member who replies to the question.
func firstLadderButtons(n ranking.FirstLadderPrompt, _ outbox.Item, w words) [][]button {
	return [][]button{{{text: w.cancel(), data: callbackData(ladderCode, n.Name)}}}
}

var _ = shows(view[ranking.RenamePrompt]{text: words.renamePrompt, buttons: renameButtons})

func (w words) renamePrompt(n ranking.RenamePrompt) string {
	return w.Text("ladder.call", args{"Name": showText(n.Name)})
}

func renameButtons(n ranking.RenamePrompt, _ outbox.Item, w words) [][]button {
	return [][]button{
		{{text: n.Name, data: callbackData(renameCode, n.Name)}},
		{{text: w.cancel(), data: callbackData(renameCode, "")}},
	}
}

var _ = shows(view[ranking.LadderList]{text: words.ladderList})

func (w words) ladderList(n ranking.LadderList) string {
	if len(n.Ladders) == 1 && n.Ladders[0].Name == "" {
		return w.Text("ladder.only", nil)
	}
	lines := []string{w.Text("ladder.title", nil)}
	for _, l := range n.Ladders {
		marks := []string{"<b>" + showText(l.Name) + "</b>"}
		for _, m := range []struct {
			id string
			is bool
		}{{"here", l.Here}, {"default", l.Default}, {"archived", l.Archived}} {
			if m.is {
				marks = append(marks, w.Text("ladder."+m.id, nil))
			}
		}
		if l.Topics > 0 {
			marks = append(marks, w.Plural("ladder.topics", l.Topics, nil))
		}
		lines = append(lines, "• "+strings.Join(marks, " · "))
	}
	return strings.Join(lines, "\n")
}

var _ = shows(view[ranking.LadderChanged]{text: words.ladderChanged, line: words.ladderChanged})

func (w words) ladderChanged(n ranking.LadderChanged) string {
	id, with := "ladder."+string(n.Change),
		args{"Name": showText(n.Name), "Code": codeText(n.Name), "Other": showText(n.Was + n.First)}
	switch {
	case n.Change == ranking.AddLadder && n.First != "":
		id = "ladder.new_and_first"
	case n.Change == ranking.RenameLadder && n.Was == "":
		id = "ladder.named"
	case n.Change == ranking.UseLadder && n.Topic:
		id = "ladder.use_in_topic"
	}
	text := w.Text(id, with)
	if n.Again {
		text += " " + w.Text("ladder.again", nil)
	}
	return text
}

var _ = shows(view[ranking.MatchMoved]{text: words.matchMoved, line: words.movedLine})

func (w words) matchMoved(n ranking.MatchMoved) string {
	with := args{"Number": n.Number, "Result": w.result(n.Sides, n.Sets), "From": showText(n.From), "To": showText(n.To)}
	text := w.textBy("move.card_by", n.By, with)
	for _, ladder := range []struct {
		name  string
		moved ranking.Moved
	}{{n.From, n.Moved}, {n.To, n.Into}} {
		text += "\n\n<b>" + showText(ladder.name) + "</b>\n" + w.movements(ladder.moved)
	}
	return text
}

func (w words) movedLine(n ranking.MatchMoved) string {
	with := args{"Number": n.Number, "Result": w.resultOf(n.Sides, w.plainSide),
		"From": showText(n.From), "To": showText(n.To)}
	return w.textBy("move.card_by", n.By, with)
}

var _ = shows(view[ranking.MoveHint]{text: words.moveHint, line: words.moveHint, personal: true})

func (w words) moveHint(n ranking.MoveHint) string {
	return w.Text("move.hint",
		args{"Number": n.Number, "In": showText(n.In), "To": showText(n.To), "Code": codeText(n.To)})
}
