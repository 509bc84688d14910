package bot

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

// importButton is what a button about imports does, as in 1j, 1j:example and 1j:sure:3:Aa0_-zZ9:12.
type importButton struct {
	example bool
	back    ranking.TakeBackImport // zero for none
}

const (
	exampleArg = "example"
	nameImport = "import" // for the log
)

func parseImportButton(args string) (b importButton, ok bool) {
	parts := strings.Split(args, ":")
	switch {
	case args == "":
		return b, true
	case args == exampleArg:
		return importButton{example: true}, true
	case len(parts) != 3:
		return b, false
	}
	number, err := strconv.Atoi(parts[1])
	b.back = ranking.TakeBackImport{Import: number, Tag: ranking.MatchTag(parts[2]), Step: ranking.UndoStep(parts[0])}
	return b, err == nil && takeBackData(b.back) == callbackData(importCode, args)
}

func takeBackData(t ranking.TakeBackImport) string {
	return callbackData(importCode, fmt.Sprintf("%s:%d:%s", t.Step, t.Import, t.Tag))
}

func pressImport(_ *Router, _ *press, b importButton) ranking.Operation {
	if b.back != (ranking.TakeBackImport{}) {
		return b.back
	}
	return ranking.ShowImport{Example: b.example}
}

// sentFile returns the document of a message as a file to import. ok is false if it has none.
func (m *message) sentFile() (f ranking.SentFile, ok bool) {
	if m.Document == nil || m.Document.ID == "" {
		return f, false
	}
	return ranking.SentFile{
		ID: m.Document.ID, Name: cmp.Or(cleanName(m.Document.Name), "CSV"), Size: m.Document.Size,
	}, true
}

var _ = shows(view[ranking.ImportPage]{text: words.importPage, buttons: importPageButtons, ofLadder: true})

func (w words) importPage(ranking.ImportPage) string {
	return w.Text("import.page", args{"Megabytes": ranking.MaxImportMegabytes, "Rows": w.Number(ranking.MaxImportRows)})
}

func importPageButtons(_ ranking.ImportPage, _ outbox.Item, w words) [][]button {
	return [][]button{
		{exampleButton(w)},
		{{text: "‹ " + w.topic(aboutSettings), data: openData(allGroups)}},
	}
}

func exampleButton(w words) button {
	return button{text: w.Text("import.example", nil), data: callbackData(importCode, exampleArg)}
}

var _ = shows(view[ranking.ImportExample]{text: words.importExample, document: exampleFile})

func (w words) importExample(ranking.ImportExample) string {
	return w.Text("import.example_caption", nil)
}

func exampleFile(ranking.ImportExample, words) makeDocument {
	return func(_ context.Context, _ *Sender, into io.Writer) (string, error) {
		_, err := into.Write(transfer.Template)
		return "example.csv", err
	}
}

var _ = shows(view[ranking.PeopleOfImport]{text: words.peopleOfImport, document: peopleFile})

func (w words) peopleOfImport(n ranking.PeopleOfImport) string {
	return w.Text("import.people_caption", args{"Title": showText(n.Title)})
}

func peopleFile(n ranking.PeopleOfImport, _ words) makeDocument {
	return func(_ context.Context, _ *Sender, into io.Writer) (string, error) {
		_, err := into.Write(transfer.WritePeople(n.All))
		return "people.csv", err
	}
}

// The room for the lists of an ImportPrompt, in UTF-16 units. The other texts need less than 1000.
const (
	faultRoom  = 1200
	peopleRoom = 800
	nameRoom   = 600
	columnRoom = 300
)

var _ = shows(view[ranking.ImportPrompt]{text: words.importPrompt, buttons: importPromptButtons, ofLadder: true})

func (w words) importPrompt(n ranking.ImportPrompt) string {
	head := []string{w.Text("import.has", args{"File": showText(n.File), "Matches": w.imports(n.Results, n.Starts)})}
	switch {
	case n.Export != nil:
		found := args{"Title": showText(n.Export.Title), "Date": w.Date(n.Export.At)}
		head = append(head, w.Text("import.export", found))
		head = append(head, w.counted("export_players", n.Export.Players)...)
		return paragraphs(head, []string{w.Text("import.ask_restore", nil)}, []string{w.Text("import.nothing_yet", nil)})
	case n.Ask == transfer.AskDates:
		head = []string{showText(n.File)}
	case n.Ask == transfer.AskZone:
		head = []string{showText(n.File), w.Text("import.zone", args{"Zone": showText(n.Zone)})}
	case n.Results == 0:
	case n.Last.IsZero():
		head = append(head, w.Text("import.no_dates", nil))
	default:
		head = append(append(head, w.importSpan(n.First, n.Last)...), w.Text("import.zone", args{"Zone": showText(n.Zone)}))
		if n.Dates != "" {
			head = append(head, w.Text("import.choose_"+string(n.Dates), nil))
		}
	}
	head = append(head, w.counted("known", n.Known)...)
	leftOut := "left_out"
	if n.Messages {
		leftOut = "messages_left_out"
	}
	head = append(head, w.counted(leftOut, n.LeftOut)...)
	if len(n.Unused) > 0 {
		head = append(head, w.Text("import.unused", args{"Columns": joinUpTo(columnRoom, shown(n.Unused, showText), ", ")}))
	}
	var faults, people, names, asks []string
	if n.Refused > 0 {
		faults = append(w.counted("refused", n.Refused), joinUpTo(faultRoom, shown(n.Faults, w.fault), "\n"))
		faults = append(faults, w.counted("more", n.Refused-len(n.Faults))...)
	}
	if len(n.People) > 0 {
		people = []string{joinUpTo(peopleRoom, shown(n.People, w.personFault), "\n")}
		people = append(people, w.counted("more", n.MorePeople)...)
	}
	if n.Unknown > 0 {
		listed := joinUpTo(nameRoom, shown(n.Names, w.unknownName), ", ")
		names = append(append(w.counted("unknown", n.Unknown), listed), w.counted("more", n.Unknown-len(n.Names))...)
	}
	if n.Unknown+len(n.People) > 0 {
		names = append(names, w.Text("import.people", nil))
	}
	if len(n.Closed) > 0 {
		seasons := shown(n.Closed, func(number int) string { return w.seasonName(number, "") })
		asks = append(asks, w.Text("import.closed", args{"Seasons": joinUpTo(columnRoom, seasons, ", ")}))
	}
	asks = append(asks, w.counted("later_again", n.Later)...)
	if n.Ask != "" {
		asks = append(asks, w.Text("import.ask_"+string(n.Ask), nil))
	}
	return paragraphs(head, faults, people, names, asks, []string{w.Text("import.nothing_yet", nil)})
}

// shown applies a function to each item.
func shown[T any](all []T, show func(T) string) []string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = show(one)
	}
	return texts
}

// counted returns the line import.<id> of the catalog with a count, none if the count is 0.
func (w words) counted(id string, count int) []string {
	if count == 0 {
		return nil
	}
	return []string{w.Text("import."+id, args{"Count": w.Number(count)})}
}

// imports returns the number of matches of a file or, if there are any, its number of start
// ratings.
func (w words) imports(matches, starts int) string {
	if starts > 0 {
		return w.Plural("import.starts", starts, nil)
	}
	return w.Plural("facts.matches", matches, nil)
}

// importSpan returns a line with the days of matches, none if the times are zero.
func (w words) importSpan(first, last time.Time) []string {
	switch {
	case last.IsZero():
		return nil
	case w.Date(first) == w.Date(last):
		return []string{w.Date(first)}
	}
	return []string{w.Text("import.span", args{"First": w.Date(first), "Last": w.Date(last)})}
}

func (w words) unknownName(n ranking.UnknownName) string {
	if n.Similar == "" {
		return showText(n.Name)
	}
	return showText(n.Name) + " (" + showText(n.Similar) + "?)"
}

// fault says what is wrong with a row or a file.
func (w words) fault(f transfer.Fault) string {
	var likely []string
	for _, s := range f.Likely {
		likely = append(likely, s.String())
	}
	id := "fault." + string(f.Reason)
	if !w.Has(id) {
		id = "fault.unknown"
	}
	text := w.Text(id, args{
		"Value": showWord(f.Value), "Against": showWord(f.Against), "Other": f.Other, "Count": f.Value,
		"Likely": strings.Join(likely, " / "),
	})
	switch {
	case f.Line == 0:
		return text
	case f.Message:
		return w.Text("import.message", args{"Message": f.Line, "Fault": text})
	case f.Column == "":
		return w.Text("import.row", args{"Row": f.Line, "Fault": text})
	default:
		return w.Text("import.cell", args{"Row": f.Line, "Column": showText(f.Column), "Fault": text})
	}
}

// personFault says why a person of a file cannot take part.
func (w words) personFault(f ranking.PersonFault) string {
	id := "import.who_" + cmp.Or(string(f.Code), "unreadable")
	if !w.Has(id) {
		id = "import.who_unreadable"
	}
	return w.Text(id, args{"Name": showWord(f.Name), "Who": showWord(f.Who), "Free": codeText(f.Free)})
}

func importPromptButtons(n ranking.ImportPrompt, item outbox.Item, w words) (rows [][]button) {
	ref := promptRef(n.Prompt, n.Tag, item.ID)
	for _, c := range n.Choices {
		rows = append(rows, []button{{text: w.Text("import.choose_"+string(c), nil), data: promptData(ref, c)}})
	}
	return append(rows, []button{w.cancels(ref)})
}

var _ = shows(view[ranking.ImportDropped]{text: words.importDropped, line: words.importDropped})

func (w words) importDropped(n ranking.ImportDropped) string {
	if n.Answered {
		return w.Text("import.answered", nil)
	}
	return w.Text("import.dropped", nil)
}

var _ = shows(view[ranking.Recalculating]{text: words.recalculating, line: words.recalculating})

func (w words) recalculating(n ranking.Recalculating) string {
	return w.counted("recalculating", n.Later)[0]
}

var _ = shows(view[ranking.ImportRefused]{text: words.importRefused, buttons: importRefusedButtons})

func (w words) importRefused(n ranking.ImportRefused) string {
	return w.Text("import.refused_file", args{"File": showText(n.File), "Fault": w.fault(n.Fault)})
}

// importRefusedButtons returns the button by which a reply to the message is known to bring a file
// of results: see Router.reply.
func importRefusedButtons(n ranking.ImportRefused, _ outbox.Item, w words) [][]button {
	if n.OfPeople {
		return nil
	}
	return [][]button{{exampleButton(w)}}
}

var _ = shows(view[ranking.Imported]{text: words.imported, buttons: importedButtons, ofLadder: true})

func (w words) imported(n ranking.Imported) string {
	head := []string{w.Text("import.nothing_new", nil)}
	if n.Number > 0 {
		head = append([]string{w.Text("import.done", args{"Number": n.Number, "Matches": w.imports(n.Matches, n.Starts)})},
			w.importSpan(n.First, n.Last)...)
	}
	if n.Restored {
		restored := w.Text("import.restored", args{"Matches": w.imports(n.Matches, 0)})
		return paragraphs(append([]string{restored}, w.counted("export_players", n.Players)...))
	}
	for _, fact := range []struct {
		id    string
		count int
	}{{"players", n.Players}, {"known", n.Known}, {"rows_left_out", n.LeftOut}, {"later", n.Later}} {
		head = append(head, w.counted(fact.id, fact.count)...)
	}
	var remarks []string
	if n.Equal != "" {
		remarks = append(remarks, w.Text("import.equal", args{"Rows": n.Equal}))
	}
	if n.Same != "" {
		remarks = append(remarks, w.Text("import.same", args{"Rows": n.Same}))
	}
	if n.Matches > 0 && !n.Kept {
		remarks = append(remarks, w.Text("import.differ", nil))
	}
	return paragraphs(head, remarks)
}

func importedButtons(n ranking.Imported, _ outbox.Item, w words) [][]button {
	if n.Number == 0 {
		return nil
	}
	ask := ranking.TakeBackImport{Import: n.Number, Tag: n.Tag, Step: ranking.UndoAsk}
	return [][]button{{{text: w.Text("import.take_back", nil), data: takeBackData(ask)}}}
}

var _ = shows(view[ranking.TakeBackPrompt]{text: words.takeBackPrompt, buttons: takeBackButtons})

func (w words) takeBackPrompt(n ranking.TakeBackPrompt) string {
	id := "import.ask_take_back"
	if n.Starts > 0 {
		id += "_starts"
	}
	ask := []string{w.Text(id, args{"Number": n.Number, "Matches": w.imports(n.Matches, n.Starts)})}
	return paragraphs(slices.Concat(ask, w.importSpan(n.First, n.Last), w.counted("later_again", n.Later)))
}

func takeBackButtons(n ranking.TakeBackPrompt, _ outbox.Item, w words) [][]button {
	back := ranking.TakeBackImport{Import: n.Number, Tag: n.Tag, Step: ranking.UndoSure}
	keep := back
	keep.Step = ranking.UndoKeep
	return [][]button{{
		{text: w.Text("import.take_back", nil), data: takeBackData(back)}, {text: w.cancel(), data: takeBackData(keep)},
	}}
}

var _ = shows(view[ranking.ImportTakenBack]{text: words.importTakenBack, line: words.importTakenBack})

func (w words) importTakenBack(n ranking.ImportTakenBack) string {
	id := "import.taken_back"
	switch {
	case n.Starts > 0:
		id += "_starts"
	case n.Matches == 0:
		return w.Text("import.gone", args{"Number": n.Number})
	}
	text := w.Text(id, args{"Number": n.Number, "Matches": w.imports(n.Matches, n.Starts)})
	return strings.Join(append([]string{text}, w.counted("later", n.Later)...), " ")
}
