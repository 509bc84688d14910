package bot

import (
	"context"
	"errors"

	botapi "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"elobot/internal/outbox"
	"elobot/internal/telegram"
)

var errNothingToEdit = errors.New("there is no message to be edited")

// edit has a message that is there say what it has to say now.
func (s *Sender) edit(ctx context.Context, m outbox.Message) error {
	words := wordingFor(m.Language)
	out, err := render(m.Items[0], words)
	if err != nil {
		return telegram.Rejected(err)
	}
	if max(m.Count, len(m.Items)) > 1 {
		out, _ = merge(m, words)
	}
	if m.Target == 0 {
		return &outbox.Failure{Class: outbox.Obsolete, NotAttempted: true, Err: errNothingToEdit}
	}
	return s.rewrite(ctx, m, m.Target, out)
}

// rewrite gives a message that is there another text, and the button that belongs to it, or none.
func (s *Sender) rewrite(ctx context.Context, m outbox.Message, id int64, out outgoing) error {
	params := &botapi.EditMessageTextParams{
		ChatID:             m.To,
		MessageID:          int(id),
		Text:               out.html,
		ParseMode:          models.ParseModeHTML,
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: botapi.True()},
	}
	if keyboard := s.keyboard(m, out); keyboard != nil {
		params.ReplyMarkup = keyboard
	}
	err := s.editMessage(ctx, params)
	if err != nil && s.unparsed(ctx, m.Row, err) {
		params.Text, params.ParseMode = plain(params.Text), ""
		err = s.editMessage(ctx, params)
	}
	return err
}

// editMessage edits. What Telegram has accepted has been done, even if its answer cannot be read; and a message that
// says already what it is to say has been edited before.
func (s *Sender) editMessage(ctx context.Context, params *botapi.EditMessageTextParams) error {
	_, err := s.client.Call(ctx, "editMessageText", params)
	var api *telegram.APIError
	if errors.As(err, &api) && api.Says("message is not modified") {
		return nil
	}
	return err
}

// answerPress shows whoever has pressed a button what came of it, for a moment and to nobody else.
func (s *Sender) answerPress(ctx context.Context, m outbox.Message) error {
	out, err := render(m.Row, wordingFor(m.Language))
	if err != nil {
		return telegram.Rejected(err)
	}
	_, err = s.client.Call(ctx, "answerCallbackQuery",
		&botapi.AnswerCallbackQueryParams{CallbackQueryID: m.Row.Button, Text: out.callbackAnswer()})
	return err
}
