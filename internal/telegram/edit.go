package telegram

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"elobot/internal/outbox"
)

var errNothingToEdit = errors.New("there is no message to be edited")

// edit gives a message that is there another text, and the button that belongs to it, or none.
func (s *Sender) edit(ctx context.Context, item outbox.Item, out outgoing) error {
	if item.Edits == 0 {
		return &outbox.Failure{Class: outbox.Pointless, Err: errNothingToEdit}
	}
	params := &bot.EditMessageTextParams{
		ChatID:             item.To,
		MessageID:          int(item.Edits),
		Text:               out.html,
		ParseMode:          models.ParseModeHTML,
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: bot.True()},
	}
	if keyboard := s.keyboard(item, out); keyboard != nil {
		params.ReplyMarkup = keyboard
	}
	err := s.editMessage(ctx, params)
	if err != nil && s.unparsed(ctx, item, err) {
		params.Text, params.ParseMode = plain(params.Text), ""
		err = s.editMessage(ctx, params)
	}
	return err
}

// editMessage edits. What Telegram has accepted has been done, even if its answer cannot be read; and a message that
// says already what it is to say has been edited before.
func (s *Sender) editMessage(ctx context.Context, params *bot.EditMessageTextParams) error {
	var result json.RawMessage
	_, err := s.client.api.EditMessageText(keepResult(ctx, &result), params)
	var api *APIError
	if result != nil || errors.As(err, &api) && api.says("message is not modified") {
		return nil
	}
	return err
}

// answerPress shows whoever has pressed a button what came of it, for a moment and to nobody else.
func (s *Sender) answerPress(ctx context.Context, item outbox.Item, out outgoing) error {
	var result json.RawMessage
	_, err := s.client.api.AnswerCallbackQuery(keepResult(ctx, &result),
		&bot.AnswerCallbackQueryParams{CallbackQueryID: item.Button, Text: out.toast()})
	if result != nil {
		return nil
	}
	return err
}
