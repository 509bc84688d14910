package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"regexp"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"elobot/internal/outbox"
)

// Sender puts notices into words and sends them. It is the only code that sends.
type Sender struct {
	client *Client
	self   Self
	log    *slog.Logger
}

var _ outbox.Sender = (*Sender)(nil)

// NewSender returns a sender for the bot with this account.
func NewSender(client *Client, self Self, log *slog.Logger) *Sender {
	return &Sender{client: client, self: self, log: log}
}

// Send implements outbox.Sender.
func (s *Sender) Send(ctx context.Context, item outbox.Item) (int64, error) {
	out, err := render(item, wordingFor(item.Language))
	if err != nil {
		return 0, &outbox.Failure{Class: outbox.Rejected, Err: err}
	}
	var id int64
	switch item.Action {
	case outbox.Send:
		id, err = s.post(ctx, item, out)
	case outbox.Edit:
		id, err = item.Edits, s.edit(ctx, item, out)
	case outbox.Toast:
		err = s.answerPress(ctx, item, out)
	default:
		err = fmt.Errorf("there is no action %q", item.Action)
	}
	if err != nil {
		return 0, sendFailure(err)
	}
	return id, nil
}

// post sends a new message.
func (s *Sender) post(ctx context.Context, item outbox.Item, out outgoing) (int64, error) {
	params := s.params(item, out)
	id, err := s.sendMessage(ctx, params)
	if err != nil && s.simplify(ctx, params, item, err) {
		id, err = s.sendMessage(ctx, params)
	}
	return id, err
}

func (s *Sender) params(item outbox.Item, out outgoing) *bot.SendMessageParams {
	params := &bot.SendMessageParams{
		ChatID:              item.To,
		MessageThreadID:     int(item.Thread),
		Text:                out.html,
		ParseMode:           models.ParseModeHTML,
		DisableNotification: !item.Private,
		LinkPreviewOptions:  &models.LinkPreviewOptions{IsDisabled: bot.True()},
	}
	if item.ReplyTo != 0 {
		params.ReplyParameters = &models.ReplyParameters{MessageID: int(item.ReplyTo), AllowSendingWithoutReply: true}
	}
	if keyboard := s.keyboard(item, out); keyboard != nil {
		params.ReplyMarkup = keyboard
	}
	return params
}

// keyboard returns the button below a message, nil for none.
func (s *Sender) keyboard(item outbox.Item, out outgoing) *models.InlineKeyboardMarkup {
	var button models.InlineKeyboardButton
	switch words := wordingFor(item.Language); {
	case out.addToGroup:
		button.Text, button.URL = words.addToGroup(), "https://t.me/"+s.self.Username+"?startgroup=true"
	case out.undo != 0:
		button.Text, button.CallbackData = words.undo(), undoData(out.undo)
	default:
		return nil
	}
	return &models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{{button}}}
}

// sendMessage sends and returns the id of the message. What Telegram has accepted counts as sent, even if its answer
// cannot be read further; the id is 0 then.
func (s *Sender) sendMessage(ctx context.Context, params *bot.SendMessageParams) (int64, error) {
	var result json.RawMessage
	_, err := s.client.api.SendMessage(keepResult(ctx, &result), params)
	if result == nil {
		return 0, err
	}
	var sent struct {
		ID int64 `json:"message_id"`
	}
	if err := json.Unmarshal(result, &sent); err != nil {
		s.log.WarnContext(ctx, "a message was sent, but its id cannot be read", "error", err)
	}
	return sent.ID, nil
}

// simplify takes out of a message what Telegram has found wrong with it, and says whether there was something: to be
// told without its frame is better than not to be told.
func (s *Sender) simplify(ctx context.Context, params *bot.SendMessageParams, item outbox.Item, err error) bool {
	var api *APIError
	switch {
	case !errors.As(err, &api):
		return false
	case params.ReplyParameters != nil && api.says("message to be replied not found", "replied message not found"):
		params.ReplyParameters = nil
	case params.MessageThreadID != 0 && api.says("thread not found", "TOPIC_CLOSED"):
		params.MessageThreadID, params.ReplyParameters = 0, nil
	case s.unparsed(ctx, item, err):
		params.Text, params.ParseMode = plain(params.Text), ""
	default:
		return false
	}
	return true
}

// unparsed says whether Telegram cannot parse the markup of a message, which is our fault and worth a look.
func (s *Sender) unparsed(ctx context.Context, item outbox.Item, err error) bool {
	var api *APIError
	if !errors.As(err, &api) || !api.says("can't parse entities") {
		return false
	}
	s.log.ErrorContext(ctx, "Telegram cannot parse a message of ours, sending it as plain text", "kind", item.Kind, "item", item.ID)
	return true
}

var tag = regexp.MustCompile(`<[^>]*>`)

// plain takes the markup out of a text.
func plain(text string) string { return html.UnescapeString(tag.ReplaceAllString(text, "")) }
