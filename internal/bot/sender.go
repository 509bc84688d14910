package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	botapi "github.com/go-telegram/bot"
	"golang.org/x/sync/semaphore"

	"elobot/internal/catalog"
	"elobot/internal/chart"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/recent"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// Sender renders notices and sends them. No other code sends messages.
type Sender struct {
	client *telegram.Client
	self   telegram.Self
	log    *slog.Logger

	// refusals and looked are sets of Telegram chat ids.
	refusals  *recent.Set[int64] // chats that refuse tables
	looked    *recent.Set[int64] // chats whose pinned message was recently checked
	views     Views
	drawings  *semaphore.Weighted // limits how many charts are drawn concurrently
	documents *semaphore.Weighted // limits how many documents are made and sent concurrently
	draw      func(chart.Chart) ([]byte, error)
	web       webLinks
	exports   Exports
}

var _ outbox.Sender = (*Sender)(nil)

// NewSender returns a sender for the bot account self. Boards, season results and charts also need
// [Sender.WithViews].
func NewSender(client *telegram.Client, self telegram.Self, log *slog.Logger) *Sender {
	return &Sender{
		client: client, self: self, log: log, refusals: recent.NewSet[int64](maxChats),
		looked:   recent.NewSet[int64](maxChats),
		drawings: semaphore.NewWeighted(maxDrawings), documents: semaphore.NewWeighted(1), draw: chart.Draw,
	}
}

// maxChats is the maximum size of each of the sender's sets of chats.
const maxChats = 10_000

// asking returns a copy of s that calls begin before each request. The copy shares the sets of
// chats with s.
func (s *Sender) asking(begin outbox.Begin) *Sender {
	asking := *s
	asking.client = s.client.Asking(begin)
	return &asking
}

// Send implements outbox.Sender.
func (s *Sender) Send(ctx context.Context, m outbox.Message, begin outbox.Begin) (outbox.Receipt, error) {
	s = s.asking(begin)
	var receipt outbox.Receipt
	var err error
	switch {
	case len(m.Items) == 0:
		err = errors.New("the message has no items")
	case m.Action != outbox.CallbackAnswer && needsNewerRelease(m):
		receipt, err = setAside(m)
	case m.Row.Kind == notice.KindOf(stats.Chart{}).Name && (m.Action == outbox.Send || m.Action == outbox.Page):
		receipt, err = s.sendChart(ctx, m)
	case m.Action == outbox.Send:
		receipt, err = s.send(ctx, m)
	case m.Action == outbox.Edit, m.Action == outbox.Page:
		receipt, err = s.edit(ctx, m)
	case m.Action == outbox.Ensure && m.Row.Kind == ranking.KindBoard:
		receipt, err = s.updateBoard(ctx, m)
	case m.Action == outbox.Ensure && m.Row.Kind == ranking.KindSeason:
		receipt, err = s.tellSeason(ctx, m)
	case m.Action == outbox.CallbackAnswer:
		err = s.answerPress(ctx, m)
	default:
		err = telegram.Rejected(fmt.Errorf("unknown action %q", m.Action))
	}
	if err != nil {
		return outbox.Receipt{Covered: receipt.Covered}, telegram.Failure(err)
	}
	return receipt, nil
}

// send sends a new message. It merges as many of the items as possible, or sends the first item
// alone.
func (s *Sender) send(ctx context.Context, m outbox.Message) (outbox.Receipt, error) {
	w := s.words(m)
	first, err := render(m.Items[0], w)
	if err != nil {
		return outbox.Receipt{Covered: 1}, telegram.Rejected(err)
	}
	d := draft{message: m, out: first, covered: 1}
	if first.document != nil {
		return s.sendDocument(ctx, d)
	}
	if len(m.Items) > 1 && first.line != "" {
		if out, covered := merge(m, w); covered > 1 {
			d.out, d.covered, d.instead = out, covered, &first
		}
	}
	return s.deliver(ctx, d)
}

// edit edits the message m.Target so that it shows the items of m. Of several items, it only counts
// those that do not fit or have no line.
func (s *Sender) edit(ctx context.Context, m outbox.Message) (outbox.Receipt, error) {
	w := s.words(m)
	out, err := render(m.Items[0], w)
	if err != nil {
		return outbox.Receipt{}, telegram.Rejected(err)
	}
	if len(m.Items) > 1 {
		out, _ = merge(m, w)
	}
	return s.deliver(ctx, draft{message: m, out: out, edited: m.Target})
}

// answerPress answers a button press. Telegram briefly shows the text of the answer, if any, to the
// user who pressed. A user to whom the bot cannot write is instead led to the private chat with the
// bot.
func (s *Sender) answerPress(ctx context.Context, m outbox.Message) error {
	answer := &botapi.AnswerCallbackQueryParams{CallbackQueryID: m.Row.Button}
	if m.Row.Kind != notice.KindOf(ranking.Acknowledged{}).Name {
		out, err := render(m.Row, words{Language: catalog.For(m.Language), single: true, web: s.web.link})
		if err != nil && !errors.Is(err, errUnknownKind) {
			return telegram.Rejected(err)
		}
		answer.Text = out.callbackAnswer()
	}
	const method = "answerCallbackQuery"
	if m.Row.Kind == notice.KindOf(ranking.NotStarted{}).Name {
		// Apps show either the text or the page of the URL.
		opening := *answer
		opening.Text, opening.URL = "", s.self.StartLink(startForFile)
		if err := s.client.Call(ctx, method, opening, nil); !telegram.RefusesContent(err) {
			return err
		}
	}
	return s.client.Call(ctx, method, answer, nil)
}
