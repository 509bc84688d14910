package bot

import (
	"context"
	"errors"
	"html"
	"regexp"

	botapi "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"elobot/internal/outbox"
	"elobot/internal/telegram"
)

// draft is a message to send or to edit, with the parameters of the next request.
type draft struct {
	message outbox.Message
	out     outgoing
	edited  int64           // the message to edit, 0 for a new one
	files   []telegram.File // the photo or the document, whose caption is the text; nil for none
	covered int             // see outbox.Receipt
	instead *outgoing       // replaces out if Telegram refuses the merged message or the file

	parameters
	webRefused   bool  // whether the button that opens the web board was dropped
	tableRefused error // why the table was dropped; nil again after another refusal
}

// parameters holds every parameter that the bot sets when it sends or edits a message. The
// library's types do not fit: they hold an uploaded photo as a reader, which cannot be encoded, and
// they encode the text of an edited message even if it is empty because the message has a table.
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
}

// The fields of files, which are the parameters that take them.
const (
	fieldPhoto    = "photo"
	fieldDocument = "document"
)

// sendingMethods maps the field of a file to the method that sends it.
var sendingMethods = map[string]string{fieldPhoto: "sendPhoto", fieldDocument: "sendDocument"}

type photoMedia struct {
	Type      string           `json:"type"`
	Media     string           `json:"media"`
	Caption   string           `json:"caption,omitempty"`
	ParseMode models.ParseMode `json:"parse_mode,omitempty"`
}

// deliver sends a new message, or edits one. As long as Telegram refuses the message because of a
// part that simplify can remove, deliver tries again without that part. An Edit or a Page without a
// message to edit is Obsolete, and makes no request.
func (s *Sender) deliver(ctx context.Context, d draft) (outbox.Receipt, error) {
	if d.edited == 0 && (d.message.Action == outbox.Edit || d.message.Action == outbox.Page) {
		return outbox.Receipt{}, &outbox.Failure{Kind: outbox.Obsolete, Err: errors.New("no message to edit")}
	}
	s.compose(&d)
	id, err := s.request(ctx, &d)
	for err != nil && s.simplify(ctx, &d, err) {
		id, err = s.request(ctx, &d)
	}
	if err == nil && d.tableRefused != nil {
		s.rememberRefusal(ctx, &d)
	}
	return outbox.Receipt{MessageID: id, Covered: d.covered}, err
}

// simplify removes from d what Telegram may have refused, because a plain message is better than
// none. It reports whether it removed anything. A step that calls compose may restore parts that
// earlier steps removed, such as the table.
func (s *Sender) simplify(ctx context.Context, d *draft, err error) bool {
	log := s.log.With("kind", d.message.Row.Kind, "operation_id", d.message.Row.ID)
	refused := telegram.RefusesContent(err)
	d.tableRefused = nil // the table may not have been the cause
	switch {
	case d.Table != nil && refusesTable(err):
		d.tableRefused = err
		s.compose(d)
	case d.Reply != nil && says(err, "message to be replied not found", "replied message not found"):
		d.Reply = nil
	case d.Thread != 0 && says(err, "thread not found", "TOPIC_CLOSED", "TOPIC_DELETED"):
		d.Thread, d.Reply = 0, nil
		if len(d.out.topics) > 0 {
			d.Thread, d.out.topics = d.out.topics[0], d.out.topics[1:]
		}
	case d.ParseMode != "" && says(err, "can't parse entities"): // a bug
		log.ErrorContext(ctx, "Telegram failed to parse a message, sending it as plain text")
		d.Text, d.ParseMode = plain(d.Text), ""
	case refused && s.web.buttons && !d.webRefused && d.out.webLink() != "":
		d.webRefused = true
		s.compose(d)
	case refused && d.covered > 1:
		log.ErrorContext(ctx, "Telegram rejected a merged message, sending its first item alone",
			"covered", d.covered, "error", err)
		d.out, d.covered = *d.instead, 1
		s.compose(d)
	case d.files != nil && d.edited == 0 && refusesFiles(err):
		d.out, d.files = *d.instead, nil
		s.compose(d)
	default:
		return false
	}
	return true
}

// compose sets the parameters of d to its richest form, without the table or the web button if
// tableRefused or webRefused is set.
func (s *Sender) compose(d *draft) {
	d.parameters = parameters{
		Chat: d.message.ExternalChat, Edited: d.edited, Text: d.out.html, ParseMode: models.ParseModeHTML,
		Preview:  &models.LinkPreviewOptions{IsDisabled: botapi.True()},
		Keyboard: s.keyboard(d.out, s.web.buttons && !d.webRefused),
	}
	if d.tableRefused == nil && s.isTable(d.message, d.out) {
		d.Text, d.ParseMode, d.Preview = "", "", nil
		d.Table = &models.InputRichMessage{HTML: d.out.table, SkipEntityDetection: true}
	}
	if d.edited != 0 {
		return
	}
	d.Silent = !d.message.Private
	if d.message.Thread != generalTopic {
		d.Thread = d.message.Thread
	}
	if d.out.replyTo != 0 {
		d.Reply = &models.ReplyParameters{MessageID: int(d.out.replyTo), AllowSendingWithoutReply: true}
	}
}

// keyboard returns the buttons below a message, or nil if there are none. It leaves out the button
// that opens the web board unless withWeb is set.
func (s *Sender) keyboard(out outgoing, withWeb bool) *models.InlineKeyboardMarkup {
	var keyboard [][]models.InlineKeyboardButton
	for _, row := range out.buttons {
		var shownRow []models.InlineKeyboardButton
		for _, b := range row {
			shown := models.InlineKeyboardButton{Text: b.text, CallbackData: b.data}
			switch {
			case b.copy != "":
				shown.CopyText = &models.CopyTextButton{Text: b.copy}
			case b.web != "" && !withWeb:
				continue
			case b.web != "":
				shown.URL = b.web
			case b.starts != "":
				shown.URL = s.self.StartLink(b.starts)
			case b.invites:
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

// request makes the request for a draft and returns the id of the message. The id is 0 if the
// message was sent, but Telegram's response does not say the id.
func (s *Sender) request(ctx context.Context, d *draft) (int64, error) {
	p, method := d.parameters, "sendMessage"
	switch {
	case d.files != nil && d.edited != 0:
		method, p.Text, p.ParseMode, p.Preview = "editMessageMedia", "", "", nil
		p.Media = &photoMedia{fieldPhoto, "attach://" + fieldPhoto, d.Text, d.ParseMode}
	case d.files != nil:
		method, p.Caption, p.Text, p.Preview = sendingMethods[d.files[0].Field], d.Text, "", nil
	case d.edited != 0:
		method = "editMessageText"
	case d.Table != nil:
		method = "sendRichMessage"
	}
	if d.edited != 0 {
		err := s.client.Call(ctx, method, p, nil, d.files...)
		if err == nil || says(err, "message is not modified") { // it already has this content
			return d.edited, nil
		}
		return 0, err
	}
	var sent struct {
		ID int64 `json:"message_id"`
	}
	err := s.client.Call(ctx, method, p, &sent, d.files...)
	if errors.Is(err, telegram.ErrOddResult) { // the message was sent
		s.log.WarnContext(ctx, "failed to read the id of a sent message", "error", err)
		err = nil
	}
	return sent.ID, err
}

// says reports whether err is a rejection by Telegram that contains one of these phrases.
func says(err error, words ...string) bool {
	var api *telegram.APIError
	return errors.As(err, &api) && api.Says(words...)
}

// refusesFiles reports whether err means that the bot may not send photos or documents to the chat.
func refusesFiles(err error) bool {
	return says(err, "not enough rights to send photos", "CHAT_SEND_PHOTOS_FORBIDDEN",
		"not enough rights to send documents", "CHAT_SEND_DOCS_FORBIDDEN", "CHAT_SEND_MEDIA_FORBIDDEN")
}

var htmlTag = regexp.MustCompile(`<[^>]*>`)

// plain converts HTML to plain text.
func plain(text string) string { return html.UnescapeString(htmlTag.ReplaceAllString(text, "")) }
