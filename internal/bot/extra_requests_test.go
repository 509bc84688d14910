package bot

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/outbox"
)

// refuse makes the server refuse the next request for a method.
func (p *post) refuse(method, description string) {
	p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: method, Description: description, Times: 1})
}

// TestEveryRequestIsAskedFor checks that the sender asks for permission before each request,
// including those that follow a refusal by Telegram, and makes none without permission.
func TestEveryRequestIsAskedFor(t *testing.T) {
	t.Parallel()
	const noReply, noMarkup, unknown = "Bad Request: message to be replied not found",
		"Bad Request: can't parse entities", "Bad Request: of tomorrow"
	reply := func(t *testing.T, p *post) outbox.Message {
		t.Helper()
		return answering(wantsTables(t, p.group.ID()), p.group.Say(p.alice, "/ranking").ID)
	}
	for name, tc := range map[string]struct {
		message func(*testing.T, *post) outbox.Message
		want    []string // methods
	}{
		"accepted": {reply, []string{"sendRichMessage"}},
		"no table": {func(t *testing.T, p *post) outbox.Message {
			p.refuse("sendRichMessage", unknown)
			return reply(t, p)
		}, []string{"sendRichMessage", "sendMessage"}},
		"no table, and no reply": {func(t *testing.T, p *post) outbox.Message {
			p.refuse("sendRichMessage", noReply)
			p.refuse("sendMessage", noReply)
			return reply(t, p)
		}, []string{"sendRichMessage", "sendMessage", "sendMessage"}},
		"no table, edited": {func(t *testing.T, p *post) outbox.Message {
			m := reply(t, p)
			sent := p.mustSend(t, m)
			m.Action, m.Target = outbox.Page, int64(sent.ID)
			p.refuse("editMessageText", unknown)
			return m
		}, []string{"editMessageText", "editMessageText"}},
		"the first of several": {func(t *testing.T, p *post) outbox.Message {
			p.refuse("sendMessage", unknown)
			return p.four(t)
		}, []string{"sendMessage", "sendMessage"}},
		"several, then the first, then without its markup": {func(t *testing.T, p *post) outbox.Message {
			p.refuse("sendMessage", unknown)
			p.refuse("sendMessage", noMarkup)
			return p.four(t)
		}, []string{"sendMessage", "sendMessage", "sendMessage"}},
		"a board that was deleted": {func(t *testing.T, p *post) outbox.Message {
			p.group.Promote(p.sim.Bot())
			m := p.mustSend(t, p.board(t, 1500, 0))
			p.group.Delete(m)
			return p.board(t, 1516, m.ID)
		}, []string{"editMessageText", "getChat", "sendMessage", "pinChatMessage"}},
		"no photos": {func(t *testing.T, p *post) outbox.Message {
			p.sender.draw = dot
			p.rate(1500, 1516)
			p.group.AllowPhotos(false)
			return p.chart(t)
		}, []string{"sendPhoto", "sendMessage"}},
		"a press": {func(t *testing.T, p *post) outbox.Message {
			return p.callbackAnswer(t, p.sim.Press(p.alice, p.sendCard(t), "1u:42:0"), undoneCard())
		}, []string{"answerCallbackQuery"}},
		"of a newer release": {func(t *testing.T, p *post) outbox.Message {
			m := hello(t, p.group.ID())
			m.Items[0].Kind, m.Row.Kind = "of_tomorrow", "of_tomorrow"
			return m
		}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, allowed := range []int{len(tc.want), max(0, min(1, len(tc.want)-1))} {
				p := newPost(t)
				m := tc.message(t, p)
				before, asked := len(p.sim.Calls()), 0
				_, err := p.sender.Send(testContext(t), m, func(context.Context) error {
					equal(t, len(p.sim.Calls())-before, asked, "requests made when asking")
					if asked == allowed {
						return errNoMore
					}
					asked++
					return nil
				})
				if tooFew := allowed < len(tc.want); errors.Is(err, errNoMore) != tooFew {
					t.Errorf("%d requests are allowed: %v", allowed, err)
				}
				got := []string{}
				for _, c := range p.sim.Calls()[before:] {
					got = append(got, c.Method)
				}
				equal(t, got, tc.want[:allowed], "requests")
			}
		})
	}
}

var errNoMore = &outbox.Failure{Kind: outbox.Unreachable, Err: errors.New("no more requests")}

// always is a lease that never ends.
type always struct{}

func (always) Epoch() int64             { return 1 }
func (always) Remaining() time.Duration { return time.Hour }

// waiting is a store with at most one message per lane.
type waiting struct {
	outbox.Store // panics in unexpected calls

	mu       sync.Mutex
	messages map[outbox.Lane]outbox.Message
	results  chan outbox.Result
}

func (w *waiting) Resume(context.Context, int64) error { return nil }

func (w *waiting) Recent(context.Context, time.Duration) ([]outbox.Request, error) { return nil, nil }

func (w *waiting) Summarize(context.Context, int64, []outbox.Lane, outbox.Bounds) (outbox.Summarized, error) {
	return outbox.Summarized{}, nil
}

func (w *waiting) Survey(context.Context, int) (outbox.Survey, error) { return outbox.Survey{}, nil }

func (w *waiting) Waiting(context.Context, outbox.Bounds) (all []outbox.Backlog, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l, m := range w.messages {
		all = append(all, outbox.Backlog{Lane: l, To: m.ExternalChat})
	}
	return all, nil
}

func (w *waiting) Advance(
	_ context.Context, _ int64, results []outbox.Result, lanes []outbox.Lane, _ outbox.Bounds,
) (turns []outbox.Turn, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range results {
		if r.Failure == nil {
			delete(w.messages, r.Message.Lane)
		}
		w.results <- r
	}
	for _, l := range lanes {
		turn := outbox.Turn{Lane: l}
		if m, ok := w.messages[l]; ok {
			turn.Message = &m
		}
		turns = append(turns, turn)
	}
	return turns, nil
}

// TestTextInPlaceOfATableIsPaced checks that a table that Telegram refuses and the text sent
// instead count as two requests toward the total limit. If two chats need three requests and the
// limit is two, the third request waits.
func TestTextInPlaceOfATableIsPaced(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	other := p.sim.Group("Other", p.alice)
	store := &waiting{results: make(chan outbox.Result, 10), messages: make(map[outbox.Lane]outbox.Message)}
	for chat, m := range map[outbox.ChatID]outbox.Message{1: wantsTables(t, p.group.ID()), 2: hello(t, other.ID())} {
		m.Lane.Chat = chat
		store.messages[m.Lane] = m
	}
	asked := make(chan struct{}, 10) // one signal per wanted request
	dispatch := func() (stop func()) {
		p.refuse("sendRichMessage", "Bad Request: of tomorrow")
		settings := outbox.Settings{Limits: outbox.Limits{Total: []outbox.Window{{N: 2, Per: time.Hour}}}}
		d := outbox.NewDispatcher(store, notifies{p.sender, asked}, slog.New(slog.DiscardHandler), settings)
		ctx, cancel := context.WithCancel(testContext(t))
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx, always{}) }()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	stop := dispatch()
	for range 3 {
		<-asked
	}
	stop()
	if got := p.methods(); len(got) != 2 || len(p.group.BotMessages()) != 0 || len(other.BotMessages()) != 1 {
		t.Errorf("requests: %q, %d messages in the chat, %d in the other",
			got, len(p.group.BotMessages()), len(other.BotMessages()))
	}
	stop = dispatch()
	for r := range store.results {
		if r.Failure == nil && r.Message.ExternalChat == p.group.ID() {
			break
		}
	}
	stop()
	if got, m := p.methods(), p.group.BotMessages(); len(got) != 4 || len(m) != 1 || m[0].Rich {
		t.Errorf("requests: %q, messages in the chat: %+v", got, m)
	}
}

// notifies is a sender that signals whenever it wants to make a request.
type notifies struct {
	*Sender
	asked chan<- struct{}
}

func (n notifies) Send(ctx context.Context, m outbox.Message, begin outbox.Begin) (outbox.Receipt, error) {
	return n.Sender.Send(ctx, m, func(ctx context.Context) error {
		n.asked <- struct{}{}
		return begin(ctx)
	})
}
