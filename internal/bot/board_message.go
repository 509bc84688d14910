package bot

import (
	"context"
	"errors"
	"html"
	"maps"
	"net/url"
	"slices"
	"time"

	botapi "github.com/go-telegram/bot"

	"elobot/internal/crashpoint"
	"elobot/internal/outbox"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// lookEvery is how often the pinned message of a chat with a board is looked at, to find copies of the board and to notice that it was
// deleted. All boards are brought up to date every hour, and a request comes a little later than that: it must find the look overdue.
const lookEvery = 50 * time.Minute

// updateBoard updates the chat's message of a board, which exists once. It edits the known message.
// If that one is unknown or gone, it edits the chat's pinned message if that is marked as the same
// object. Otherwise it sends a new message and pins it.
func (s *Sender) updateBoard(ctx context.Context, m outbox.Message) (outbox.Receipt, error) {
	board, err := readView(ctx, func(ctx context.Context) (stats.Board, error) {
		return s.views.Board(ctx, m.Object, s.client.Now().In(zoneOf(m)))
	})
	switch {
	case err != nil:
		return outbox.Receipt{}, err
	case !board.On:
		return s.endBoard(ctx, m, board)
	}
	e := boardUpdate{Message: m, out: s.boardMessage(m, board), id: m.Target}
	e.receipt.Fingerprint = s.fingerprint(m, e.out)
	shown := m.Target != 0 && m.KnownFingerprint == e.receipt.Fingerprint && m.Row.PossibleDuplicates == 0
	look := m.Target == 0 || m.Row.PossibleDuplicates > 0 || !m.Parked && !s.looked.Has(m.ExternalChat)
	if shown && !look && !board.ToPin {
		e.receipt.MessageID, e.receipt.Skipped = m.Target, true
		return e.receipt, nil
	}
	if look || board.ToPin {
		if err := s.findPinned(ctx, &e); err != nil {
			return outbox.Receipt{}, err
		}
	}
	// a message that is not pinned may have been deleted, which only an edit tells
	if e.receipt.MessageID = m.Target; !shown || e.pinned != m.Target {
		if err := s.editOrPost(ctx, &e); err != nil {
			return outbox.Receipt{}, err
		}
	} else {
		e.receipt.Skipped = true
	}
	if board.ToPin || e.isNew {
		s.pin(ctx, &e)
	}
	return e.receipt, nil
}

// boardUpdate is one refresh of a board.
type boardUpdate struct {
	outbox.Message
	out     outgoing
	id      int64 // of the message to edit, 0 for none
	pinned  int64 // the pinned message that is marked as the object, 0 if none is or nobody has looked
	isNew   bool  // the message was made just now
	receipt outbox.Receipt
}

// findPinned looks at the chat's pinned message, which is the one to edit if the message is not
// known. Of two messages, the newer one is kept: it was made when the other one was gone or too
// old, even if no process lived to persist it. The other one is a copy, and is unpinned.
func (s *Sender) findPinned(ctx context.Context, e *boardUpdate) (err error) {
	if e.pinned, err = s.pinned(ctx, e.Message); err != nil {
		return err
	}
	older := min(e.id, e.pinned)
	e.id = max(e.id, e.pinned)
	if older != 0 && older != e.id {
		unpinned, err := s.unpin(ctx, e.Message, older)
		if err != nil {
			return err
		}
		if unpinned || older == e.pinned { // else the known one is gone
			s.log.WarnContext(ctx, "found a copy of a message that should exist once, unpinning it", "kind", e.Row.Kind,
				"operation_id", e.Row.ID, "message_id", older)
		}
	}
	s.looked.Add(e.ExternalChat, lookEvery)
	return nil
}

// editOrPost edits the message. If there is none, or it is gone or too old, it posts a new one.
func (s *Sender) editOrPost(ctx context.Context, e *boardUpdate) error {
	gone := int64(0)
	for e.id != 0 && e.id != gone {
		_, err := s.deliver(ctx, draft{message: e.Message, out: e.out, edited: e.id})
		if !isObsolete(err) {
			e.receipt.MessageID = e.id
			return err
		}
		gone = e.id
		if e.id, err = s.pinned(ctx, e.Message); err != nil {
			return err
		}
	}
	crashpoint.At(crashpoint.Making)
	receipt, err := s.deliver(ctx, draft{message: e.Message, out: e.out})
	e.receipt.MessageID, e.isNew = receipt.MessageID, true
	if err == nil && e.id != 0 { // it is too old, but still pinned
		if _, err := s.unpin(ctx, e.Message, e.id); err != nil { // no reason to send the new one again
			s.log.WarnContext(ctx, "failed to unpin a message", "kind", e.Row.Kind, "operation_id", e.Row.ID, "error", err)
		}
	}
	return err
}

// isObsolete is true if an edit failed because the message does not exist or cannot be edited.
func isObsolete(err error) bool {
	return err != nil && telegram.Failure(err).Kind == outbox.Obsolete
}

// objectParam is the parameter of a link that names an object.
const objectParam = "object"

// mark returns the mark of an object in a message: a link on an invisible character. Unlike anything else that a bot could attach to a
// message, Telegram keeps the link through every edit and returns it with the pinned message. Nobody can tap it.
func (s *Sender) mark(object string) string {
	link := url.URL{Scheme: "https", Host: "t.me", Path: s.self.Username, RawQuery: url.Values{objectParam: {object}}.Encode()}
	return `<a href="` + html.EscapeString(link.String()) + `">` + joiner + "</a>"
}

// marks is true if a link marks this object. It ignores the bot's name in the link, because a bot can be renamed.
func marks(link, object string) bool {
	u, err := url.Parse(link)
	return err == nil && u.Host == "t.me" && u.Query().Get(objectParam) == object
}

// pinned returns the id of the chat's pinned message if it is the bot's own and marked as the object of m, or else 0.
func (s *Sender) pinned(ctx context.Context, m outbox.Message) (int64, error) {
	var chat struct {
		Pinned struct {
			ID       int64 `json:"message_id"`
			From     user  `json:"from"`
			Entities any   `json:"entities"`
			Rich     any   `json:"rich_message"`
		} `json:"pinned_message"`
	}
	switch err := s.client.Call(ctx, "getChat", &botapi.GetChatParams{ChatID: m.ExternalChat}, &chat); {
	case errors.Is(err, telegram.ErrOddResult):
		s.log.WarnContext(ctx, "failed to read the pinned message of a chat", "kind", m.Row.Kind, "operation_id", m.Row.ID, "error", err)
		return 0, nil
	case err != nil:
		return 0, harmless(err)
	}
	if p := chat.Pinned; p.From.ID == s.self.ID && (hasMark(p.Entities, m.Object) || hasMark(p.Rich, m.Object)) {
		return p.ID, nil
	}
	return 0, nil
}

// hasMark is true if a part of a message has a link that marks this object, however deep it is. Texts have a list of entities, tables have
// blocks of nested texts.
func hasMark(part any, object string) bool {
	switch part := part.(type) {
	case []any:
		return slices.ContainsFunc(part, func(p any) bool { return hasMark(p, object) })
	case map[string]any:
		link, ok := part["url"].(string)
		return ok && marks(link, object) ||
			slices.ContainsFunc(slices.Collect(maps.Values(part)), func(p any) bool { return hasMark(p, object) })
	default:
		return false
	}
}

// pin pins the message silently. Without the right to pin, the message stays unpinned, which is no reason to send it again. After any other
// failure, the next update of the board pins it.
func (s *Sender) pin(ctx context.Context, e *boardUpdate) {
	id := e.receipt.MessageID
	if id == 0 {
		return
	}
	if id == e.pinned {
		e.receipt.Pin = outbox.Pinned
		return
	}
	crashpoint.At(crashpoint.Pinning)
	err := s.client.Call(ctx, "pinChatMessage",
		&botapi.PinChatMessageParams{ChatID: e.ExternalChat, MessageID: int(id), DisableNotification: true}, nil)
	crashpoint.At(crashpoint.Pinned)
	switch {
	case err == nil:
		e.receipt.Pin = outbox.Pinned
		return
	case telegram.Failure(err).Kind == outbox.Forbidden:
		e.receipt.Pin = outbox.PinRefused
	default:
		e.receipt.Pin = outbox.PinWanted
	}
	s.log.InfoContext(ctx, "failed to pin a message", "kind", e.Row.Kind, "operation_id", e.Row.ID, "error", err)
}
