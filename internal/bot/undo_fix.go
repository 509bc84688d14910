package bot

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

func undo(a ranking.Amendment) ranking.Operation { return ranking.UndoMatch{Amendment: a} }

func restore(a ranking.Amendment) ranking.Operation { return ranking.RestoreMatch{Amendment: a} }

// amending returns the handler of a command whose only argument is a match number, which may be
// missing.
func amending(amend func(ranking.Amendment) ranking.Operation) Handler {
	return parsed(command.ParseNumber, func(r *Router, req request, number int) ranking.Operation {
		return amend(r.amendment(req, number))
	})
}

// fixAny handles "/fix 42 3:2", "/fix 42 @alice @carol" for the players of the match, and "/fix 42
// padel", which moves the match to that ladder.
func fixAny(r *Router, req request) ranking.Operation {
	said := req.origin.Said
	_, err := command.ParseFix(said)
	form, malformed := ranking.WrongFormOf(said, err)
	if !malformed {
		return parsed(command.ParseFix, fix)(r, req)
	}
	form.Corrected, _ = command.CorrectAmendment(said, err)
	number, lineup, ok := command.LineupAfter(said)
	if !ok {
		return ranking.Say{Notice: form, Malformed: said.Name}
	}
	fix := ranking.FixPlayers{Amendment: r.amendment(req, number), Lineup: lineup, Otherwise: form}
	if _, ladder, ok := command.LadderAfter(said); ok {
		fix.Ladder = ladder
	}
	return fix
}

func fix(r *Router, req request, f command.Fix) ranking.Operation {
	fix := ranking.FixMatch{Amendment: r.amendment(req, f.Number), Scores: f.Scores}
	fix.Sure = len(f.Scores) > maxAskedScores // too many scores for the button of a WinnerOffer
	return fix
}

// amendment identifies the match that a command means: by its number, or else by the card or the
// /match that the command replies to. The zero MatchRef stands for the sender's last match or, for
// a restore, the last match that the sender undid.
func (r *Router) amendment(req request, number int) ranking.Amendment {
	t := ranking.Amendment{Match: ranking.MatchRef{Number: number}}
	if to := req.message.replied(); number == 0 && to != nil {
		t.Match = ranking.MatchRef{Message: to.ID, Key: to.key(req.message.Chat.ID)}
		if card, ok := r.cardOf(to); ok {
			t.Match = card.match()
		}
	}
	return t
}

// cardOf returns the data of the button below a card or a FixPrompt, if this bot sent the message.
// If a card was sent twice, the bot knows only the second message by its id, but the button
// identifies the match in both. A button without a tag does not identify the match reliably.
func (r *Router) cardOf(m *message) (card cardButton, ok bool) {
	for _, data := range r.buttonsBelow(m) {
		if card, ok := parseCardData(data); ok && card.tag != "" {
			return card, true
		}
	}
	return cardButton{}, false
}

// pressingCard returns the handler of a button below a card or a FixPrompt. The button amends the
// match.
func pressingCard(amend func(ranking.Amendment) ranking.Operation) PressHandler {
	return func(_ *Router, p *press) ranking.Operation {
		card, ok := parseCardArgs(p.args)
		if !ok || card.tag == "" {
			return nil
		}
		p.origin.Instead = fmt.Sprintf("/%s %d", p.origin.Command, card.number)
		return amend(ranking.Amendment{Match: card.match(), Changes: &card.changes})
	}
}

// pressFix handles the button of an offer to fix a match. Forged data must not replace another
// message, so the message must have the pressed button.
func pressFix(r *Router, p *press) ranking.Operation {
	head, list, _ := strings.Cut(p.args, ",")
	card, ok := parseCardArgs(head)
	scores, isList := scoreArgs(list)
	if !ok || !isList || card.tag == "" || !slices.Contains(r.buttonsBelow(p.query.Message), p.query.Data) {
		return nil
	}
	p.origin.Instead = fmt.Sprintf("/%s %d %s", command.NameFix, card.number, strings.ReplaceAll(list, ",", " "))
	return ranking.AcceptFix{Amendment: ranking.Amendment{Match: card.match(), Changes: &card.changes}, Scores: scores}
}

// cardButton is the data of a button that amends a match, such as the one below its card: the
// match, and how often it had changed when the notice was made.
type cardButton struct {
	number, changes int
	tag             ranking.MatchTag
}

func buttonOf(n ranking.MatchRecorded) cardButton { return cardButton{n.Number, n.Changes, n.Tag} }

func (b cardButton) data(code string) string { return callbackData(code, b.args()) }

func (b cardButton) args() string {
	args := strconv.Itoa(b.number) + ":" + strconv.Itoa(b.changes)
	if b.tag != "" {
		args += ":" + string(b.tag)
	}
	return args
}

func (b cardButton) match() ranking.MatchRef { return ranking.MatchRef{Number: b.number, Tag: b.tag} }

// parseCardArgs parses the output of args. ok is false for other text, and for numbers out of
// range.
func parseCardArgs(args string) (b cardButton, ok bool) {
	_, _ = fmt.Sscanf(args, "%d:%d:%s", &b.number, &b.changes, &b.tag)
	return b, 0 < b.number && b.number <= math.MaxInt32 && 0 <= b.changes && b.changes <= math.MaxInt32 && b.args() == args
}

// parseCardData parses the data of a button below a card or a FixPrompt. ok is false for any other
// data.
func parseCardData(data string) (b cardButton, ok bool) {
	c, args, found := findCallback(data)
	if !found || !slices.Contains([]string{undoCode, restoreCode, askedCode}, c.Code) {
		return cardButton{}, false
	}
	return parseCardArgs(args)
}

// maxAskedScores is the maximum number of scores in a WinnerOffer, so that they fit into the data
// of its button. Seven sets such as 11:13 fit.
const maxAskedScores = 7

// fixData returns the data of the button that accepts an offer: the match, and the scores in the
// order of the match's card. exchanged means that score and sets are in the opposite order. The
// data is empty if it would be too long.
func fixData(card cardButton, score [2]int, sets []ranking.SetScore, exchanged bool) string {
	if exchanged {
		slices.Reverse(score[:])
		sets = slices.Clone(sets)
		for i := range sets {
			slices.Reverse(sets[i][:])
		}
	}
	return callbackData(fixCode, card.args()+","+strings.Join(eachScore(score, sets, scoreData), ","))
}

func scoreData(score [2]int) string { return fmt.Sprintf("%d:%d", score[0], score[1]) }

// eachScore formats each set, or the score if there are no sets.
func eachScore(score [2]int, sets []ranking.SetScore, form func([2]int) string) []string {
	if len(sets) == 0 {
		return []string{form(score)}
	}
	var all []string
	for _, s := range sets {
		all = append(all, form(s))
	}
	return all
}

// scoreArgs reads a list of scores from button data. ok is false if the list is malformed or too
// long, or has scores that no command can have.
func scoreArgs(list string) (scores []ladder.Score, ok bool) {
	for one := range strings.SplitSeq(list, ",") {
		var s ladder.Score
		_, err := fmt.Sscanf(one, "%d:%d", &s.A, &s.B)
		if err != nil || !s.IsValid() || !s.HasPoints() && list != one || scoreData([2]int{s.A, s.B}) != one {
			return nil, false
		}
		scores = append(scores, s)
	}
	return scores, len(scores) <= command.MaxSets
}

// undoneBy says who undid a match, or that two of its players turned out to be the same person.
func (w words) undoneBy(n ranking.MatchRecorded) string {
	switch {
	case n.UndoneBy != nil:
		return w.textBy("note.undone_by", *n.UndoneBy, nil)
	case len(n.Sides[0].Players)+len(n.Sides[1].Players) == 2:
		return w.Text("note.undone_same_players", nil)
	default:
		return w.Text("note.undone_same_two", nil)
	}
}

// correction says what was corrected. The text around it already shows the new score.
func (w words) correction(was, score [2]int) string {
	switch {
	case was == score:
		return w.Text("note.sets_corrected", nil)
	case !hasPoints(was) && outcomeOf(was) == outcomeOf(score):
		return w.Text("note.score_added", nil)
	default:
		return w.Text("note.corrected_from", args{"Score": w.scoreAlone(was)})
	}
}

var (
	_ = shows(view[ranking.MatchUndone]{text: words.matchUndone, line: words.undoneLine, ofLadder: true})
	_ = shows(view[ranking.MatchRestored]{text: words.matchRestored, line: words.restoredLine, ofLadder: true})
)

func (w words) matchUndone(n ranking.MatchUndone) string { return w.amended("undone", n) }

func (w words) undoneLine(n ranking.MatchUndone) string { return w.amendedLine("undone", n) }

func (w words) matchRestored(n ranking.MatchRestored) string {
	return w.amended("restored", ranking.MatchUndone(n))
}

func (w words) restoredLine(n ranking.MatchRestored) string {
	return w.amendedLine("restored", ranking.MatchUndone(n))
}

// amended says which match was undone or restored, by whom, and how the ratings have changed.
func (w words) amended(what string, n ranking.MatchUndone) string {
	return w.Text(what+".card", args{"Number": n.Number, "Result": w.result(n.Sides, n.Sets)}) + "\n" +
		w.movements(n.Moved) + "\n" + notes(w.textBy("note."+what+"_by", n.By, nil))
}

func (w words) amendedLine(what string, n ranking.MatchUndone) string {
	with := args{"Number": n.Number, "Result": w.resultOf(n.Sides, w.plainSide)}
	return w.textBy(what+".line_by", n.By, with) + " " + w.movementsLine(n.Moved)
}

var _ = shows(view[ranking.UndoPrompt]{text: words.undoPrompt, buttons: undoPromptButtons})

func (w words) undoPrompt(n ranking.UndoPrompt) string {
	with := args{"Number": n.Number, "Outcome": w.inLadder(w.outcome(n.Sides, n.Sets))}
	id := "prompt.undo"
	if n.Asked.Name != nil {
		id = "prompt.undo_named"
		with["Name"] = showName(*n.Asked.Name)
	}
	if n.Undone != 0 { // never for anonymous admins, because they have no last match
		id = "prompt.undo_before"
		with["Undone"] = n.Undone
	}
	question := w.Text(id, with)
	if n.Played.IsZero() {
		return question
	}
	return question + " " + w.Text("prompt.undo_played", args{"Date": w.Date(n.Played)})
}

var _ = shows(view[ranking.UndoDropped]{text: words.undoDropped, line: words.undoDropped})

func (w words) undoDropped(n ranking.UndoDropped) string {
	with, id := args{"Number": n.Number}, "prompt.undo"
	if n.Number == 0 {
		id = "prompt.which"
	}
	if n.By == nil {
		return w.Text(id+"_unanswered", with)
	}
	return w.textBy(id+"_canceled_by", *n.By, with)
}

var _ = shows(view[ranking.MatchFixed]{text: words.matchFixed, line: words.fixedLine, ofLadder: true})

func (w words) matchFixed(n ranking.MatchFixed) string {
	sets := w.Text("note.was_without_sets", args{"Score": writtenScore(n.Was.Score)})
	if len(n.Was.Sets) > 0 {
		sets = w.Text("note.was", args{"Score": showSets(n.Was.Sets)})
	}
	with := args{"Number": n.Number, "Outcome": w.outcome(n.Sides, n.Sets, w.was(n, sets))}
	return w.textBy("fixed.card_by", n.By, with) + "\n" + w.movements(n.Moved)
}

// was says what was corrected, usually with the earlier score. If only the sets have changed, it
// returns sets.
func (w words) was(n ranking.MatchFixed, sets string) string {
	switch score := scoreOf(n.Sides); {
	case n.Before != nil:
		return w.Text("note.was", args{"Score": w.namedResult(*n.Before)})
	case n.Was.Score == score:
		return sets
	case !hasPoints(n.Was.Score) && outcomeOf(n.Was.Score) == outcomeOf(score):
		return w.Text("note.score_added", nil)
	default:
		return w.Text("note.was", args{"Score": w.scoreAlone(n.Was.Score)})
	}
}

func (w words) fixedLine(n ranking.MatchFixed) string {
	was := brackets(w.was(n, w.Text("note.sets_corrected", nil)))
	with := args{"Number": n.Number, "Outcome": w.outcomeText(n.Sides, "_line", w.plainSide, was)}
	return w.textBy("fixed.line_by", n.By, with) + " " + w.movementsLine(n.Moved)
}

func undoPromptButtons(n ranking.UndoPrompt, item outbox.Item, w words) [][]button {
	ref := promptRef(n.Prompt, n.Tag, item.ID)
	return [][]button{{{text: w.Text("button.undo", nil), data: promptData(ref, ranking.Choice(0))}, w.cancels(ref)}}
}

// whichPromptButtons returns the buttons below the question of which match to undo, four numbers in
// a row.
func whichPromptButtons(n ranking.WhichPrompt, item outbox.Item, w words) [][]button {
	ref := ranking.PromptRef{ID: ranking.PromptID(item.ID), Tag: n.Tag}
	var all []button
	for i, m := range n.Matches {
		all = append(all, button{text: w.matchNumber(m.Number), data: promptData(ref, ranking.Choice(i))})
	}
	return append(slices.Collect(slices.Chunk(all, 4)), []button{w.cancels(ref)})
}

var _ = shows(view[ranking.WhichPrompt]{text: words.whichPrompt, buttons: whichPromptButtons, ofLadder: true})

func (w words) whichPrompt(n ranking.WhichPrompt) string {
	lines := []string{w.Text("prompt.which", nil)}
	for _, m := range n.Matches {
		lines = append(lines, w.matchNumber(m.Number)+" "+w.namedResult(m.NamedResult))
	}
	return strings.Join(lines, "\n")
}

var _ = shows(view[ranking.FixOffer]{text: words.fixOffer, buttons: fixOfferButtons})

func fixOfferButtons(n ranking.FixOffer, _ outbox.Item, w words) [][]button {
	data := fixData(cardButton{n.Number, n.Changes, n.Tag}, n.Score, n.Sets, n.Exchanged)
	return [][]button{{{text: w.fixTo(n.Score, n.Sets), data: data}}}
}

func (w words) fixOffer(n ranking.FixOffer) string {
	scores := func(score [2]int, sets []ranking.SetScore) string {
		return w.scoreAlone(score) + brackets(showSets(sets))
	}
	if !hasPoints(n.Score) { // no /fix can state this score
		return w.Text("fix_offer.outcome",
			args{"Number": n.Number, "New": scores(n.Score, nil), "Old": scores(n.Was.Score, n.Was.Sets)})
	}
	return w.Text("fix_offer.card", args{
		"Number": n.Number, "New": scores(n.Score, n.Sets), "Old": scores(n.Was.Score, n.Was.Sets),
		"Scores": strings.Join(eachScore(n.Score, n.Sets, writtenScore), " "),
	})
}

func (w words) fixTo(score [2]int, sets []ranking.SetScore) string {
	scores := strings.Join(eachScore(score, sets, writtenScore), " ")
	if !hasPoints(score) {
		scores = w.scoreAlone(score)
	}
	return w.Text("button.fix", args{"Scores": scores})
}

var _ = shows(view[ranking.FixPrompt]{text: words.fixPrompt, buttons: fixPromptButtons})

// fixPromptButtons returns the button that undoes the match. Its data also identifies the match for
// a member who replies with the right score.
func fixPromptButtons(n ranking.FixPrompt, _ outbox.Item, w words) [][]button {
	card := cardButton{n.Number, n.Changes, n.Tag}
	return [][]button{{{text: w.Text("button.undo", nil), data: card.data(askedCode)}}}
}

func (w words) fixPrompt(n ranking.FixPrompt) string {
	return w.inLadder(w.Text("prompt.fix", args{"Number": n.Number, "Result": w.result(n.Sides, n.Sets)}))
}

var _ = shows(view[ranking.WinnerOffer]{text: words.winnerOffer, buttons: winnerOfferButtons})

func winnerOfferButtons(n ranking.WinnerOffer, _ outbox.Item, w words) [][]button {
	// The current loser comes second on the card.
	data := fixData(cardButton{n.Number, n.Changes, n.Tag}, scoreOf(n.Sides), n.Sets, true)
	name := func(p ranking.RatingChange) string { return html.EscapeString(w.personLabel(p.Name, false)) }
	winner := cut(plain(w.namesOf(n.Sides[0], name)), maxNewLabel, maxNameUnits)
	return [][]button{{{text: w.Text("button.winner", args{"Winner": winner}), data: data}}}
}

// winnerOffer asks whether the loser of a match has actually won.
func (w words) winnerOffer(n ranking.WinnerOffer) string {
	return w.Text("fix_offer.winner",
		args{"Number": n.Number, "Winner": w.sideNames(n.Sides[1]), "Outcome": w.outcome(n.Sides, n.Sets)})
}
