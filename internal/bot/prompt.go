package bot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// promptData returns the data of a button that answers a prompt. ref must have a tag. Without one,
// promptOf may mistake part of the option for the tag.
func promptData(ref ranking.PromptRef, option ranking.PromptOption) string {
	args := strconv.FormatInt(int64(ref.ID), 10) + ":"
	if ref.Tag != "" {
		args += string(ref.Tag) + ":"
	}
	return callbackData(promptCode, args+optionData(option))
}

// optionData formats an option for button data.
func optionData(option ranking.PromptOption) string {
	switch o := option.(type) {
	case ranking.Choice:
		return strconv.Itoa(int(o))
	case ranking.OpponentPage:
		return fmt.Sprintf("p%d", o)
	case ranking.ScoreAgainst:
		data := fmt.Sprintf("s%d-%d:%d", o.Opponent, o.Score.A, o.Score.B)
		if l := o.Picks; l != (ranking.Picks{}) {
			data += fmt.Sprintf(".%d.%d.%d", l[0], l[1], l[2])
		}
		return data
	case ranking.Doubles:
		return fmt.Sprintf("d%d.%d.%dp%d", o.Picks[0], o.Picks[1], o.Picks[2], o.Page)
	case ranking.Complete:
		return "complete"
	case ranking.ImportChoice:
		return string(o)
	default:
		return "cancel"
	}
}

// optionOf parses the format of optionData. The result for any other text is unspecified.
func optionOf(text string) ranking.PromptOption {
	var choice ranking.Choice
	var page ranking.OpponentPage
	var score ladder.Score
	var l ranking.Picks
	if n, _ := fmt.Sscanf(text, "s%d-%d:%d.%d.%d.%d", &choice, &score.A, &score.B, &l[0], &l[1], &l[2]); n >= 3 {
		return ranking.ScoreAgainst{Opponent: choice, Score: score, Picks: l}
	}
	if _, err := fmt.Sscanf(text, "d%d.%d.%dp%d", &l[0], &l[1], &l[2], &page); err == nil {
		return ranking.Doubles{Picks: l, Page: page}
	}
	if _, err := fmt.Sscanf(text, "p%d", &page); err == nil {
		return page
	}
	if _, err := fmt.Sscanf(text, "%d", &choice); err == nil {
		return choice
	}
	if text == "complete" {
		return ranking.Complete{}
	}
	if choice := ranking.ImportChoice(text); slices.Contains(ranking.ImportChoices(), choice) {
		return choice
	}
	return ranking.Cancel{}
}

// promptOf returns the prompt that a button answers, and the answer. It ignores a ladder in the
// data. ok is false for data without a tag, and for data that promptData does not produce. The
// prompt and the option need not exist.
func promptOf(data string) (ref ranking.PromptRef, option ranking.PromptOption, ok bool) {
	data, _, _ = strings.Cut(data, ladderMark)
	args, ok := argsOf(promptCode, data)
	number, rest, _ := strings.Cut(args, ":")
	tag, text, _ := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	ref, option = ranking.PromptRef{ID: ranking.PromptID(n), Tag: ranking.MatchTag(tag)}, optionOf(text)
	if !ok || err != nil || n <= 0 || tag == "" || promptData(ref, option) != data {
		return ranking.PromptRef{}, nil, false
	}
	return ref, option, true
}

// AnswersPrompt reports whether a button with this data answers a prompt. People can also answer
// some prompts by replying to the message that has the button.
func AnswersPrompt(data string) bool {
	_, _, ok := promptOf(data)
	return ok
}

// promptRef returns the reference to a prompt. If id is 0, the prompt has the id of item, the first
// item of its message.
func promptRef(id ranking.PromptID, tag ranking.MatchTag, item int64) ranking.PromptRef {
	return ranking.PromptRef{ID: cmp.Or(id, ranking.PromptID(item)), Tag: tag}
}

// The maximum numbers of characters of a name or of a result on a button.
const (
	maxLabel     = 28 // alone in its row
	maxNewLabel  = 18 // alone in its row, with other words
	maxPairLabel = 13 // one of two in a row
)

// reportPromptButtons returns the buttons below the question of what a report means. There is a
// button for each option, one to complete the earlier match if n.Completes is set, and the cancel
// button. If the options differ by their results, and these do not fit on buttons, the buttons show
// numbers, and the text lists the results.
func reportPromptButtons(n ranking.ReportPrompt, item outbox.Item, w words) [][]button {
	ref := promptRef(n.Prompt, n.Tag, item.ID)
	var rows [][]button
	numbers := make([]button, 0, len(n.Options)+1)
	results := w.resultLabels(n)
	for i, o := range n.Options {
		data := promptData(ref, ranking.Choice(i))
		switch {
		case differByPerson(n) && o.Guest:
			rows = append(rows, []button{{text: w.guestLabel(*o.Who), data: data}})
		case differByPerson(n):
			rows = append(rows, []button{{text: w.personLabel(*o.Who, o.New), data: data}})
		case n.Doubt == ranking.DoubtPlayers:
			numbers = append(numbers, button{text: w.Text("button.replace", nil), data: data})
		case n.Doubt == command.DoubtLine:
			rows = append(rows, []button{{text: w.Plural("button.record_others", len(o.Results), nil), data: data}})
		case n.Doubt == ranking.DoubtGame:
			rows = append(rows, []button{{text: cleanName(o.Ladder), data: data}})
		case n.Doubt == ranking.DoubtDuplicate && i > 0:
			rows = append(rows,
				[]button{{text: cut(plain(w.namedResults(o.Results, "; ", maxListed)), maxLabel, maxNameUnits), data: data}})
		case n.Doubt == ranking.DoubtDuplicate && len(n.Options) > 1:
			numbers = append(numbers, button{text: w.Text("button.other_games", nil), data: data})
		case n.Doubt == ranking.DoubtDuplicate:
			numbers = append(numbers, button{text: w.Text("button.another_game", nil), data: data})
		case results != nil:
			rows = append(rows, []button{{text: results[i], data: data}})
		default:
			numbers = append(numbers, button{text: strconv.Itoa(i + 1), data: data})
		}
	}
	if n.Completes {
		result := n.Options[0].Results[0]
		label := w.Text("button.complete", args{"Number": n.Earlier.Number, "Score": showScore(result.Score)})
		rows = append(rows, []button{{text: label, data: promptData(ref, ranking.Complete{})}})
	}
	return append(rows, append(numbers, w.cancels(ref)))
}

func (w words) cancels(ref ranking.PromptRef) button {
	return button{text: w.cancel(), data: promptData(ref, ranking.Cancel{})}
}

func (w words) personLabel(n ranking.Name, isNew bool) string {
	if isNew {
		return w.Text("button.new_player", args{"Name": cut(drawnName(n), maxNewLabel, maxNameUnits)})
	}
	return cut(drawnName(n), maxLabel, maxNameUnits)
}

func (w words) guestLabel(n ranking.Name) string {
	return w.Text("button.new_guest", args{"Name": cut(drawnName(n), maxNewLabel, maxNameUnits)})
}

// pressPrompt handles the buttons below a prompt. Forged data must not replace another message, so
// the message must have the pressed button.
func pressPrompt(r *Router, p *press) ranking.Operation {
	ref, option, ok := promptOf(p.query.Data)
	if !ok || !slices.Contains(r.buttonsBelow(p.query.Message), p.query.Data) {
		return nil
	}
	return ranking.PromptAnswer{Prompt: ref, Option: option}
}

var _ = shows(view[ranking.ReportPrompt]{text: words.reportPrompt, buttons: reportPromptButtons, ofLadder: true})

// reportPrompt asks what a report means. The text lists the options if the buttons show only their
// numbers.
func (w words) reportPrompt(n ranking.ReportPrompt) string {
	question := w.question(n)
	one := []command.Doubt{ranking.DoubtGame, ranking.DoubtDuplicate, command.DoubtLine, ranking.DoubtPlayers}
	asksOne := slices.Contains(one, n.Doubt)
	if asksOne || differByPerson(n) || w.resultLabels(n) != nil {
		return question
	}
	lines := []string{question}
	for i, o := range n.Options {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, w.namedResults(o.Results, "; ", maxListed/len(n.Options))))
	}
	return strings.Join(lines, "\n")
}

// differByPerson reports whether each option of a question stands for a person.
func differByPerson(n ranking.ReportPrompt) bool {
	return !slices.ContainsFunc(n.Options, func(o ranking.ReportOption) bool { return o.Who == nil })
}

// resultLabels returns a button label for each option: its results. It returns nil if a label does
// not fit on a button.
func (w words) resultLabels(n ranking.ReportPrompt) (labels []string) {
	for _, o := range n.Options {
		label := plain(w.namedResults(o.Results, "; ", maxListed))
		if cut(label, maxLabel, maxNameUnits) != label {
			return nil
		}
		labels = append(labels, label)
	}
	return labels
}

func (w words) question(n ranking.ReportPrompt) string {
	id := "question." + string(n.Doubt)
	if n.Options[0].Guest {
		id = "question.new_guest"
	}
	switch n.Doubt {
	case ranking.DoubtDuplicate:
		lines := []string{w.repeated(id, *n.Earlier)}
		for _, e := range n.MoreEarlier {
			lines = append(lines, w.repeated(id, e))
		}
		return joinUpTo(maxListed, lines, "\n")
	case ranking.DoubtPlayers:
		return w.Text(id, args{"Number": n.Earlier.Number, "Old": w.namedResult(*n.Earlier.Result),
			"New": w.namedResult(n.Options[0].Results[0])})
	case command.DoubtName, command.DoubtUnknownName, command.DoubtLine:
		return w.Text(id, args{"Word": showWord(n.Word)})
	case ranking.DoubtLineup:
		return w.Text(id, args{"Number": n.Earlier.Number})
	case ranking.DoubtGame:
		return w.Text(id, args{"Word": showWord(n.Word), "Ladder": showText(n.Options[0].Ladder)})
	case ranking.DoubtUsername:
		return w.Text(id, args{"Word": showText("@" + n.Word)})
	default:
		return w.Text(id, nil)
	}
}

// repeated says that a result was reported before, and shows the result if e has it. id is the
// catalog id of the question, without its suffix.
func (w words) repeated(id string, e ranking.EarlierReport) string {
	with := args{"Number": e.Number}
	question := w.textBy(id+"_by", e.By, with)
	if e.Same {
		question = w.Text(id+"_same", with)
	}
	if e.Result != nil {
		return w.namedResult(*e.Result) + "\n" + question
	}
	return question
}

// namedResults joins as many results as fit into room UTF-16 units, and replaces the others with an
// ellipsis.
func (w words) namedResults(all []ranking.NamedResult, separator string, room int) string {
	lines := make([]string, len(all))
	for i, r := range all {
		lines[i] = w.namedResult(r)
	}
	return joinUpTo(room, lines, separator)
}

func (w words) namedResult(r ranking.NamedResult) string {
	return w.reportedSide(r, 0) + " " + showScore(r.Score) + " " + w.reportedSide(r, 1) + brackets(showSets(r.Sets))
}

// joinUpTo joins as many texts as fit into room UTF-16 units, and replaces the others with an
// ellipsis.
func joinUpTo(room int, all []string, separator string) string {
	for i, text := range all {
		if room -= utf16Length(plain(text)) + utf16Length(separator); room < 0 {
			return strings.Join(append(slices.Clone(all[:i]), "…"), separator)
		}
	}
	return strings.Join(all, separator)
}

var _ = shows(view[ranking.ReportChosen]{text: words.reportChosen})

func (w words) reportChosen(n ranking.ReportChosen) string {
	return "✓ " + w.namedResults(n.Results, "\n✓ ", maxListed)
}

var _ = shows(view[ranking.ReportDropped]{text: words.reportDropped, line: words.reportDropped})

// reportDropped says that a report was not recorded, and lists its results if n has them. If n.Kept
// is set, reportDropped says that the recorded match stays as it is.
func (w words) reportDropped(n ranking.ReportDropped) string {
	text := w.Text("question.unanswered", nil)
	switch {
	case n.Kept:
		text = w.Text("question.kept", nil)
	case n.By != nil:
		text = w.textBy("question.canceled_by", *n.By, nil)
	}
	if len(n.Results) > 0 {
		text += " (" + w.namedResults(n.Results, "; ", maxListed) + ")"
	}
	return text
}
