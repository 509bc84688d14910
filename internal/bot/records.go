package bot

import (
	"strconv"

	"elobot/internal/command"
	"elobot/internal/outbox"
	"elobot/internal/stats"
)

// parsePeriod parses the argument of a button below the records. ok is false for any other
// argument.
func parsePeriod(args string) (q stats.RecordsQuestion, ok bool) {
	q.Span = command.Span(args)
	return q, q.Span == command.Month || q.Span == command.All
}

func recordsButtons(n stats.Records, _ outbox.Item, w words) [][]button {
	return [][]button{{
		{text: choice(w.Text("button.this_month", nil), !n.Month.IsZero()),
			data: callbackData(recordsCode, string(command.Month))},
		{text: choice(w.Text("button.all_time", nil), n.Month.IsZero()),
			data: callbackData(recordsCode, string(command.All))},
	}}
}

var _ = shows(view[stats.Records]{text: words.records, table: words.recordsTable, buttons: recordsButtons})

func (w words) records(n stats.Records) string {
	facts := w.recordsFacts(n)
	title := w.recordsTitle(n, "\n")
	if len(facts) == 0 {
		id := "records.none"
		if !n.Month.IsZero() {
			id = "records.none_in_month"
		}
		return paragraphs([]string{title, w.Text(id, args{"Ladder": w.ladderWords()})})
	}
	return paragraphs([]string{title}, w.factLines(facts))
}

// recordsTitle returns the title of the records and their period, separated by between.
func (w words) recordsTitle(n stats.Records, between string) string {
	period := w.Text("records.all_time", nil)
	if !n.Month.IsZero() {
		period = w.Text("records.since", args{"Date": w.Date(n.Month)})
	}
	return w.titleOf("records.title", n.Title) + between + period
}

func (w words) recordsFacts(n stats.Records) (facts []fact) {
	if r := n.Streak; r != nil {
		value := boldName(r.Name) + " · " + w.Plural("me.wins", r.Value, nil)
		facts = append(facts, w.fact("longest", w.inMatch(value, *r.In)))
	}
	if r := n.Rating; r != nil {
		facts = append(facts, w.fact("highest", w.inMatch(boldName(r.Name)+" · "+strconv.Itoa(r.Value), *r.In)))
	}
	if u := n.Upset; u != nil {
		value := w.Text("facts.upset_by", args{"Name": boldName(u.Name), "Names": w.boldNames(u.Beaten), "By": u.By})
		facts = append(facts, w.fact("upset", w.inMatch(value, u.MatchRef)))
	}
	if r := n.Played; r != nil {
		facts = append(facts, w.fact("played", boldName(r.Name)+" · "+w.Number(r.Value)))
	}
	if r := n.Rivalry; r != nil {
		pair := w.Text("h2h.title", args{"A": boldName(r.Name), "B": boldName(r.With)})
		label := "rivalry"
		if n.Month.IsZero() {
			label = "rivalry_of_year"
		}
		facts = append(facts, w.fact(label, pair+" · "+winsDrawsLosses(r.Won, r.Drawn, r.Lost)))
	}
	return facts
}

// recordsTable is the table form of records. It is empty if there are no records.
func (w words) recordsTable(n stats.Records) string {
	facts := w.recordsFacts(n)
	if len(facts) == 0 {
		return ""
	}
	return factTable(w.recordsTitle(n, " · "), "", facts)
}
