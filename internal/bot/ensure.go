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

// ensure makes a message that exists once in a chat say what it has to say now. It edits the one that is known, or else
// the chat's pinned one if that is it, which it still is when nobody remembers it here; without either it sends one and
// pins it.
func (s *Sender) ensure(ctx context.Context, m outbox.Message) (int64, error) {
	out, err := render(m.Row, wordingFor(m.Language))
	if err != nil {
		return 0, telegram.Rejected(err)
	}
	out.html += s.mark(m.Object)
	if m.Target != 0 {
		if err := s.rewrite(ctx, m, m.Target, out); !isObsolete(err) {
			return m.Target, err
		}
	}
	pinned, err := s.pinned(ctx, m)
	if err != nil {
		return 0, err
	}
	if pinned != 0 {
		if err := s.rewrite(ctx, m, pinned, out); !isObsolete(err) {
			return pinned, err
		}
	}
	id, err := s.post(ctx, m, out)
	if err == nil && id != 0 {
		s.pin(ctx, m, id)
	}
	return id, err
}

// isPointless tells that there is no message to be edited, or none that the bot can edit.
func isObsolete(err error) bool {
	return err != nil && telegram.Failure(err).Class == outbox.Obsolete
}

// objectParam is the parameter of a link that names an object.
const objectParam = "object"

// mark returns what a message is known by as that which exists once: a link below a character that nobody sees. Telegram
// keeps it with the text through every edit and shows it with the pinned message, unlike all that a bot could keep beside
// a message, and nothing of it is there to be pressed.
func (s *Sender) mark(object string) string {
	link := url.URL{Scheme: "https", Host: "t.me", Path: s.self.Username, RawQuery: url.Values{objectParam: {object}}.Encode()}
	return `<a href="` + html.EscapeString(link.String()) + `">` + joiner + "</a>"
}

// marks says whether a link marks that object. The name in it does not matter: a bot can be renamed.
func marks(link, object string) bool {
	u, err := url.Parse(link)
	return err == nil && u.Host == "t.me" && u.Query().Get(objectParam) == object
}

// pinned returns the id of the chat's pinned message if it is the bot's own and marked as the object of m, else 0.
func (s *Sender) pinned(ctx context.Context, m outbox.Message) (int64, error) {
	result, err := s.client.Call(ctx, "getChat", &botapi.GetChatParams{ChatID: m.To})
	if err != nil {
		f := telegram.Failure(err)
		if f.Class == outbox.Ambiguous { // nothing was to be sent
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
		s.log.WarnContext(ctx, "the pinned message of a chat cannot be read", "kind", m.Row.Kind, "item", m.Row.ID, "error", err)
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

// pin pins a message without a sound. Without the right to do so it stays where it is, which is no reason to send it
// again.
func (s *Sender) pin(ctx context.Context, m outbox.Message, id int64) {
	_, err := s.client.Call(ctx, "pinChatMessage",
		&botapi.PinChatMessageParams{ChatID: m.To, MessageID: int(id), DisableNotification: true})
	if err != nil {
		s.log.InfoContext(ctx, "a message that is kept up to date is not pinned", "kind", m.Row.Kind, "item", m.Row.ID, "error", err)
	}
}
