package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	botapi "github.com/go-telegram/bot"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// Views reads the content of boards, season results and charts when they are sent.
type Views interface {
	// Board returns the content of a board. object identifies the board's message in the chat. now
	// is in the chat's time zone.
	Board(ctx context.Context, object string, now time.Time) (stats.Board, error)
	// SeasonEnd returns the result of a season that has ended. object identifies the message about
	// the season's end in the chat.
	SeasonEnd(ctx context.Context, object string) (stats.SeasonEnd, error)
	// Ratings returns the ratings to draw in a chart. now is the end of the chart's period.
	Ratings(ctx context.Context, n stats.Chart, now time.Time) (stats.Ratings, error)
}

// WithViews sets the source of boards, season results and charts, and returns s. It must be called
// before the first message is sent.
func (s *Sender) WithViews(v Views) *Sender {
	s.views = v
	return s
}

// viewTimeout limits how long it may take to read the content of a message, including, for a chart,
// the wait for other charts to be drawn. Meanwhile the message occupies a send slot that other
// chats may need.
const viewTimeout = 2 * time.Second

// readView reads the content of a message. If the read fails, the error is an [outbox.Failure] of
// the kind Unreachable, so the outbox sends the message again later.
func readView[V any](ctx context.Context, read func(context.Context) (V, error)) (V, error) {
	ctx, cancel := context.WithTimeout(ctx, viewTimeout)
	defer cancel()
	v, err := read(ctx)
	if err != nil {
		return v, &outbox.Failure{Kind: outbox.Unreachable, Err: err}
	}
	return v, nil
}

// boardMessage renders a board. While the board is on, the message has a mark that identifies the
// board.
func (s *Sender) boardMessage(m outbox.Message, b stats.Board) outgoing {
	out := boardView.show(b, m.Items[0], s.words(m)).inLadder(ranking.LadderOfBoard(m.Object))
	if !b.On {
		return out
	}
	mark := s.mark(m.Object)
	out.html += mark
	if before, after, ok := strings.Cut(out.table, captionEnd); ok {
		out.table = before + mark + captionEnd + after
	}
	return out
}

// fingerprint returns a hash of what a message shows: its text or table and, if web buttons are
// sent, the link of its web button. Other buttons do not affect the hash.
func (s *Sender) fingerprint(m outbox.Message, out outgoing) string {
	content := "text " + out.html
	if s.isTable(m, out) {
		content = "table " + out.table
	}
	if link := out.webLink(); s.web.buttons {
		content += link
	}
	sum := sha256.Sum256([]byte(content))
	return "s" + hex.EncodeToString(sum[:8])
}

// endBoard finishes the message of a board that was turned off or moved. If the message exists,
// endBoard edits it to say when the board was last correct, and unpins it.
func (s *Sender) endBoard(ctx context.Context, m outbox.Message, b stats.Board) (outbox.Receipt, error) {
	id := m.Target
	if id == 0 {
		pinned, err := s.pinned(ctx, m)
		if err != nil {
			return outbox.Receipt{}, err
		}
		id = pinned
	}
	if id == 0 {
		return outbox.Receipt{Ended: true, Skipped: true}, nil
	}
	last := draft{message: m, out: s.boardMessage(m, b), edited: id}
	if _, err := s.deliver(ctx, last); err != nil && !isObsolete(err) {
		return outbox.Receipt{}, err
	}
	if _, err := s.unpin(ctx, m, id); err != nil {
		return outbox.Receipt{}, err
	}
	return outbox.Receipt{MessageID: id, Ended: true}, nil
}

// unpin unpins a message, and reports whether it did. A refusal by Telegram is not an error:
// usually the message is already unpinned or gone, or the bot has lost the right to unpin.
func (s *Sender) unpin(ctx context.Context, m outbox.Message, id int64) (done bool, err error) {
	err = s.client.Call(ctx, "unpinChatMessage",
		&botapi.UnpinChatMessageParams{ChatID: m.ExternalChat, MessageID: int(id)}, nil)
	if err == nil {
		return true, nil
	}
	switch f := harmless(err); {
	case telegram.RefusesContent(err), f.Kind == outbox.Forbidden, f.Kind == outbox.Obsolete:
		s.log.InfoContext(ctx, "failed to unpin a message", "kind", m.Row.Kind, "operation_id", m.Row.ID, "error", err)
		return false, nil
	default:
		return false, f
	}
}

// harmless converts the error of a request that can be repeated without creating a duplicate. A
// request whose outcome is unknown becomes Unreachable instead of Ambiguous.
func harmless(err error) *outbox.Failure {
	f := telegram.Failure(err)
	if f.Kind == outbox.Ambiguous {
		f.Kind = outbox.Unreachable
	}
	return f
}

var boardView = shows(view[stats.Board]{text: words.board, table: words.boardTable, buttons: boardButtons})

// boardButtons returns the button that lists the players who do not fit on the board, and the
// button that opens the web board. A board that is off has no buttons.
func boardButtons(b stats.Board, _ outbox.Item, w words) [][]button {
	if !b.On {
		return nil
	}
	rest := ""
	if b.HasMore() {
		rest = callbackData(restCode, "")
	}
	return [][]button{{{text: w.Text("button.rest", nil), data: rest}}, w.webButton(b.Web)}
}

// board renders the ranking. A board that is off also says when it was last correct.
func (w words) board(b stats.Board) string {
	text := w.rankingPage(b.RankingPage)
	if b.On {
		return text
	}
	return text + "\n\n<i>" + w.boardAsOf(b) + "</i>"
}

func (w words) boardAsOf(b stats.Board) string {
	return w.Text("board.as_of", args{"Date": w.Date(b.AsOf), "Time": w.local(b.AsOf).Format("15:04 MST")})
}

func (w words) boardTable(b stats.Board) string {
	table := w.rankingTable(b.RankingPage)
	if b.On || table == "" {
		return table
	}
	before, after, _ := strings.Cut(table, captionEnd)
	return before + " · " + w.boardAsOf(b) + captionEnd + after
}

var _ = shows(view[ranking.BoardState]{text: words.boardState, line: words.boardState, ofLadder: true})

func (w words) boardState(n ranking.BoardState) string {
	id := "board.none"
	switch {
	case n.Moved:
		id = "board.moved"
	case n.Changed && n.On:
		id = "board.turned_on"
	case n.Changed:
		id = "board.turned_off"
	case n.On:
		id = "board.is_on"
	}
	return w.Text(id, args{"Ladder": w.ladderWords()})
}

var _ = shows(view[ranking.BoardNotPinned]{text: words.boardNotPinned, line: words.boardNotPinned})

func (w words) boardNotPinned(ranking.BoardNotPinned) string { return w.Text("board.not_pinned", nil) }
