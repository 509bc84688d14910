package bot

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/ranking"
)

// promptData returns the data of a button that answers a prompt. A prompt of an older release has no tag, and its buttons are unknown.
func promptData(ref ranking.PromptRef, option ranking.PromptOption) string {
	args := strconv.FormatInt(int64(ref.ID), 10) + ":"
	if ref.Tag != "" {
		args += string(ref.Tag) + ":"
	}
	return callbackData(promptCode, args+string(option))
}

// promptOf returns the prompt that a button answers, and the answer. ok is false for data that promptData does not produce. The
// prompt and the option need not exist.
func promptOf(data string) (ref ranking.PromptRef, option ranking.PromptOption, ok bool) {
	args, ok := argsOf(promptCode, data)
	number, rest, _ := strings.Cut(args, ":")
	tag, name, _ := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	ref, option = ranking.PromptRef{ID: ranking.PromptID(n), Tag: ranking.MatchTag(tag)}, ranking.PromptOption(name)
	if !ok || err != nil || n <= 0 || tag == "" || promptData(ref, option) != data {
		return ranking.PromptRef{}, "", false
	}
	return ref, option, true
}

// AnswersPrompt reports whether a button with this data answers a question of the bot. Some questions are also answered by a reply to
// the message that has the button.
func AnswersPrompt(data string) bool {
	_, _, ok := promptOf(data)
	return ok
}

// undoPromptButtons returns the buttons below the question whether to undo a match. The id of a prompt is that of the item that
// asks.
func undoPromptButtons(n ranking.UndoPrompt, item int64, w words) [][]button {
	if item == 0 {
		return nil
	}
	ref := ranking.PromptRef{ID: ranking.PromptID(item), Tag: n.Tag}
	return [][]button{{
		{text: w.undo(), data: promptData(ref, ranking.OptionUndo)}, {text: w.cancel(), data: promptData(ref, ranking.OptionCancel)},
	}}
}

// How many characters of a name the label of a button shows: alone, with a word in front, and two in a row.
const (
	maxLabel     = 28
	maxNewLabel  = 18
	maxPairLabel = 13
)

// reportPromptButtons returns the buttons below the question what a report means: a person or a result in each row, or the numbers of
// the readings that the question lists.
func reportPromptButtons(n ranking.ReportPrompt, item int64, w words) [][]button {
	if item == 0 {
		return nil
	}
	ref := ranking.PromptRef{ID: ranking.PromptID(item), Tag: n.Tag}
	var rows [][]button
	numbers := make([]button, 0, len(n.Options)+1)
	results := w.resultLabels(n)
	for i, o := range n.Options {
		data := promptData(ref, ranking.PromptOption(strconv.Itoa(i)))
		switch {
		case differByPerson(n):
			rows = append(rows, []button{{text: w.personLabel(*o.Who, o.New), data: data}})
		case n.Doubt == ranking.DoubtDuplicate:
			numbers = append(numbers, button{text: w.Text("button.another_game", nil), data: data})
		case results != nil:
			rows = append(rows, []button{{text: results[i], data: data}})
		default:
			numbers = append(numbers, button{text: strconv.Itoa(i + 1), data: data})
		}
	}
	return append(rows, append(numbers, button{text: w.cancel(), data: promptData(ref, ranking.OptionCancel)}))
}

// whichPromptButtons returns the buttons below the question which match is to be undone: four numbers in a row.
func whichPromptButtons(n ranking.WhichPrompt, item int64, w words) [][]button {
	if item == 0 {
		return nil
	}
	ref := ranking.PromptRef{ID: ranking.PromptID(item), Tag: n.Tag}
	var rows [][]button
	for i, m := range n.Matches {
		if i%4 == 0 {
			rows = append(rows, nil)
		}
		b := button{text: w.matchNumber(m.Number), data: promptData(ref, ranking.PromptOption(strconv.Itoa(i)))}
		rows[len(rows)-1] = append(rows[len(rows)-1], b)
	}
	return append(rows, []button{{text: w.cancel(), data: promptData(ref, ranking.OptionCancel)}})
}

// personLabel returns the label of a button for a person.
func (w words) personLabel(n ranking.Name, isNew bool) string {
	label := cleanName(n.Name)
	if n.Mark != "" {
		label += " (" + cleanName(n.Mark) + ")"
	}
	if isNew {
		return w.Text("button.new_player", args{"Name": cut(label, maxNewLabel, maxNameUnits)})
	}
	return cut(label, maxLabel, maxNameUnits)
}

// pressPrompt handles the buttons below a prompt. Like turning, it edits only messages that have such buttons.
func (r *Router) pressPrompt(ctx context.Context, p press) error {
	ref, option, ok := promptOf(p.query.Data)
	if !ok || !slices.Contains(r.buttonsBelow(p.query.Message), p.query.Data) {
		return r.unknownButton(ctx, p.origin)
	}
	return r.rankings.AnswerPrompt(ctx, p.origin, ranking.PromptAnswer{
		Prompt: ref, Option: option, Message: p.query.Message.ID, IsAdmin: r.isAdmin(p.origin),
	})
}
