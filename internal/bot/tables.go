package bot

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"elobot/internal/outbox"
	"elobot/internal/telegram"
)

const (
	// refusalKept is how long Sender sends text instead of tables after Telegram has refused a
	// table.
	refusalKept = 24 * time.Hour
	// everyChat stands for all chats. It is used if the Bot API server does not support tables.
	everyChat = 0
)

// table builds a table in the HTML of rich messages. Its cells are HTML too.
type table struct{ strings.Builder }

const captionEnd = "</caption>"

func newTable(caption string) *table {
	t := new(table)
	t.WriteString("<table bordered striped><caption>" + caption + captionEnd)
	return t
}

func (t *table) row(cells ...string) { t.WriteString("<tr>" + strings.Join(cells, "") + "</tr>") }

// end returns the table, with an optional remark below it.
func (t *table) end(remark string) string {
	t.WriteString("</table>")
	if remark != "" {
		t.WriteString("<footer>" + remark + "</footer>")
	}
	return t.String()
}

func textCell(text string) string { return "<td>" + text + "</td>" }

// numberCell returns a right-aligned cell.
func numberCell(text string) string { return `<td align="right">` + text + "</td>" }

// header turns a cell into a column heading.
func header(cell string) string {
	return strings.ReplaceAll(strings.Replace(cell, "<td", "<th", 1), "</td>", "</th>")
}

// isTable reports whether to send a message as a table.
func (s *Sender) isTable(m outbox.Message, out outgoing) bool {
	return out.table != "" && !s.refusals.Has(m.ExternalChat) && !s.refusals.Has(everyChat)
}

// refusesTable reports whether Telegram seems to have refused a table as such. If so, the request
// had no effect, and Telegram may accept the same message as text.
func refusesTable(err error) bool {
	var api *telegram.APIError
	return errors.As(err, &api) && (api.Status == http.StatusNotFound || telegram.RefusesContent(err))
}

// rememberRefusal is called after Telegram refused a table but accepted the text. It stops tables
// for refusalKept: in the chat, or everywhere if the server has no method for them.
func (s *Sender) rememberRefusal(ctx context.Context, d *draft) {
	chat := d.Chat
	var api *telegram.APIError
	// This status means that the server does not know the method.
	if errors.As(d.tableRefused, &api) && api.Status == http.StatusNotFound {
		chat = everyChat
	}
	s.refusals.Add(chat, refusalKept)
	s.log.WarnContext(ctx, "Telegram refused a table, sending text for a day", "everywhere", chat == everyChat,
		"kind", d.message.Row.Kind, "operation_id", d.message.Row.ID, "error", d.tableRefused)
}
