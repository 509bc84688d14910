package bot

import (
	"context"
	"errors"

	botapi "github.com/go-telegram/bot"

	"elobot/internal/catalog"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
)

var errNothingToEdit = errors.New("no message to edit")

// edit updates an existing message.
func (s *Sender) edit(ctx context.Context, m outbox.Message) (outbox.Receipt, error) {
	w := s.words(m)
	out, err := render(m.Items[0], w)
	if err != nil {
		return outbox.Receipt{}, telegram.Rejected(err)
	}
	if len(m.Items) > 1 {
		out, _ = merge(m, w)
	}
	if m.Target == 0 {
		return outbox.Receipt{}, &outbox.Failure{Kind: outbox.Obsolete, Err: errNothingToEdit}
	}
	return s.rewrite(ctx, m, m.Target, out)
}

// rewrite replaces the text and the buttons of an existing message. It ignores the result of a successful request. "Not modified" is a
// success: the message was edited before.
func (s *Sender) rewrite(ctx context.Context, m outbox.Message, id int64, out outgoing) (outbox.Receipt, error) {
	return s.withoutWebIfRejected(out, func(out outgoing) (outbox.Receipt, error) {
		return s.attempt(ctx, m, out, s.editParams(m, id, out), func(p parameters) (int64, error) {
			_, err := s.client.Call(ctx, "editMessageText", p)
			if says(err, notModified) {
				err = nil
			}
			return id, err
		})
	})
}

// notModified is what Telegram says if an edit would change nothing.
const notModified = "message is not modified"

// answerPress briefly shows the outcome of a button press, and only to the person who pressed it.
func (s *Sender) answerPress(ctx context.Context, m outbox.Message) error {
	answer := &botapi.AnswerCallbackQueryParams{CallbackQueryID: m.Row.Button}
	if m.Row.Kind != notice.KindOf(ranking.Acknowledged{}).Name {
		out, err := render(m.Row, words{Language: catalog.For(m.Language), web: s.web.link})
		if err != nil && !errors.Is(err, errUnknownKind) {
			return telegram.Rejected(err)
		}
		answer.Text = out.callbackAnswer()
	}
	_, err := s.client.Call(ctx, "answerCallbackQuery", answer)
	return err
}
