package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// seasonForm parses the season that a command asks for. It answers anything else with the help for
// /season.
var seasonForm = stats.SeasonCommand{Otherwise: Help{Topic: command.NameSeason}}

func pressStart(_ *Router, p *press, start ranking.StartSeason) ranking.Operation {
	start.Asked = time.Unix(p.query.Message.Date, 0)
	if p.origin.SentAt.Sub(start.Asked) > ranking.PromptWindow {
		return ranking.Say{Notice: ranking.Refusal{Code: ranking.PromptOver}}
	}
	return start
}

// parseStart parses the arguments of the button that starts a season. ok is false if there is no
// tag.
func parseStart(args string) (start ranking.StartSeason, ok bool) {
	tag, name, ok := strings.Cut(args, ":")
	return ranking.StartSeason{Tag: ranking.MatchTag(tag), Name: name}, ok && tag != ""
}

var _ = shows(view[ranking.SeasonPrompt]{text: words.seasonPrompt, buttons: seasonButtons, ofLadder: true})

func (w words) seasonPrompt(n ranking.SeasonPrompt) string {
	start := "season.will_start"
	if n.Halfway {
		start = "season.will_start_halfway"
	}
	return paragraphs([]string{
		w.Text("season.ask", args{"Ended": w.seasonName(n.Number, n.Ended), "New": w.seasonName(n.Number+1, n.Name)}),
		w.Plural("season.will_end", n.Players, nil) + " " + w.Text(start, args{"Rating": n.Start}),
	})
}

func seasonButtons(n ranking.SeasonPrompt, _ outbox.Item, w words) [][]button {
	data := callbackData(seasonCode, string(n.Tag)+":"+n.Name)
	return [][]button{{{text: w.Text("button.start_season", nil), data: data}}}
}

// seasonName returns the name of a season, as in "season 2 (Spring)".
func (w words) seasonName(number int, name string) string {
	if name == "" {
		return w.Text("season.number", args{"Number": number})
	}
	return w.Text("season.named", args{"Number": number, "Name": showText(name)})
}

var _ = shows(view[ranking.SeasonStarted]{text: words.seasonStarted, line: words.seasonStarted, ofLadder: true})

func (w words) seasonStarted(n ranking.SeasonStarted) string {
	text := w.Text("season.started", args{"New": w.seasonName(n.Number, n.Name)})
	if len(n.Before) > 0 {
		before := args{"Numbers": w.numberList(n.Before), "Season": w.seasonName(n.Ended, "")}
		text += " " + w.Plural("season.before", len(n.Before), before)
	}
	return text
}

var _ = shows(view[stats.SeasonTable]{text: words.seasonTable})

var seasonEndView = shows(view[stats.SeasonEnd]{text: words.seasonEnd})

// seasonEnd shows how a season ended. A correction shows only the podium.
func (w words) seasonEnd(n stats.SeasonEnd) string {
	if !n.Corrected {
		return w.seasonTable(n.SeasonTable)
	}
	podium := n.SeasonTable
	podium.More, podium.Played, podium.Upset, podium.Streak = 0, nil, nil, nil
	podium.Rows = slices.DeleteFunc(slices.Clone(n.Rows),
		func(r stats.SeasonRow) bool { return r.Place == 0 || r.Place > ladder.MinPlaces })
	return w.Text("season.corrected", nil) + "\n" + w.seasonTable(podium)
}

// seasonTable shows a season: its standings and its highlights.
func (w words) seasonTable(n stats.SeasonTable) string {
	id := "season.goes_on"
	if n.Over {
		id = "season.is_over"
	}
	head := []string{w.Text(id, args{"Season": w.seasonName(n.Number, n.Name), "Title": showText(n.Title)})}
	// A season that ends at midnight does not include the day that begins then.
	last := n.Until.Add(-time.Second)
	switch from, to := !n.Since.IsZero(), !n.Until.IsZero(); {
	case from && to:
		head = append(head, w.Date(n.Since)+" – "+w.Date(last))
	case from:
		head = append(head, w.Text("records.since", args{"Date": w.Date(n.Since)}))
	case to:
		head = append(head, w.Text("season.until", args{"Date": w.Date(last)}))
	}
	if len(n.Rows) == 0 && n.Over { // all its matches are undone
		return paragraphs(head)
	}
	if len(n.Rows) == 0 {
		return paragraphs(head, []string{w.Text("season.empty", args{"Ladder": w.ladderWords()})})
	}
	var lines []string
	for _, r := range n.Rows {
		lines = append(lines, w.seasonRow(n, r))
	}
	if n.More > 0 {
		lines = append(lines, w.Plural("season.more", n.More, nil))
	}
	return paragraphs(head, lines, w.factLines(w.seasonFacts(n)))
}

// seasonRow returns the line of a player, as in "🥇 Alice 1642 · 12–3" or, with the rating at the
// start of the next season, "🥇 Alice 1642 → 1571 · 12–3".
func (w words) seasonRow(n stats.SeasonTable, r stats.SeasonRow) string {
	place := "•"
	switch {
	case r.Place > len(medals) || r.Place > 0 && !n.HasMedals():
		place = strconv.Itoa(r.Place) + "."
	case r.Place > 0:
		place = medals[r.Place-1]
	}
	rating := strconv.Itoa(r.Elo)
	if r.Next != 0 {
		rating += " → " + strconv.Itoa(r.Next)
	}
	return fmt.Sprintf("%s <b>%s</b> %s · %s", place, showName(r.Name), rating, wonLost(r.Won, r.Drawn, r.Lost, n.NoDraws))
}

func (w words) seasonFacts(n stats.SeasonTable) (facts []fact) {
	if r := n.Played; r != nil {
		facts = append(facts, w.fact("played", boldName(r.Name)+" · "+w.Number(r.Value)))
	}
	if u := n.Upset; u != nil {
		value := w.Text("facts.upset_by", args{"Name": boldName(u.Name), "Names": w.boldNames(u.Beaten), "By": u.By})
		facts = append(facts, w.fact("upset", w.inMatch(value, u.MatchRef)))
	}
	if r := n.Streak; r != nil {
		facts = append(facts, w.fact("longest", boldName(r.Name)+" · "+w.Plural("me.wins", r.Value, nil)))
	}
	return facts
}

var _ = shows(view[stats.AllSeasons]{text: words.allTime})

// allTime shows what players have achieved in all seasons, as in "🏆×2 Alice · 28 matches, 25–3 · 3
// seasons · best 1642 in season 2".
func (w words) allTime(n stats.AllSeasons) string {
	title := []string{w.titleOf("season.all_time", n.Title)}
	if len(n.Rows) == 0 {
		return paragraphs(title, []string{w.Text("records.none", args{"Ladder": w.ladderWords()})})
	}
	var lines []string
	for _, r := range n.Rows {
		mark := "•"
		if r.Titles > 0 {
			mark = fmt.Sprintf("🏆×%d", r.Titles)
		}
		best := w.Text("season.best", args{"Rating": r.Best, "Season": w.seasonName(r.BestIn, "")})
		matches := w.Plural("facts.matches", r.Won+r.Drawn+r.Lost, nil)
		lines = append(lines, fmt.Sprintf("%s %s · %s, %s · %s · %s",
			mark, boldName(r.Name), matches, winsDrawsLosses(r.Won, r.Drawn, r.Lost),
			w.Plural("season.count", r.Seasons, nil), best))
	}
	if n.More > 0 {
		lines = append(lines, w.Plural("season.more", n.More, nil))
	}
	return paragraphs(title, lines)
}

// tellSeason sends the message about the end of a season, or edits it if its content has changed.
// If the message can no longer be edited, tellSeason sends a correction.
func (s *Sender) tellSeason(ctx context.Context, m outbox.Message) (outbox.Receipt, error) {
	n, err := readView(ctx, func(ctx context.Context) (stats.SeasonEnd, error) {
		return s.views.SeasonEnd(ctx, m.Object)
	})
	if err != nil {
		return outbox.Receipt{}, err
	}
	if m.Target == 0 { // not sent yet, or its id is unknown; the notice may be a correction
		if err := json.Unmarshal(m.Items[0].Payload, &n); err != nil {
			return outbox.Receipt{}, telegram.Rejected(fmt.Errorf("read notice of kind %q: %w", m.Row.Kind, err))
		}
	}
	out := seasonEndView.show(n, m.Items[0], s.words(m))
	receipt := outbox.Receipt{MessageID: m.Target, Fingerprint: s.fingerprint(m, out)}
	if m.Target != 0 && m.KnownFingerprint == receipt.Fingerprint && m.Row.PossibleDuplicates == 0 {
		receipt.Skipped = true
		return receipt, nil
	}
	if m.Target != 0 {
		if _, err := s.deliver(ctx, draft{message: m, out: out, edited: m.Target}); !isObsolete(err) {
			return receipt, err
		}
		n.Corrected = true
		out = seasonEndView.show(n, m.Items[0], s.words(m))
	}
	out.topics = slices.DeleteFunc(n.Topics, func(topic int64) bool { return topic == m.Thread })
	sent, err := s.deliver(ctx, draft{message: m, out: out})
	receipt.MessageID = sent.MessageID
	return receipt, err
}
