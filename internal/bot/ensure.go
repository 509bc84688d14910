package bot

import (
	"context"
	"encoding/json"
	"html"
	"net/url"

	botapi "github.com/go-telegram/bot"

	"elobot/internal/outbox"
	"elobot/internal/telegram"
)

// ensure updates a message that exists once in a chat. It edits the known message. If that one is gone or unknown, it edits
// the chat's pinned message if that is marked as the same object. Otherwise it sends a new message and pins it.
func (s *Sender) ensure(ctx context.Context, m outbox.Message) (int64, error) {
	out, err := render(m.Row, wordsOf(m))
	if err != nil {
		return 0, telegram.Rejected(err)
	}
	out.html += s.mark(m.Object)
	if m.Target != 0 {
		if _, err := s.rewrite(ctx, m, m.Target, out); !isObsolete(err) {
			return m.Target, err
		}
	}
	pinned, err := s.pinned(ctx, m)
	if err != nil {
		return 0, err
	}
	if pinned != 0 {
		if _, err := s.rewrite(ctx, m, pinned, out); !isObsolete(err) {
			return pinned, err
		}
	}
	sent, err := s.post(ctx, m, out)
	if err == nil && sent.MessageID != 0 {
		s.pin(ctx, m, sent.MessageID)
	}
	return sent.MessageID, err
}

// isObsolete reports whether an edit failed because the message does not exist or cannot be edited.
func isObsolete(err error) bool {
	return err != nil && telegram.Failure(err).Class == outbox.Obsolete
}

// objectParam is the parameter of a link that names an object.
const objectParam = "object"

// mark returns the mark of an object in a message: a link on an invisible character. Unlike anything else that a bot could
// attach to a message, Telegram keeps the link through every edit and returns it with the pinned message. Nobody can tap it.
func (s *Sender) mark(object string) string {
	link := url.URL{Scheme: "https", Host: "t.me", Path: s.self.Username, RawQuery: url.Values{objectParam: {object}}.Encode()}
	return `<a href="` + html.EscapeString(link.String()) + `">` + joiner + "</a>"
}

// marks reports whether a link marks this object. It ignores the bot's name in the link, because a bot can be renamed.
func marks(link, object string) bool {
	u, err := url.Parse(link)
	return err == nil && u.Host == "t.me" && u.Query().Get(objectParam) == object
}

// pinned returns the id of the chat's pinned message if it is the bot's own and marked as the object of m, or else 0.
func (s *Sender) pinned(ctx context.Context, m outbox.Message) (int64, error) {
	result, err := s.client.Call(ctx, "getChat", &botapi.GetChatParams{ChatID: m.ExternalChat})
	if err != nil {
		f := telegram.Failure(err)
		if f.Class == outbox.Ambiguous { // getChat sends nothing, so there can be no duplicate
			f.Class = outbox.Unreachable
		}
		return 0, f
	}
	var chat struct {
		Pinned struct {
			ID       int64 `json:"message_id"`
			From     user  `json:"from"`
			Entities []struct {
				URL string `json:"url"`
			} `json:"entities"`
		} `json:"pinned_message"`
	}
	if err := json.Unmarshal(result, &chat); err != nil {
		s.log.WarnContext(ctx, "failed to read the pinned message of a chat", "kind", m.Row.Kind, "operation_id", m.Row.ID, "error", err)
		return 0, nil
	}
	if chat.Pinned.From.ID != s.self.ID {
		return 0, nil
	}
	for _, e := range chat.Pinned.Entities {
		if marks(e.URL, m.Object) {
			return chat.Pinned.ID, nil
		}
	}
	return 0, nil
}

// pin pins a message silently. Without the right to pin, the message stays unpinned, which is no reason to send it again.
func (s *Sender) pin(ctx context.Context, m outbox.Message, id int64) {
	_, err := s.client.Call(ctx, "pinChatMessage",
		&botapi.PinChatMessageParams{ChatID: m.ExternalChat, MessageID: int(id), DisableNotification: true})
	if err != nil {
		s.log.InfoContext(ctx, "failed to pin a message", "kind", m.Row.Kind, "operation_id", m.Row.ID, "error", err)
	}
}
