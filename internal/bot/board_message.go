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

// lookEvery is the minimum interval between routine checks of the pinned message of a chat with a
// board. A check finds copies of the board, and notices if the board was deleted. All boards are
// updated every hour, and the interval is a little shorter, so that each hourly update makes a
// check.
const lookEvery = 50 * time.Minute

// updateBoard updates the message that shows a board in its chat, or ends the message if the board
// is off. It edits the known message, or the pinned message if a check finds that the latter is
// newer and shows the same board. If there is no such message, or it is gone or too old to edit,
// updateBoard edits the pinned message, provided that its mark names the same board. Otherwise it
// sends a new message. It makes no edit if the known message already has this content, unless a
// check finds that a different message, or none, is pinned. It pins a new message, and an older one
// if the board is to be pinned.
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
	// An edit is the only way to learn whether a message that is not pinned still exists.
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

type boardUpdate struct {
	outbox.Message
	out     outgoing
	id      int64 // the message to edit, 0 for none
	pinned  int64 // the pinned message if it has the board's mark; 0 if not, or not checked
	isNew   bool  // the message was just sent
	receipt outbox.Receipt
}

// findPinned looks up the chat's pinned message. If the pinned message has the board's mark and no
// message is known, it becomes the message to edit. If another message is known, the newer of the
// two becomes the message to edit, and the older one is unpinned as a copy. The newer message was
// sent because the older one was gone or too old to edit, but the process may have died before
// storing the new id.
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
		if unpinned || older == e.pinned { // otherwise the known message is usually gone
			s.log.WarnContext(ctx, "found a copy of a message that should exist once, unpinning it", "kind", e.Row.Kind,
				"operation_id", e.Row.ID, "message_id", older)
		}
	}
	s.looked.Add(e.ExternalChat, lookEvery)
	return nil
}

// editOrPost edits the message e.id. If that message is gone or too old to edit, editOrPost edits
// the pinned message, provided that the mark of the pinned message names the same board. If it can
// edit neither, it sends a new message, and unpins the old message if that is still pinned.
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
	if err == nil && e.id != 0 { // too old to edit, but still pinned
		// A failure to unpin is no reason to send the new message again.
		if _, err := s.unpin(ctx, e.Message, e.id); err != nil {
			s.log.WarnContext(ctx, "failed to unpin a message", "kind", e.Row.Kind, "operation_id", e.Row.ID, "error", err)
		}
	}
	return err
}

// isObsolete reports whether an edit failed because the message is gone or cannot be edited.
func isObsolete(err error) bool {
	return err != nil && telegram.Failure(err).Kind == outbox.Obsolete
}

// objectParam is the query parameter that carries the object in a mark's link.
const objectParam = "object"

// mark returns the mark of an object in a message: a link on an invisible character that people
// cannot tap. A bot can attach no other data that Telegram keeps through every edit and returns
// with the pinned message.
func (s *Sender) mark(object string) string {
	link := url.URL{Scheme: "https", Host: "t.me", Path: s.self.Username,
		RawQuery: url.Values{objectParam: {object}}.Encode()}
	return `<a href="` + html.EscapeString(link.String()) + `">` + joiner + "</a>"
}

// marks reports whether a link marks this object. It ignores the bot's name in the link, because a
// bot can be renamed.
func marks(link, object string) bool {
	u, err := url.Parse(link)
	return err == nil && u.Host == "t.me" && u.Query().Get(objectParam) == object
}

// pinned returns the id of the chat's pinned message if this bot sent it and it has the mark of
// m.Object. It returns 0 otherwise, and also if Telegram's response is malformed.
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
		s.log.WarnContext(ctx, "failed to read the pinned message of a chat",
			"kind", m.Row.Kind, "operation_id", m.Row.ID, "error", err)
		return 0, nil
	case err != nil:
		return 0, harmless(err)
	}
	if p := chat.Pinned; p.From.ID == s.self.ID && (hasMark(p.Entities, m.Object) || hasMark(p.Rich, m.Object)) {
		return p.ID, nil
	}
	return 0, nil
}

// hasMark reports whether a link anywhere inside a part of a message marks this object. A text has
// a list of entities; a table has nested blocks of text.
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

// pin pins the message silently. If the bot has no right to pin, the message stays unpinned. After
// any other failure, the next update of the board tries again.
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
