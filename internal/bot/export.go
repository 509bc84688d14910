package bot

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// Exports makes the exports of groups and people.
type Exports interface {
	// Export writes the export of the group in a chat, which is a zip file. There, former means
	// forgotten people.
	Export(ctx context.Context, chat ranking.ExternalChatID, former string, w io.Writer) error
	// MyData writes all that is stored about a person, as a JSON object.
	MyData(ctx context.Context, who command.Person, w io.Writer) error
}

// WithExports sets the source of exports, and returns s. It must be called before the first message
// is sent.
func (s *Sender) WithExports(e Exports) *Sender {
	s.exports = e
	return s
}

func parseNothing(args string) (struct{}, bool) { return struct{}{}, args == "" }

func pressExport(*Router, *press, struct{}) ranking.Operation { return ranking.ExportGroup{} }

// transferRow returns the buttons that bring data into the group and out of it.
func (w words) transferRow() []button {
	return []button{
		{text: w.Text("import.open", nil) + " ›", data: callbackData(importCode, "")},
		{text: w.Text("button.export", nil), data: callbackData(exportCode, "")},
	}
}

var _ = shows(view[ranking.ExportedGroup]{text: words.exported, document: exportFile})

func (w words) exported(n ranking.ExportedGroup) string {
	return w.Text("export.caption", args{"Title": showText(n.Title)})
}

func exportFile(n ranking.ExportedGroup, w words) makeDocument {
	return func(ctx context.Context, s *Sender, into io.Writer) (name string, err error) {
		if s.exports == nil {
			return "", errors.New("no source of exports")
		}
		today := s.client.Now().In(ranking.Display{TimeZone: n.TimeZone}.Zone())
		name = strings.Trim("elobot-"+fileName(n.Title), "-") + today.Format("-2006-01-02.zip")
		return name, s.exports.Export(ctx, n.Chat, w.Text("names.former", nil), into)
	}
}

// maxFileName limits the part of a file's name that people have chosen, in characters.
const maxFileName = 40

// fileName returns the letters and digits of a text, with hyphens between its words.
func fileName(text string) string {
	isOther := func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) }
	name := []rune(strings.Join(strings.FieldsFunc(text, isOther), "-"))
	return string(name[:min(len(name), maxFileName)])
}

var _ = shows(view[ranking.SentPrivately]{text: words.sentPrivately, line: words.sentPrivately})

func (w words) sentPrivately(ranking.SentPrivately) string { return w.Text("private.sent", nil) }

var _ = shows(view[ranking.NotStarted]{text: words.notStarted, line: words.notStarted})

// notStarted is shown only if the app cannot open the bot.
func (w words) notStarted(ranking.NotStarted) string { return w.Text("private.not_started", nil) }
