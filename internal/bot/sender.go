package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"strings"

	botapi "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"golang.org/x/sync/semaphore"

	"elobot/internal/chart"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/recent"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// Sender renders notices and sends them. No other code sends messages.
type Sender struct {
	client *telegram.Client
	self   telegram.Self
	log    *slog.Logger

	// chats by Telegram's id
	refusals *recent.Set[int64] // where tables were refused
	looked   *recent.Set[int64] // where the pinned message need not be looked at
	views    Views
	drawings *semaphore.Weighted // the charts that are being drawn
	draw     func(chart.Chart) ([]byte, error)
	web      webLinks
}

var _ outbox.Sender = (*Sender)(nil)

// NewSender returns a sender for the bot with this account.
func NewSender(client *telegram.Client, self telegram.Self, log *slog.Logger) *Sender {
	return &Sender{
		client: client, self: self, log: log, refusals: recent.NewSet[int64](maxChats), looked: recent.NewSet[int64](maxChats),
		drawings: semaphore.NewWeighted(maxDrawings), draw: chart.Draw,
	}
}

// maxChats is for how many chats a sender remembers a thing.
const maxChats = 10_000

var errNoItems = errors.New("the message has no items")

// asking returns a sender that calls begin before each request. What it remembers, it shares with this one.
func (s *Sender) asking(begin outbox.Begin) *Sender {
	asking := *s
	asking.client = s.client.Asking(begin)
	return &asking
}

// Send implements outbox.Sender.
func (s *Sender) Send(ctx context.Context, m outbox.Message, begin outbox.Begin) (outbox.Receipt, error) {
	s = s.asking(begin)
	var receipt outbox.Receipt
	var err error
	switch {
	case len(m.Items) == 0:
		err = errNoItems
	case m.Action != outbox.CallbackAnswer && needsNewerRelease(m):
		receipt, err = setAside(m)
	case m.Row.Kind == notice.KindOf(stats.Chart{}).Name && (m.Action == outbox.Send || m.Action == outbox.Page):
		receipt, err = s.sendChart(ctx, m)
	case m.Action == outbox.Send:
		receipt, err = s.send(ctx, m)
	case m.Action == outbox.Edit, m.Action == outbox.Page:
		receipt, err = s.edit(ctx, m)
	case m.Action == outbox.Ensure && m.Row.Kind == ranking.KindBoard:
		receipt, err = s.ensure(ctx, m)
	case m.Action == outbox.Ensure && m.Row.Kind == ranking.KindSeason:
		receipt, err = s.tellSeason(ctx, m)
	case m.Action == outbox.CallbackAnswer:
		err = s.answerPress(ctx, m)
	default:
		err = telegram.Rejected(fmt.Errorf("unknown action %q", m.Action))
	}
	if err != nil {
		return outbox.Receipt{Covered: receipt.Covered}, telegram.Failure(err)
	}
	return receipt, nil
}

// send sends a new message: several items together, or only the first one.
func (s *Sender) send(ctx context.Context, m outbox.Message) (outbox.Receipt, error) {
	w := s.words(m)
	first, err := render(m.Items[0], w)
	if err != nil {
		return outbox.Receipt{Covered: 1}, telegram.Rejected(err)
	}
	if len(m.Items) > 1 && first.line != "" {
		if out, covered := merge(m, w); covered > 1 {
			receipt, err := s.post(ctx, m, out)
			if receipt.Covered = covered; err == nil || !telegram.RefusesContent(err) {
				return receipt, err
			}
			s.log.ErrorContext(ctx, "Telegram rejected a merged message, sending its first item alone",
				"kind", m.Row.Kind, "operation_id", m.Row.ID, "covered", covered, "error", err)
		}
	}
	first.replyTo = m.Items[0].ReplyTo
	receipt, err := s.post(ctx, m, first)
	receipt.Covered = 1
	return receipt, err
}

// post sends a new message. If Telegram rejects it, post sends a simpler form of it.
func (s *Sender) post(ctx context.Context, m outbox.Message, out outgoing) (outbox.Receipt, error) {
	return s.withoutWebIfRejected(out, func(out outgoing) (outbox.Receipt, error) {
		return s.attempt(ctx, m, out, s.params(m, out), func(p parameters) (int64, error) {
			method := "sendMessage"
			if p.Table != nil {
				method = "sendRichMessage"
			}
			result, err := s.client.Call(ctx, method, p)
			if err != nil {
				return 0, err
			}
			return s.sentID(ctx, result), nil
		})
	})
}

// attempt makes the request that sends or edits a message, as a table if it is one. If Telegram
// rejects it, attempt makes simpler ones. request returns the id of the message.
func (s *Sender) attempt(
	ctx context.Context, m outbox.Message, out outgoing, params *parameters, request func(parameters) (int64, error),
) (outbox.Receipt, error) {
	var refusal error
	if s.isTable(m, out) {
		id, err := request(params.asTable(out))
		if !refusesTable(err) {
			return outbox.Receipt{MessageID: id}, err
		}
		refusal = err
	}
	id, err := request(*params)
	for err != nil && s.simplify(ctx, params, m.Row, err) {
		refusal = nil // the table need not be at fault
		id, err = request(*params)
	}
	s.remember(ctx, m, refusal, err)
	return outbox.Receipt{MessageID: id}, err
}

// parameters are those of the methods that send or edit a message: each takes some of them. The library's own cannot be those of a picture
// or an edited table, which it encodes in its own way.
type parameters struct {
	Chat      int64                        `json:"chat_id"`
	Edited    int64                        `json:"message_id,omitempty"`
	Thread    int64                        `json:"message_thread_id,omitempty"`
	Text      string                       `json:"text,omitempty"`
	Table     *models.InputRichMessage     `json:"rich_message,omitempty"`
	Media     *photoMedia                  `json:"media,omitempty"`
	Caption   string                       `json:"caption,omitempty"`
	ParseMode models.ParseMode             `json:"parse_mode,omitempty"`
	Preview   *models.LinkPreviewOptions   `json:"link_preview_options,omitempty"`
	Silent    bool                         `json:"disable_notification,omitempty"`
	Reply     *models.ReplyParameters      `json:"reply_parameters,omitempty"`
	Keyboard  *models.InlineKeyboardMarkup `json:"reply_markup,omitempty"`

	topics []int64 // see outgoing
}

// params returns the parameters of a new text message.
func (s *Sender) params(m outbox.Message, out outgoing) *parameters {
	params := s.editParams(m, 0, out)
	params.Silent = !m.Private
	if m.Thread != generalTopic {
		params.Thread, params.topics = m.Thread, out.topics
	}
	if out.replyTo != 0 {
		params.Reply = &models.ReplyParameters{MessageID: int(out.replyTo), AllowSendingWithoutReply: true}
	}
	return params
}

// editParams returns the parameters of a text that replaces that of a message.
func (s *Sender) editParams(m outbox.Message, id int64, out outgoing) *parameters {
	return &parameters{
		Chat: m.ExternalChat, Edited: id, Text: out.html, ParseMode: models.ParseModeHTML,
		Preview: &models.LinkPreviewOptions{IsDisabled: botapi.True()}, Keyboard: s.keyboard(out),
	}
}

// asTable returns the parameters of the same message as a table.
func (p parameters) asTable(out outgoing) parameters {
	p.Text, p.ParseMode, p.Preview = "", "", nil
	p.Table = &models.InputRichMessage{HTML: out.table, SkipEntityDetection: true}
	return p
}

// keyboard returns the buttons below a message, or nil.
func (s *Sender) keyboard(out outgoing) *models.InlineKeyboardMarkup {
	if len(out.buttons) == 0 {
		return nil
	}
	var keyboard [][]models.InlineKeyboardButton
	for _, row := range out.buttons {
		var shownRow []models.InlineKeyboardButton
		for _, b := range row {
			shown := models.InlineKeyboardButton{Text: b.text, CallbackData: b.data}
			switch {
			case b.copy != "":
				shown.CopyText = &models.CopyTextButton{Text: b.copy}
			case b.web != "" && !s.web.buttons:
				continue
			case b.web != "":
				shown.URL = b.web
			case b.data == "":
				shown.URL = s.self.AddToGroupLink()
			}
			shownRow = append(shownRow, shown)
		}
		if shownRow != nil {
			keyboard = append(keyboard, shownRow)
		}
	}
	if keyboard == nil {
		return nil
	}
	return &models.InlineKeyboardMarkup{InlineKeyboard: keyboard}
}

// sentID returns the id of a message that Telegram accepted. It counts as sent even if the result cannot be read; the id is 0 then.
func (s *Sender) sentID(ctx context.Context, result json.RawMessage) int64 {
	var sent struct {
		ID int64 `json:"message_id"`
	}
	if err := json.Unmarshal(result, &sent); err != nil {
		s.log.WarnContext(ctx, "sent a message, but failed to read its id", "error", err)
	}
	return sent.ID
}

// simplify removes from a message what Telegram rejected, and says whether there was something to remove: a plain message is better than
// none. Markup that Telegram cannot parse is a bug, so it is logged as an error.
func (s *Sender) simplify(ctx context.Context, params *parameters, row outbox.Item, err error) bool {
	switch {
	case params.Reply != nil && says(err, "message to be replied not found", "replied message not found"):
		params.Reply = nil
	case params.Thread != 0 && says(err, "thread not found", "TOPIC_CLOSED", "TOPIC_DELETED"):
		params.Thread, params.Reply = 0, nil
		if len(params.topics) > 0 {
			params.Thread, params.topics = params.topics[0], params.topics[1:]
		}
	case params.ParseMode != "" && says(err, "can't parse entities"):
		s.log.ErrorContext(ctx, "Telegram failed to parse a message, sending it as plain text", "kind", row.Kind, "operation_id", row.ID)
		params.Text, params.ParseMode = plain(params.Text), ""
	default:
		return false
	}
	return true
}

// says is true if Telegram rejected a request in one of these words.
func says(err error, words ...string) bool {
	var api *telegram.APIError
	return errors.As(err, &api) && api.Says(words...)
}

// plain removes the markup from a text.
func plain(text string) string {
	var b strings.Builder
	for {
		before, rest, opened := strings.Cut(text, "<")
		_, after, closed := strings.Cut(rest, ">")
		if !opened || !closed {
			b.WriteString(text)
			return html.UnescapeString(b.String())
		}
		b.WriteString(before)
		text = after
	}
}
