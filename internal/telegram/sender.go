package telegram

import (
	"context"
	"encoding/json"
	"errors"
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
	params := s.params(item, out)
	id, err := s.sendMessage(ctx, params)
	if err != nil && s.simplify(ctx, params, item, err) {
		id, err = s.sendMessage(ctx, params)
	}
	if err != nil {
		return 0, sendFailure(err)
	}
	return id, nil
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
	if out.addToGroup {
		params.ReplyMarkup = models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{{{
			Text: wordingFor(item.Language).addToGroup(),
			URL:  "https://t.me/" + s.self.Username + "?startgroup=true",
		}}}}
	}
	return params
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
	case api.says("can't parse entities"):
		s.log.ErrorContext(ctx, "Telegram cannot parse a message of ours, sending it as plain text", "kind", item.Kind, "item", item.ID)
		params.Text, params.ParseMode = plain(params.Text), ""
	default:
		return false
	}
	return true
}

var tag = regexp.MustCompile(`<[^>]*>`)

// plain takes the markup out of a text.
func plain(text string) string { return html.UnescapeString(tag.ReplaceAllString(text, "")) }
